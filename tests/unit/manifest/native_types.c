/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "manifest_fixture.h"

/* The tables of a native toolbox, shared by its tools. */

TestSuite(
	manifest_native_types, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

#define WITH_LEVELS(levels, tool)                                                                  \
	"{'kind':'native','library':'libm.so.6','enums':{'level':" levels "},\n'tools':[{"         \
	"'name':'f'," tool "}]}"
#define LEVELS "{'low':0,'high':2}"
#define LEVEL                                                                                      \
	"'native':{'symbol':'f','parameters':[{'name':'level','type':'enum',"                      \
	"'enum':'level'}]}"

Test(manifest_native_types, are_written_once_for_all_tools)
{
	const char *first;

	read_good(WITH_LEVELS(LEVELS,
		LEVEL "},{'name':'g'," LEVEL "},{'name':'h','native':{'parameters':[{'name':"
		      "'level','type':'enum','enum':'level'}],'steps':[{'call':'h','args':["
		      "'$level']}]}"));
	first = strstr(package->load, "\"enums\"");
	cr_assert(first, "%s", package->load);
	cr_expect(
		strstr(first, "\"enums\":{\"level\":{\"low\":0,\"high\":2}},\"tools\":[") == first,
		"%s", package->load);
	cr_expect_null(strstr(first + 1, "\"enums\""), "%s", package->load);
}

/* The names of tables are of one toolbox: two share no host that looks at a library. */
Test(manifest_native_types, are_of_one_toolbox)
{
	struct package *with, *without;

	read_good(WITH_LEVELS(LEVELS, LEVEL));
	with = package_ref(package);
	read_good(BOX("{'name':'f'," SQRT "}"));
	without = package_ref(package);
	manifest_write("other.json", WITH_LEVELS(LEVELS, LEVEL));
	cr_assert_eq(manifest_read_again("other.json"), 0);
	cr_expect_neq(package_compare_loads(with, package), 0);
	cr_expect_neq(package_compare_loads(without, package), 0);
	cr_expect_eq(package_compare_loads(package, package), 0);
	manifest_write("other.json", BOX("{'name':'g'," SQRT "}"));
	cr_assert_eq(manifest_read_again("other.json"), 0);
	cr_expect_eq(package_compare_loads(without, package), 0);
	package_unref(with);
	package_unref(without);
}

/* A table whose change lets a tool be another one. */
Test(manifest_native_types, are_a_part_of_what_is_run)
{
	unsigned char run[sizeof(((struct tool *)0)->run)];

	memcpy(run, read_good(WITH_LEVELS(LEVELS, LEVEL))->tools[0].run, sizeof(run));
	cr_expect_arr_eq(read_good(WITH_LEVELS(LEVELS, LEVEL))->tools[0].run, run, sizeof(run));
	cr_expect_arr_neq(read_good(WITH_LEVELS("{'low':1,'high':2}", LEVEL))->tools[0].run, run,
		sizeof(run));
}

/* Append the first half of a manifest: a field with a description of @bytes in @count structs, and
 * these in @count more. */
static void begin_nested(struct buffer *text, size_t bytes, unsigned int count)
{
	buffer_append_string(text, "{'kind':'native','library':'libm.so.6','structs':{'s0':{"
				   "'fields':[{'name':'x','type':'u8','description':'");
	for (size_t i = 0; i < bytes; i++)
		buffer_append_char(text, 'd');
	buffer_append_string(text, "'}]}");
	for (unsigned int level = 1; level <= 2; level++) {
		buffer_printf(text, ",'s%u':{'fields':[", level);
		for (unsigned int i = 0; i < count; i++)
			buffer_printf(text, "%s{'name':'f%u','type':'struct','struct':'s%u'}",
				i > 0 ? "," : "", i, level - 1);
		buffer_append_string(text, "]}");
	}
	buffer_append_string(text, "},'tools':[");
}

#define NESTED "{'name':'p','type':'struct','struct':'s2'}"

Test(manifest_native_types, in_one_another_make_schemas_of_a_limited_size)
{
	static const char message[] =
		"the schema made from this function has more than 1048576 bytes: nest fewer "
		"structs, shorten what describes their fields, or give the schema yourself";
	static const char *const tools[] = {
		"{'name':'f','native':{'symbol':'f','parameters':[" NESTED "]}}]}",
		"{'name':'f','native':{'parameters':[" NESTED "],'steps':[{'call':'f','args':['$p']"
		"}]}}]}",
		"{'name':'f','native':{'symbol':'f','returns':{'type':'struct','struct':'s2'}}}]}",
		"{'name':'f','native':{'steps':[{'call':'f','args':[{'out':" NESTED "}]}]}}]}",
		"{'name':'f','native':{'steps':[{'call':'f','args':[{'out':" NESTED "}]}],"
		"'result':{'a':{'b':'$p'}}}}]}",
	};

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		begin_nested(&text, 50000, 16);
		buffer_append_string(&text, tools[i]);
		expect_refused(buffer_terminate(&text), 1, "/tools/0/native", message);
	}
}

/* The members of a schema that is cut are not known. */
Test(manifest_native_types, of_a_schema_that_is_too_long_leave_a_given_one_as_it_is)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	begin_nested(&text, 50000, 16);
	buffer_append_string(&text,
		"{'name':'f','native':{'steps':[{'call':'f','args':[{'out':" NESTED
		"}]}]},'output_schema':{'type':'object','properties':{'p':{'type':"
		"'object'}}}}]}");
	read_good(buffer_terminate(&text));
}

/* Elements of an array have no schema of their own, whatever it would be. */
Test(manifest_native_types, in_arrays_of_a_result_make_no_schema)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	begin_nested(&text, 50000, 16);
	buffer_append_string(&text,
		"{'name':'f','native':{'steps':[{'call':'f','args':[{'out':" NESTED
		"}]}],'result':{'list':[['$p'],{'a':'$p'}]}}}]}");
	cr_expect_str_eq(read_good(buffer_terminate(&text))->tools[0].output_schema,
		"{\"type\":\"object\",\"properties\":{\"list\":{\"type\":\"array\"}},"
		"\"required\":[\"list\"]}");
}

Test(manifest_native_types, make_schemas_of_a_limited_size_together)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	begin_nested(&text, 900000, 1);
	for (unsigned int i = 0; i < 20; i++)
		buffer_printf(&text,
			"%s{'name':'f%u','native':{'symbol':'f','parameters':[" NESTED "]}}",
			i > 0 ? "," : "", i);
	buffer_append_string(&text, "]}");
	expect_refused(buffer_terminate(&text), 1, "/tools/18/native",
		"the schemas made from the functions of the toolbox have more than 16777216 "
		"bytes: give some tools to another toolbox");
}

Test(manifest_native_types, a_read_says_what_its_copy_is)
{
	struct toolbox *box = read_good(
		"{'kind':'native','library':'libm.so.6','tools':[{'name':'f','native':{'steps':[{"
		"'call':'f','returns':{'name':'h','type':'handle'}},{'read':'$h','type':'str',"
		"'name':'s','description':'The name.'}]}}]}");
	cr_expect(strstr(box->tools[0].output_schema, "\"description\":\"The name.\""));
}

Test(manifest_native_types, hold_for_examples)
{
	read_good(WITH_LEVELS(LEVELS, LEVEL ",'examples':[{'args':{'level':'high'}}]"));
	expect_refused(WITH_LEVELS(LEVELS, LEVEL ",\n'examples':[{'args':{'level':2}}]"), 3,
		"/tools/0/examples/0/args",
		"the example's arguments must satisfy the schema: /level: must be one of \"low\", "
		"\"high\", not the number 2. Parameters: level (one of \"low\", \"high\", "
		"required)");
}

Test(manifest_native_types, are_refused_once_whatever_refers_to_them)
{
	expect_refused(WITH_LEVELS("{'low':0.5}", LEVEL), 1, "/enums/level/low",
		"must be an integer or an object with 'value', not the number 0.5");
	expect_refused(WITH_LEVELS("{'low':99999999999999999999}", LEVEL), 1, "/enums/level/low",
		"must be an integer of at most 64 bits, not 99999999999999999999");
	expect_refused(WITH_LEVELS(LEVELS, "'native':{'symbol':'f','parameters':[{'name':'level',"
					   "'type':'enum',\n'enum':'levels'}]}"),
		3, "/tools/0/native/parameters/0/enum",
		"must be the name of a table in 'enums', not \"levels\"");
	expect_refused("{'kind':'native','library':'libm.so.6','structs':{'s':{'fields':[{"
		       "'name':'a','type':'u8'},{'name':'b','type':'i32'}],\n'size':5}},"
		       "'tools':[{'name':'f','native':{'symbol':'f'}}]}",
		2, "/structs/s/size",
		"the fields take 8 bytes in C, the last of them from byte 4 on; \"partial\": true, "
		"if "
		"others follow");
	expect_refused("{'kind':'command','enums':{'level':{'low':0}},'tools':[]}", 1, "/enums",
		"\"enums\" is not a key of a toolbox of the kind \"command\"; leave it out");
}

#define CONTENT(members)                                                                           \
	BOX("{'name':'f','native':{'symbol':'f',\n'output':'content'," members "}}")

#define STEPS(members) BOX("{'name':'f','native':{'output':'content',\n" members "}}")

Test(manifest_native_types, of_rich_content_are_blocks)
{
	static const char message[] =
		"rich content is a json called 'content' and, if there is one, a value called "
		"'structured': name the results so, and leave others out by \"name\": null";
	const struct toolbox *box =
		read_good(CONTENT("'returns':{'name':'content','type':'json'}"));

	cr_expect(box->tools[0].has_content);
	cr_expect(strstr(box->tools[0].output_schema, "\"content\""), "%s",
		box->tools[0].output_schema);
	read_good(CONTENT("'returns':{'name':null,'type':'i32'},'parameters':[{'name':'content',"
			  "'type':'json','dir':'out','transfer':'full'},{'name':'structured',"
			  "'type':'i32','dir':'out'}]"));
	read_good(STEPS("'steps':[{'call':'abort'}],'result':{'content':[{'type':'text','text':"
			"'x'}],'structured':1}"));
	expect_refused(STEPS("'steps':[{'call':'abort'}],'result':{'content':[],'n':1}"), 1,
		"/tools/0/native/output", message);
	expect_refused(STEPS("'steps':[{'call':'abort'}]"), 1, "/tools/0/native/output", message);
	expect_refused(CONTENT("'returns':{'type':'json'}"), 2, "/tools/0/native/output", message);
	expect_refused(CONTENT("'returns':{'name':'content','type':'str'}"), 2,
		"/tools/0/native/output", message);
	expect_refused(CONTENT("'returns':{'name':'content','type':'json'},'parameters':[{'name':"
			       "'n','type':'i32','dir':'out'}]"),
		2, "/tools/0/native/output", message);
}
