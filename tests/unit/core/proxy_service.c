/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "asking.h"
#include "config_fixture.h"
#include "core/proxy.h"
#include "util/clock.h"

/*
 * Tools that have the bus, in a whole service: the messages that they send and receive. The library
 * tests/toolboxes/speak has the place of a host of the kind python.
 */

#define SPEAK                                                                                      \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_speak.so','risk':'read',"        \
	"'limits':{'timeout_ms':60000},'tools':["                                                  \
	"{'name':'converse','native':{'symbol':'converse','parameters':["                          \
	"{'name':'said','type':'str'},{'name':'n_answers','type':'u32','default':0}],"             \
	"'returns':{'type':'str','transfer':'full'}}},"                                            \
	"{'name':'repeat','native':{'symbol':'repeat','parameters':["                              \
	"{'name':'said','type':'str'},{'name':'times','type':'u32','default':0}],"                 \
	"'returns':{'type':'u32'}}},"                                                              \
	"{'name':'say_bytes','native':{'symbol':'say_bytes','parameters':["                        \
	"{'name':'size','type':'u32'}],'returns':{'type':'u32'}}}]}"
#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','risk':'read','tools':[{'name':'root','native':{"  \
	"'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}"

/* The messages that a tool sends, a line each, inside of a string inside of a request. */
#define Q          "\\'"
#define LISTEN     "{" Q "subscribe" Q ":" Q "news" Q "," Q "wanted" Q ":true}\\n"
#define NEWS(one)  "{" Q "type" Q ":" Q "news" Q "," Q "data" Q ":{" Q "n" Q ":" #one "}}\\n"
#define HEARD(one) "{" Q "type" Q ":" Q "news" Q "," Q "data" Q ":{" Q "n" Q ":" #one "}}"

static void set_kind(enum toolbox_kind kind)
{
	for (size_t i = 0; service && i < service->offer.n_runners; i++)
		runner_package(service->offer.runners[i])->kind = kind;
}

/* A package is freed as what it is. */
static void tear_down(void)
{
	set_kind(KIND_NATIVE);
	asking_tear_down();
}

TestSuite(proxy_service, .init = asking_set_up, .fini = tear_down, .timeout = 120);

/* The hosts of the toolboxes here are given the bus. */
static void start(void (*how)(void), const char *configuration)
{
	write_box("one.json", SPEAK);
	write_box("two.json", SPEAK);
	write_box("libm.json", LIBM);
	if (configuration)
		write_user_file(configuration);
	how();
	ask_for("ovos.tools.status", "{}");
	set_kind(KIND_PYTHON);
}

static void expect_a_tool_to_call_another(void)
{
	expect_part(ask_for("ovos.tools.invoke",
			    "{'name':'one__converse','args':{'n_answers':1,'said':'{" Q
			    "subscribe" Q ":" Q "ovos.tools.invoke.response" Q "," Q "wanted" Q
			    ":true}\\n{" Q "type" Q ":" Q "ovos.tools.invoke" Q "," Q "data" Q
			    ":{" Q "name" Q ":" Q "root" Q "," Q "args" Q ":{" Q "x" Q ":9}}}'}}"),
		"{'name':'root','result':{'result':3.0}}");
	/* The first response was the one to the tool, which every client received. This is the
	 * response of the tool itself. */
	expect_part(wait_for("ovos.tools.invoke.response"),
		Q "name" Q ":" Q "root" Q "," Q "result" Q ":{" Q "result" Q ":3.0}}");
	expect_part(
		ask_for("ovos.tools.status", "{}"), "'toolbox_id':'libm','kind':'python','file':");
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
}

Test(proxy_service, lets_a_tool_call_another_on_our_own_bus)
{
	start(asking_start, NULL);
	expect_a_tool_to_call_another();
}

Test(proxy_service, lets_a_tool_call_another_on_a_bus)
{
	start(asking_start_as_client, NULL);
	expect_a_tool_to_call_another();
}

/* Two of each, so that a duplicate would take the place of another. */
static void expect_tools_to_hear_each_other(void)
{
	const char *heard;

	send_request("ovos.tools.invoke",
		"{'name':'one__converse','args':{'said':'" LISTEN "','n_answers':2}}", "{}");
	while (service->proxy.n_subscriptions == 0)
		ask_for("mycroft.toolboxd.is_alive", "{}");
	send_request("ovos.tools.invoke",
		"{'name':'two__converse','args':{'said':'" LISTEN NEWS(1) NEWS(2) "',"
										  "'n_answers':2}}",
		"{}");
	for (int i = 0; i < 2; i++) {
		heard = wait_for("ovos.tools.invoke.response");
		expect_part(heard, "'result':{'result':'" HEARD(1) "\\n" HEARD(2) "\\n'}");
	}
	for (int i = 1; i <= 2; i++)
		wait_for("news");
	cr_expect_eq(n_unseen("news"), 0);
}

Test(proxy_service, lets_tools_hear_each_other_and_themselves_on_our_own_bus)
{
	start(asking_start, NULL);
	expect_tools_to_hear_each_other();
}

Test(proxy_service, lets_tools_hear_each_other_and_themselves_on_a_bus)
{
	start(asking_start_as_client, NULL);
	expect_tools_to_hear_each_other();
}

Test(proxy_service, drops_what_cannot_be_said_and_keeps_the_host)
{
	start(asking_start, "{\"toolboxd\":{\"limits\":{\"frame_bytes\":100000}}}");
	expect_part(
		ask_for("ovos.tools.invoke",
			"{'name':'one__converse','args':{'said':'no JSON\\n{}\\n" NEWS(1) "'}}"),
		"'result':{'result':''}");
	expect_part(wait_for("news"), "{'n':1}");
	expect_part(
		ask_for("ovos.tools.invoke", "{'name':'one__say_bytes','args':{'size':200000}}"),
		"'result':{'result':200000}");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'one__say_bytes','args':{'size':1000}}"),
		"'result':{'result':1000}");
	wait_for("large");
	cr_expect_eq(n_unseen("large"), 0);
}

Test(proxy_service, reckons_a_large_message_by_its_parts)
{
	uint64_t start_ms;

	start(asking_start, NULL);
	start_ms = clock_now_ms();
	ask_for("ovos.tools.invoke", "{'name':'one__say_bytes','args':{'size':1048576}}");
	cr_assert_eq(service->proxy.n_senders, 1);
	cr_expect_geq(service->proxy.senders[0].paid_ms - start_ms,
		PROXY_MESSAGE_MS * (1 + 1048576 / PROXY_PART_BYTES));
}

/* After its burst, a host is read as slowly as it may send, and no other host waits for it. */
Test(proxy_service, holds_a_host_that_says_too_much)
{
	const unsigned int n_news = (PROXY_BURST_MS + 500) / PROXY_MESSAGE_MS;
	uint64_t start_ms;
	uint64_t spent_ms;

	start(asking_start, NULL);
	start_ms = clock_now_ms();
	send_request("ovos.tools.invoke",
		"{'name':'one__repeat','args':{'said':'" HEARD(7) "'},'call_id':'flood'}",
		"{'source':'test'}");
	for (unsigned int i = 0; i < n_news; i++) {
		wait_for("news");
		if (i % 10 == 0)
			expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}"),
				"'result':{'result':2.0}");
	}
	spent_ms = clock_now_ms() - start_ms;
	cr_expect_geq(spent_ms, (n_news - 1) * PROXY_MESSAGE_MS - PROXY_BURST_MS, "%llu ms",
		(unsigned long long)spent_ms);
	cr_expect_leq((n_news + n_unseen("news")) * PROXY_MESSAGE_MS,
		PROXY_BURST_MS + PROXY_HOLD_MS + spent_ms + PROXY_MESSAGE_MS);
	send_request("ovos.tools.cancel", "{'call_id':'flood'}", "{'source':'test'}");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	cr_expect_eq(service->proxy.n_senders, 0);
}
