/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "native_fixture.h"
#include "util/cleanup.h"

/* The words for the value as a parameter of the type; "" when it can be passed. */
static const char *refusal_of(enum native_type type, bool is_nullable, const char *value)
{
	static char words[256];
	struct native_parameter parameter = {.type = type,
		.items = NATIVE_I8,
		.is_nullable = is_nullable,
		.capacity_from = NATIVE_NONE,
		.most = NATIVE_UNBOUNDED};
	const struct native_function function = {.parameters = &parameter, .n_parameters = 1};
	const struct native_arguments none = {0};
	cleanup(buffer_deinit) struct buffer refusal = {0};
	struct json_tape tape = {0};
	int r;

	native_read_tape(&tape, value);
	r = native_check_value(&function, 0, &none, &tape, 0, &refusal);
	cr_assert_eq(r, refusal.size > 0 ? NATIVE_E_REFUSED : 0);
	snprintf(words, sizeof(words), "%.*s", (int)refusal.size, refusal.data ? refusal.data : "");
	json_tape_deinit(&tape);
	return words;
}

static void expect_passes(enum native_type type, bool is_nullable, const char *value)
{
	const char *words = refusal_of(type, is_nullable, value);

	cr_expect_str_eq(words, "", "%s: %s", value, words);
}

static void expect_refused(enum native_type type, const char *value, const char *words)
{
	const char *found = refusal_of(type, false, value);

	cr_expect_str_eq(found, words, "%s: %s", value, found);
}

#define I64_WORDS "must be an integer from -9223372036854775808 to 9223372036854775807"
#define I32_WORDS "must be an integer from -2147483648 to 2147483647"
#define U64_WORDS "must be an integer from 0 to 18446744073709551615"
#define U32_WORDS "must be an integer from 0 to 4294967295"
#define F32_WORDS "must be a number within the range of a 32-bit float"
#define F64_WORDS "must be a number within the range of a 64-bit float"

Test(native_check, lets_integers_pass_up_to_their_edges)
{
	static const struct {
		enum native_type type;
		const char *good[2];
		const char *bad[3];
		const char *words;
	} rows[] = {
		{NATIVE_I8, {"-128", "127"}, {"-129", "128", "null"},
			"must be an integer from -128 to 127"},
		{NATIVE_I16, {"-32768", "32767"}, {"-32769", "32768", "\"1\""},
			"must be an integer from -32768 to 32767"},
		{NATIVE_I32, {"-2147483648", "2147483647"}, {"-2147483649", "2147483648", "0.5"},
			I32_WORDS},
		{NATIVE_I64, {"-9223372036854775808", "9223372036854775807"},
			{"-9223372036854775809", "9223372036854775808", "true"}, I64_WORDS},
		{NATIVE_U8, {"0", "255"}, {"-1", "256", "[]"}, "must be an integer from 0 to 255"},
		{NATIVE_U16, {"-0", "65535"}, {"-1", "65536", "{}"},
			"must be an integer from 0 to 65535"},
		{NATIVE_U32, {"0.0", "4294967295"}, {"-1", "4294967296", "null"}, U32_WORDS},
		{NATIVE_U64, {"0", "18446744073709551615"}, {"-1", "18446744073709551616", "null"},
			U64_WORDS},
#if SIZE_MAX > UINT32_MAX
		{NATIVE_ISIZE, {"-9223372036854775808", "9223372036854775807"},
			{"-9223372036854775809", "9223372036854775808", "null"}, I64_WORDS},
		{NATIVE_USIZE, {"0", "18446744073709551615"}, {"1.5", "1e20", "-1"}, U64_WORDS},
#else
		{NATIVE_ISIZE, {"-2147483648", "2147483647"}, {"-2147483649", "2147483648", "null"},
			I32_WORDS},
		{NATIVE_USIZE, {"0", "4294967295"}, {"1.5", "4294967296", "-1"}, U32_WORDS},
#endif
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t j = 0; j < 2; j++)
			expect_passes(rows[i].type, false, rows[i].good[j]);
		for (size_t j = 0; j < 3; j++)
			expect_refused(rows[i].type, rows[i].bad[j], rows[i].words);
	}
}

Test(native_check, lets_floats_pass_that_are_finite_at_their_width)
{
	expect_passes(NATIVE_F32, false, "3.4028235e38");
	expect_passes(NATIVE_F64, false, "1e308");
	expect_passes(NATIVE_F64, false, "1e-400");
	expect_refused(NATIVE_F32, "3.5e38", F32_WORDS);
	expect_refused(NATIVE_F32, "null", F32_WORDS);
	expect_refused(NATIVE_F64, "1e309", F64_WORDS);
	expect_refused(NATIVE_F64, "\"1\"", F64_WORDS);
}

Test(native_check, lets_booleans_pass)
{
	expect_passes(NATIVE_BOOL, false, "true");
	expect_passes(NATIVE_BOOL, false, "false");
	expect_refused(NATIVE_BOOL, "0", "must be true or false");
	expect_refused(NATIVE_BOOL, "null", "must be true or false");
}

Test(native_check, lets_up_to_65536_texts_pass)
{
	static const char words[] = "must be an array of at most 65536 strings";
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_char(&text, '[');
	for (int i = 0; i < 65536; i++)
		buffer_append_string(&text, i > 0 ? ",\"\"" : "\"\"");
	buffer_append_char(&text, ']');
	expect_passes(NATIVE_STRV, false, buffer_terminate(&text));
	text.size--;
	buffer_append_string(&text, ",\"\"]");
	expect_refused(NATIVE_STRV, buffer_terminate(&text), words);
	expect_refused(NATIVE_STRV, "\"\"", words);
	cr_expect_str_eq(refusal_of(NATIVE_STRV, true, "1"),
		"must be an array of at most 65536 strings, or null");
	expect_passes(NATIVE_STRV, true, "null");
	expect_refused(NATIVE_STRV, "[\"a\",\"b\",1]",
		"must be an array whose element 2 must be a string");
	expect_refused(NATIVE_STRV, "[\"a\",\"b\\u0000\"]",
		"must be an array whose element 1 must be a string without U+0000");
}

Test(native_check, lets_text_pass_that_c_can_hold)
{
	expect_passes(NATIVE_STR, false, "\"\"");
	expect_passes(NATIVE_STR, false, "\"\\\\u0000\"");
	expect_passes(NATIVE_STR, false, "\"\\u0001\\n\"");
	expect_passes(NATIVE_STR, true, "null");
	cr_expect_str_eq(
		refusal_of(NATIVE_STR, false, "\"\\u0000\""), "must be a string without U+0000");
	cr_expect_str_eq(refusal_of(NATIVE_STR, false, "\"\\\\\\u0000\""),
		"must be a string without U+0000");
	cr_expect_str_eq(refusal_of(NATIVE_STR, false, "null"), "must be a string");
	cr_expect_str_eq(refusal_of(NATIVE_STR, true, "1"), "must be a string or null");
}

#define NOT_BASE64 "must be a string in base64, padded and without white space"

Test(native_check, lets_bytes_pass_that_are_base64)
{
	expect_passes(NATIVE_BYTES, false, "\"\"");
	expect_passes(NATIVE_BYTES, false, "\"Zm8=\"");
	expect_passes(NATIVE_BYTES, false, "\"\\/\\/\\/\\/\"");
	expect_passes(NATIVE_BYTES, false, "\"\\u005am8=\"");
	expect_passes(NATIVE_BYTES, true, "null");
	cr_expect_str_eq(refusal_of(NATIVE_BYTES, false, "\"Zm8\""), NOT_BASE64);
	cr_expect_str_eq(refusal_of(NATIVE_BYTES, false, "\"Zm8=\\n\""), NOT_BASE64);
	cr_expect_str_eq(refusal_of(NATIVE_BYTES, false, "null"), NOT_BASE64);
	cr_expect_str_eq(refusal_of(NATIVE_BYTES, true, "[]"), NOT_BASE64 ", or null");
}

Test(native_check, lets_any_json_pass_as_json)
{
	static const char *const values[] = {
		"null", "1e400", "\"\\u0000\"", "[[]]", "{\"a\":{}}", "false"};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		expect_passes(NATIVE_JSON, false, values[i]);
		expect_passes(NATIVE_JSON, true, values[i]);
	}
}

Test(native_check, tells_the_element_that_cannot_be_passed)
{
	expect_passes(NATIVE_ARRAY, false, "[]");
	expect_passes(NATIVE_ARRAY, false, "[-128,127,1e2]");
	expect_passes(NATIVE_ARRAY, true, "null");
	cr_expect_str_eq(refusal_of(NATIVE_ARRAY, false, "[1,2,128,129]"),
		"must be an array whose element 2 must be an integer from -128 to 127");
	cr_expect_str_eq(refusal_of(NATIVE_ARRAY, false, "[[1]]"),
		"must be an array whose element 0 must be an integer from -128 to 127");
	cr_expect_str_eq(refusal_of(NATIVE_ARRAY, false, "null"), "must be an array");
	cr_expect_str_eq(refusal_of(NATIVE_ARRAY, true, "{}"), "must be an array or null");
}

/* The words for parameter 0 of @object in a call with @arguments, which name it "a". */
static const char *refusal_in(const char *object, const char *arguments)
{
	static char words[256];
	struct native_function function;
	cleanup(buffer_deinit) struct buffer refusal = {0};
	struct json_tape tape = {0};
	const struct native_arguments all = {&tape, 0};

	native_read_good(object, &function);
	native_read_tape(&tape, arguments);
	native_check_value(&function, 0, &all, &tape, json_find(&tape, 0, "a"), &refusal);
	snprintf(words, sizeof(words), "%.*s", (int)refusal.size, refusal.data ? refusal.data : "");
	json_tape_deinit(&tape);
	native_function_deinit(&function);
	return words;
}

#define WITH(a, more) "{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":" a "}" more "]}"

Test(native_check, holds_what_comes_in_against_its_capacity)
{
	static const char text[] = WITH("\"str\",\"dir\":\"inout\",\"capacity\":4", "");
	static const char bytes[] = WITH("\"bytes\",\"dir\":\"inout\",\"capacity\":3", "");
	static const char array[] =
		WITH("\"array\",\"items\":\"i64\",\"dir\":\"inout\",\"capacity\":2", "");
	static const char json[] = WITH("\"json\",\"dir\":\"inout\",\"capacity\":5", "");

	cr_expect_str_eq(refusal_in(text, "{\"a\":\"abc\"}"), "");
	cr_expect_str_eq(refusal_in(text, "{\"a\":\"\\u0061bc\"}"), "");
	cr_expect_str_eq(refusal_in(text, "{\"a\":\"abcd\"}"), "must have at most 3 bytes, not 4");
	cr_expect_str_eq(refusal_in(text, "{\"a\":\"\xc3\xa9\xc3\xa9\"}"),
		"must have at most 3 bytes, not 4");
	cr_expect_str_eq(refusal_in(bytes, "{\"a\":\"Zm9v\"}"), "");
	cr_expect_str_eq(
		refusal_in(bytes, "{\"a\":\"Zm9vZg==\"}"), "must have at most 3 bytes, not 4");
	cr_expect_str_eq(refusal_in(array, "{\"a\":[1,2]}"), "");
	cr_expect_str_eq(
		refusal_in(array, "{\"a\":[1,2,3]}"), "must have at most 2 elements, not 3");
	cr_expect_str_eq(refusal_in(json, "{\"a\":true}"), "");
	cr_expect_str_eq(refusal_in(json, "{\"a\":false}"), "must have at most 4 bytes, not 5");
}

Test(native_check, holds_what_comes_in_against_the_capacity_that_a_caller_says)
{
	static const char object[] = WITH("\"str\",\"dir\":\"inout\",\"capacity\":\"n\"",
		",{\"name\":\"n\",\"type\":\"i32\",\"default\":3}");

	cr_expect_str_eq(refusal_in(object, "{\"a\":\"ab\"}"), "");
	cr_expect_str_eq(refusal_in(object, "{\"a\":\"abc\"}"), "must have at most 2 bytes, not 3");
	cr_expect_str_eq(refusal_in(object, "{\"a\":\"abc\",\"n\":4}"), "");
	cr_expect_str_eq(
		refusal_in(object, "{\"a\":\"a\",\"n\":1}"), "must have at most 0 bytes, not 1");
}

Test(native_check, bounds_what_a_caller_may_ask_for)
{
	static const char object[] = WITH("\"u64\"",
		",{\"name\":\"b\",\"type\":\"array\",\"items\":\"f64\",\"dir\":\"out\","
		"\"capacity\":\"a\"}");

	cr_expect_str_eq(refusal_in(object, "{\"a\":1}"), "");
	cr_expect_str_eq(refusal_in(object, "{\"a\":1048576}"), "");
	cr_expect_str_eq(refusal_in(object, "{\"a\":1048577}"),
		"must be an integer from 1 to 1048576, the size of a buffer");
	cr_expect_str_eq(refusal_in(object, "{\"a\":0}"),
		"must be an integer from 1 to 1048576, the size of a buffer");
}

Test(native_check, holds_a_length_against_the_integer_that_says_it)
{
	static const char object[] =
		WITH("\"str\"", ",{\"name\":\"n\",\"type\":\"i8\",\"length_of\":\"a\"}");
	char arguments[160] = "{\"a\":\"";

	memset(arguments + 6, 'x', 127);
	strcpy(arguments + 6 + 127, "\"}");
	cr_expect_str_eq(refusal_in(object, arguments), "");
	strcpy(arguments + 6 + 127, "x\"}");
	cr_expect_str_eq(refusal_in(object, arguments), "must have at most 127 bytes, not 128");
}

/* A struct `entry`, whose `name` has 5 bytes with its NUL. */
#define ENTRY(more)                                                                                \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"struct\",\"struct\":"        \
	"\"entry\"" more "}],\"structs\":{\"point\":{\"fields\":[{\"name\":\"x\",\"type\":"        \
	"\"i32\"}]},\"entry\":{\"fields\":[{\"name\":\"id\",\"type\":\"u8\",\"required\":true},"   \
	"{\"name\":\"name\",\"type\":\"str\",\"count\":5},"                                        \
	"{\"name\":\"note\",\"type\":\"str\",\"nullable\":true},"                                  \
	"{\"name\":\"digest\",\"type\":\"bytes\",\"count\":3},"                                    \
	"{\"name\":\"sizes\",\"type\":\"i16\",\"count\":3},"                                       \
	"{\"name\":\"at\",\"type\":\"struct\",\"struct\":\"point\"},"                              \
	"{\"name\":\"corners\",\"type\":\"struct\",\"struct\":\"point\",\"count\":2},"             \
	"{\"name\":\"handle\",\"type\":\"handle\"}]}}}"

Test(native_check, lets_structs_pass_whose_fields_pass)
{
	static const char *const rows[][2] = {
		{"{\"id\":1}", ""},
		{"{\"\\u0069d\":1,\"name\":\"abcd\",\"note\":null,\"digest\":\"AAAA\",\"sizes\":"
		 "[1,-2,3],\"at\":{},\"corners\":[{},{\"x\":1}]}",
			""},
		{"{\"id\":1,\"name\":\"\",\"digest\":\"\",\"sizes\":[],\"corners\":[]}", ""},
		{"[]", "must be an object"},
		{"null", "must be an object"},
		{"{}", "must be an object with 'id'"},
		{"{\"id\":256}", "must be an object whose 'id' must be an integer from 0 to 255"},
		{"{\"id\":1,\"size\":1}",
			"must be an object without 'size', which 'entry' has not"},
		{"{\"id\":1,\"\":1}", "must be an object without '', which 'entry' has not"},
		{"{\"id\":1,\"handle\":1}",
			"must be an object without 'handle', which 'entry' has not"},
		{"{\"id\":1,\"name\":\"abcde\"}",
			"must be an object whose 'name' must have at most 4 bytes, not 5"},
		{"{\"id\":1,\"name\":null}", "must be an object whose 'name' must be a string"},
		{"{\"id\":1,\"note\":5}",
			"must be an object whose 'note' must be a string or null"},
		{"{\"id\":1,\"digest\":\"AAAAAA==\"}",
			"must be an object whose 'digest' must have at most 3 bytes, not 4"},
		{"{\"id\":1,\"sizes\":[1,2,3,4]}",
			"must be an object whose 'sizes' must be an array of at most 3 elements"},
		{"{\"id\":1,\"sizes\":1}",
			"must be an object whose 'sizes' must be an array of at most 3 elements"},
		{"{\"id\":1,\"sizes\":[1,2,32768]}",
			"must be an object whose 'sizes' must be an array whose element 2 must be "
			"an integer from -32768 to 32767"},
		{"{\"id\":1,\"corners\":[{},{\"y\":1}]}",
			"must be an object whose 'corners' must be an array whose element 1 must "
			"be an object without 'y', which 'point' has not"},
		{"{\"id\":1,\"at\":{\"x\":null}}",
			"must be an object whose 'at' must be an object whose 'x' must be an "
			"integer from -2147483648 to 2147483647"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char arguments[256];
		const char *words;

		snprintf(arguments, sizeof(arguments), "{\"a\":%s}", rows[i][0]);
		words = refusal_in(ENTRY(""), arguments);
		cr_expect_str_eq(words, rows[i][1], "%s: %s", rows[i][0], words);
	}
	cr_expect_str_eq(refusal_in(ENTRY(",\"nullable\":true"), "{\"a\":null}"), "");
	cr_expect_str_eq(
		refusal_in(ENTRY(",\"nullable\":true"), "{\"a\":1}"), "must be an object or null");
}
