/* SPDX-License-Identifier: Apache-2.0 */
#include "expression.h"

#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "stringify.h"

/*
 * Arithmetic as people write it, evaluated while it is read.
 *
 *   sum      := product { (+ | -) product }
 *   product  := signed { (* | / | mod | % before a number) signed }
 *   signed   := { + | - } power
 *   power    := postfix [ (^ | **) signed ]
 *   postfix  := primary { ! | % }
 *   primary  := NUMBER | CONSTANT | NAME ( sum {, sum} ) | ( sum )
 *
 * Characters that people type for these operators count as them: × · ÷ − and :.
 */

#define NAME_BYTES 16

struct reader {
	const char *text;
	size_t size;
	size_t at;
	unsigned int depth;
	struct expression_mistake *mistake;
	bool has_failed;
};

static bool read_sum(struct reader *reader, struct number *value);
static bool read_signed(struct reader *reader, struct number *value);

static bool fail_at(struct reader *reader, size_t at, const char *words)
{
	if (reader->has_failed)
		return false;
	reader->has_failed = true;
	reader->mistake->at = 1;
	for (size_t i = 0; i < at && i < reader->size; i++)
		reader->mistake->at += (reader->text[i] & 0xC0) != 0x80;
	snprintf(reader->mistake->words, sizeof(reader->mistake->words), "%s", words);
	return false;
}

/* Fail with @why, of the operation at @at, unless it is NULL. */
static bool succeed(struct reader *reader, size_t at, const char *why)
{
	return !why || fail_at(reader, at, why);
}

/* Return the next byte that is no white space; '\0' at the end. */
static char peek(struct reader *reader)
{
	while (reader->at < reader->size && strchr(" \t\r\n", reader->text[reader->at]) &&
		reader->text[reader->at])
		reader->at++;
	return reader->at < reader->size ? reader->text[reader->at] : '\0';
}

/* Take @token, if it comes next. */
static bool take(struct reader *reader, const char *token)
{
	size_t size = strlen(token);

	peek(reader);
	if (reader->size - reader->at < size || memcmp(reader->text + reader->at, token, size) != 0)
		return false;
	reader->at += size;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read the name that comes next, in small letters; "" if it is longer than any. */
static void read_name(struct reader *reader, char ret_name[NAME_BYTES])
{
	size_t size = 0;

	peek(reader);
	while (reader->at < reader->size &&
		(is_letter(reader->text[reader->at]) || is_digit(reader->text[reader->at]))) {
		char c = reader->text[reader->at++];

		if (size + 1 < NAME_BYTES)
			ret_name[size] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
		size++;
	}
	ret_name[size < NAME_BYTES ? size : 0] = '\0';
}

/* For nearest names. */
struct unknown {
	const char *name;
	struct nearest nearest;
};

static void offer_name(void *data, const char *name)
{
	struct unknown *unknown = data;

	nearest_offer(&unknown->nearest, unknown->name, name);
}

static bool fail_unknown(struct reader *reader, size_t at, const char *name)
{
	struct unknown unknown = {.name = name};
	char near[NEAREST_MAX * NEAREST_BYTES + 16];
	char words[EXPRESSION_WORDS_BYTES];

	number_each_name(offer_name, &unknown);
	nearest_write(&unknown.nearest, near, sizeof(near));
	if (*near)
		snprintf(words, sizeof(words), "'%s' is not known; did you mean %s?", name, near);
	else
		snprintf(words, sizeof(words),
			"'%s' is not known. Functions are sqrt, cbrt, exp, ln, log, log2, sin, "
			"cos, tan, abs, round, min, max, gcd and the like; constants pi, e, tau, "
			"deg",
			name);
	return fail_at(reader, at, words);
}

/* Read the numbers of the function @name after its parenthesis, and call it. */
static bool read_call(struct reader *reader, size_t at, const char *name, struct number *value)
{
	struct number values[EXPRESSION_VALUES_MAX];
	unsigned int n = 0;
	bool is_good = true;

	do {
		if (n == EXPRESSION_VALUES_MAX) {
			is_good = fail_at(reader, reader->at,
				"a function has more than " STRINGIFY(
					EXPRESSION_VALUES_MAX) " numbers");
			break;
		}
		number_init(&values[n]);
		is_good = read_sum(reader, &values[n++]);
	} while (is_good && (take(reader, ",") || take(reader, ";")));
	if (is_good && !take(reader, ")"))
		is_good = fail_at(reader, reader->at, "a ) is missing");
	is_good = is_good && succeed(reader, at, number_call(name, values, n));
	if (is_good)
		number_set(value, &values[0]);
	while (n > 0)
		number_deinit(&values[--n]);
	return is_good;
}

/* Return whether the name is a function: a call of it with no numbers is another mistake. */
struct known {
	const char *name;
	bool is_found;
};

static void compare_name(void *data, const char *name)
{
	struct known *known = data;

	known->is_found |= strcmp(known->name, name) == 0;
}

static bool read_named(struct reader *reader, struct number *value)
{
	char name[NAME_BYTES];
	struct known known = {.name = name};
	size_t at = reader->at;

	read_name(reader, name);
	number_each_name(compare_name, &known);
	if (!known.is_found)
		return fail_unknown(reader, at, *name ? name : "a long name");
	if (number_constant(name, value))
		return true;
	if (!take(reader, "("))
		return fail_at(
			reader, at, "a function needs its number in parentheses, as sqrt(2)");
	return read_call(reader, at, name, value);
}

static bool read_primary(struct reader *reader, struct number *value)
{
	char next = peek(reader);
	size_t used = 0;

	if (next == '(') {
		reader->at++;
		return read_sum(reader, value) &&
		       (take(reader, ")") || fail_at(reader, reader->at, "a ) is missing"));
	}
	if (is_letter(next))
		return read_named(reader, value);
	if (!succeed(reader, reader->at,
		    number_read(
			    value, reader->text + reader->at, reader->size - reader->at, &used)))
		return false;
	reader->at += used;
	return used > 0 ||
	       fail_at(reader, reader->at,
		       next ? "a number is expected here" : "it ends where a number is expected");
}

/* Return whether a number follows the % at the place of the reader: then it is `mod`. */
static bool divides(const struct reader *reader)
{
	struct reader after = *reader;
	char next;

	after.at++;
	next = peek(&after);
	return next == '(' || next == '.' || is_digit(next) || is_letter(next);
}

static bool read_postfix(struct reader *reader, struct number *value)
{
	static const char hundred[] = "100";
	struct number divisor;
	size_t used;
	bool is_good = read_primary(reader, value);

	while (is_good) {
		size_t at = reader->at;

		if (peek(reader) == '%' && !divides(reader)) {
			reader->at++;
			number_init(&divisor);
			number_read(&divisor, hundred, 3, &used);
			is_good = succeed(reader, at, number_divide(value, &divisor));
			number_deinit(&divisor);
		} else if (take(reader, "!")) {
			is_good = succeed(reader, at, number_factorial(value));
		} else {
			return true;
		}
	}
	return false;
}

static bool read_power(struct reader *reader, struct number *value)
{
	struct number power;
	size_t at;
	bool is_good;

	if (!read_postfix(reader, value))
		return false;
	at = reader->at;
	if (!take(reader, "^") && !take(reader, "**"))
		return true;
	number_init(&power);
	is_good = read_signed(reader, &power) && succeed(reader, at, number_power(value, &power));
	number_deinit(&power);
	return is_good;
}

static bool read_signed(struct reader *reader, struct number *value)
{
	struct number zero;
	bool is_negative = false;
	bool is_good;

	if (++reader->depth > EXPRESSION_DEPTH_MAX)
		return fail_at(reader, reader->at, "it is nested too deeply");
	for (;;) {
		if (take(reader, "-") || take(reader, "\u2212"))
			is_negative = !is_negative;
		else if (!take(reader, "+"))
			break;
	}
	is_good = read_power(reader, value);
	if (is_good && is_negative) {
		number_init(&zero);
		is_good = succeed(reader, reader->at, number_subtract(&zero, value));
		number_set(value, &zero);
		number_deinit(&zero);
	}
	reader->depth--;
	return is_good;
}

/* An operator between two numbers, and its function. */
struct operator_of {
	const char *token;
	const char *(*apply)(struct number *a, const struct number *b);
};

static const struct operator_of products[] = {
	{"*", number_multiply},
	{"\u00D7", number_multiply},
	{"\u00B7", number_multiply},
	{"/", number_divide},
	{"\u00F7", number_divide},
	{":", number_divide},
	{"mod", number_modulo},
	{"%", number_modulo},
	{NULL, NULL},
};

static const struct operator_of sums[] = {
	{"+", number_add},
	{"-", number_subtract},
	{"\u2212", number_subtract},
	{NULL, NULL},
};

static const struct operator_of *take_operator(
	struct reader *reader, const struct operator_of *operators)
{
	while (operators->token && !take(reader, operators->token))
		operators++;
	return operators->token ? operators : NULL;
}

static bool read_chain(struct reader *reader, const struct operator_of *operators,
	bool (*read)(struct reader *reader, struct number *value), struct number *value)
{
	const struct operator_of *found;
	bool is_good = read(reader, value);
	size_t at = reader->at;

	while (is_good && (found = take_operator(reader, operators))) {
		struct number other;

		number_init(&other);
		is_good = read(reader, &other) && succeed(reader, at, found->apply(value, &other));
		number_deinit(&other);
		at = reader->at;
	}
	return is_good;
}

static bool read_product(struct reader *reader, struct number *value)
{
	return read_chain(reader, products, read_signed, value);
}

static bool read_sum(struct reader *reader, struct number *value)
{
	return read_chain(reader, sums, read_product, value);
}

bool expression_evaluate(const char *text, size_t size, struct number *ret_value,
	struct expression_mistake *ret_mistake)
{
	struct reader reader = {.text = text, .size = size, .mistake = ret_mistake};

	if (size > EXPRESSION_BYTES_MAX)
		return fail_at(&reader, 0,
			"it is longer than " STRINGIFY(
				EXPRESSION_BYTES_MAX) " bytes: compute it in parts");
	if (!read_sum(&reader, ret_value))
		return false;
	if (peek(&reader) == '\0' && reader.at == size)
		return true;
	if (peek(&reader) == ',')
		return fail_at(&reader, reader.at,
			"a comma is only for the numbers of a function: write 1234.5 for 1.234,5");
	return fail_at(&reader, reader.at,
		"an operator is expected here: + - * / ^ mod; a product needs its *, as 2*pi");
}
