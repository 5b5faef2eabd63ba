/* SPDX-License-Identifier: Apache-2.0 */
#include "config/toolboxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"

/* The most bytes of the variables of one toolbox, with their names. The kernel allows some
 * megabytes. */
#define ENVIRONMENT_BYTES_MAX (64u << 10)

static const char *const gate_words[] = {[CONFIG_GATE_UNSET] = "",
	[CONFIG_GATE_EXAMPLES] = "examples",
	[CONFIG_GATE_NONE] = "none",
	NULL};

#define FIELDS_OF struct config_toolbox
static const struct config_field toolbox_fields[] = {
	CONFIG_FLAG("enabled", is_enabled, true),
	CONFIG_FLAG("enabled", is_opened, false),
	CONFIG_WORD("gate", gate, gate_words, CONFIG_GATE_UNSET),
	CONFIG_NUMBER("limits.timeout_ms", limits.timeout_ms, 0),
	CONFIG_NUMBER("limits.max_ms", limits.max_ms, 0),
	CONFIG_NUMBER("limits.workers", limits.workers, 0),
	CONFIG_NUMBER("limits.queue", limits.queue, 0),
	CONFIG_NUMBER("limits.memory_mb", limits.memory_mb, 0),
	CONFIG_SET_NUMBER("limits.idle_s", limits.idle_s, limits.has_idle_s),
	CONFIG_SET_FLAG("limits.prestart", limits.prestart, has_prestart),
};
#undef FIELDS_OF

/* The keys that are not kept for the toolbox itself. */
static const char *const own_keys[] = {
	"enabled", "gate", "sandbox", "limits", "env", "tools", NULL};

/* Return the member @key of `toolboxes.<id>`, or JSON_NONE. The hosts of the toolbox depend on it,
 * so it is added to the digest. */
static uint32_t find_digested(struct config_reader *reader, uint32_t toolbox, const char *key,
	struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t value = json_find_typed(&reader->tape, toolbox, key, JSON_OBJECT);

	if (value == JSON_NONE)
		return value;
	buffer_append_string(&text, key);
	json_write_compact(&text, &reader->tape, value);
	config_reader_digest(reader, &text, &settings->digest);
	return value;
}

/* Add the gate to the digest: a toolbox that gets one is read anew. */
static void digest_gate(struct config_reader *reader, struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (settings->gate == CONFIG_GATE_UNSET)
		return;
	buffer_printf(&text, "gate%s", gate_words[settings->gate]);
	config_reader_digest(reader, &text, &settings->digest);
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
		config_reader_wrong(reader, mistake.token, mistake.expected);
}

/* Append the variable whose name is at @key; null withdraws it. */
static void append_variable(struct config_reader *reader, uint32_t key, struct buffer *out)
{
	if (json_type_at(&reader->tape, key + 1) != JSON_STRING)
		return;
	json_string_decode(&reader->tape, key, out);
	buffer_append_char(out, '=');
	json_string_decode(&reader->tape, key + 1, out);
	buffer_append_char(out, '\0');
}

static void read_environment(
	struct config_reader *reader, uint32_t env, struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer out = {.limit = ENVIRONMENT_BYTES_MAX};

	json_each_key(key, &reader->tape, env)
		append_variable(reader, key, &out);
	/* buffer_take() appends the NUL that ends the list. */
	if (out.size > 0)
		settings->environment = buffer_take(&out, NULL);
	if (buffer_status(&out) == -EMSGSIZE)
		config_reader_report(reader, DIAGNOSTIC_ERROR, env,
			"must not have more than %u bytes in all; none of it is used",
			ENVIRONMENT_BYTES_MAX);
	else if (buffer_status(&out) < 0)
		reader->error = buffer_status(&out);
}

/* Keep every key that is not ours for the toolbox itself. */
static void read_rest(
	struct config_reader *reader, uint32_t toolbox, struct config_toolbox *settings)
{
	const struct json_tape *tape = &reader->tape;
	cleanup(buffer_deinit) struct buffer text = {0};

	json_each_key(key, tape, toolbox) {
		if (json_word_at(tape, key, own_keys) >= 0)
			continue;
		buffer_append_char(&text, text.size > 0 ? ',' : '{');
		json_write_compact(&text, tape, key);
		buffer_append_char(&text, ':');
		json_write_compact(&text, tape, key + 1);
	}
	if (text.size == 0)
		return;
	buffer_append_char(&text, '}');
	config_reader_digest(reader, &text, &settings->digest);
	settings->config = buffer_take(&text, NULL);
}

/* Read the settings of the toolbox whose id is at @key into @settings. */
static void read_toolbox(
	struct config_reader *reader, uint32_t key, struct config_toolbox *settings)
{
	const struct json_tape *tape = &reader->tape;
	uint32_t toolbox = key + 1;
	uint32_t limits;
	uint32_t env;

	if (config_fields_read(
		    tape, toolbox, toolbox_fields, ARRAY_SIZE(toolbox_fields), settings) < 0)
		reader->error = -ENOMEM;
	digest_gate(reader, settings);
	read_sandbox(reader, toolbox, settings);
	limits = find_digested(reader, toolbox, "limits", settings);
	env = find_digested(reader, toolbox, "env", settings);
	settings->has_process = limits != JSON_NONE || env != JSON_NONE;
	if (env != JSON_NONE)
		read_environment(reader, env, settings);
	config_tools_read(
		reader, json_find_typed(tape, toolbox, "tools", JSON_OBJECT), &settings->tools);
	read_rest(reader, toolbox, settings);
}

void config_toolboxes_read(struct config_reader *reader, uint32_t value,
	struct config_toolbox **ret_toolboxes, size_t *ret_n)
{
	const struct json_tape *tape = &reader->tape;
	struct config_toolbox *toolboxes;

	if (value == JSON_NONE)
		return;
	toolboxes = calloc(json_count(tape, value) + 1, sizeof(*toolboxes));
	*ret_toolboxes = toolboxes;
	if (!toolboxes) {
		reader->error = -ENOMEM;
		return;
	}
	json_each_key(key, tape, value) {
		char *toolbox_id;

		if (json_type_at(tape, key + 1) != JSON_OBJECT)
			continue;
		toolbox_id = json_string_dup(tape, key, NULL);
		if (!toolbox_id) {
			reader->error = -ENOMEM;
			return;
		}
		toolboxes[*ret_n].toolbox_id = toolbox_id;
		read_toolbox(reader, key, &toolboxes[(*ret_n)++]);
	}
}

const struct config_tool *config_tool_find(const struct config_toolbox *toolbox, const char *name)
{
	return toolbox ? config_tools_find(&toolbox->tools, name) : NULL;
}

void config_toolboxes_free(struct config_toolbox *toolboxes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		config_tools_deinit(&toolboxes[i].tools);
		toolbox_sandbox_deinit(&toolboxes[i].sandbox);
		free(toolboxes[i].environment);
		free(toolboxes[i].config);
		free(toolboxes[i].toolbox_id);
	}
	free(toolboxes);
}
