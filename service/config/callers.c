/* SPDX-License-Identifier: Apache-2.0 */
#include "config/callers.h"

#include <errno.h>
#include <stdlib.h>

#include "config/config.h"
#include "config/match.h"
#include "util/digest.h"

static void check_rule_keys(struct config_reader *reader, uint32_t rule)
{
	const struct json_tape *tape = &reader->tape;

	json_each_key(key, tape, rule)
		if (!json_string_equals(tape, key, "match", 5) &&
			!json_string_equals(tape, key, "in_flight", 9) &&
			!json_string_equals(tape, key, "per_minute", 10) &&
			!json_string_equals(tape, key, "burst", 5))
			config_reader_close(reader, key,
				"is an unknown key; a rule has \"match\", \"in_flight\", "
				"\"per_minute\" and \"burst\"");
}

/* Read the number @key of @rule; 0 without one. */
static uint32_t read_limit_number(struct config_reader *reader, uint32_t rule, const char *key)
{
	static const struct config_range range = {1, CALLERS_NUMBER_MAX, 0};

	return (uint32_t)config_reader_number_or_closes(
		reader, config_reader_find(reader, rule, key), &range);
}

static void read_rule(struct config_reader *reader, uint32_t rule)
{
	struct config *config = reader->config;
	struct config_caller *caller = &config->callers[config->n_callers];

	if (!config_reader_is_object_or_closes(reader, rule))
		return;
	config->n_callers++;
	check_rule_keys(reader, rule);
	config_match_read(reader, rule, config_reader_find(reader, rule, "match"), &caller->match);
	caller->in_flight = read_limit_number(reader, rule, "in_flight");
	caller->per_minute = read_limit_number(reader, rule, "per_minute");
	caller->burst = read_limit_number(reader, rule, "burst");
	if (!caller->in_flight && !caller->per_minute)
		config_reader_close(reader, rule, "must have \"in_flight\" or \"per_minute\"");
	else if (caller->burst && !caller->per_minute)
		config_reader_close(reader, rule, "has a \"burst\" that needs \"per_minute\"");
	if (!caller->burst)
		caller->burst = caller->per_minute;
}

void config_callers_read(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;
	const char *text;
	size_t size;

	if (value == JSON_NONE)
		return;
	if (json_type_at(tape, value) != JSON_ARRAY) {
		config_reader_close_wrong(reader, value, "must be a list of rules");
		return;
	}
	reader->config->callers =
		calloc(json_count(tape, value) + 1, sizeof(*reader->config->callers));
	if (!reader->config->callers) {
		reader->error = -ENOMEM;
		return;
	}
	text = json_value_text(tape, value, &size);
	reader->config->callers_digest = digest_bytes(DIGEST_SEED, text, size);
	json_each(rule, tape, value)
		read_rule(reader, rule);
}

void config_callers_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_callers; i++)
		config_match_deinit(&config->callers[i].match);
	free(config->callers);
}
