/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/request.h"

#include <inttypes.h>
#include <string.h>

#include "json/writer.h"

static void write_client_info(struct buffer *out, const struct mcp_request *request)
{
	buffer_append_string(out, "{\"name\":\"toolboxd\"");
	json_write_member_text(out, "version", request->client_version);
	buffer_append_char(out, '}');
}

/* Begin the request: the object `params` is open. */
static void begin_request(struct buffer *out, const struct mcp_request *request, const char *method)
{
	buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":{",
		request->id, method);
}

/* Append the members of the modern era to `_meta`, which is open. */
static void write_meta(struct buffer *out, const struct mcp_request *request)
{
	buffer_append_string(out, "\"" MCP_META_VERSION "\":\"" MCP_VERSION_MODERN
				  "\",\"io.modelcontextprotocol/clientInfo\":");
	write_client_info(out, request);
	buffer_append_string(out, ",\"io.modelcontextprotocol/clientCapabilities\":{}");
}

static void end_request(struct buffer *out)
{
	buffer_append_string(out, "}}");
}

void mcp_request_discover(struct buffer *out, const struct mcp_request *request)
{
	begin_request(out, request, "server/discover");
	buffer_append_string(out, "\"_meta\":{");
	write_meta(out, request);
	buffer_append_char(out, '}');
	end_request(out);
}

void mcp_request_initialize(struct buffer *out, const struct mcp_request *request)
{
	begin_request(out, request, "initialize");
	buffer_printf(out, "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":",
		mcp_version_legacy_latest());
	write_client_info(out, request);
	end_request(out);
}

void mcp_request_initialized(struct buffer *out)
{
	buffer_append_string(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

const char *mcp_request_ping(struct buffer *out, const struct mcp_request *request)
{
	if (request->era == MCP_MODERN) {
		mcp_request_discover(out, request);
		return "server/discover";
	}
	begin_request(out, request, "ping");
	end_request(out);
	return "ping";
}

void mcp_request_list(
	struct buffer *out, const struct mcp_request *request, struct text_view cursor)
{
	begin_request(out, request, "tools/list");
	if (request->era == MCP_MODERN) {
		buffer_append_string(out, "\"_meta\":{");
		write_meta(out, request);
		buffer_append_string(out, cursor.text ? "}," : "}");
	}
	if (cursor.text) {
		json_write_key(out, "cursor");
		buffer_append(out, cursor.text, cursor.size);
	}
	end_request(out);
}

void mcp_request_listen(struct buffer *out, const struct mcp_request *request)
{
	begin_request(out, request, "subscriptions/listen");
	buffer_append_string(out, "\"_meta\":{");
	write_meta(out, request);
	buffer_append_string(out, "},\"notifications\":{\"toolsListChanged\":true}");
	end_request(out);
}

/* Append @json on one line: line feeds in JSON are white space between tokens. */
static void write_line(struct buffer *out, struct text_view json)
{
	char *place = buffer_reserve(out, json.size);

	if (!place)
		return;
	memcpy(place, json.text, json.size);
	for (size_t i = 0; i < json.size; i++)
		if (place[i] == '\n' || place[i] == '\r')
			place[i] = ' ';
	out->size += json.size;
}

/* Begin the request of a call: after its `_meta`. */
static void begin_call(struct buffer *out, const struct mcp_request *request, const char *method)
{
	begin_request(out, request, method);
	buffer_append_string(out, "\"_meta\":{");
	if (request->era == MCP_MODERN) {
		write_meta(out, request);
		buffer_append_char(out, ',');
	}
	buffer_printf(out, "\"progressToken\":%" PRIu64, request->id);
	buffer_append_string(out, request->trace.size > 0 ? "," : "");
	buffer_append(out, request->trace.text, request->trace.size);
	buffer_append_char(out, '}');
}

void mcp_request_call(struct buffer *out, const struct mcp_request *request, struct text_view name,
	struct text_view arguments)
{
	begin_call(out, request, "tools/call");
	buffer_append_string(out, ",\"name\":");
	json_write_bytes_lossy(out, name.text, name.size);
	buffer_append_string(out, ",\"arguments\":");
	write_line(out, arguments);
	end_request(out);
}

void mcp_request_ask(struct buffer *out, const struct mcp_request *request, const char *method,
	struct text_view params)
{
	const char *begin = memchr(params.text, '{', params.size);
	const char *end = memrchr(params.text, '}', params.size);

	begin_call(out, request, method);
	for (begin++; begin < end && strchr(" \t\r\n", *begin); begin++)
		continue;
	if (begin < end) {
		buffer_append_char(out, ',');
		write_line(out, (struct text_view){begin, (size_t)(end - begin)});
	}
	end_request(out);
}

void mcp_request_cancelled(struct buffer *out, uint64_t id, const char *reason)
{
	buffer_printf(out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":%" PRIu64,
		id);
	json_write_member_text(out, "reason", reason);
	buffer_append_string(out, "}}");
}
