/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <string.h>
#include <strings.h>

#include "json/reader.h"
#include "mcp/server/methods.h"
#include "util/buffer.h"

/* A client of these tests: its headers are `Name: value` texts, NULL at their end. */
static inline const char *find_field(const void *request, const char *name, unsigned int *ret_count)
{
	const char *found = NULL;

	*ret_count = 0;
	for (const char *const *field = request; *field; field++) {
		size_t size = strcspn(*field, ":");

		if (strlen(name) != size || strncasecmp(name, *field, size) != 0)
			continue;
		found = found ? found : *field + size + 1;
		(*ret_count)++;
	}
	return found;
}

#define FIELDS(...)                                                                                \
	(&(struct mcp_fields){find_field, (const void *)(const char *const[]){__VA_ARGS__, NULL}})

/* Read and check @text; return the code of its error, or 0. */
static inline int judge(struct mcp_message *message, const char *text,
	const struct mcp_fields *fields, struct mcp_error *error)
{
	int r;

	*error = (struct mcp_error){.code = 0};
	r = mcp_message_read(message, mcp_methods, text, strlen(text), 16, error);
	if (r == 0)
		r = mcp_message_check(message, fields, error);
	cr_assert_geq(r, 0);
	return r == 0 ? 0 : (int)error->code;
}

#define META_OF(version)                                                                           \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version "\","                  \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define META META_OF("2026-07-28")

/* A request with the method and the parameters (after META's). */
#define MODERN(id, method, params)                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" META params "}}"
#define LEGACY(id, method, params)                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"

/* Check that @out is JSON on one line, and equal to @wanted. */
static inline void expect_line(struct buffer *out, const char *wanted)
{
	struct json_tape tape = {0};

	cr_assert_not_null(buffer_terminate(out));
	cr_expect_str_eq(out->data, wanted);
	cr_expect_null(strchr(out->data, '\n'));
	cr_expect_eq(json_tape_read(&tape, out->data, out->size, 64, NULL), 0, "%s", out->data);
	json_tape_deinit(&tape);
}
