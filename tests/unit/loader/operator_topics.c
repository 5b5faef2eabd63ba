/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/topics.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/toolbox.h"
#include "manifest_fixture.h"
#include "quotes.h"
#include "scarce.h"
#include "util/array.h"

/* Topics that the operator gives the tools of a manifest. */

static struct config_tool own_tools[] = {{.name = (char *)"low", .is_enabled = true}};
static struct config_toolbox settings;
static struct config config = {.toolboxes = &settings, .n_toolboxes = 1};

static void set_up(void)
{
	manifest_set_up();
	settings = (struct config_toolbox){
		.toolbox_id = (char *)"box", .is_enabled = true, .digest = 1};
}

static void tear_down(void)
{
	free(settings.config);
	manifest_tear_down();
}

TestSuite(operator_topics, .init = set_up, .fini = tear_down, .timeout = 60);

#define SET_BOX                                                                                    \
	"{'kind':'bus','risk':'execute','tools':["                                                 \
	"{'name':'a','bus':{'topic':'$topics'}},{'name':'b','bus':{'topic':'$topics'}},"           \
	"{'name':'low','risk':'write','bus':{'topic':'$more'}},"                                   \
	"{'name':'fixed','bus':{'topic':'x.y'}}]}"

/* Read the manifest with the settings @own. */
static int resolve(const char *own, struct sandbox_refusal *refusal)
{
	read_good(SET_BOX);
	free(settings.config);
	settings.config = own ? quoted(own) : NULL;
	return operator_topics_resolve(&config, package, refusal);
}

static const struct tool *tool_at(size_t index)
{
	return &package->toolboxes[0]->tools[index];
}

Test(operator_topics, are_lacking_without_a_setting)
{
	struct sandbox_refusal refusal;
	static const char *const none[] = {
		NULL, "{}", "{'topics':null}", "{'topics':{}}", "{'topics':{'a':null}}"};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		cr_assert_eq(resolve(none[i], &refusal), 0);
		cr_expect_str_eq(
			tool_at(0)->lack, "it has no topic; toolboxes.box.topics.a sets it");
		cr_expect_str_eq(
			tool_at(2)->lack, "it has no topic; toolboxes.box.more.low sets it");
		cr_expect_null(tool_at(3)->lack);
	}
}

Test(operator_topics, are_taken_with_their_replies)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve("{'topics':{'a':'sip.call','b':{'topic':'sip.text',"
			     "'reply':'sip.text.sent'}}}",
			     &refusal),
		0);
	cr_expect_null(tool_at(0)->lack);
	cr_expect_str_eq(tool_at(0)->bus->messages[0].topic, "sip.call");
	cr_expect_eq(tool_at(0)->bus->replies.n_items, 0);
	cr_expect_str_eq(tool_at(1)->bus->messages[0].topic, "sip.text");
	cr_assert_eq(tool_at(1)->bus->replies.n_items, 1);
	cr_expect_str_eq(tool_at(1)->bus->replies.items[0], "sip.text.sent");
	cr_expect_not_null(tool_at(2)->lack);
	cr_assert_eq(resolve("{'topics':{'a':{'topic':'sip.call'}}}", &refusal), 0);
	cr_expect_str_eq(tool_at(0)->bus->messages[0].topic, "sip.call");
}

Test(operator_topics, change_how_a_tool_is_run)
{
	struct sandbox_refusal refusal;
	unsigned char before[ORIGIN_DIGEST_BYTES];

	cr_assert_eq(resolve("{'topics':{'a':'x'}}", &refusal), 0);
	memcpy(before, tool_at(0)->run, sizeof(before));
	cr_assert_eq(resolve("{'topics':{'a':'x'}}", &refusal), 0);
	cr_expect_arr_eq(tool_at(0)->run, before, sizeof(before));
	cr_assert_eq(resolve("{'topics':{'a':{'topic':'x','reply':'y'}}}", &refusal), 0);
	cr_expect_arr_neq(tool_at(0)->run, before, sizeof(before));
}

Test(operator_topics, are_refused_with_a_mistake)
{
	static const char *const cases[][2] = {
		{"{'topics':'sip.call'}", "toolboxes.box.topics must be an object with a topic"},
		{"{'topics':{'c':'x'}}", "toolboxes.box.topics.c means no tool of this toolbox"},
		{"{'topics':{'low':'x'}}", "toolboxes.box.topics.low means no tool"},
		{"{'topics':{'fixed':'x'}}", "toolboxes.box.topics.fixed means no tool"},
		{"{'topics':{'a':7}}", "toolboxes.box.topics.a must be a topic, or {\"topic\""},
		{"{'topics':{'a':{}}}", "must be a topic, or {"},
		{"{'topics':{'a':{'reply':'x'}}}", "must be a topic, or {"},
		{"{'topics':{'a':{'topic':'x','color':1}}}", "must be a topic, or {"},
		{"{'topics':{'a':{'topic':'x','reply':true}}}", "must be a topic, or {"},
		{"{'topics':{'a':'a b'}}", "must be a topic: letters"},
		{"{'topics':{'a':''}}", "must be a topic: letters"},
		{"{'topics':{'a':'$x'}}", "must be a topic: letters"},
		{"{'topics':{'a':'a\\u0000b'}}", "must be a topic: letters"},
		{"{'topics':{'a':'ovos.tools.invoke'}}", "is a topic of toolboxd"},
		{"{'topics':{'a':{'topic':'x','reply':'mycroft.toolboxd.is_alive'}}}",
			"is a topic of toolboxd"},
	};
	struct sandbox_refusal refusal;
	char long_topic[400];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_expect_eq(resolve(cases[i][0], &refusal), OPERATOR_TOPICS_E_REFUSED, "%s",
			cases[i][0]);
		cr_expect(strstr(refusal.text, cases[i][1]), "%s: %s", cases[i][0], refusal.text);
	}
	snprintf(long_topic, sizeof(long_topic), "{'topics':{'a':'%0256d'}}", 0);
	cr_expect_eq(resolve(long_topic, &refusal), OPERATOR_TOPICS_E_REFUSED);
	snprintf(long_topic, sizeof(long_topic), "{'topics':{'a':'%0255d'}}", 0);
	cr_expect_eq(resolve(long_topic, &refusal), 0);
}

Test(operator_topics, that_are_dangerous_are_for_tools_of_risk_execute)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve("{'topics':{'a':'system.reboot'},'more':{'low':'system.reboot'}}",
			     &refusal),
		0);
	cr_expect_null(tool_at(0)->lack);
	cr_expect(tool_at(0)->bus->is_dangerous, "the configuration cannot lower its risk");
	cr_expect_str_eq(tool_at(2)->lack,
		"its topic 'system.reboot' changes the machine, or speaks for a person; "
		"toolboxes.box.tools.low.risk has to be execute");
	settings.tools = (struct config_tools){own_tools, 1, 0};
	own_tools[0].risk = TOOL_EXECUTE;
	cr_assert_eq(resolve("{'more':{'low':'system.reboot'}}", &refusal), 0);
	cr_expect_null(tool_at(2)->lack);
	settings.tools = (struct config_tools){0};
}

Test(operator_topics, are_whole_or_none_when_memory_is_short)
{
	struct sandbox_refusal refusal;

	settings.config = quoted("{'topics':{'a':{'topic':'x','reply':'y'}}}");
	for (size_t n = 0; n < 500; n++) {
		int r;

		read_good(SET_BOX);
		scarce_once_after(n);
		r = operator_topics_resolve(&config, package, &refusal);
		if (!scarce_has_failed()) {
			cr_expect_eq(r, 0);
			cr_expect_gt(n, 5);
			return;
		}
		cr_expect_eq(r, -ENOMEM, "at %zu", n);
	}
	cr_expect_fail("memory never was enough");
}
