/* SPDX-License-Identifier: Apache-2.0 */
#include "config/toolboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/tools.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"
#include "util/digest.h"

#define DAY_S  86400u
#define DAY_MS 86400000u

/* The most bytes of the variables of one toolbox, with their names. The kernel allows some
 * megabytes. */
#define ENVIRONMENT_BYTES_MAX (64u << 10)

/* The fallback of idle_s, not a value of the key; 0 is a value. */
#define NOT_SET UINT64_MAX

static bool read_toolbox_enabled(struct config_reader *reader, uint32_t toolbox)
{
	uint32_t value = config_reader_find(reader, toolbox, "enabled");
	enum json_type type = value == JSON_NONE ? JSON_TRUE : json_type_at(&reader->tape, value);

	if (type != JSON_TRUE && type != JSON_FALSE)
		config_reader_close_wrong(reader, value, "must be true or false");
	return type == JSON_TRUE;
}

/* Add @text to the digest, which is not 0 then. */
static void add_to_digest(struct config_toolbox *settings, const struct buffer *text)
{
	settings->digest = digest_bytes(settings->digest ? settings->digest : DIGEST_SEED,
				   text->data, text->size) |
			   1;
}

/* Return the member @key of `toolboxes.<id>`, or JSON_NONE. The hosts of the toolbox depend on it,
 * so it is added to the digest. */
static uint32_t find_digested(struct config_reader *reader, uint32_t toolbox, const char *key,
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
	add_to_digest(settings, &text);
	return value;
}

static void read_sandbox(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	uint32_t value = find_digested(reader, toolbox, "sandbox", settings);
	struct sandbox_mistake mistake;
	int r;

	if (value == JSON_NONE)
		return;
	settings->has_sandbox = true;
	r = toolbox_sandbox_read(&reader->tape, value, NULL, &settings->sandbox, &mistake);
	if (r < 0)
		reader->error = r;
	if (r > 0)
		config_reader_close_wrong(reader, mistake.token, mistake.expected);
}

static void read_prestart(
	struct config_reader *reader, uint32_t object, struct config_toolbox *settings)
{
	uint32_t value = config_reader_find(reader, object, "prestart");
	enum json_type type = value == JSON_NONE ? JSON_NULL : json_type_at(&reader->tape, value);

	settings->has_prestart = type == JSON_TRUE || type == JSON_FALSE;
	settings->limits.prestart = type == JSON_TRUE;
	if (value != JSON_NONE && !settings->has_prestart)
		config_reader_report_wrong(
			reader, DIAGNOSTIC_ERROR, value, "must be true or false", "it is not used");
}

static uint64_t read_limit(struct config_reader *reader, uint32_t object, const char *key,
	const struct config_range *range)
{
	return config_reader_number(
		reader, DIAGNOSTIC_ERROR, config_reader_find(reader, object, key), range);
}

/* Report the key at @key unless it is a key of `limits`, with the nearest key. */
static void check_limit(struct config_reader *reader, uint32_t key)
{
	static const char *const names[] = {
		"timeout_ms", "max_ms", "workers", "queue", "memory_mb", "idle_s", "prestart"};
	cleanup_free char *name = config_reader_string(reader, key);
	const char *nearest = NULL;
	unsigned int least = UINT32_MAX;
	unsigned int distance;

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) == 0)
			return;
		if (!text_is_near(name, strlen(name), names[i], strlen(names[i]), &distance) ||
			distance >= least)
			continue;
		nearest = names[i];
		least = distance;
	}
	if (name)
		config_reader_report(reader, DIAGNOSTIC_WARNING, key, "is an unknown key%s%s%s",
			nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "");
}

/* Read `limits`, with the ranges of a manifest (schemas/toolbox-manifest.schema.json). */
static void read_limits(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	static const struct config_range timeout_ms = {1, DAY_MS, 0};
	static const struct config_range workers = {1, 64, 0};
	static const struct config_range queue = {1, 65536, 0};
	static const struct config_range memory_mb = {16, 1048576, 0};
	static const struct config_range idle_s = {0, DAY_S, NOT_SET};
	const struct json_tape *tape = &reader->tape;
	uint32_t object = find_digested(reader, toolbox, "limits", settings);
	struct toolbox_limits *limits = &settings->limits;

	if (!config_reader_is_object(reader, object, "it is not used"))
		return;
	settings->has_process = true;
	limits->timeout_ms = read_limit(reader, object, "timeout_ms", &timeout_ms);
	limits->max_ms = read_limit(reader, object, "max_ms", &timeout_ms);
	limits->workers = (uint32_t)read_limit(reader, object, "workers", &workers);
	limits->queue = (uint32_t)read_limit(reader, object, "queue", &queue);
	limits->memory_mb = (uint32_t)read_limit(reader, object, "memory_mb", &memory_mb);
	limits->idle_s = read_limit(reader, object, "idle_s", &idle_s);
	limits->has_idle_s = limits->idle_s != NOT_SET;
	read_prestart(reader, object, settings);
	json_each_key(key, tape, object)
		check_limit(reader, key);
}

/* [A-Za-z_][A-Za-z0-9_]* */
static bool is_variable_name(const char *name)
{
	static const char digits[] = "0123456789";
	static const char all[] = "0123456789_"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	return *name && !strchr(digits, *name) && name[strspn(name, all)] == '\0';
}

/* Return why there can be no variable @name, or NULL. The dynamic linker obeys names that begin
 * with LD_, and would load libraries into a host that has not entered its sandbox yet. */
static const char *find_fault(const char *name)
{
	if (!is_variable_name(name))
		return "is not the name of a variable: letters, digits and '_', no digit first";
	if (strncmp(name, "LD_", strlen("LD_")) == 0)
		return "would affect toolbox-host itself, before its sandbox is in force";
	return NULL;
}

/* Append the variable whose name is at @key. */
static void read_variable(struct config_reader *reader, uint32_t key, struct buffer *out)
{
	cleanup_free char *name = NULL;
	cleanup_free char *value = NULL;
	const char *fault;

	if (json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	name = config_reader_string(reader, key);
	if (!name)
		return;
	fault = find_fault(name);
	if (fault) {
		config_reader_report(reader, DIAGNOSTIC_ERROR, key, "%s; it is skipped", fault);
		return;
	}
	if (json_type_at(&reader->tape, key + 1) != JSON_STRING) {
		config_reader_report_wrong(
			reader, DIAGNOSTIC_ERROR, key + 1, "must be a string", "it is skipped");
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
	uint32_t object = find_digested(reader, toolbox, "env", settings);

	if (!config_reader_is_object(reader, object, "it is not used"))
		return;
	settings->has_process = true;
	json_each_key(key, tape, object)
		read_variable(reader, key, &out);
	/* buffer_take() appends the NUL that ends the list. */
	if (out.size > 0)
		settings->environment = buffer_take(&out, NULL);
	if (buffer_status(&out) == -EMSGSIZE)
		config_reader_report(reader, DIAGNOSTIC_ERROR, object,
			"must not have more than %u bytes in all; none of it is used",
			ENVIRONMENT_BYTES_MAX);
	else if (buffer_status(&out) < 0)
		reader->error = buffer_status(&out);
}

/* Keep every key that is not ours for the toolbox itself. */
static void read_rest(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	static const char *const ours[] = {"enabled", "sandbox", "limits", "env", "tools"};
	const struct json_tape *tape = &reader->tape;
	cleanup(buffer_deinit) struct buffer text = {0};

	json_each_key(key, tape, toolbox) {
		size_t i = 0;

		while (i < ARRAY_SIZE(ours) &&
			!json_string_equals(tape, key, ours[i], strlen(ours[i])))
			i++;
		if (i < ARRAY_SIZE(ours))
			continue;
		buffer_append_char(&text, text.size > 0 ? ',' : '{');
		json_write_compact(&text, tape, key);
		buffer_append_char(&text, ':');
		json_write_compact(&text, tape, key + 1);
	}
	if (text.size == 0)
		return;
	buffer_append_char(&text, '}');
	add_to_digest(settings, &text);
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

	if (json_type_at(&reader->tape, key + 1) == JSON_NULL ||
		!config_reader_is_object_or_closes(reader, key + 1))
		return;
	toolbox_id = config_reader_string(reader, key);
	if (!toolbox_id)
		return;
	settings = &config->toolboxes[config->n_toolboxes++];
	settings->toolbox_id = toolbox_id;
	settings->is_enabled = read_toolbox_enabled(reader, key + 1);
	read_sandbox(reader, key + 1, settings);
	read_limits(reader, key + 1, settings);
	read_environment(reader, key + 1, settings);
	config_tools_read(reader, config_reader_find(reader, key + 1, "tools"), settings);
	read_rest(reader, key + 1, settings);
}

void config_toolboxes_read(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;

	if (!config_reader_is_object_or_closes(reader, value))
		return;
	reader->config->toolboxes =
		calloc(json_count(tape, value) + 1, sizeof(*reader->config->toolboxes));
	if (!reader->config->toolboxes) {
		reader->error = -ENOMEM;
		return;
	}
	json_each_key(key, tape, value)
		read_toolbox(reader, key);
}

void config_toolboxes_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		config_tools_deinit(&config->toolboxes[i]);
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
