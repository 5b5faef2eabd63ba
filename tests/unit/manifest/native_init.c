/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "manifest_fixture.h"

/* The functions that a native toolbox calls before its tools. */

TestSuite(manifest_native_init, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

#define WITH_INIT(init)                                                                            \
	"{'kind':'native','library':'libm.so.6','init':[" init "],'tools':[{'name':'f'," SQRT "}]" \
	"}"

Test(manifest_native_init, is_kept_for_the_host_as_it_is)
{
	static const char *const cases[][2] = {
		{WITH_INIT("{'call':'start'}"), "[{\"call\":\"start\"}]"},
		{WITH_INIT("{'call':'start','args':[{'i32':16},null,{'str':'x'}]}"),
			"[{\"call\":\"start\",\"args\":[{\"i32\":16},null,{\"str\":\"x\"}]}]"},
		{WITH_INIT("{'call':'a','returns':{'type':'handle','name':'db'},"
			   "'finally':{'call':'z','args':['$db']}},{'call':'b'}"),
			"[{\"call\":\"a\",\"returns\":{\"type\":\"handle\",\"name\":\"db\"},"
			"\"finally\":{\"call\":\"z\",\"args\":[\"$db\"]}},{\"call\":\"b\"}]"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_good(cases[i][0]);
		cr_assert_not_null(package->init);
		cr_expect_str_eq(package->init->source, cases[i][1]);
	}
}

Test(manifest_native_init, of_a_toolbox_without_one_is_null)
{
	read_good(BOX("{'name':'f'," SQRT "}"));
	cr_expect_null(package->init);
}

Test(manifest_native_init, is_refused_at_the_place_of_its_mistake)
{
	static const char *const cases[][2] = {
		{WITH_INIT("{'call':'a','args':[{'i32':1},{'i32':'x'}]}"), "/init/0/args/1"},
		{WITH_INIT("{'call':'a','args':[{'nonsense':1}]}"), "/init/0/args/0"},
		{WITH_INIT("{'call':'a'},{'call':'b','args':[{'u8':256}]}"), "/init/1/args/0"},
		{WITH_INIT("{'call':'a','returns':{'type':'u8','errors':'negative'}}"),
			"/init/0/returns"},
		{WITH_INIT("{'call':'a','finally':{'call':'z','args':[{'i8':'x'}]}}"),
			"/init/0/finally/args/0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		manifest_write("box.json", cases[i][0]);
		cr_expect_eq(
			manifest_read_again("box.json"), MANIFEST_E_REFUSED, "%s", cases[i][0]);
		cr_assert_gt(problems.n_items, 0);
		cr_expect_eq(strncmp(problems.items[0].pointer, cases[i][1], strlen(cases[i][1])),
			0, "%s: %s %s", cases[i][0], problems.items[0].pointer,
			problems.items[0].text);
	}
}

Test(manifest_native_init, has_a_shape)
{
	static const char *const wrong[] = {
		"{'kind':'native','library':'libm.so.6','init':{},'tools':[{'name':'f'," SQRT "}]}",
		"{'kind':'native','library':'libm.so.6','init':[],'tools':[{'name':'f'," SQRT "}]}",
		WITH_INIT("{}"),
		WITH_INIT("{'call':''}"),
		WITH_INIT("{'call':5}"),
		WITH_INIT("{'call':'a','args':{}}"),
		WITH_INIT("{'call':'a','args':[5]}"),
		WITH_INIT("{'call':'a','args':[{'i32':1,'i64':2}]}"),
		WITH_INIT("{'call':'a','args':[{}]}"),
		WITH_INIT("{'call':'a','returns':'i32'}"),
		WITH_INIT("{'call':'a','returns':{}}"),
		WITH_INIT("{'call':'a','more':1}"),
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		manifest_write("box.json", wrong[i]);
		cr_expect_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED, "%s", wrong[i]);
	}
}

Test(manifest_native_init, names_the_tables_of_the_toolbox)
{
	read_good("{'kind':'native','library':'libm.so.6','enums':{'level':{'low':0}},'init':[{"
		  "'call':'start','args':[{'inout':{'name':'l','type':'enum','enum':'level'}}]}],"
		  "'tools':[{'name':'f'," SQRT "}]}");
	cr_assert_not_null(package->init);
	cr_expect_null(strchr(package->init->source, '0'), "%s", package->init->source);
}

#define KEEPS_AT(args) WITH_INIT("{'call':'keep','args':[" args "]}")
#define OF_TOOLS                                                                                   \
	"the memory of a tool ends with its call, so no function can keep it: let a step of "      \
	"'init' make this call"
#define WITH_TOOL(native)                                                                          \
	"{'kind':'native','library':'a','tools':[{'name':'f','native':" native "}]}"

Test(manifest_native_init, keeps_memory_for_functions)
{
	static const char *const cases[] = {
		KEEPS_AT("{'str':'x','keeps':true}"),
		KEEPS_AT("{'keeps':true,'bytes':'AAAA'}"),
		KEEPS_AT("{'out':{'name':'b','type':'bytes','capacity':8,'keeps':true}}"),
		KEEPS_AT("{'inout':{'name':'n','type':'i32','value':3,'keeps':true}}"),
		KEEPS_AT("{'out':{'name':'m','type':'handle','size':8,'c':'m','keeps':true}}"),
		WITH_INIT("{'call':'a','returns':{'name':'t','type':'str'}},{'call':'keep','args':["
			  "{'value':'$t','keeps':true}]}"),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_good(cases[i]);
		cr_expect(package->init->keeps, "%s", cases[i]);
	}
	read_good(KEEPS_AT("{'str':'x','keeps':false}"));
	cr_expect_not(package->init->keeps);
}

Test(manifest_native_init, keeps_nothing_else)
{
	expect_refused(KEEPS_AT("{'i32':1,'keeps':true}"), 1, "/init/0/args/0/keeps",
		"only memory is kept, and this argument is none: a number is passed as a copy, and "
		"a handle belongs to the library");
	expect_refused(WITH_INIT("{'call':'a','returns':{'name':'h','type':'handle'}},{'call':"
				 "'keep','args':[{'value':'$h','keeps':true}]}"),
		1, "/init/1/args/0/keeps",
		"only memory is kept, and this argument is none: a number is passed as a copy, and "
		"a handle belongs to the library");
	expect_refused(KEEPS_AT("{'str':'x','keeps':1}"), 1, "/init/0/args/0/keeps",
		"must be true or false, not 1");
	expect_refused(WITH_INIT("{'call':'a','finally':{'call':'z','args':[{'str':'x','keeps':"
				 "true}]}}"),
		1, "/init/0/finally/args/0/keeps",
		"only the call of a step itself can keep an argument, not its 'finally' or "
		"'message'");
	expect_refused(
		WITH_INIT("{'repeat':{'call':'a','args':[{'str':'x','keeps':true}],'returns':{"
			  "'type':'i32'},'while':{'equals':1}}}"),
		1, "/init/0/repeat/args/0/keeps",
		"each round of a 'repeat' uses its memory again: what a function keeps belongs to "
		"a step of its own");
	expect_refused(KEEPS_AT("{'out':{'name':'n','type':'i32'},'keeps':true}"), 1,
		"/init/0/args/0/keeps",
		"the 'keeps' of an output is a key of its 'out', beside 'name'");
	expect_refused(KEEPS_AT("{'keeps':true,'inout':{'name':'n','type':'i32'}}"), 1,
		"/init/0/args/0/keeps",
		"the 'keeps' of an output is a key of its 'inout', beside 'name'");
}

#define ONE_OF                                                                                     \
	"an argument is one of \"$name\", null, {\"TYPE\": CONSTANT}, 'out', 'inout', "            \
	"'length_of', 'size_of' and 'as': this has "

Test(manifest_native_init, has_one_way_to_pass_a_value)
{
	static const char words[] =
		"an argument that is a value is \"$name\" itself: 'value' comes "
		"only with \"keeps\": true";

	expect_refused(WITH_INIT("{'call':'a','returns':{'name':'t','type':'str'}},{'call':'keep',"
				 "'args':[{'value':'$t'}]}"),
		1, "/init/1/args/0", words);
	expect_refused(WITH_INIT("{'call':'a','returns':{'name':'t','type':'str'}},{'call':'keep',"
				 "'args':[{'value':'$t','keeps':false}]}"),
		1, "/init/1/args/0", words);
	expect_refused(WITH_TOOL("{'parameters':[{'name':'t','type':'str'}],'steps':[{'call':'f',"
				 "'args':[{'value':'$t'}]}]}"),
		1, "/tools/0/native/steps/0/args/0", words);
}

Test(manifest_native_init, tells_that_keeps_is_no_argument)
{
	/* The last value of the file: nothing comes after it. */
	expect_refused("{'kind':'native','library':'libm.so.6','tools':[{'name':'f'," SQRT
		       "}],'init':[{'call':'a','args':[{'keeps':true}]}]}",
		1, "/init/0/args/0", ONE_OF "'keeps' alone");
	expect_refused(
		KEEPS_AT("{'keeps':true},{'i32':1}"), 1, "/init/0/args/0", ONE_OF "'keeps' alone");
	expect_refused(WITH_TOOL("{'steps':[{'call':'f','args':[{'keeps':true}]}]}"), 1,
		"/tools/0/native/steps/0/args/0", ONE_OF "'keeps' alone");
	expect_refused(KEEPS_AT("{'str':'x','keeps':true,'i32':1}"), 1, "/init/0/args/0",
		ONE_OF "several keys");
}

Test(manifest_native_init, is_the_place_to_keep_memory)
{
	expect_refused(
		WITH_TOOL("{'symbol':'f','parameters':[{'name':'t','type':'str','keeps':false}"
			  "]}"),
		1, "/tools/0/native/parameters/0/keeps",
		"unexpected property 'keeps'; the object takes 'name', 'type', 'struct', 'by', "
		"'transfer', 'free', 'size', 'enum', 'base', 'description', …");
	expect_refused(WITH_TOOL("{'steps':[{'call':'f','args':[{'str':'x','keeps':false}]}]}"), 1,
		"/tools/0/native/steps/0/args/0/keeps", OF_TOOLS);
	expect_refused(WITH_TOOL("{'steps':[{'call':'f','args':[{'str':'x','keeps':true}]}]}"), 1,
		"/tools/0/native/steps/0/args/0/keeps", OF_TOOLS);
	expect_refused(WITH_TOOL("{'steps':[{'call':'f','args':[{'out':{'name':'n','type':'i32',"
				 "'keeps':true}}]}]}"),
		1, "/tools/0/native/steps/0/args/0/out/keeps", OF_TOOLS);
}

#define EXCLUSIVE(list)                                                                            \
	"{'kind':'native','library':'libm.so.6','init':[{'call':'a','returns':{'name':'db','type'" \
	":'handle'}},{'call':'b','returns':{'name':'n','type':'i32'}}],'tools':[{'name':'f',"      \
	"'exclusive':" list "," SQRT "}]}"

Test(manifest_native_init, sets_the_handles_that_are_exclusive)
{
	static const char words[] = "must be the name of a handle that 'init' sets, as \"$$db\"";

	read_good(EXCLUSIVE("['$$db']"));
	expect_refused(EXCLUSIVE("['$$dx']"), 1, "/tools/0/exclusive/0", words);
	expect_refused(EXCLUSIVE("['$$db','$db']"), 1, "/tools/0/exclusive/1", words);
	expect_refused(EXCLUSIVE("['db']"), 1, "/tools/0/exclusive/0", words);
	expect_refused(EXCLUSIVE("['']"), 1, "/tools/0/exclusive/0", words);
	expect_refused(EXCLUSIVE("['$$n']"), 1, "/tools/0/exclusive/0",
		"'n' of 'init' is no handle, and no call changes it");
	expect_refused(
		EXCLUSIVE("[]"), 1, "/tools/0/exclusive", "must have at least 1 element, has 0");
	expect_refused(BOX("{'name':'f','exclusive':['$$db']," SQRT "}"), 1, "/tools/0/exclusive/0",
		words);
	expect_refused("{'kind':'command','tools':[{'name':'f','exclusive':['$$db'],'command':{"
		       "'argv':['true']}}]}",
		1, "/tools/0/exclusive",
		"is for tools of the kind \"native\", whose 'init' sets handles; \"parallel\": "
		"false "
		"lets a tool run alone");
}

#define FOUR "null,null,null,null,"
#define MANY FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR "null"

Test(manifest_native_init, gives_the_call_of_a_message_a_limited_number_of_arguments)
{
	static const char words[] = "must have at most 64 elements, has 65";

	expect_refused(WITH_INIT("{'call':'a','returns':{'type':'i32','errors':'nonzero','message':"
				 "{'call':'words','args':[" MANY "]}}}"),
		1, "/init/0/returns/message/args", words);
	expect_refused(WITH_INIT("{'repeat':{'call':'a','while':{'equals':1},'returns':{'type':'"
				 "i32','errors'"
				 ":'nonzero','message':{'call':'words','args':[" MANY "]}}}}"),
		1, "/init/0/repeat/returns/message/args", words);
}
