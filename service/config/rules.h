/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"

/*
 * The lists of rules about callers, of which the first that matches counts:
 *
 *   access    [{"match": {"source": "kitchen*"}, "profile": "kids"}, …]
 *   callers   [{"match": {"source": "kitchen*"}, "in_flight": 2, "per_minute": 60}, …]
 *
 * (contract.md, Profiles and access; Limits per caller)
 */

/* The callers that a rule is for, by texts in which `*` is any run of characters. A caller has to
 * match all of them. */
struct config_match {
	char *source; /* NULL: any, also none; likewise the others */
	char *session_id;
	char *site_id;
};

/* One of `access`. */
struct config_access {
	struct config_match match;
	char *profile; /* the name of the profile, which may not exist */
};

/* One of `callers`. */
struct config_caller {
	struct config_match match;
	uint32_t in_flight;  /* 0: any number */
	uint32_t per_minute; /* 0: any number */
	uint32_t burst;      /* how many of these may be made at once */
};

/* Read the list at @value (JSON_NONE: there is none). Return 0 or -ENOMEM. */
int config_access_read(const struct json_tape *tape, uint32_t value,
	struct config_access **ret_rules, size_t *ret_n);
void config_access_free(struct config_access *rules, size_t n);

/* As config_access_read(). *ret_digest is the same for the same list; 0: there is none. */
int config_callers_read(const struct json_tape *tape, uint32_t value,
	struct config_caller **ret_rules, size_t *ret_n, uint64_t *ret_digest);
void config_callers_free(struct config_caller *rules, size_t n);
