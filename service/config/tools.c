/* SPDX-License-Identifier: Apache-2.0 */
#include "config/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/triggers.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"

#define DAY_S  86400u
#define DAY_MS 86400000u

static void read_risk(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	tool->risk = tool_risk_at(&reader->tape, value);
	if (tool->risk == TOOL_UNRATED)
		config_reader_close_wrong(
			reader, value, "must be \"read\", \"write\" or \"execute\"");
}

static bool read_tool_flag(struct config_reader *reader, uint32_t value)
{
	enum json_type type = json_type_at(&reader->tape, value);

	if (type != JSON_TRUE && type != JSON_FALSE)
		config_reader_close_wrong(reader, value, "must be true or false");
	return type == JSON_TRUE;
}

static void read_enabled(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	tool->is_enabled = read_tool_flag(reader, value);
}

static void read_parallel(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	tool->is_parallel = read_tool_flag(reader, value);
	tool->has_parallel = true;
}

static void read_tool_timeout(
	struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	uint64_t ms = 0;

	if (json_type_at(&reader->tape, value) == JSON_NUMBER &&
		json_number_u64(&reader->tape, value, &ms) == 0 && ms >= 1 && ms <= DAY_MS)
		tool->timeout_ms = ms;
	else
		config_reader_close_wrong(reader, value, "must be an integer from 1 to 86400000");
}

static void read_cooldown(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	uint64_t seconds = 0;

	if (json_type_at(&reader->tape, value) != JSON_NUMBER ||
		json_number_u64(&reader->tape, value, &seconds) != 0 || seconds > DAY_S)
		config_reader_close_wrong(reader, value, "must be an integer from 0 to 86400");
	tool->cooldown_s = (double)seconds;
	tool->has_cooldown = true;
}

/* Return the string at @value, which the caller frees; NULL after the configuration was closed, or
 * without memory. */
static char *read_tool_text(struct config_reader *reader, uint32_t value)
{
	char *text = NULL;

	if (json_type_at(&reader->tape, value) == JSON_STRING)
		text = config_reader_string(reader, value);
	if (!text && reader->error == 0)
		config_reader_close_wrong(reader, value, "must be a string without U+0000");
	return text;
}

static void read_description(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	tool->description = read_tool_text(reader, value);
}

/* Add the trigger at @value to @tool. It is compiled to find its mistakes; @compiled is thrown
 * away. */
static void read_trigger(struct config_reader *reader, uint32_t value, struct config_tool *tool,
	struct triggers *compiled)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	char *text = read_tool_text(reader, value);
	int r = text ? triggers_add(compiled, text, strlen(text), &reason) : 0;

	if (r > 0)
		config_reader_close(reader, value, "%s", reason.data);
	if (r < 0 || (text && text_list_take(&tool->triggers, text) < 0))
		reader->error = -ENOMEM;
	if (r < 0)
		free(text);
}

static void read_triggers(struct config_reader *reader, uint32_t value, struct config_tool *tool)
{
	cleanup(triggers_deinit) struct triggers compiled = {0};
	const struct json_tape *tape = &reader->tape;

	tool->has_triggers = true;
	if (json_type_at(tape, value) != JSON_ARRAY) {
		config_reader_close_wrong(reader, value, "must be a list of regular expressions");
		return;
	}
	json_each(i, tape, value)
		read_trigger(reader, i, tool, &compiled);
}

static const struct {
	void (*read)(struct config_reader *reader, uint32_t value, struct config_tool *tool);
	const char *key;
} members[] = {
	{read_risk, "risk"},
	{read_enabled, "enabled"},
	{read_tool_timeout, "timeout_ms"},
	{read_cooldown, "cooldown_s"},
	{read_parallel, "parallel"},
	{read_description, "description"},
	{read_triggers, "triggers"},
};
#define N_MEMBERS ARRAY_SIZE(members)

/* Add the member whose key is at @key to the digest, unless it is `enabled`: that is looked at when
 * tools are offered, and changes no tool. */
static void digest_member(struct config_reader *reader, const struct config_tool *tool,
	uint32_t key, struct config_toolbox *settings)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_string_equals(&reader->tape, key, "enabled", strlen("enabled")))
		return;
	json_write_text(&text, tool->name);
	json_write_compact(&text, &reader->tape, key);
	json_write_compact(&text, &reader->tape, key + 1);
	if (buffer_status(&text) < 0)
		reader->error = buffer_status(&text);
	settings->tools_digest =
		digest_bytes(settings->tools_digest ? settings->tools_digest : DIGEST_SEED,
			text.data, text.size) |
		1;
}

/* Read the member whose key is at @key. null withdraws what a lower file has. */
static void read_tool_member(struct config_reader *reader, uint32_t key, struct config_tool *tool,
	struct config_toolbox *settings)
{
	size_t i = 0;

	while (i < N_MEMBERS &&
		!json_string_equals(&reader->tape, key, members[i].key, strlen(members[i].key)))
		i++;
	if (i == N_MEMBERS) {
		config_reader_close(reader, key,
			"is an unknown key; expected \"risk\", \"enabled\", \"timeout_ms\", "
			"\"cooldown_s\", \"parallel\", \"description\" or \"triggers\"");
		return;
	}
	if (json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	members[i].read(reader, key + 1, tool);
	digest_member(reader, tool, key, settings);
}

static void read_tool_settings(
	struct config_reader *reader, uint32_t key, struct config_toolbox *settings)
{
	const struct json_tape *tape = &reader->tape;
	struct config_tool *tool = &settings->tools[settings->n_tools];

	if (json_type_at(tape, key + 1) == JSON_NULL ||
		!config_reader_is_object_or_closes(reader, key + 1))
		return;
	tool->name = read_tool_text(reader, key);
	if (!tool->name)
		return;
	tool->is_enabled = true;
	settings->n_tools++;
	json_each_key(member, tape, key + 1)
		read_tool_member(reader, member, tool, settings);
}

static int compare_tools(const void *a, const void *b)
{
	return strcmp(((const struct config_tool *)a)->name, ((const struct config_tool *)b)->name);
}

void config_tools_read(
	struct config_reader *reader, uint32_t value, struct config_toolbox *settings)
{
	const struct json_tape *tape = &reader->tape;

	if (!config_reader_is_object_or_closes(reader, value))
		return;
	settings->tools = calloc(json_count(tape, value) + 1, sizeof(*settings->tools));
	if (!settings->tools) {
		reader->error = -ENOMEM;
		return;
	}
	json_each_key(key, tape, value)
		read_tool_settings(reader, key, settings);
	qsort(settings->tools, settings->n_tools, sizeof(*settings->tools), compare_tools);
}

void config_tools_deinit(struct config_toolbox *settings)
{
	for (size_t i = 0; i < settings->n_tools; i++) {
		free(settings->tools[i].name);
		free(settings->tools[i].description);
		text_list_deinit(&settings->tools[i].triggers);
	}
	free(settings->tools);
}

const struct config_tool *config_tool_find(const struct config_toolbox *toolbox, const char *name)
{
	const struct config_tool wanted = {.name = (char *)name};

	if (!toolbox || toolbox->n_tools == 0)
		return NULL;
	return bsearch(
		&wanted, toolbox->tools, toolbox->n_tools, sizeof(*toolbox->tools), compare_tools);
}
