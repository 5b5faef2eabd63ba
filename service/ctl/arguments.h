/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * Arguments of a tool as words of a command line.
 *
 *   count=3      the text itself if the schema allows only a string; else JSON, else the text
 *   count:=3     always JSON
 */

/* Positive results. */
enum ctl_arguments_status {
	CTL_ARGUMENTS_E_USAGE = 1, /* @ret_reason describes the mistake, NUL-terminated */
};

/* Return whether reading the @words takes the schema: one of them is `key=value`. */
bool ctl_arguments_need_schema(const char *const *words, size_t n_words);

/*
 * Append the JSON object that the @words describe. @schema is the tool's argument schema on @tape;
 * JSON_NONE: any value is allowed. Return 0, CTL_ARGUMENTS_E_USAGE (also for a repeated key), or
 * -ENOMEM.
 */
int ctl_arguments_write(const char *const *words, size_t n_words, const struct json_tape *tape,
	uint32_t schema, struct buffer *out, struct buffer *ret_reason);

/* Return 0 if the @size bytes at @text are a JSON object, else CTL_ARGUMENTS_E_USAGE with the
 * reason. */
int ctl_arguments_check(const char *text, size_t size, struct buffer *ret_reason);
