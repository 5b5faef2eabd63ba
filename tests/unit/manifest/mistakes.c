/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest_fixture.h"
#include "util/buffer.h"

/* One mistake refuses the whole toolbox. It is reported with the line, the place, the expected and
 * the found value. */

TestSuite(mistakes, .init = manifest_set_up, .fini = manifest_tear_down);

#define TOP(members)                                                                               \
	"{'kind':'native','library':'libm.so.6','tools':[{'name':'f'," SQRT "}],\n" members "}"
#define GIVEN(schema) TOOL("'argument_schema':" schema "," SQRT)
#define PARAMETER(members)                                                                         \
	TOOL("'native':{'symbol':'sqrt','parameters':[{'name':'x','type':" members "}]}")

Test(mistakes, of_what_is_no_json)
{
	expect_refused("", 1, "", "line 1, column 1: expected a value, found an empty text");
	expect_refused("{'a':1,\n 'a':2}", 2, "",
		"line 2, column 2: expected every key of an object once, found one again");
	manifest_write("box.json", "{\n\"\xff\"}");
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_eq(problems.items[0].line, 2);
}

Test(mistakes, of_what_is_no_object)
{
	expect_refused("5", 1, "", "must be an object with 'kind', not the number 5");
	expect_refused("{}", 1, "",
		"missing required property 'kind' (one of \"native\", \"plugin\", \"command\", "
		"\"python\", \"mcp\", \"bus\")");
	expect_refused("{'kind':'native'}", 1, "",
		"missing required property 'tools' (an array of at least 1 element)");
}

Test(mistakes, of_an_unknown_kind)
{
	expect_refused("{'kind':'nativ','library':'x','tools':[]}", 1, "/kind",
		"must be one of \"native\", \"plugin\", \"command\", \"python\", \"mcp\", "
		"\"bus\", not the string \"nativ\"; did you mean 'native'?");
}

Test(mistakes, of_a_setting_in_a_sandbox_without_settings)
{
	expect_refused("{'kind':'native','library':'libm.so.6','sandbox':{'read':['$roots']},"
		       "'tools':[{'name':'f'," SQRT "}]}",
		1, "/sandbox",
		"$roots names a setting, which only a toolbox of the kind \"plugin\" has; "
		"expected a path");
}

Test(mistakes, of_an_unknown_key)
{
	expect_refused(TOP("'colour':1"), 2, "/colour",
		"unexpected property 'colour'; the object takes 'toolbox_id', 'description', "
		"'kind', "
		"'library', 'libraries', 'risk', 'gate', 'concurrent', 'limits', 'sandbox', …");
	expect_refused(TOP("'limits':{'x':1}"), 2, "/limits/x",
		"unexpected property 'x'; the object takes 'timeout_ms', 'max_ms', 'workers', "
		"'queue', 'memory_mb', 'prestart', 'idle_s'");
	expect_refused(TOOL("\n'colour':1," SQRT), 2, "/tools/0/colour",
		"unexpected property 'colour'; the object takes 'name', 'description', "
		"'argument_schema', 'output_schema', 'risk', 'parallel', 'exclusive', "
		"'cooldown_s', "
		"'timeout_ms', 'triggers', …");
	expect_refused(PARAMETER("'f64','lenght_of':'x'"), 1,
		"/tools/0/native/parameters/0/lenght_of",
		"unexpected property 'lenght_of'; did you mean 'length_of'?");
}

Test(mistakes, of_a_toolbox_id)
{
	static const char message[] = "must be a string of 1 to 128 characters, not the ";
	cleanup(buffer_deinit) struct buffer number = {0};

	expect_refused(TOP("'toolbox_id':'a b'"), 2, "/toolbox_id",
		"the toolbox id 'a b' must be 1 to 128 letters, digits, '_' or '-'");
	expect_refused(TOP("'toolbox_id':'a\\u0000'"), 2, "/toolbox_id",
		"the toolbox id 'a' must be 1 to 128 letters, digits, '_' or '-'");
	buffer_printf(&number, "%snumber 7", message);
	expect_refused(TOP("'toolbox_id':7"), 2, "/toolbox_id", buffer_terminate(&number));
}

Test(mistakes, of_a_type_as_other_languages_call_it)
{
	static const char *const words[][2] = {{"double", "f64"}, {"int", "i32"},
		{"const char *", "str"}, {"size_t", "usize"}, {"boolean", "bool"}};
	char text[256];
	char message[256];

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		snprintf(text, sizeof(text),
			TOOL("'native':{'symbol':'f','parameters':[{'name':'x','type':'%s'}]}"),
			words[i][0]);
		snprintf(message, sizeof(message),
			"must be \"%s\", not \"%s\"; see docs/native.md for the others",
			words[i][1], words[i][0]);
		expect_refused(text, 1, "/tools/0/native/parameters/0/type", message);
	}
}

Test(mistakes, of_a_file_name_that_is_no_id)
{
	char name[160];

	manifest_write("a b.json", TOP("'risk':'read'"));
	cr_assert_eq(manifest_read_again("a b.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, "the toolbox id 'a b' (the file's name, as there "
						 "is no \"toolbox_id\") must be 1 to "
						 "128 letters, digits, '_' or '-'");
	cr_expect_str_eq(problems.items[0].pointer, "");

	/* It is not cut to what would be one. */
	memset(name, 'a', sizeof(name));
	strcpy(name + TOOLBOX_ID_BYTES + 1, ".json");
	manifest_write(name, TOP("'risk':'read'"));
	cr_expect_eq(manifest_read_again(name), MANIFEST_E_REFUSED);
	strcpy(name + TOOLBOX_ID_BYTES, ".json");
	manifest_write(name, TOP("'risk':'read'"));
	cr_expect_eq(manifest_read_again(name), 0);
}

Test(mistakes, of_a_tool_name)
{
	static const char *const names[] = {"1f", "-f", "a b", "a.b", "a/b", "\xc3\xa9"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		cleanup(buffer_deinit) struct buffer manifest = {0};
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&manifest, BOX("{'name':'%s'," SQRT "}"), names[i]);
		buffer_printf(&message,
			"the tool name '%s' must begin with a letter or '_' and hold at most 64 "
			"letters, digits, '_' or '-'",
			names[i]);
		expect_refused(buffer_terminate(&manifest), 1, "/tools/0/name",
			buffer_terminate(&message));
	}
	expect_refused(BOX("{'name':''," SQRT "}"), 1, "/tools/0/name",
		"must be a string of 1 to 64 characters, not the string \"\"");
}

Test(mistakes, of_a_tool_name_that_stands_twice)
{
	expect_refused(BOX("{'name':'f'," SQRT "},{'name':'g'," SQRT "},\n{'name':'f'," SQRT "}"),
		2, "/tools/2/name", "the name 'f' is taken by tool 0, counted from 0");
}

Test(mistakes, of_a_tool_without_a_function)
{
	expect_refused(BOX("{'name':'f'}"), 1, "/tools/0", "missing required property 'native'");
	expect_refused(
		TOOL("'native':5"), 1, "/tools/0/native", "must be an object, not the number 5");
	expect_refused(TOOL("'native':{}"), 1, "/tools/0/native",
		"must be an object with 'symbol' or an object with 'steps', not an empty object");
	expect_refused("{'kind':'native','library':'a','tools':[]}", 1, "/tools",
		"must have at least 1 element, has 0");
}

Test(mistakes, of_a_library_that_is_no_name)
{
	expect_refused("{'kind':'native','library':'','tools':[{'name':'f'," SQRT "}]}", 1,
		"/library", "must be a string of 1 to 4095 characters, not the string \"\"");
	expect_refused("{'kind':'native','library':'libm.so.6\\u0000x','tools':[{'name':'f'," SQRT
		       "}]}",
		1, "/library", "must be a path or a library's name without U+0000");
	expect_refused("{'kind':'native','tools':[{'name':'f'," SQRT "}]}", 1, "",
		"missing required property 'library', or 'libraries' for several");
	expect_refused(
		"{'kind':'native','library':'a',\n'libraries':['b'],'tools':[{'name':'f'," SQRT
		"}]}",
		2, "/libraries", "'library' is there, too: leave out one of them");
	expect_refused("{'kind':'native','libraries':[],'tools':[{'name':'f'," SQRT "}]}", 1,
		"/libraries", "must have at least 1 element, has 0");
	expect_refused("{'kind':'native','libraries':['a','a'],'tools':[{'name':'f'," SQRT "}]}", 1,
		"/libraries",
		"its elements must differ, but number 0 and 1 are equal (counted from 0)");
	expect_refused("{'kind':'native','libraries':['a','b\\u0000'],'tools':[{'name':'f'," SQRT
		       "}]}",
		1, "/libraries/1", "must be a path or a library's name without U+0000");
	expect_refused("{'kind':'plugin','libraries':['a']}", 1, "",
		"missing required property 'library'");
	expect_refused("{'kind':'plugin','library':'a','libraries':['b']}", 1, "/libraries",
		"\"libraries\" is not a key of a toolbox of the kind \"plugin\"; leave it out");
}

#define NUMBER(name) "{'name':'" name "','type':'i32'}"

/* A refusal lists the first ten names. A key with escapes is the name that it spells. */
Test(mistakes, of_a_schema_beside_many_parameters)
{
#define FIVE(a, b, c, d, e) NUMBER(a) "," NUMBER(b) "," NUMBER(c) "," NUMBER(d) "," NUMBER(e)
#define ELEVEN(name)                                                                               \
	FIVE("a", "b", "c", "d", "e") "," FIVE("f", "g", "h", "i", "j") "," NUMBER(name)
#define BESIDE(name, properties)                                                                   \
	TOOL("'argument_schema':{'properties':{'a':{},'b':{},'c':{},'d':{},'e':{},'f':{},'g':{},"  \
	     "'h':{},'i':{},'j':{}," properties                                                    \
	     "}},'native':{'symbol':'f','parameters':[" ELEVEN(name) "]}")

	read_good(BESIDE("k", "'\\u006b':{}"));
	expect_refused(BESIDE("k", "'k':{},'z':{}"), 1, "/tools/0/argument_schema/properties/z",
		"the function has no parameter of this name; expected 'a', 'b', 'c', 'd', 'e', "
		"'f', "
		"'g', 'h', 'i', 'j', …");
	expect_refused(BESIDE("k", "'z':{}"), 1, "/tools/0/argument_schema/properties",
		"the parameter 'k' of the function is missing in the schema's properties");
}

Test(mistakes, of_a_schema_that_means_other_parameters)
{
	expect_refused(GIVEN("{'type':'object'}"), 1, "/tools/0/argument_schema",
		"the parameter 'x' of the function is missing in the schema's properties");
	expect_refused(GIVEN("{'properties':{'x':{},\n'y':{}}}"), 2,
		"/tools/0/argument_schema/properties/y",
		"the function has no parameter of this name; expected 'x'");
	expect_refused(TOOL("'output_schema':{'properties':{}}," SQRT), 1,
		"/tools/0/output_schema/properties",
		"the result 'result' of the function is missing in the schema's properties");
	expect_refused(TOOL("'output_schema':{'properties':{'x':{}}},'native':{'symbol':'abort'}"),
		1, "/tools/0/output_schema/properties/x",
		"the function has no result of this name; expected none");
}

#define STEPS(members, schema)                                                                     \
	TOOL("'output_schema':{'properties':" schema "},'native':{'steps':[{'call':'abort'}]"      \
	     ",'result':{" members "}}")

Test(mistakes, of_a_schema_that_means_other_results_of_steps)
{
	expect_refused(STEPS("'a':1,'b':2", "{'a':{}}"), 1, "/tools/0/output_schema/properties",
		"the result 'b' of the function is missing in the schema's properties");
	expect_refused(STEPS("'a':1,'b\\n':{'d':2}", "{'a':{},'b\\n':{},\n'c':{}}"), 2,
		"/tools/0/output_schema/properties/c",
		"the function has no result of this name; expected 'a', 'b\n'");
}

#define NATIVE(members) TOOL("'native':{'symbol':'f'," members "}")
#define BOTH(type, schema)                                                                         \
	TOOL("'argument_schema':{'properties':{'x':{'type':" schema "}}},'native':{'symbol':'f',"  \
	     "'parameters':[{'name':'x','type':" type "}]}")

Test(mistakes, of_a_schema_that_no_value_of_the_type_satisfies)
{
	static const char place[] = "/tools/0/argument_schema/properties/x/type";

	expect_refused(BOTH("'i64'", "'string'"), 1, place,
		"the parameter 'x' is of type i64 in C: its schema must allow \"integer\", not "
		"only \"string\"");
	expect_refused(BOTH("'bytes'", "['array','null']"), 1, place,
		"the parameter 'x' is of type bytes in C: its schema must allow \"string\", not "
		"only [\"array\",\"null\"]");
	expect_refused(BOTH("'bool'", "'integer'"), 1, place,
		"the parameter 'x' is of type bool in C: its schema must allow \"boolean\", not "
		"only \"integer\"");
	expect_refused(BOTH("'array','items':'i8'", "'object'"), 1, place,
		"the parameter 'x' is of type array in C: its schema must allow \"array\", not "
		"only \"object\"");
	expect_refused(BOTH("'str'", "'null'"), 1, place,
		"the parameter 'x' is of type str in C: its schema must allow \"string\", not "
		"only \"null\"");
	expect_refused(TOOL("'output_schema':{'properties':{'n':{'type':'string'}}},'native':{'"
			    "symbol':'f',"
			    "'parameters':[{'name':'n','type':'f32','dir':'out'}]}"),
		1, "/tools/0/output_schema/properties/n/type",
		"the result 'n' is of type f32 in C: its schema must allow \"number\", not only "
		"\"string\"");
	read_good(BOTH("'f64'", "'integer'"));
	read_good(BOTH("'u8'", "'number'"));
	read_good(BOTH("'str','nullable':true", "'null'"));
	read_good(BOTH("'i32'", "['string','integer']"));
	read_good(BOTH("'json'", "'object'"));
}

Test(mistakes, of_a_schema_of_what_is_hidden_or_comes_out)
{
	expect_refused(
		TOOL("'argument_schema':{'properties':{'d':{},'n':{}}},'native':{'symbol':'f',"
		     "'parameters':[{'name':'d','type':'bytes'},"
		     "{'name':'n','type':'i32','length_of':'d'}]}"),
		1, "/tools/0/argument_schema/properties/n",
		"the function has no parameter of this name; expected 'd'");
	expect_refused(TOOL("'output_schema':{'properties':{}},'native':{'symbol':'f',"
			    "'parameters':[{'name':'n','type':'i32','dir':'out'}]}"),
		1, "/tools/0/output_schema/properties",
		"the result 'n' of the function is missing in the schema's properties");
}

Test(mistakes, of_the_schema_of_a_json)
{
	expect_refused(
		NATIVE("'parameters':[{'name':'x','type':'json','schema':{\n'type':'objct'}}]"), 2,
		"/tools/0/native/parameters/0/schema/type",
		"'type' must be array, boolean, integer, null, number, object or string, or a list "
		"of them, not objct");
	expect_refused(NATIVE("'returns':{'type':'json','schema':{'minimum':'1'}}"), 1,
		"/tools/0/native/returns/schema/minimum", "'minimum' must be a number, not string");
	expect_refused(NATIVE("'parameters':[{'name':'x','type':'json','schema':{'type':'array'},"
			      "'default':{}}]"),
		1, "/tools/0/native",
		"the schema of this function cannot be used: the default does not satisfy its "
		"schema: must be an array, not an empty object");
}

/* An array is not searched for members: there is nothing to find after its end. */
Test(mistakes, of_properties_that_are_no_object)
{
	expect_refused(BOX("{'name':'f'," SQRT ",'argument_schema':{'properties':['x']}}"), 1,
		"/tools/0/argument_schema/properties", "'properties' must be an object, not array");
	expect_refused(GIVEN("{'properties':5}"), 1, "/tools/0/argument_schema/properties",
		"'properties' must be an object, not number");
}

Test(mistakes, of_a_schema_that_cannot_be_used)
{
	expect_refused(GIVEN("{'properties':{'x':{\n'type':'nmber'}}}"), 2,
		"/tools/0/argument_schema/properties/x/type",
		"'type' must be array, boolean, integer, null, number, object or string, or a list "
		"of "
		"them, not nmber");
	expect_refused(GIVEN("{'properties':{'x':{}},'$ref':'http://x/y'}"), 1,
		"/tools/0/argument_schema/$ref",
		"'http://x/y' refers to 'http://x/y', which is not registered; nothing is ever "
		"fetched");
	expect_refused(GIVEN("{'properties':{'x':{'pattern':'('}}}"), 1,
		"/tools/0/argument_schema/properties/x/pattern",
		"no regular expression: missing closing parenthesis");
	expect_refused(GIVEN("true"), 1, "/tools/0/argument_schema", "must be an object, not true");
}

Test(mistakes, of_a_default)
{
	expect_refused(GIVEN("{'properties':{'x':{'type':'number',\n'default':'a'}}}"), 2,
		"/tools/0/argument_schema/properties/x/default",
		"the default does not satisfy its schema: must be a number, not the string \"a\"");
	expect_refused(PARAMETER("'i8','default':300"), 1, "/tools/0/native/parameters/0/default",
		"must be an integer from -128 to 127, not 300");
}

Test(mistakes, of_a_format_once_formats_are_asserted)
{
	static const char tool[] =
		"{'name':'f','argument_schema':{'properties':{'x':{'format':'date','default':"
		"'today'}}},'native':{'symbol':'f','parameters':[{'name':'x','type':'str'}]}}";
	cleanup(buffer_deinit) struct buffer manifest = {0};

	buffer_printf(&manifest, BOX("%s"), tool);
	read_good(buffer_terminate(&manifest));
	buffer_reset(&manifest);
	buffer_printf(&manifest,
		"{'assert_formats':true,'kind':'native','library':'x','tools':[%s]}", tool);
	manifest_write("box.json", buffer_terminate(&manifest));
	cr_expect_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
}

Test(mistakes, of_an_example)
{
	expect_refused(TOOL("'examples':[{'args':{}}]," SQRT), 1, "/tools/0/examples/0/args",
		"the example's arguments must satisfy the schema: missing required property 'x' (a "
		"number). Parameters: x (a number, required)");
	expect_refused(TOOL("'examples':[{'args':{'x':4}},\n{'args':{'x':4},'result':{'result':'a'}"
			    "}]," SQRT),
		2, "/tools/0/examples/1/result",
		"the example's result must satisfy the schema: /result: must be a number, not the "
		"string \"a\". Parameters: result (a number, required)");
	expect_refused(TOOL("'examples':[{'result':1}]," SQRT), 1, "/tools/0/examples/0",
		"missing required property 'args' (an object)");
}

Test(mistakes, of_a_number_out_of_its_range)
{
	static const struct {
		const char *members;
		const char *pointer;
		const char *message;
	} rows[] = {
		{"'limits':{'timeout_ms':0}", "/limits/timeout_ms",
			"must be an integer from 1 to 86400000, not the number 0"},
		{"'limits':{'timeout_ms':86400001}", "/limits/timeout_ms",
			"must be an integer from 1 to 86400000, not the number 86400001"},
		{"'limits':{'workers':65}", "/limits/workers",
			"must be an integer from 1 to 64, not the number 65"},
		{"'limits':{'queue':65537}", "/limits/queue",
			"must be an integer from 1 to 65536, not the number 65537"},
		{"'limits':{'memory_mb':15}", "/limits/memory_mb",
			"must be an integer from 16 to 1048576, not the number 15"},
		{"'limits':{'prestart':1}", "/limits/prestart",
			"must be a boolean, not the number 1"},
		{"'limits':{'idle_s':-1}", "/limits/idle_s",
			"must be an integer from 0 to 86400, not the number -1"},
		{"'limits':{'idle_s':1.5}", "/limits/idle_s",
			"must be an integer from 0 to 86400, not the number 1.5"},
		{"'risk':'none'", "/risk",
			"must be one of \"read\", \"write\", \"execute\", not the string \"none\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer manifest = {0};

		buffer_printf(&manifest, TOP("%s"), rows[i].members);
		expect_refused(buffer_terminate(&manifest), 2, rows[i].pointer, rows[i].message);
	}
	expect_refused(TOOL("'cooldown_s':-1," SQRT), 1, "/tools/0/cooldown_s",
		"must be an integer from 0 to 86400, not the number -1");
	expect_refused(TOOL("'timeout_ms':0," SQRT), 1, "/tools/0/timeout_ms",
		"must be an integer from 1 to 86400000, not the number 0");
	expect_refused(TOOL("'triggers':['']," SQRT), 1, "/tools/0/triggers/0",
		"must be a string of 1 to 1024 characters, not the string \"\"");
}

Test(mistakes, of_a_sandbox)
{
	static const struct {
		const char *sandbox;
		const char *pointer;
		const char *message;
	} rows[] = {
		{"'net'", "/sandbox", "must be an object, not the string \"net\""},
		{"{'class':'nett'}", "/sandbox/class",
			"must be one of \"compute\", \"net\", \"command\", \"none\", not the "
			"string \"nett\"; did you mean 'net'?"},
		{"{'clas':'net'}", "/sandbox/clas",
			"unexpected property 'clas'; did you mean 'class'?"},
		{"{'read':'/usr'}", "/sandbox/read",
			"must be an array of at most 64 elements, each a string of 1 to 4095 "
			"characters, not the string \"/usr\""},
		{"{'write':['']}", "/sandbox/write/0",
			"must be a string of 1 to 4095 characters, not the string \"\""},
		{"{'read':['/','/a\\u0000']}", "/sandbox/read/1",
			"must be a path: absolute, or in a manifest relative to its folder"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer manifest = {0};

		buffer_printf(&manifest, TOP("'sandbox':%s"), rows[i].sandbox);
		expect_refused(buffer_terminate(&manifest), 2, rows[i].pointer, rows[i].message);
	}
}

Test(mistakes, of_a_tool_that_is_called_as_another_kind_is)
{
	expect_refused(TOOL("'command':{'argv':['x']}," SQRT), 1, "/tools/0/command",
		"\"command\" is not a key of a tool of the kind \"native\"; leave it out");
}

Test(mistakes, of_a_tool_that_cannot_read_what_it_is_given)
{
	expect_refused(TOOL("'given':'statistics'," SQRT), 1, "/tools/0/given",
		"is for tools of plugins, by toolbox.h; leave it out");
	expect_refused(TOOL("'given':'weather'," SQRT), 1, "/tools/0/given",
		"must be one of \"statistics\", \"conversation\", not the string \"weather\"");
}

Test(mistakes, of_one_file_are_told_at_once)
{
	manifest_write("box.json", BOX("{'name':'1f'," SQRT "},{'name':'g','native':{'symbol':''}},"
				       "{'name':'h','examples':[{'args':{}}]," SQRT "}"));
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_eq(problems.n_errors, 1, "of a wrong shape the shape is told alone");
	manifest_write("box.json",
		BOX("{'name':'1f'," SQRT "},{'name':'h','examples':[{'args':{}}]," SQRT "}"));
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_eq(problems.n_errors, 2);
	cr_expect_str_eq(problems.items[1].pointer, "/tools/1/examples/0/args");
}

/* The place of a mistake that is not reported is not searched for: that walked the file for each of
 * them. */
Test(mistakes, by_the_thousand_are_counted_and_the_first_told, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer manifest = {0};
	cleanup(buffer_deinit) struct buffer first = {0};

	buffer_append_string(&manifest, "{'kind':'native','library':'libm.so.6','tools':[");
	for (int i = 0; i < 20000; i++)
		buffer_printf(&manifest, "%s{'name':'%d','native':{'symbol':'f'}}",
			i > 0 ? ",\n" : "", i);
	buffer_append_string(&manifest, "]}");
	manifest_write("box.json", buffer_terminate(&manifest));
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_eq(problems.n_items, DIAGNOSTICS_MAX);
	cr_expect_eq(problems.n_errors, 20000);
	diagnostics_write_first(&problems, "FILE", &first);
	cr_expect_str_eq(buffer_terminate(&first),
		"FILE:1 /tools/0/name: the tool name '0' must begin with a letter or '_' and hold "
		"at "
		"most 64 letters, digits, '_' or '-' (and 19999 more)");
}

Test(mistakes, of_a_file_that_cannot_be_read)
{
	cleanup(buffer_deinit) struct buffer large = {0};

	cr_expect_eq(manifest_read_again("none.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, "cannot be read: No such file or directory");
	cr_assert_eq(symlink("/dev/zero", manifest_path("zero.json")), 0);
	cr_expect_eq(manifest_read_again("zero.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, "cannot be read: Invalid argument");
	for (size_t i = 0; i < MANIFEST_BYTES_MAX + 1; i++)
		buffer_append_char(&large, ' ');
	manifest_write("large.json", buffer_terminate(&large));
	cr_expect_eq(manifest_read_again("large.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].text, "must be at most 4194304 bytes; it is larger");
}

Test(mistakes, of_a_key_that_belongs_to_other_kinds)
{
	static const char *const keys[] = {"config", "cwd", "env"};
	static const char *const values[] = {"{}", "'/'", "{}"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		cleanup(buffer_deinit) struct buffer manifest = {0};
		cleanup(buffer_deinit) struct buffer pointer = {0};
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&manifest, TOP("'%s':%s"), keys[i], values[i]);
		buffer_printf(&pointer, "/%s", keys[i]);
		buffer_printf(&message,
			"\"%s\" is not a key of a toolbox of the kind \"native\"; leave it out",
			keys[i]);
		expect_refused(buffer_terminate(&manifest), 2, buffer_terminate(&pointer),
			buffer_terminate(&message));
	}
}

Test(mistakes, of_a_list_of_servers_that_another_program_keeps)
{
	expect_refused("{\n'servers':{}}", 2, "/servers",
		"a list of servers has the key mcpServers, not servers");
	expect_refused("{'context_servers':{}}", 1, "/context_servers",
		"a list of servers has the key mcpServers, not context_servers");
	expect_refused("{'mcp_servers':{}}", 1, "/mcp_servers",
		"a list of servers has the key mcpServers, not mcp_servers");
}
