/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "registry/native.h"
#include "util/cleanup.h"

/* An object with one parameter, one with a return value: the type and what follows it. */
#define PARAMETER(members)                                                                         \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":" members "}]}"
#define RETURNS(members) "{\"symbol\":\"f\",\"returns\":{\"type\":" members "}}"

static void read_tape(struct json_tape *tape, const char *text)
{
	struct json_error error;

	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, &error), 0,
		"%s: %s", text, error.message);
}

static void read_good(const char *text, struct native_function *ret_function)
{
	struct native_error error = {0};
	struct json_tape tape = {0};
	int r;

	read_tape(&tape, text);
	r = native_function_read(&tape, 0, ret_function, &error);
	cr_assert_eq(r, 0, "%s: %s", text, error.message.data ? error.message.data : "");
	json_tape_deinit(&tape);
	buffer_deinit(&error.message);
}

/* The object is refused with exactly @message, at the token whose text is @place. */
static void expect_refused(const char *text, const char *place, const char *message)
{
	struct native_function function = {0};
	struct native_error error = {0};
	struct json_tape tape = {0};
	const char *found;
	size_t size;

	read_tape(&tape, text);
	cr_assert_eq(native_function_read(&tape, 0, &function, &error), NATIVE_E_REFUSED,
		"%s is not refused", text);
	cr_expect_str_eq(error.message.data, message, "%s: %s", text, error.message.data);
	found = json_value_text(&tape, error.token, &size);
	cr_expect(size == strlen(place) && memcmp(found, place, size) == 0, "%s: at %.*s", text,
		(int)size, found);
	json_tape_deinit(&tape);
	buffer_deinit(&error.message);
}

static void expect_text(void (*write)(const struct native_function *, struct buffer *),
	const char *object, const char *expected)
{
	struct native_function function;
	struct buffer text = {0};

	read_good(object, &function);
	write(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	native_function_deinit(&function);
	buffer_deinit(&text);
}

Test(native, reads_what_a_manifest_says)
{
	struct native_function function;

	read_good("{\"symbol\":\"f\",\"parameters\":["
		  "{\"name\":\"a\",\"type\":\"i64\",\"description\":\"First\",\"default\":-3},"
		  "{\"name\":\"b-1\",\"type\":\"str\",\"nullable\":true,\"dir\":\"in\"},"
		  "{\"name\":\"_c\",\"type\":\"f32\",\"value\":1.5}],"
		  "\"returns\":{\"type\":\"str\",\"name\":\"text\",\"transfer\":\"full\","
		  "\"free\":\"f_free\",\"errors\":\"null\",\"description\":\"Text\"}}",
		&function);
	cr_expect_str_eq(function.symbol, "f");
	cr_assert_eq(function.n_parameters, 3);
	cr_expect_str_eq(function.parameters[0].name, "a");
	cr_expect_eq(function.parameters[0].type, NATIVE_I64);
	cr_expect_str_eq(function.parameters[0].description, "First");
	cr_expect_str_eq(function.parameters[0].default_json, "-3");
	cr_expect_null(function.parameters[0].value_json);
	cr_expect_eq(function.parameters[1].is_nullable, true);
	cr_expect_str_eq(function.parameters[2].value_json, "1.5");
	cr_expect_eq(function.return_type, NATIVE_STR);
	cr_expect_str_eq(function.return_name, "text");
	cr_expect_str_eq(function.return_description, "Text");
	cr_expect_str_eq(function.free_symbol, "f_free");
	cr_expect_eq(function.errors, NATIVE_ERRORS_NULL);
	native_function_deinit(&function);
}

Test(native, takes_what_is_left_out_as_usual)
{
	struct native_function function;

	read_good("{\"symbol\":\"f\"}", &function);
	cr_expect_eq(function.n_parameters, 0);
	cr_expect_eq(function.return_type, NATIVE_VOID);
	cr_expect_str_eq(function.return_name, "result");
	cr_expect_eq(function.errors, NATIVE_ERRORS_NONE);
	cr_expect_null(function.free_symbol);
	native_function_deinit(&function);
	read_good("{\"symbol\":\"f\",\"returns\":{\"type\":\"str\",\"transfer\":\"full\"}}",
		&function);
	cr_expect_str_eq(function.free_symbol, "free");
	native_function_deinit(&function);
}

Test(native, writes_what_it_reads)
{
	expect_text(native_write,
		"{\"returns\": {\"free\": \"g\", \"transfer\": \"full\", \"type\": \"str\","
		" \"errors\": \"errno\", \"nullable\": true, \"name\": \"n\"}, \"parameters\": ["
		" {\"type\": \"str\", \"name\": \"a\", \"nullable\": true, \"default\": null,"
		" \"description\": \"\\u00e9\"}, {\"name\": \"b\", \"type\": \"u64\","
		" \"value\": 18446744073709551615}], \"symbol\": \"f\"}",
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"str\","
		"\"description\":\"\xc3\xa9\",\"nullable\":true,\"default\":null},"
		"{\"name\":\"b\",\"type\":\"u64\",\"value\":18446744073709551615}],"
		"\"returns\":{\"type\":\"str\",\"name\":\"n\",\"nullable\":true,"
		"\"transfer\":\"full\",\"free\":\"g\",\"errors\":\"errno\"}}");
	expect_text(native_write, "{\"symbol\":\"f\"}",
		"{\"symbol\":\"f\",\"parameters\":[],"
		"\"returns\":{\"type\":\"void\",\"errors\":\"none\"}}");
}

Test(native, reads_what_it_writes)
{
	static const char *const objects[] = {
		"{\"symbol\":\"f\"}",
		"{\"symbol\":\"f\",\"returns\":{\"type\":\"void\",\"errors\":\"errno\"}}",
		"{\"symbol\":\"f\",\"returns\":{\"type\":\"str\",\"transfer\":\"full\"}}",
		PARAMETER("\"bool\",\"default\":false"),
		RETURNS("\"isize\",\"errors\":\"negative\""),
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		struct native_function function;
		struct buffer text = {0};

		read_good(objects[i], &function);
		native_write(&function, &text);
		native_function_deinit(&function);
		expect_text(native_write, buffer_terminate(&text), text.data);
		buffer_deinit(&text);
	}
}

Test(native, makes_the_schema_of_the_arguments)
{
	expect_text(native_write_argument_schema,
		"{\"symbol\":\"f\",\"parameters\":["
		"{\"name\":\"a\",\"type\":\"i64\",\"description\":\"First \\\"a\\\"\"},"
		"{\"name\":\"b\",\"type\":\"u8\",\"default\":7},"
		"{\"name\":\"hidden\",\"type\":\"i32\",\"value\":1},"
		"{\"name\":\"c\",\"type\":\"str\",\"nullable\":true},"
		"{\"name\":\"d\",\"type\":\"bool\"},{\"name\":\"e\",\"type\":\"f32\"}]}",
		"{\"type\":\"object\",\"properties\":{"
		"\"a\":{\"type\":\"integer\",\"description\":\"First \\\"a\\\"\"},"
		"\"b\":{\"type\":\"integer\",\"default\":7,\"minimum\":0,\"maximum\":255},"
		"\"c\":{\"type\":[\"string\",\"null\"]},"
		"\"d\":{\"type\":\"boolean\"},\"e\":{\"type\":\"number\"}},"
		"\"required\":[\"a\",\"d\",\"e\"],\"additionalProperties\":false}");
	expect_text(native_write_argument_schema, "{\"symbol\":\"f\"}",
		"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
}

Test(native, bounds_integers_up_to_32_bits_in_the_schema)
{
	static const char *const bounds[][2] = {
		{"i8", ",\"minimum\":-128,\"maximum\":127"},
		{"i16", ",\"minimum\":-32768,\"maximum\":32767"},
		{"i32", ",\"minimum\":-2147483648,\"maximum\":2147483647"},
		{"u8", ",\"minimum\":0,\"maximum\":255"},
		{"u16", ",\"minimum\":0,\"maximum\":65535"},
		{"u32", ",\"minimum\":0,\"maximum\":4294967295"},
		{"i64", ""},
		{"u64", ""},
		{"isize", ""},
		{"usize", ""},
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		char object[128];
		char schema[256];

		snprintf(object, sizeof(object), "{\"symbol\":\"f\",\"returns\":{\"type\":\"%s\"}}",
			bounds[i][0]);
		snprintf(schema, sizeof(schema),
			"{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"integer\"%s}},"
			"\"required\":[\"result\"]}",
			bounds[i][1]);
		expect_text(native_write_output_schema, object, schema);
	}
}

Test(native, makes_the_schema_of_the_result)
{
	expect_text(native_write_output_schema, "{\"symbol\":\"f\"}",
		"{\"type\":\"object\",\"properties\":{}}");
	expect_text(native_write_output_schema,
		"{\"symbol\":\"f\",\"returns\":{\"type\":\"str\",\"name\":\"text\","
		"\"nullable\":true,\"description\":\"Text\"}}",
		"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":[\"string\",\"null\"],"
		"\"description\":\"Text\"}}}");
}

Test(native, names_what_it_does_not_know)
{
	expect_refused(
		"{\"symbl\":\"f\"}", "\"symbl\"", "unknown key 'symbl'; did you mean 'symbol'?");
	expect_refused("{\"symbol\":\"f\",\"x\":1}", "\"x\"", "unknown key 'x'");
	expect_refused("{\"symbol\":\"f\",\"returns\":{\"type\":\"i8\",\"error\":\"none\"}}",
		"\"error\"", "unknown key 'error'; did you mean 'errors'?");
	expect_refused("{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\","
		       "\"defualt\":1}]}",
		"\"defualt\"", "unknown key 'defualt'; did you mean 'default'?");
}

Test(native, names_what_is_not_supported_yet)
{
	static const char *const later[] = {"length_of", "capacity", "items", "schema"};

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		char object[128];
		char place[32];
		char message[64];

		snprintf(object, sizeof(object),
			"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\","
			"\"%s\":1}]}",
			later[i]);
		snprintf(place, sizeof(place), "\"%s\"", later[i]);
		snprintf(message, sizeof(message), "'%s' is not supported by this version",
			later[i]);
		expect_refused(object, place, message);
	}
	expect_refused("{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"bytes\"}]}",
		"\"bytes\"", "type 'bytes' is not supported by this version");
	expect_refused("{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\","
		       "\"dir\":\"inout\"}]}",
		"\"inout\"", "dir 'inout' is not supported by this version");
	expect_refused("{\"symbol\":\"f\",\"returns\":{\"type\":\"i8\",\"length_of\":\"a\"}}",
		"\"length_of\"", "'length_of' is not supported by this version");
	expect_refused("{\"symbol\":\"f\",\"returns\":{\"type\":\"json\"}}", "\"json\"",
		"type 'json' is not supported by this version");
}

struct mistake {
	const char *object;
	const char *place;
	const char *message;
};

#define I8_WORDS "must be an integer from -128 to 127"

static const struct mistake mistakes[] = {
	{"[]", "[]", "must be an object that describes a C function, not an array"},
	{"{}", "{}", "'symbol' is missing: the function's name in the library"},
	{"{\"symbol\":\"\"}", "\"\"", "'symbol' must not be empty"},
	{"{\"symbol\":1}", "1", "must be the name of a function in the library, not 1"},
	{"{\"symbol\":\"a\\u0000b\"}", "\"a\\u0000b\"",
		"must be the name of a function in the library, without U+0000"},
	{"{\"symbol\":\"f\",\"parameters\":{}}", "{}",
		"must be an array of parameters, not an object"},
	{"{\"symbol\":\"f\",\"parameters\":[1]}", "1",
		"must be an object that describes a parameter, not 1"},
	{"{\"symbol\":\"f\",\"parameters\":[{\"type\":\"i8\"}]}", "{\"type\":\"i8\"}",
		"'name' is missing: the argument's key"},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"1a\",\"type\":\"i8\"}]}", "\"1a\"",
		"must be a name: a letter or '_', then letters, digits, '_' and '-', not \"1a\""},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"\",\"type\":\"i8\"}]}", "\"\"",
		"must be a name: a letter or '_', then letters, digits, '_' and '-', not \"\""},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\"}]}", "{\"name\":\"a\"}",
		"'type' is missing: it must be one of bool, i8, i16, i32, i64, u8, u16, u32, u64, "
		"isize, usize, f32, f64, str"},
	{PARAMETER("\"int\""), "\"int\"",
		"must be one of bool, i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, f32, "
		"f64, "
		"str, not \"int\""},
	{PARAMETER("\"void\""), "\"void\"", "'void' is only for what a function returns"},
	{PARAMETER("\"i8\",\"dir\":\"into\""), "\"into\"", "must be \"in\", not \"into\""},
	{PARAMETER("\"i8\",\"nullable\":true"), "true",
		"only a 'str' can be nullable, 'a' is of type i8"},
	{PARAMETER("\"str\",\"nullable\":1"), "1", "must be true or false, not 1"},
	{PARAMETER("\"i8\",\"default\":128"), "128", I8_WORDS ", not 128"},
	{PARAMETER("\"i8\",\"default\":1.5"), "1.5", I8_WORDS ", not 1.5"},
	{PARAMETER("\"i8\",\"default\":null"), "null", I8_WORDS ", not null"},
	{PARAMETER("\"i8\",\"value\":[]"), "[]", I8_WORDS ", not an array"},
	{PARAMETER("\"str\",\"value\":null"), "null", "must be a string, not null"},
	{PARAMETER("\"str\",\"nullable\":true,\"default\":1"), "1",
		"must be a string or null, not 1"},
	{PARAMETER("\"str\",\"default\":\"a\\u0000\""), "\"a\\u0000\"",
		"must be a string without U+0000, not \"a\\u0000\""},
	{PARAMETER("\"bool\",\"default\":0"), "0", "must be true or false, not 0"},
	{PARAMETER("\"i8\",\"default\":1,\"value\":2"), "1",
		"a parameter with 'value' is always passed that: it cannot have a 'default'"},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\"},"
	 "{\"name\":\"a\",\"type\":\"i8\"}]}",
		"\"a\"", "parameters 0 and 1 are both called 'a'"},
	{"{\"symbol\":\"f\",\"returns\":7}", "7",
		"must be an object that describes what is returned, not 7"},
	{"{\"symbol\":\"f\",\"returns\":{}}", "{}",
		"'type' is missing: it must be one of void, bool, i8, i16, i32, i64, u8, u16, u32, "
		"u64, isize, usize, f32, f64, str"},
	{RETURNS("\"void\",\"name\":\"x\""), "\"x\"",
		"a function that returns void has nothing to name"},
	{RETURNS("\"i8\",\"nullable\":true"), "true", "only a 'str' can be nullable, not i8"},
	{RETURNS("\"i8\",\"transfer\":\"full\""), "\"full\"",
		"only a 'str' can be handed over, not i8"},
	{RETURNS("\"str\",\"transfer\":\"some\""), "\"some\"",
		"must be \"none\" or \"full\", not \"some\""},
	{RETURNS("\"str\",\"free\":\"g\""), "\"g\"", "'free' needs \"transfer\": \"full\""},
	{RETURNS("\"str\",\"transfer\":\"full\",\"free\":\"\""), "\"\"",
		"'free' must not be empty"},
	{RETURNS("\"u8\",\"errors\":\"negative\""), "\"negative\"",
		"'negative' needs a signed number, and the function returns u8"},
	{RETURNS("\"bool\",\"errors\":\"negative\""), "\"negative\"",
		"'negative' needs a signed number, and the function returns bool"},
	{RETURNS("\"i8\",\"errors\":\"null\""), "\"null\"",
		"'null' needs a str, and the function returns i8"},
	{RETURNS("\"void\",\"errors\":\"zero\""), "\"zero\"",
		"'zero' needs a number, and the function returns void"},
	{RETURNS("\"str\",\"errors\":\"nonzero\""), "\"nonzero\"",
		"'nonzero' needs a number, and the function returns str"},
	{RETURNS("\"i8\",\"errors\":\"never\""), "\"never\"",
		"must be one of none, negative, nonzero, zero, null, errno, not \"never\""},
	{RETURNS("\"str\",\"nullable\":true,\"errors\":\"null\""), "true",
		"NULL cannot both be null ('nullable') and a failure (\"errors\": \"null\")"},
};

Test(native, tells_each_mistake_by_its_place_and_in_words)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++)
		expect_refused(mistakes[i].object, mistakes[i].place, mistakes[i].message);
}

Test(native, cuts_a_long_value_in_a_message)
{
	expect_refused("{\"symbol\":\"f\",\"returns\":{\"type\":"
		       "\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		       "abcdefghijklmnopqrstuvwxyz0123456789\"}}",
		"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"abcdefghijklmnopqrstuvwxyz0123456789\"",
		"must be one of void, bool, i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, "
		"f32, "
		"f64, str, not \"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9"
		"abcdefghijklmnopqrstuvwxyz0123…");
}

static void write_parameters(struct buffer *text, unsigned int count)
{
	buffer_append_string(text, "{\"symbol\":\"f\",\"parameters\":[");
	for (unsigned int i = 0; i < count; i++)
		buffer_printf(text, "%s{\"name\":\"p%u\",\"type\":\"i8\"}", i ? "," : "", i);
	buffer_append_string(text, "]}");
}

Test(native, takes_64_parameters_and_no_more)
{
	struct native_function function;
	struct native_error error = {0};
	struct json_tape tape = {0};
	struct buffer text = {0};

	write_parameters(&text, NATIVE_PARAMETERS_MAX);
	read_good(buffer_terminate(&text), &function);
	cr_expect_eq(function.n_parameters, NATIVE_PARAMETERS_MAX);
	native_function_deinit(&function);
	buffer_reset(&text);
	write_parameters(&text, NATIVE_PARAMETERS_MAX + 1);
	read_tape(&tape, buffer_terminate(&text));
	cr_expect_eq(native_function_read(&tape, 0, &function, &error), NATIVE_E_REFUSED);
	cr_expect_str_eq(error.message.data, "must have at most 64 parameters, not 65");
	json_tape_deinit(&tape);
	buffer_deinit(&error.message);
	buffer_deinit(&text);
}

static const char *refusal_of(enum native_type type, bool is_nullable, const char *value)
{
	struct native_parameter parameter = {.type = type, .is_nullable = is_nullable};
	struct json_tape tape = {0};
	const char *refusal;

	read_tape(&tape, value);
	refusal = native_refusal(&parameter, &tape, 0);
	json_tape_deinit(&tape);
	return refusal;
}

Test(native, lets_integers_pass_up_to_their_edges)
{
	static const struct {
		enum native_type type;
		const char *good[2];
		const char *bad[2];
	} rows[] = {
		{NATIVE_I8, {"-128", "127"}, {"-129", "128"}},
		{NATIVE_I16, {"-32768", "32767"}, {"-32769", "32768"}},
		{NATIVE_I32, {"-2147483648", "2147483647"}, {"-2147483649", "2147483648"}},
		{NATIVE_I64, {"-9223372036854775808", "9223372036854775807"},
			{"-9223372036854775809", "9223372036854775808"}},
		{NATIVE_U8, {"0", "255"}, {"-1", "256"}},
		{NATIVE_U16, {"-0", "65535"}, {"-1", "65536"}},
		{NATIVE_U32, {"0.0", "4294967295"}, {"-1", "4294967296"}},
		{NATIVE_U64, {"0", "18446744073709551615"}, {"-1", "18446744073709551616"}},
		{NATIVE_ISIZE, {"-9223372036854775808", "9223372036854775807"},
			{"-9223372036854775809", "9223372036854775808"}},
		{NATIVE_USIZE, {"0", "18446744073709551615"}, {"1.5", "1e20"}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t j = 0; j < 2; j++) {
			cr_expect_null(refusal_of(rows[i].type, false, rows[i].good[j]), "%s",
				rows[i].good[j]);
			cr_expect(refusal_of(rows[i].type, false, rows[i].bad[j]), "%s",
				rows[i].bad[j]);
		}
}

Test(native, lets_floats_pass_that_are_finite_at_their_width)
{
	cr_expect_null(refusal_of(NATIVE_F32, false, "3.4028235e38"));
	cr_expect_null(refusal_of(NATIVE_F64, false, "1e308"));
	cr_expect_null(refusal_of(NATIVE_F64, false, "1e-400"));
	cr_expect(refusal_of(NATIVE_F32, false, "3.5e38"));
	cr_expect(refusal_of(NATIVE_F64, false, "1e309"));
	cr_expect(refusal_of(NATIVE_F64, false, "\"1\""));
}

Test(native, lets_text_pass_that_c_can_hold)
{
	cr_expect_null(refusal_of(NATIVE_STR, false, "\"\""));
	cr_expect_null(refusal_of(NATIVE_STR, false, "\"\\\\u0000\""));
	cr_expect_null(refusal_of(NATIVE_STR, false, "\"\\u0001\\n\""));
	cr_expect_null(refusal_of(NATIVE_STR, true, "null"));
	cr_expect_str_eq(
		refusal_of(NATIVE_STR, false, "\"\\u0000\""), "must be a string without U+0000");
	cr_expect_str_eq(refusal_of(NATIVE_STR, false, "\"\\\\\\u0000\""),
		"must be a string without U+0000");
	cr_expect_str_eq(refusal_of(NATIVE_STR, false, "null"), "must be a string");
	cr_expect_str_eq(refusal_of(NATIVE_STR, true, "1"), "must be a string or null");
}
