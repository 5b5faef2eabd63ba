/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library that keeps to its manifest: every type there and back, every rule of failure, every way
 * to own a text. It is written as anybody would write it, without anything of ours.
 */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
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

EXPORT(bool, same_bool, bool value)
{
	return value;
}

EXPORT(int8_t, same_i8, int8_t value)
{
	return value;
}

EXPORT(int16_t, same_i16, int16_t value)
{
	return value;
}

EXPORT(int32_t, same_i32, int32_t value)
{
	return value;
}

EXPORT(int64_t, same_i64, int64_t value)
{
	return value;
}

EXPORT(uint8_t, same_u8, uint8_t value)
{
	return value;
}

EXPORT(uint16_t, same_u16, uint16_t value)
{
	return value;
}

EXPORT(uint32_t, same_u32, uint32_t value)
{
	return value;
}

EXPORT(uint64_t, same_u64, uint64_t value)
{
	return value;
}

EXPORT(ssize_t, same_isize, ssize_t value)
{
	return value;
}

EXPORT(size_t, same_usize, size_t value)
{
	return value;
}

EXPORT(float, same_f32, float value)
{
	return value;
}

EXPORT(double, same_f64, double value)
{
	return value;
}

EXPORT(const char *, same_str, const char *value)
{
	return value;
}

/* All kinds of registers, and more than there are of one. */
EXPORT(const char *, mix, bool a, int8_t b, uint16_t c, float d, int32_t e, double f, uint64_t g,
	const char *h, uint8_t i, float j, int16_t k, double l)
{
	static char text[256];

	snprintf(text, sizeof(text), "%d %d %u %g %d %g %llu %s %u %g %d %g", a, b, c, (double)d, e,
		f, (unsigned long long)g, h, i, (double)j, k, l);
	return text;
}

/* Returns @value with errno set to @error. */
EXPORT(int64_t, return_i64, int64_t value, int32_t error)
{
	errno = error;
	return value;
}

EXPORT(double, return_f64, double value, int32_t error)
{
	errno = error;
	return value;
}

EXPORT(void, return_void, int32_t error)
{
	errno = error;
}

EXPORT(const char *, return_str, const char *text, int32_t error)
{
	errno = error;
	return text;
}

EXPORT(float, float_overflow, float value)
{
	return value * 3e38f;
}

EXPORT(double, quotient, double a, double b)
{
	return a / b;
}

static int outstanding_texts;

/* A new text, which give_back() frees. */
EXPORT(char *, lend_upper, const char *text)
{
	char *upper = strdup(text);

	outstanding_texts++;
	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return upper;
}

EXPORT(void, give_back, char *text)
{
	outstanding_texts--;
	free(text);
}

EXPORT(int32_t, outstanding, void)
{
	return outstanding_texts;
}

/* As lend_upper, but it fails: the text has to be given back all the same. */
EXPORT(char *, lend_and_fail, const char *text)
{
	char *upper = lend_upper(text);

	errno = EIO;
	return upper;
}

/* A new text, for free(). */
EXPORT(char *, doubled, const char *text)
{
	char *both = malloc(2 * strlen(text) + 1);

	sprintf(both, "%s%s", text, text);
	return both;
}

/* -1 for NULL. */
EXPORT(int64_t, length, const char *text)
{
	return text ? (int64_t)strlen(text) : -1;
}

/* Changes the text it is given. */
EXPORT(const char *, scribble, char *text)
{
	if (*text)
		*text = 'X';
	return text;
}

/* Whether the process has taken the locale. */
EXPORT(bool, choose_locale, const char *name)
{
	return setlocale(LC_ALL, name) != NULL;
}

EXPORT(const char *, printed, double value)
{
	static char text[64];

	snprintf(text, sizeof(text), "%g", value);
	return text;
}

EXPORT(const char *, variable, const char *name)
{
	return getenv(name);
}

/* How many of its low descriptors are open. */
EXPORT(int32_t, open_descriptors, void)
{
	int32_t count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

const int64_t not_a_function = 1;
