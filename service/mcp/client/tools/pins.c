/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/pins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "mcp/client/tools/risk.h"
#include "json/member.h"
#include "util/cleanup.h"
#include "util/text/text.h"

#define HEX_BYTES ((size_t)2 * MCP_PIN_BYTES)

void mcp_pins_deinit(struct mcp_pins *pins)
{
	for (size_t i = 0; i < pins->n_items; i++)
		free(pins->items[i].name);
	free(pins->items);
	json_tape_deinit(&pins->tape);
	buffer_deinit(&pins->tools);
	*pins = (struct mcp_pins){0};
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static int compare_names(const void *a, const void *b)
{
	const struct mcp_pinned *left = a;
	const struct mcp_pinned *right = b;

	int order = strcmp(left->shown, right->shown);

	return order != 0 ? order : strcmp(left->name, right->name);
}

/* The pin in the object @object, whose text is its digits; JSON_NONE when there is none. */
static uint32_t find_pin(const struct json_tape *tape, uint32_t object)
{
	uint32_t pin = json_find_typed(tape, object, "pin", JSON_STRING);

	return pin != JSON_NONE && tape->tokens[pin].length == HEX_BYTES &&
			       !(tape->tokens[pin].flags & JSON_ESCAPED)
		       ? pin
		       : JSON_NONE;
}

/* The risk in the object @object, or NULL when there is none. */
static const char *find_risk(const struct json_tape *tape, uint32_t object)
{
	return mcp_risk_at(tape, json_find(tape, object, "risk"));
}

/* Whether the value @object has the members of a pin. */
static bool is_pin(const struct json_tape *tape, uint32_t object)
{
	return json_type_at(tape, object) == JSON_OBJECT && find_pin(tape, object) != JSON_NONE &&
	       find_risk(tape, object);
}

/* Whether the value @entry of a name has the shape of one. */
static bool is_entry(const struct json_tape *tape, uint32_t entry)
{
	uint32_t changed;

	if (!is_pin(tape, entry))
		return false;
	changed = json_find(tape, entry, "changed");
	return changed == JSON_NONE || is_pin(tape, changed);
}

static int read_entries(struct mcp_pins *pins, uint32_t tools)
{
	const struct json_tape *tape = &pins->tape;

	if (json_count(tape, tools) > MCP_PINS_MAX)
		return MCP_PINS_E_WRONG;
	pins->items = calloc((size_t)json_count(tape, tools) + 1, sizeof(*pins->items));
	if (!pins->items)
		return -ENOMEM;
	json_each_key(key, tape, tools) {
		struct mcp_pinned *item = &pins->items[pins->n_items];
		size_t size;

		if (!is_entry(tape, key + 1))
			return MCP_PINS_E_WRONG;
		*item = (struct mcp_pinned){
			.name = json_string_dup(tape, key, &size), .entry = key + 1};
		if (!item->name)
			return -ENOMEM;
		pins->n_items++;
		if (strlen(item->name) != size)
			return MCP_PINS_E_WRONG;
		mcp_map_tool_name(item->name, size, item->shown);
	}
	qsort(pins->items, pins->n_items, sizeof(*pins->items), compare_names);
	return 0;
}

int mcp_pins_read(struct mcp_pins *pins, const char *text, size_t size, const char *server)
{
	uint32_t of;
	uint32_t tools;
	int r;

	pins->is_new = true;
	if (size == 0)
		return 0;
	r = json_tape_read(&pins->tape, text, size, JSON_DEPTH_DEFAULT, NULL);
	if (r < 0)
		return r;
	if (r > 0 || json_type_at(&pins->tape, 0) != JSON_OBJECT)
		return MCP_PINS_E_WRONG;
	of = json_find_typed_at(&pins->tape, 0, "server", JSON_STRING);
	tools = json_find(&pins->tape, 0, "tools");
	if (of == JSON_NONE || tools == JSON_NONE ||
		json_type_at(&pins->tape, tools) != JSON_OBJECT)
		return MCP_PINS_E_WRONG;
	if (server && !json_is_text(&pins->tape, of, server))
		return 0;
	pins->is_new = false;
	return read_entries(pins, tools);
}

/* ── comparing ───────────────────────────────────────────────────────────────────────────────── */

/* Append a member of "tools" up to its pin. */
static void begin_entry(struct mcp_pins *pins, const char *name)
{
	buffer_append_string(&pins->tools, pins->n_written++ > 0 ? ",\n" : "");
	json_write_text(&pins->tools, name);
	buffer_append_string(&pins->tools, ":{");
}

/* The pin of a tool that is listed. */
struct listed {
	char hex[HEX_BYTES + 1];
	const char *risk;         /* that the server admits */
	struct buffer definition; /* the text of the pin */
};

static void listed_deinit(struct listed *listed)
{
	buffer_deinit(&listed->definition);
}

/* Read the pin of the tool @tool into the zeroed @listed. Return 0 or -ENOMEM. */
static int read_listed(const struct json_tape *tape, uint32_t tool, struct listed *listed)
{
	struct buffer *definition = &listed->definition;
	unsigned char pin[MCP_PIN_BYTES];

	mcp_pin_text(tape, tool, definition);
	if (buffer_status(definition) < 0)
		return -ENOMEM;
	mcp_pin_digest(definition->data, definition->size, pin);
	text_write_hex(pin, sizeof(pin), listed->hex);
	listed->risk = mcp_admitted_risk(tape, tool);
	return 0;
}

/* Append the members of a pin, and of its definition where there is room for it. */
static void write_pin(struct mcp_pins *pins, const struct listed *listed)
{
	buffer_printf(&pins->tools, "\"pin\":\"%s\",\"risk\":\"%s\"", listed->hex, listed->risk);
	if (pins->tools.size + listed->definition.size > MCP_PINS_TEXT_BYTES)
		return;
	buffer_append_string(&pins->tools, ",\"definition\":");
	json_write_bytes_lossy(&pins->tools, listed->definition.data, listed->definition.size);
}

/* Append the members of the pin in the object @object, as they are. */
static void copy_pin(struct mcp_pins *pins, const struct json_tape *tape, uint32_t object)
{
	uint32_t definition = json_find_typed(tape, object, "definition", JSON_STRING);

	buffer_append_string(&pins->tools, "\"pin\":");
	json_write_compact(&pins->tools, tape, find_pin(tape, object));
	json_write_member_text(&pins->tools, "risk", find_risk(tape, object));
	if (definition == JSON_NONE)
		return;
	json_write_member_value(&pins->tools, "definition", tape, definition);
}

static bool has_pin(const struct json_tape *tape, uint32_t object, const char *hex)
{
	return object != JSON_NONE &&
	       json_string_equals(tape, find_pin(tape, object), hex, HEX_BYTES);
}

/* Find the pin of the tool called @name: the pin with this name, or else with a name that callers
 * see as the same. Return NULL without such a pin. */
static struct mcp_pinned *find_item(const struct mcp_pins *pins, const char *name)
{
	struct mcp_pinned *found = NULL;
	char shown[MCP_TOOL_NAME_BYTES + 1];
	size_t first = 0;
	size_t end = pins->n_items;

	mcp_map_tool_name(name, strlen(name), shown);
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (strcmp(pins->items[middle].shown, shown) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (size_t i = first; i < pins->n_items && strcmp(pins->items[i].shown, shown) == 0; i++)
		if (i == first || strcmp(pins->items[i].name, name) == 0)
			found = &pins->items[i];
	return found;
}

/* Append the pin @item of a tool listed as @listed, with @listed beside it after a change. */
static void write_seen(struct mcp_pins *pins, struct mcp_pinned *item, const struct listed *listed,
	enum mcp_pin_verdict *ret_verdict)
{
	uint32_t changed = json_find(&pins->tape, item->entry, "changed");

	copy_pin(pins, &pins->tape, item->entry);
	if (has_pin(&pins->tape, item->entry, listed->hex)) {
		*ret_verdict = MCP_PIN_SAME;
		pins->is_new = pins->is_new || changed != JSON_NONE;
		return;
	}
	*ret_verdict = MCP_PIN_CHANGED;
	pins->is_new = pins->is_new || !has_pin(&pins->tape, changed, listed->hex);
	buffer_append_string(&pins->tools, ",\"changed\":{");
	write_pin(pins, listed);
	buffer_append_char(&pins->tools, '}');
}

int mcp_pins_see(struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool,
	const char *name, enum mcp_pin_verdict *ret_verdict)
{
	cleanup(listed_deinit) struct listed listed = {0};
	struct mcp_pinned *item = find_item(pins, name);
	int r = read_listed(tape, tool, &listed);

	if (r)
		return r;
	begin_entry(pins, item ? item->name : name);
	if (item) {
		item->is_seen = true;
		write_seen(pins, item, &listed, ret_verdict);
	} else {
		write_pin(pins, &listed);
		pins->is_new = true;
		*ret_verdict = MCP_PIN_NEW;
	}
	buffer_append_char(&pins->tools, '}');
	return buffer_status(&pins->tools);
}

const char *mcp_pins_risk(
	const struct mcp_pins *pins, const struct json_tape *tape, uint32_t tool, const char *name)
{
	const char *admitted = mcp_admitted_risk(tape, tool);
	const char *risk = pins->is_unknown ? "execute" : admitted;
	const struct mcp_pinned *item = find_item(pins, name);

	return item ? mcp_worse_risk(find_risk(&pins->tape, item->entry), risk) : risk;
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Append the text of a file of @server around the tools written. */
static int write_whole(struct mcp_pins *pins, const char *server, struct buffer *out)
{
	buffer_append_string(out, "{\"server\":");
	json_write_text(out, server);
	buffer_append_string(out, ",\"tools\":{\n");
	buffer_append_buffer(out, &pins->tools);
	buffer_append_string(out, "}}\n");
	return buffer_status(out);
}

int mcp_pins_write(struct mcp_pins *pins, const char *server, struct buffer *out)
{
	for (size_t i = 0; i < pins->n_items && pins->n_written < MCP_PINS_MAX; i++) {
		const struct mcp_pinned *item = &pins->items[i];
		uint32_t changed = json_find(&pins->tape, item->entry, "changed");

		if (item->is_seen)
			continue;
		begin_entry(pins, item->name);
		copy_pin(pins, &pins->tape, item->entry);
		if (changed != JSON_NONE) {
			buffer_append_string(&pins->tools, ",\"changed\":{");
			copy_pin(pins, &pins->tape, changed);
			buffer_append_char(&pins->tools, '}');
		}
		buffer_append_char(&pins->tools, '}');
	}
	return write_whole(pins, server, out);
}

int mcp_pins_trust(struct mcp_pins *pins, struct buffer *out)
{
	cleanup_free char *server =
		json_string_dup(&pins->tape, json_find(&pins->tape, 0, "server"), NULL);
	int n_changed = 0;
	int r;

	if (!server)
		return -ENOMEM;
	for (size_t i = 0; i < pins->n_items; i++) {
		const struct mcp_pinned *item = &pins->items[i];
		uint32_t changed = json_find(&pins->tape, item->entry, "changed");

		begin_entry(pins, item->name);
		copy_pin(pins, &pins->tape, changed == JSON_NONE ? item->entry : changed);
		buffer_append_char(&pins->tools, '}');
		n_changed += changed != JSON_NONE;
	}
	r = write_whole(pins, server, out);
	return r < 0 ? r : n_changed;
}
