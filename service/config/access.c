/* SPDX-License-Identifier: Apache-2.0 */
#include "config/access.h"

#include <errno.h>
#include <stdlib.h>

#include "config/config.h"
#include "config/match.h"

static void check_access_keys(struct config_reader *reader, uint32_t rule)
{
	const struct json_tape *tape = &reader->tape;

	json_each_key(key, tape, rule)
		if (!json_string_equals(tape, key, "match", 5) &&
			!json_string_equals(tape, key, "profile", 7))
			config_reader_close(reader, key,
				"is an unknown key; a rule has \"match\" and \"profile\"");
}

static void read_rule(struct config_reader *reader, uint32_t rule)
{
	struct config *config = reader->config;
	struct config_access *access = &config->access[config->n_access];
	uint32_t profile;

	if (!config_reader_is_object_or_closes(reader, rule))
		return;
	config->n_access++;
	check_access_keys(reader, rule);
	config_match_read(reader, rule, config_reader_find(reader, rule, "match"), &access->match);
	profile = config_reader_find(reader, rule, "profile");
	if (profile == JSON_NONE)
		config_reader_close(reader, rule, "must have \"profile\", the name of a profile");
	else
		access->profile = config_reader_text_or_closes(reader, profile);
}

void config_access_read(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;

	if (value == JSON_NONE)
		return;
	if (json_type_at(tape, value) != JSON_ARRAY) {
		config_reader_close_wrong(reader, value, "must be a list of rules");
		return;
	}
	reader->config->access =
		calloc(json_count(tape, value) + 1, sizeof(*reader->config->access));
	if (!reader->config->access) {
		reader->error = -ENOMEM;
		return;
	}
	json_each(rule, tape, value)
		read_rule(reader, rule);
}

void config_access_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_access; i++) {
		config_match_deinit(&config->access[i].match);
		free(config->access[i].profile);
	}
	free(config->access);
}
