/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "native_fixture.h"
#include "native_object.h"

/* The tables of a toolbox, and the parameters that name an entry. */

#define ENUMS                                                                                      \
	"\"enums\":{\"level\":{\"low\":0,\"medium\":1,\"high\":{\"value\":-2,\"c\":\"HIGH\"}},"    \
	"\"access\":{\"read\":1,\"write\":2,\"all\":3}}"
#define WITH_ENUMS(parameter, returns)                                                             \
	"{\"symbol\":\"f\",\"parameters\":[" parameter "],\"returns\":{" returns "}," ENUMS "}"
#define LEVEL  "{\"name\":\"level\",\"type\":\"enum\",\"enum\":\"level\"}"
#define ACCESS "{\"name\":\"access\",\"type\":\"flags\",\"enum\":\"access\"}"

static void expect_schema(const char *object, const char *arguments, const char *output)
{
	struct native_function function;
	cleanup(buffer_deinit) struct buffer text = {0};

	native_read_good(object, &function);
	native_write_argument_schema(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), arguments, "%s", text.data);
	buffer_reset(&text);
	native_write_output_schema(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), output, "%s", text.data);
	native_function_deinit(&function);
}

Test(native_types, have_names_in_the_schemas)
{
	expect_schema(WITH_ENUMS(LEVEL, "\"type\":\"enum\",\"enum\":\"level\""),
		"{\"type\":\"object\",\"properties\":{\"level\":{\"type\":\"string\","
		"\"enum\":[\"low\",\"medium\",\"high\"]}},\"required\":[\"level\"],"
		"\"additionalProperties\":false}",
		"{\"type\":\"object\",\"properties\":{\"result\":{\"anyOf\":[{\"type\":\"string\","
		"\"enum\":[\"low\",\"medium\",\"high\"]},{\"type\":\"integer\"}]}},"
		"\"required\":[\"result\"]}");
	expect_schema(WITH_ENUMS(ACCESS, "\"type\":\"void\""),
		"{\"type\":\"object\",\"properties\":{\"access\":{\"type\":\"array\",\"items\":"
		"{\"anyOf\":[{\"type\":\"string\",\"enum\":[\"read\",\"write\",\"all\"]},"
		"{\"type\":\"object\",\"properties\":{\"unknown\":{\"type\":\"integer\","
		"\"minimum\":0}},\"required\":[\"unknown\"],\"additionalProperties\":false}]},"
		"\"uniqueItems\":true}},\"required\":[\"access\"],\"additionalProperties\":false}",
		"{\"type\":\"object\",\"properties\":{}}");
}

/* The host has the tables already. */
Test(native_types, are_named_for_a_host)
{
	static const char written[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"level\",\"type\":\"enum\","
		"\"enum\":\"level\",\"base\":\"i32\"}],\"returns\":{\"type\":\"void\","
		"\"errors\":\"none\"}}";
	struct native_function function;
	cleanup(buffer_deinit) struct buffer text = {0};

	native_read_good(WITH_ENUMS(LEVEL, "\"type\":\"void\""), &function);
	native_write(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), written, "%s", text.data);
	buffer_reset(&text);
	native_types_write(function.tables, &text);
	cr_expect_str_eq(buffer_terminate(&text),
		",\"enums\":{\"level\":{\"low\":0,\"medium\":1,\"high\":-2},"
		"\"access\":{\"read\":1,\"write\":2,\"all\":3}}",
		"%s", text.data);
	native_function_deinit(&function);
}

struct mistake {
	const char *object;
	const char *place;
	const char *message;
};

#define TABLE(table) "{\"symbol\":\"f\",\"enums\":" table "}"
#define ANY(members) WITH_ENUMS("{\"name\":\"a\",\"type\":" members "}", "\"type\":\"void\"")
#define INTEGERS     "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize"
#define LEVELS       "must be one of low, medium, high"
#define ACCESSES     "must be an array of different names of read, write, all"

Test(native_types, tell_each_mistake_by_its_place_and_in_words)
{
	static const struct mistake rows[] = {
		{TABLE("[]"), "[]", "must be an object of enums by their names, not an array"},
		{TABLE("{\"a\":1}"), "1", "must be an object of names and numbers, not 1"},
		{TABLE("{\"a\":{}}"), "{}", "must have 1 to 4096 names, not 0"},
		{TABLE("{\"a b\":{\"x\":1}}"), "{\"x\":1}",
			"must be a name: a letter or '_', then letters, digits, '_' and '-', not "
			"\"a b\""},
		{TABLE("{\"a\":{\"x\":true}}"), "true",
			"must be an integer, or an object with its 'value' and its name in 'c', "
			"not true"},
		{TABLE("{\"a\":{\"x\":1.5}}"), "1.5",
			"must be an integer of at most 64 bits, not 1.5"},
		{TABLE("{\"a\":{\"x\":18446744073709551616}}"), "18446744073709551616",
			"must be an integer of at most 64 bits, not 18446744073709551616"},
		{TABLE("{\"a\":{\"x\":{}}}"), "{}", "'value' is missing: the number"},
		{TABLE("{\"a\":{\"x\":{\"value\":1,\"C\":\"X\"}}}"), "\"X\"",
			"unknown key 'C'; did you mean 'c'?"},
		{ANY("\"enum\""), "{\"name\":\"a\",\"type\":\"enum\"}",
			"'enum' is missing: the name of the table in 'enums' that names the "
			"numbers"},
		{ANY("\"flags\",\"enum\":\"mode\""), "\"mode\"",
			"must be the name of a table in 'enums', not \"mode\""},
		{ANY("\"enum\",\"enum\":\"level\",\"base\":\"f32\""), "\"f32\"",
			"must be one of " INTEGERS ", not \"f32\""},
		{ANY("\"enum\",\"enum\":\"level\",\"base\":\"u8\""), "\"u8\"",
			"'high' of the enum 'level' does not fit u8: give another 'base'"},
		{ANY("\"flags\",\"enum\":\"level\",\"base\":\"i64\""), "\"i64\"",
			"'high' of the enum 'level' does not fit i64: give another 'base'"},
		{ANY("\"i32\",\"enum\":\"level\""), "\"level\"",
			"only an enum and flags have 'enum', not i32"},
		{ANY("\"str\",\"base\":\"u8\""), "\"u8\"",
			"only an enum and flags have 'base', not str"},
		{ANY("\"enum\",\"enum\":\"level\",\"default\":1"), "1", LEVELS ", not 1"},
		{ANY("\"enum\",\"enum\":\"level\",\"value\":\"lowest\""), "\"lowest\"",
			LEVELS ", not \"lowest\""},
		{ANY("\"flags\",\"enum\":\"access\",\"default\":\"read\""), "\"read\"",
			ACCESSES ", not \"read\""},
		{ANY("\"flags\",\"enum\":\"access\",\"default\":[\"read\",\"read\"]"),
			"[\"read\",\"read\"]", ACCESSES ", not an array"},
		{ANY("\"flags\",\"enum\":\"access\",\"base\":\"u8\","
		     "\"default\":[{\"unknown\":256}]"),
			"[{\"unknown\":256}]", ACCESSES ", not an array"},
		{ANY("\"enum\",\"enum\":\"level\",\"nullable\":true"), "true",
			"only a value that is passed by pointer can be nullable (a str, bytes, "
			"json, array, strv or \"inout\"), 'a' is of type enum"},
		{ANY("\"enum\",\"enum\":\"level\",\"length_of\":\"a\""), "\"a\"",
			"only an integer holds a length, not enum"},
		{WITH_ENUMS("{\"name\":\"b\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":"
			    "\"level\"}," LEVEL,
			 "\"type\":\"void\""),
			"\"level\"",
			"a capacity must be an integer with \"dir\": \"in\" that is not a length, "
			"not 'level'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		native_expect_refused(rows[i].object, rows[i].place, rows[i].message);
}

#define STRUCT(members) "{\"symbol\":\"f\",\"structs\":{\"s\":" members "}}"
#define FIELDS(...)     "{\"fields\":[" __VA_ARGS__ "]}"
#define SIZED(size)                                                                                \
	"{\"fields\":[{\"name\":\"a\",\"type\":\"u8\"},{\"name\":\"b\",\"type\":\"i32\"}]" size "}"
#define S(members)                                                                                 \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"struct\"" members "}],"      \
	"\"structs\":{\"s\":" SIZED("") ",\"part\":" SIZED(                                        \
		",\"partial\":true") ",\"big\":{"                                                  \
				     "\"fields\":[{\"name\":\"a\",\"type\":\"bytes\",\"count\":"   \
				     "4097}]}}}"
#define PART_INSIDE                                                                                \
	"{\"symbol\":\"f\",\"structs\":{\"part\":" SIZED(                                          \
		",\"partial\":true,\"size\":12") ",\"s\":{"                                        \
						 "\"fields\":[{\"name\":\"a\",\"type\":"           \
						 "\"struct\",\"struct\":\"part\"}]}}}"
#define FIELD_TYPES                                                                                \
	"must be one of bool, " INTEGERS ", f32, f64, str, bytes, struct, enum, flags, handle"

Test(native_types, tell_each_mistake_in_a_struct)
{
	static const struct mistake rows[] = {
		{"{\"symbol\":\"f\",\"structs\":[]}", "[]",
			"must be an object of structs by their names, not an array"},
		{STRUCT("{}"), "{}", "'fields' is missing: the fields, in order"},
		{STRUCT("{\"fields\":{}}"), "{}", "must be an array of fields, not an object"},
		{STRUCT(FIELDS("")), "[]", "must have 1 to 256 fields, not 0"},
		{STRUCT(FIELDS("{\"type\":\"i8\"}")), "{\"type\":\"i8\"}",
			"'name' is missing: the field's"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"strv\"}")), "\"strv\"",
			FIELD_TYPES ", not \"strv\""},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"json\"}")), "\"json\"",
			FIELD_TYPES ", not \"json\""},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"void\"}")), "\"void\"",
			FIELD_TYPES ", not \"void\""},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"bytes\"}")),
			"{\"name\":\"a\",\"type\":\"bytes\"}",
			"'count' is missing: how many bytes the field has"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"i8\",\"count\":0}")), "0",
			"must be an integer from 1 to 65536"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"i8\",\"nullable\":true}")), "true",
			"only a field with a pointer can be nullable, a str without 'count'"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"handle\",\"required\":true}")), "true",
			"no caller passes a handle"},
		{STRUCT(FIELDS(
			 "{\"name\":\"a\",\"type\":\"i8\"},{\"name\":\"a\",\"type\":\"i8\"}")),
			"\"a\"", "fields 0 and 1 are both called 'a'"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"i64\",\"count\":8193}")),
			"{\"name\":\"a\",\"type\":\"i64\",\"count\":8193}",
			"a struct may have 65536 bytes, and 8 structs in one another"},
		{PART_INSIDE, "\"part\"", "a partial struct cannot be in another one"},
		{STRUCT(FIELDS("{\"name\":\"a\",\"type\":\"struct\",\"struct\":\"s\"}")), "\"s\"",
			"must be the name of a struct in 'structs', listed before it is used "
			"there, "
			"not \"s\""},
		{STRUCT(SIZED(",\"size\":5")), "5",
			"the fields take 8 bytes in C, the last of them from byte 4 on; "
			"\"partial\": "
			"true, if others follow"},
		{STRUCT(SIZED(",\"size\":12")), "12",
			"the fields take 8 bytes in C, the last of them from byte 4 on; "
			"\"partial\": "
			"true, if others follow"},
		{STRUCT(SIZED(",\"partial\":true,\"size\":7")), "7",
			"the fields take 8 bytes in C, the last of them from byte 4 on"},
		{S(""), "{\"name\":\"a\",\"type\":\"struct\"}",
			"'struct' is missing: the name of its fields in 'structs'"},
		{S(",\"struct\":\"t\""), "\"t\"",
			"must be the name of a struct in 'structs', listed before it is used "
			"there, "
			"not \"t\""},
		{S(",\"struct\":\"s\",\"by\":\"copy\""), "\"copy\"",
			"must be \"pointer\" or \"value\", not \"copy\""},
		{S(",\"struct\":\"s\",\"by\":\"value\",\"dir\":\"out\""), "\"value\"",
			"no value comes out of a parameter"},
		{S(",\"struct\":\"s\",\"by\":\"pointer\",\"dir\":\"inout\""), "\"pointer\"",
			"a struct that goes in and comes out is passed by its address: leave out "
			"'by'"},
		{S(",\"struct\":\"s\",\"by\":\"value\",\"nullable\":true"), "true",
			"a value cannot be NULL"},
		{S(",\"struct\":\"big\",\"by\":\"value\""), "\"value\"",
			"a struct of at most 4096 bytes is passed as a value; 'big' has 4097"},
		{S(",\"struct\":\"part\""), "\"part\"",
			"the struct 'part' is partial: give its 'size', so that there is room for "
			"it"},
		{S(",\"struct\":\"part\",\"by\":\"value\""), "\"part\"",
			"the struct 'part' is partial: it cannot be passed as a value"},
		{S(",\"struct\":\"s\",\"dir\":\"out\",\"transfer\":\"full\""), "\"full\"",
			"only a struct by pointer, in memory of the function, can be handed over"},
		{S(",\"struct\":\"s\",\"capacity\":1"), "1",
			"only a str, bytes, json or array with \"dir\": \"out\" or \"inout\" has a "
			"capacity, 'a' is of type struct and dir in"},
		{S(",\"struct\":\"s\",\"default\":{\"c\":1}"), "{\"c\":1}",
			"must be an object without 'c', which 's' has not, not an object"},
		{ANY("\"i32\",\"struct\":\"s\""), "\"s\"", "only a struct has 'struct', not i32"},
		{ANY("\"str\",\"by\":\"value\""), "\"value\"", "only a struct has 'by', not str"},
		{RETURNS("\"i32\",\"by\":\"value\""), "\"value\"",
			"only a struct has 'by', not i32"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		native_expect_refused(rows[i].object, rows[i].place, rows[i].message);
}

/* A struct of ours, as this compiler lays it out. */
struct odd {
	char first;
	int64_t second;
	uint8_t third[3];
	struct {
		int16_t one;
		char *two;
	} fourth[2];
	float fifth;
	bool sixth;
};

Test(native_types, are_laid_out_by_the_compiler)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"structs\":{\"inner\":{\"fields\":[{\"name\":\"one\",\"type\":"
		"\"i16\"},{\"name\":\"two\",\"type\":\"str\"}]},\"odd\":{\"fields\":["
		"{\"name\":\"first\",\"type\":\"i8\"},{\"name\":\"second\",\"type\":\"i64\"},"
		"{\"name\":\"third\",\"type\":\"bytes\",\"count\":3},{\"name\":\"fourth\","
		"\"type\":\"struct\",\"struct\":\"inner\",\"count\":2},{\"name\":\"fifth\","
		"\"type\":\"f32\"},{\"name\":\"sixth\",\"type\":\"bool\"}]}}}";
	static const size_t offsets[] = {offsetof(struct odd, first), offsetof(struct odd, second),
		offsetof(struct odd, third), offsetof(struct odd, fourth),
		offsetof(struct odd, fifth), offsetof(struct odd, sixth)};
	struct native_types *types;
	struct diagnostics problems = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	native_read_tape(&tape, object);
	cr_assert_eq(native_types_read(&tape, 0, &types, &problems), 0);
	cr_assert_eq(types->n_structs, 2);
	cr_expect_eq(types->structs[1].size, sizeof(struct odd));
	cr_expect_eq(types->structs[1].alignment, _Alignof(struct odd));
	for (size_t i = 0; i < types->structs[1].n_fields; i++)
		cr_expect_eq(types->structs[1].fields[i].offset, offsets[i], "field %zu", i);
	cr_expect_eq(native_struct_field(&types->structs[1], "third", 5)->offset, offsets[2]);
	cr_expect_null(native_struct_field(&types->structs[1], "thir", 4));
	native_types_free(types);
}

Test(native_types, of_structs_are_objects_in_the_schemas)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"p\",\"type\":\"struct\",\"struct\":"
		"\"p\",\"dir\":\"inout\",\"nullable\":true}],\"returns\":{\"type\":\"void\","
		"\"errors\":\"none\"},\"structs\":{\"p\":{\"fields\":[{\"name\":\"x\",\"type\":"
		"\"u8\",\"required\":true},{\"name\":\"n\",\"type\":\"f64\",\"description\":\"N\","
		"\"count\":2},{\"name\":\"t\",\"type\":\"str\",\"nullable\":true},{\"name\":\"h\","
		"\"type\":\"handle\"}],\"size\":40}}}";
	struct native_function function;
	cleanup(buffer_deinit) struct buffer text = {0};

	expect_schema(object,
		"{\"type\":\"object\",\"properties\":{\"p\":{\"type\":[\"object\",\"null\"],"
		"\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":255},"
		"\"n\":{\"type\":\"array\",\"items\":{\"type\":\"number\",\"description\":\"N\"},"
		"\"maxItems\":2},\"t\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"x\"],"
		"\"additionalProperties\":false}},\"additionalProperties\":false}",
		"{\"type\":\"object\",\"properties\":{\"p\":{\"type\":[\"object\",\"null\"],"
		"\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":255},"
		"\"n\":{\"type\":\"array\",\"items\":{\"type\":\"number\",\"description\":\"N\"},"
		"\"maxItems\":2},\"t\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"x\","
		"\"n\"]}}}");
	native_read_good(object, &function);
	native_write(&function, &text);
	buffer_terminate(&text);
	text.size--;
	native_types_write(function.tables, &text);
	buffer_append_char(&text, '}');
	cr_expect_str_eq(buffer_terminate(&text), object, "%s", text.data);
	native_function_deinit(&function);
}

/* Refuse the object in @text with @message, wherever. */
static void expect_message(struct buffer *text, const char *message)
{
	struct native_function function;
	struct diagnostics problems = {0};
	cleanup(native_object_release) struct native_object object = {0};
	int r = native_object_read(&object, buffer_terminate(text), &problems);

	if (r == 0)
		r = native_function_read(&object.tape, 0, object.types, &function, &problems);
	cr_assert_eq(r, NATIVE_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, message, "%s", problems.items[0].text);
	diagnostics_deinit(&problems);
	buffer_reset(text);
}

Test(native_types, have_limits)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"symbol\":\"f\",\"enums\":{\"e\":{\"first\":0");
	for (int i = 1; i <= NATIVE_NAMES_MAX; i++)
		buffer_printf(&text, ",\"n%d\":%d", i, i);
	buffer_append_string(&text, "}}}");
	expect_message(&text, "must have 1 to 4096 names, not 4097");

	buffer_append_string(&text, "{\"symbol\":\"f\",\"structs\":{\"s\":{\"fields\":[");
	for (int i = 0; i <= NATIVE_FIELDS_MAX; i++)
		buffer_printf(&text, "%s{\"name\":\"f%d\",\"type\":\"u8\"}", i > 0 ? "," : "", i);
	buffer_append_string(&text, "]}}}");
	expect_message(&text, "must have 1 to 256 fields, not 257");

	buffer_append_string(&text, "{\"symbol\":\"f\",\"structs\":{\"s0\":{\"fields\":[{"
				    "\"name\":\"x\",\"type\":\"u8\"}]}");
	for (int i = 1; i <= NATIVE_NESTED_MAX; i++)
		buffer_printf(&text,
			",\"s%d\":{\"fields\":[{\"name\":\"x\",\"type\":\"struct\",\"struct\":"
			"\"s%d\"}]}",
			i, i - 1);
	buffer_append_string(&text, "}}");
	expect_message(&text, "a struct may have 65536 bytes, and 8 structs in one another");

	/* 2^32 bytes: 0 in a size_t of 32 bits. */
	buffer_append_string(&text,
		"{\"symbol\":\"f\",\"structs\":{\"a\":{\"fields\":[{\"name\":\"x\",\"type\":"
		"\"bytes\",\"count\":65536}]},\"b\":{\"fields\":[{\"name\":\"y\",\"type\":"
		"\"struct\",\"struct\":\"a\",\"count\":65536}]}}}");
	expect_message(&text, "a struct may have 65536 bytes, and 8 structs in one another");

	buffer_append_string(&text, "{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":"
				    "\"strv\",\"value\":[\"\"");
	for (int i = 0; i < NATIVE_TEXTS_MAX; i++)
		buffer_append_string(&text, ",\"\"");
	buffer_append_string(&text, "]}]}");
	expect_message(&text, "must be an array of at most 65536 strings, not an array");
}

/* Expect that the object in @text is read, and forget it. */
static void expect_good(struct buffer *text)
{
	struct native_function function;

	native_read_good(buffer_terminate(text), &function);
	native_function_deinit(&function);
	buffer_reset(text);
}

Test(native_types, may_be_as_large_as_their_limits)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"symbol\":\"f\",\"enums\":{\"e\":{\"first\":0");
	for (int i = 1; i < 4096; i++)
		buffer_printf(&text, ",\"n%d\":%d", i, i);
	buffer_append_string(&text, "}}}");
	expect_good(&text);

	buffer_append_string(&text, "{\"symbol\":\"f\",\"structs\":{\"s\":{\"fields\":[");
	for (int i = 0; i < 256; i++)
		buffer_printf(&text, "%s{\"name\":\"f%d\",\"type\":\"u8\"}", i > 0 ? "," : "", i);
	buffer_append_string(&text, "],\"size\":256}}}");
	expect_good(&text);

	buffer_append_string(&text, "{\"symbol\":\"f\",\"structs\":{\"s0\":{\"fields\":[{"
				    "\"name\":\"x\",\"type\":\"u8\"}]}");
	for (int i = 1; i < 8; i++)
		buffer_printf(&text,
			",\"s%d\":{\"fields\":[{\"name\":\"x\",\"type\":\"struct\",\"struct\":"
			"\"s%d\"}]}",
			i, i - 1);
	buffer_append_string(&text, "}}");
	expect_good(&text);

	buffer_append_string(&text,
		"{\"symbol\":\"f\",\"structs\":{\"a\":{\"fields\":[{\"name\":\"x\",\"type\":"
		"\"bytes\",\"count\":65536}]},\"v\":{\"fields\":[{\"name\":\"x\",\"type\":"
		"\"bytes\","
		"\"count\":4096}]},\"p\":{\"fields\":[{\"name\":\"x\",\"type\":\"i8\"}],"
		"\"partial\":"
		"true,\"size\":65536}},\"parameters\":[{\"name\":\"a\",\"type\":\"struct\","
		"\"struct\":"
		"\"v\",\"by\":\"value\"}]}");
	expect_good(&text);
}

Test(native_types, have_numbers_of_64_bits)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"enums\":{\"e\":{\"least\":-9223372036854775808,\"most\":"
		"18446744073709551615,\"named\":{\"value\":7,\"c\":\"SEVEN\"}}}}";
	struct native_types *types;
	struct diagnostics problems = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	native_read_tape(&tape, object);
	cr_assert_eq(native_types_read(&tape, 0, &types, &problems), 0);
	cr_assert_eq(types->n_enums, 1);
	cr_assert_eq(types->enums[0].n_values, 3);
	cr_expect_eq(types->enums[0].values[0].bits, (uint64_t)INT64_MIN);
	cr_expect(types->enums[0].values[0].is_negative);
	cr_expect_eq(types->enums[0].values[1].bits, UINT64_MAX);
	cr_expect_not(types->enums[0].values[1].is_negative);
	cr_expect_str_eq(types->enums[0].values[2].c, "SEVEN");
	cr_expect_eq(types->enums[0].values[2].bits, 7);
	native_types_free(types);
}

Test(native_types, have_a_form)
{
#define AN_ENUM(value)  "{\"symbol\":\"f\",\"enums\":{\"e\":{\"a\":" value "}}}"
#define A_STRUCT(value) "{\"symbol\":\"f\",\"structs\":{\"s\":" value "}}"
	static const char *const rows[][2] = {
		{"{\"symbol\":\"f\",\"enums\":5}",
			"must be an object of enums by their names, not 5"},
		{"{\"symbol\":\"f\",\"structs\":5}",
			"must be an object of structs by their names, not 5"},
		{"{\"symbol\":\"f\",\"enums\":{\"e\":5}}",
			"must be an object of names and numbers, not 5"},
		{"{\"symbol\":\"f\",\"enums\":{\"e\":{}}}", "must have 1 to 4096 names, not 0"},
		{AN_ENUM("18446744073709551616"),
			"must be an integer of at most 64 bits, not 18446744073709551616"},
		{AN_ENUM("-9223372036854775809"),
			"must be an integer of at most 64 bits, not -9223372036854775809"},
		{AN_ENUM("{\"c\":\"A\"}"), "'value' is missing: the number"},
		{AN_ENUM("{\"value\":1,\"c\":1}"), "must be the number's name in C, not 1"},
		{A_STRUCT("5"), "must be an object with 'fields', not 5"},
		{A_STRUCT("{}"), "'fields' is missing: the fields, in order"},
		{A_STRUCT("{\"fields\":{}}"), "must be an array of fields, not an object"},
		{A_STRUCT("{\"fields\":[]}"), "must have 1 to 256 fields, not 0"},
		{A_STRUCT("{\"fields\":[5]}"), "must be an object that describes a field, not 5"},
		{A_STRUCT("{\"fields\":[{\"name\":\"a\",\"type\":\"i8\"}],\"c\":1}"),
			"must be the struct's name in C, not 1"},
		{A_STRUCT("{\"fields\":[{\"name\":\"a\",\"type\":\"i8\"}],\"size\":65537}"),
			"must be an integer from 1 to 65536"},
		{A_STRUCT("{\"fields\":[{\"name\":\"a\",\"type\":\"i8\",\"count\":65537}]}"),
			"must be an integer from 1 to 65536"},
		{A_STRUCT("{\"fields\":[{\"name\":\"a\",\"type\":\"bytes\",\"count\":65536},"
			  "{\"name\":\"b\",\"type\":\"i8\"}]}"),
			"a struct may have 65536 bytes, and 8 structs in one another"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		buffer_append_string(&text, rows[i][0]);
		expect_message(&text, rows[i][1]);
	}
}
