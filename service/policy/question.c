/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/question.h"

#include <string.h>

#include "catalogue/voice/spoken.h"
#include "json/canonical.h"
#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "util/text/text.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

/* The most code points of the first sentence of a description, and the least of a value. */
#define SENTENCE_POINTS 120
#define VALUE_POINTS    8

/* The most arguments to show: `a: 1, ` is a short one. */
#define SHOWN_MAX (QUESTION_POINTS / 6)

/* The end of a shortened text. In a value it is an escape, and cannot be anything else. */
#define CUT         "\xE2\x80\xA6"
#define CUT_ESCAPED "\\u2026"
#define CUT_POINTS  1

#define SEPARATOR_POINTS 2

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

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

/* An argument to show, if there is room. */
struct part {
	uint32_t key;
	struct buffer text; /* `name: value`, visible, of QUESTION_POINTS + 1 code points at most */
	size_t points;      /* length of the text */
	size_t least_points; /* the name with a bit of the value, or the whole if shorter */
};

/* The first arguments of a call in the order in which they are shown. */
struct parts {
	struct part items[SHOWN_MAX];
	size_t n;
	size_t n_declared; /* members of the schema, which come first */
};

static void deinit_parts(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		buffer_deinit(&parts->items[i].text);
}

/* Append the canonical text of the value at @index, visible. */
static void append_visible(struct buffer *out, const struct json_tape *tape, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *from;
	const char *end;

	json_write_canonical(&text, tape, index);
	buffer_fail_with(out, &text);
	if (buffer_status(&text) < 0)
		return;
	from = text.data;
	end = text.data + text.size;
	while (from < end && points_of(out) <= QUESTION_POINTS) {
		char bytes[VISIBLE_BYTES];
		size_t size;

		from += visible_next(from, (size_t)(end - from), bytes, &size);
		if (text_is(bytes, size, CUT))
			buffer_append_string(out, CUT_ESCAPED);
		else
			buffer_append(out, bytes, size);
	}
}

static bool is_letter(char c)
{
	return text_is_letter(c) || c == '_';
}

/* Return whether the name at @key can be written without quotes: nothing in it looks like a
 * value. */
static bool is_plain(const struct json_tape *tape, uint32_t key)
{
	cleanup(buffer_deinit) struct buffer name = {0};

	json_string_decode(tape, key, &name);
	if (buffer_status(&name) < 0 || name.size == 0 || !is_letter(name.data[0]))
		return false;
	for (size_t i = 1; i < name.size; i++)
		if (!is_letter(name.data[i]) && !text_is_digit(name.data[i]) && name.data[i] != '-')
			return false;
	return true;
}

/* Add the argument at @key, unless it is there. */
static void add_part(struct parts *parts, const struct json_tape *tape, uint32_t key)
{
	struct part *part = &parts->items[parts->n];
	size_t points;

	for (size_t i = 0; i < parts->n; i++)
		if (parts->items[i].key == key)
			return;
	*part = (struct part){.key = key};
	if (is_plain(tape, key))
		json_string_decode(tape, key, &part->text);
	else
		append_visible(&part->text, tape, key);
	buffer_append_string(&part->text, ": ");
	points = points_of(&part->text) + VALUE_POINTS;
	append_visible(&part->text, tape, key + 1);
	part->points = points_of(&part->text);
	part->least_points = part->points < points ? part->points : points;
	parts->n++;
}

/* Add the argument named by the string at @token of the schema @schema, if there is one. */
static void add_declared(struct parts *parts, const struct json_tape *tape,
	const struct json_tape *schema, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer name = {0};
	uint32_t value;

	if (parts->n == SHOWN_MAX || json_type_at(schema, token) != JSON_STRING)
		return;
	json_string_decode(schema, token, &name);
	value = json_find_sized(tape, 0, buffer_text(&name), name.size);
	if (value != JSON_NONE)
		add_part(parts, tape, value - 1);
}

/* Add the arguments declared by the schema of @tool: the required ones, then the others in its
 * order. */
static void add_members(struct parts *parts, const struct tool *tool, const struct json_tape *tape)
{
	const char *text = tool->argument_schema ? tool->argument_schema : "true";
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	uint32_t required;
	uint32_t properties;

	if (json_tape_read(&schema, text, strlen(text), JSON_DOCUMENT_DEPTH_MAX, NULL) != 0 ||
		json_type_at(&schema, 0) != JSON_OBJECT)
		return;
	required = json_find_typed_at(&schema, 0, "required", JSON_ARRAY);
	json_each_found(i, &schema, required)
		add_declared(parts, tape, &schema, i);
	properties = json_find_typed_at(&schema, 0, "properties", JSON_OBJECT);
	json_each_key_found(key, &schema, properties)
		add_declared(parts, tape, &schema, key);
	parts->n_declared = parts->n;
}

static void take_parts(struct parts *parts, const struct tool *tool, const struct json_tape *tape)
{
	add_members(parts, tool, tape);
	json_each_key_while(parts->n < SHOWN_MAX, key, tape, 0)
		add_part(parts, tape, key);
}

/* Return the code points of @part when values are shortened to about @level. */
static size_t points_at(const struct part *part, size_t level)
{
	size_t points = part->points < level ? part->points : level;

	return points > part->least_points ? points : part->least_points;
}

/* Return the code points of the first @n of @items, with what separates them. */
static size_t sum_points(const struct part *items, size_t n, size_t level)
{
	size_t sum = n * SEPARATOR_POINTS;

	for (size_t i = 0; i < n; i++)
		sum += points_at(&items[i], level);
	return sum;
}

/* Append as many of the @n @items as fit in @room code points, each with @before and then ", "
 * before it. Long items are shortened, so shorter ones are whole. Return their number. */
static size_t write_parts(
	struct buffer *out, const struct part *items, size_t n, size_t room, const char *before)
{
	size_t level = 0;

	while (n > 0 && sum_points(items, n, 0) > room)
		n--;
	while (level < QUESTION_POINTS && sum_points(items, n, level + 1) <= room)
		level++;
	for (size_t i = 0; i < n; i++) {
		buffer_append_string(out, i == 0 ? before : ", ");
		buffer_fail_with(out, &items[i].text);
		append_cut(
			out, items[i].text.data, items[i].text.size, points_at(&items[i], level));
	}
	return n;
}

/* Append the members of the object @tape, in what is left from @start on, and how many there are
 * besides. Return whether all of them are there, and whole. */
static bool write_shown_arguments(
	struct buffer *out, const struct tool *tool, const struct json_tape *tape, size_t start)
{
	struct parts parts = {0};
	uint32_t n_all = json_count(tape, 0);
	size_t room = points_left(out, start);
	cleanup(buffer_deinit) struct buffer rest = {0};
	bool is_whole;
	size_t n;

	take_parts(&parts, tool, tape);
	is_whole =
		parts.n == n_all && sum_points(parts.items, parts.n, QUESTION_POINTS + 1) <= room;
	buffer_printf(&rest, " and %u more", n_all);
	room -= is_whole || room < rest.size ? 0 : rest.size;
	n = write_parts(out, parts.items, is_whole ? parts.n : parts.n_declared, room, " ");
	/* The others have the room left by the declared arguments. */
	room = points_left(out, start);
	if (!is_whole && n == parts.n_declared && room > rest.size)
		n += write_parts(
			out, &parts.items[n], parts.n - n, room - rest.size, n > 0 ? ", " : " ");
	if (n < n_all)
		buffer_printf(out, n > 0 ? " and %u more" : " %u arguments", n_all - (uint32_t)n);
	deinit_parts(&parts);
	return is_whole;
}

/* Append the sentence that the tool itself has for the question. Return false without one. Set
 * *ret_is_whole as question_write() returns it. */
static bool write_confirm(struct buffer *out, const struct tool *tool,
	const struct json_tape *arguments, struct text_view language, bool *ret_is_whole)
{
	struct spoken_values values = {.arguments = arguments};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer shown = {0};
	cleanup(buffer_deinit) struct buffer tag = {0};

	if (json_type_at(arguments, 0) != JSON_OBJECT ||
		!spoken_write(tool->spoken, SPOKEN_CONFIRM, language, &values, &text, &tag))
		return false;
	buffer_fail_with(out, &text);
	append_cut(out, text.data, text.size, QUESTION_POINTS);
	append_cut(&shown, text.data, text.size, QUESTION_POINTS + 1);
	*ret_is_whole = spoken_names_all(&values) && points_of(&shown) <= QUESTION_POINTS;
	return true;
}

bool question_write(struct buffer *out, const struct tool *tool, const struct json_tape *arguments,
	struct text_view language)
{
	size_t start = out->size;
	size_t sentence = first_sentence(tool->description);
	bool is_whole;

	if (write_confirm(out, tool, arguments, language, &is_whole))
		return is_whole;

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
		return write_shown_arguments(out, tool, arguments, start);
	buffer_append_string(out, " Its arguments are hidden.");
	return true;
}
