/* SPDX-License-Identifier: Apache-2.0 */
#include "json/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/keys.h"
#include "json/refusal.h"
#include "json/runs.h"
#include "json/span.h"
#include "json/strings.h"

/*
 * One loop, no recursion; its places are the labels of read_values:
 *
 *             ┌───────── , ─────────┐                ┌────────── , ──────────┐
 *             ▼                     │                ▼                       │
 *         [ element ] ─ scalar ─▶ [ behind ]     [ member ] key : scalar ─▶ [ behind ]
 *          ▲  │ [ {                 │ ]           ▲  │ key : [ {             │ }
 *        [ │  ▼                     ▼           { │  ▼                       ▼
 *        [ open ] ◀─ the root     [ close ]     [ open ]                  [ close ]
 *
 * Close leads to the place behind the container, in whatever holds it, or, at the root, to the end.
 *
 * The stack is in the tape: `next` of a container that is still open holds the index of the one
 * around it. What the loop knows of a container in its own variables is put aside in fields that
 * have no meaning yet when another one opens inside it: the number of members in `count`, the keys
 * seen in `length` and in `next` of the key in front of the inner container.
 *
 * A text ends in the bracket that closes its root, if it is an object or an array at all. That byte
 * stops everything but strings and words, so on the way to it nobody asks whether the text is over;
 * the loop is compiled twice, once with that trust and once for all other texts (see peek).
 *
 * A key met twice is found by a Bloom filter of one word: a key whose bit is not set is new, the
 * others are compared with all before them. Past KEYS_COMPARED_MAX keys that would get slow, and
 * the object is checked when it closes (see keys.c).
 */

#define NEVER_INLINE __attribute__((noinline))

/* Not the index of any token: the container around the root. */
#define NOWHERE UINT32_MAX

#define KEYS_COMPARED_MAX 32

#define TOKENS_FIRST_CAPACITY 64

/* 2^32 divided by the golden ratio: neighbours end up far apart (Knuth, TAOCP 3, 6.4). */
#define KEY_SPREAD UINT32_C(0x9E3779B1)

/* The state of the loop. Its address goes only to functions that are inlined, so that it lives in
 * registers. */
struct reader {
	const char *text;
	const char *at;
	const char *end; /* behind the last byte that is not white space */
	struct json_token *tokens;
	uint32_t count;
	uint32_t capacity;
	uint32_t open;    /* index of the innermost open container, or NOWHERE */
	uint32_t members; /* of it, so far, with the current one */
	uint64_t seen;    /* Bloom filter of its keys */
	uint32_t depth_left;
	bool is_object; /* it is an object */
	bool is_closed; /* the text ends in a bracket; a constant wherever it is asked */
};

int json_tape_reserve(struct json_tape *tape, uint32_t used, size_t more)
{
	size_t capacity = tape->capacity ? tape->capacity : TOKENS_FIRST_CAPACITY;
	struct json_token *tokens;

	if (tape->capacity - used >= more)
		return 0;
	while (capacity - used < more)
		capacity *= 2;
	if (capacity > UINT32_MAX - 1)
		return -ENOMEM;
	tokens = realloc(tape->tokens, capacity * sizeof(*tokens));
	if (!tokens)
		return -ENOMEM;
	tape->tokens = tokens;
	tape->capacity = (uint32_t)capacity;
	return 0;
}

/* Room for one more token. */
static JSON_ALWAYS_INLINE int reserve_token(struct reader *r, struct json_tape *tape)
{
	int status;

	if (__builtin_expect(r->count < r->capacity, 1))
		return 0;
	status = json_tape_reserve(tape, r->count, 1);
	r->tokens = tape->tokens;
	r->capacity = tape->capacity;
	return status;
}

/* The next byte, or NUL at the end of the text: no NUL is allowed anywhere, so that needs no case
 * of its own until somebody has to say what is wrong. */
static JSON_ALWAYS_INLINE char peek(const struct reader *r, const char *at)
{
	return r->is_closed || at < r->end ? *at : (char)0;
}

/* Step over white space and peek: mostly there is none, or one space. */
static JSON_ALWAYS_INLINE char peek_token(struct reader *r)
{
	char c = peek(r, r->at);

	if ((unsigned char)c > ' ')
		return c;
	if (c == ' ') {
		c = peek(r, ++r->at);
		if ((unsigned char)c > ' ')
			return c;
	}
	r->at = json_span_space(r->at, r->end);
	return peek(r, r->at);
}

/* Step over the comma that is next, if one is. */
static JSON_ALWAYS_INLINE bool is_comma_next(struct reader *r)
{
	if (peek_token(r) != ',')
		return false;
	r->at++;
	return true;
}

/* Whether @c is '[' or '{', which differ in bit 0x20. */
static JSON_ALWAYS_INLINE bool is_opening(char c)
{
	return (c | 0x20) == '{';
}

static JSON_ALWAYS_INLINE struct json_token *put_token(
	struct reader *r, enum json_type type, const char *start, const char *end, uint32_t flags)
{
	struct json_token *token = &r->tokens[r->count++];

	*token = (struct json_token){
		.offset = (uint32_t)(start - r->text),
		.length = (uint32_t)(end - start),
		.next = r->count,
		.type = type,
		.flags = flags & 0xF,
	};
	return token;
}

/* Read the string whose opening quote is next; its token, or NULL. @ret_flags as of a token, and
 * JSON_SEEN_NUL. */
static JSON_ALWAYS_INLINE struct json_token *read_string(
	struct reader *r, uint32_t *ret_flags, struct json_fault *fault)
{
	const char *start = r->at + 1;
	const char *stop = json_span_plain(start, r->end);
	uint32_t flags = 0;

	if (__builtin_expect(stop == r->end || *stop != '"', 0)) {
		uint32_t rest_flags = 0; /* so that only this one has an address */

		stop = json_string_rest(stop, r->end, &rest_flags, fault);
		if (!stop)
			return NULL;
		flags = rest_flags;
	}
	r->at = stop + 1;
	*ret_flags = flags;
	return put_token(r, JSON_STRING, start, stop, flags);
}

/* A bit for a key, from its length and its first, middle and last byte. (Where an empty key would
 * have them stand its quotes.) */
static JSON_ALWAYS_INLINE uint64_t key_bit(const char *key, uint32_t length)
{
	uint32_t first = (unsigned char)key[0];
	uint32_t middle = (unsigned char)key[length / 2];
	uint32_t last = (unsigned char)key[(ptrdiff_t)length - 1];

	return UINT64_C(1) << ((first | middle << 8 | last << 16 | length << 24) * KEY_SPREAD >>
			       26);
}

/* Whether the key at @key was in the open object at @object before. */
static NEVER_INLINE bool is_key_known(
	const char *text, const struct json_token *tokens, uint32_t object, uint32_t key)
{
	for (uint32_t i = object + 1; i < key; i = tokens[i + 1].next)
		if (json_tokens_equal(text, &tokens[i], text, &tokens[key]))
			return true;
	return false;
}

/* Take note of the key that was just read; 0 or the refusal. */
static JSON_ALWAYS_INLINE int note_key(
	struct reader *r, const struct json_token *key, uint32_t flags, struct json_fault *fault)
{
	const char *start = r->text + key->offset;
	uint64_t bit = key_bit(start, key->length);

	/* Raw bytes of an escaped key say nothing about its value: it, and all after it, are
	 * compared. */
	if (__builtin_expect((flags & (JSON_ESCAPED | JSON_SEEN_NUL)) != 0, 0)) {
		if (flags & JSON_SEEN_NUL)
			return json_refuse(fault, JSON_E_NUL_IN_KEY, start - 1,
				"expected a key without U+0000, found one with it");
		r->seen = UINT64_MAX;
	}
	if (__builtin_expect((r->seen & bit) != 0, 0) && r->members <= KEYS_COMPARED_MAX &&
		is_key_known(r->text, r->tokens, r->open, r->count - 1))
		return json_refuse(fault, JSON_E_DUPLICATE_KEY, start - 1,
			"expected every key of an object once, found one again");
	r->seen |= bit;
	return 0;
}

/* Read the number that is next, if it is one; 0 or the refusal. */
static JSON_ALWAYS_INLINE int read_number(struct reader *r, struct json_fault *fault)
{
	const char *start = r->at;
	const char *digits = start + (*start == '-');
	const char *at = json_span_digits(digits, r->end);
	uint32_t flags = 0;

	if (at == digits)
		goto refused;
	if (*digits == '0' && at - digits > 1) {
		at = digits + 1;
		goto refused;
	}
	if (peek(r, at) == '.') {
		flags = JSON_FRACTION;
		digits = at + 1;
		at = json_span_digits(digits, r->end);
		if (at == digits)
			goto refused;
	}
	if ((peek(r, at) | 0x20) == 'e') {
		flags = JSON_FRACTION;
		digits = at + 1;
		digits += peek(r, digits) == '+' || peek(r, digits) == '-';
		at = json_span_digits(digits, r->end);
		if (at == digits)
			goto refused;
	}
	put_token(r, JSON_NUMBER, start, at, flags);
	r->at = at;
	return 0;
refused:
	return json_refuse(fault, JSON_E_SYNTAX, at,
		at == start ? json_refusal_value(r->text, at, r->end)
			    : json_refusal_number(start, at, r->end));
}

/* Read the word that is next, if it is @word. */
static JSON_ALWAYS_INLINE bool read_word(
	struct reader *r, enum json_type type, const char *word, size_t size)
{
	if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
		return false;
	put_token(r, type, r->at, r->at + size, 0);
	r->at += size;
	return true;
}

/* Read the scalar that starts with @c, the next byte; 0 or the refusal. */
static JSON_ALWAYS_INLINE int read_scalar(
	struct reader *r, struct json_tape *tape, char c, struct json_fault *fault)
{
	uint32_t flags;
	int status = reserve_token(r, tape);

	if (status != 0)
		return status;
	if (c == '"')
		return read_string(r, &flags, fault) ? 0 : fault->status;
	/* '-', '.', '/', and the digits: one comparison, since nobody foresees a sign. */
	if ((unsigned char)(c - '-') <= '9' - '-')
		return read_number(r, fault);
	if ((c == 't' && read_word(r, JSON_TRUE, "true", 4)) ||
		(c == 'f' && read_word(r, JSON_FALSE, "false", 5)) ||
		(c == 'n' && read_word(r, JSON_NULL, "null", 4)))
		return 0;
	return json_refuse(fault, JSON_E_SYNTAX, r->at, json_refusal_value(r->text, r->at, r->end));
}

static uint32_t clip_count(uint32_t members)
{
	return members < JSON_COUNT_MAX ? members : JSON_COUNT_MAX;
}

/* Step into the container whose bracket is next; 0 or the refusal. */
static JSON_ALWAYS_INLINE int open_container(
	struct reader *r, struct json_tape *tape, bool is_object, struct json_fault *fault)
{
	uint32_t index = r->count;
	int status = reserve_token(r, tape);

	if (status != 0)
		return status;
	if (r->depth_left == 0)
		return json_refuse(fault, JSON_E_DEPTH, r->at,
			"expected fewer nested arrays and objects, found one level too many");
	r->depth_left--;
	if (r->open != NOWHERE) {
		r->tokens[r->open].count = clip_count(r->members) & JSON_COUNT_MAX;
		r->tokens[r->open].length = (uint32_t)r->seen;
		if (r->is_object)
			r->tokens[index - 1].next = (uint32_t)(r->seen >> 32);
	}
	put_token(r, is_object ? JSON_OBJECT : JSON_ARRAY, r->at, r->at, 0)->next = r->open;
	r->at++;
	r->open = index;
	r->is_object = is_object;
	r->members = 0;
	r->seen = 0;
	return 0;
}

/* Step out of the container whose closing bracket is next. */
static JSON_ALWAYS_INLINE void close_container(struct reader *r)
{
	uint32_t index = r->open;
	struct json_token *token = &r->tokens[index];

	r->at++;
	r->depth_left++;
	r->open = token->next;
	token->length = (uint32_t)(r->at - r->text) - token->offset;
	token->count = clip_count(r->members) & JSON_COUNT_MAX;
	token->next = r->count;
	if (r->open == NOWHERE)
		return;
	r->members = r->tokens[r->open].count;
	r->is_object = r->tokens[r->open].type == JSON_OBJECT;
	if (r->is_object) {
		r->seen = (uint64_t)r->tokens[index - 1].next << 32 | r->tokens[r->open].length;
		r->tokens[index - 1].next = index;
	}
}

/* Check the keys of the object at @object, the last value read; 0 or the refusal. */
static NEVER_INLINE int check_keys(
	struct json_tape *tape, uint32_t used, uint32_t object, struct json_fault *fault)
{
	uint32_t duplicate;
	int status = json_keys_check(tape, used, object, &duplicate);

	if (status != 0 || duplicate == JSON_NONE)
		return status;
	return json_refuse(fault, JSON_E_DUPLICATE_KEY, json_bytes(tape, duplicate) - 1,
		"expected every key of an object once, found one again");
}

static JSON_ALWAYS_INLINE int refuse_comma(const struct reader *r, struct json_fault *fault)
{
	enum json_type container = r->is_object ? JSON_OBJECT : JSON_ARRAY;

	return json_refuse(
		fault, JSON_E_SYNTAX, r->at, json_refusal_comma(container, r->at, r->end));
}

/* Close the container whose bracket is next, and check it as a whole; 0 or the refusal. */
static JSON_ALWAYS_INLINE int leave_container(
	struct reader *r, struct json_tape *tape, struct json_fault *fault)
{
	bool has_many_keys = r->is_object && r->members > KEYS_COMPARED_MAX;
	uint32_t index = r->open;
	int status = 0;

	close_container(r);
	if (has_many_keys) {
		status = check_keys(tape, r->count, index, fault);
		r->tokens = tape->tokens;
		r->capacity = tape->capacity;
	}
	/* The only place where a text that ends in a bracket can end too early. */
	if (status == 0 && r->at == r->end && r->open != NOWHERE)
		status = refuse_comma(r, fault);
	return status;
}

/* Read a key and its colon; 0 or the refusal. */
static JSON_ALWAYS_INLINE int read_key(
	struct reader *r, struct json_tape *tape, struct json_fault *fault)
{
	const struct json_token *key;
	uint32_t flags;
	int status;

	if (peek_token(r) != '"')
		return json_refuse(fault, JSON_E_SYNTAX, r->at, json_refusal_key(r->at, r->end));
	status = reserve_token(r, tape);
	if (status != 0)
		return status;
	key = read_string(r, &flags, fault);
	if (!key)
		return fault->status;
	status = note_key(r, key, flags, fault);
	if (status != 0)
		return status;
	if (peek_token(r) != ':')
		return json_refuse(fault, JSON_E_SYNTAX, r->at, json_refusal_colon(r->at, r->end));
	r->at++;
	return 0;
}

/* 0 when nothing is left of the text, else the refusal. */
static JSON_ALWAYS_INLINE int finish(const struct reader *r, struct json_fault *fault)
{
	if (r->at == r->end)
		return 0;
	return json_refuse(fault, JSON_E_SYNTAX, json_span_space(r->at, r->end),
		"expected the end of the text after the value, found more");
}

/* The loop. @r is a copy with is_closed a constant. */
static JSON_ALWAYS_INLINE int read_values(
	struct reader r, struct json_tape *tape, struct json_fault *fault)
{
	char c = peek_token(&r);
	int status;

	if (!is_opening(c)) {
		status = read_scalar(&r, tape, c, fault);
		goto done;
	}
open:
	status = open_container(&r, tape, c == '{', fault);
	if (status != 0)
		return status;
	if (peek_token(&r) == (c == '{' ? '}' : ']'))
		goto close;
	if (c == '{')
		goto member;
element:
	r.members++;
	c = peek_token(&r);
	if (is_opening(c))
		goto open;
	status = read_scalar(&r, tape, c, fault);
	if (status != 0)
		return status;
behind_element:
	if (is_comma_next(&r))
		goto element;
	if (peek(&r, r.at) != ']')
		return refuse_comma(&r, fault);
	goto close;
member:
	r.members++;
	status = read_key(&r, tape, fault);
	if (status != 0)
		return status;
	c = peek_token(&r);
	if (is_opening(c))
		goto open;
	status = read_scalar(&r, tape, c, fault);
	if (status != 0)
		return status;
behind_member:
	if (is_comma_next(&r))
		goto member;
	if (peek(&r, r.at) != '}')
		return refuse_comma(&r, fault);
close:
	status = leave_container(&r, tape, fault);
	if (status == 0 && r.open != NOWHERE) {
		if (r.is_object)
			goto behind_member;
		goto behind_element;
	}
done:
	if (status == 0)
		status = finish(&r, fault);
	tape->count = status == 0 ? r.count : 0;
	return status;
}

static NEVER_INLINE int read_closed(
	struct reader reader, struct json_tape *tape, struct json_fault *fault)
{
	reader.is_closed = true;
	return read_values(reader, tape, fault);
}

static NEVER_INLINE int read_other(
	struct reader reader, struct json_tape *tape, struct json_fault *fault)
{
	reader.is_closed = false;
	return read_values(reader, tape, fault);
}

static int read_text(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_fault *fault)
{
	struct reader reader = {
		.text = text,
		.at = text,
		.end = text + size,
		.tokens = tape->tokens,
		.capacity = tape->capacity,
		.open = NOWHERE,
		.depth_left = depth_max,
	};

	if (size > JSON_SIZE_MAX)
		return json_refuse(fault, JSON_E_SIZE, text, "expected a text of less than 4 GiB");
	while (reader.end > text && json_is_space((unsigned char)reader.end[-1]))
		reader.end--;
	if (reader.end > text && (reader.end[-1] == '}' || reader.end[-1] == ']'))
		return read_closed(reader, tape, fault);
	return read_other(reader, tape, fault);
}

int json_tape_read(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error)
{
	struct json_fault fault = {.at = text};
	int status;

	tape->text = text;
	tape->size = size;
	tape->count = 0;
	status = read_text(tape, text, size, depth_max, &fault);
	if (status == 0)
		return 0;
	tape->text = NULL;
	tape->size = 0;
	if (status > 0 && ret_error)
		*ret_error = (struct json_error){
			.status = status,
			.offset = (size_t)(fault.at - text),
			.message = fault.message,
		};
	return status;
}

void json_tape_deinit(struct json_tape *tape)
{
	free(tape->tokens);
	*tape = (struct json_tape){0};
}

void json_locate(const char *text, size_t offset, unsigned int *ret_line, unsigned int *ret_column)
{
	const char *line_start = text;
	unsigned int line = 1;

	for (const char *at = text; at < text + offset; at++) {
		if (*at != '\n')
			continue;
		line++;
		line_start = at + 1;
	}
	*ret_line = line;
	*ret_column = (unsigned int)(text + offset - line_start) + 1;
}
