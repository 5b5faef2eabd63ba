/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/package.h"
#include "config/config.h"
#include "core/request.h"
#include "schema/schema.h"

/*
 * The arguments of a call, from what came to what the tool gets.
 *
 *   absent ─────────▶ {}  ┐
 *   an object ────────────┼─▶ argument schema ─▶ what the type can hold ─▶ defaults ─▶ the tool
 *   text of an object ────┘          │                    │
 *                                    └──── violations ◀───┘
 *
 * Where the manifest says `"coerce": true`, what does not satisfy the schema is tried once more
 * with its strings taken as what they hold: "25" as 25.
 *
 * An object without anything to fill in is passed on as the very bytes that came.
 */
struct arguments {
	struct json_tape tape; /* of a text, or of nothing */
	struct buffer text;    /* decoded, when they came as a string */
	struct json_tape coerced_tape;
	struct buffer coerced; /* with strings taken as what they hold */
	struct buffer filled;  /* with defaults */
	const char *json;      /* what the tool gets; into the frame or one of the above */
	size_t size;
	struct log_rate coercions;
	struct schema_report report; /* after ARGUMENTS_E_INVALID */
	size_t actual;               /* after ARGUMENTS_E_TOO_LARGE: … and the limit it broke */
	size_t max;
	const char *limit; /* "bytes" or "levels of nesting" */
};

enum arguments_status {
	ARGUMENTS_E_INVALID = 1,
	ARGUMENTS_E_TOO_LARGE,
};

/* Check the arguments of @request for @tool into @arguments (zeroed, or used before). 0 with json
 * and size set, an arguments_status, or -ENOMEM. */
int arguments_check(struct arguments *arguments, const struct tool *tool,
	const struct request *request, struct schema_context *context,
	const struct config_limits *limits);

void arguments_deinit(struct arguments *arguments);
