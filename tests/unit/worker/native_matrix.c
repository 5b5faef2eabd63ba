/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "in_process.h"

/*
 * Every type in every direction, in every way to be given or left out; every integer as the length
 * and the capacity of every buffer. Calls that the rules allow are made in this process, where a
 * sanitizer watches everything but libffi; the others are refused.
 *
 *                    given   nullable   nullable, absent   default   value
 *   scalar   in        x                                      x        x
 *            out       x
 *            inout     x         x              x             x
 *   buffer   in        x         x              x             x        x
 *            out       x
 *            inout     x         x              x             x
 *
 *   length_of, of a buffer   in   out   inout
 *   held by   in             x     x      x      the input's size; the room
 *             out                  x      x      the used part
 *             inout          x     x      x      both
 *             the return value     x      x      the used part
 *
 * native_returns_matrix.c has the table of return values.
 */

enum way {
	GIVEN,
	NULLABLE,
	ABSENT,
	DEFAULT,
	VALUE,
};
#define N_WAYS (VALUE + 1)

enum direction {
	IN,
	OUT,
	INOUT,
};
#define N_DIRECTIONS (INOUT + 1)

static const char *const directions[] = {"in", "out", "inout"};

#define TEXT_BYTES 512

static bool is_allowed(enum direction direction, enum way way, bool is_buffer)
{
	switch (way) {
	case GIVEN:
		return true;
	case NULLABLE:
	case ABSENT:
		return direction == INOUT || (direction == IN && is_buffer);
	case DEFAULT:
		return direction != OUT;
	case VALUE:
		return direction == IN;
	}
	return false;
}

/* Write the members that @way has in a parameter whose value is @given. */
static void write_way(enum way way, const char *given, char *ret_text)
{
	if (way == DEFAULT || way == VALUE)
		snprintf(ret_text, TEXT_BYTES, ",\"%s\":%s", way == VALUE ? "value" : "default",
			given);
	else
		snprintf(ret_text, TEXT_BYTES, "%s", way == GIVEN ? "" : ",\"nullable\":true");
}

/* Write arguments with `a`, if @way needs it. */
static void write_arguments(
	enum direction direction, enum way way, const char *given, char *ret_text)
{
	if (direction != OUT && (way == GIVEN || way == NULLABLE))
		snprintf(ret_text, TEXT_BYTES, "{\"a\":%s}", given);
	else
		snprintf(ret_text, TEXT_BYTES, "{}");
}

static void expect(const char *object, void *address, const char *arguments, const char *expected)
{
	bool is_failure;
	const char *answer = in_process_call(object, address, NULL, arguments, &is_failure);

	cr_expect_not(is_failure, "%s", object);
	cr_expect_str_eq(answer, expected, "%s %s: %s", object, arguments, answer);
}

/* ── scalars ─────────────────────────────────────────────────────────────────────────────────── */

/* An input is returned; an output is 1; an inout becomes the next value. */
#define SCALAR(name, type, next)                                                                   \
	static type in_##name(type value)                                                          \
	{                                                                                          \
		return value;                                                                      \
	}                                                                                          \
	static void out_##name(type *value)                                                        \
	{                                                                                          \
		*value = (type)1;                                                                  \
	}                                                                                          \
	static void inout_##name(type *value)                                                      \
	{                                                                                          \
		if (value)                                                                         \
			*value = (type)(next);                                                     \
	}

SCALAR(bool, bool, !*value)
SCALAR(i8, int8_t, *value + 1)
SCALAR(i16, int16_t, *value + 1)
SCALAR(i32, int32_t, *value + 1)
SCALAR(i64, int64_t, *value + 1)
SCALAR(u8, uint8_t, *value + 1)
SCALAR(u16, uint16_t, *value + 1)
SCALAR(u32, uint32_t, *value + 1)
SCALAR(u64, uint64_t, *value + 1)
SCALAR(isize, ssize_t, *value + 1)
SCALAR(usize, size_t, *value + 1)
SCALAR(f32, float, *value + 1)
SCALAR(f64, double, *value + 1)

static const struct scalar {
	const char *type;
	void *functions[N_DIRECTIONS];
	const char *given;
	const char *results[N_DIRECTIONS];
} scalars[] = {
#define ROW(name, given, one, next)                                                                \
	{                                                                                          \
#name, {(void *)in_##name, (void *)out_##name, (void *)inout_##name }, given,      \
		{                                                                                  \
			given, one, next                                                           \
		}                                                                                  \
	}
	ROW(bool, "true", "true", "false"),
	ROW(i8, "-5", "1", "-4"),
	ROW(i16, "-5", "1", "-4"),
	ROW(i32, "-5", "1", "-4"),
	ROW(i64, "-5", "1", "-4"),
	ROW(u8, "5", "1", "6"),
	ROW(u16, "5", "1", "6"),
	ROW(u32, "5", "1", "6"),
	ROW(u64, "5", "1", "6"),
	ROW(isize, "-5", "1", "-4"),
	ROW(usize, "5", "1", "6"),
	ROW(f32, "1.5", "1.0", "2.5"),
	ROW(f64, "1.5", "1.0", "2.5"),
#undef ROW
};
#define N_SCALARS (sizeof(scalars) / sizeof(*scalars))

static void try_scalar(const struct scalar *scalar, enum direction direction, enum way way)
{
	char members[TEXT_BYTES];
	char object[2 * TEXT_BYTES];
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];

	write_way(way, scalar->given, members);
	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"%s\",\"dir\":\"%s\"%"
		"s}],"
		"\"returns\":{\"type\":\"%s\"}}",
		scalar->type, directions[direction], members,
		direction == IN ? scalar->type : "void");
	if (!is_allowed(direction, way, false)) {
		cr_expect(in_process_is_refused(object), "%s", object);
		return;
	}
	write_arguments(direction, way, scalar->given, arguments);
	snprintf(expected, sizeof(expected), "{\"%s\":%s}", direction == IN ? "result" : "a",
		way == ABSENT ? "null" : scalar->results[direction]);
	expect(object, scalar->functions[direction], arguments, expected);
}

Test(native_matrix, takes_every_scalar_in_every_direction)
{
	for (size_t i = 0; i < N_SCALARS; i++)
		for (int direction = IN; direction < N_DIRECTIONS; direction++)
			for (int way = GIVEN; way < N_WAYS; way++)
				try_scalar(&scalars[i], (enum direction)direction, (enum way)way);
}

/* ── buffers ─────────────────────────────────────────────────────────────────────────────────── */

#define ROOM 5

#define NUMBERS(name, type)                                                                        \
	static const type in_numbers_##name[] = {1, 2};                                            \
	static const type out_numbers_##name[] = {2, 1};

NUMBERS(i8, int8_t)
NUMBERS(i16, int16_t)
NUMBERS(i32, int32_t)
NUMBERS(i64, int64_t)
NUMBERS(u8, uint8_t)
NUMBERS(u16, uint16_t)
NUMBERS(u32, uint32_t)
NUMBERS(u64, uint64_t)
NUMBERS(isize, ssize_t)
NUMBERS(usize, size_t)
NUMBERS(f32, float)
NUMBERS(f64, double)

/* An input is a 1 and a 2, and an output a 2 and a 1, if the type can hold them. */
static const struct buffer_row {
	const char *type; /* members of the parameter */
	const char *given;
	const char *result;   /* the output */
	const char *one;      /* its first element */
	const char *filled;   /* the output of fill() with ROOM elements */
	size_t length;        /* elements of both */
	size_t capacity;      /* elements of an output */
	size_t element_bytes; /* size of an element */
	const void *in;
	const void *out;
} buffers[] = {
	{"\"str\"", "\"ab\"", "\"ba\"", "\"b\"", "\"7777\"", 2, 3, 1, "ab", "ba"},
	{"\"json\"", "[1]", "7", "7", "7777", 3, 4, 1, "[1]", "7  "},
	{"\"bytes\"", "\"AQI=\"", "\"AgE=\"", "\"Ag==\"", "\"Nzc3Nzc=\"", 2, 2, 1, in_numbers_u8,
		out_numbers_u8},
#define ROW(name, result, one, filled)                                                             \
	{                                                                                          \
		"\"array\",\"items\":\"" #name "\"", "[1,2]", result, one, filled, 2, 2,           \
			sizeof(*in_numbers_##name), in_numbers_##name, out_numbers_##name          \
	}
#define BYTES(name)  ROW(name, "[2,1]", "[2]", "[55,55,55,55,55]")
#define WIDE(name)   ROW(name, "[2,1]", "[2]", "[0,0,0,0,0]")
#define FLOATS(name) ROW(name, "[2.0,1.0]", "[2.0]", "[0.0,0.0,0.0,0.0,0.0]")
	BYTES(i8),
	BYTES(u8),
	WIDE(i16),
	WIDE(u16),
	WIDE(i32),
	WIDE(u32),
	WIDE(i64),
	WIDE(u64),
	WIDE(isize),
	WIDE(usize),
	FLOATS(f32),
	FLOATS(f64),
#undef ROW
};
#define N_BUFFERS (sizeof(buffers) / sizeof(*buffers))

/* The row that the functions below are called for. */
static const struct buffer_row *row;
static enum direction row_direction;

/* Check the input and write the output. Return false if the input is wrong. */
static bool carry(void *data)
{
	bool is_right = row_direction == OUT ||
			memcmp(data, row->in, row->length * row->element_bytes) == 0;

	if (row_direction != IN)
		memcpy(data, row->out, row->length * row->element_bytes);
	return is_right;
}

/* Return the length that was passed; -1 for NULL, -2 for wrong bytes. */
static int64_t take_buffer(void *data, size_t size)
{
	if (!data)
		return -1;
	return carry(data) ? (int64_t)size : -2;
}

static void try_buffer(enum way way)
{
	char members[TEXT_BYTES];
	char object[2 * TEXT_BYTES];
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];
	char capacity[32] = "";
	int length;

	write_way(way, row->given, members);
	if (row_direction == OUT)
		snprintf(capacity, sizeof(capacity), ",\"capacity\":%zu", row->capacity);
	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":%s,\"dir\":\"%s\"%s%s},"
		"{\"name\":\"n\",\"type\":\"usize\",\"length_of\":\"a\"}],"
		"\"returns\":{\"type\":\"i64\"}}",
		row->type, directions[row_direction], capacity, members);
	if (!is_allowed(row_direction, way, true)) {
		cr_expect(in_process_is_refused(object), "%s", object);
		return;
	}
	write_arguments(row_direction, way, row->given, arguments);
	length = (int)(row_direction == OUT ? row->capacity : row->length);
	if (row_direction == IN)
		snprintf(
			expected, sizeof(expected), "{\"result\":%d}", way == ABSENT ? -1 : length);
	else
		snprintf(expected, sizeof(expected), "{\"result\":%d,\"a\":%s}",
			way == ABSENT ? -1 : length, way == ABSENT ? "null" : row->result);
	expect(object, (void *)take_buffer, arguments, expected);
}

/* Call @try_one for each buffer in each direction. */
static void for_each_buffer(void (*try_one)(void *data), void *data)
{
	for (row = buffers; row < buffers + N_BUFFERS; row++)
		for (int direction = IN; direction < N_DIRECTIONS; direction++) {
			row_direction = (enum direction)direction;
			try_one(data);
		}
}

static void try_ways(void *data)
{
	(void)data;
	for (int way = GIVEN; way < N_WAYS; way++)
		try_buffer((enum way)way);
}

Test(native_matrix, takes_every_buffer_in_every_direction)
{
	for_each_buffer(try_ways, NULL);
}

/* ── lengths and capacities ──────────────────────────────────────────────────────────────────── */

static bool is_text(void)
{
	return row->capacity > row->length;
}

/* Write @room elements. */
static void fill(unsigned char *data, size_t room)
{
	memset(data, row->element_bytes == 1 ? '7' : 0, room * row->element_bytes);
	if (is_text())
		data[room - 1] = '\0';
}

/* The length of the input; one element of the output is used. */
#define HOLDER(name, type)                                                                         \
	static int64_t held_##name(void *data, type length)                                        \
	{                                                                                          \
		return carry(data) ? (int64_t)length : -2;                                         \
	}                                                                                          \
	static int64_t told_##name(void *data, type *length)                                       \
	{                                                                                          \
		int64_t came = (int64_t)*length;                                                   \
                                                                                                   \
		*length = 1;                                                                       \
		return carry(data) ? came : -2;                                                    \
	}                                                                                          \
	static type returned_##name(void *data)                                                    \
	{                                                                                          \
		return carry(data) ? 1 : 100;                                                      \
	}                                                                                          \
	static void fill_##name(unsigned char *data, type room)                                    \
	{                                                                                          \
		fill(data, (size_t)room);                                                          \
	}

HOLDER(i8, int8_t)
HOLDER(i16, int16_t)
HOLDER(i32, int32_t)
HOLDER(i64, int64_t)
HOLDER(u8, uint8_t)
HOLDER(u16, uint16_t)
HOLDER(u32, uint32_t)
HOLDER(u64, uint64_t)
HOLDER(isize, ssize_t)
HOLDER(usize, size_t)

static const struct holder {
	const char *type;
	void *held;
	void *told;
	void *returned;
	void *fill;
} holders[] = {
#define ROW(name)                                                                                  \
	{                                                                                          \
#name, (void *)held_##name, (void *)told_##name, (void *)returned_##name,          \
			(void *)fill_##name                                                        \
	}
	ROW(i8),
	ROW(i16),
	ROW(i32),
	ROW(i64),
	ROW(u8),
	ROW(u16),
	ROW(u32),
	ROW(u64),
	ROW(isize),
	ROW(usize),
#undef ROW
};
#define N_HOLDERS (sizeof(holders) / sizeof(*holders))

/* Write the buffer as a parameter, and its argument. */
static void write_buffer(const char *capacity, char *ret_parameter, char *ret_arguments)
{
	snprintf(ret_parameter, TEXT_BYTES, "{\"name\":\"a\",\"type\":%s,\"dir\":\"%s\"%s}",
		row->type, directions[row_direction], capacity);
	write_arguments(row_direction, GIVEN, row->given, ret_arguments);
}

static void write_own_capacity(char *ret_text, size_t size)
{
	*ret_text = '\0';
	if (row_direction == OUT)
		snprintf(ret_text, size, ",\"capacity\":%zu", row->capacity);
}

/* Try the holder as a parameter of @direction. */
static void try_held(const struct holder *holder, enum direction direction)
{
	char capacity[32];
	char buffer[TEXT_BYTES];
	char object[2 * TEXT_BYTES];
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];
	size_t length = row_direction == OUT ? row->capacity : row->length;

	write_own_capacity(capacity, sizeof(capacity));
	write_buffer(capacity, buffer, arguments);
	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[%s,{\"name\":\"n\",\"type\":\"%s\",\"dir\":\"%"
		"s\","
		"\"length_of\":\"a\"}],\"returns\":{\"type\":\"i64\"}}",
		buffer, holder->type, directions[direction]);
	if (direction == OUT && row_direction == IN) {
		cr_expect(in_process_is_refused(object), "%s", object);
		return;
	}
	if (direction == OUT)
		length = 0;
	else if (direction == INOUT && row_direction == INOUT && is_text())
		length++;
	if (row_direction == IN)
		snprintf(expected, sizeof(expected), "{\"result\":%zu}", length);
	else
		snprintf(expected, sizeof(expected), "{\"result\":%zu,\"a\":%s}", length,
			direction == IN ? row->result : row->one);
	expect(object, direction == IN ? holder->held : holder->told, arguments, expected);
}

static void try_returned(const struct holder *holder)
{
	char capacity[32];
	char buffer[TEXT_BYTES];
	char object[2 * TEXT_BYTES];
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];

	write_own_capacity(capacity, sizeof(capacity));
	write_buffer(capacity, buffer, arguments);
	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[%s],\"returns\":{\"type\":\"%s\",\"length_of\":"
		"\"a\"}}",
		buffer, holder->type);
	if (row_direction == IN) {
		cr_expect(in_process_is_refused(object), "%s", object);
		return;
	}
	snprintf(expected, sizeof(expected), "{\"result\":1,\"a\":%s}", row->one);
	expect(object, holder->returned, arguments, expected);
}

static void try_holder(void *data)
{
	for (int direction = IN; direction < N_DIRECTIONS; direction++)
		try_held(data, (enum direction)direction);
	try_returned(data);
}

Test(native_matrix, takes_every_integer_as_the_length_of_every_buffer)
{
	for (size_t i = 0; i < N_HOLDERS; i++)
		for_each_buffer(try_holder, (void *)&holders[i]);
}

/* Write ROOM elements, to the last byte; a sanitizer detects one too many. */
static void try_capacity(void *data)
{
	const struct holder *holder = data;
	char buffer[TEXT_BYTES];
	char object[2 * TEXT_BYTES];
	char arguments[TEXT_BYTES];
	char expected[TEXT_BYTES];

	write_buffer(",\"capacity\":\"n\"", buffer, arguments);
	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[%s,{\"name\":\"n\",\"type\":\"%s\"}]}", buffer,
		holder->type);
	if (row_direction == IN) {
		cr_expect(in_process_is_refused(object), "%s", object);
		return;
	}
	snprintf(arguments, sizeof(arguments),
		row_direction == OUT ? "{\"n\":%d}" : "{\"n\":%d,\"a\":%s}", ROOM, row->given);
	snprintf(expected, sizeof(expected), "{\"a\":%s}", row->filled);
	expect(object, holder->fill, arguments, expected);
}

Test(native_matrix, takes_every_integer_as_the_capacity_of_every_buffer)
{
	for (size_t i = 0; i < N_HOLDERS; i++)
		for_each_buffer(try_capacity, (void *)&holders[i]);
}
