/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_process.h"

/* Return values: every type under every rule, every way to own it; called in this process, where a
 * sanitizer watches everything but libffi. */

static unsigned int n_freed;

static void count_and_free(void *pointer)
{
	n_freed++;
	free(pointer);
}

static int64_t same_integer(int64_t value)
{
	return value;
}

static double same_f64(double value)
{
	return value;
}

static float same_f32(float value)
{
	return value;
}

static const char *const integers[] = {
	"i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"};
#define N_SIGNED 5

static void expect_integer(
	const char *type, const char *rule, int value, bool is_failure, const char *answer)
{
	char object[256];
	char arguments[32];
	const char *found;
	bool has_failed;

	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i64\"}],"
		"\"returns\":{\"type\":\"%s\",\"errors\":\"%s\"}}",
		type, rule);
	snprintf(arguments, sizeof(arguments), "{\"a\":%d}", value);
	found = in_process_call(object, (void *)same_integer, NULL, arguments, &has_failed);
	cr_expect_eq(has_failed, is_failure, "%s %s %d", type, rule, value);
	cr_expect_str_eq(found, answer, "%s %s %d: %s", type, rule, value, found);
}

Test(native_returns, fails_below_zero_for_every_signed_type)
{
	for (size_t i = 0; i < N_SIGNED; i++) {
		expect_integer(integers[i], "negative", -1, true, "f returned -1");
		expect_integer(integers[i], "negative", -128, true, "f returned -128");
		expect_integer(integers[i], "negative", 0, false, "{\"result\":0}");
		expect_integer(integers[i], "negative", 127, false, "{\"result\":127}");
	}
}

Test(native_returns, fails_at_zero_and_elsewhere_for_every_type)
{
	for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
		expect_integer(integers[i], "zero", 0, true, "f returned 0");
		expect_integer(integers[i], "zero", 1, false, "{\"result\":1}");
		expect_integer(integers[i], "nonzero", 0, false, "{\"result\":0}");
		expect_integer(integers[i], "nonzero", 3, true, "f returned 3");
		expect_integer(integers[i], "none", 3, false, "{\"result\":3}");
		expect_integer(integers[i], "errno", 3, false, "{\"result\":3}");
	}
	expect_integer("bool", "zero", 0, true, "f returned false");
	expect_integer("bool", "zero", 2, false, "{\"result\":true}");
	expect_integer("bool", "nonzero", 2, true, "f returned true");
	expect_integer("bool", "nonzero", 256, false, "{\"result\":false}");
}

/* A type is only as wide as declared: the bits above it are no part of it. */
Test(native_returns, looks_at_no_bit_beyond_the_type)
{
	expect_integer("i8", "negative", 128, true, "f returned -128");
	expect_integer("i8", "zero", 256, true, "f returned 0");
	expect_integer("u8", "nonzero", 256, false, "{\"result\":0}");
	expect_integer("i16", "negative", 0x8000, true, "f returned -32768");
	expect_integer("u16", "zero", 0x10000, true, "f returned 0");
	expect_integer("u32", "none", -1, false, "{\"result\":4294967295}");
}

static void expect_float(const char *type, void *address, const char *rule, const char *value,
	bool is_failure, const char *answer)
{
	char object[256];
	char arguments[32];
	const char *found;
	bool has_failed;

	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"%s\"}],"
		"\"returns\":{\"type\":\"%s\",\"errors\":\"%s\"}}",
		type, type, rule);
	snprintf(arguments, sizeof(arguments), "{\"a\":%s}", value);
	found = in_process_call(object, address, NULL, arguments, &has_failed);
	cr_expect_eq(has_failed, is_failure, "%s %s %s", type, rule, value);
	cr_expect_str_eq(found, answer, "%s %s %s: %s", type, rule, value, found);
}

Test(native_returns, holds_floats_to_the_same_rules)
{
	static const struct {
		const char *type;
		void *address;
	} rows[] = {{"f32", (void *)same_f32}, {"f64", (void *)same_f64}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		expect_float(
			rows[i].type, rows[i].address, "negative", "-0.5", true, "f returned -0.5");
		expect_float(rows[i].type, rows[i].address, "negative", "-0.0", false,
			"{\"result\":-0.0}");
		expect_float(
			rows[i].type, rows[i].address, "zero", "-0.0", true, "f returned -0.0");
		expect_float(rows[i].type, rows[i].address, "zero", "1", false, "{\"result\":1.0}");
		expect_float(
			rows[i].type, rows[i].address, "nonzero", "0", false, "{\"result\":0.0}");
		expect_float(
			rows[i].type, rows[i].address, "nonzero", "0.25", true, "f returned 0.25");
		expect_float(
			rows[i].type, rows[i].address, "errno", "2", false, "{\"result\":2.0}");
	}
}

static char *lend(const char *text, int32_t error)
{
	errno = error;
	return text ? strdup(text) : NULL;
}

#define LEND(type, members)                                                                        \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"text\",\"type\":\"bytes\","                 \
	"\"nullable\":true},{\"name\":\"error\",\"type\":\"i32\",\"default\":0}],"                 \
	"\"returns\":{\"type\":\"" type "\",\"transfer\":\"full\"" members "}}"

/* base64 of what lend() copies, each with its NUL. */
#define ONE      "{\"text\":\"MQA=\"" /* 1 */
#define NOTHING  "{\"text\":null"
#define NO_UTF8  "{\"text\":\"/wA=\""
#define NO_JSON  "{\"text\":\"WwA=\"" /* [ */
#define NO_ERROR "}"
#define AN_ERROR ",\"error\":5}"

Test(native_returns, frees_what_is_handed_over_whatever_becomes_of_it)
{
	static const struct {
		const char *object;
		const char *arguments;
		bool is_failure;
		unsigned int n_freed;
		const char *answer;
	} rows[] = {
		{LEND("str", ""), ONE NO_ERROR, false, 1, "{\"result\":\"1\"}"},
		{LEND("json", ""), ONE NO_ERROR, false, 1, "{\"result\":1}"},
		{LEND("str", ""), NOTHING NO_ERROR, true, 0, "f returned NULL"},
		{LEND("json", ""), NOTHING NO_ERROR, true, 0, "f returned NULL"},
		{LEND("str", ",\"nullable\":true"), NOTHING NO_ERROR, false, 0,
			"{\"result\":null}"},
		{LEND("json", ",\"nullable\":true"), NOTHING NO_ERROR, false, 0,
			"{\"result\":null}"},
		{LEND("str", ",\"errors\":\"null\""), NOTHING AN_ERROR, true, 0,
			"f returned NULL: EIO (Input/output error)"},
		{LEND("json", ",\"errors\":\"null\""), NOTHING AN_ERROR, true, 0,
			"f returned NULL: EIO (Input/output error)"},
		{LEND("str", ",\"errors\":\"null\""), ONE AN_ERROR, false, 1, "{\"result\":\"1\"}"},
		{LEND("str", ",\"errors\":\"errno\""), ONE AN_ERROR, true, 1,
			"f returned a text: EIO (Input/output error)"},
		{LEND("json", ",\"errors\":\"errno\""), ONE AN_ERROR, true, 1,
			"f returned a text: EIO (Input/output error)"},
		{LEND("json", ",\"errors\":\"errno\",\"nullable\":true"), NOTHING AN_ERROR, true, 0,
			"f returned NULL: EIO (Input/output error)"},
		{LEND("str", ""), NO_UTF8 NO_ERROR, true, 1, "f returned text that is not UTF-8"},
		{LEND("json", ""), NO_UTF8 NO_ERROR, true, 1, "f returned text that is not UTF-8"},
		{LEND("json", ""), NO_JSON NO_ERROR, true, 1,
			"f returned text that is not JSON (byte 1: expected a value, but the text "
			"ends)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool is_failure;
		const char *answer;

		n_freed = 0;
		answer = in_process_call(rows[i].object, (void *)lend, count_and_free,
			rows[i].arguments, &is_failure);
		cr_expect_str_eq(answer, rows[i].answer, "row %zu: %s", i, answer);
		cr_expect_eq(is_failure, rows[i].is_failure, "row %zu", i);
		cr_expect_eq(n_freed, rows[i].n_freed, "row %zu: %u", i, n_freed);
	}
}

static void set_error(int32_t *value, int32_t error)
{
	*value = 1;
	errno = error;
}

Test(native_returns, holds_a_function_that_returns_nothing_to_errno)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"value\",\"type\":\"i32\",\"dir\":"
		"\"out\"},{\"name\":\"error\",\"type\":\"i32\"}],"
		"\"returns\":{\"type\":\"void\",\"errors\":\"errno\"}}";
	bool is_failure;

	cr_expect_str_eq(
		in_process_call(object, (void *)set_error, NULL, "{\"error\":0}", &is_failure),
		"{\"value\":1}");
	cr_expect_not(is_failure);
	cr_expect_str_eq(
		in_process_call(object, (void *)set_error, NULL, "{\"error\":13}", &is_failure),
		"f failed: EACCES (Permission denied)");
	cr_expect(is_failure);
}

/* Text of exactly the largest size, and one byte longer. */
static char *long_text(int64_t size)
{
	char *text = malloc((size_t)size + 1);

	memset(text, 'x', (size_t)size);
	text[size] = '\0';
	return text;
}

Test(native_returns, takes_text_up_to_64_mebibytes)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"size\",\"type\":\"i64\"}],"
		"\"returns\":{\"type\":\"str\",\"transfer\":\"full\"}}";
	const char *answer;
	bool is_failure;

	answer = in_process_call(
		object, (void *)long_text, count_and_free, "{\"size\":67108864}", &is_failure);
	cr_expect_not(is_failure);
	cr_expect_eq(strlen(answer), 67108864 + strlen("{\"result\":\"\"}"));
	answer = in_process_call(
		object, (void *)long_text, count_and_free, "{\"size\":67108865}", &is_failure);
	cr_expect(is_failure);
	cr_expect_str_eq(answer, "f returned a text of more than 67108864 bytes");
	cr_expect_eq(n_freed, 2);
}

/* A number under a rule that names a number. */
static void expect_number(
	const char *type, const char *rule, const char *value, bool is_failure, const char *answer)
{
	char object[256];
	char arguments[64];
	const char *found;
	bool has_failed;

	snprintf(object, sizeof(object),
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i64\"}],"
		"\"returns\":{\"type\":\"%s\",\"errors\":{%s}}}",
		type, rule);
	snprintf(arguments, sizeof(arguments), "{\"a\":%s}", value);
	found = in_process_call(object, (void *)same_integer, NULL, arguments, &has_failed);
	cr_expect_eq(has_failed, is_failure, "%s %s %s", type, rule, value);
	cr_expect_str_eq(found, answer, "%s %s %s: %s", type, rule, value, found);
}

Test(native_returns, fails_at_a_number_or_at_every_other)
{
	for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
		expect_number(integers[i], "\"equals\":7", "7", true, "f returned 7");
		expect_number(integers[i], "\"equals\":7", "8", false, "{\"result\":8}");
		expect_number(integers[i], "\"not_equals\":101", "101", false, "{\"result\":101}");
		expect_number(integers[i], "\"not_equals\":101", "100", true, "f returned 100");
	}
	for (size_t i = 0; i < N_SIGNED; i++) {
		expect_number(integers[i], "\"equals\":-1", "-1", true, "f returned -1");
		expect_number(integers[i], "\"equals\":-1", "1", false, "{\"result\":1}");
		expect_number(
			integers[i], "\"not_equals\":-128", "-128", false, "{\"result\":-128}");
	}
	expect_number("i8", "\"equals\":-128", "128", true, "f returned -128");
	expect_number("i64", "\"equals\":-9223372036854775808", "-9223372036854775808", true,
		"f returned -9223372036854775808");
	expect_number("u64", "\"equals\":9223372036854775807", "9223372036854775807", true,
		"f returned 9223372036854775807");
}

/* As GLib reports: by a structure that the function points an appended argument to. */
static int32_t report(int32_t code, void **error)
{
	static struct {
		uint32_t domain;
		int code;
		const char *message;
	} reported;

	reported.code = code;
	reported.message = code == 1 ? "no such key" : code == 2 ? NULL : "\xff";
	if (code)
		*error = &reported;
	return code;
}

Test(native_returns, fails_with_the_words_of_a_gerror)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"code\",\"type\":\"i32\"}],"
		"\"returns\":{\"type\":\"i32\",\"errors\":\"gerror\"}}";
	static const char *const rows[][2] = {
		{"{\"code\":0}", "{\"result\":0}"},
		{"{\"code\":1}", "f: no such key"},
		{"{\"code\":2}", "f: error 2"},
		{"{\"code\":3}", "f: \xef\xbf\xbd"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool is_failure;
		const char *answer =
			in_process_call(object, (void *)report, NULL, rows[i][0], &is_failure);

		cr_expect_str_eq(answer, rows[i][1], "row %zu: %s", i, answer);
		cr_expect_eq(is_failure, i > 0);
	}
}
