/* SPDX-License-Identifier: Apache-2.0 */
#include "config/match.h"

#include <stdlib.h>

#include "config/config.h"

/* Return the place of the member of @match that the key at @key names, or NULL. */
static char **find_member(
	const struct config_reader *reader, uint32_t key, struct config_match *match)
{
	if (json_string_equals(&reader->tape, key, "source", 6))
		return &match->source;
	if (json_string_equals(&reader->tape, key, "session_id", 10))
		return &match->session_id;
	if (json_string_equals(&reader->tape, key, "site_id", 7))
		return &match->site_id;
	return NULL;
}

void config_match_read(
	struct config_reader *reader, uint32_t rule, uint32_t value, struct config_match *ret_match)
{
	const struct json_tape *tape = &reader->tape;

	if (value == JSON_NONE) {
		config_reader_close(reader, rule, "must have \"match\", an object: {} is for all");
		return;
	}
	if (!config_reader_is_object_or_closes(reader, value))
		return;
	json_each_key(key, tape, value) {
		char **member = find_member(reader, key, ret_match);

		if (!member)
			config_reader_close(reader, key,
				"is an unknown key; \"source\", \"session_id\" and \"site_id\" "
				"can be matched");
		else
			*member = config_reader_text_or_closes(reader, key + 1);
	}
}

void config_match_deinit(struct config_match *match)
{
	free(match->source);
	free(match->session_id);
	free(match->site_id);
	*match = (struct config_match){0};
}
