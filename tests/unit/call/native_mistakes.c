/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "native_fixture.h"

/* Every mistake in a `native` object, with its place and its words. */

Test(native_mistakes, names_what_it_does_not_know)
{
	native_expect_refused(
		"{\"symbl\":\"f\"}", "\"f\"", "unknown key 'symbl'; did you mean 'symbol'?");
	native_expect_refused("{\"symbol\":\"f\",\"x\":1}", "1", "unknown key 'x'");
	native_expect_refused("{\"symbol\":\"f\",\"returns\":{\"type\":\"i8\",\"error\":\"none\"}}",
		"\"none\"", "unknown key 'error'; did you mean 'errors'?");
	native_expect_refused("{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\","
			      "\"defualt\":1}]}",
		"1", "unknown key 'defualt'; did you mean 'default'?");
}

#define NUMBERS   "i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, f32, f64"
#define VALUES    NUMBERS ", str, bytes, json, array, strv, struct, enum, flags"
#define TYPES     "must be one of bool, " VALUES
#define RETURNED  "must be one of void, bool, " VALUES
#define ITEMS     "must be one of " NUMBERS
#define TEXT(...) "{\"symbol\":\"f\",\"parameters\":[" __VA_ARGS__ "]}"

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
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a b\",\"type\":\"i8\"}]}", "\"a b\"",
		"must be a name: a letter or '_', then letters, digits, '_' and '-', not \"a b\""},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"\",\"type\":\"i8\"}]}", "\"\"",
		"must be a name: a letter or '_', then letters, digits, '_' and '-', not \"\""},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\"}]}", "{\"name\":\"a\"}",
		"'type' is missing: it " TYPES},
	{PARAMETER("\"int\""), "\"int\"", TYPES ", not \"int\""},
	{PARAMETER("\"void\""), "\"void\"", "'void' is only for a return value"},
	{PARAMETER("\"i8\",\"dir\":\"into\""), "\"into\"",
		"must be \"in\", \"out\" or \"inout\", not \"into\""},
	{PARAMETER("\"i8\",\"nullable\":true"), "true",
		"only a value that is passed by pointer can be nullable (a str, bytes, json, "
		"array, strv or \"inout\"), 'a' is of type i8"},
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
		"a parameter with 'value' is always passed this value: it cannot have a 'default'"},
	{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"a\",\"type\":\"i8\"},"
	 "{\"name\":\"a\",\"type\":\"i8\"}]}",
		"\"a\"", "parameters 0 and 1 are both called 'a'"},
	{"{\"symbol\":\"f\",\"returns\":7}", "7",
		"must be an object that describes the return value, not 7"},
	{"{\"symbol\":\"f\",\"returns\":{}}", "{}", "'type' is missing: it " RETURNED},
	{RETURNS("\"void\",\"name\":\"x\""), "\"x\"",
		"a function that returns void has nothing to name"},
	{RETURNS("\"i8\",\"nullable\":true"), "true", "only a pointer can be nullable, not i8"},
	{RETURNS("\"i8\",\"transfer\":\"full\""), "\"full\"",
		"only a str, json, bytes, array, strv or struct can be handed over, not i8"},
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
		"'null' needs a pointer, and the function returns i8"},
	{RETURNS("\"void\",\"errors\":\"zero\""), "\"zero\"",
		"'zero' needs a number, and the function returns void"},
	{RETURNS("\"str\",\"errors\":\"nonzero\""), "\"nonzero\"",
		"'nonzero' needs a number, and the function returns str"},
	{RETURNS("\"i8\",\"errors\":\"never\""), "\"never\"",
		"must be one of none, negative, nonzero, zero, null, errno, gerror, "
		"{\"equals\": NUMBER}, {\"not_equals\": NUMBER}, not \"never\""},
	{RETURNS("\"i8\",\"errors\":{\"equals\":128}"), "128",
		"must be an integer within the range of i8, which the function returns"},
	{RETURNS("\"u8\",\"errors\":{\"not_equals\":-1}"), "-1",
		"must be an integer within the range of u8, which the function returns"},
	{RETURNS("\"i8\",\"errors\":{\"equals\":\"x\"}"), "\"x\"",
		"must be an integer within the range of i8, which the function returns"},
	{RETURNS("\"f64\",\"errors\":{\"equals\":1}"), "{\"equals\":1}",
		"'equals' needs an integer, and the function returns f64"},
	{RETURNS("\"i8\",\"errors\":{\"below\":1}"), "{\"below\":1}",
		"must be one of none, negative, nonzero, zero, null, errno, gerror, "
		"{\"equals\": NUMBER}, {\"not_equals\": NUMBER}"},
	{PARAMETER("\"handle\""), "\"handle\"",
		"a handle never leaves a tool: write the functions that use it as 'steps' of one "
		"tool"},
	{RETURNS("\"handle\""), "\"handle\"",
		"a handle never leaves a tool: write the functions that use it as 'steps' of one "
		"tool"},
	{RETURNS("\"str\",\"nullable\":true,\"errors\":\"null\""), "true",
		"NULL cannot both be null ('nullable') and a failure (\"errors\": \"null\")"},
};

static void expect_all(const struct mistake *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		native_expect_refused(rows[i].object, rows[i].place, rows[i].message);
}

#define EXPECT_ALL(rows) expect_all(rows, sizeof(rows) / sizeof(*(rows)))

Test(native_mistakes, tells_each_mistake_by_its_place_and_in_words)
{
	EXPECT_ALL(mistakes);
}

Test(native_mistakes, of_what_a_type_does_not_have)
{
	static const struct mistake rows[] = {
		{PARAMETER("\"array\""), "{\"name\":\"a\",\"type\":\"array\"}",
			"'items' is missing: the type of an array's elements " ITEMS},
		{PARAMETER("\"array\",\"items\":\"bool\""), "\"bool\"", ITEMS ", not \"bool\""},
		{PARAMETER("\"array\",\"items\":\"str\""), "\"str\"", ITEMS ", not \"str\""},
		{PARAMETER("\"array\",\"items\":{}"), "{}", ITEMS ", not an object"},
		{PARAMETER("\"bytes\",\"items\":\"u8\""), "\"u8\"",
			"only an array has 'items', not bytes"},
		{PARAMETER("\"str\",\"schema\":{}"), "{}", "only a json has a 'schema', not str"},
		{PARAMETER("\"json\",\"schema\":true"), "true",
			"must be an object, a JSON Schema, not true"},
		{PARAMETER("\"json\",\"description\":\"A\",\"schema\":{\"description\":\"B\"}"),
			"\"A\"", "'description' is in the 'schema' too: give it once"},
		{PARAMETER("\"json\",\"schema\":{\"default\":1},\"default\":2"), "2",
			"'default' is in the 'schema' too: give it once"},
		{RETURNS("\"i8\",\"schema\":{}"), "{}", "only a json has a 'schema', not i8"},
		{RETURNS("\"json\",\"schema\":[]"), "[]",
			"must be an object, a JSON Schema, not an array"},
		{RETURNS("\"i8\",\"items\":\"i8\""), "\"i8\"", "only an array has 'items', not i8"},
		{RETURNS("\"f64\",\"errors\":\"null\""), "\"null\"",
			"'null' needs a pointer, and the function returns f64"},
		{RETURNS("\"json\",\"errors\":\"zero\""), "\"zero\"",
			"'zero' needs a number, and the function returns json"},
		{RETURNS("\"void\",\"transfer\":\"full\""), "\"full\"",
			"only a str, json, bytes, array, strv or struct can be handed over, not "
			"void"},
	};

	EXPECT_ALL(rows);
}

Test(native_mistakes, of_what_a_direction_does_not_have)
{
	static const struct mistake rows[] = {
		{PARAMETER("\"i8\",\"dir\":\"out\",\"default\":1"), "1",
			"callers pass nothing for an \"out\" parameter: it cannot have a "
			"'default'"},
		{PARAMETER("\"i8\",\"dir\":\"out\",\"value\":1"), "1",
			"'value' is for input only, and 'a' has \"dir\": \"out\""},
		{PARAMETER("\"i8\",\"dir\":\"inout\",\"value\":1"), "1",
			"'value' is for input only, and 'a' has \"dir\": \"inout\""},
		{PARAMETER("\"i8\",\"dir\":\"out\",\"nullable\":true"), "true",
			"callers pass nothing for an \"out\" parameter: it cannot be nullable"},
		{PARAMETER("\"str\",\"dir\":1"), "1",
			"must be \"in\", \"out\" or \"inout\", not 1"},
	};

	EXPECT_ALL(rows);
}

#define OUT "{\"name\":\"b\",\"type\":\"bytes\",\"dir\":\"out\",\"capacity\":9}"

Test(native_mistakes, of_lengths)
{
	static const struct mistake rows[] = {
		{PARAMETER("\"i8\",\"length_of\":1"), "1",
			"must be the name of a parameter, not 1"},
		{PARAMETER("\"i8\",\"length_of\":\"b\""), "\"b\"",
			"there is no parameter of this name"},
		{TEXT("{\"name\":\"data\",\"type\":\"bytes\"},"
		      "{\"name\":\"n\",\"type\":\"i8\",\"length_of\":\"date\"}"),
			"\"date\"", "there is no parameter of this name; did you mean 'data'?"},
		{TEXT(OUT ",{\"name\":\"n\",\"type\":\"f64\",\"length_of\":\"b\"}"), "\"b\"",
			"only an integer holds a length, not f64"},
		{PARAMETER("\"i8\",\"length_of\":\"a\""), "\"a\"",
			"only a str, bytes, json or array has a length, 'a' is of type i8"},
		{TEXT(OUT ",{\"name\":\"n\",\"type\":\"i8\",\"length_of\":\"b\",\"value\":1}"), "1",
			"'n' is filled in, as a length: it cannot have 'value'"},
		{TEXT(OUT ",{\"name\":\"n\",\"type\":\"i8\",\"length_of\":\"b\",\"default\":1}"),
			"1", "'n' is filled in, as a length: it cannot have 'default'"},
		{TEXT(OUT ",{\"name\":\"n\",\"type\":\"i8\",\"dir\":\"inout\",\"length_of\":"
			  "\"b\",\"nullable\":true}"),
			"true", "'n' is filled in, as a length: it cannot have 'nullable'"},
		{TEXT("{\"name\":\"b\",\"type\":\"bytes\"},{\"name\":\"n\",\"type\":\"i8\","
		      "\"dir\":\"out\",\"length_of\":\"b\"}"),
			"\"b\"", "'b' is input only: no length of it comes out"},
		{TEXT(OUT ",{\"name\":\"n\",\"type\":\"i8\",\"dir\":\"out\",\"length_of\":\"b\"},"
			  "{\"name\":\"m\",\"type\":\"i8\",\"dir\":\"inout\",\"length_of\":"
			  "\"b\"}"),
			"\"b\"", "the length of 'b' is already in 'n'"},
		{RETURNS("\"i8\",\"length_of\":\"b\""), "\"b\"",
			"there is no parameter of this name"},
		{"{\"symbol\":\"f\",\"parameters\":[" OUT "],"
		 "\"returns\":{\"type\":\"f32\",\"length_of\":\"b\"}}",
			"\"b\"", "only an integer holds a length, not f32"},
		{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"b\",\"type\":\"str\"}],"
		 "\"returns\":{\"type\":\"i32\",\"length_of\":\"b\"}}",
			"\"b\"", "'b' is input only: no length of it comes out"},
		{"{\"symbol\":\"f\",\"parameters\":[" OUT ",{\"name\":\"n\",\"type\":\"i8\","
		 "\"dir\":\"out\",\"length_of\":\"b\"}],"
		 "\"returns\":{\"type\":\"i32\",\"length_of\":\"b\"}}",
			"\"b\"", "the length of 'b' is already in 'n'"},
	};

	EXPECT_ALL(rows);
}

#define NUMBERED(text) "must be an integer from 1 to " text ", or the name of an integer parameter"
#define SAID_BY(name)                                                                              \
	"a capacity must be an integer with \"dir\": \"in\" that is not a length, not '" name "'"

Test(native_mistakes, of_capacities)
{
	static const struct mistake rows[] = {
		{PARAMETER("\"str\",\"dir\":\"out\""),
			"{\"name\":\"a\",\"type\":\"str\",\"dir\":\"out\"}",
			"'capacity' is missing: how many bytes the function may write to 'a', a "
			"number or the name of an integer parameter; or 'transfer', if it sets a "
			"pointer to memory of its own"},
		{PARAMETER("\"array\",\"items\":\"i8\",\"dir\":\"out\""),
			"{\"name\":\"a\",\"type\":\"array\",\"items\":\"i8\",\"dir\":\"out\"}",
			"'capacity' is missing: how many elements the function may write to 'a', a "
			"number or the name of an integer parameter; or 'transfer', if it sets a "
			"pointer to memory of its own"},
		{PARAMETER("\"str\",\"capacity\":1"), "1",
			"only a str, bytes, json or array with \"dir\": \"out\" or \"inout\" has a "
			"capacity, 'a' is of type str and dir in"},
		{PARAMETER("\"i8\",\"dir\":\"out\",\"capacity\":1"), "1",
			"only a str, bytes, json or array with \"dir\": \"out\" or \"inout\" has a "
			"capacity, 'a' is of type i8 and dir out"},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":0"), "0",
			NUMBERED("67108864 (bytes)")},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":-1"), "-1",
			NUMBERED("67108864 (bytes)")},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":1.5"), "1.5",
			NUMBERED("67108864 (bytes)")},
		{PARAMETER("\"str\",\"dir\":\"inout\",\"capacity\":67108865"), "67108865",
			NUMBERED("67108864 (bytes)")},
		{PARAMETER("\"array\",\"items\":\"f64\",\"dir\":\"out\",\"capacity\":8388609"),
			"8388609", NUMBERED("8388608 (elements)")},
		{TEXT("{\"name\":\"b\",\"type\":\"bytes\",\"dir\":\"out\",\"capacity\":256},"
		      "{\"name\":\"n\",\"type\":\"u8\",\"length_of\":\"b\"}"),
			"256", NUMBERED("255 (bytes)")},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":null"), "null",
			"must be a number, or the name of an integer parameter, not null"},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":\"x\""), "\"x\"",
			"there is no parameter of this name"},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":\"a\""), "\"a\"", SAID_BY("a")},
		{TEXT("{\"name\":\"b\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":\"n\"},"
		      "{\"name\":\"n\",\"type\":\"i32\",\"dir\":\"inout\"}"),
			"\"n\"", SAID_BY("n")},
		{TEXT("{\"name\":\"b\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":\"n\"},"
		      "{\"name\":\"n\",\"type\":\"i32\",\"length_of\":\"b\"}"),
			"\"n\"", SAID_BY("n")},
		{TEXT("{\"name\":\"b\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":\"n\"},"
		      "{\"name\":\"n\",\"type\":\"bool\"}"),
			"\"n\"", SAID_BY("n")},
	};

	EXPECT_ALL(rows);
}

Test(native_mistakes, of_constants_that_do_not_fit)
{
	static const struct mistake rows[] = {
		{PARAMETER("\"bytes\",\"default\":\"Zg\""), "\"Zg\"",
			"must be a string in base64, padded and without white space, not \"Zg\""},
		{PARAMETER("\"bytes\",\"nullable\":true,\"value\":1"), "1",
			"must be a string in base64, padded and without white space, or null, not "
			"1"},
		{PARAMETER("\"array\",\"items\":\"u8\",\"value\":[0,256]"), "[0,256]",
			"must be an array whose element 1 must be an integer from 0 to 255, not an "
			"array"},
		{PARAMETER("\"array\",\"items\":\"u8\",\"value\":7"), "7",
			"must be an array, not 7"},
		{PARAMETER("\"str\",\"dir\":\"inout\",\"capacity\":3,\"default\":\"abc\""),
			"\"abc\"", "must have at most 2 bytes, not 3, not \"abc\""},
		{TEXT("{\"name\":\"b\",\"type\":\"bytes\",\"dir\":\"inout\",\"capacity\":\"n\","
		      "\"default\":\"Zm9v\"},{\"name\":\"n\",\"type\":\"u8\",\"default\":2}"),
			"\"Zm9v\"", "must have at most 2 bytes, not 3, not \"Zm9v\""},
		{TEXT("{\"name\":\"b\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":\"n\"},"
		      "{\"name\":\"n\",\"type\":\"i64\",\"value\":8388609}"),
			"8388609",
			"must be an integer from 1 to 8388608, the size of a buffer, not 8388609"},
		{TEXT("{\"name\":\"b\",\"type\":\"array\",\"items\":\"i16\",\"dir\":\"out\","
		      "\"capacity\":\"n\"},{\"name\":\"n\",\"type\":\"i8\",\"default\":0}"),
			"0", "must be an integer from 1 to 4194304, the size of a buffer, not 0"},
	};

	EXPECT_ALL(rows);
}

Test(native_mistakes, of_a_name_that_two_results_have)
{
	static const struct mistake rows[] = {
		{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"x\",\"type\":\"i8\",\"dir\":"
		 "\"out\"}],\"returns\":{\"type\":\"i8\",\"name\":\"x\"}}",
			"\"x\"",
			"the return value and an \"out\" parameter are both called 'x': give "
			"'returns' another 'name'"},
		{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"result\",\"type\":\"i8\","
		 "\"dir\":\"inout\"}],\"returns\":{\"type\":\"i8\"}}",
			"{\"type\":\"i8\"}",
			"the return value and an \"out\" parameter are both called 'result': give "
			"'returns' another 'name'"},
	};

	EXPECT_ALL(rows);
}

Test(native_mistakes, cuts_a_long_value_in_a_message)
{
	native_expect_refused(
		"{\"symbol\":\"f\",\"returns\":{\"type\":"
		"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"abcdefghijklmnopqrstuvwxyz0123456789\"}}",
		"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"abcdefghijklmnopqrstuvwxyz0123456789\"",
		RETURNED ", not \"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
			 "\xc3\xa9"
			 "abcdefghijklmnopqrstuvwxyz0123…");
}

#define OWN(returns)                                                                               \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"n\",\"type\":\"u32\"},{\"name\":\"used\","  \
	"\"type\":\"u32\",\"dir\":\"out\",\"length_of\":\"data\"},{\"name\":\"x\",\"type\":"       \
	"\"f64\"}],"                                                                               \
	"\"returns\":{\"name\":\"data\",\"type\":" returns "}}"

Test(native_mistakes, of_memory_of_the_function)
{
	static const struct mistake rows[] = {
		{RETURNS("\"bytes\""), "{\"type\":\"bytes\"}",
			"'size' is missing: how many bytes 'result' has, a number, the name of an "
			"integer parameter, or a list of factors; or a parameter with \"dir\": "
			"\"out\" and \"length_of\": \"result\""},
		{RETURNS("\"array\""), "{\"type\":\"array\"}",
			"'items' is missing: the type of an array's elements " ITEMS},
		{RETURNS("\"str\",\"size\":1"), "1",
			"only bytes and an array in memory of the function have a 'size'"},
		{RETURNS("\"bytes\",\"size\":0"), "0",
			"must be an integer from 1 to 67108864, as must be the product"},
		{RETURNS("\"bytes\",\"size\":[8192,8193]"), "8193",
			"must be an integer from 1 to 67108864, as must be the product"},
		{RETURNS("\"bytes\",\"size\":[1,1,1,1,1]"), "[1,1,1,1,1]",
			"must have 1 to 4 factors, not 5"},
		{RETURNS("\"bytes\",\"size\":\"$result\""), "\"$result\"",
			"only an integer is a size, not bytes"},
		{RETURNS("\"bytes\",\"size\":true"), "true",
			"must be a number, the name of an integer parameter, or a list of them, "
			"not true"},
		{OWN("\"bytes\",\"size\":\"n\""), "\"n\"",
			"the length of 'data' is already in 'used'"},
		{OWN("\"str\",\"length_of\":\"data\""), "\"data\"",
			"only an integer holds a length, not str"},
		{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"n\",\"type\":\"u32\","
		 "\"length_of\":\"result\"}],\"returns\":{\"type\":\"bytes\"}}",
			"\"result\"",
			"'result' is memory of the function: its length only comes out, by "
			"\"dir\": \"out\""},
		{PARAMETER("\"bytes\",\"dir\":\"out\",\"transfer\":\"full\",\"size\":\"b\""),
			"\"b\"", "there is no parameter of this name"},
		{PARAMETER("\"str\",\"transfer\":\"full\""), "\"full\"",
			"only a value that comes out can be handed over: 'a' has \"dir\": \"in\""},
		{PARAMETER("\"str\",\"dir\":\"inout\",\"transfer\":\"full\""), "\"full\"",
			"only a value that comes out can be handed over: 'a' has \"dir\": "
			"\"inout\""},
		{PARAMETER("\"i8\",\"dir\":\"out\",\"transfer\":\"full\""), "\"full\"",
			"only a str, json, bytes, array, strv or struct can be handed over, not "
			"i8"},
		{PARAMETER("\"str\",\"dir\":\"out\",\"transfer\":\"none\",\"capacity\":8"), "8",
			"'a' is memory of the function, by its 'transfer': it has no 'capacity'"},
		{PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":8,\"free\":\"g\""), "\"g\"",
			"'free' needs \"transfer\": \"full\""},
		{PARAMETER("\"strv\",\"dir\":\"inout\""), "\"inout\"",
			"a strv is \"in\" or \"out\""},
		{PARAMETER("\"strv\",\"capacity\":8"), "8",
			"only a str, bytes, json or array with \"dir\": \"out\" or \"inout\" has a "
			"capacity, 'a' is of type strv and dir in"},
		{PARAMETER("\"strv\",\"default\":[\"x\",1]"), "[\"x\",1]",
			"must be an array whose element 1 must be a string, not an array"},
		{PARAMETER("\"strv\",\"default\":\"x\""), "\"x\"",
			"must be an array of at most 65536 strings, not \"x\""},
	};

	EXPECT_ALL(rows);
}

#define VARIADIC(count, format, rest)                                                              \
	"{\"symbol\":\"f\",\"variadic\":" count ",\"parameters\":[{\"name\":\"a\",\"type\":"       \
	"\"str\"},{\"name\":\"b\",\"type\":\"str\"" format "}" rest "]}"

Test(native_mistakes, of_formats)
{
#define MUST_BE_CONSTANT                                                                           \
	"' is the format of the variable arguments: it must be a constant ('value')"
#define NO_N "a format must not have %n, which writes to memory"
	static const struct mistake rows[] = {
		{VARIADIC("0", "", ""), "0",
			"must be the number of fixed parameters, from 1 to the 2 that are listed"},
		{VARIADIC("3", "", ""), "3",
			"must be the number of fixed parameters, from 1 to the 2 that are listed"},
		{VARIADIC("true", "", ""), "true",
			"must be the number of fixed parameters, from 1 to the 2 that are listed"},
		{VARIADIC("2", "", ""), "{\"name\":\"b\",\"type\":\"str\"}", "'b" MUST_BE_CONSTANT},
		{VARIADIC("2", ",\"default\":\"x\"", ""),
			"{\"name\":\"b\",\"type\":\"str\",\"default\":\"x\"}",
			"'b" MUST_BE_CONSTANT},
		{VARIADIC("2", ",\"nullable\":true,\"value\":null", ""), "null",
			"'b" MUST_BE_CONSTANT},
		{VARIADIC("1", "", ""), "{\"name\":\"a\",\"type\":\"str\"}", "'a" MUST_BE_CONSTANT},
		{VARIADIC("2", ",\"value\":\"%n\"", ""), "\"%n\"", NO_N},
		{VARIADIC("2", ",\"value\":\"%d%%%-08.3hhn\"", ""), "\"%d%%%-08.3hhn\"", NO_N},
		{VARIADIC("2", ",\"value\":\"%1$*2$\\u006e\"", ""), "\"%1$*2$\\u006e\"", NO_N},
		{VARIADIC("2", ",\"value\":\"%Zn\"", ""), "\"%Zn\"", NO_N},
		{VARIADIC("2", ",\"value\":\"%In\"", ""), "\"%In\"", NO_N},
		{VARIADIC("2", ",\"value\":\"%w32n\"", ""), "\"%w32n\"", NO_N},
		{VARIADIC("2", ",\"value\":\"x\"", ",{\"name\":\"format\",\"type\":\"str\"}"),
			"{\"name\":\"format\",\"type\":\"str\"}", "'format" MUST_BE_CONSTANT},
		{PARAMETER("\"str\",\"format\":true"),
			"{\"name\":\"a\",\"type\":\"str\",\"format\":true}", "'a" MUST_BE_CONSTANT},
		{PARAMETER("\"str\",\"format\":true,\"value\":\"%ln\""), "\"%ln\"", NO_N},
		{PARAMETER("\"i8\",\"format\":true"), "true", "only a str is a format, not i8"},
		{"{\"symbol\":\"f\",\"variadic\":1,\"parameters\":[{\"name\":\"a\",\"type\":"
		 "\"i8\"}],\"returns\":{\"type\":\"bool\",\"errors\":\"gerror\"}}",
			"\"gerror\"",
			"a GError is appended to the arguments, and a variadic function has its "
			"own "
			"before the variable ones"},
	};

	EXPECT_ALL(rows);
}

Test(native_mistakes, has_capacities_up_to_their_limits)
{
#define COUNTED_BY(type, counter, capacity)                                                        \
	TEXT("{\"name\":\"b\",\"type\":\"" type "\",\"dir\":\"out\",\"capacity\":" capacity        \
	     "},{\"name\":\"n\",\"type\":\"" counter "\",\"length_of\":\"b\"}")
	static const char *const good[] = {
		PARAMETER("\"str\",\"dir\":\"inout\",\"capacity\":67108864"),
		PARAMETER("\"array\",\"items\":\"f64\",\"dir\":\"out\",\"capacity\":8388608"),
		PARAMETER("\"str\",\"dir\":\"out\",\"capacity\":1"),
		COUNTED_BY("bytes", "u8", "255"),
		COUNTED_BY("bytes", "i8", "127"),
		COUNTED_BY("str", "u8", "255"),
		COUNTED_BY("str", "i16", "32767"),
		COUNTED_BY("bytes", "i64", "67108864"),
	};
	static const struct mistake bad[] = {
		{COUNTED_BY("bytes", "i8", "128"), "128", NUMBERED("127 (bytes)")},
		{COUNTED_BY("str", "u8", "256"), "256", NUMBERED("255 (bytes)")},
		{COUNTED_BY("str", "i16", "32768"), "32768", NUMBERED("32767 (bytes)")},
		{COUNTED_BY("bytes", "u64", "67108865"), "67108865", NUMBERED("67108864 (bytes)")},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct native_function function;

		native_read_good(good[i], &function);
		native_function_deinit(&function);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		native_expect_refused(bad[i].object, bad[i].place, bad[i].message);
}
