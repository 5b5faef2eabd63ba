/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * The reader that everything hostile goes through: one pass over the caller's bytes that checks all
 * of RFC 8259 (and I-JSON, RFC 7493, where it protects us) and leaves a flat tape of tokens that
 * point into those bytes.
 *
 *   text   {"a": [1, "x"], "b": null}
 *
 *   tape   0 OBJECT  next 7      a container is followed by its children; its `next` is the index
 *          1 STRING  next 2  a   behind its last descendant
 *          2 ARRAY   next 5      in an object, keys and values alternate: the value of the key at
 *          3 NUMBER  next 4  1   index k stands at k + 1, the next key at tokens[k + 1].next
 *          4 STRING  next 5  x
 *          5 STRING  next 6  b
 *          6 NULL    next 7
 *
 * Checked: the grammar, UTF-8 (no overlong forms, no surrogates), `\u` surrogates in pairs, nesting
 * depth, no duplicate key in an object (compared decoded), no NUL in a key, nothing but white space
 * behind the value. Numbers are checked as text and stay text until somebody asks for an exact i64
 * or u64, or a double. Nothing is allocated per token, and nothing at all on a tape that is used
 * again and was large enough before.
 *
 * The tape borrows the text: it must stay where it is, unchanged, as long as the tokens are used.
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

/* The most that `count` of a token can say; there the children have to be walked. */
#define JSON_COUNT_MAX 0xFFFFFFu

struct json_token {
	uint32_t offset; /* of the first byte: of a string, the one behind its quote */
	uint32_t length; /* in bytes: of a string, without quotes; of a container, with brackets */
	uint32_t next;   /* index of the token behind this one and all its descendants */
	uint32_t type : 4;   /* enum json_type */
	uint32_t flags : 4;  /* JSON_ESCAPED, … */
	uint32_t count : 24; /* array: elements; object: members; at most JSON_COUNT_MAX */
};

struct json_tape {
	const char *text; /* borrowed */
	size_t size;      /* of the text, in bytes */
	struct json_token *tokens;
	uint32_t count;    /* tokens in use; index 0 is the root */
	uint32_t capacity; /* tokens allocated */
};

/* Why a text was refused. Negative errno values are passed through: -ENOMEM. */
enum json_status {
	JSON_E_SYNTAX = 1,    /* not JSON */
	JSON_E_UTF8,          /* bytes that are not UTF-8 */
	JSON_E_SURROGATE,     /* a \u escape of half a surrogate pair */
	JSON_E_DEPTH,         /* more nested containers than asked for */
	JSON_E_DUPLICATE_KEY, /* a key twice in one object */
	JSON_E_NUL_IN_KEY,    /* a key that holds U+0000 */
	JSON_E_SIZE,          /* more than JSON_SIZE_MAX bytes */
	JSON_E_RANGE,         /* (numbers) does not fit the type asked for */
	JSON_E_NOT_INTEGER,   /* (numbers) has a fraction that is not zero */
};

/* Offsets are 32 bits wide. */
#define JSON_SIZE_MAX UINT32_C(0xFFFFFFF0)

/* The depth to ask for where no limit is configured: containers open at once. */
#define JSON_DEPTH_DEFAULT 128

/* No token: what a lookup that finds nothing returns (the root is never a member). */
#define JSON_NONE UINT32_C(0)

/* Where and why. @message is a constant: what was expected and what came, for a person. */
struct json_error {
	int status;    /* enum json_status */
	size_t offset; /* byte at which it was noticed */
	const char *message;
};

/*
 * Read @size bytes at @text into @tape (zeroed, or used before), with at most @depth_max containers
 * open at once. Returns 0, an enum json_status with @ret_error (may be NULL) filled, or -ENOMEM.
 * On failure the tape holds nothing. No byte outside [text, text + size) is read.
 */
int json_tape_read(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error);

/* Give the tokens back. The text is the caller's. */
void json_tape_deinit(struct json_tape *tape);

/* Line and column (both from 1; the column in bytes) of @offset in @text. */
void json_locate(const char *text, size_t offset, unsigned int *ret_line, unsigned int *ret_column);

/* The token at @index. */
static inline const struct json_token *json_at(const struct json_tape *tape, uint32_t index)
{
	return &tape->tokens[index];
}

static inline enum json_type json_type_at(const struct json_tape *tape, uint32_t index)
{
	return (enum json_type)tape->tokens[index].type;
}

/* The bytes of the token as they stand: of a string, what is between the quotes. */
static inline const char *json_bytes(const struct json_tape *tape, uint32_t index)
{
	return tape->text + tape->tokens[index].offset;
}

/* The bytes of the whole value as they stand, a string with its quotes; @ret_size their number. */
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

/* Elements of an array, members of an object, of any number. */
uint32_t json_count(const struct json_tape *tape, uint32_t index);

/* The value of the member @key (NUL-terminated, compared with the decoded key) of the object at
 * @object, or JSON_NONE. */
uint32_t json_find(const struct json_tape *tape, uint32_t object, const char *key);

/* As json_find, for a key of @size bytes. */
uint32_t json_find_sized(
	const struct json_tape *tape, uint32_t object, const char *key, size_t size);

/* Whether the string (or key) at @index, decoded, is the @size bytes at @text. */
bool json_string_equals(
	const struct json_tape *tape, uint32_t index, const char *text, size_t size);

/* Whether two strings, of any two tapes, are equal decoded. */
bool json_strings_equal(
	const struct json_tape *a_tape, uint32_t a, const struct json_tape *b_tape, uint32_t b);

/* Append the decoded string at @index to @out (see buffer_status). U+0000 may be in it. */
void json_string_decode(const struct json_tape *tape, uint32_t index, struct buffer *out);

/* The decoded string as a new NUL-terminated text that the caller frees; NULL without memory.
 * @ret_size (may be NULL) its length, which is the only way to see a U+0000 inside. */
char *json_string_dup(const struct json_tape *tape, uint32_t index, size_t *ret_size);

/* Code points in the decoded string at @index. */
size_t json_string_points(const struct json_tape *tape, uint32_t index);

/* Whether the number at @index is whole (3, 3.0, 1e2, of any size). */
bool json_number_is_integer(const struct json_tape *tape, uint32_t index);

/* The number at @index, exactly. 0, JSON_E_NOT_INTEGER, or JSON_E_RANGE. */
int json_number_i64(const struct json_tape *tape, uint32_t index, int64_t *ret);
int json_number_u64(const struct json_tape *tape, uint32_t index, uint64_t *ret);

/* The double (float) nearest to the number at @index; JSON_E_RANGE where that is infinite. */
int json_number_f64(const struct json_tape *tape, uint32_t index, double *ret);
int json_number_f32(const struct json_tape *tape, uint32_t index, float *ret);

/* The boolean at @index. */
static inline bool json_is_true(const struct json_tape *tape, uint32_t index)
{
	return json_type_at(tape, index) == JSON_TRUE;
}

/* "null", "boolean", "number", "string", "array", "object": the names of JSON Schema. */
const char *json_type_name(enum json_type type);

static inline void json_tape_cleanup(struct json_tape *tape)
{
	json_tape_deinit(tape);
}
