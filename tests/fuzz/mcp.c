/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/reader.h"
#include "mcp/call_result.h"
#include "mcp/listing.h"
#include "mcp/message.h"
#include "mcp/notification.h"
#include "mcp/param_headers.h"
#include "mcp/response.h"

/*
 * Any bytes as a message of MCP, after lines that are the headers of its request (none: stdio):
 *
 *   Mcp-Method: tools/call\n
 *   \n
 *   {"jsonrpc": …}
 *
 * Every response must be one line of JSON, with the id that the message has.
 */

#define DEPTH_MAX  16
#define FIELDS_MAX 16

static const struct mcp_server server = {.version = "0"};

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

static void answer_list(struct buffer *out, const struct mcp_message *message)
{
	struct text_view tools[MCP_PAGE_TOOLS + 1];
	struct mcp_error error;

	for (size_t i = 0; i <= MCP_PAGE_TOOLS; i++)
		tools[i] = TEXT_VIEW("{}");
	if (mcp_write_tools(out, message, &server, tools, MCP_PAGE_TOOLS + 1, 1, &error) != 0)
		mcp_write_error(out, message->id, &error);
}

/* Let the arguments of the call be its answer, and its schema. */
static void answer_call(
	struct buffer *out, const struct mcp_message *message, const struct mcp_fields *fields)
{
	struct json_tape data = {0};
	struct buffer text = {0};
	struct mcp_error error;
	struct buffer schema = {0};
	size_t size;
	const char *arguments = message->arguments != JSON_NONE
					? json_value_text(&message->tape, message->arguments, &size)
					: "{}";

	if (message->arguments == JSON_NONE)
		size = 2;
	buffer_append(&schema, arguments, size);
	expect(buffer_terminate(&schema) != NULL);
	if (mcp_check_param_headers(message, fields, schema.data, &error) == MCP_E_REFUSED) {
		mcp_write_error(out, message->id, &error);
		check_response(out, message->id);
	}
	expect(json_tape_read(&data, arguments, size, DEPTH_MAX, NULL) == 0);
	if (mcp_write_call_result(out, message, &server, &data, true, &text, &error) != 0)
		mcp_write_error(out, message->id, &error);
	json_tape_deinit(&data);
	buffer_deinit(&text);
	buffer_deinit(&schema);
}

static void answer_message(
	struct buffer *out, const struct mcp_message *message, const struct mcp_fields *fields)
{
	switch (message->method) {
	case MCP_INITIALIZE:
		mcp_write_initialize(out, message, &server);
		break;
	case MCP_DISCOVER:
		mcp_write_discover(out, message, &server);
		break;
	case MCP_TOOLS_LIST:
		answer_list(out, message);
		break;
	case MCP_TOOLS_CALL:
		answer_call(out, message, fields);
		break;
	default:
		expect(message->method == MCP_PING || message->method == MCP_LISTEN);
		mcp_write_pong(out, message, &server);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mcp_message message;
	struct request request = {.n_lines = 0};
	struct mcp_fields fields = {find_field, &request};
	struct buffer out = {0};
	struct mcp_error error;
	char *copy = malloc(size + 1);
	char *text;
	int r;

	expect(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = '\0';
	text = copy[0] == '{' ? copy : cut_headers(copy, &request);
	r = mcp_message_read(&message, text, size - (size_t)(text - copy), DEPTH_MAX, &error);
	if (r == 0)
		r = mcp_message_check(&message, request.n_lines > 0 ? &fields : NULL, &error);
	expect(r >= 0);
	if (r > 0) {
		expect(error.message.size > 0 && error.status >= 200);
		mcp_write_error(&out, message.id, &error);
		check_response(&out, message.id);
	} else if (message.kind == MCP_REQUEST) {
		expect(message.id.text && mcp_ids_equal(message.id, message.id));
		answer_message(&out, &message, &fields);
		check_response(&out, message.id);
	}
	buffer_deinit(&out);
	free(copy);
	return 0;
}
