/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config_toolboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_values.h"
#include "util/cleanup.h"

/* Keys that would change how a toolbox runs, and are not built. */
static const char *const unsupported[] = {"sandbox", "limits", "env"};

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

/* Read one member of `toolboxes`. */
static void read_toolbox(struct config_reader *reader, uint32_t key)
{
	struct config *config = reader->config;
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
	config->toolboxes[config->n_toolboxes++] = (struct config_toolbox){
		.toolbox_id = toolbox_id, .is_enabled = read_enabled(reader, key + 1)};
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
	for (size_t i = 0; i < config->n_toolboxes; i++)
		free(config->toolboxes[i].toolbox_id);
	free(config->toolboxes);
}

bool config_toolbox_is_enabled(const struct config *config, const char *toolbox_id)
{
	for (size_t i = 0; i < config->n_toolboxes; i++)
		if (strcmp(config->toolboxes[i].toolbox_id, toolbox_id) == 0)
			return config->toolboxes[i].is_enabled;
	return true;
}
