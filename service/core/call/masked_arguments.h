/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/toolbox.h"
#include "json/tape.h"
#include "policy/fingerprint.h"
#include "schema/schema.h"
#include "util/buffer.h"

/*
 * The arguments of a call for display: to a person who approves it, in the audit log, and in
 * events. Values called `writeOnly` by the schema are masked.
 */
struct masked_arguments {
	struct buffer text;                      /* JSON */
	struct json_tape tape;                   /* its tokens */
	bool is_hidden;                          /* something is masked */
	char fingerprint[FINGERPRINT_CHARS + 1]; /* after masked_arguments_read() */
};

/* Read the arguments of a call of @tool, @size bytes of JSON that satisfy its schema, into @shown
 * (zeroed), without a fingerprint. Return 0, SCHEMA_E_UNCHECKED, or a negative errno; call
 * masked_arguments_deinit() in either case. */
int masked_arguments_mask(struct masked_arguments *shown, const struct tool *tool,
	struct schema_context *context, const char *arguments, size_t size);

/* As masked_arguments_mask(), with a fingerprint. @key: FINGERPRINT_KEY_BYTES, mixed in where
 * something is masked. */
int masked_arguments_read(struct masked_arguments *shown, const struct tool *tool,
	struct schema_context *context, const char *arguments, size_t size,
	const unsigned char *key);

/* Free the memory of @shown. */
void masked_arguments_deinit(struct masked_arguments *shown);
