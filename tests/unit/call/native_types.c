/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "native_fixture.h"

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
	struct buffer text = {0};

	native_read_good(object, &function);
	native_write_argument_schema(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), arguments, "%s", text.data);
	buffer_reset(&text);
	native_write_output_schema(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), output, "%s", text.data);
	buffer_deinit(&text);
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

/* The object that a host gets has the tables in use, and no other. */
Test(native_types, are_written_for_a_host)
{
	static const char written[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"level\",\"type\":\"enum\","
		"\"enum\":\"level\",\"base\":\"i32\"}],\"returns\":{\"type\":\"void\","
		"\"errors\":\"none\"},\"enums\":{\"level\":{\"low\":0,\"medium\":1,\"high\":-2}}}";
	struct native_function function;
	struct buffer text = {0};

	native_read_good(WITH_ENUMS(LEVEL, "\"type\":\"void\""), &function);
	native_write(&function, &text);
	cr_expect_str_eq(buffer_terminate(&text), written, "%s", text.data);
	native_function_deinit(&function);
	native_read_good(written, &function);
	native_function_deinit(&function);
	buffer_deinit(&text);
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
