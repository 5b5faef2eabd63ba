/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/match.h"

#include <criterion/criterion.h>
#include <string.h>

#include "asking.h"
#include "boxes.h"
#include "thread_clock.h"
#include "util/clock.h"

#define BUDGET_NS UINT64_C(60000000000)

/* A tool `name` with these triggers. */
#define TRIGGERED(name, triggers)                                                                  \
	"{'name':'" name "','triggers':[" triggers "],'native':{'symbol':'f',"                     \
	"'parameters':[],'returns':{'type':'i32'}}}"

/* More than between two looks at the clock. */
#define MANY "'a1','a2','a3','a4','a5','a6','a7','a8','a9','b1','b2','b3','b4','b5','b6','b7','b8'"

static struct regex_scratch *scratch;

static void set_up(void)
{
	scratch = regex_scratch_new();
}

static void tear_down(void)
{
	regex_scratch_free(scratch);
}

TestSuite(match, .init = set_up, .fini = tear_down);

static bool take_first(void *data, const struct tool *tool, size_t trigger)
{
	(void)data;
	(void)tool;
	(void)trigger;
	return true;
}

/* Search for @utterance, and take the first trigger that matches. */
static int find(const struct catalogue *catalogue, const char *utterance, uint64_t most_ns,
	struct match *ret_match)
{
	const struct text_view text = TEXT_VIEW(utterance);

	return match_find(catalogue, scratch, &text, most_ns, take_first, NULL, ret_match);
}

/* Fail unless @utterance means @expected: "toolbox_id/tool", or "". */
static void expect_match(
	const struct catalogue *catalogue, const char *utterance, const char *expected)
{
	struct match match;
	char found[256] = "";

	cr_assert_eq(find(catalogue, utterance, BUDGET_NS, &match), 0);
	if (match.tool)
		snprintf(found, sizeof(found), "%s/%s", match.tool->toolbox->id, match.tool->name);
	cr_expect_str_eq(found, expected, "%s", utterance);
}

Test(match, finds_the_first_tool_in_list_order)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_catalogue(
		make_box("radio",
			TRIGGERED("play", "'play','listen to'") "," TRIGGERED("stop", "'stop'")),
		make_box("light",
			TRIGGERED("turn_off", "'turn off','^stop$'") "," BOX_TOOL("plain", "")),
		NULL);

	expect_match(catalogue, "Please PLAY some music", "radio/play");
	expect_match(catalogue, "I want to listen to the news", "radio/play");
	expect_match(catalogue, "stop the radio", "radio/stop");
	expect_match(catalogue, "stop", "light/turn_off");
	expect_match(catalogue, "what time is it", "");
	expect_match(catalogue, "", "");
}

static bool is_not_play(void *data, const struct tool *tool)
{
	(void)data;
	return strcmp(tool->name, "play") != 0;
}

Test(match, finds_nothing_that_a_filter_leaves_out)
{
	struct toolbox *box =
		make_box("radio", TRIGGERED("play", "'play'") "," TRIGGERED("any", "'p'"));
	struct catalogue *catalogue = catalogue_new(&box, 1, is_not_play, NULL, 1);

	expect_match(catalogue, "play", "radio/any");
	catalogue_free(catalogue);
	package_unref(box->package);
}

Test(match, goes_past_a_trigger_that_is_too_costly_and_tells_it, .timeout = 60)
{
	static const char utterance[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
	cleanup(catalogue_cleanup) struct catalogue *catalogue = make_catalogue(
		make_box("a",
			TRIGGERED("first", "'never','^(a+)+$'") "," TRIGGERED("second", "'b$'")),
		NULL);
	struct match match;

	regex_scratch_limit(scratch, 1000);
	cr_assert_eq(find(catalogue, utterance, BUDGET_NS, &match), 0);
	cr_assert(match.tool && match.costly);
	cr_expect_str_eq(match.tool->name, "second");
	cr_expect_str_eq(match.costly->name, "first");
	cr_expect_eq(match.costly_trigger, 1);
}

Test(match, gives_up_when_its_time_is_up)
{
	struct catalogue *catalogue =
		make_catalogue(make_box("a", TRIGGERED("many", MANY ",'needle'")), NULL);
	struct match match;

	cr_expect_eq(find(catalogue, "needle", 0, &match), MATCH_E_TOO_COSTLY);
	cr_expect_null(match.tool);
	cr_expect_gt(match.spent_ns, 0);
	expect_match(catalogue, "needle", "a/many");
	catalogue_free(catalogue);
}

/* ── the topic ───────────────────────────────────────────────────────────────────────────────── */

static void start_service(void)
{
	asking_set_up();
	write_box("radio.json",
		"{'kind':'native','library':'libc.so.6','tools':[{'name':'play',"
		"'triggers':['play (some )?music','sch\\u00f6n','^(a+)+$',"
		"'set it to (?<value>\\\\w+)'],"
		"'native':{'symbol':'labs','parameters':[{'name':'value','type':'i64'}],"
		"'returns':{'type':'i64'}}}]}");
	asking_start();
}

TestSuite(match_topic, .init = start_service, .fini = asking_tear_down);

Test(match_topic, answers_with_the_tool_or_with_null)
{
	cr_expect_str_eq(ask_for("ovos.tools.match", "{'utterance':'Play music!'}"),
		"{\"name\":\"play\",\"toolbox_id\":\"radio\",\"args\":{},\"complete\":false,"
		"\"missing\":[\"value\"]}");
	cr_expect_str_eq(ask_for("ovos.tools.match", "{'utterance':'SCH\\u00d6N'}"),
		"{\"name\":\"play\",\"toolbox_id\":\"radio\",\"args\":{},\"complete\":false,"
		"\"missing\":[\"value\"]}");
	cr_expect_str_eq(
		ask_for("ovos.tools.match", "{'utterance':'good night'}"), "{\"name\":null}");
}

Test(match_topic, has_the_groups_of_the_trigger_as_arguments)
{
	cr_expect_str_eq(ask_for("ovos.tools.match", "{'utterance':'set it to 40 please'}"),
		"{\"name\":\"play\",\"toolbox_id\":\"radio\",\"args\":{\"value\":40},"
		"\"complete\":true,"
		"\"missing\":[]}");
	cr_expect_str_eq(ask_for("ovos.tools.match", "{'utterance':'set it to forty'}"),
		"{\"name\":\"play\",\"toolbox_id\":\"radio\",\"args\":{\"value\":40},"
		"\"complete\":true,\"missing\":[]}");
	cr_expect_str_eq(ask_for("ovos.tools.match", "{'utterance':'set it to forty','lang':'de'}"),
		"{\"name\":\"play\",\"toolbox_id\":\"radio\",\"args\":{\"value\":\"forty\"},"
		"\"complete\":false,\"missing\":[]}");
}

Test(match_topic, refuses_what_is_no_utterance)
{
	static const char *const bad[] = {
		"{}", "{'utterance':null}", "{'utterance':7}", "{'utterance':['play']}"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_part(ask_for("ovos.tools.match", bad[i]),
			"'code':'bad_request','field':'utterance'");
}

Test(match_topic, refuses_an_utterance_that_is_too_long)
{
	char data[MATCH_UTTERANCE_BYTES_MAX + 64];
	int start = snprintf(data, sizeof(data), "{'utterance':'");

	memset(data + start, 'x', MATCH_UTTERANCE_BYTES_MAX + 1);
	strcpy(data + start + MATCH_UTTERANCE_BYTES_MAX, "'}");
	cr_expect_str_eq(ask_for("ovos.tools.match", data), "{\"name\":null}");
	strcpy(data + start + MATCH_UTTERANCE_BYTES_MAX, "x'}");
	expect_part(
		ask_for("ovos.tools.match", data), "'code':'too_large','actual':4097,'max':4096");
}

#ifdef TEST_THREAD_CLOCK
/* The third trigger is long, so the clock is looked at before the fourth. */
Test(match_topic, refuses_an_utterance_whose_time_is_up_before_all_triggers)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "'code':'too_large','actual':%d,'max':%d",
		MATCH_MS_MAX + 1, MATCH_MS_MAX);
	thread_step_ns = (MATCH_MS_MAX + 1) * NS_PER_MS;
	expect_part(ask_for("ovos.tools.match", "{'utterance':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaab'}"),
		expected);
}
#endif

Test(match_topic, counts_a_trigger_that_reaches_the_limit_as_not_found, .timeout = 60)
{
	cr_expect_str_eq(ask_for("ovos.tools.match",
				 "{'utterance':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'}"),
		"{\"name\":null}");
}
