/* SPDX-License-Identifier: Apache-2.0 */
#include "config/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/triggers.h"
#include "config/fields.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

#define FIELDS_OF struct config_tool
static const struct config_field tool_fields[] = {
	CONFIG_FLAG("enabled", is_enabled, true),
	CONFIG_FLAG("enabled", is_opened, false),
	CONFIG_WORD("risk", risk, tool_risk_names, TOOL_UNRATED),
	CONFIG_NUMBER("timeout_ms", timeout_ms, 0),
	CONFIG_SET_NUMBER("cooldown_s", cooldown_s, has_cooldown),
	CONFIG_SET_FLAG("parallel", is_parallel, has_parallel),
	CONFIG_TEXT("description", description),
};
#undef FIELDS_OF

/* Add the trigger at @value to @tool. It is compiled to find its mistakes; @compiled is thrown
 * away. */
static void read_trigger(struct config_reader *reader, uint32_t value, struct config_tool *tool,
	struct triggers *compiled)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	char *text = json_string_dup(&reader->tape, value, NULL);
	int r = text ? triggers_add(compiled, text, strlen(text), &reason) : -ENOMEM;

	if (r > 0)
		config_reader_close(reader, value, "%s", reason.data);
	if (r < 0)
		free(text);
	if (r < 0 || text_list_take(&tool->triggers, text) < 0)
		reader->error = -ENOMEM;
}

static void read_triggers(struct config_reader *reader, uint32_t list, struct config_tool *tool)
{
	cleanup(triggers_deinit) struct triggers compiled = {0};

	tool->has_triggers = list != JSON_NONE;
	json_each_found(trigger, &reader->tape, list)
		read_trigger(reader, trigger, tool, &compiled);
}

/* Add the member whose key is at @key to the digest, unless it is `enabled`: that is looked at when
 * tools are offered, and changes no tool. */
static void digest_member(struct config_reader *reader, const struct config_tool *tool,
	uint32_t key, struct config_tools *tools)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_is_text(&reader->tape, key, "enabled") ||
		json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	json_write_text(&text, tool->name);
	json_write_compact(&text, &reader->tape, key);
	json_write_compact(&text, &reader->tape, key + 1);
	config_reader_digest(reader, &text, &tools->digest);
}

/* Read the settings of the tool whose name is at @key. null withdraws what a lower file has. */
static void read_tool_settings(
	struct config_reader *reader, uint32_t key, struct config_tools *tools)
{
	const struct json_tape *tape = &reader->tape;
	struct config_tool *tool = &tools->items[tools->n_items];

	tool->name = json_string_dup(tape, key, NULL);
	if (!tool->name ||
		config_fields_read(tape, key + 1, tool_fields, ARRAY_SIZE(tool_fields), tool) < 0)
		reader->error = -ENOMEM;
	if (!tool->name)
		return;
	tools->n_items++;
	read_triggers(reader, json_find_typed(tape, key + 1, "triggers", JSON_ARRAY), tool);
	json_each_key(member, tape, key + 1)
		digest_member(reader, tool, member, tools);
}

void config_tools_read(struct config_reader *reader, uint32_t value, struct config_tools *tools)
{
	const struct json_tape *tape = &reader->tape;

	if (value == JSON_NONE)
		return;
	tools->items = calloc(json_count(tape, value) + 1, sizeof(*tools->items));
	if (!tools->items) {
		reader->error = -ENOMEM;
		return;
	}
	json_each_key(key, tape, value)
		if (json_type_at(tape, key + 1) == JSON_OBJECT)
			read_tool_settings(reader, key, tools);
	qsort(tools->items, tools->n_items, sizeof(*tools->items), text_compare);
}

void config_tools_deinit(struct config_tools *tools)
{
	for (size_t i = 0; i < tools->n_items; i++) {
		free(tools->items[i].name);
		config_fields_deinit(tool_fields, ARRAY_SIZE(tool_fields), &tools->items[i]);
		text_list_deinit(&tools->items[i].triggers);
	}
	free(tools->items);
}

const struct config_tool *config_tools_find(const struct config_tools *tools, const char *name)
{
	const struct config_tool wanted = {.name = (char *)name};

	return tools->n_items == 0 ? NULL
				   : bsearch(&wanted, tools->items, tools->n_items,
					     sizeof(*tools->items), text_compare);
}
