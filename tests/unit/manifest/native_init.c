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
