/* SPDX-License-Identifier: Apache-2.0 */
#include "json/reader.h"

#include <string.h>

#include "json/keys.h"
#include "json/refusal.h"
#include "json/runs.h"
#include "json/span.h"
#include "json/strings.h"

_Static_assert(JSON_SIZE_MAX < UINT64_C(4) << 30, "as the refusal has it");

/*
 * One loop, no recursion; its places are the labels of read_values:
 *
 *             ┌───────── , ─────────┐                ┌────────── , ──────────┐
 *             ▼                     │                ▼                       │
 *         [ element ] ─ scalar ─▶ [ after  ]     [ member ] key : scalar ─▶ [ after  ]
 *          ▲  │ [ {                 │ ]           ▲  │ key : [ {             │ }
 *        [ │  ▼                     ▼           { │  ▼                       ▼
 *        [ open ] ◀─ the root     [ close ]     [ open ]                  [ close ]
 *
 * Close leads to the place after the container, in the container around it, or, at the root, to the
 * end.
 *
 * The stack is in the tape: `next` of a still open container holds the index of the one around it.
 * When another container opens inside it, the loop saves its variables in fields without a meaning
 * so far: the number of members in `count`, the keys seen in `length` and in `next` of the key
 * before the inner container.
 *
 * A text ends in the closing bracket of its root, if the root is an object or an array. This byte
 * stops all runs but strings and words, so before it the loop need not ask whether the text is
 * over. So does the bracket of an object around the root, where more text follows
 * (json_tape_read_object). The loop is compiled twice, once with this trust and once for all other
 * texts (see peek). With the careful copy alone, messages and objects take 6 to 8 % more
 * instructions.
 *
 * A Bloom filter of one word finds a repeated key: a key whose bit is not set is new, and the
 * others are compared with all before them. Without it, messages take 42 % more instructions, and
 * objects of 30 keys 3.5 times as many. With more than KEYS_COMPARED_MAX keys that would be slow;
 * such an object is checked when it closes (see keys.c).
 */

#define NEVER_INLINE __attribute__((noinline))

/* Not the index of any token: the container around the root. */
#define NOWHERE UINT32_MAX

#define KEYS_COMPARED_MAX 32

/* The state of the loop. Its address goes only to inlined functions, so the state lives in
 * registers. */
struct reader {
	const char *text;
	const char *at;
	const char *end; /* after the last byte other than white space */
	struct json_token *tokens;
	uint32_t count;
	uint32_t capacity;
	uint32_t open;    /* index of the innermost open container, or NOWHERE */
	uint32_t members; /* its members so far, with the current one */
	uint64_t seen;    /* Bloom filter of its keys */
	uint32_t depth_left;
	bool is_object; /* it is an object */
	bool is_lax;    /* see json_tape_read_lax() */
	bool has_more;  /* see json_tape_read_object() */
	bool is_closed; /* the text ends in a bracket; a constant wherever it is asked */
};

/* Return the number of tokens for the present memory of @tape. */
static JSON_ALWAYS_INLINE uint32_t usable_capacity(const struct json_tape *tape)
{
	bool is_bound = tape->tokens_max > 0 && tape->tokens_max < tape->capacity;

	return is_bound ? tape->tokens_max : tape->capacity;
}

/* Make room for the token at @at, the first without room; 0 or the refusal. */
static NEVER_INLINE int grow_tape(
	struct json_tape *tape, uint32_t count, const char *at, struct json_fault *fault)
{
	if (tape->tokens_max > 0 && count >= tape->tokens_max)
		return json_refuse(
			fault, JSON_E_TOKENS, at, "expected fewer values, found one too many");
	return json_tape_reserve(tape, count, 1);
}

/* Room for one more token. */
static JSON_ALWAYS_INLINE int reserve_token(
	struct reader *reader, struct json_tape *tape, struct json_fault *fault)
{
	int r;

	if (__builtin_expect(reader->count < reader->capacity, 1))
		return 0;
	r = grow_tape(tape, reader->count, reader->at, fault);
	reader->tokens = tape->tokens;
	reader->capacity = usable_capacity(tape);
	return r;
}

/* Return the next byte, or NUL at the end of the text. No NUL is allowed anywhere, so the end needs
 * no case of its own until an error is reported. */
static JSON_ALWAYS_INLINE char peek(const struct reader *reader, const char *at)
{
	if (reader->is_closed || at < reader->end)
		return *at;
	return '\0';
}

/* Step over white space and peek: mostly there is none, or one space. */
static JSON_ALWAYS_INLINE char peek_token(struct reader *reader)
{
	char c = peek(reader, reader->at);

	if ((unsigned char)c > ' ')
		return c;
	if (c == ' ') {
		c = peek(reader, ++reader->at);
		if ((unsigned char)c > ' ')
			return c;
	}
	reader->at = json_span_space(reader->at, reader->end);
	return peek(reader, reader->at);
}

/* Step over a comma, if there is one. */
static JSON_ALWAYS_INLINE bool is_comma_next(struct reader *reader)
{
	if (peek_token(reader) != ',')
		return false;
	reader->at++;
	return true;
}

/* Whether @c is '[' or '{', which differ in bit 0x20. */
static JSON_ALWAYS_INLINE bool is_opening(char c)
{
	return (c | 0x20) == '{';
}

static JSON_ALWAYS_INLINE struct json_token *put_token(struct reader *reader, enum json_type type,
	const char *start, const char *end, uint32_t flags)
{
	struct json_token *token = &reader->tokens[reader->count++];

	*token = (struct json_token){
		.offset = (uint32_t)(start - reader->text),
		.length = (uint32_t)(end - start),
		.next = reader->count,
		.type = type,
		.flags = flags & 0xF,
	};
	return token;
}

/* Read the string at its opening quote; its token, or NULL. @ret_flags as of a token, and
 * JSON_SEEN_NUL. */
static JSON_ALWAYS_INLINE struct json_token *read_string(
	struct reader *reader, uint32_t *ret_flags, struct json_fault *fault)
{
	const char *start = reader->at + 1;
	const char *stop = json_span_plain(start, reader->end);
	uint32_t flags = 0;

	if (__builtin_expect(stop == reader->end || *stop != '"', 0)) {
		/* so only this copy has an address */
		uint32_t rest_flags = reader->is_lax ? JSON_TAKE_HALVES : 0;

		stop = json_string_rest(stop, reader->end, &rest_flags, fault);
		if (!stop)
			return NULL;
		flags = rest_flags;
	}
	reader->at = stop + 1;
	*ret_flags = flags;
	return put_token(reader, JSON_STRING, start, stop, flags);
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

/* Refuse the key at @key as the second of its object; a lax reader only notes it. */
static NEVER_INLINE int refuse_twice(bool is_lax, const char *key, struct json_fault *fault)
{
	int r = json_refuse(fault, JSON_E_DUPLICATE_KEY, key - 1,
		"expected every key of an object once, found one again");

	return is_lax ? 0 : r;
}

/* Take note of the key just read; 0 or the refusal. */
static JSON_ALWAYS_INLINE int note_key(struct reader *reader, const struct json_token *key,
	uint32_t flags, struct json_fault *fault)
{
	const char *start = reader->text + key->offset;
	uint64_t bit = json_key_bit(start, key->length);

	/* Raw bytes of an escaped key do not show its value: this key, and all keys after it, are
	 * compared. */
	if (__builtin_expect((flags & (JSON_ESCAPED | JSON_SEEN_NUL)) != 0, 0)) {
		if ((flags & JSON_SEEN_NUL) && !reader->is_lax)
			return json_refuse(fault, JSON_E_NUL_IN_KEY, start - 1,
				"expected a key without U+0000, found U+0000 in a key");
		reader->seen = UINT64_MAX;
	}
	if (__builtin_expect((reader->seen & bit) != 0, 0) &&
		reader->members <= KEYS_COMPARED_MAX &&
		is_key_known(reader->text, reader->tokens, reader->open, reader->count - 1))
		return refuse_twice(reader->is_lax, start, fault);
	reader->seen |= bit;
	return 0;
}

/* Read the next word, if it is @word. */
static JSON_ALWAYS_INLINE bool read_word(
	struct reader *reader, enum json_type type, const char *word, size_t size)
{
	if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
		return false;
	put_token(reader, type, reader->at, reader->at + size, 0);
	reader->at += size;
	return true;
}

/* Read a number outside of JSON, if the reader is lax. */
static JSON_ALWAYS_INLINE bool read_no_number(struct reader *reader)
{
	return reader->is_lax && (read_word(reader, JSON_NULL, "NaN", 3) ||
					 read_word(reader, JSON_NULL, "Infinity", 8) ||
					 read_word(reader, JSON_NULL, "-Infinity", 9));
}

/* Read the number, if there is one; 0 or the refusal. */
static JSON_ALWAYS_INLINE int scan_number(struct reader *reader, struct json_fault *fault)
{
	const char *start = reader->at;
	const char *digits = start + (*start == '-');
	const char *at = json_span_digits(digits, reader->end);
	uint32_t flags = 0;

	if (at == digits)
		goto refused;
	if (*digits == '0' && at - digits > 1) {
		at = digits + 1;
		goto refused;
	}
	if (peek(reader, at) == '.') {
		flags = JSON_FRACTION;
		digits = at + 1;
		at = json_span_digits(digits, reader->end);
		if (at == digits)
			goto refused;
	}
	if ((peek(reader, at) | 0x20) == 'e') {
		flags = JSON_FRACTION;
		digits = at + 1;
		digits += peek(reader, digits) == '+' || peek(reader, digits) == '-';
		at = json_span_digits(digits, reader->end);
		if (at == digits)
			goto refused;
	}
	put_token(reader, JSON_NUMBER, start, at, flags);
	reader->at = at;
	return 0;
refused:
	if (read_no_number(reader))
		return 0;
	return json_refuse(fault, JSON_E_SYNTAX, at,
		at == start ? json_refusal_value(reader->text, at, reader->end)
			    : json_refusal_number(start, at, reader->end));
}

/* Read the scalar that starts with @c, the next byte; 0 or the refusal. */
static JSON_ALWAYS_INLINE int read_scalar(
	struct reader *reader, struct json_tape *tape, char c, struct json_fault *fault)
{
	uint32_t flags;
	int r = reserve_token(reader, tape, fault);

	if (r != 0)
		return r;
	if (c == '"')
		return read_string(reader, &flags, fault) ? 0 : fault->status;
	/* '-', '.', '/', and the digits: one comparison, since a sign cannot be predicted. */
	if ((unsigned char)(c - '-') <= '9' - '-')
		return scan_number(reader, fault);
	if ((c == 't' && read_word(reader, JSON_TRUE, "true", 4)) ||
		(c == 'f' && read_word(reader, JSON_FALSE, "false", 5)) ||
		(c == 'n' && read_word(reader, JSON_NULL, "null", 4)) || read_no_number(reader))
		return 0;
	return json_refuse(fault, JSON_E_SYNTAX, reader->at,
		json_refusal_value(reader->text, reader->at, reader->end));
}

static uint32_t clip_count(uint32_t members)
{
	return members < JSON_COUNT_MAX ? members : JSON_COUNT_MAX;
}

/* Step into the container at its bracket; 0 or the refusal. */
static JSON_ALWAYS_INLINE int open_container(
	struct reader *reader, struct json_tape *tape, bool is_object, struct json_fault *fault)
{
	uint32_t index = reader->count;
	int r = reserve_token(reader, tape, fault);

	if (r != 0)
		return r;
	if (reader->depth_left == 0)
		return json_refuse(fault, JSON_E_DEPTH, reader->at,
			"expected fewer nested arrays and objects, found one level too many");
	reader->depth_left--;
	if (reader->open != NOWHERE) {
		reader->tokens[reader->open].count = clip_count(reader->members) & JSON_COUNT_MAX;
		reader->tokens[reader->open].length = (uint32_t)reader->seen;
		if (reader->is_object)
			reader->tokens[index - 1].next = (uint32_t)(reader->seen >> 32);
	}
	put_token(reader, is_object ? JSON_OBJECT : JSON_ARRAY, reader->at, reader->at, 0)->next =
		reader->open;
	reader->at++;
	reader->open = index;
	reader->is_object = is_object;
	reader->members = 0;
	reader->seen = 0;
	return 0;
}

/* Step out of the container at its closing bracket. */
static JSON_ALWAYS_INLINE void close_container(struct reader *reader)
{
	uint32_t index = reader->open;
	struct json_token *token = &reader->tokens[index];

	reader->at++;
	reader->depth_left++;
	reader->open = token->next;
	token->length = (uint32_t)(reader->at - reader->text) - token->offset;
	token->count = clip_count(reader->members) & JSON_COUNT_MAX;
	token->next = reader->count;
	if (reader->open == NOWHERE)
		return;
	reader->members = reader->tokens[reader->open].count;
	reader->is_object = reader->tokens[reader->open].type == JSON_OBJECT;
	if (reader->is_object) {
		reader->seen = (uint64_t)reader->tokens[index - 1].next << 32 |
			       reader->tokens[reader->open].length;
		reader->tokens[index - 1].next = index;
	}
}

/* Check the keys of the object at @object, the last value read; 0 or the refusal. */
static NEVER_INLINE int check_keys(struct json_tape *tape, uint32_t used, uint32_t object,
	bool is_lax, struct json_fault *fault)
{
	uint32_t duplicate;
	int r = json_keys_check(tape, used, object, &duplicate);

	if (r != 0 || duplicate == JSON_NONE)
		return r;
	return refuse_twice(is_lax, json_bytes(tape, duplicate), fault);
}

static JSON_ALWAYS_INLINE int refuse_comma(const struct reader *reader, struct json_fault *fault)
{
	enum json_type container = reader->is_object ? JSON_OBJECT : JSON_ARRAY;

	return json_refuse(fault, JSON_E_SYNTAX, reader->at,
		json_refusal_comma(container, reader->at, reader->end));
}

/* Close the container at its bracket, and check it as a whole; 0 or the refusal. */
static JSON_ALWAYS_INLINE int leave_container(
	struct reader *reader, struct json_tape *tape, struct json_fault *fault)
{
	bool has_many_keys = reader->is_object && reader->members > KEYS_COMPARED_MAX;
	uint32_t index = reader->open;
	int r = 0;

	close_container(reader);
	if (has_many_keys) {
		r = check_keys(tape, reader->count, index, reader->is_lax, fault);
		reader->tokens = tape->tokens;
		reader->capacity = usable_capacity(tape);
	}
	/* The only place where a text with a bracket at its end can end too early. */
	if (r == 0 && reader->at == reader->end && reader->open != NOWHERE)
		r = refuse_comma(reader, fault);
	return r;
}

/* Read a key and its colon; 0 or the refusal. */
static JSON_ALWAYS_INLINE int read_key(
	struct reader *reader, struct json_tape *tape, struct json_fault *fault)
{
	const struct json_token *key;
	uint32_t flags;
	int r;

	if (peek_token(reader) != '"')
		return json_refuse(fault, JSON_E_SYNTAX, reader->at,
			json_refusal_key(reader->at, reader->end));
	r = reserve_token(reader, tape, fault);
	if (r != 0)
		return r;
	key = read_string(reader, &flags, fault);
	if (!key)
		return fault->status;
	r = note_key(reader, key, flags, fault);
	if (r != 0)
		return r;
	if (peek_token(reader) != ':')
		return json_refuse(fault, JSON_E_SYNTAX, reader->at,
			json_refusal_colon(reader->at, reader->end));
	reader->at++;
	return 0;
}

/* 0 when nothing is left of the text, or what is left does not matter; else the refusal. */
static JSON_ALWAYS_INLINE int finish(
	const struct reader *reader, struct json_tape *tape, struct json_fault *fault)
{
	if (reader->has_more) {
		tape->size = (size_t)(reader->at - reader->text);
		return 0;
	}
	if (reader->at == reader->end)
		return 0;
	return json_refuse(fault, JSON_E_SYNTAX, json_span_space(reader->at, reader->end),
		"expected the end of the text after the value, found more");
}

/* The loop. @reader is a copy in which is_closed is a constant. */
static JSON_ALWAYS_INLINE int read_values(
	struct reader reader, struct json_tape *tape, struct json_fault *fault)
{
	char c = peek_token(&reader);
	int r;

	if (!is_opening(c)) {
		r = read_scalar(&reader, tape, c, fault);
		goto done;
	}
open:
	r = open_container(&reader, tape, c == '{', fault);
	if (r != 0)
		return r;
	if (peek_token(&reader) == (c == '{' ? '}' : ']'))
		goto close;
	if (c == '{')
		goto member;
element:
	reader.members++;
	c = peek_token(&reader);
	if (is_opening(c))
		goto open;
	r = read_scalar(&reader, tape, c, fault);
	if (r != 0)
		return r;
after_element:
	if (is_comma_next(&reader))
		goto element;
	if (peek(&reader, reader.at) != ']')
		return refuse_comma(&reader, fault);
	goto close;
member:
	reader.members++;
	r = read_key(&reader, tape, fault);
	if (r != 0)
		return r;
	c = peek_token(&reader);
	if (is_opening(c))
		goto open;
	r = read_scalar(&reader, tape, c, fault);
	if (r != 0)
		return r;
after_member:
	if (is_comma_next(&reader))
		goto member;
	if (peek(&reader, reader.at) != '}')
		return refuse_comma(&reader, fault);
close:
	r = leave_container(&reader, tape, fault);
	if (r == 0 && reader.open != NOWHERE) {
		if (reader.is_object)
			goto after_member;
		goto after_element;
	}
done:
	if (r == 0)
		r = finish(&reader, tape, fault);
	tape->count = r == 0 ? reader.count : 0;
	/* The root closes last, so the filter has its keys; a root that is no object has none. */
	tape->absent = ~reader.seen;
	return r;
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

/* The ways to read a text: see the fields of struct reader. */
#define READ_LAX  0x1u
#define READ_MORE 0x2u

static int read_root(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	unsigned int ways, struct json_fault *fault)
{
	struct reader reader = {
		.text = text,
		.at = text,
		.end = text + size,
		.tokens = tape->tokens,
		.capacity = usable_capacity(tape),
		.open = NOWHERE,
		.depth_left = depth_max,
		.is_lax = ways & READ_LAX,
		.has_more = ways & READ_MORE,
	};

	if (size > JSON_SIZE_MAX)
		return json_refuse(fault, JSON_E_SIZE, text, "expected a text of less than 4 GiB");
	while (reader.end > text && json_is_space((unsigned char)reader.end[-1]))
		reader.end--;
	if (reader.end > text && (reader.end[-1] == '}' || reader.end[-1] == ']'))
		return read_closed(reader, tape, fault);
	return read_other(reader, tape, fault);
}

static int read_tape(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	unsigned int ways, struct json_error *ret_error)
{
	struct json_fault fault = {.at = text};
	int r;

	tape->text = text;
	tape->size = size;
	tape->count = 0;
	r = read_root(tape, text, size, depth_max, ways, &fault);
	if (r >= 0 && ret_error && (r > 0 || (ways & READ_LAX)))
		*ret_error = (struct json_error){
			.status = fault.status,
			.offset = (size_t)(fault.at - text),
			.message = fault.message,
		};
	if (r == 0)
		return 0;
	tape->text = NULL;
	tape->size = 0;
	return r;
}

int json_tape_read(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error)
{
	return read_tape(tape, text, size, depth_max, 0, ret_error);
}

int json_tape_read_lax(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error)
{
	return read_tape(tape, text, size, depth_max, READ_LAX, ret_error);
}

int json_tape_read_object(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	bool is_lax, struct json_error *ret_error)
{
	return read_tape(
		tape, text, size, depth_max, READ_MORE | (is_lax ? READ_LAX : 0), ret_error);
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
