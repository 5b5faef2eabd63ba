/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/*
 * A profile in one catalogue: the tools meant by its names there, and a catalogue of these
 * alone. A tool installed later is in the next catalogue, and so in the next profile.
 */
struct profile {
	char *name;               /* first, for text_compare() */
	bool has_all;             /* every tool, and so no set and no view of its own */
	struct catalogue_set set; /* its tools */
	struct catalogue *view;   /* the catalogue of these */
};

/* Make @profile from its description @config, in @catalogue. Return 0 or -ENOMEM; free @profile in
 * either case. */
int profile_init(struct profile *profile, const struct config_profile *config,
	const struct catalogue *catalogue);

/* Free the memory of @profile. */
void profile_deinit(struct profile *profile);

/* Return the catalogue of the tools of @catalogue common to all of the @n @profiles, none with
 * every tool; NULL without memory. The time is the size of the smallest profile, and a look at each
 * 64 tools. */
struct catalogue *profile_intersect(
	const struct profile *const *profiles, size_t n, const struct catalogue *catalogue);
