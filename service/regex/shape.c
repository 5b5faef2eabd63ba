/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/shape.h"

#include <string.h>

#include "util/text/text.h"

/* Quantifiers with more digits are left to the engine. */
#define COUNT_DIGITS_MAX 6

struct reader {
	const char *at;
	const char *end;
};

static void add_char(struct shape_item *item, unsigned char c)
{
	item->set[c / 64] |= UINT64_C(1) << (c % 64);
}

static void add_range(struct shape_item *item, unsigned char first, unsigned char last)
{
	for (unsigned int c = first; c <= last; c++)
		add_char(item, (unsigned char)c);
}

/* Add the ASCII characters of \d, \w, \s or their opposites, with a capital letter. Return false
 * for others. */
static bool add_class_escape(struct shape_item *item, char c)
{
	static const char spaces[] = {' ', '\t', '\n', '\v', '\f', '\r'};
	struct shape_item class = {0};
	uint64_t flip = c >= 'A' && c <= 'Z' ? UINT64_MAX : 0;

	switch (c | 0x20) {
	case 'w':
		add_range(&class, 'a', 'z');
		add_range(&class, 'A', 'Z');
		add_char(&class, '_');
		add_range(&class, '0', '9');
		break;
	case 'd':
		add_range(&class, '0', '9');
		break;
	case 's':
		for (size_t i = 0; i < sizeof(spaces); i++)
			add_char(&class, (unsigned char)spaces[i]);
		break;
	default:
		return false;
	}
	item->set[0] |= class.set[0] ^ flip;
	item->set[1] |= class.set[1] ^ flip;
	return true;
}

/* An escape at the backslash: a class, or a character as itself, then in @ret_char. */
static bool read_escape(struct reader *reader, struct shape_item *item, int *ret_char)
{
	char c = '\0';

	*ret_char = -1;
	if (reader->end - reader->at >= 2)
		c = reader->at[1];
	reader->at += 2;
	if (text_is_alphanumeric(c))
		return add_class_escape(item, c);
	if (c <= ' ' || c == 0x7F)
		return false;
	*ret_char = (unsigned char)c;
	add_char(item, (unsigned char)c);
	return true;
}

/* One member of a class, a range perhaps. */
static bool read_class_member(struct reader *reader, struct shape_item *item)
{
	int first = (unsigned char)*reader->at;
	unsigned char last;

	if (first == '\\') {
		if (!read_escape(reader, item, &first))
			return false;
	} else {
		reader->at++;
	}
	if (first >= 0x80)
		return false;
	if (first >= 0)
		add_char(item, (unsigned char)first);
	if (reader->end - reader->at < 2 || reader->at[0] != '-' || reader->at[1] == ']')
		return true;
	last = (unsigned char)reader->at[1];
	if (first < 0 || last == '\\' || last >= 0x80 || last < first)
		return false;
	add_range(item, (unsigned char)first, last);
	reader->at += 2;
	return true;
}

/* Read a class, after its opening bracket. */
static bool read_class(struct reader *reader, struct shape_item *item)
{
	bool is_negated = reader->at < reader->end && *reader->at == '^';

	reader->at += is_negated;
	while (reader->at < reader->end && *reader->at != ']') {
		if (!read_class_member(reader, item))
			return false;
	}
	if (reader->at >= reader->end)
		return false;
	reader->at++;
	if (is_negated) {
		item->set[0] = ~item->set[0];
		item->set[1] = ~item->set[1];
	}
	return true;
}

static bool read_repeats(struct reader *reader, uint32_t *ret)
{
	const char *start = reader->at;

	*ret = 0;
	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
		*ret = *ret * 10 + (uint32_t)(*reader->at++ - '0');
	return reader->at > start && reader->at - start <= COUNT_DIGITS_MAX;
}

/* Read {n}, {n,} or {n,m}, after the brace. */
static bool read_braces(struct reader *reader, struct shape_item *item)
{
	if (!read_repeats(reader, &item->min))
		return false;
	item->max = item->min;
	if (reader->at < reader->end && *reader->at == ',') {
		reader->at++;
		item->max = UINT32_MAX;
		if (reader->at < reader->end && *reader->at != '}' &&
			!read_repeats(reader, &item->max))
			return false;
	}
	return reader->at < reader->end && *reader->at++ == '}' && item->min <= item->max;
}

static bool read_quantifier(struct reader *reader, struct shape_item *item)
{
	char c;

	item->min = item->max = 1;
	if (reader->at == reader->end)
		return true;
	c = *reader->at;
	if (c != '*' && c != '+' && c != '?' && c != '{')
		return true;
	reader->at++;
	if (c == '{') {
		if (!read_braces(reader, item))
			return false;
	} else {
		item->min = c == '+';
		item->max = c == '?' ? 1 : UINT32_MAX;
	}
	/* A lazy quantifier matches the same texts, since the end is fixed. */
	if (reader->at < reader->end && *reader->at == '?')
		reader->at++;
	return true;
}

static bool read_item(struct reader *reader, struct shape_item *item)
{
	char c = *reader->at;
	int ignored;

	*item = (struct shape_item){0};
	if (c == '\\') {
		if (!read_escape(reader, item, &ignored))
			return false;
	} else if (c == '[') {
		reader->at++;
		if (!read_class(reader, item))
			return false;
	} else {
		if (c == '\0' || strchr("^$.*+?(){}|]", c) || (unsigned char)c >= 0x80)
			return false;
		add_char(item, (unsigned char)c);
		reader->at++;
	}
	return read_quantifier(reader, item);
}

static bool share_a_char(const struct shape_item *a, const struct shape_item *b)
{
	return (a->set[0] & b->set[0]) || (a->set[1] & b->set[1]);
}

/* Return the item after item @i: the first one of the group after the last one; @count: none. */
static uint32_t item_after(const struct shape *shape, uint32_t i)
{
	return i + 1 == shape->count && shape->group > 0 ? shape->group : i + 1;
}

/* Whether taking as many as possible is always right. The first item of a group takes a character,
 * so no search goes around the group twice. */
static bool is_greedy(const struct shape *shape)
{
	for (uint32_t i = 0; i < shape->count; i++) {
		if (shape->items[i].min == shape->items[i].max)
			continue;
		for (uint32_t k = item_after(shape, i); k < shape->count;
			k = item_after(shape, k)) {
			if (share_a_char(&shape->items[i], &shape->items[k]))
				return false;
			if (shape->items[k].min > 0)
				break;
		}
	}
	return true;
}

static void fill_takers(struct shape *shape)
{
	for (uint32_t i = 0; i < shape->count; i++) {
		for (unsigned int c = 0; c < 128; c++) {
			if (shape->items[i].set[c / 64] >> (c % 64) & 1)
				shape->takers[c] |= (uint16_t)(1u << i);
		}
	}
}

/* Read items up to a parenthesis or the end. */
static bool read_items(struct reader *reader, struct shape *shape)
{
	while (reader->at < reader->end && *reader->at != '(' && *reader->at != ')') {
		if (shape->count == SHAPE_ITEMS_MAX ||
			!read_item(reader, &shape->items[shape->count++]))
			return false;
	}
	return reader->at <= reader->end;
}

/* Read ( items )* up to the end. */
static bool read_group(struct reader *reader, struct shape *shape)
{
	shape->group = (uint8_t)shape->count;
	if (*reader->at++ != '(' || shape->group == 0)
		return false;
	if (reader->end - reader->at >= 2 && memcmp(reader->at, "?:", 2) == 0)
		reader->at += 2;
	return read_items(reader, shape) && reader->end - reader->at == 2 &&
	       memcmp(reader->at, ")*", 2) == 0 && shape->group < shape->count &&
	       shape->items[shape->group].min > 0;
}

bool shape_read(const char *text, size_t size, struct shape *ret)
{
	struct reader reader = {text + 1, text + size - 1};
	struct shape shape = {0};

	if (size < 2 || text[0] != '^' || text[size - 1] != '$' || !read_items(&reader, &shape))
		return false;
	if (reader.at < reader.end && !read_group(&reader, &shape))
		return false;
	fill_takers(&shape);
	shape.is_greedy = is_greedy(&shape);
	if (shape.group > 0 && !shape.is_greedy)
		return false;
	*ret = shape;
	return true;
}

/* Return the place after the characters of the @i'th item at @at, at most as many as it takes. */
static inline const unsigned char *skip_chars(
	const struct shape *shape, uint32_t i, const unsigned char *at, const unsigned char *end)
{
	unsigned int bit = 1u << i;

	if ((size_t)(end - at) > shape->items[i].max)
		end = at + shape->items[i].max;
	while (at < end && (shape->takers[*at] & bit))
		at++;
	return at;
}

/* Match a shape with a group: one greedy walk, around the group as long as there is text. */
static enum shape_result walk_group(
	const struct shape *shape, const unsigned char *at, const unsigned char *end)
{
	for (uint32_t i = 0; i != shape->group || at < end; i = item_after(shape, i)) {
		const unsigned char *taken = skip_chars(shape, i, at, end);

		if (taken < end && *taken >= 0x80)
			return SHAPE_UNKNOWN;
		if ((size_t)(taken - at) < shape->items[i].min)
			return SHAPE_DIFFERS;
		at = taken;
	}
	return SHAPE_MATCHES;
}

enum shape_result shape_match(const struct shape *shape, const char *text, size_t size)
{
	const unsigned char
		*least[SHAPE_ITEMS_MAX]; /* the earliest place for the end of each item */
	const unsigned char *taken[SHAPE_ITEMS_MAX]; /* the current end of each item */
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;
	unsigned int retries = 0;
	uint32_t i = 0;

	if (shape->group > 0)
		return walk_group(shape, at, end);
	for (;;) {
		for (; i < shape->count; i++) {
			const struct shape_item *item = &shape->items[i];

			taken[i] = skip_chars(shape, i, at, end);
			if (taken[i] < end && *taken[i] >= 0x80)
				return SHAPE_UNKNOWN;
			if ((size_t)(taken[i] - at) < item->min)
				break;
			least[i] = at + item->min;
			at = taken[i];
		}
		if (i == shape->count && at == end)
			return SHAPE_MATCHES;
		while (i > 0 && (shape->is_greedy || taken[i - 1] == least[i - 1]))
			i--;
		if (i == 0)
			return at < end && *at >= 0x80 ? SHAPE_UNKNOWN : SHAPE_DIFFERS;
		if (retries++ == SHAPE_RETRIES_MAX)
			return SHAPE_UNKNOWN;
		at = --taken[i - 1];
	}
}
