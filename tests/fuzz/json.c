/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The reader against a second opinion, and everything that works on a tape against the tape.
 *
 * The second opinion is a recursive checker that is as plain as the grammar and shares no line with
 * the reader. When both accept, the tape has to be consistent, and the output of the writers
 * and the document has to read back as the same values. Anything else aborts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/document.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/scan.h"
#include "json/writer.h"
#include "util/text/utf8.h"

#define DEPTH 24

/* Keys of one object that the checker remembers; texts with more are not judged. */
#define KEYS_MAX 600

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
	if (!claim)
		abort();
}

struct checker {
	const uint8_t *at;
	const uint8_t *end;
	unsigned int depth;
	bool gave_up;
};

/* A key, decoded to code points. */
struct key {
	uint32_t *points;
	size_t n_points;
};

static int next_byte(struct checker *c)
{
	return c->at < c->end ? *c->at++ : -1;
}

static bool take(struct checker *c, uint8_t byte)
{
	if (c->at == c->end || *c->at != byte)
		return false;
	c->at++;
	return true;
}

static void skip_space(struct checker *c)
{
	while (take(c, ' ') || take(c, '\t') || take(c, '\n') || take(c, '\r'))
		;
}

static bool check_digits(struct checker *c)
{
	const uint8_t *start = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at > start;
}

static bool check_number(struct checker *c)
{
	take(c, '-');
	if (!take(c, '0') && !check_digits(c))
		return false;
	if (take(c, '.') && !check_digits(c))
		return false;
	if (!take(c, 'e') && !take(c, 'E'))
		return true;
	if (!take(c, '+'))
		take(c, '-');
	return check_digits(c);
}

static bool check_hex(struct checker *c, uint32_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		int byte = next_byte(c);
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = byte > 0 ? strchr(digits, byte) : NULL;

		if (!digit)
			return false;
		*ret = *ret * 16 + (uint32_t)(digit - digits) % 16;
	}
	return true;
}

static bool check_escape(struct checker *c, uint32_t *ret)
{
	const char *names = "\"\\/bfnrt";
	const char *values = "\"\\/\b\f\n\r\t";
	int byte = next_byte(c);
	uint32_t low;

	if (byte > 0 && strchr(names, byte)) {
		*ret = (uint32_t)values[strchr(names, byte) - names];
		return true;
	}
	if (byte != 'u' || !check_hex(c, ret))
		return false;
	if (*ret < 0xD800 || *ret >= 0xE000)
		return true;
	if (*ret >= 0xDC00 || !take(c, '\\') || !take(c, 'u') || !check_hex(c, &low))
		return false;
	if (low < 0xDC00 || low >= 0xE000)
		return false;
	*ret = 0x10000 + (*ret - 0xD800) * 0x400 + (low - 0xDC00);
	return true;
}

static bool check_multibyte(struct checker *c, uint32_t lead, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;

	if (lead < 0xC0 || lead >= 0xF8)
		return false;
	*ret = lead & (0x3FU >> more);
	for (int i = 0; i < more; i++) {
		int byte = next_byte(c);

		if (byte < 0x80 || byte >= 0xC0)
			return false;
		*ret = *ret * 64 + ((uint32_t)byte - 0x80);
	}
	return *ret >= least[more] && *ret <= 0x10FFFF && (*ret < 0xD800 || *ret >= 0xE000);
}

/* The string whose quote was just taken; its code points go to @key when one is given. */
static bool check_string(struct checker *c, struct key *key)
{
	for (;;) {
		int byte = next_byte(c);
		uint32_t point = (uint32_t)byte;

		if (byte == '"')
			return true;
		if (byte < ' ')
			return false;
		if (byte == '\\' && !check_escape(c, &point))
			return false;
		if (byte >= 0x80 && !check_multibyte(c, (uint32_t)byte, &point))
			return false;
		if (key && point == 0)
			return false;
		if (key)
			key->points[key->n_points++] = point;
	}
}

static bool check_value(struct checker *c);

static bool check_array(struct checker *c)
{
	skip_space(c);
	if (take(c, ']'))
		return true;
	do {
		if (!check_value(c))
			return false;
		skip_space(c);
	} while (take(c, ','));
	return take(c, ']');
}

static bool check_member(struct checker *c, struct key *keys, size_t n_keys)
{
	struct key *key = &keys[n_keys];

	skip_space(c);
	*key = (struct key){.points = malloc((size_t)(c->end - c->at + 1) * sizeof(uint32_t))};
	require(key->points);
	if (!take(c, '"') || !check_string(c, key))
		return false;
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i].n_points == key->n_points &&
			memcmp(keys[i].points, key->points, key->n_points * sizeof(uint32_t)) == 0)
			return false;
	skip_space(c);
	return take(c, ':') && check_value(c);
}

static bool check_object(struct checker *c)
{
	struct key *keys;
	size_t n_keys = 0;
	bool is_good;

	skip_space(c);
	if (take(c, '}'))
		return true;
	keys = calloc(KEYS_MAX, sizeof(*keys));
	require(keys);
	do {
		is_good = check_member(c, keys, n_keys++);
		skip_space(c);
		c->gave_up = c->gave_up || n_keys == KEYS_MAX;
	} while (is_good && !c->gave_up && take(c, ','));
	for (size_t i = 0; i < n_keys; i++)
		free(keys[i].points);
	free(keys);
	return is_good && take(c, '}');
}

static bool check_word(struct checker *c, const char *word)
{
	while (*word)
		if (!take(c, (uint8_t)*word++))
			return false;
	return true;
}

static bool check_value(struct checker *c)
{
	bool is_good;

	skip_space(c);
	if (take(c, '"'))
		return check_string(c, NULL);
	if (take(c, 't'))
		return check_word(c, "rue");
	if (take(c, 'f'))
		return check_word(c, "alse");
	if (take(c, 'n'))
		return check_word(c, "ull");
	if (c->at < c->end && (*c->at == '[' || *c->at == '{')) {
		if (c->depth++ == DEPTH)
			return false;
		is_good = take(c, '[') ? check_array(c) : take(c, '{') && check_object(c);
		c->depth--;
		return is_good;
	}
	return check_number(c);
}

/* Check the links and spans of the value at @index, which must end before @end. Return the index
 * after it. */
static uint32_t check_tokens(const struct json_tape *tape, uint32_t index, uint32_t end)
{
	const struct json_token *token = json_at(tape, index);
	uint32_t children = 0;
	uint32_t at = index + 1;

	require(token->next > index && token->next <= end);
	require((size_t)token->offset + token->length <= tape->size);
	if (token->type != JSON_ARRAY && token->type != JSON_OBJECT) {
		require(token->next == index + 1 && token->count == 0);
		return token->next;
	}
	for (; at < token->next; children++) {
		const struct json_token *child = json_at(tape, at);

		require(child->offset > token->offset);
		require(child->offset + child->length < token->offset + token->length);
		if (token->type == JSON_OBJECT && children % 2 == 0)
			require(child->type == JSON_STRING);
		at = check_tokens(tape, at, token->next);
	}
	require(at == token->next);
	require(token->type == JSON_ARRAY || children % 2 == 0);
	require(json_count(tape, index) == (token->type == JSON_OBJECT ? children / 2 : children));
	return at;
}

static void check_string_token(const struct json_tape *tape, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup(buffer_deinit) struct buffer written = {0};
	cleanup(json_tape_cleanup) struct json_tape again = {0};

	json_string_decode(tape, index, &decoded);
	require(buffer_status(&decoded) == 0 && utf8_is_valid(decoded.data, decoded.size));
	require(json_string_points(tape, index) == utf8_count(decoded.data, decoded.size));
	if (decoded.size == 0)
		return;
	require(json_string_equals(tape, index, decoded.data, decoded.size));
	require(!json_string_equals(tape, index, decoded.data, decoded.size - 1));
	json_write_string(&written, decoded.data, decoded.size);
	require(json_tape_read(&again, written.data, written.size, 0, NULL) == 0);
	require(json_strings_equal(&again, 0, tape, index));
}

static void check_number_token(const struct json_tape *tape, uint32_t index)
{
	const char *text = json_bytes(tape, index);
	size_t size = json_at(tape, index)->length;
	cleanup(buffer_deinit) struct buffer written = {0};
	uint64_t natural;
	int64_t integer;
	double number;

	require(json_number_compare(text, size, text, size) == 0);
	if (json_number_i64(tape, index, &integer) == 0) {
		require(json_number_is_integer(tape, index));
		json_write_i64(&written, integer);
		require(json_number_compare(text, size, written.data, written.size) == 0);
		buffer_reset(&written);
	}
	if (json_number_u64(tape, index, &natural) == 0) {
		json_write_u64(&written, natural);
		require(json_number_compare(text, size, written.data, written.size) == 0);
		buffer_reset(&written);
	}
	require(json_number_is_multiple(text, size, "1", 1) == json_number_is_integer(tape, index));
	if (json_number_f64(tape, index, &number) == 0) {
		cleanup(json_tape_cleanup) struct json_tape again = {0};
		double same;

		json_write_f64(&written, number);
		require(json_tape_read(&again, written.data, written.size, 0, NULL) == 0);
		require(json_number_f64(&again, 0, &same) == 0 && same == number);
	}
}

/* @text must read back as the same tokens, white space and the spelling of strings apart. */
static void check_same(const struct json_tape *tape, const struct buffer *text)
{
	cleanup(json_tape_cleanup) struct json_tape again = {0};

	require(buffer_status(text) == 0);
	require(json_tape_read(&again, text->data, text->size, DEPTH, NULL) == 0);
	require(again.count == tape->count);
	for (uint32_t i = 0; i < tape->count; i++) {
		const struct json_token *token = json_at(tape, i);

		require(json_at(&again, i)->type == token->type);
		require(json_at(&again, i)->next == token->next);
		require(json_at(&again, i)->count == token->count);
		if (token->type == JSON_STRING)
			require(json_strings_equal(tape, i, &again, i));
		if (token->type == JSON_NUMBER)
			require(json_at(&again, i)->length == token->length &&
				memcmp(json_bytes(&again, i), json_bytes(tape, i), token->length) ==
					0);
	}
}

/* Each member of the root is found, and a key beside them is not. */
static void check_found(const struct json_tape *tape)
{
	if (json_type_at(tape, 0) != JSON_OBJECT)
		return;
	json_each_key(key, tape, 0) {
		cleanup_free char *text = json_string_dup(tape, key, NULL);

		require(text && json_find(tape, 0, text) == key + 1);
	}
	for (char other[2] = "A"; *other <= 'Z'; ++*other) {
		bool is_there = false;

		json_each_key(key, tape, 0)
			is_there |= json_string_equals(tape, key, other, 1);
		require((json_find(tape, 0, other) != JSON_NONE) == is_there);
	}
}

/* An object is the same with other bytes after it. */
static void check_begin(const struct json_tape *tape)
{
	cleanup(json_tape_cleanup) struct json_tape again = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;
	const char *own = json_value_text(tape, 0, &size);

	if (json_type_at(tape, 0) != JSON_OBJECT)
		return;
	buffer_append(&text, own, size);
	buffer_append_char(&text, "}],\" x"[size % 6]);
	require(buffer_status(&text) == 0);
	require(json_tape_read_object(&again, text.data, text.size, DEPTH, size & 1, NULL) == 0);
	require(again.size == size && again.count == tape->count);
}

static void check_tape(const struct json_tape *tape)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(document_cleanup) struct document *document = document_from_tape(tape, 0);
	size_t start = json_scan_space(tape->text, tape->size, 0);
	size_t size;

	require(check_tokens(tape, 0, tape->count) == tape->count);
	require(json_value_text(tape, 0, &size) == tape->text + start);
	require(json_scan_value(tape->text, tape->size, start) == start + size);
	for (uint32_t i = 0; i < tape->count; i++) {
		if (json_type_at(tape, i) == JSON_STRING)
			check_string_token(tape, i);
		if (json_type_at(tape, i) == JSON_NUMBER)
			check_number_token(tape, i);
	}
	json_write_compact(&out, tape, 0);
	check_same(tape, &out);
	buffer_reset(&out);
	json_write_indented(&out, tape, 0, 2);
	check_same(tape, &out);
	buffer_reset(&out);
	require(document);
	document_write(document, &out);
	check_same(tape, &out);
	check_found(tape);
	check_begin(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_tape tape;
	struct checker checker = {.at = data, .end = data + size};
	struct json_error error = {0};
	bool is_good = check_value(&checker);
	int r;

	skip_space(&checker);
	is_good = is_good && checker.at == checker.end;
	if (checker.gave_up)
		return 0;
	r = json_tape_read(&tape, (const char *)data, size, DEPTH, &error);
	require((r == 0) == is_good);
	if (r == 0) {
		check_tape(&tape);
		return 0;
	}
	require(r == error.status && error.message && error.offset <= size);
	(void)json_scan_value((const char *)data, size, 0);
	return 0;
}
