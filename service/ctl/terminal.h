/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/reader.h"
#include "util/buffer.h"

/* What a person sees: on a terminal with its width and colours (not with NO_COLOR), plain anywhere
 * else. Texts of tools are strangers' texts: no control character of theirs reaches a terminal. */

/* Complain on stderr: `toolboxctl: …`. */
void terminal_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Columns of the terminal that stdout is; 0 when it is none. */
size_t terminal_width(void);

/* Escape sequences for stdout, "" where there are no colours. */
const char *terminal_bold(void);
const char *terminal_plain(void);

/* Bytes at the start of @size bytes of UTF-8 that take at most @columns; @ret_width is how many
 * they do take. Characters that print nothing take none. Needs the LC_CTYPE of a UTF-8 locale. */
size_t terminal_text_prefix(const char *text, size_t size, size_t columns, size_t *ret_width);

/* Append @text so that it stays on its line: white space becomes a space, other control characters
 * (and bytes that are not UTF-8) U+FFFD. */
void terminal_append_line(struct buffer *out, const char *text, size_t size);

/* Append the value at @token of @tape for a cell or a line: a string as its text, null as nothing,
 * anything else as compact JSON. */
void terminal_append_value(struct buffer *out, const struct json_tape *tape, uint32_t token);

/* Print @text to stdout. */
void terminal_print(const struct buffer *text);

/* Print the value at @token indented, and a newline. */
void terminal_print_json(const struct json_tape *tape, uint32_t token);
