/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_toolboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_values.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/digest.h"

#define DAY_S  86400u
#define DAY_MS 86400000u

/* The variables of one toolbox together, with their names; the kernel takes some megabytes. */
#define ENVIRONMENT_BYTES_MAX (64u << 10)

/* No value of idle_s: 0 is one. */
#define NOT_SAID UINT64_MAX

#define LIMIT(key, least_, most_, standard_)                                                       \
	{                                                                                          \
		.path = #key, .read = config_value_read_number,                                    \
		.offset = offsetof(struct toolbox_limits, key),                                    \
		.size = sizeof(((struct toolbox_limits *)NULL)->key), .least = (least_),           \
		.most = (most_), .standard = (standard_),                                          \
	}

/* The numbers of `limits`, with the ranges that they have in a manifest
 * (schemas/toolbox-manifest.schema.json). */
static const struct config_setting limits[] = {
	LIMIT(timeout_ms, 1, DAY_MS, 0),
	LIMIT(workers, 1, 64, 0),
	LIMIT(queue, 1, 65536, 0),
	LIMIT(memory_mb, 16, 1048576, 0),
	LIMIT(idle_s, 0, DAY_S, NOT_SAID),
};
#define N_LIMITS (sizeof(limits) / sizeof(*limits))

static const char prestart[] = "prestart";

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
		"must be true or false, not %s; it decides which calls are allowed, so no default "
		"is used",
		config_reader_show(reader, value, shown));
	reader->reporter.is_refused = true;
	return false;
}

/* Where `toolboxes.<id>` says something by @key that its hosts depend on, or JSON_NONE; the digest
 * tells that it does, and is never 0 then. */
static uint32_t find_noting(struct config_reader *reader, uint32_t toolbox, const char *key,
	struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t value = config_reader_find(reader, toolbox, key);

	if (value == JSON_NONE)
		return value;
	buffer_append_string(&text, key);
	json_write_compact(&text, &reader->tape, value);
	if (buffer_status(&text) < 0)
		reader->error = buffer_status(&text);
	settings->digest = digest_bytes(settings->digest ? settings->digest : DIGEST_SEED,
				   text.data, text.size) |
			   1;
	return value;
}

static void read_sandbox(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	uint32_t value = find_noting(reader, toolbox, "sandbox", settings);
	struct sandbox_mistake mistake;
	char shown[CONFIG_SHOWN_BYTES];
	int r;

	if (value == JSON_NONE)
		return;
	settings->has_sandbox = true;
	r = toolbox_sandbox_read(&reader->tape, value, NULL, &settings->sandbox, &mistake);
	if (r < 0)
		reader->error = r;
	if (r <= 0)
		return;
	config_reader_report(reader, CONFIG_ERROR, mistake.token,
		"%s, not %s; it decides what a call may do, so no default is used",
		mistake.expected, config_reader_show(reader, mistake.token, shown));
	reader->reporter.is_refused = true;
}

/* Whether the value is an object; JSON_NONE is not, and anything else is told. */
static bool is_object(struct config_reader *reader, uint32_t value)
{
	char shown[CONFIG_SHOWN_BYTES];

	if (value == JSON_NONE || json_type_at(&reader->tape, value) == JSON_OBJECT)
		return value != JSON_NONE;
	config_reader_report(reader, CONFIG_ERROR, value,
		"must be an object, not %s; it is not used",
		config_reader_show(reader, value, shown));
	return false;
}

static void read_prestart(
	struct config_reader *reader, uint32_t object, struct config_toolbox *settings)
{
	uint32_t value = config_reader_find(reader, object, prestart);
	enum json_type type = value == JSON_NONE ? JSON_NULL : json_type_at(&reader->tape, value);
	char shown[CONFIG_SHOWN_BYTES];

	settings->has_prestart = type == JSON_TRUE || type == JSON_FALSE;
	settings->limits.prestart = type == JSON_TRUE;
	if (value != JSON_NONE && !settings->has_prestart)
		config_reader_report(reader, CONFIG_ERROR, value,
			"must be true or false, not %s; it is not used",
			config_reader_show(reader, value, shown));
}

static bool is_limit(const struct config_reader *reader, uint32_t key)
{
	for (size_t i = 0; i < N_LIMITS; i++)
		if (json_string_equals(&reader->tape, key, limits[i].path, strlen(limits[i].path)))
			return true;
	return json_string_equals(&reader->tape, key, prestart, strlen(prestart));
}

static void read_limits(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	const struct json_tape *tape = &reader->tape;
	uint32_t object = find_noting(reader, toolbox, "limits", settings);

	if (!is_object(reader, object))
		return;
	settings->has_process = true;
	for (size_t i = 0; i < N_LIMITS; i++)
		limits[i].read(reader, &limits[i],
			config_reader_find(reader, object, limits[i].path),
			(char *)&settings->limits + limits[i].offset);
	settings->limits.has_idle_s = settings->limits.idle_s != NOT_SAID;
	read_prestart(reader, object, settings);
	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key))
		if (!is_limit(reader, key))
			config_reader_report(reader, CONFIG_WARNING, key, "is an unknown key");
}

/* [A-Za-z_][A-Za-z0-9_]* */
static bool is_variable_name(const char *name)
{
	static const char digits[] = "0123456789";
	static const char all[] = "0123456789_"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	return *name && !strchr(digits, *name) && name[strspn(name, all)] == '\0';
}

/* Why there can be no variable @name, or NULL. What begins with LD_ the dynamic linker obeys, and
 * so would load libraries into a host that has not entered its sandbox yet. */
static const char *find_fault(const char *name)
{
	if (!is_variable_name(name))
		return "is not the name of a variable: letters, digits and '_', no digit first";
	if (strncmp(name, "LD_", strlen("LD_")) == 0)
		return "would affect toolbox-host itself, before its sandbox is in force";
	return NULL;
}

/* Append the variable whose name stands at @key. */
static void read_variable(struct config_reader *reader, uint32_t key, struct buffer *out)
{
	cleanup_free char *name = NULL;
	cleanup_free char *value = NULL;
	char shown[CONFIG_SHOWN_BYTES];
	const char *fault;

	if (json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	name = config_reader_string(reader, key);
	if (!name)
		return;
	fault = find_fault(name);
	if (fault) {
		config_reader_report(reader, CONFIG_ERROR, key, "%s; it is left out", fault);
		return;
	}
	if (json_type_at(&reader->tape, key + 1) != JSON_STRING) {
		config_reader_report(reader, CONFIG_ERROR, key + 1,
			"must be a string, not %s; it is left out",
			config_reader_show(reader, key + 1, shown));
		return;
	}
	value = config_reader_string(reader, key + 1);
	if (!value)
		return;
	buffer_printf(out, "%s=%s", name, value);
	buffer_append_char(out, '\0');
}

static void read_environment(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer out = {.limit = ENVIRONMENT_BYTES_MAX};
	const struct json_tape *tape = &reader->tape;
	uint32_t object = find_noting(reader, toolbox, "env", settings);

	if (!is_object(reader, object))
		return;
	settings->has_process = true;
	for (uint32_t key = json_first(tape, object); key < json_end(tape, object);
		key = json_next_key(tape, key))
		read_variable(reader, key, &out);
	/* The NUL behind the text is the one that ends it. */
	if (out.size > 0)
		settings->environment = buffer_take(&out, NULL);
	if (buffer_status(&out) == -EMSGSIZE)
		config_reader_report(reader, CONFIG_ERROR, object,
			"must not have more than %u bytes in all; nothing of it is used",
			ENVIRONMENT_BYTES_MAX);
	else if (buffer_status(&out) < 0)
		reader->error = buffer_status(&out);
}

/* What the toolbox itself reads: every key that is not ours. */
static void read_rest(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	static const char *const ours[] = {"enabled", "sandbox", "limits", "env"};
	const struct json_tape *tape = &reader->tape;
	cleanup(buffer_deinit) struct buffer text = {0};

	for (uint32_t key = json_first(tape, toolbox); key < json_end(tape, toolbox);
		key = json_next_key(tape, key)) {
		size_t i = 0;

		while (i < sizeof(ours) / sizeof(*ours) &&
			!json_string_equals(tape, key, ours[i], strlen(ours[i])))
			i++;
		if (i < sizeof(ours) / sizeof(*ours))
			continue;
		buffer_append_char(&text, text.size > 0 ? ',' : '{');
		json_write_compact(&text, tape, key);
		buffer_append_char(&text, ':');
		json_write_compact(&text, tape, key + 1);
	}
	if (text.size == 0)
		return;
	buffer_append_char(&text, '}');
	settings->digest = digest_bytes(settings->digest ? settings->digest : DIGEST_SEED,
				   text.data, text.size) |
			   1;
	settings->config = buffer_take(&text, NULL);
	if (!settings->config)
		reader->error = -ENOMEM;
}

/* Read one member of `toolboxes`. */
static void read_toolbox(struct config_reader *reader, uint32_t key)
{
	struct config *config = reader->config;
	struct config_toolbox *settings;
	char *toolbox_id;

	if (json_type_at(&reader->tape, key + 1) == JSON_NULL || !is_object(reader, key + 1))
		return;
	toolbox_id = config_reader_string(reader, key);
	if (!toolbox_id)
		return;
	settings = &config->toolboxes[config->n_toolboxes++];
	settings->toolbox_id = toolbox_id;
	settings->is_enabled = read_enabled(reader, key + 1);
	read_sandbox(reader, key + 1, settings);
	read_limits(reader, key + 1, settings);
	read_environment(reader, key + 1, settings);
	read_rest(reader, key + 1, settings);
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
		free(config->toolboxes[i].environment);
		free(config->toolboxes[i].config);
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
