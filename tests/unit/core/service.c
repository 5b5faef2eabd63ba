/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "core/request/topics.h"
#include "logged.h"
#include "offer/reload.h"
#include "util/clock.h"

/* The behaviour that is hard to see from outside. tests/interop checks the rest over the bus. */

#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','risk':'read','tools':[{'name':'root','native':{"  \
	"'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}"
#define MISBEHAVE                                                                                  \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so','risk':'read',"    \
	"'tools':[{'name':'hang','native':{'symbol':'hang'}},"                                     \
	"{'name':'behave','cooldown_s':30,'native':{'symbol':'behave','parameters':["              \
	"{'name':'value','type':'i32'}],'returns':{'type':'i32'}}},"                               \
	"{'name':'long_text','native':{'symbol':'long_text','parameters':["                        \
	"{'name':'size','type':'usize'}],'returns':{'type':'str','transfer':'full'}}}]}"
#define STUCK                                                                                      \
	"{'kind':'native','library':'" TEST_STUCK_LIBRARY "','tools':[{'name':'nothing','native':" \
	"{'symbol':'nothing','returns':{'type':'i32'}}}]}"

TestSuite(service, .init = asking_set_up, .fini = asking_tear_down, .timeout = 300);

static void start_with(const char *configuration)
{
	write_box("libm.json", LIBM);
	write_box("bad.json", MISBEHAVE);
	if (configuration)
		write_user_file(configuration);
	asking_start();
}

Test(service, answers_those_who_came_before_the_first_catalogue)
{
	start_with(NULL);
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}"),
		"{'name':'root','result':{'result':2.0}}");
	cr_expect(service->reload.is_ready);
	cr_expect_eq(service->waiting.n, 0);
}

/* A toolbox whose loading takes longer than the test. */
static void start_stuck(const char *configuration)
{
	write_box("stuck.json", STUCK);
	start_with(configuration);
}

Test(service, answers_those_for_whom_the_first_catalogue_comes_too_late)
{
	static const char *const topics[] = {"ovos.tools.list", "ovos.tools.get",
		"ovos.tools.cancel", "ovos.tools.match", "ovos.tools.reload", "ovos.tools.status",
		"ovos.tools.validate", "ovos.tools.watch"};
	const size_t n_topics = sizeof(topics) / sizeof(*topics);

	start_stuck("{\"toolboxd\":{\"drain_ms\":50}}");
	for (size_t i = 0; i < n_topics; i++)
		send_request(topics[i], "{}", "{}");
	send_request("ovos.tools.invoke", "{'name':'root','call_id':'7'}", "{}");
	/* The owner of the toolbox is not known yet: it may be another service. */
	send_request("ovos.persona.tools.call", "{'toolbox_id':'libm','name':'root'}", "{}");
	send_request("ovos.persona.tools.discover", "{}", "{}");
	expect_part(ask_for("mycroft.toolboxd.is_alive", "{}"), "'status':true");
	cr_expect_eq(service->waiting.n, n_topics + 3);
	raise(SIGTERM);
	expect_part(wait_for("ovos.tools.invoke.response"),
		"{'name':'root','call_id':'7','error':'RuntimeError: The service is unavailable: "
		"it is stopping','code':'unavailable'}");
	for (size_t i = 0; i < n_topics; i++) {
		char response[64];

		snprintf(response, sizeof(response), "%s.response", topics[i]);
		expect_part(wait_for(response), "'code':'unavailable'");
	}
	cr_expect_not(service->reload.is_ready);
	cr_expect_eq(service->waiting.n, 0);
	ask_for("mycroft.toolboxd.is_alive", "{}");
	cr_expect_eq(n_unseen("ovos.persona.tools.call.response"), 0);
	cr_expect_eq(n_unseen("ovos.persona.tools.discover.response"), 0);
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
}

Test(service, is_ready_while_its_toolboxes_are_loaded_and_it_does_not_stop)
{
	static const char *const topics[] = {
		"mycroft.toolboxd.is_ready", "mycroft.toolboxd.all_loaded"};

	write_box("libm.json", LIBM);
	asking_start();
	for (size_t i = 0; i < 2; i++)
		expect_part(ask_for(topics[i], "{}"), "{'status':false}");
	ask_for("ovos.tools.list", "{}");
	for (size_t i = 0; i < 2; i++)
		expect_part(ask_for(topics[i], "{}"), "{'status':true}");
	service->calls.is_stopping = true;
	for (size_t i = 0; i < 2; i++)
		expect_part(ask_for(topics[i], "{}"), "{'status':false}");
}

Test(service, logs_who_sent_a_malformed_message)
{
	static const char *const rows[][3] = {
		{"{\"type\":\"ovos.tools.list\",\"context\":5}", "'field':'context'",
			"the source null: 'context' must be "},
		{"{\"type\":\"ovos.tools.list\",\"context\":{\"source\":\"me\",\"session\":5}}",
			"'field':'context.session'",
			"the source \"me\": 'context.session' must be "},
	};

	start_with(NULL);
	ask_for("ovos.tools.list", "{}");
	log_setup(LOG_LEVEL_WARNING, LOG_FORMAT_TEXT);
	for (size_t i = 0; i < 2; i++) {
		const char *response;
		const char *log;

		logged_begin();
		topics_take_frame(service, rows[i][0], strlen(rows[i][0]));
		response = wait_for("ovos.tools.list.response");
		log = logged_end();
		expect_part(response, "{'error':'ValueError: Bad request: ");
		expect_part(response, rows[i][1]);
		cr_expect_not_null(strstr(log, "WARN  A message is malformed, with the type "
					       "'ovos.tools.list' and "),
			"%s", log);
		cr_expect_not_null(strstr(log, rows[i][2]), "%s", log);
	}
}

/* The places that one source may have. */
#define PLACES (WAITING_MAX / 4)

Test(service, lets_so_many_wait_for_the_first_catalogue)
{
	struct text_view source;

	start_stuck(NULL);
	send_request("mycroft.toolboxd.is_alive", "{}", "{'n':[1,2],'source':'other'}");
	wait_for("mycroft.toolboxd.is_alive.response");
	for (int i = 0; i <= PLACES; i++)
		send_request("ovos.tools.invoke", "{'name':'root'}", "{'source':'one'}");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"{'name':'root','error':'RuntimeError: The service is busy: too many requests "
		"wait until its toolboxes are loaded','code':'busy'}");
	cr_expect_eq(service->waiting.n, PLACES);
	source = call_summary_part(history_at(&service->history, 0), SUMMARY_SOURCE);
	cr_expect_eq(source.size, 5);
	cr_expect_arr_eq(source.text, "\"one\"", 5);
	send_request("ovos.tools.invoke", "{'name':'root'}", "{'source':'other'}");
	ask_for("mycroft.toolboxd.is_alive", "{}");
	cr_expect_eq(service->waiting.n, PLACES + 1);
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
}

Test(service, calls_by_the_words_of_persona)
{
	start_with(NULL);
	expect_part(ask_for("ovos.persona.tools.call",
			    "{'toolbox_id':'libm','name':'root','kwargs':{'x':9}}"),
		"{'toolbox_id':'libm','result':{'result':3.0}}");
	expect_part(ask_for("ovos.persona.tools.libm.call", "{'name':'root','kwargs':{'x':9}}"),
		"{'toolbox_id':'libm','result':{'result':3.0}}");
	expect_part(ask_for("ovos.persona.tools.libm.call", "{'toolbox_id':5,'name':'none'}"),
		"'code':'unknown_tool'");
	expect_part(ask_for("ovos.persona.tools.libm.call", "{'a':1,'a':2}"),
		"{'toolbox_id':'libm','error':'ValueError: Bad request: ");
}

Test(service, is_silent_for_toolboxes_of_others)
{
	start_with(NULL);
	send_request("ovos.persona.tools.call", "{'toolbox_id':'other','name':'root'}", "{}");
	send_request("ovos.persona.tools.call", "{'toolbox_id':5,'name':'root'}", "{}");
	send_request("ovos.persona.tools.call", "{'name':'root'}", "{}");
	send_request("ovos.persona.tools.other.call", "{'name':'root'}", "{}");
	/* Responses are sent in the order of requests, so none follows this one. */
	ask_for("ovos.tools.status", "{}");
	cr_expect_eq(n_unseen("ovos.persona.tools.call.response"), 0);
	cr_expect_eq(n_unseen("ovos.persona.tools.other.call.response"), 0);
}

Test(service, cancels_by_the_id_however_it_is_escaped)
{
	start_with(NULL);
	send_request(
		"ovos.tools.invoke", "{'name':'hang','call_id':'\xc3\xa9'}", "{'source':'me'}");
	send_request("ovos.tools.cancel", "{'call_id':'\\u00e9'}", "{'source':'other'}");
	expect_part(wait_for("ovos.tools.cancel.response"), "'cancelled':false");
	send_request("ovos.tools.cancel", "{'call_id':'\\u00e9'}", "{'source':'\\u006de'}");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	expect_part(wait_for("ovos.tools.cancel.response"), "'cancelled':true");
}

/* The end of one call may end another, which a walk through the list had just reached. */
Test(service, cancels_all_calls_of_one_id)
{
	start_with(NULL);
	for (int i = 0; i < 3; i++)
		send_request("ovos.tools.invoke", "{'name':'hang','call_id':'7'}", "{}");
	for (int i = 0; i < 2; i++)
		send_request("ovos.tools.invoke",
			"{'name':'behave','args':{'value':1},'call_id':'7'}", "{}");
	expect_part(ask_for("ovos.tools.cancel", "{'call_id':'7'}"), "'cancelled':true");
	for (int i = 0; i < 5; i++)
		expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	cr_expect_eq(service->calls.n_in_flight, 0);
}

Test(service, tells_a_call_that_waited_of_its_cooldown)
{
	start_with(NULL);
	ask_for("ovos.tools.status", "{}");
	send_request("ovos.tools.invoke", "{'name':'behave','args':{'value':1}}", "{}");
	send_request("ovos.tools.invoke", "{'name':'behave','args':{'value':2}}", "{}");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cooldown','retry_after_s':");
	expect_part(wait_for("ovos.tools.invoke.response"), "'result':{'result':1}");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'behave','args':{'value':3}}"),
		"RuntimeError: Tool is on cooldown: ");
}

Test(service, gives_back_what_a_large_call_has_taken)
{
	cleanup_free char *data = malloc(100000);

	start_with(NULL);
	memset(data, ' ', 100000);
	strcpy(data, "{'name':'root','args':{'x':4");
	data[strlen(data)] = ' ';
	strcpy(data + 90000, "}}");
	ask_for("ovos.tools.invoke", data);
	ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}");
	cr_assert_not(list_is_empty(&service->calls.spare));
	list_for_each(link, &service->calls.spare) {
		struct call *spare = container_of(link, struct call, link);

		cr_expect_lt(spare->runner_call.arguments.capacity, 90000);
	}
}

Test(service, tells_no_more_of_a_result_in_an_event_than_in_the_answer)
{
	const char *completed;

	start_with("{\"toolboxd\":{\"result_max_chars\":100,\"events\":{\"calls\":true,"
		   "\"results\":true}}}");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'long_text','args':{'size':5000}}"),
		"'truncated':true");
	expect_part(wait_for("ovos.tools.call.started"), "'name':'long_text'");
	completed = wait_for("ovos.tools.call.completed");
	expect_part(completed, "'truncated':true");
	cr_expect_lt(strlen(completed), 1000);
}

Test(service, leaves_arguments_out_of_an_event_that_no_frame_would_hold)
{
	char request[1000] = "{'name':'root','args':{'x':4}}";

	start_with("{\"toolboxd\":{\"limits\":{\"frame_bytes\":1024},\"result_max_chars\":5000,"
		   "\"events\":{\"calls\":true,\"arguments\":true}}}");
	ask_for("ovos.tools.invoke", request);
	expect_part(wait_for("ovos.tools.call.started"), "'args':{'x':4}");
	wait_for("ovos.tools.call.completed");
	snprintf(request, sizeof(request), "{'name':'root','args':{'x':4.%0850d}}", 0);
	ask_for("ovos.tools.invoke", request);
	cr_expect_null(strstr(wait_for("ovos.tools.call.started"), "\"args\""));
}

Test(service, lets_so_many_wait_for_a_reload)
{
	start_with("{\"toolboxd\":{\"limits\":{\"in_flight\":2}}}");
	ask_for("ovos.tools.status", "{}");
	for (int i = 0; i < 5; i++)
		send_request("ovos.tools.reload", "{}", "{}");
	for (int i = 0; i < 3; i++)
		expect_part(wait_for("ovos.tools.reload.response"),
			"{'error':'RuntimeError: The service is busy: 2 requests wait for a "
			"reload',"
			"'code':'busy'}");
	for (int i = 0; i < 2; i++)
		expect_part(wait_for("ovos.tools.reload.response"), "'loaded':['bad','libm']");
	cr_expect_eq(service->reload_requests.n, 0);
	expect_part(ask_for("ovos.tools.reload", "{}"), "'total_tools':4");
}

Test(service, counts_the_one_request_that_waits_for_a_reload)
{
	start_with("{\"toolboxd\":{\"limits\":{\"in_flight\":1}}}");
	ask_for("ovos.tools.status", "{}");
	for (int i = 0; i < 2; i++)
		send_request("ovos.tools.reload", "{}", "{}");
	expect_part(wait_for("ovos.tools.reload.response"),
		"{'error':'RuntimeError: The service is busy: 1 request waits for a reload',"
		"'code':'busy'}");
	expect_part(wait_for("ovos.tools.reload.response"), "'loaded':['bad','libm']");
}

Test(service, tells_once_what_a_reload_has_changed)
{
	start_with(NULL);
	ask_for("ovos.tools.reload", "{}");
	cr_expect_eq(n_unseen("ovos.tools.changed"), 0, "nothing has");
	write_box("more.json", LIBM);
	expect_part(ask_for("ovos.tools.reload", "{}"), "'total_tools':5");
	expect_part(wait_for("ovos.tools.changed"), "{'loaded':['bad','libm','more'],'total_tools':"
						    "5,'added':['more/root'],'removed':[],"
						    "'changed':[]}");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root'}"), "'code':'ambiguous_tool'");
}

Test(service, ends_calls_where_they_began)
{
	start_with(NULL);
	ask_for("ovos.tools.status", "{}");
	send_request("ovos.tools.invoke", "{'name':'hang','timeout_ms':400}", "{}");
	expect_part(ask_for("ovos.tools.status", "{}"), "'in_flight':1");
	write_box("bad.json", LIBM);
	expect_part(ask_for("ovos.tools.reload", "{}"), "'loaded':['bad','libm']");
	cr_expect_eq(service->offer.n_retired, 1);
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'timeout'");
	ask_for("ovos.tools.status", "{}");
	cr_expect_eq(service->offer.n_retired, 0);
}

/* A file may be called anything; a frame that is not UTF-8 is relayed by no bus. */
Test(service, tells_of_files_whose_names_are_not_utf8)
{
	write_box("caf\xe9.json", "{");
	write_box("b\xe9.json",
		"{'toolbox_id':'b','kind':'native','library':'libm.so.6','tools':[{'name':'sine',"
		"'native':{'symbol':'sin','parameters':[{'name':'x','type':'f64'}],"
		"'returns':{'type':'f64'}}}]}");
	start_with(NULL);
	expect_part(ask_for("ovos.tools.status", "{}"), "/b\xef\xbf\xbd.json");
	expect_part(ask_for("ovos.tools.reload", "{}"), "{'toolbox_id':'caf\xef\xbf\xbd','file':");
	expect_part(ask_for("ovos.tools.reload", "{}"), "/caf\xef\xbf\xbd.json','error':");
}

/* ── a change that is pending ────────────────────────────────────────────────────────────────── */

/* A change is pending that is never done: the loader waits for its host. */
static void start_pending(void)
{
	start_with(NULL);
	expect_part(ask_for("ovos.tools.list", "{}"), "root");
	write_box("stuck.json", STUCK);
	reload_begin(&service->reload);
}

Test(service, holds_a_request_for_an_unknown_tool_while_a_change_is_pending)
{
	uint64_t begun_ms = clock_now_ms();

	start_pending();
	begun_ms = clock_now_ms();
	expect_part(ask_for("ovos.tools.get", "{'name':'nowhere'}"), "'code':'unknown_tool'");
	cr_expect_geq(clock_now_ms() - begun_ms, WAITING_UNKNOWN_MS - 1);
	cr_expect_eq(service->waiting.queues[WAITING_CHANGE].n, 0);
}

Test(service, answers_what_it_has_at_once_while_a_change_is_pending)
{
	start_pending();
	send_request("ovos.tools.get", "{'name':'nowhere'}", "{}");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}"), "2.0");
	cr_expect_eq(service->waiting.queues[WAITING_CHANGE].n, 1);
	cr_expect_eq(n_unseen("ovos.tools.get.response"), 0);
}

Test(service, cancels_a_call_that_waits_for_a_change)
{
	start_pending();
	send_request("ovos.tools.invoke", "{'name':'nowhere','call_id':'7'}", "{'source':'me'}");
	send_request("ovos.tools.cancel", "{'call_id':'7'}", "{'source':'other'}");
	expect_part(wait_for("ovos.tools.cancel.response"), "'cancelled':false");
	send_request("ovos.tools.cancel", "{'call_id':'7'}", "{'source':'me'}");
	expect_part(wait_for("ovos.tools.cancel.response"), "'cancelled':true");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
}

Test(service, holds_a_bounded_number_of_requests_for_a_change)
{
	start_pending();
	for (int i = 0; i <= PLACES; i++)
		send_request("ovos.tools.get", "{'name':'nowhere'}", "{'source':'one'}");
	expect_part(wait_for("ovos.tools.get.response"), "'code':'unknown_tool'");
	cr_expect_eq(service->waiting.n, PLACES);
	/* It has not taken the places of others. */
	send_request("ovos.tools.get", "{'name':'nowhere'}", "{'source':'other'}");
	ask_for("ovos.tools.list", "{}");
	cr_expect_eq(service->waiting.n, PLACES + 1);
	cr_expect_eq(n_unseen("ovos.tools.get.response"), 0);
}

Test(service, forgets_the_requests_of_a_peer_that_has_gone)
{
	struct account *account;

	start_pending();
	send_request("ovos.tools.get", "{'name':'nowhere'}", "{}");
	ask_for("ovos.tools.list", "{}");
	cr_assert_eq(service->waiting.queues[WAITING_CHANGE].n, 1);
	account = waiting_first(&service->waiting, WAITING_CHANGE)->account;
	cr_assert(account);
	cr_expect_gt(account->held, 0);
	account_ref(account);
	waiting_forget_peer(&service->waiting, account);
	cr_expect_eq(account->held, 0);
	cr_expect_eq(service->waiting.queues[WAITING_CHANGE].n, 0);
	account_unref(account);
}
