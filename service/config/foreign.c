/* SPDX-License-Identifier: Apache-2.0 */
#include "config/foreign.h"

#include <stdint.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"

/* The sections that we read: a mistake there may hide a restriction. */
static const char *const ours[] = {"toolboxd", "websocket"};

/* A place in a text that was read without a mistake up to there. */
struct place {
	size_t container; /* offset of the innermost bracket that is open */
	size_t section;   /* offset of the last key of the root; SIZE_MAX: none */
	unsigned int depth;
};

/* Return the offset after the string whose quote is at @at, at most @end. */
static size_t skip_string(const char *text, size_t at, size_t end)
{
	for (at++; at < end && text[at] != '"'; at++)
		at += text[at] == '\\';
	return at < end ? at + 1 : end;
}

static bool is_json_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Return whether the string that ends before @at is a key. */
static bool is_key(const char *text, size_t at, size_t end)
{
	while (at < end && is_json_space(text[at]))
		at++;
	return at < end && text[at] == ':';
}

/* Find the place of @offset. Return false where it is outside of the root or too deep. */
static bool locate_offset(const char *text, size_t size, size_t offset, struct place *ret_place)
{
	size_t open[JSON_DEPTH_DEFAULT];
	struct place place = {.section = SIZE_MAX};

	for (size_t at = 0; at < offset;) {
		char c = text[at];
		size_t next = c == '"' ? skip_string(text, at, size) : at + 1;

		if (c == '"' && place.depth == 1 && is_key(text, next, size))
			place.section = at;
		if (c == '{' || c == '[') {
			if (place.depth == JSON_DEPTH_DEFAULT)
				return false;
			open[place.depth++] = at;
		}
		if (c == '}' || c == ']') {
			if (place.depth == 0)
				return false;
			place.depth--;
		}
		at = next;
	}
	if (place.depth == 0)
		return false;
	place.container = open[place.depth - 1];
	*ret_place = place;
	return true;
}

/* Read the string at @at as a value of its own. Return whether the string is valid. */
static bool read_string_at(const char *text, size_t size, size_t at, struct json_tape *tape)
{
	size_t end = skip_string(text, at, size);

	return json_tape_read(tape, text + at, end - at, 1, NULL) == 0;
}

static bool is_ours(const char *text, size_t size, size_t key)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	/* A key that cannot be read is not taken for another program's. */
	if (!read_string_at(text, size, key, &tape))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (json_string_equals(&tape, 0, ours[i], strlen(ours[i])))
			return true;
	return false;
}

static void blank(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] != '\n')
			text[i] = ' ';
}

/* Blank the member of the object at @container that has the same key as the one at @again, with its
 * comma. Return whether there is one. */
static bool drop_first(char *text, size_t size, size_t container, size_t again)
{
	cleanup(json_tape_cleanup) struct json_tape wanted = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer name = {0};
	size_t first = SIZE_MAX;
	unsigned int depth = 0;

	if (!read_string_at(text, size, again, &wanted))
		return false;
	json_string_decode(&wanted, 0, &name);
	if (!buffer_terminate(&name))
		return false;
	for (size_t at = container + 1; at < again;) {
		char c = text[at];
		size_t next = c == '"' ? skip_string(text, at, size) : at + 1;

		if (c == '"' && depth == 0 && first == SIZE_MAX && is_key(text, next, size) &&
			read_string_at(text, size, at, &tape) &&
			json_string_equals(&tape, 0, name.data, name.size))
			first = at;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		if (c == ',' && depth == 0 && first != SIZE_MAX) {
			blank(text + first, next - first);
			return true;
		}
		at = next;
	}
	return false;
}

/* Put a number in the place of NaN, Infinity or -Infinity. Return whether one is at @at. */
static bool drop_word(char *text, size_t size, size_t at)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

	/* A value begins there. */
	if (at == 0 || (!is_json_space(text[at - 1]) && !strchr(",:[", text[at - 1])))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t length = strlen(words[i]);

		if (length > size - at || memcmp(text + at, words[i], length) != 0)
			continue;
		blank(text + at, length);
		text[at] = '0';
		return true;
	}
	return false;
}

/* Put U+FFFD in the place of the escape at @at. Return whether there is one. */
static bool drop_escape(char *text, size_t size, size_t at)
{
	if (size - at < strlen("\\ud800") || text[at] != '\\' || text[at + 1] != 'u')
		return false;
	memcpy(text + at + 2, "fffd", 4);
	return true;
}

const char *foreign_mend(struct buffer *text, const struct json_error *error)
{
	size_t at = error->offset;
	struct place place;
	bool is_root_key;

	if (at >= text->size || !locate_offset(text->data, text->size, at, &place))
		return NULL;
	is_root_key = place.depth == 1 && error->status == JSON_E_DUPLICATE_KEY;
	if (!is_root_key && place.section == SIZE_MAX)
		return NULL;
	if (is_ours(text->data, text->size, is_root_key ? at : place.section))
		return NULL;
	if (error->status == JSON_E_DUPLICATE_KEY)
		return drop_first(text->data, text->size, place.container, at)
			       ? "a key is repeated; its last value counts"
			       : NULL;
	if (error->status == JSON_E_SURROGATE)
		return drop_escape(text->data, text->size, at) ? "half of a surrogate pair" : NULL;
	/* The reader may have taken the sign. */
	if (error->status == JSON_E_SYNTAX &&
		(drop_word(text->data, text->size, at) ||
			(at > 0 && text->data[at - 1] == '-' &&
				drop_word(text->data, text->size, at - 1))))
		return "no number of JSON";
	return NULL;
}
