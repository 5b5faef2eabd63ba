/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * A tape: the flat list of the tokens of one JSON text, made by the reader (json/reader.h).
 *
 *   text   {"a": [1, "x"], "b": null}
 *
 *   tape   0 OBJECT  next 7      a container is followed by its children; its `next` is the index
 *          1 STRING  next 2  a   after its last descendant
 *          2 ARRAY   next 5      in an object, keys and values alternate: the value of the key at
 *          3 NUMBER  next 4  1   index k is at k + 1, the next key at tokens[k + 1].next
 *          4 STRING  next 5  x
 *          5 STRING  next 6  b
 *          6 NULL    next 7
 *
 * Tokens point into the text, which the tape borrows: the text must stay where it is, unchanged, as
 * long as the tokens are used. Numbers stay text until a caller asks for one (json/number.h).
 *
 * All functions but json_tape_deinit() take an @index below tape->count.
 */

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Flags of a token. */
#define JSON_ESCAPED   0x1u /* string: holds a backslash, so its bytes are not its value */
#define JSON_NON_ASCII 0x2u /* string: holds bytes above 0x7F (escapes not counted) */
#define JSON_FRACTION  0x4u /* number: has a '.' or an exponent */

/* The largest `count` of a token; a container with this count has at least as many children. */
#define JSON_COUNT_MAX 0xFFFFFFu

struct json_token {
	uint32_t offset; /* offset of the first byte; for a string, of the one after its quote */
	uint32_t length; /* in bytes: of a string, without quotes; of a container, with brackets */
	uint32_t next;   /* index of the token after this one and all its descendants */
	uint32_t type : 4;   /* enum json_type */
	uint32_t flags : 4;  /* JSON_ESCAPED, … */
	uint32_t count : 24; /* array: elements; object: members; at most JSON_COUNT_MAX */
};

/* Zero it before use; free it with json_tape_deinit(). */
struct json_tape {
	const char *text; /* borrowed */
	size_t size;      /* size of the text, in bytes */
	struct json_token *tokens;
	uint32_t count;      /* tokens in use; index 0 is the root */
	uint32_t capacity;   /* tokens allocated */
	uint32_t tokens_max; /* a text with more is refused by the reader; 0: there is no bound */
	uint64_t absent;     /* bits of keys (json_key_bit) that the root object does not have */
};

/* The index of no token, returned when a lookup finds nothing: the root is never a member. */
#define JSON_NONE UINT32_C(0)

/* Make room for @more tokens after the first @used tokens, which are kept; tape->tokens may move. 0
 * or -ENOMEM. */
int json_tape_reserve(struct json_tape *tape, uint32_t used, size_t more);

/* Free the tokens. The text belongs to the caller. */
void json_tape_deinit(struct json_tape *tape);

/* Empty the tape, and free its memory if it has room for more than @kept_tokens: one large text
 * must not keep its memory for ever. */
void json_tape_recycle(struct json_tape *tape, uint32_t kept_tokens);

/* Let the tape hold an object without members. 0 or -ENOMEM. */
int json_tape_set_empty(struct json_tape *tape);

/* Return the token at @index. */
static inline const struct json_token *json_at(const struct json_tape *tape, uint32_t index)
{
	return &tape->tokens[index];
}

static inline enum json_type json_type_at(const struct json_tape *tape, uint32_t index)
{
	return (enum json_type)tape->tokens[index].type;
}

/* Return the raw bytes of the token in the text: of a string, the bytes between the quotes. */
static inline const char *json_bytes(const struct json_tape *tape, uint32_t index)
{
	return tape->text + tape->tokens[index].offset;
}

/* Return the @ret_size bytes of the whole value as they are in the text, a string with its quotes.
 */
const char *json_value_text(const struct json_tape *tape, uint32_t index, size_t *ret_size);

/* Children of the array or object at @index: walk an array with
 *   for (i = json_first(t, a); i < json_end(t, a); i = json_next(t, i))
 * and an object with i = json_next_key(t, i), the value being i + 1. */
static inline uint32_t json_first(const struct json_tape *tape, uint32_t index)
{
	(void)tape;
	return index + 1;
}

static inline uint32_t json_end(const struct json_tape *tape, uint32_t index)
{
	return tape->tokens[index].next;
}

static inline uint32_t json_next(const struct json_tape *tape, uint32_t index)
{
	return tape->tokens[index].next;
}

static inline uint32_t json_next_key(const struct json_tape *tape, uint32_t key)
{
	return tape->tokens[key + 1].next;
}

/* Walk the elements of the array at @array: @i, which the macro declares, is the token of each. */
#define json_each(i, tape, array)                                                                  \
	for (uint32_t i = json_first(tape, array), end_of_##i = json_end(tape, array);             \
		i < end_of_##i; i = json_next(tape, i))

/* Walk the members of the object at @object: @key, which the macro declares, is the token of each
 * key, and @key + 1 the token of its value. */
#define json_each_key(key, tape, object)                                                           \
	for (uint32_t key = json_first(tape, object), end_of_##key = json_end(tape, object);       \
		key < end_of_##key; key = json_next_key(tape, key))

/* The same as long as @test is true. When it is false at once, @tape may be empty. */
#define json_each_while(test, i, tape, array)                                                      \
	for (uint32_t i = json_first(tape, array); (test) && i < json_end(tape, array);            \
		i = json_next(tape, i))
#define json_each_key_while(test, key, tape, object)                                               \
	for (uint32_t key = json_first(tape, object); (test) && key < json_end(tape, object);      \
		key = json_next_key(tape, key))

/* The same for a looked-up array or object: JSON_NONE is empty. */
#define json_each_found(i, tape, array) json_each_while((array) != JSON_NONE, i, tape, array)
#define json_each_key_found(key, tape, object)                                                     \
	json_each_key_while((object) != JSON_NONE, key, tape, object)
#define json_each_found_while(test, i, tape, array)                                                \
	json_each_while((array) != JSON_NONE && (test), i, tape, array)

/* Return the number of elements of the array, or of members of the object, at @index. */
uint32_t json_count(const struct json_tape *tape, uint32_t index);

/* Return a bit for the key @key of @length bytes, from its length and its first, middle and last
 * byte. (An empty key has its quotes there.) */
static inline uint64_t json_key_bit(const char *key, uint32_t length)
{
	uint32_t first = (unsigned char)key[0];
	uint32_t middle = (unsigned char)key[length / 2];
	uint32_t last = (unsigned char)key[(ptrdiff_t)length - 1];

	/* 2^32 divided by the golden ratio: neighbours end up far apart (Knuth, TAOCP 3, 6.4). */
	return UINT64_C(1) << ((first | middle << 8 | last << 16 | length << 24) *
				       UINT32_C(0x9E3779B1) >>
			       26);
}

/* Return the value of the member @key, of @size bytes (compared with the decoded key), of the
 * object at @object, or JSON_NONE; any other value has no members. */
uint32_t json_find_sized(
	const struct json_tape *tape, uint32_t object, const char *key, size_t size);

/* As json_find_sized(), for a NUL-terminated key. The compiler counts the length of a constant, and
 * makes its bit: most fields of a message are absent, which is seen at once. */
static inline uint32_t json_find(const struct json_tape *tape, uint32_t object, const char *key)
{
	size_t size = strlen(key);

	if (object == 0 && size > 0 && (tape->absent & json_key_bit(key, (uint32_t)size)))
		return JSON_NONE;
	return json_find_sized(tape, object, key, size);
}

/* Return whether the string (or key) at @index, decoded, equals the @size bytes at @text. */
bool json_string_equals(
	const struct json_tape *tape, uint32_t index, const char *text, size_t size);

/* Return whether two strings, of any two tapes, are equal when decoded. */
bool json_strings_equal(
	const struct json_tape *a_tape, uint32_t a, const struct json_tape *b_tape, uint32_t b);

/* Append the decoded string at @index, perhaps with U+0000, to @out (see buffer_status). */
void json_string_decode(const struct json_tape *tape, uint32_t index, struct buffer *out);

/* Return the decoded string as a new NUL-terminated text, which the caller frees; NULL without
 * memory. @ret_size (may be NULL) gets its length, the only way to see a U+0000 inside. */
char *json_string_dup(const struct json_tape *tape, uint32_t index, size_t *ret_size);

/* Return the number of code points of the decoded string at @index. */
size_t json_string_points(const struct json_tape *tape, uint32_t index);

/* Return whether the value at @index has more than @depth_max levels of arrays and objects. */
bool json_is_deeper(const struct json_tape *tape, uint32_t index, uint32_t depth_max);

/* Return whether the value at @index is `true`. */
static inline bool json_is_true(const struct json_tape *tape, uint32_t index)
{
	return json_type_at(tape, index) == JSON_TRUE;
}

/* Return "null", "boolean", "number", "string", "array" or "object": the names of JSON Schema. */
const char *json_type_name(enum json_type type);

static inline void json_tape_cleanup(struct json_tape *tape)
{
	json_tape_deinit(tape);
}
