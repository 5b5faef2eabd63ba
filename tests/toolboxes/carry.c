/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library whose functions take and leave things by pointer: numbers, texts, bytes, arrays, in
 * every direction, with every way to give a length. They do it wrong on request.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* A prototype, then the function: these have no header. */
#define EXPORT(type, name, ...)                                                                    \
	type name(__VA_ARGS__);                                                                    \
	type name(__VA_ARGS__)

/* Add one to the value in place: it is 1 after a call without input. */
EXPORT(void, next8, uint8_t *value)
{
	if (value)
		++*value;
}

EXPORT(void, next16, uint16_t *value)
{
	++*value;
}

EXPORT(void, next32, uint32_t *value)
{
	++*value;
}

EXPORT(void, next64, uint64_t *value)
{
	++*value;
}

EXPORT(void, next_f32, float *value)
{
	*value += 1.5f;
}

EXPORT(void, next_f64, double *value)
{
	*value += 1.5;
}

EXPORT(void, negate, bool *value)
{
	*value = !*value;
}

/* Whole and fractional part, and a sign. */
EXPORT(double, split, double value, int64_t *whole, bool *is_negative)
{
	double part = 0;
	double fraction = modf(value, &part);

	*whole = (int64_t)part;
	*is_negative = value < 0;
	return fraction;
}

#define REVERSE(type)                                                                              \
	for (size_t i = 0; i < count / 2; i++) {                                                   \
		type kept = items[i];                                                              \
		items[i] = items[count - 1 - i];                                                   \
		items[count - 1 - i] = kept;                                                       \
	}

EXPORT(void, reverse8, uint8_t *items, size_t count){REVERSE(uint8_t)}

EXPORT(void, reverse16, uint16_t *items, size_t count){REVERSE(uint16_t)}

EXPORT(void, reverse32, uint32_t *items, size_t count){REVERSE(uint32_t)}

EXPORT(void, reverse64, uint64_t *items, size_t count){REVERSE(uint64_t)}

EXPORT(int64_t, sum_bytes, const uint8_t *data, uint16_t size)
{
	int64_t sum = 0;

	for (uint16_t i = 0; data && i < size; i++)
		sum += data[i];
	return data ? sum : -1;
}

EXPORT(double, sum_floats, const float *items, int8_t count)
{
	double sum = 0;

	for (int8_t i = 0; i < count; i++)
		sum += (double)items[i];
	return sum;
}

/* Return the length that is given for any data. */
EXPORT(int64_t, told, const void *data, size_t size)
{
	return data ? (int64_t)size : -1;
}

EXPORT(int64_t, told_by_pointer, const void *data, const uint32_t *size)
{
	return data ? (int64_t)*size : -1;
}

/* Fill @count bytes of @out with @byte. */
EXPORT(void, fill, uint8_t *out, uint32_t count, uint8_t byte)
{
	memset(out, byte, count);
}

/* Fill as fill does, and write the count to *size. Return the room that there was. */
EXPORT(size_t, fill_some, uint8_t *out, size_t *size, uint32_t count, uint8_t byte)
{
	size_t room = *size;

	memset(out, byte, count < room ? count : room);
	*size = count;
	return room;
}

/* As read(): as many as are there, and errno when it fails. */
EXPORT(ssize_t, fill_and_return, uint8_t *out, size_t room, int64_t count, uint8_t byte)
{
	if (count == -1)
		errno = EIO;
	if (count > 0)
		memset(out, byte, (size_t)count < room ? (size_t)count : room);
	return (ssize_t)count;
}

/* As snprintf(): returns how long the text is, whether there is room for it or not. */
EXPORT(int32_t, put_text, char *out, size_t room, const char *text)
{
	return snprintf(out, room, "%s", text);
}

/* Append @more to the text in @out. */
EXPORT(void, append_text, char *out, size_t room, const char *more)
{
	strncat(out, more, room - strlen(out) - 1);
}

/* Count up from 1. */
EXPORT(void, count_up, int32_t *out, int32_t *count, int32_t last)
{
	int32_t i = 0;

	for (; i < *count && i < last; i++)
		out[i] = i + 1;
	*count = i;
}

EXPORT(void, fill_f32, float *out, size_t room, float value)
{
	for (size_t i = 0; i < room; i++)
		out[i] = value;
}

EXPORT(void, fill_f64, double *out, double value)
{
	*out = value;
}

/* Has something to leave, and fails. */
EXPORT(int32_t, leave_and_fail, int32_t *out, int32_t status)
{
	*out = 7;
	errno = status ? EACCES : 0;
	return status;
}

EXPORT(const char *, same_text, const char *text)
{
	return text;
}

/* A new text, for free(). */
EXPORT(char *, new_text, const char *text)
{
	return text ? strdup(text) : NULL;
}

EXPORT(void, leave_alone, void *out)
{
	(void)out;
}
