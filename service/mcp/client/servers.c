/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "mcp/client/pin.h"
#include "json/member.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/stringify.h"
#include "util/text/text.h"
#include "util/text/utf8.h"

#define LIST_KEY "mcpServers"

#define ID_BYTES 128 /* the longest id of a toolbox */

/* The server that is read. */
struct entry {
	const struct json_tape *tape;
	uint32_t object;
	const char *home;
	const char *reason; /* NULL: it is not refused */
	bool is_disabled;
	int error; /* 0 or -ENOMEM */
};

/* ── the parts of a server ───────────────────────────────────────────────────────────────────── */

static void refuse_entry(struct entry *entry, const char *reason)
{
	if (!entry->reason)
		entry->reason = reason;
}

/* Return the member @key, where null counts as absent; refuse the server for @reason unless it has
 * @type. */
static uint32_t find_server_member(
	struct entry *entry, const char *key, enum json_type type, const char *reason)
{
	uint32_t value = json_find(entry->tape, entry->object, key);

	if (value == JSON_NONE || json_type_at(entry->tape, value) == JSON_NULL)
		return JSON_NONE;
	if (json_type_at(entry->tape, value) == type)
		return value;
	refuse_entry(entry, reason);
	return JSON_NONE;
}

static bool has_member(const struct entry *entry, const char *key, enum json_type type)
{
	return json_find_typed(entry->tape, entry->object, key, type) != JSON_NONE;
}

/* Check that the string at @token is a text of C. */
static void check_text(struct entry *entry, uint32_t token, const char *reason)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_type_at(entry->tape, token) != JSON_STRING) {
		refuse_entry(entry, reason);
		return;
	}
	json_string_decode(entry->tape, token, &text);
	if (buffer_status(&text) < 0)
		entry->error = buffer_status(&text);
	if (text.size > 0 && memchr(text.data, '\0', text.size))
		refuse_entry(entry, "has a text with U+0000");
}

/* Check that all values of the object at @object (JSON_NONE: none) are texts. */
static void check_values(struct entry *entry, uint32_t object, const char *reason)
{
	json_each_key_found(key, entry->tape, object)
		check_text(entry, key + 1, reason);
}

static void write_part(
	struct buffer *out, const struct entry *entry, const char *key, uint32_t value)
{
	if (value == JSON_NONE)
		return;
	buffer_printf(out, ",\"%s\":", key);
	json_write_compact(out, entry->tape, value);
}

/* Append the command at @command with its arguments, and its surroundings. */
static void write_command(struct buffer *out, struct entry *entry, uint32_t command)
{
	uint32_t args =
		find_server_member(entry, "args", JSON_ARRAY, "has \"args\" that are no array");
	uint32_t env =
		find_server_member(entry, "env", JSON_OBJECT, "has an \"env\" that is no object");
	uint32_t cwd =
		find_server_member(entry, "cwd", JSON_STRING, "has a \"cwd\" that is no string");

	check_text(entry, command, "");
	if (json_at(entry->tape, command)->length == 0)
		refuse_entry(entry, "has an empty \"command\"");
	buffer_append_string(out, "\"command\":[");
	json_write_compact(out, entry->tape, command);
	json_each_found(at, entry->tape, args) {
		check_text(entry, at, "has \"args\" that are not all strings");
		buffer_append_char(out, ',');
		json_write_compact(out, entry->tape, at);
	}
	buffer_append_char(out, ']');
	check_values(entry, env, "has an \"env\" whose values are not all strings");
	write_part(out, entry, "env", env);
	if (cwd != JSON_NONE) {
		check_text(entry, cwd, "");
		write_part(out, entry, "cwd", cwd);
	} else {
		json_write_member_text(out, "cwd", entry->home);
	}
}

static void write_url(struct buffer *out, struct entry *entry, uint32_t url)
{
	uint32_t headers = find_server_member(
		entry, "headers", JSON_OBJECT, "has \"headers\" that are no object");

	check_text(entry, url, "");
	buffer_append_string(out, "\"url\":");
	json_write_compact(out, entry->tape, url);
	check_values(entry, headers, "has \"headers\" whose values are not all strings");
	write_part(out, entry, "headers", headers);
}

/* Check the transport that the server at @type (JSON_NONE: none) names. */
static void check_transport(struct entry *entry, uint32_t type, bool has_url)
{
	static const char *const over_http[] = {"http", "streamable-http", "streamableHttp", NULL};

	if (type == JSON_NONE)
		return;
	if (json_is_text(entry->tape, type, "sse")) {
		refuse_entry(entry, "has the type sse, which is not supported: use its URL for "
				    "streamable HTTP");
		return;
	}
	if (json_is_text(entry->tape, type, "stdio") && !has_url)
		return;
	if (has_url && json_word_at(entry->tape, type, over_http) >= 0)
		return;
	refuse_entry(entry,
		"has a type that is not supported: stdio with a \"command\", or http with "
		"a \"url\"");
}

/* Append the manifest of the server, which may be refused then. */
static void write_manifest(struct buffer *out, struct entry *entry, const char *id)
{
	uint32_t command = find_server_member(
		entry, "command", JSON_STRING, "has a \"command\" that is no string");
	uint32_t url =
		find_server_member(entry, "url", JSON_STRING, "has a \"url\" that is no string");
	uint32_t type =
		find_server_member(entry, "type", JSON_STRING, "has a \"type\" that is no string");

	if (has_member(entry, "disabled", JSON_TRUE) || has_member(entry, "enabled", JSON_FALSE) ||
		has_member(entry, "isActive", JSON_FALSE)) {
		entry->is_disabled = true;
		entry->reason = "is disabled";
		return;
	}
	find_server_member(
		entry, "disabled", JSON_FALSE, "has \"disabled\" that is neither true nor false");
	find_server_member(
		entry, "enabled", JSON_TRUE, "has \"enabled\" that is neither true nor false");
	find_server_member(
		entry, "isActive", JSON_TRUE, "has \"isActive\" that is neither true nor false");
	if ((command == JSON_NONE) == (url == JSON_NONE))
		refuse_entry(entry, "must have either a \"command\" or a \"url\"");
	check_transport(entry, type, url != JSON_NONE);
	if (entry->reason)
		return;
	buffer_append_string(out, "{\"kind\":\"mcp\"");
	json_write_member_text(out, "toolbox_id", id);
	buffer_append_string(out, ",\"mcp\":{");
	if (command != JSON_NONE)
		write_command(out, entry, command);
	else
		write_url(out, entry, url);
	buffer_append_string(out, "}}");
}

/* ── ids ─────────────────────────────────────────────────────────────────────────────────────── */

static bool is_id_byte(char c)
{
	return text_is_alphanumeric(c) || c == '-' || c == '_';
}

/* Append `_` and six digits of the SHA-256 of @name to @id, as names of tools have them. */
static void write_digits(const char *name, struct buffer *id)
{
	unsigned char digest[MCP_PIN_BYTES];

	mcp_pin_digest(name, strlen(name), digest);
	buffer_printf(id, "_%02x%02x%02x", digest[0], digest[1], digest[2]);
}

/* Return the id for @name, owned by the caller; NULL without memory. Names of other scripts would
 * be the same if they have the same length. */
static char *map_id(const char *name)
{
	cleanup(buffer_deinit) struct buffer id = {0};
	size_t size = strlen(name);
	bool is_foreign = true;

	for (size_t at = 0; at < size;) {
		buffer_append_char(&id, (char)(is_id_byte(name[at]) ? name[at] : '_'));
		is_foreign = is_foreign && (unsigned char)name[at] >= 0x80;
		at += utf8_sequence_length(name + at, size - at);
	}
	if (is_foreign && size > 0)
		write_digits(name, &id);
	return buffer_take(&id, NULL);
}

static bool has_id(const struct mcp_server_entries *entries, const char *id)
{
	for (size_t i = 0; i < entries->n_items; i++)
		if (entries->items[i].id && strcmp(entries->items[i].id, id) == 0)
			return true;
	return false;
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

static void entry_deinit(struct mcp_server_entry *entry)
{
	free(entry->name);
	free(entry->id);
	free(entry->manifest);
	free(entry->reason);
}

/* Read the server at @key into the zeroed @ret_entry, which the caller deinits. */
static int read_server(const struct json_tape *tape, uint32_t key, const char *home,
	const struct mcp_server_entries *entries, struct mcp_server_entry *ret_entry)
{
	struct entry entry = {.tape = tape, .object = key + 1, .home = home};
	cleanup(buffer_deinit) struct buffer manifest = {0};

	ret_entry->name = json_string_dup(tape, key, NULL);
	ret_entry->id = ret_entry->name ? map_id(ret_entry->name) : NULL;
	if (!ret_entry->id)
		return -ENOMEM;
	if (ret_entry->id[0] == '\0' || strlen(ret_entry->id) > ID_BYTES)
		entry.reason = "has a name that is empty, or longer than " STRINGIFY(
			ID_BYTES) " characters";
	else if (has_id(entries, ret_entry->id))
		entry.reason = "has the id of an earlier server";
	else if (json_type_at(tape, key + 1) != JSON_OBJECT)
		entry.reason = "is no object";
	else
		write_manifest(&manifest, &entry, ret_entry->id);
	if (entry.error < 0)
		return entry.error;
	if (entry.reason) {
		ret_entry->is_disabled = entry.is_disabled;
		ret_entry->reason = strdup(entry.reason);
		return ret_entry->reason ? 0 : -ENOMEM;
	}
	ret_entry->manifest = buffer_take(&manifest, NULL);
	return ret_entry->manifest ? 0 : -ENOMEM;
}

static int add_server(const struct json_tape *tape, uint32_t key, const char *home,
	struct mcp_server_entries *entries)
{
	struct mcp_server_entry entry = {.name = NULL};
	int r;

	if (entries->n_items == MCP_SERVERS_MAX) {
		entries->n_more++;
		return 0;
	}
	r = array_grow(entries->items, entries->n_items);
	if (r == 0)
		r = read_server(tape, key, home, entries, &entry);
	if (r < 0) {
		entry_deinit(&entry);
		return r;
	}
	entries->items[entries->n_items++] = entry;
	return 0;
}

const char *mcp_other_list_key(const struct json_tape *tape)
{
	static const char *const keys[] = {"servers", "context_servers", "mcp_servers"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_type_at(tape, 0) == JSON_OBJECT &&
			json_find(tape, 0, "kind") == JSON_NONE &&
			json_find(tape, 0, keys[i]) != JSON_NONE)
			return keys[i];
	return NULL;
}

bool mcp_is_server_list(const struct json_tape *tape)
{
	return json_type_at(tape, 0) == JSON_OBJECT && json_find(tape, 0, LIST_KEY) != JSON_NONE;
}

int mcp_server_entries_read(
	const struct json_tape *tape, const char *home, struct mcp_server_entries *ret_entries)
{
	uint32_t list = json_find_typed_at(tape, 0, LIST_KEY, JSON_OBJECT);
	int r = 0;

	if (list == JSON_NONE)
		return -EINVAL;
	json_each_key_while(r == 0, key, tape, list)
		r = add_server(tape, key, home, ret_entries);
	return r;
}

void mcp_server_entries_deinit(struct mcp_server_entries *entries)
{
	for (size_t i = 0; i < entries->n_items; i++)
		entry_deinit(&entries->items[i]);
	free(entries->items);
	*entries = (struct mcp_server_entries){0};
}
