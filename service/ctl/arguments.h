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
 *   count=3      the text itself where the schema allows only a string, else JSON, else the text
 *   count:=3     always JSON
 */

/* Positive results. */
enum ctl_arguments_status {
	CTL_ARGUMENTS_E_USAGE = 1, /* @ret_why says what is wrong, NUL-terminated */
};

/* Whether the schema has to be known to read the @words: one of them is `key=value`. */
bool ctl_arguments_need_schema(const char *const *words, size_t n_words);

/*
 * Append the JSON object that the @words stand for. @schema is the tool's argument schema on @tape;
 * JSON_NONE: any value is allowed. 0, CTL_ARGUMENTS_E_USAGE (also for a key given twice), or
 * -ENOMEM.
 */
int ctl_arguments_write(const char *const *words, size_t n_words, const struct json_tape *tape,
	uint32_t schema, struct buffer *out, struct buffer *ret_reason);

/* Whether @text of @size bytes is a JSON object; if not, CTL_ARGUMENTS_E_USAGE and why. */
int ctl_arguments_check(const char *text, size_t size, struct buffer *ret_reason);
