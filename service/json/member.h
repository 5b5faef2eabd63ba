/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "json/tape.h"
#include "util/text/text_view.h"

/* Members of objects, by their type. The @object JSON_NONE has no members: these functions do not
 * look into the root then. */

/* Return @index if its value is an object, else JSON_NONE. */
static inline uint32_t json_object_at(const struct json_tape *tape, uint32_t index)
{
	return json_type_at(tape, index) == JSON_OBJECT ? index : JSON_NONE;
}

/* Return the member @key of @object, which may be the root, if it has @type, else JSON_NONE. */
static inline uint32_t json_find_typed_at(
	const struct json_tape *tape, uint32_t object, const char *key, enum json_type type)
{
	uint32_t value = json_find(tape, object, key);

	return value != JSON_NONE && json_type_at(tape, value) == type ? value : JSON_NONE;
}

/* Return the member @key of @object if it has @type, else JSON_NONE. */
static inline uint32_t json_find_typed(
	const struct json_tape *tape, uint32_t object, const char *key, enum json_type type)
{
	return object != JSON_NONE ? json_find_typed_at(tape, object, key, type) : JSON_NONE;
}

/* Return the member @key of @object, where null counts as absent. */
static inline uint32_t json_find_present(
	const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = object != JSON_NONE ? json_find(tape, object, key) : JSON_NONE;

	return value != JSON_NONE && json_type_at(tape, value) == JSON_NULL ? JSON_NONE : value;
}

/* Return the member @key of the object at the root, where null counts as absent. */
static inline uint32_t json_find_root(const struct json_tape *tape, const char *key)
{
	uint32_t value = json_find(tape, 0, key);

	return value != JSON_NONE && json_type_at(tape, value) == JSON_NULL ? JSON_NONE : value;
}

/* Return the value at @index as it is in the text. */
static inline struct text_view json_value_view(const struct json_tape *tape, uint32_t index)
{
	struct text_view view;

	view.text = json_value_text(tape, index, &view.size);
	return view;
}

/* Return whether the member or element at @index is the string @text. The root is neither: its
 * index is JSON_NONE. */
static inline bool json_is_text(const struct json_tape *tape, uint32_t index, const char *text)
{
	return index != JSON_NONE && json_type_at(tape, index) == JSON_STRING &&
	       json_string_equals(tape, index, text, strlen(text));
}

/* Return whether the member @key of @object, which may be the root, is the string @text. */
static inline bool json_member_is(
	const struct json_tape *tape, uint32_t object, const char *key, const char *text)
{
	return json_is_text(tape, json_find(tape, object, key), text);
}

/* Return whether the member @key of @object, which may be the root, is true. */
static inline bool json_member_is_true(
	const struct json_tape *tape, uint32_t object, const char *key)
{
	return json_find_typed_at(tape, object, key, JSON_TRUE) != JSON_NONE;
}

/* Append the string at @index, a member, an element or JSON_NONE, to @out without its escapes.
 * Return whether there is a string. */
static inline bool json_read_text(const struct json_tape *tape, uint32_t index, struct buffer *out)
{
	if (index == JSON_NONE || json_type_at(tape, index) != JSON_STRING)
		return false;
	json_string_decode(tape, index, out);
	return true;
}

/* Return the place of the string at @index, a member or an element, in @words, which NULL ends;
 * -1: @words does not have it. */
static inline int json_word_at(
	const struct json_tape *tape, uint32_t index, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (json_is_text(tape, index, words[i]))
			return i;
	return -1;
}

/* Return whether the value at @index is the string @text, or an array with it. */
static inline bool json_has_text(const struct json_tape *tape, uint32_t index, const char *text)
{
	if (index == JSON_NONE || json_type_at(tape, index) != JSON_ARRAY)
		return json_is_text(tape, index, text);
	json_each(i, tape, index)
		if (json_is_text(tape, i, text))
			return true;
	return false;
}

/* Return whether the array at @array, which may be JSON_NONE, has the string at @string. */
static inline bool json_has_string(const struct json_tape *tape, uint32_t array, uint32_t string)
{
	json_each_found(i, tape, array)
		if (json_type_at(tape, i) == JSON_STRING &&
			json_strings_equal(tape, i, tape, string))
			return true;
	return false;
}

/* Return the text of the member @key, a string, of @object, which may be the root; the caller frees
 * the text. NULL without such a member, or when memory is short. */
static inline char *json_find_dup(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find_typed_at(tape, object, key, JSON_STRING);

	return value != JSON_NONE ? json_string_dup(tape, value, NULL) : NULL;
}
