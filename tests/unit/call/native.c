/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "native_fixture.h"
#include "util/cleanup.h"

static void expect_text(void (*write)(const struct native_function *, struct buffer *),
	const char *object, const char *expected)
{
	struct native_function function;
	cleanup(buffer_deinit) struct buffer text = {0};

	native_read_good(object, &function);
	write(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	native_function_deinit(&function);
}

Test(native, reads_what_a_manifest_says)
{
	struct native_function function;

	native_read_good(
		"{\"symbol\":\"f\",\"parameters\":["
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
	cr_expect_eq(function.returns.type, NATIVE_STR);
	cr_expect_str_eq(function.returns.name, "text");
	cr_expect_str_eq(function.returns.description, "Text");
	cr_expect_str_eq(function.returns.free_symbol, "f_free");
	cr_expect_eq(function.errors, NATIVE_ERRORS_NULL);
	native_function_deinit(&function);
}

Test(native, takes_what_is_left_out_as_usual)
{
	struct native_function function;

	native_read_good("{\"symbol\":\"f\"}", &function);
	cr_expect_eq(function.n_parameters, 0);
	cr_expect_eq(function.returns.type, NATIVE_VOID);
	cr_expect_str_eq(function.returns.name, "result");
	cr_expect_eq(function.errors, NATIVE_ERRORS_NONE);
	cr_expect_null(function.returns.free_symbol);
	native_function_deinit(&function);
	native_read_good("{\"symbol\":\"f\",\"returns\":{\"type\":\"str\",\"transfer\":\"full\"}}",
		&function);
	cr_expect_str_eq(function.returns.free_symbol, "free");
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
		RETURNS("\"i16\",\"errors\":{\"equals\":-5}"),
		RETURNS("\"u64\",\"errors\":{\"not_equals\":5}"),
		RETURNS("\"isize\",\"errors\":\"negative\""),
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		struct native_function function;
		cleanup(buffer_deinit) struct buffer text = {0};

		native_read_good(objects[i], &function);
		native_write(&function, &text);
		native_function_deinit(&function);
		expect_text(native_write, buffer_terminate(&text), text.data);
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
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	write_parameters(&text, NATIVE_PARAMETERS_MAX);
	native_read_good(buffer_terminate(&text), &function);
	cr_expect_eq(function.n_parameters, NATIVE_PARAMETERS_MAX);
	native_function_deinit(&function);
	buffer_reset(&text);
	write_parameters(&text, NATIVE_PARAMETERS_MAX + 1);
	native_read_tape(&tape, buffer_terminate(&text));
	cr_expect_eq(native_function_read(&tape, 0, NULL, &function, &problems), NATIVE_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, "must have at most 64 parameters, not 65");
}

/* Every key of a function, at least once. */
#define EVERYTHING                                                                                 \
	"{\"symbol\":\"f\",\"parameters\":["                                                       \
	"{\"name\":\"data\",\"type\":\"bytes\",\"description\":\"Data\"},"                         \
	"{\"name\":\"size\",\"type\":\"usize\",\"length_of\":\"data\"},"                           \
	"{\"name\":\"list\",\"type\":\"array\",\"items\":\"i16\",\"nullable\":true},"              \
	"{\"name\":\"plan\",\"type\":\"json\",\"schema\":{\"type\":\"object\"},"                   \
	"\"default\":{\"a\":[1]}},"                                                                \
	"{\"name\":\"room\",\"type\":\"u16\",\"default\":16},"                                     \
	"{\"name\":\"digest\",\"type\":\"bytes\",\"dir\":\"out\",\"capacity\":\"room\"},"          \
	"{\"name\":\"used\",\"type\":\"u32\",\"dir\":\"inout\",\"length_of\":\"digest\"},"         \
	"{\"name\":\"text\",\"type\":\"str\",\"dir\":\"inout\",\"description\":\"Text\","          \
	"\"default\":\"x\",\"capacity\":80},"                                                      \
	"{\"name\":\"floats\",\"type\":\"array\",\"items\":\"f32\",\"dir\":\"out\","               \
	"\"capacity\":3},"                                                                         \
	"{\"name\":\"count\",\"type\":\"i32\",\"dir\":\"inout\"},"                                 \
	"{\"name\":\"flag\",\"type\":\"bool\",\"dir\":\"out\"}],"                                  \
	"\"returns\":{\"type\":\"i32\",\"name\":\"status\",\"length_of\":\"text\","                \
	"\"errors\":\"negative\"}}"

Test(native, writes_all_that_can_be_said)
{
	expect_text(native_write, EVERYTHING, EVERYTHING);
	expect_text(native_write,
		"{\"symbol\":\"f\",\"returns\":{\"type\":\"json\",\"transfer\":\"full\","
		"\"schema\":{\"type\" : \"array\"},\"nullable\":true}}",
		"{\"symbol\":\"f\",\"parameters\":[],\"returns\":{\"type\":\"json\","
		"\"name\":\"result\",\"nullable\":true,\"schema\":{\"type\":\"array\"},"
		"\"transfer\":\"full\",\"free\":\"free\",\"errors\":\"none\"}}");
}

Test(native, shows_callers_what_goes_in_and_is_not_filled_in)
{
	expect_text(native_write_argument_schema, EVERYTHING,
		"{\"type\":\"object\",\"properties\":{"
		"\"data\":{\"type\":\"string\",\"description\":\"Data\","
		"\"contentEncoding\":\"base64\"},"
		"\"list\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"integer\","
		"\"minimum\":-32768,\"maximum\":32767}},"
		"\"plan\":{\"type\":\"object\",\"default\":{\"a\":[1]}},"
		"\"room\":{\"type\":\"integer\",\"default\":16,\"minimum\":0,\"maximum\":65535},"
		"\"text\":{\"type\":\"string\",\"description\":\"Text\",\"default\":\"x\"},"
		"\"count\":{\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647}},"
		"\"required\":[\"data\",\"count\"],\"additionalProperties\":false}");
}

Test(native, shows_what_is_returned_and_then_what_comes_out)
{
	expect_text(native_write_output_schema, EVERYTHING,
		"{\"type\":\"object\",\"properties\":{"
		"\"status\":{\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647},"
		"\"digest\":{\"type\":\"string\",\"contentEncoding\":\"base64\"},"
		"\"text\":{\"type\":\"string\",\"description\":\"Text\"},"
		"\"floats\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}},"
		"\"count\":{\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647},"
		"\"flag\":{\"type\":\"boolean\"}},"
		"\"required\":[\"status\",\"digest\",\"text\",\"floats\",\"count\",\"flag\"]}");
	expect_text(native_write_output_schema,
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i64\","
		"\"dir\":\"inout\",\"nullable\":true}]}",
		"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"integer\",\"null\"]}}}");
}

Test(native, puts_the_schema_of_a_json_where_its_value_is)
{
	expect_text(native_write_argument_schema, PARAMETER("\"json\",\"description\":\"A\""),
		"{\"type\":\"object\",\"properties\":{\"a\":{\"description\":\"A\"}},"
		"\"required\":[\"a\"],\"additionalProperties\":false}");
	expect_text(native_write_argument_schema,
		PARAMETER("\"json\",\"schema\":{\"description\":\"B\"},\"default\":1"),
		"{\"type\":\"object\",\"properties\":{\"a\":{\"description\":\"B\",\"default\":1}},"
		"\"additionalProperties\":false}");
	expect_text(native_write_argument_schema,
		PARAMETER("\"json\",\"schema\":{\"minimum\":2},\"nullable\":true"),
		"{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"minimum\":2},"
		"{\"type\":\"null\"}]}},\"additionalProperties\":false}");
	expect_text(native_write_output_schema, RETURNS("\"json\",\"schema\":{\"const\":1}"),
		"{\"type\":\"object\",\"properties\":{\"result\":{\"const\":1}},"
		"\"required\":[\"result\"]}");
}

Test(native, knows_the_facts_of_each_number)
{
	static const struct {
		enum native_type type;
		size_t bytes;
		uint64_t most;
		uint64_t mask;
		enum native_type promoted; /* as an argument in place of `...` */
	} rows[] = {
		{NATIVE_BOOL, 1, 0, 0, NATIVE_I32},
		{NATIVE_I8, 1, 127, 255, NATIVE_I32},
		{NATIVE_I16, 2, 32767, 65535, NATIVE_I32},
		{NATIVE_I32, 4, 2147483647, 4294967295, NATIVE_I32},
		{NATIVE_I64, 8, INT64_MAX, UINT64_MAX, NATIVE_I64},
		{NATIVE_U8, 1, 255, 255, NATIVE_I32},
		{NATIVE_U16, 2, 65535, 65535, NATIVE_I32},
		{NATIVE_U32, 4, 4294967295, 4294967295, NATIVE_U32},
		{NATIVE_U64, 8, UINT64_MAX, UINT64_MAX, NATIVE_U64},
		{NATIVE_F32, 4, 0, 0, NATIVE_F64},
		{NATIVE_F64, 8, 0, 0, NATIVE_F64},
		{NATIVE_STR, 1, 0, 0, NATIVE_STR},
		{NATIVE_BYTES, 1, 0, 0, NATIVE_BYTES},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *name = native_type_name(rows[i].type);
		struct native_parameter array = {.type = NATIVE_ARRAY, .items = rows[i].type};
		struct native_parameter one = {.type = rows[i].type};

		cr_expect_eq(native_type_bytes(rows[i].type), rows[i].bytes, "%s", name);
		cr_expect_eq(native_element_bytes(&array), rows[i].bytes, "%s", name);
		cr_expect_eq(native_element_bytes(&one), rows[i].bytes, "%s", name);
		cr_expect_eq(native_promoted(rows[i].type), rows[i].promoted, "%s", name);
		if (!native_is_integer(rows[i].type))
			continue;
		cr_expect_eq(native_integer_most(rows[i].type), rows[i].most, "%s", name);
		cr_expect_eq(native_integer_mask(rows[i].type), rows[i].mask, "%s", name);
	}
}

Test(native, allows_the_words_of_its_type_in_a_schema)
{
	static const char *const words[] = {
		"boolean", "integer", "number", "string", "array", "object", "null", "any"};
	static const struct {
		enum native_type type;
		bool is_nullable;
		const char *allowed;
	} rows[] = {
		{NATIVE_BOOL, false, "boolean"},
		{NATIVE_I8, false, "integer number"},
		{NATIVE_U64, false, "integer number"},
		{NATIVE_F32, false, "integer number"},
		{NATIVE_F64, true, "integer number null"},
		{NATIVE_STR, false, "string"},
		{NATIVE_STR, true, "string null"},
		{NATIVE_BYTES, false, "string"},
		{NATIVE_ARRAY, true, "array null"},
		{NATIVE_STRV, false, "array"},
		{NATIVE_STRUCT, false, "object"},
		{NATIVE_JSON, false, "boolean integer number string array object null any"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
			struct native_parameter parameter = {
				.type = rows[i].type, .is_nullable = rows[i].is_nullable};

			cr_expect_eq(native_allows_word(&parameter, words[k], strlen(words[k])),
				strstr(rows[i].allowed, words[k]) != NULL, "%s: %s",
				native_type_name(rows[i].type), words[k]);
		}
}
