/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/reader.h"
#include "mcp/listing.h"
#include "mcp/server/methods.h"

/*
 * Any bytes as messages of MCP, which are served: a single message after lines that are the headers
 * of its request, else a message on each line (stdio):
 *
 *   Mcp-Method: tools/call\n
 *   \n
 *   {"jsonrpc": …}
 *
 * Every message must have one response, or be in flight. A response is one line of JSON, with the
 * id that the message has.
 */

#define DEPTH_MAX     MCP_DEPTH_MAX
#define FIELDS_MAX    16
#define IN_FLIGHT_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

struct request {
	char *lines[FIELDS_MAX];
	size_t n_lines;
};

static const char *find_field(const void *data, const char *name, unsigned int *ret_count)
{
	const struct request *request = data;
	const char *found = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < request->n_lines; i++) {
		size_t length = strcspn(request->lines[i], ":");

		if (request->lines[i][length] != ':' || strlen(name) != length ||
			strncasecmp(name, request->lines[i], length) != 0)
			continue;
		found = found ? found : request->lines[i] + length + 1;
		(*ret_count)++;
	}
	return found;
}

/* Cut the lines of headers off the front of @text. Return the rest. */
static char *cut_headers(char *text, struct request *ret_request)
{
	for (char *end = strchr(text, '\n'); end && ret_request->n_lines < FIELDS_MAX;
		end = strchr(text, '\n')) {
		char *line = text;

		*end = '\0';
		text = end + 1;
		if (*line == '\0')
			break;
		ret_request->lines[ret_request->n_lines++] = line;
	}
	return text;
}

/* Check the response @out to the request with the id @id, and empty it. */
static void check_response(struct buffer *out, struct text_view id)
{
	struct json_tape tape = {0};
	uint32_t token;
	size_t size;
	const char *text;

	expect(buffer_status(out) == 0 && !memchr(out->data, '\n', out->size));
	expect(json_tape_read(&tape, out->data, out->size, DEPTH_MAX + 4, NULL) == 0);
	token = json_find(&tape, 0, "id");
	expect((token != JSON_NONE) == (id.text != NULL));
	if (id.text) {
		text = json_value_text(&tape, token, &size);
		expect(size == id.size && memcmp(text, id.text, size) == 0);
	}
	json_tape_deinit(&tape);
	buffer_reset(out);
}

/* ── a door ──────────────────────────────────────────────────────────────────────────────────── */

/* A request of it, on its own or in a list. */
struct visit {
	struct mcp_exchange exchange;
	size_t n_responses;
	struct visit *next;
};

static struct mcp_engine engine;

static int join_any(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	(void)exchange;
	(void)ret_error;
	return 0;
}

static void check_respond(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	struct visit *visit = (struct visit *)(void *)exchange;

	expect(visit->n_responses++ == 0 && status >= 200);
	if (text)
		check_response(text, exchange->message.id);
	else
		expect(exchange->message.kind != MCP_REQUEST);
}

static void check_notify(struct mcp_exchange *exchange, struct buffer *message)
{
	expect(((struct visit *)(void *)exchange)->n_responses == 0);
	check_response(message, (struct text_view){NULL, 0});
}

static bool takes_report(struct mcp_exchange *exchange, double value)
{
	(void)exchange;
	return !(value > 0.5);
}

/* Return a long list, whose first tool has the name that a call has, and its arguments as the
 * schema. */
static const struct mcp_tools *list_tools(struct mcp_exchange *exchange)
{
	static struct mcp_tools tools;
	static char *name;
	static char *schema;
	const struct mcp_message *message = &exchange->message;
	struct mcp_listed_tool tool = {"a", "box", "a", NULL, true};

	free(name);
	free(schema);
	mcp_tools_deinit(&tools);
	name = schema = NULL;
	if (message->method == MCP_TOOLS_CALL) {
		size_t size = 2;
		const char *text =
			message->arguments != JSON_NONE
				? json_value_text(&message->tape, message->arguments, &size)
				: "{}";

		name = json_string_dup(&message->tape, message->name, NULL);
		schema = strndup(text, size);
		tool.listed = name;
		tool.schema = *schema == '{' ? schema : NULL;
	}
	expect(mcp_tools_begin(&tools, MCP_PAGE_TOOLS + 1) == 0);
	for (size_t i = 0; i <= MCP_PAGE_TOOLS; i++) {
		buffer_append_string(&tools.text, "{}");
		mcp_tools_add(&tools, &tool);
		tool = (struct mcp_listed_tool){"b", "box", "b", NULL, false};
	}
	expect(mcp_tools_end(&tools) == 0);
	return &tools;
}

/* Report and answer the call with its own arguments. A call without arguments stays in flight. */
static int begin_call(struct mcp_exchange *exchange, const struct mcp_listed_tool *tool)
{
	const struct mcp_message *message = &exchange->message;
	struct json_tape data = {0};
	const char *text;
	size_t size;

	(void)tool;
	if (message->arguments == JSON_NONE ||
		json_type_at(&message->tape, message->arguments) != JSON_OBJECT)
		return 0;
	text = json_value_text(&message->tape, message->arguments, &size);
	expect(json_tape_read(&data, text, size, DEPTH_MAX, NULL) == 0);
	mcp_exchange_report(exchange, &data);
	mcp_exchange_answer(exchange, &data, exchange->has_content);
	json_tape_deinit(&data);
	return 0;
}

static int listen_always(struct mcp_exchange *exchange, struct mcp_error *ret_error)
{
	(void)exchange;
	(void)ret_error;
	return 0;
}

static void end_cancelled(struct mcp_exchange *exchange)
{
	mcp_exchange_deinit(exchange);
}

static const struct mcp_door door = {
	.join = join_any,
	.respond = check_respond,
	.notify = check_notify,
	.takes_report = takes_report,
	.list = list_tools,
	.call = begin_call,
	.listen = listen_always,
	.cancel = end_cancelled,
};

/* Let the @size bytes at @text be one message, and add it to @visits. */
static void take_message(
	struct visit **visits, char *text, size_t size, const struct mcp_fields *fields)
{
	struct visit *visit = calloc(1, sizeof(*visit));

	expect(visit != NULL);
	visit->next = *visits;
	*visits = visit;
	mcp_exchange_init(&visit->exchange, &engine);
	visit->exchange.session = fields ? NULL : "s";
	mcp_take(&visit->exchange, text, size, fields);
	expect(mcp_exchange_is_open(&visit->exchange) == (visit->n_responses == 0));
	memset(text, 'x', size);
}

/* Bytes of stdin have a message on each line. */
static void take_lines(struct visit **visits, char *text, size_t size)
{
	char *newline;

	while ((newline = memchr(text, '\n', size))) {
		size_t length = (size_t)(newline - text);

		take_message(visits, text, length, NULL);
		text += length + 1;
		size -= length + 1;
	}
	take_message(visits, text, size, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request request = {.n_lines = 0};
	struct mcp_fields fields = {find_field, &request};
	struct visit *visits = NULL;
	char *copy = malloc(size + 1);
	char *text;

	expect(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = '\0';
	mcp_engine_init(&engine, &door, "0", IN_FLIGHT_MAX);
	text = copy[0] == '{' ? copy : cut_headers(copy, &request);
	if (request.n_lines > 0)
		take_message(&visits, text, size - (size_t)(text - copy), &fields);
	else
		take_lines(&visits, text, size - (size_t)(text - copy));
	mcp_engine_changed(&engine);
	mcp_engine_cancel(&engine, "s", (struct text_view){0});
	while (visits) {
		struct visit *visit = visits;

		visits = visit->next;
		mcp_exchange_deinit(&visit->exchange);
		free(visit);
	}
	expect(list_is_empty(&engine.requests));
	free(copy);
	return 0;
}
