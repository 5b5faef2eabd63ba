/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/task.h"

#include "json/member.h"
#include "json/writer.h"
#include "mcp/call_result.h"
#include "mcp/notification.h"

static void copy_value(
	struct buffer *out, const char *key, const struct json_tape *data, uint32_t token)
{
	if (token == JSON_NONE)
		return;
	json_write_member_value(out, key, data, token);
}

/* Append the members of each Task, the first one without a comma; @status_message may be
 * JSON_NONE. */
static void write_task_members(struct buffer *out, const struct json_tape *data, const char *status,
	uint32_t status_message)
{
	uint32_t started = json_find_typed_at(data, 0, "started", JSON_STRING);
	uint32_t last = json_find_typed_at(data, 0, "ended", JSON_STRING);

	if (last == JSON_NONE)
		last = json_find_typed_at(data, 0, "updated", JSON_STRING);
	json_write_key(out, "taskId");
	json_write_compact(out, data, json_find(data, 0, "job_id"));
	json_write_member_text(out, "status", status);
	copy_value(out, "statusMessage", data, status_message);
	copy_value(out, "createdAt", data, started);
	copy_value(out, "lastUpdatedAt", data, last != JSON_NONE ? last : started);
	copy_value(out, "ttlMs", data, json_find_typed_at(data, 0, "ttl_ms", JSON_NUMBER));
	buffer_printf(out, ",\"pollIntervalMs\":%d", MCP_POLL_MS);
}

/* Append the members of a failure with an error of JSON-RPC. */
static void write_failed_task(struct buffer *out, const struct json_tape *data)
{
	uint32_t error = json_find_typed_at(data, 0, "error", JSON_STRING);
	int code = mcp_is_request_error(data) ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR;

	write_task_members(out, data, "failed", error);
	buffer_printf(out, ",\"error\":{\"code\":%d", code);
	copy_value(out, "message", data, error);
	buffer_append_char(out, '}');
}

/* Append the members of a job with a result of tools/call. */
static void write_completed_task(
	struct buffer *out, const struct mcp_message *message, const struct json_tape *data)
{
	write_task_members(out, data, "completed", JSON_NONE);
	buffer_append_string(out, ",\"result\":{");
	mcp_write_call_members(
		out, message, data, json_find_typed_at(data, 0, "content", JSON_TRUE) != JSON_NONE);
	buffer_append_string(out, ",\"resultType\":\"complete\"}");
}

/* Append the members of the job @data as a whole. */
static void write_detailed(
	struct buffer *out, const struct mcp_message *message, const struct json_tape *data)
{
	if (json_member_is(data, 0, "state", "running"))
		write_task_members(
			out, data, "working", json_find_typed_at(data, 0, "text", JSON_STRING));
	else if (json_member_is(data, 0, "state", "cancelled"))
		write_task_members(
			out, data, "cancelled", json_find_typed_at(data, 0, "error", JSON_STRING));
	else if (mcp_is_request_error(data) || json_member_is(data, 0, "code", "unavailable"))
		write_failed_task(out, data);
	else
		write_completed_task(out, message, data);
}

void mcp_write_created_task(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data)
{
	mcp_result_begin(out, message);
	write_task_members(out, data, "working", JSON_NONE);
	mcp_result_end_typed(out, message, server, "task");
}

void mcp_write_task(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const struct json_tape *data)
{
	mcp_result_begin(out, message);
	write_detailed(out, message, data);
	mcp_result_end(out, message, server);
}

void mcp_write_task_changed(
	struct buffer *out, const struct mcp_message *message, const struct json_tape *data)
{
	mcp_begin_notification(out, "tasks");
	buffer_append_string(out, ",\"params\":{");
	write_detailed(out, message, data);
	buffer_append_string(out, ",\"_meta\":{");
	mcp_write_subscription(out, message->id);
	buffer_append_string(out, "}}}");
}

int mcp_refuse_task(const struct json_tape *data, struct buffer *text, struct mcp_error *ret_error)
{
	bool is_unknown = json_member_is(data, 0, "code", "unknown_job");

	mcp_refuse(ret_error, is_unknown ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR, 200, "");
	json_read_text(data, json_find(data, 0, "error"), text);
	if (buffer_status(text) == 0)
		ret_error->message = buffer_view(text);
	return MCP_E_REFUSED;
}
