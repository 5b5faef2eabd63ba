/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/voice/spoken.h"

#include <math.h>
#include <string.h>

#include "call/command.h"
#include "json/document.h"
#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/text/language_tag.h"
#include "util/text/utf8.h"

static const char *const face_names[] = {
	[SPOKEN_CONFIRM] = "confirm",
	[SPOKEN_DONE] = "done",
	[SPOKEN_FAILED] = "failed",
	[SPOKEN_WAIT] = "wait",
};

/* A value of more code points ends with it. */
#define CUT "\xE2\x80\xA6"

/* A longer fraction comes from a computation: a listener needs fewer digits. */
#define FRACTION_DIGITS_MAX 6

const char *spoken_face_name(enum spoken_face face)
{
	return face_names[face];
}

/* Return the key of the language @tag, or JSON_NONE. */
static uint32_t find_exactly(const struct json_tape *faces, struct text_view tag)
{
	json_each_key(key, faces, 0) {
		if (language_tag_equals(tag, json_bytes(faces, key), json_at(faces, key)->length))
			return key;
	}
	return JSON_NONE;
}

/* Return the key of the best language for @tag, or JSON_NONE. */
static uint32_t find_language(const struct json_tape *faces, struct text_view tag)
{
	for (; tag.text; tag = language_tag_shorten(tag)) {
		uint32_t key = find_exactly(faces, tag);

		if (key != JSON_NONE)
			return key;
	}
	return find_exactly(faces, TEXT_VIEW(SPOKEN_LANGUAGE));
}

/* Append @text, cut to SPOKEN_VALUE_POINTS. */
static void append_cut(struct buffer *out, const char *text, size_t size)
{
	size_t kept = utf8_prefix(text, size, SPOKEN_VALUE_POINTS);

	buffer_append(out, text, kept);
	if (kept < size)
		buffer_append_string(out, CUT);
}

/* Append the number at @index of a result for a listener: 5 for 5.0, and a long fraction rounded to
 * six digits in all, from 1000 on to two digits. */
static void append_fraction(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	struct text_view text = {json_bytes(tape, index), json_at(tape, index)->length};
	const char *point = memchr(text.text, '.', text.size);
	size_t digits = point ? text.size - (size_t)(point + 1 - text.text) : 0;
	double value = 0;

	if (digits == 1 && point[1] == '0')
		buffer_append(out, text.text, text.size - 2);
	else if (digits > FRACTION_DIGITS_MAX && json_number_f64(tape, index, &value) == 0)
		buffer_printf(
			out, fabs(value) >= 1000 && fabs(value) < 1e15 ? "%.2f" : "%.6g", value);
	else
		buffer_append(out, text.text, text.size);
}

/* Append the value at @index for a person. */
static void append_words(
	struct buffer *out, const struct json_tape *tape, uint32_t index, bool is_result)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_type_at(tape, index) == JSON_STRING)
		json_string_decode(tape, index, &text);
	else if (is_result && json_type_at(tape, index) == JSON_NUMBER)
		append_fraction(&text, tape, index);
	else
		json_write_compact(&text, tape, index);
	buffer_fail_with(out, &text);
	append_cut(out, buffer_text(&text), text.size);
}

/* Append the value of the member @name of the object @tape (NULL: none), the result if @is_result.
 * Return whether there is such a member, other than null. */
static bool append_member_words(struct buffer *out, const struct json_tape *tape, bool is_result,
	const char *name, size_t size)
{
	uint32_t value = tape ? json_find_sized(tape, 0, name, size) : JSON_NONE;

	if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL)
		return false;
	append_words(out, tape, value, is_result);
	return true;
}

/* Note that the sentence has the argument @name. */
static void mark_named(struct spoken_values *values, const char *name, size_t size)
{
	uint64_t bit = 1;

	json_each_key(key, values->arguments, 0) {
		if (json_string_equals(values->arguments, key, name, size))
			values->named |= bit;
		bit <<= 1;
	}
}

bool spoken_names_all(const struct spoken_values *values)
{
	uint32_t n = json_count(values->arguments, 0);

	return n < 64 && values->named == (UINT64_C(1) << n) - 1;
}

/* Append the value called @name. Return false without one. A result comes before an argument of the
 * same name. */
static bool append_named(
	struct buffer *out, struct spoken_values *values, const char *name, size_t size)
{
	if (values->error.text && text_is(name, size, "error")) {
		append_cut(out, values->error.text, values->error.size);
		return true;
	}
	if (append_member_words(out, values->result, true, name, size))
		return true;
	if (!append_member_words(out, values->arguments, false, name, size))
		return false;
	mark_named(values, name, size);
	return true;
}

/* Append @face with its values. Return false when a value is absent. */
static bool fill_face(struct buffer *out, const char *face, struct spoken_values *values)
{
	struct command_piece piece;

	while (command_next_piece(&face, &piece)) {
		if (piece.kind == COMMAND_LITERAL)
			buffer_append(out, piece.text, piece.size);
		else if (!append_named(out, values, piece.text, piece.size))
			return false;
	}
	return true;
}

/* Append @face of the language at @key. Return false without one. */
static bool write_face(const struct json_tape *faces, uint32_t key, enum spoken_face face,
	struct spoken_values *values, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t value = json_find_typed_at(faces, key + 1, spoken_face_name(face), JSON_STRING);
	size_t start = out->size;

	if (!json_read_text(faces, value, &text))
		return false;
	buffer_fail_with(out, &text);
	if (buffer_terminate(&text) && fill_face(out, text.data, values))
		return true;
	out->size = start;
	return false;
}

bool spoken_write(const char *json, enum spoken_face face, struct text_view tag,
	struct spoken_values *values, struct buffer *out, struct buffer *ret_tag)
{
	cleanup(json_tape_cleanup) struct json_tape faces = {0};
	uint32_t key;

	if (!json || json_tape_read(&faces, json, strlen(json), JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return false;
	key = find_language(&faces, tag);
	if (key == JSON_NONE || !write_face(&faces, key, face, values, out))
		return false;
	json_string_decode(&faces, key, ret_tag);
	return true;
}
