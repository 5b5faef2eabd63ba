/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_process.h"

/*
 * Return values: every type under every rule, handed over or lent, NULL or not, with errno set and
 * not set. They are called in this process, where a sanitizer watches everything but libffi; the
 * combinations that the rules do not allow are refused.
 *
 *              none  negative  nonzero  zero  null  errno     transfer full     nullable
 *   void         x                                    x
 *   bool         x               x       x            x
 *   u8 … usize   x               x       x            x
 *   i8 … f64     x       x       x       x            x
 *   str, json    x                             x      x             x         x, but for null
 *   bytes, array
 */

#define TEXT_BYTES 256

static unsigned int n_freed;

static void count_and_free(void *pointer)
{
	n_freed++;
	free(pointer);
}

static void answer_nothing(int64_t value, int32_t error)
{
	(void)value;
	errno = error;
}

static int64_t answer_integer(int64_t value, int32_t error)
{
	errno = error;
	return value;
}

static float answer_f32(double value, int32_t error)
{
	errno = error;
	return (float)value;
}

static double answer_f64(double value, int32_t error)
{
	errno = error;
	return value;
}

/* NULL for a value of 0. */
static char *answer_text(int64_t value, int32_t error)
{
	static char lasting[] = "1";

	errno = error;
	return value ? lasting : NULL;
}

static char *answer_new_text(int64_t value, int32_t error)
{
	errno = error;
	return value ? strdup("1") : NULL;
}

enum sort {
	SORT_NONE, /* cannot be returned */
	SORT_VOID,
	SORT_BOOL,
	SORT_UNSIGNED,
	SORT_SIGNED,
	SORT_FLOAT,
	SORT_TEXT,
};

static const struct returned {
	const char *type;
	enum sort sort;
	void *address;
} returned_types[] = {
	{"void", SORT_VOID, (void *)answer_nothing},
	{"bool", SORT_BOOL, (void *)answer_integer},
	{"i8", SORT_SIGNED, (void *)answer_integer},
	{"i16", SORT_SIGNED, (void *)answer_integer},
	{"i32", SORT_SIGNED, (void *)answer_integer},
	{"i64", SORT_SIGNED, (void *)answer_integer},
	{"isize", SORT_SIGNED, (void *)answer_integer},
	{"u8", SORT_UNSIGNED, (void *)answer_integer},
	{"u16", SORT_UNSIGNED, (void *)answer_integer},
	{"u32", SORT_UNSIGNED, (void *)answer_integer},
	{"u64", SORT_UNSIGNED, (void *)answer_integer},
	{"usize", SORT_UNSIGNED, (void *)answer_integer},
	{"f32", SORT_FLOAT, (void *)answer_f32},
	{"f64", SORT_FLOAT, (void *)answer_f64},
	{"str", SORT_TEXT, (void *)answer_text},
	{"json", SORT_TEXT, (void *)answer_text},
	{"bytes", SORT_NONE, NULL},
	{"array", SORT_NONE, NULL},
};

enum rule {
	RULE_NONE,
	RULE_NEGATIVE,
	RULE_NONZERO,
	RULE_ZERO,
	RULE_NULL,
	RULE_ERRNO,
};

static const char *const rule_names[] = {"none", "negative", "nonzero", "zero", "null", "errno"};

#define N_RULES (sizeof(rule_names) / sizeof(*rule_names))

/* One cell of the table. */
struct cell {
	const struct returned *returned;
	enum rule rule;
	bool is_handed_over;
	bool is_nullable;
	char object[2 * TEXT_BYTES];
};

static bool is_allowed(const struct cell *cell)
{
	enum sort sort = cell->returned->sort;
	bool is_text = sort == SORT_TEXT;

	if (sort == SORT_NONE || (!is_text && (cell->is_handed_over || cell->is_nullable)))
		return false;
	switch (cell->rule) {
	case RULE_NEGATIVE:
		return sort == SORT_SIGNED || sort == SORT_FLOAT;
	case RULE_NONZERO:
	case RULE_ZERO:
		return sort != SORT_VOID && !is_text;
	case RULE_NULL:
		return is_text && !cell->is_nullable;
	case RULE_NONE:
	case RULE_ERRNO:
		break;
	}
	return true;
}

static bool is_hit(const struct cell *cell, int value, int error)
{
	switch (cell->rule) {
	case RULE_NEGATIVE:
		return value < 0;
	case RULE_NONZERO:
		return value != 0;
	case RULE_ZERO:
	case RULE_NULL:
		return value == 0;
	case RULE_ERRNO:
		return error != 0;
	case RULE_NONE:
		break;
	}
	return false;
}

/* Return the value as JSON has it, or as a failure names it. */
static const char *name_value(const struct cell *cell, int value, bool is_failure)
{
	static const char *const whole[] = {"-1", "0", "1"};
	static const char *const broken[] = {"-1.0", "0.0", "1.0"};

	switch (cell->returned->sort) {
	case SORT_BOOL:
		return value ? "true" : "false";
	case SORT_FLOAT:
		return broken[value + 1];
	case SORT_TEXT:
		if (is_failure)
			return value ? "a text" : "NULL";
		if (!value)
			return "null";
		return strcmp(cell->returned->type, "json") == 0 ? "1" : "\"1\"";
	default:
		return whole[value + 1];
	}
}

static void write_expected(
	const struct cell *cell, int value, int error, bool is_failure, char *ret_text)
{
	const char *suffix = is_failure && error ? ": EIO (Input/output error)" : "";
	const char *name = name_value(cell, value, is_failure);
	bool is_void = cell->returned->sort == SORT_VOID;

	if (is_failure)
		snprintf(ret_text, TEXT_BYTES, is_void ? "f failed%s%s" : "f returned %s%s",
			is_void ? "" : name, suffix);
	else
		snprintf(ret_text, TEXT_BYTES, is_void ? "{}" : "{\"result\":%s}", name);
}

static void try_answer(const struct cell *cell, int value, int error)
{
	bool is_text = cell->returned->sort == SORT_TEXT;
	bool is_failure = is_hit(cell, value, error) || (is_text && !value && !cell->is_nullable);
	void *address = cell->is_handed_over ? (void *)answer_new_text : cell->returned->address;
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];
	bool has_failed;
	const char *found;

	n_freed = 0;
	snprintf(arguments, sizeof(arguments), "{\"value\":%d,\"error\":%d}", value, error);
	write_expected(cell, value, error, is_failure, expected);
	found = in_process_call(cell->object, address, cell->is_handed_over ? count_and_free : NULL,
		arguments, &has_failed);
	cr_expect_eq(has_failed, is_failure, "%s %s", cell->object, arguments);
	cr_expect_str_eq(found, expected, "%s %s: %s", cell->object, arguments, found);
	cr_expect_eq(n_freed, cell->is_handed_over && value ? 1u : 0u, "%s", cell->object);
}

static void try_cell(struct cell *cell)
{
	enum sort sort = cell->returned->sort;

	snprintf(cell->object, sizeof(cell->object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"value\",\"type\":\"%s\"},"
		"{\"name\":\"error\",\"type\":\"i32\"}],\"returns\":{\"type\":\"%s\","
		"\"errors\":\"%s\"%s%s}}",
		sort == SORT_FLOAT ? "f64" : "i64", cell->returned->type, rule_names[cell->rule],
		cell->is_handed_over ? ",\"transfer\":\"full\"" : "",
		cell->is_nullable ? ",\"nullable\":true" : "");
	if (!is_allowed(cell)) {
		cr_expect(in_process_is_refused(cell->object), "%s", cell->object);
		return;
	}
	for (int error = 0; error <= EIO; error += EIO)
		for (int value = sort == SORT_SIGNED || sort == SORT_FLOAT ? -1 : 0; value <= 1;
			value++)
			try_answer(cell, value, error);
}

Test(native_returns_matrix, holds_every_type_to_every_rule_that_it_allows)
{
	for (size_t i = 0; i < sizeof(returned_types) / sizeof(*returned_types); i++)
		for (size_t rule = 0; rule < N_RULES; rule++)
			for (int more = 0; more < 4; more++) {
				struct cell cell = {
					.returned = &returned_types[i],
					.rule = (enum rule)rule,
					.is_handed_over = more & 1,
					.is_nullable = more & 2,
				};

				try_cell(&cell);
			}
}
