/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "json/reader.h"
#include "schema/schema.h"
#include "util/buffer.h"
#include "util/log.h"

/*
 * The arguments of a call, from what a caller sends to what the tool gets.
 *
 *   absent ─────────▶ {}  ┐
 *   an object ────────────┼─▶ argument schema ─▶ marshal check ─▶ defaults ─▶ the tool
 *   text of an object ────┘    │     │               │
 *                     run_llm ◀┘     └─ violations ◀─┘
 *
 * The marshal check is for rules beyond JSON Schema: whether the values can be passed as types of C
 * (native_check_value), or in placeholders (command_next_refused). The examples and defaults of a
 * manifest are checked like calls.
 *
 * When the manifest has `"coerce": true`, arguments against the schema are tried once more with
 * each string taken as the value inside: "25" as 25.
 *
 * The host of a kind that `judges` (catalogue/kind.h) has the last word: arguments against the
 * schema go to the host unchanged.
 *
 * An object with no default to fill in, and no integer like 2.0, is passed on as the received
 * bytes.
 */
struct arguments {
	struct json_tape tape; /* the parsed arguments, when they are a text or absent */
	struct buffer text;    /* decoded, when they are a string */
	struct json_tape coerced_tape;
	struct buffer coerced; /* with strings taken as the values inside */
	struct buffer filled;  /* with defaults */
	const char *json;      /* passed to the tool; points into the frame or one of the above */
	size_t size;
	enum run_llm run_llm;         /* RUN_LLM_YES or _NO: as given, or the tool's; else unsaid */
	struct json_tape rest_tape;   /* without run_llm */
	struct buffer rest;           /* its text */
	struct schema_report changes; /* the strings taken as other values */
	struct log_rate coercions;    /* lines about them */
	struct schema_report report;  /* after ARGUMENTS_E_INVALID */
	size_t actual;                /* after ARGUMENTS_E_TOO_LARGE */
	size_t max;
	const char *limit; /* "bytes" or "levels of nesting" */
	const char *stop;  /* after ARGUMENTS_E_UNCHECKED: schema_stop_text() */
	uint64_t spent_ns; /* the thread's time for the schema; 0: too little to be measured */
};

enum arguments_status {
	ARGUMENTS_E_INVALID = 1,
	ARGUMENTS_E_TOO_LARGE,
	ARGUMENTS_E_UNCHECKED, /* a bound ended the check */
};

struct arguments_limits {
	size_t bytes;
	uint32_t depth;
};

/* Check the value at @token of @tape (NULL: absent) as arguments of @tool, into @arguments
 * (zeroed, or used before). Returns 0 with json and size set, an arguments_status, or -ENOMEM. */
int arguments_check(struct arguments *arguments, const struct tool *tool,
	const struct json_tape *tape, uint32_t token, struct schema_context *context,
	const struct arguments_limits *limits);

/* As arguments_check(), for arguments whose values are all texts, the words of a person: for every
 * kind a string is taken as the value inside, by @words (NULL: as JSON alone), where the schema
 * wants such a value. After ARGUMENTS_E_INVALID json and size are the arguments as far as they
 * could be taken so. */
int arguments_fit(struct arguments *arguments, const struct tool *tool,
	const struct json_tape *tape, uint32_t token, struct schema_context *context,
	const struct arguments_limits *limits, const struct schema_words *words);

/* As arguments_log_changes(), when there are some. */
void arguments_log_coercion(struct arguments *arguments, const struct tool *tool);

/* Log the changes made by coercion, for the author of the caller, and forget them. Only the loop
 * logs. */
static inline void arguments_log_changes(struct arguments *arguments, const struct tool *tool)
{
	if (arguments->changes.n_violations > 0)
		arguments_log_coercion(arguments, tool);
}

/* Free the memory of a large value in @arguments, before the next check. Its json and report are
 * gone then. */
void arguments_recycle(struct arguments *arguments);

/* Free the memory of @arguments. */
void arguments_deinit(struct arguments *arguments);

/*
 * The steps, for the values of a manifest.
 */

/* Make the marshal check of the object at @object of @tape, which satisfies the schema. 0,
 * ARGUMENTS_E_INVALID with a violation added to @report for each impossible ("/name", "must be …")
 * or missing ("", "missing …") member, ARGUMENTS_E_UNCHECKED, or -ENOMEM. */
int arguments_marshal_check(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report);

/* Append the object at @object with the defaults of the schema, as for the tool, to @text, and read
 * the result into @ret_tape, which refers to @text. 0, ARGUMENTS_E_UNCHECKED, or -ENOMEM. */
int arguments_fill(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct buffer *text,
	struct json_tape *ret_tape);

/* Return whether the function cannot be called without a value for @parameter, passed or a
 * default. */
bool arguments_need(const struct native_parameter *parameter);
