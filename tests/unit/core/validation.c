/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Tools judge their arguments themselves: `even` of the plugin tests/toolboxes/plugged takes
 * even numbers. */

#define PLUGGED "{'kind':'plugin','library':'" TEST_TOOLBOX_DIR "/../plugged.d/libtest_plugged.so'}"
#define STRICT  "'approval':{'mode':'strict'}"

#define INVOKE    "ovos.tools.invoke"
#define VALIDATE  "ovos.tools.validate"
#define REQUESTED "ovos.tools.approval.requested"

TestSuite(validation, .init = asking_set_up, .fini = asking_tear_down, .timeout = 300);

/* Start with these members of the configuration. */
static void start_with(const char *members)
{
	char text[256];
	cleanup_free char *json = NULL;

	snprintf(text, sizeof(text), "{'toolboxd':{%s}}", members);
	json = quoted(text);
	write_box("plug.json", PLUGGED);
	write_user_file(json);
	asking_start();
}

Test(validation, asks_the_tool_for_what_its_schema_takes)
{
	static const char *const rows[][2] = {
		{"{'number':2}", "'valid':true,'violations':[]}"},
		{"{'number':3}", "'valid':false,'violations':[{'path':'/number','message':'must "
				 "be even'}]}"},
		{"{'number':'x'}", "'valid':false,'violations':[{'path':'/number','message':"},
		{"{'number':1000}", "'code':'host_crashed'"},
		{"{'number':4}", "'valid':true,'violations':[]}"},
	};
	char data[128];

	start_with("");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(data, sizeof(data), "{'name':'even','args':%s}", rows[i][0]);
		expect_part(ask_for(VALIDATE, data), rows[i][1]);
	}
	expect_part(ask_for("ovos.tools.calls", "{}"), "{'calls':[]}");
}

Test(validation, has_the_deadline_and_the_place_of_a_call)
{
	start_with("'limits':{'in_flight':1}");
	ask_for(VALIDATE, "{'name':'even','args':{'number':2}}");
	send_request(VALIDATE, "{'name':'even','args':{'number':2000},'timeout_ms':1000}", "{}");
	expect_part(ask_for("ovos.tools.status", "{}"), "'in_flight':1");
	send_request(VALIDATE, "{'name':'even','args':{'number':2}}", "{}");
	expect_part(wait_for(VALIDATE ".response"), "'code':'busy'");
	expect_part(wait_for(VALIDATE ".response"),
		"exceeded its deadline of 1000 ms','code':'timeout','timeout_ms':1000");
	expect_part(ask_for("ovos.tools.status", "{}"), "'in_flight':0");
}

Test(validation, comes_before_a_question)
{
	start_with(STRICT);
	expect_part(ask_for("ovos.tools.approval.attach", "{'seconds':300}"), "'seconds':300");
	expect_part(ask_for(INVOKE, "{'name':'even','args':{'number':3}}"),
		"'code':'invalid_arguments','violations':[{'path':'/number','message':'must be "
		"even'}]}");
	expect_part(
		ask_for(INVOKE, "{'name':'even','args':{'number':1000}}"), "'code':'host_crashed'");
	cr_expect_eq(n_unseen(REQUESTED), 0);
	expect_part(ask_for("ovos.tools.calls", "{'limit':2}"), "'state':'failed','code':'"
								"invalid_arguments','text':'");
	expect_part(ask_for("ovos.tools.calls", "{'limit':1}"), "'code':'host_crashed'");
}

Test(validation, is_followed_by_a_question)
{
	const char *question;
	char data[128];

	start_with(STRICT);
	ask_for("ovos.tools.approval.attach", "{'seconds':300}");
	send_request(INVOKE, "{'name':'even','args':{'number':2}}", "{}");
	question = wait_for(REQUESTED);
	expect_part(question, "'number':2");
	cr_expect_null(strstr(question, "\"about\""), "%s", question);
	snprintf(data, sizeof(data), "{'decision':'once','id':'%.32s'}",
		strstr(question, "\"id\":\"") + strlen("\"id\":\""));
	expect_part(ask_for("ovos.tools.approval.respond", data), "'accepted':true");
	expect_part(wait_for(INVOKE ".response"), "'result':{");
}

Test(validation, is_cancelled_as_a_call)
{
	start_with(STRICT);
	ask_for("ovos.tools.approval.attach", "{'seconds':300}");
	ask_for(VALIDATE, "{'name':'even','args':{'number':2}}");
	send_request(INVOKE, "{'name':'even','args':{'number':2000},'call_id':'7'}", "{}");
	expect_part(ask_for("ovos.tools.cancel", "{'call_id':'7'}"), "'cancelled':true");
	expect_part(wait_for(INVOKE ".response"), "'code':'cancelled'");
	cr_expect_eq(n_unseen(REQUESTED), 0);
}

Test(validation, ends_without_a_question_when_nobody_is_left_to_answer)
{
	start_with(STRICT ",'timeout_ms':60000");
	ask_for("ovos.tools.approval.attach", "{'seconds':300}");
	send_request(INVOKE, "{'name':'even','args':{'number':2}}", "{}");
	send_request("ovos.tools.approval.attach", "{'seconds':0}", "{}");
	expect_part(wait_for(INVOKE ".response"), "'code':'denied'");
	cr_expect_eq(n_unseen(REQUESTED), 0);
}
