/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/question.h"

#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/utf8.h"
#include "util/visible.h"

/* The most code points of the first sentence of a description, and the least of an argument. */
#define SENTENCE_POINTS 120
#define ARGUMENT_POINTS 12

/* The text that ends a shortened one. */
#define CUT        "\xE2\x80\xA6"
#define CUT_POINTS 1

static size_t points_of(const struct buffer *text)
{
	return text->size > 0 ? utf8_count(text->data, text->size) : 0;
}

/* Append the @size bytes of @text, visible, in at most @points code points. */
static void append_cut(struct buffer *out, const char *text, size_t size, size_t points)
{
	cleanup(buffer_deinit) struct buffer shown = {0};
	size_t at = 0;

	/* Each character takes a code point or more. */
	while (at < size && points_of(&shown) <= points) {
		char bytes[VISIBLE_BYTES];
		size_t n_bytes;

		at += visible_next(text + at, size - at, bytes, &n_bytes);
		buffer_append(&shown, bytes, n_bytes);
	}
	buffer_fail_with(out, &shown);
	if (points_of(&shown) <= points) {
		buffer_append(out, shown.data, shown.size);
		return;
	}
	if (points < CUT_POINTS)
		return;
	buffer_append(out, shown.data, utf8_prefix(shown.data, shown.size, points - CUT_POINTS));
	buffer_append_string(out, CUT);
}

/* Return the size of the first sentence of @text. */
static size_t first_sentence(const char *text)
{
	size_t size = 0;

	while (text[size] && text[size] != '\n') {
		bool ends = strchr(".!?", text[size]) != NULL;

		size++;
		if (ends && (!text[size] || strchr(" \n\t", text[size])))
			break;
	}
	return size;
}

static size_t points_left(const struct buffer *out, size_t start)
{
	size_t used = out->size > start ? utf8_count(out->data + start, out->size - start) : 0;

	return used < QUESTION_POINTS ? QUESTION_POINTS - used : 0;
}

static void write_argument(
	struct buffer *out, const struct json_tape *tape, uint32_t key, size_t points)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_string_decode(tape, key, &text);
	buffer_append_string(&text, ": ");
	json_write_compact(&text, tape, key + 1);
	buffer_fail_with(out, &text);
	if (buffer_status(out) == 0)
		append_cut(out, text.data, text.size, points);
}

/* Write the members of the object, each in its share of what is left from @start on. */
static void write_shown_arguments(struct buffer *out, const struct json_tape *tape, size_t start)
{
	uint32_t n_left = json_count(tape, 0);

	for (uint32_t key = json_first(tape, 0); key < json_end(tape, 0);
		key = json_next_key(tape, key), n_left--) {
		const char *before = key == json_first(tape, 0) ? " " : ", ";
		size_t left = points_left(out, start);
		size_t share = left / n_left;

		/* Leave room to show that there is more. */
		if (left < strlen(before) + ARGUMENT_POINTS + strlen(before) + CUT_POINTS) {
			buffer_append_string(out, left > CUT_POINTS ? " " CUT : "");
			return;
		}
		buffer_append_string(out, before);
		share = share > ARGUMENT_POINTS + strlen(before) ? share - strlen(before)
								 : ARGUMENT_POINTS;
		write_argument(out, tape, key, share);
	}
}

void question_write(struct buffer *out, const struct tool *tool, const struct json_tape *arguments)
{
	size_t start = out->size;
	size_t sentence = first_sentence(tool->description);

	buffer_append_string(out, "May '");
	append_cut(out, tool->name, strlen(tool->name), TOOL_NAME_BYTES);
	buffer_append_string(out, "' of '");
	append_cut(out, tool->toolbox->id, strlen(tool->toolbox->id), TOOL_NAME_BYTES);
	buffer_append_string(out, "' run?");
	if (sentence > 0) {
		size_t left = points_left(out, start + 1);

		buffer_append_char(out, ' ');
		append_cut(out, tool->description, sentence,
			left / 2 < SENTENCE_POINTS ? left / 2 : SENTENCE_POINTS);
	}
	if (json_type_at(arguments, 0) == JSON_OBJECT)
		write_shown_arguments(out, arguments, start);
	else
		buffer_append_string(out, " Its arguments are hidden.");
}
