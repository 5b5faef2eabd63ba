/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/reader.h"

/*
 * The callers of a rule: `{"source": G, "session_id": G, "site_id": G}`, each a text with `*` for
 * any run of characters. A caller has to match all members; an empty object is for every caller.
 * Anything else closes the configuration.
 */

/* Read the object at @value (JSON_NONE: there is none, which closes, at @rule) into @ret_match,
 * zeroed. */
void config_match_read(struct config_reader *reader, uint32_t rule, uint32_t value,
	struct config_match *ret_match);

/* Free its texts. */
void config_match_deinit(struct config_match *match);
