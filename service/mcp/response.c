/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/response.h"

#include "json/writer.h"
#include "mcp/version.h"
#include "mcp/notification.h"

#define INSTRUCTIONS                                                                               \
	"The tools of this device. A tool may wait until a person has approved the call; a "       \
	"result that is too long is cut, and says so."

#define CAPABILITIES ",\"capabilities\":{\"tools\":{\"listChanged\":true}"

static void write_server_info(struct buffer *out, const struct mcp_server *server)
{
	buffer_append_string(out, "{\"name\":\"toolboxd\"");
	json_write_member_text(out, "version", server->version);
	buffer_append_char(out, '}');
}

/* Append the comma before a further member of the object that @out ends in. */
static void separate(struct buffer *out)
{
	if (out->size > 0 && out->data[out->size - 1] != '{')
		buffer_append_char(out, ',');
}

void mcp_result_begin(struct buffer *out, const struct mcp_message *message)
{
	buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buffer_append(out, message->id.text, message->id.size);
	buffer_append_string(out, ",\"result\":{");
}

/* Close the response with the members of each result of the type @type, and @meta in `_meta`. */
static void end_result(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const char *type, const char *meta)
{
	if (message->era == MCP_MODERN) {
		separate(out);
		buffer_printf(out, "\"resultType\":\"%s\",\"_meta\":{", type);
		if (message->method == MCP_LISTEN) {
			mcp_write_subscription(out, message->id);
			buffer_append_char(out, ',');
		}
		buffer_append_string(out, "\"io.modelcontextprotocol/serverInfo\":");
		write_server_info(out, server);
		buffer_printf(out, "%s%s}", *meta ? "," : "", meta);
	} else if (*meta) {
		separate(out);
		buffer_printf(out, "\"_meta\":{%s}", meta);
	}
	buffer_append_string(out, "}}");
}

void mcp_result_end_meta(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const char *meta)
{
	end_result(out, message, server, "complete", meta);
}

void mcp_result_end_typed(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *server, const char *type)
{
	end_result(out, message, server, type, "");
}

void mcp_result_end(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server)
{
	end_result(out, message, server, "complete", "");
}

void mcp_result_end_kept(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server)
{
	if (message->era == MCP_MODERN)
		buffer_printf(out, ",\"ttlMs\":%d,\"cacheScope\":\"%s\"", MCP_TTL_MS,
			server->is_private ? "private" : "public");
	mcp_result_end(out, message, server);
}

void mcp_write_initialize(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server)
{
	cleanup(buffer_deinit) struct buffer requested = {0};
	const char *version;

	json_string_decode(&message->tape, message->requested_version, &requested);
	buffer_fail_with(out, &requested);
	version = mcp_version_legacy(buffer_text(&requested), requested.size);
	mcp_result_begin(out, message);
	json_write_key(out, "protocolVersion");
	json_write_text(out, version ? version : mcp_version_legacy_latest());
	buffer_append_string(out, CAPABILITIES "},\"serverInfo\":");
	write_server_info(out, server);
	buffer_append_string(out, ",\"instructions\":\"" INSTRUCTIONS "\"");
	mcp_result_end(out, message, server);
}

void mcp_write_discover(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server)
{
	mcp_result_begin(out, message);
	buffer_append_string(
		out, "\"supportedVersions\":[\"" MCP_VERSION_MODERN "\"]" CAPABILITIES);
	if (server->has_tasks)
		buffer_append_string(out, ",\"extensions\":{\"" MCP_TASKS_EXTENSION "\":{}}");
	buffer_append_string(out, "},\"instructions\":\"" INSTRUCTIONS "\"");
	mcp_result_end_kept(out, message, server);
}

void mcp_write_pong(
	struct buffer *out, const struct mcp_message *message, const struct mcp_server *server)
{
	mcp_result_begin(out, message);
	mcp_result_end(out, message, server);
}
