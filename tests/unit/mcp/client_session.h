/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "mcp/client/client.h"
#include "mcp/client/silence.h"
#include "util/buffer.h"

/*
 * A client of these tests, whose actions are recorded as lines:
 *
 *   send METHOD {…} · close ID · ready ERA · tools […] (REASON) · no tools (REASON) ·
 *   progress CALL N TEXT · result CALL {…} · failed CALL TEXT · lost CALL · note REASON ·
 *   over REASON
 */
struct session {
	struct mcp_client *client;
	struct buffer record;
	uint64_t now_ms;
};

static void record_action(void *data, const struct mcp_action *action)
{
	struct buffer *record = &((struct session *)data)->record;
	struct json_tape tape = {0};
	int size = (int)action->text.size;

	switch (action->kind) {
	case MCP_ACT_SEND:
		cr_expect_eq(json_tape_read(&tape, action->text.text, action->text.size, 64, NULL),
			0, "%.*s", size, action->text.text);
		cr_expect_null(memchr(action->text.text, '\n', action->text.size));
		cr_expect_eq(action->request_id != 0,
			json_find(&tape, 0, "id") != JSON_NONE && action->method != NULL);
		json_tape_deinit(&tape);
		buffer_printf(record, "send %s %.*s\n", action->method ? action->method : "-", size,
			action->text.text);
		break;
	case MCP_ACT_CLOSE:
		buffer_printf(record, "close %d\n", (int)action->request_id);
		break;
	case MCP_ACT_READY:
		cr_expect_str_eq(
			action->version, action->era == MCP_MODERN ? "2026-07-28" : "2025-06-18");
		buffer_printf(record, "ready %s%s\n",
			action->era == MCP_MODERN ? "modern" : "legacy",
			action->is_verdict ? "" : ", no verdict");
		break;
	case MCP_ACT_TOOLS:
		buffer_printf(record, "tools %.*s", size < 200 ? size : 200, action->text.text);
		if (action->reason)
			buffer_printf(record, " (%s)", action->reason);
		buffer_append_char(record, '\n');
		break;
	case MCP_ACT_NO_TOOLS:
		buffer_printf(record, "no tools (%s)\n", action->reason);
		break;
	case MCP_ACT_PROGRESS:
		buffer_printf(record, "progress %d %g %.*s\n", (int)action->call, action->progress,
			size, action->text.text ? action->text.text : "");
		break;
	case MCP_ACT_RESULT:
		buffer_printf(
			record, "result %d %.*s\n", (int)action->call, size, action->text.text);
		break;
	case MCP_ACT_FAILED:
		buffer_printf(
			record, "failed %d %.*s\n", (int)action->call, size, action->text.text);
		break;
	case MCP_ACT_LOST:
		buffer_printf(record, "lost %d\n", (int)action->call);
		break;
	case MCP_ACT_NOTE:
		buffer_printf(record, "note %s\n", action->reason);
		break;
	case MCP_ACT_OVER:
		buffer_printf(record, "over %s\n", action->reason);
		break;
	}
}

/* Check the actions since the last check. */
static inline void expect_actions(struct session *session, const char *wanted)
{
	cr_assert_not_null(buffer_terminate(&session->record));
	cr_expect_str_eq(session->record.data, wanted);
	buffer_reset(&session->record);
}

/* Receive @text at the time of the session. The client reads a copy, which is freed after it. */
static inline void take(struct session *session, const char *text)
{
	char *copy = strdup(text);

	cr_expect_eq(mcp_client_take(session->client, copy, strlen(text), session->now_ms), 0);
	free(copy);
}

/* Let @ms pass; act when that is due, and only then. */
static inline void pass(struct session *session, uint64_t ms)
{
	uint64_t end_ms = session->now_ms + ms;

	while (mcp_client_due_ms(session->client) <= end_ms) {
		uint64_t due_ms = mcp_client_due_ms(session->client);

		session->now_ms = due_ms > session->now_ms ? due_ms : session->now_ms;
		cr_assert_eq(mcp_client_tick(session->client, session->now_ms), 0);
		cr_assert_gt(
			mcp_client_due_ms(session->client), session->now_ms, "it is still due");
	}
	session->now_ms = end_ms;
}

#define CLIENT_META                                                                                \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"toolboxd\",\"version\":\"1\"},"        \
	"\"io.modelcontextprotocol/clientCapabilities\":{}"

#define SENT(id, method, params)                                                                   \
	"send " method " {\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
	"\",\"params\":{" params "}}\n"
#define SENT_DISCOVER(id) SENT(id, "server/discover", CLIENT_META "}")
#define SENT_INITIALIZE(id)                                                                        \
	SENT(id, "initialize",                                                                     \
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                          \
		"\"clientInfo\":{\"name\":\"toolboxd\",\"version\":\"1\"}")
#define SENT_INITIALIZED                                                                           \
	"send notifications/initialized {\"jsonrpc\":\"2.0\",\"method\":"                          \
	"\"notifications/initialized\"}\n"
#define SENT_CANCELLED(id, reason)                                                                 \
	"send notifications/cancelled "                                                            \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","                             \
	"\"params\":{\"requestId\":" id ",\"reason\":\"" reason "\"}}\n"

#define ANSWER(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" result "}}"
#define ERROR(id, code)                                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"No.\"}}"
#define DISCOVERED(id)                                                                             \
	ANSWER(id, "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}")
#define INITIALIZED(id)                                                                            \
	ANSWER(id, "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}")

static inline void begin(struct session *session, struct mcp_client_options options)
{
	options.act = record_action;
	options.data = session;
	options.version = "1";
	options.workers = options.workers ? options.workers : 2;
	options.start_ms = 60000;
	*session = (struct session){.now_ms = 1000000};
	session->client = mcp_client_new(&options);
	cr_assert_not_null(session->client);
	pass(session, 0);
}

static inline void end(struct session *session)
{
	mcp_client_free(session->client);
	buffer_deinit(&session->record);
}
