/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/message.h"

#include <errno.h>
#include <string.h>

#include "json/members.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "json/member.h"
#include "util/stringify.h"

/* Statuses of HTTP. */
#define OK          200
#define BAD_REQUEST 400
#define NOT_FOUND   404

#define VERSION_HEADER "MCP-Protocol-Version"

#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* ── the message ─────────────────────────────────────────────────────────────────────────────── */

/* Return whether the value at @index may be the id of a request, or a progress token. */
static bool is_id(const struct json_tape *tape, uint32_t index)
{
	enum json_type type = json_type_at(tape, index);

	return (type == JSON_STRING ||
		       (type == JSON_NUMBER && json_number_is_integer(tape, index))) &&
	       json_value_view(tape, index).size <= MCP_ID_BYTES_MAX;
}

/* Return the row of the method of @message in the table @methods, or the last row. */
static const struct mcp_method_row *find_row(
	const struct mcp_message *message, const struct mcp_method_row *methods)
{
	while (methods->name && !json_is_text(&message->tape, message->method_name, methods->name))
		methods++;
	return methods;
}

static bool names_notification(const struct mcp_message *message)
{
	static const char prefix[] = "notifications/";
	struct text_view method = json_value_view(&message->tape, message->method_name);

	return method.size > sizeof(prefix) &&
	       memcmp(method.text + 1, prefix, sizeof(prefix) - 1) == 0;
}

static int refuse_message(struct mcp_error *error, const char *text)
{
	return mcp_refuse(error, MCP_INVALID_REQUEST, BAD_REQUEST, text);
}

/* Read the members of the object at the root. */
static int read_members(
	struct mcp_message *message, const struct mcp_method_row *methods, struct mcp_error *error)
{
	const struct json_tape *tape = &message->tape;
	uint32_t id = json_find(tape, 0, "id");

	if (id != JSON_NONE && is_id(tape, id))
		message->id = json_value_view(tape, id);
	message->method_name = json_find(tape, 0, "method");
	message->params = json_find(tape, 0, "params");
	if (message->params != JSON_NONE && json_type_at(tape, message->params) == JSON_NULL)
		message->params = JSON_NONE;
	message->has_wrong_params =
		message->params != JSON_NONE && json_type_at(tape, message->params) != JSON_OBJECT;
	if (message->has_wrong_params)
		message->params = JSON_NONE;
	if (!json_member_is(tape, 0, "jsonrpc", "2.0"))
		return refuse_message(error, "\"jsonrpc\" must be \"2.0\".");
	if (message->method_name == JSON_NONE) {
		message->kind = MCP_RESPONSE;
		if (json_find(tape, 0, "result") == JSON_NONE &&
			json_find(tape, 0, "error") == JSON_NONE)
			return refuse_message(error, "There is no \"method\".");
		return 0;
	}
	if (json_type_at(tape, message->method_name) != JSON_STRING)
		return refuse_message(error, "\"method\" must be a string.");
	/* In a notification an id of null counts as absent. */
	if (id == JSON_NONE || (json_type_at(tape, id) == JSON_NULL && names_notification(message)))
		message->kind = MCP_NOTIFICATION;
	else
		message->kind = MCP_REQUEST;
	if (message->kind == MCP_REQUEST && !message->id.text)
		return refuse_message(
			error, "\"id\" must be a string or an integer of at most " STRINGIFY(
				       MCP_ID_BYTES_MAX) " bytes.");
	if (message->kind == MCP_REQUEST) {
		message->row = find_row(message, methods);
		message->method = message->row->method;
	} else if (json_is_text(tape, message->method_name, "notifications/cancelled")) {
		message->method = MCP_CANCELLED;
	}
	return 0;
}

/* Find the id in the @size bytes at @text, which the reader has refused: the client waits for its
 * response. */
static void save_id(struct mcp_message *message, const char *text, size_t size)
{
	struct json_members members = {0};
	struct json_member member;
	int r = json_members_begin(&members, text, size);

	while (r == 0 && (r = json_members_next(&members, &member)) == 0)
		if (json_key_is(member.key, member.key_size, "id"))
			break;
	if (r == 0 &&
		json_tape_read(&message->tape, member.value, member.value_size, 1, NULL) == 0 &&
		is_id(&message->tape, 0))
		message->id = (struct text_view){member.value, member.value_size};
}

/* Refuse the text for the @reason of the reader, @r. */
static int refuse_text(struct mcp_error *error, int r, const struct json_error *reason)
{
	if (r == JSON_E_DUPLICATE_KEY || r == JSON_E_NUL_IN_KEY || r == JSON_E_DEPTH ||
		r == JSON_E_TOKENS)
		return refuse_message(error, reason->message);
	return mcp_refuse(error, MCP_PARSE_ERROR, BAD_REQUEST, reason->message);
}

int mcp_message_read(struct mcp_message *message, const struct mcp_method_row *methods,
	const char *text, size_t size, uint32_t depth_max, struct mcp_error *ret_error)
{
	struct json_tape tape = message->tape;
	struct json_error reason;
	int r = json_tape_read(&tape, text, size, depth_max, &reason);

	buffer_deinit(&message->header_version);
	*message = (struct mcp_message){.tape = tape};
	if (r < 0)
		return r;
	if (r > 0) {
		save_id(message, text, size);
		return refuse_text(ret_error, r, &reason);
	}
	if (json_type_at(&message->tape, 0) == JSON_ARRAY)
		return refuse_message(ret_error, "A batch is not supported: send one message.");
	if (json_type_at(&message->tape, 0) != JSON_OBJECT)
		return refuse_message(ret_error, "A message is an object.");
	return read_members(message, methods, ret_error);
}

bool mcp_ids_equal(struct text_view a, struct text_view b)
{
	cleanup(json_tape_cleanup) struct json_tape a_tape = {0};
	cleanup(json_tape_cleanup) struct json_tape b_tape = {0};

	if (a.size == b.size && memcmp(a.text, b.text, a.size) == 0)
		return true;
	if (json_tape_read(&a_tape, a.text, a.size, 1, NULL) != 0 ||
		json_tape_read(&b_tape, b.text, b.size, 1, NULL) != 0 ||
		json_type_at(&a_tape, 0) != json_type_at(&b_tape, 0))
		return false;
	if (json_type_at(&a_tape, 0) == JSON_STRING)
		return json_strings_equal(&a_tape, 0, &b_tape, 0);
	return json_number_compare(a.text, a.size, b.text, b.size) == 0;
}

/* ── the headers ─────────────────────────────────────────────────────────────────────────────── */

/* Check that the header @name is there once, and has the string at @token; @text: the refusal. */
static int check_header(const struct mcp_message *message, const struct mcp_fields *fields,
	const char *name, uint32_t token, const char *text, struct mcp_error *error)
{
	cleanup(buffer_deinit) struct buffer value = {0};
	bool is_encoded = strcmp(name, "Mcp-Name") == 0;
	enum mcp_field_status status = mcp_field_read(fields, name, is_encoded, &value);

	if (buffer_status(&value) < 0)
		return -ENOMEM;
	if (status != MCP_FIELD_FOUND ||
		!json_string_equals(&message->tape, token, buffer_text(&value), value.size))
		return mcp_refuse(error, MCP_HEADER_MISMATCH, BAD_REQUEST, text);
	return 0;
}

/* @version: the token of the version in `_meta`, or JSON_NONE. */
static int check_headers(const struct mcp_message *message, const struct mcp_fields *fields,
	enum mcp_field_status status, uint32_t version, struct mcp_error *error)
{
	const char *key = message->row->named_by;
	uint32_t name = key ? json_find_typed(&message->tape, message->params, key, JSON_STRING)
			    : JSON_NONE;
	int r = 0;

	if (status != MCP_FIELD_FOUND)
		return mcp_refuse(error, MCP_HEADER_MISMATCH, BAD_REQUEST,
			"The header MCP-Protocol-Version is missing, or wrong.");
	r = check_header(message, fields, "Mcp-Method", message->method_name,
		"The header Mcp-Method is missing, or not the method.", error);
	if (r == 0 && name != JSON_NONE)
		r = check_header(message, fields, "Mcp-Name", name,
			"The header Mcp-Name is missing, or not the name in params.", error);
	if (r == 0 && version != JSON_NONE && json_type_at(&message->tape, version) == JSON_STRING)
		r = check_header(message, fields, VERSION_HEADER, version,
			"The header MCP-Protocol-Version is not the version in _meta.", error);
	return r;
}

/* ── the parameters ──────────────────────────────────────────────────────────────────────────── */

static int refuse_params(struct mcp_error *error, const char *text)
{
	return mcp_refuse(error, MCP_INVALID_PARAMS, OK, text);
}

/* Read the members of `_meta` that both eras have. */
static int read_meta(struct mcp_message *message, uint32_t meta, struct mcp_error *error)
{
	uint32_t token = json_find_present(&message->tape, meta, "progressToken");

	if (token == JSON_NONE)
		return 0;
	if (!is_id(&message->tape, token))
		return refuse_params(error,
			"params._meta.progressToken must be a string or an "
			"integer of at most " STRINGIFY(MCP_ID_BYTES_MAX) " bytes.");
	message->progress_token = json_value_view(&message->tape, token);
	return 0;
}

/* A malformed notification is ignored (2026-07-28, Cancellation, Error Handling). */
static void read_cancelled(struct mcp_message *message)
{
	uint32_t id = json_find_present(&message->tape, message->params, "requestId");

	if (id != JSON_NONE && is_id(&message->tape, id))
		message->request_id = json_value_view(&message->tape, id);
}

/* ── the check ───────────────────────────────────────────────────────────────────────────────── */

static int refuse_meta(struct mcp_error *error, const char *text)
{
	return mcp_refuse(error, MCP_INVALID_PARAMS, BAD_REQUEST, text);
}

static int refuse_version(struct mcp_error *error, struct text_view requested)
{
	mcp_refuse(error, MCP_UNSUPPORTED_VERSION, BAD_REQUEST, "Unsupported protocol version");
	error->requested = requested;
	return MCP_E_REFUSED;
}

/* Check @header, the version that the header of a modern request names, when its `_meta` has
 * none. */
static int check_header_version(
	struct mcp_message *message, const struct buffer *header, struct mcp_error *error)
{
	struct buffer *json = &message->header_version;
	size_t size = strlen(MCP_VERSION_MODERN);

	if (header->size == size && memcmp(header->data, MCP_VERSION_MODERN, size) == 0)
		return 0;
	json_write_bytes_lossy(json, buffer_text(header), header->size);
	if (buffer_status(json) < 0)
		return -ENOMEM;
	return refuse_version(error, (struct text_view){json->data, json->size});
}

/* Check the version that the `_meta` of a modern request names. */
static int check_version(
	const struct mcp_message *message, uint32_t version, struct mcp_error *error)
{
	if (version == JSON_NONE || json_type_at(&message->tape, version) != JSON_STRING)
		return refuse_meta(error, "params._meta has no " MCP_META_VERSION ".");
	if (json_is_text(&message->tape, version, MCP_VERSION_MODERN))
		return 0;
	return refuse_version(error, json_value_view(&message->tape, version));
}

static int check_modern(struct mcp_message *message, const struct mcp_fields *fields,
	enum mcp_field_status status, uint32_t meta, uint32_t version, struct mcp_error *error)
{
	uint32_t capabilities =
		json_find_typed(&message->tape, meta, META_CAPABILITIES, JSON_OBJECT);
	int r = fields ? check_headers(message, fields, status, version, error) : 0;
	uint32_t extensions;

	if (r == 0)
		r = check_version(message, version, error);
	if (r == 0 && capabilities == JSON_NONE)
		r = refuse_meta(error, "params._meta has no " META_CAPABILITIES ".");
	extensions = json_find_typed(&message->tape, capabilities, "extensions", JSON_OBJECT);
	message->has_tasks = json_find_typed(&message->tape, extensions, MCP_TASKS_EXTENSION,
				     JSON_OBJECT) != JSON_NONE;
	return r;
}

/* Check a request of the era that it has. */
static int check_request(struct mcp_message *message, uint32_t meta, struct mcp_error *error)
{
	bool is_modern = message->era == MCP_MODERN;
	int r;

	if (!(message->row->eras & 1u << message->era))
		return mcp_refuse(error, MCP_METHOD_NOT_FOUND, is_modern ? NOT_FOUND : OK,
			"Method not found");
	if (message->has_wrong_params)
		return refuse_params(error, "params must be an object.");
	r = read_meta(message, meta, error);
	return r == 0 && message->row->read ? message->row->read(message, error) : r;
}

/* Find the era of @message: a version in `_meta`, or a header that names no legacy version, is
 * modern. */
static enum mcp_era find_era(
	bool has_version, enum mcp_field_status status, const struct buffer *header)
{
	if (has_version || status == MCP_FIELD_WRONG)
		return MCP_MODERN;
	return status == MCP_FIELD_FOUND && !mcp_version_legacy(header->data, header->size)
		       ? MCP_MODERN
		       : MCP_LEGACY;
}

int mcp_message_check(
	struct mcp_message *message, const struct mcp_fields *fields, struct mcp_error *ret_error)
{
	const struct json_tape *tape = &message->tape;
	cleanup(buffer_deinit) struct buffer header = {0};
	enum mcp_field_status status = MCP_FIELD_ABSENT;
	uint32_t meta = json_find_typed(tape, message->params, "_meta", JSON_OBJECT);
	uint32_t version = json_find_present(tape, meta, MCP_META_VERSION);
	int r = 0;

	if (fields)
		status = mcp_field_read(fields, VERSION_HEADER, false, &header);
	if (buffer_status(&header) < 0)
		return -ENOMEM;
	message->era = find_era(version != JSON_NONE, status, &header);
	if (message->kind == MCP_NOTIFICATION) {
		read_cancelled(message);
		return 0;
	}
	if (message->kind == MCP_RESPONSE)
		return message->era == MCP_LEGACY
			       ? 0
			       : refuse_message(ret_error, "A client sends no responses.");
	if (message->era == MCP_MODERN && version == JSON_NONE && status == MCP_FIELD_FOUND)
		r = check_header_version(message, &header, ret_error);
	if (r == 0 && message->era == MCP_MODERN)
		r = check_modern(message, fields, status, meta, version, ret_error);
	return r == 0 ? check_request(message, meta, ret_error) : r;
}

void mcp_message_deinit(struct mcp_message *message)
{
	json_tape_deinit(&message->tape);
	buffer_deinit(&message->header_version);
	*message = (struct mcp_message){0};
}
