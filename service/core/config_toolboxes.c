/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config_toolboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_values.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/digest.h"

/* Keys that would change how a toolbox runs, and are not built. */
static const char *const unsupported[] = {"limits", "env"};

static bool read_enabled(struct config_reader *reader, uint32_t toolbox)
{
	uint32_t value = config_reader_find(reader, toolbox, "enabled");
	enum json_type type;
	char shown[CONFIG_SHOWN_BYTES];

	if (value == JSON_NONE)
		return true;
	type = json_type_at(&reader->tape, value);
	if (type == JSON_TRUE || type == JSON_FALSE)
		return type == JSON_TRUE;
	config_reader_report(reader, CONFIG_ERROR, value,
		"must be true or false, not %s; it decides what may be called, so nothing stands "
		"in",
		config_reader_show(reader, value, shown));
	reader->reporter.is_refused = true;
	return false;
}

/* The digest of the value's text, never 0. */
static uint64_t digest_value(struct config_reader *reader, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_write_compact(&text, &reader->tape, value);
	if (buffer_status(&text) < 0)
		reader->error = buffer_status(&text);
	return digest_bytes(DIGEST_SEED, text.data, text.size) | 1;
}

static void read_sandbox(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	uint32_t value = config_reader_find(reader, toolbox, "sandbox");
	struct sandbox_mistake mistake;
	char shown[CONFIG_SHOWN_BYTES];
	int r;

	if (value == JSON_NONE)
		return;
	settings->digest = digest_value(reader, value);
	r = toolbox_sandbox_read(&reader->tape, value, NULL, &settings->sandbox, &mistake);
	if (r < 0)
		reader->error = r;
	if (r <= 0)
		return;
	config_reader_report(reader, CONFIG_ERROR, mistake.token,
		"%s, not %s; it decides what a call may do, so nothing stands in", mistake.expected,
		config_reader_show(reader, mistake.token, shown));
	reader->reporter.is_refused = true;
}

/* Read one member of `toolboxes`. */
static void read_toolbox(struct config_reader *reader, uint32_t key)
{
	struct config *config = reader->config;
	struct config_toolbox *settings;
	char shown[CONFIG_SHOWN_BYTES];
	char *toolbox_id;

	if (json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	if (json_type_at(&reader->tape, key + 1) != JSON_OBJECT) {
		config_reader_report(reader, CONFIG_ERROR, key + 1,
			"must be an object, not %s; it is not used",
			config_reader_show(reader, key + 1, shown));
		return;
	}
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++) {
		uint32_t value = config_reader_find(reader, key + 1, unsupported[i]);

		if (value != JSON_NONE)
			config_value_refuse(reader, value);
	}
	toolbox_id = config_reader_string(reader, key);
	if (!toolbox_id)
		return;
	settings = &config->toolboxes[config->n_toolboxes++];
	settings->toolbox_id = toolbox_id;
	settings->is_enabled = read_enabled(reader, key + 1);
	read_sandbox(reader, key + 1, settings);
}

void config_toolboxes_read(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;
	char shown[CONFIG_SHOWN_BYTES];

	if (value == JSON_NONE)
		return;
	if (json_type_at(tape, value) != JSON_OBJECT) {
		config_reader_report(reader, CONFIG_ERROR, value,
			"must be an object of toolboxes by their ids, not %s; it is not used",
			config_reader_show(reader, value, shown));
		return;
	}
	reader->config->toolboxes =
		calloc(json_count(tape, value) + 1, sizeof(*reader->config->toolboxes));
	if (!reader->config->toolboxes) {
		reader->error = -ENOMEM;
		return;
	}
	for (uint32_t key = json_first(tape, value); key < json_end(tape, value);
		key = json_next_key(tape, key))
		read_toolbox(reader, key);
}

void config_toolboxes_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		toolbox_sandbox_deinit(&config->toolboxes[i].sandbox);
		free(config->toolboxes[i].toolbox_id);
	}
	free(config->toolboxes);
}

const struct config_toolbox *config_toolbox_find(
	const struct config *config, const char *toolbox_id)
{
	for (size_t i = 0; i < config->n_toolboxes; i++)
		if (strcmp(config->toolboxes[i].toolbox_id, toolbox_id) == 0)
			return &config->toolboxes[i];
	return NULL;
}

bool config_toolbox_is_enabled(const struct config *config, const char *toolbox_id)
{
	const struct config_toolbox *settings = config_toolbox_find(config, toolbox_id);

	return !settings || settings->is_enabled;
}
