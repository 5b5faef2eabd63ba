/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/package.h"
#include "config/config.h"
#include "core/request.h"
#include "schema/schema.h"

/*
 * The arguments of a call, from the request to the tool.
 *
 *   absent ─────────▶ {}  ┐
 *   an object ────────────┼─▶ argument schema ─▶ range of the C types ─▶ defaults ─▶ the tool
 *   text of an object ────┘          │                  │
 *                                    └── violations ◀───┘
 *
 * When the manifest has `"coerce": true`, arguments that do not satisfy the schema are tried once
 * more with each string taken as the value that it holds: "25" as 25.
 *
 * An object with no default to fill in is passed on as the bytes that arrived.
 */
struct arguments {
	struct json_tape tape; /* the parsed arguments, when they are a text or absent */
	struct buffer text;    /* decoded, when they are a string */
	struct json_tape coerced_tape;
	struct buffer coerced; /* with strings taken as the values that they hold */
	struct buffer filled;  /* with defaults */
	const char *json;      /* passed to the tool; points into the frame or one of the above */
	size_t size;
	struct log_rate coercions;
	struct schema_report report; /* after ARGUMENTS_E_INVALID */
	size_t actual;               /* after ARGUMENTS_E_TOO_LARGE */
	size_t max;
	const char *limit; /* "bytes" or "levels of nesting" */
};

enum arguments_status {
	ARGUMENTS_E_INVALID = 1,
	ARGUMENTS_E_TOO_LARGE,
};

/* Check the arguments of @request for @tool, into @arguments (zeroed, or used before). Returns 0
 * with json and size set, an arguments_status, or -ENOMEM. */
int arguments_check(struct arguments *arguments, const struct tool *tool,
	const struct request *request, struct schema_context *context,
	const struct config_limits *limits);

/* Free the memory of @arguments. */
void arguments_deinit(struct arguments *arguments);
