/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/diagnostic.h"

/* Output for people: with the width and the colours of a terminal (unless NO_COLOR is set), plain
 * everywhere else. Texts of tools come from strangers, so their control characters never reach a
 * terminal. */

/* Complain on stderr: `toolboxctl: …`. */
void terminal_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with @text, unless it has failed. */
void terminal_complain_text(struct buffer *text);

/* Draw @line, which fits into a line of the terminal of stderr, in place of the line drawn before.
 * The next complaint takes it away. */
void terminal_draw_line(const struct buffer *line);

/* Take the line away. */
void terminal_clear_line(void);

/* Return whether a line is drawn. */
bool terminal_has_line(void);

/* Complain about @diagnostic if it is an error (a diagnostic_function; @data is not used). */
void terminal_complain_error(void *data, const struct diagnostic *diagnostic);

/* Return the columns of the terminal of stdout, or 0 without a terminal. */
size_t terminal_width(void);

/* Return its rows; SIZE_MAX without a terminal or rows. */
size_t terminal_height(void);

/* Count @finding, and print it on stderr as diagnostic_print() does, on a terminal with colours. */
void terminal_print_finding(struct diagnostic_counts *counts, const struct diagnostic *finding);

/* Append @line, with its severity at the start, wrapped and coloured for the terminal of stderr;
 * unchanged for other files. A log_shape_function. */
void terminal_shape_finding(const char *line, size_t size, struct buffer *out);

/* Return the columns for text in whole sentences: the terminal's, from 20 to 100; 80 without a
 * terminal. */
size_t terminal_text_width(void);

/* Styles of cells (ctl/table.h). */
#define TERMINAL_RED    "\x1b[31m"
#define TERMINAL_GREEN  "\x1b[32m"
#define TERMINAL_YELLOW "\x1b[33m"
#define TERMINAL_FAINT  "\x1b[2m"

/* Return an escape sequence for stdout, or "" if there are no colours. */
const char *terminal_bold(void);
const char *terminal_plain(void);

/* Return whether the locale of the user (LC_ALL, LC_CTYPE, LANG) has UTF-8. */
bool terminal_has_utf8(void);

/* Append @text as a single line: white space becomes a space, everything else becomes visible
 * (util/text/visible.h). In a locale without UTF-8, typographic characters become ASCII, and on a
 * terminal all others become escapes: \u00e9. */
void terminal_append_line(struct buffer *out, const char *text, size_t size);

/* Append the words of @text as terminal_append_line() does, with one space between two:
 * descriptions are indented, and have lines of their own, as in their programs. */
void terminal_append_words(struct buffer *out, const char *text, size_t size);

/* Append @text as one word of a shell, quoted where it has to be. */
void terminal_append_shell_word(struct buffer *out, const char *text, size_t size);

void terminal_append_spaces(struct buffer *out, size_t count);

/* Append the line @text, wrapped between words to lines of @columns columns (0: never); all lines
 * but the first are indented by @indent. A word longer than a line is broken, after a slash if
 * there is one. */
void terminal_append_wrapped(
	struct buffer *out, const char *text, size_t size, size_t columns, size_t indent);

/* Append the line @text and a newline, wrapped for the terminal: indented by @indent, all lines but
 * the first by @hanging. Append nothing when it is empty. */
void terminal_append_paragraph(
	struct buffer *out, const struct buffer *text, size_t indent, size_t hanging);

/* As terminal_append_paragraph(), for the terminal of stderr. */
void terminal_append_complaint(
	struct buffer *out, const struct buffer *text, size_t indent, size_t hanging);

/* Append @moment in the local time zone, with its date unless it is today. */
void terminal_append_time(struct buffer *out, time_t moment);

/* Append the value at @token of @tape for a cell or a line: a string as its text, null and
 * JSON_NONE as nothing, anything else as compact JSON. */
void terminal_append_value(struct buffer *out, const struct json_tape *tape, uint32_t token);

/* Append the member @key of the object at @object as terminal_append_value() does; nothing when it
 * is absent. */
void terminal_append_member(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key);

/* The same if it is a string, else nothing. */
void terminal_append_text(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key);

/* Append TOOLBOX/TOOL, from the members `toolbox_id` and `name` of the object at @object. */
void terminal_append_tool(struct buffer *out, const struct json_tape *tape, uint32_t object);

/* Append the words of the member @key, a text, of the object at @object; nothing when it is
 * absent. */
void terminal_append_member_words(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key);

/* Print @text to stdout. */
void terminal_print(const struct buffer *text);

/* The same with a newline, which is appended to @text. */
void terminal_print_line(struct buffer *text);

/* Print the line @text as terminal_append_paragraph() appends it. */
void terminal_print_paragraph(const struct buffer *text, size_t indent, size_t hanging);

/* Print JSON unchanged; on a terminal, with escapes for characters that the terminal would obey or
 * that mislead a reader. Both are the same JSON. */
void terminal_print_json_text(const struct buffer *json);

/* Print the value at @token indented, and a newline. */
void terminal_print_json(const struct json_tape *tape, uint32_t token);
