/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/request/cut_content.h"
#include "json/reader.h"
#include "mcp/client/client.h"
#include "mcp/client/events.h"
#include "mcp/client/pages.h"
#include "mcp/client/result.h"
#include "mcp/client/tools/tools.h"
#include "util/buffer.h"

/*
 * Any bytes as a session with a server of MCP. The first byte has the options; each line after it
 * is one of these, or a message of the server:
 *
 *   +N   let N ms pass          c   call a tool          x   cancel the oldest call, which is late
 *   -N   lose the response to   r   renew the session    s   toggle the stream of GET
 *        request N
 *
 * The whole is read as a stream of events, too. Each message that is sent must be one line of JSON,
 * each call must end once, and the time until the next action must pass.
 */

#define DEPTH_MAX 200
#define WORKERS   3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

struct run {
	struct mcp_client *client;
	uint64_t now_ms;
	uint64_t calls[WORKERS]; /* in flight, the oldest first */
	unsigned int n_calls;
	uint64_t last_call;
	unsigned int n_sent; /* since the last line */
	bool is_ready;
	bool is_over;
	bool has_stream;
};

static void end_call(struct run *run, uint64_t call)
{
	unsigned int i = 0;

	while (i < run->n_calls && run->calls[i] != call)
		i++;
	expect(i < run->n_calls);
	memmove(&run->calls[i], &run->calls[i + 1], (run->n_calls - i - 1) * sizeof(call));
	run->n_calls--;
}

/* Check that @text is JSON of @type. */
static void expect_json(struct text_view text, enum json_type type)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	expect(json_tape_read(&tape, text.text, text.size, DEPTH_MAX, NULL) == 0);
	expect(json_type_at(&tape, 0) == type);
}

/* Cut the result @text, too. */
static void expect_result(struct text_view text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer cut = {0};

	expect_json(text, JSON_OBJECT);
	expect(json_tape_read(&tape, text.text, text.size, DEPTH_MAX, NULL) == 0);
	cut_content_write(&cut, &tape, text.text, text.size, 3);
	expect_json((struct text_view){cut.data, cut.size}, JSON_OBJECT);
}

static bool is_name(const char *name)
{
	return strlen(name) > 0 && strlen(name) <= MCP_TOOL_NAME_BYTES &&
	       !strchr("0123456789-", name[0]) &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
		       strlen(name);
}

/* Read the list @text as the tools to offer. */
static void expect_tools(struct text_view text)
{
	static const char *const patterns[] = {"*_*", "b"};
	struct mcp_tool_rules rules = {
		.exclude = {patterns, 2}, .tools_max = 3, .is_http = text.size % 2};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct mcp_server_tools tools = {0};

	expect_json(text, JSON_ARRAY);
	expect(json_tape_read(&tape, text.text, text.size, DEPTH_MAX, NULL) == 0);
	expect(mcp_server_tools_read(&tape, 0, &rules, &tools) == 0);
	expect(tools.n_items <= rules.tools_max);
	for (size_t i = 0; i < tools.n_items; i++) {
		expect(is_name(tools.items[i].name));
		expect_json(TEXT_VIEW(tools.items[i].entry), JSON_OBJECT);
	}
	mcp_server_tools_deinit(&tools);
}

static void check_action(void *data, const struct mcp_action *action)
{
	struct run *run = data;

	expect(!run->is_over || action->kind == MCP_ACT_LOST);
	switch (action->kind) {
	case MCP_ACT_SEND:
		expect_json(action->text, JSON_OBJECT);
		expect(!memchr(action->text.text, '\n', action->text.size));
		expect(!memchr(action->text.text, '\r', action->text.size));
		run->n_sent++;
		break;
	case MCP_ACT_CLOSE:
		expect(run->is_ready && action->request_id > 0);
		break;
	case MCP_ACT_READY:
		run->is_ready = true;
		break;
	case MCP_ACT_TOOLS:
		expect(run->is_ready && action->text.size <= MCP_LIST_BYTES_MAX + 2);
		expect_tools(action->text);
		break;
	case MCP_ACT_NO_TOOLS:
		expect(run->is_ready && action->reason);
		break;
	case MCP_ACT_PROGRESS:
		expect(run->n_calls > 0);
		expect(action->progress <= 1 && (action->progress >= 0 || action->progress == -1));
		break;
	case MCP_ACT_RESULT:
		expect_result(action->text);
		end_call(run, action->call);
		break;
	case MCP_ACT_FAILED:
		expect(action->text.size > 0);
		end_call(run, action->call);
		break;
	case MCP_ACT_LOST:
		end_call(run, action->call);
		break;
	case MCP_ACT_NOTE:
		expect(action->reason && *action->reason);
		break;
	case MCP_ACT_OVER:
		expect(action->reason && *action->reason);
		run->is_over = true;
		break;
	}
}

/* Let @ms pass, at most the time of a few lists. */
static void pass(struct run *run, uint64_t ms)
{
	uint64_t end_ms = run->now_ms + ms % 200000;

	for (uint64_t due_ms = mcp_client_due_ms(run->client); due_ms <= end_ms;
		due_ms = mcp_client_due_ms(run->client)) {
		run->now_ms = due_ms > run->now_ms ? due_ms : run->now_ms;
		expect(mcp_client_tick(run->client, run->now_ms) == 0);
		expect(mcp_client_due_ms(run->client) > run->now_ms);
	}
	run->now_ms = end_ms;
}

static void call(struct run *run)
{
	int r = mcp_client_call(
		run->client, run->last_call + 1, TEXT_VIEW("add"), TEXT_VIEW("{\"a\":\r\n[1, 2]}"));

	expect(r == 0 || r == MCP_E_BUSY || r == MCP_E_UNREADY);
	expect((r == MCP_E_BUSY) == (run->n_calls == WORKERS && r != MCP_E_UNREADY));
	if (r == 0)
		run->calls[run->n_calls++] = ++run->last_call;
}

static void cancel(struct run *run)
{
	uint64_t oldest = run->calls[0];

	if (run->n_calls == 0)
		return;
	expect(mcp_client_request_id(run->client, oldest) > 0);
	end_call(run, oldest);
	expect(mcp_client_cancel(run->client, oldest, true, run->now_ms) == 0);
	expect(mcp_client_request_id(run->client, oldest) == 0);
}

/* Append the data of an event, and its end. */
static int record_event(void *data, const char *text, size_t size)
{
	buffer_append(data, text, size);
	buffer_append_char(data, '\0');
	return 0;
}

/* Read @text as a stream of events, at once and in pieces of a byte, with the same result. */
static void expect_events(const char *text, size_t size)
{
	struct mcp_events whole = {.bytes_max = 64, .takes_all = size % 2 == 1};
	struct mcp_events bytes = {.bytes_max = 64, .takes_all = size % 2 == 1};
	cleanup(buffer_deinit) struct buffer of_whole = {0};
	cleanup(buffer_deinit) struct buffer of_bytes = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < size; i++)
		r = mcp_events_take(&bytes, text + i, 1, record_event, &of_bytes);
	expect(mcp_events_take(&whole, text, size, record_event, &of_whole) == r);
	expect(of_whole.size == of_bytes.size &&
		(of_whole.size == 0 || memcmp(of_whole.data, of_bytes.data, of_whole.size) == 0));
	expect(whole.id.size == bytes.id.size && whole.retry_ms == bytes.retry_ms);
	mcp_events_deinit(&whole);
	mcp_events_deinit(&bytes);
}

/* Receive a message of which no byte after its end may be read. */
static void receive(struct run *run, const char *text, size_t size)
{
	cleanup_free char *copy = malloc(size > 0 ? size : 1);

	expect(copy != NULL);
	memcpy(copy, text, size);
	run->n_sent = 0;
	expect(mcp_client_take(run->client, copy, size, run->now_ms) == 0);
	/* A batch has an element in every two bytes, at most. */
	expect(run->n_sent <= size / 2 + 3);
}

static void act_on_line(struct run *run, const char *line, size_t size)
{
	uint64_t number = size > 1 && size < 9 ? strtoul(line + 1, NULL, 10) : 0;

	switch (size > 0 ? line[0] : '{') {
	case '+':
		pass(run, number);
		break;
	case '-':
		expect(mcp_client_lose(run->client, number, size % 2 ? 404 : 0, run->now_ms) == 0);
		break;
	case 'c':
		call(run);
		break;
	case 'x':
		cancel(run);
		break;
	case 'r':
		expect(mcp_client_renew(run->client, run->now_ms) == 0);
		break;
	case 's':
		run->has_stream = !run->has_stream;
		mcp_client_set_stream(run->client, run->has_stream);
		break;
	default:
		receive(run, line, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = {.now_ms = 1};
	struct mcp_client_options options = {.act = check_action,
		.data = &run,
		.version = "1",
		.workers = WORKERS,
		.start_ms = 60000};
	char *text = malloc(size + 1);
	char *line = text;
	char *end;

	expect(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (size > 0) {
		options.is_http = text[0] & 1;
		options.is_legacy = text[0] & 2;
		options.jitter_percent = (unsigned char)text[0] % 101;
		line++;
	}
	run.client = mcp_client_new(&options);
	expect(run.client != NULL);
	expect_events(text, size);
	pass(&run, 0);
	for (; line <= text + size; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + size - line));
		end = end ? end : text + size;
		act_on_line(&run, line, (size_t)(end - line));
	}
	mcp_client_end(run.client);
	expect(run.n_calls == 0);
	mcp_client_free(run.client);
	free(text);
	return 0;
}
