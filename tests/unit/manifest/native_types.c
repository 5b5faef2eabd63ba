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

Test(manifest_native_types, are_written_with_each_tool_that_uses_them)
{
	read_good(WITH_LEVELS(LEVELS, LEVEL "},{'name':'g','native':{'symbol':'g'}"));
	cr_expect(strstr(package->load, "\"enums\":{\"level\":{\"low\":0,\"high\":2}}}"), "%s",
		package->load);
	cr_expect(strstr(package->load, "{\"symbol\":\"g\",\"parameters\":[],\"returns\":"
					"{\"type\":\"void\",\"errors\":\"none\"}}"),
		"%s", package->load);
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
