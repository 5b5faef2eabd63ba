/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/writer.h"

/* Fail unless @out has @expected; empty it. */
static void expect_text(struct buffer *out, const char *expected)
{
	const char *text = buffer_terminate(out);

	cr_assert_not_null(text);
	cr_assert_str_eq(text, expected);
	buffer_reset(out);
}

static void expect_f64(double value, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_f64(&out, value);
	expect_text(&out, expected);
}

static void expect_f32(float value, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_f32(&out, value);
	expect_text(&out, expected);
}

Test(json_writer, escapes_what_a_string_cannot_hold_and_nothing_else)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_string(&out, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\0|", 16);
	expect_text(&out, "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000|\"");
	json_write_text(&out, "caf\xc3\xa9 \xf0\x9d\x84\x9e 0123456789abcdef0123456789\n");
	expect_text(&out, "\"caf\xc3\xa9 \xf0\x9d\x84\x9e 0123456789abcdef0123456789\\n\"");
	json_write_text(&out, "");
	expect_text(&out, "\"\"");
	json_write_text(&out, NULL);
	expect_text(&out, "null");
}

Test(json_writer, replaces_bytes_that_are_not_utf8)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_bytes_lossy(&out, "a\xff\xc3\xa9\"\xed\xa0\x80\xe2\x82", 10);
	expect_text(&out,
		"\"a\xEF\xBF\xBD\xc3\xa9\\\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
		"\xEF\xBF\xBD\"");
	json_write_bytes_lossy(&out, "", 0);
	expect_text(&out, "\"\"");
}

Test(json_writer, writes_integers_of_every_size)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_i64(&out, 0);
	expect_text(&out, "0");
	json_write_i64(&out, INT64_MIN);
	expect_text(&out, "-9223372036854775808");
	json_write_i64(&out, INT64_MAX);
	expect_text(&out, "9223372036854775807");
	json_write_u64(&out, UINT64_MAX);
	expect_text(&out, "18446744073709551615");
}

Test(json_writer, writes_the_shortest_double_that_reads_back)
{
	expect_f64(0.0, "0.0");
	expect_f64(-0.0, "-0.0");
	expect_f64(3.0, "3.0");
	expect_f64(-1.5, "-1.5");
	expect_f64(0.1, "0.1");
	expect_f64(0.1 + 0.2, "0.30000000000000004");
	expect_f64(1.0 / 3.0, "0.3333333333333333");
	expect_f64(100.0, "100.0");
	expect_f64(123456.789, "123456.789");
	expect_f64(0.0001, "0.0001");
	expect_f64(0.00001234, "1.234e-05");
	expect_f64(1234567890123456.0, "1234567890123456.0");
	expect_f64(1e15, "1000000000000000.0");
	expect_f64(1e16, "1e+16");
	expect_f64(9007199254740993.0, "9007199254740992.0");
	expect_f64(123456789012345680.0, "1.2345678901234568e+17");
	expect_f64(1e300, "1e+300");
	expect_f64(DBL_MAX, "1.7976931348623157e+308");
	expect_f64(DBL_MIN, "2.2250738585072014e-308");
	expect_f64(-DBL_MIN, "-2.2250738585072014e-308");
	expect_f64(5e-324, "5e-324");
	expect_f64(1.5e-323, "1.5e-323");
}

Test(json_writer, finds_the_shorter_neighbour_at_a_power_of_two)
{
	/* The nearest 16 digits end in 1, and read back as another number. */
	expect_f64(0x1p-44, "5.684341886080802e-14");
	expect_f64(0x1p-1074 * 0x1p52, "2.2250738585072014e-308");
	expect_f64(9.5367431640625e-07, "9.5367431640625e-07");
}

Test(json_writer, writes_a_float_at_its_own_precision)
{
	expect_f32(0.1F, "0.1");
	expect_f32(16777216.0F, "16777216.0");
	expect_f32(3.4028235e38F, "3.4028235e+38");
	expect_f32(1e-45F, "1e-45");
	expect_f32(-0.0F, "-0.0");
	expect_f32(1.0F / 3.0F, "0.33333334");
	expect_f32(FLT_MIN, "1.1754944e-38");
}

Test(json_writer, reads_back_what_it_wrote)
{
	uint64_t state = 88172645463325252;

	for (int i = 0; i < 20000; i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		double value;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(&value, &state, sizeof(value));
		if (!isfinite(value))
			continue;
		json_write_f64(&out, value);
		cr_assert(strtod(buffer_terminate(&out), NULL) == value, "%s", out.data);
		cr_assert_lt(out.size, JSON_NUMBER_BYTES);
	}
}

Test(json_writer, does_not_follow_the_locale)
{
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		cr_skip_test("no locale with a decimal comma is installed");
	expect_f64(1.5, "1.5");
	expect_f32(0.25F, "0.25");
}

Test(json_writer, writes_a_key_with_its_colon)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_key(&out, "name");
	expect_text(&out, "\"name\":");
}

static const char spaced[] =
	" { \"a b\" : [ 1.50 , \"x \\\" ]\" , { } , [ ] ] ,\n\t\"c\":\r null } ";

Test(json_writer, takes_out_white_space_and_keeps_every_other_byte)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, spaced, sizeof(spaced) - 1, 9, NULL), 0);
	json_write_compact(&out, &tape, 0);
	expect_text(&out, "{\"a b\":[1.50,\"x \\\" ]\",{},[]],\"c\":null}");
	json_write_compact(&out, &tape, 4);
	expect_text(&out, "\"x \\\" ]\"");
	json_write_compact(&out, &tape, 3);
	expect_text(&out, "1.50");
}

/* In a block of its own, whose end the sanitizer knows. */
Test(json_writer, writes_no_byte_after_the_last_one)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *text = malloc(2);

	cr_assert_not_null(text);
	memcpy(text, "42", 2);
	cr_assert_eq(json_tape_read(&tape, text, 2, 1, NULL), 0);
	json_write_compact(&out, &tape, 0);
	expect_text(&out, "42");
	json_write_indented(&out, &tape, 0, 2);
	expect_text(&out, "42");
}

Test(json_writer, indents_for_people)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, spaced, sizeof(spaced) - 1, 9, NULL), 0);
	json_write_indented(&out, &tape, 0, 2);
	expect_text(&out, "{\n  \"a b\": [\n    1.50,\n    \"x \\\" ]\",\n    {},\n    []\n  ],\n"
			  "  \"c\": null\n}");
	json_write_indented(&out, &tape, 3, 2);
	expect_text(&out, "1.50");
	json_write_indented(&out, &tape, 4, 4);
	expect_text(&out, "\"x \\\" ]\"");
}

/* Python's json.dumps() and .NET escape every letter beyond ASCII. */
Test(json_writer, decodes_the_escapes_of_characters_that_need_none)
{
	static const char text[] = "{ \"r\\u0061um\" : \"K\\u00fcche \\ud83d\\ude00 \\/\", "
				   "\"b\":[\"\\u0022\\\\\\n\\u001b\\u0085\"]}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	json_write_readable(&out, text, strlen(text));
	expect_text(&out, "{\"raum\":\"K\xC3\xBC"
			  "che \xF0\x9F\x98\x80 /\",\"b\":[\"\\u0022\\\\\\n\\u001b\\u0085\"]}");
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 9, NULL), 0);
	json_write_indented(&out, &tape, json_find(&tape, 0, "raum"), 2);
	expect_text(&out, "\"K\xC3\xBC"
			  "che \xF0\x9F\x98\x80 /\"");
}

Test(json_writer, decodes_no_escape_that_a_reader_would_not_see)
{
	static const char *const kept[] = {
		"\\u001f", "\\u007f", "\\u0080", "\\u009f", "\\ufffd", "\\ud800"};
	static const char *const decoded[][2] = {{"\\u0020", " "}, {"\\u007e", "~"},
		{"\\u00a0", "\xC2\xA0"}, {"\\u20ac", "\xE2\x82\xAC"}, {"\\uffc0", "\xEF\xBF\x80"}};
	char text[16];

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		snprintf(text, sizeof(text), "\"%s\"", kept[i]);
		json_write_readable(&out, text, strlen(text));
		expect_text(&out, text);
	}
	for (size_t i = 0; i < sizeof(decoded) / sizeof(*decoded); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		char expected[16];

		snprintf(text, sizeof(text), "\"%s\"", decoded[i][0]);
		snprintf(expected, sizeof(expected), "\"%s\"", decoded[i][1]);
		json_write_readable(&out, text, strlen(text));
		expect_text(&out, expected);
	}
}

Test(json_writer, stops_indenting_at_the_limit_of_the_buffer, .timeout = 10)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {.limit = 100000};
	const size_t depth = 1000000;
	cleanup_free char *text = malloc(2 * depth);

	cr_assert_not_null(text);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	cr_assert_eq(json_tape_read(&tape, text, 2 * depth, (uint32_t)depth, NULL), 0);
	json_write_indented(&out, &tape, 0, 2);
	cr_assert_neq(buffer_status(&out), 0);
}

Test(json_writer, escapes_a_pointer_as_rfc_6901_says)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	json_pointer_append(&out, "a~/b", 4);
	json_pointer_append_index(&out, 4294967295);
	json_pointer_append(&out, "", 0);
	expect_text(&out, "/a~0~1b/4294967295/");
}

/* Each size, with each character in each place. */
Test(json_writer, escapes_a_character_wherever_it_is)
{
	static const char *const characters[][2] = {{"\"", "\\\""}, {"\\", "\\\\"}, {"\n", "\\n"},
		{"\x1f", "\\u001f"}, {"\xc3\xa9", "\xc3\xa9"}, {"\x7f", "\x7f"}};
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (size_t size = 0; size < sizeof(plain); size++)
		for (size_t at = 0; at <= size; at++)
			for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++) {
				cleanup(buffer_deinit) struct buffer out = {0};
				cleanup_free char *text = NULL;
				char expected[64];
				int n = asprintf(&text, "%.*s%s%.*s", (int)at, plain,
					characters[i][0], (int)(size - at), plain + at);

				cr_assert_geq(n, 0);
				snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)at,
					plain, characters[i][1], (int)(size - at), plain + at);
				json_write_string(&out, text, (size_t)n);
				expect_text(&out, expected);
			}
}

Test(json_writer, writes_no_part_of_a_string_or_key_past_the_limit)
{
	struct buffer out = {.limit = 6};

	json_write_string(&out, "abcd", 4);
	expect_text(&out, "\"abcd\"");
	json_write_string(&out, "abcde", 5);
	cr_expect_eq(buffer_status(&out), -EMSGSIZE);
	buffer_reset(&out);
	json_write_key(&out, "abcd");
	cr_expect_eq(buffer_status(&out), -EMSGSIZE);
	cr_expect_eq(out.size, 0);
	buffer_deinit(&out);
}

Test(json_writer, writes_members_after_commas)
{
	static const char object[] = "{ \"k\" : [1, 2] }";
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, object, strlen(object), 8, NULL), 0);
	buffer_append_char(&out, '{');
	json_write_member_text(&out, "a", "x\xff");
	json_write_member_text(&out, "b", NULL);
	json_write_member_u64(&out, "c", UINT64_MAX);
	json_write_member_json(&out, "d", "[]x", 2);
	json_write_member_value(&out, "e", &tape, json_find(&tape, 0, "k"));
	json_write_member_copy(&out, &tape, 1);
	expect_text(&out, "{\"a\":\"x\xEF\xBF\xBD\",\"b\":null,\"c\":18446744073709551615,\"d\":[],"
			  "\"e\":[1,2],\"k\":[1,2]");
}

Test(json_writer, writes_lists_of_texts)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	char *texts[] = {(char[]){"a\""}, (char[]){""}, (char[]){"c"}};

	json_write_texts(&out, texts, 0);
	json_write_texts(&out, texts, 1);
	json_write_texts(&out, texts, 3);
	expect_text(&out, "[][\"a\\\"\"][\"a\\\"\",\"\",\"c\"]");
}

Test(json_writer, merges_objects_at_every_depth)
{
	static const char *const rows[][3] = {
		{"{}", "{}", "{}"},
		{"{\"a\":1}", "{}", "{\"a\":1}"},
		{"{}", "{\"a\":1}", "{\"a\":1}"},
		{"{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}", "{\"a\":1,\"b\":3,\"c\":4}"},
		{"{\"a\":{\"b\":1,\"c\":{\"d\":2}}}", "{\"a\":{\"c\":{\"e\":3},\"b\":null}}",
			"{\"a\":{\"b\":null,\"c\":{\"d\":2,\"e\":3}}}"},
		{"{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}"},
		{"{\"a\":{\"b\":1}}", "{\"a\":5}", "{\"a\":5}"},
		{"{\"a\":5}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"},
		{"[1]", "{\"a\":1}", "{\"a\":1}"},
		{"{\"a\":1}", "[1]", "[1]"},
		{"{\"\\u0061\":1}", "{\"a\":2}", "{\"\\u0061\":2}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(json_tape_cleanup) struct json_tape under = {0};
		cleanup(json_tape_cleanup) struct json_tape over = {0};

		cr_assert_eq(json_tape_read(&under, rows[i][0], strlen(rows[i][0]), 8, NULL), 0);
		cr_assert_eq(json_tape_read(&over, rows[i][1], strlen(rows[i][1]), 8, NULL), 0);
		json_write_merged(&out, &under, 0, &over, 0);
		expect_text(&out, rows[i][2]);
	}
}
