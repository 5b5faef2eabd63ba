/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest/guest_calls.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "logged.h"
#include "quotes.h"
#include "scarce.h"
#include "util/clock.h"

/*
 * Calls of guests, from a message of a caller to the end of the call. The client of the test is the
 * guest and the caller in one:
 *
 *   invoke ──▶ guest.call ──▶ test ── guest.call.response ──▶ invoke.response
 */

#define INVOKE   "ovos.tools.invoke"
#define CALL     "ovos.tools.guest.call"
#define ANSWER   CALL ".response"
#define CANCEL   "ovos.tools.guest.cancel"
#define PROGRESS "ovos.tools.guest.progress"
#define GUEST    "{'source':'guest'}"

TestSuite(guest_calls, .init = asking_set_up, .fini = asking_tear_down, .timeout = 120);

static struct guest_calls *calls;

static void start(void)
{
	write_user_file("{\"toolboxd\":{\"guests\":{\"enabled\":true}}}");
	asking_start();
	ask_for("ovos.tools.status", "{}");
	calls = &service->guests.calls;
	send_request("ovos.tools.register",
		"{'toolbox_id':'words','tools':[{'name':'say','risk':'read','timeout_ms':60000,"
		"'argument_schema':{'type':'object'}}]}",
		GUEST);
	expect_part(wait_for("ovos.tools.register.response"), "'registered':true");
}

static void settle(void)
{
	ask_for("mycroft.toolboxd.is_alive", "{}");
}

/* Call `say` with the call_id @id of the caller, without waiting. */
static void invoke(const char *id, const char *arguments)
{
	char data[512];

	snprintf(data, sizeof(data), "{'name':'say','call_id':'%s','args':%s}", id, arguments);
	send_request(INVOKE, data, "{'source':'caller'}");
}

/* Return the call_id in @message, which the caller frees. */
static char *call_id_of(const char *message)
{
	const char *at = strstr(message, "\"call_id\":\"");
	const char *end;

	cr_assert_not_null(at, "%s", message);
	at += strlen("\"call_id\":\"");
	end = strchr(at, '"');
	return strndup(at, (size_t)(end - at));
}

/* Call `say`, and return our id of the call that has reached the guest. */
static char *call_guest(const char *id)
{
	invoke(id, "{}");
	return call_id_of(wait_for(CALL));
}

/* Send the message @topic of @source about the call @id, with @members after its id. */
static void send_about(const char *source, const char *topic, const char *id, const char *members)
{
	char context[64];
	char data[1024];

	snprintf(context, sizeof(context), "{'source':'%s'}", source);
	snprintf(data, sizeof(data), "{'call_id':'%s'%s}", id, members);
	send_request(topic, data, context);
}

static void expect_end(const char *part)
{
	expect_part(wait_for(INVOKE ".response"), part);
}

static void expect_no_end(void)
{
	settle();
	cr_expect_eq(n_unseen(INVOKE ".response"), 0);
}

/* ── to the guest ────────────────────────────────────────────────────────────────────────────── */

Test(guest_calls, have_all_that_a_guest_needs)
{
	const char *message;
	char *id;
	char expected[128];

	start();
	send_request(INVOKE,
		"{'name':'say','call_id':'7','timeout_ms':50000,'args':{'n':1.10,'t':'\\u00e9'}}",
		"{}");
	message = wait_for(CALL);
	id = call_id_of(message);
	cr_expect_str_neq(id, "7", "the id of the caller is its own");
	snprintf(expected, sizeof(expected),
		"{'call_id':'%s','toolbox_id':'words','name':'say','timeout_ms':", id);
	expect_part(message, expected);
	expect_part(message, ",'deadline':");
	expect_part(message, ",'args':{'n':1.10,'t':'\\u00e9'}}");
	cr_expect_leq(strtoull(strstr(message, "timeout_ms\":") + 12, NULL, 10), 50000);
	cr_expect_gt(strtoull(strstr(message, "timeout_ms\":") + 12, NULL, 10), 40000);
	send_about("guest", ANSWER, id, ",'result':{}");
	expect_end("'call_id':'7','result':{}");
	free(id);
}

Test(guest_calls, run_side_by_side_and_end_in_any_order)
{
	char *ids[4];
	char text[64];

	start();
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "caller%d", i);
		ids[i] = call_guest(text);
	}
	for (int i = 3; i >= 0; i--) {
		snprintf(text, sizeof(text), ",'result':{'n':%d}", i);
		send_about("guest", ANSWER, ids[i], text);
		snprintf(text, sizeof(text), "'call_id':'caller%d','result':{'n':%d}", i, i);
		expect_end(text);
		free(ids[i]);
	}
	cr_expect(list_is_empty(&calls->sent));
}

Test(guest_calls, tell_the_guest_of_a_cancel_and_take_no_response_after_it)
{
	const char *message;
	char *id;

	start();
	id = call_guest("7");
	send_request("ovos.tools.cancel", "{'call_id':'7'}", "{'source':'caller'}");
	expect_end("'code':'cancelled'");
	message = wait_for(CANCEL);
	expect_part(message, id);
	cr_expect_eq(strchr(message, ','), NULL, "%s", message);
	send_about("guest", ANSWER, id, ",'result':{}");
	expect_no_end();
	cr_expect_eq(n_unseen(CANCEL), 0);
	cr_expect(list_is_empty(&calls->sent));
	free(id);
}

Test(guest_calls, tell_the_guest_of_a_deadline)
{
	char *id;

	start();
	send_request(INVOKE, "{'name':'say','timeout_ms':20}", "{}");
	id = call_id_of(wait_for(CALL));
	expect_end("'code':'timeout'");
	expect_part(wait_for(CANCEL), id);
	cr_expect(list_is_empty(&calls->sent));
	free(id);
}

/* The list of tools has a guest until a load is without it. */
Test(guest_calls, end_when_their_guest_has_left)
{
	static const char left[] = "is unavailable: its guest has left\",\"code\":\"unavailable\"}";
	const char *message;
	char *id;

	start();
	service->guests.rested_ms = clock_now_ms() + 3600000;
	id = call_guest("early");
	guest_leave(container_of(service->guests.items.next, struct guest, link), "of a test");
	message = wait_for(INVOKE ".response");
	cr_expect(strstr(message, "early") && strstr(message, left), "%s", message);
	expect_part(wait_for(CANCEL), id);
	invoke("late", "{}");
	message = wait_for(INVOKE ".response");
	cr_expect(strstr(message, "late") && strstr(message, left), "%s", message);
	settle();
	cr_expect_eq(n_unseen(CALL), 0, "nobody was asked");
	cr_expect_eq(n_unseen(CANCEL), 0);
	cr_expect(list_is_empty(&calls->sent) && list_is_empty(&calls->lost));
	free(id);
}

/* ── from the guest ──────────────────────────────────────────────────────────────────────────── */

Test(guest_calls, end_as_their_response_says)
{
	static const struct {
		const char *members;
		const char *end;
	} cases[] = {
		{",'result':{'a':1.10}", "'result':{'a':1.10}"},
		{",'result':{}", "'result':{}"},
		{",'result':null", "'result':{'result':null}"},
		{",'result':[1,{}]", "'result':{'result':[1,{}]}"},
		{",'result':'x'", "'result':{'result':'x'}"},
		{",'result':false,'error':null", "'result':{'result':false}"},
		{",'error':'it is dark'", "it is dark','code':'tool_failed'"},
		{",'error':'it is dark','result':null", "it is dark','code':'tool_failed'"},
		{",'error':''", "'code':'tool_failed'"},
		{",'error':{'no':[ 4 ]}", "{\\'no\\':[4]}','code':'tool_failed'"},
		{",'error':5", "5','code':'tool_failed'"},
		{"", "the response of the guest has neither a result nor an error','code':"
		     "'tool_failed'"},
		{",'error':null", "the response of the guest has neither a result nor an error"},
		{",'results':{}", "the response of the guest has neither a result nor an error"},
		{",'error':'x','result':{}", "the response of the guest has a result and an error"},
		{",'error':false,'result':0",
			"the response of the guest has a result and an error"},
		{",'result':{'a':1,'a':2}",
			"the response of the guest has too many values or levels, "
			"or a key twice"},
	};

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup_free char *id = call_guest("7");

		send_about("guest", ANSWER, id, cases[i].members);
		expect_end(cases[i].end);
		cr_expect(list_is_empty(&calls->sent), "%s", cases[i].members);
	}
	settle();
	cr_expect_eq(n_unseen(INVOKE ".response"), 0);
	cr_expect_eq(n_unseen(CANCEL), 0, "the guest knows that they have ended");
}

/* The bound counts an object as it is, and any other value with its wrapping. */
Test(guest_calls, have_a_result_of_the_largest_size_and_no_larger)
{
	static const struct {
		const char *result;
		size_t max;
		const char *end;
	} cases[] = {
		{",'result':{'a': '12345'}", 13, "'result':{'a':'12345'}"},
		{",'result':{'a': '12345'}", 12, "'code':'too_large','actual':13,'max':12"},
		{",'result': '12345'", 18, "'result':{'result':'12345'}"},
		{",'result': '12345'", 17, "'code':'too_large','actual':18,'max':17"},
	};

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup_free char *id = call_guest("7");

		service->config.limits.host_output_bytes = cases[i].max;
		send_about("guest", ANSWER, id, cases[i].result);
		expect_end(cases[i].end);
	}
}

static size_t n_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

Test(guest_calls, are_ended_by_nobody_else)
{
	static const char dropped[] = "A message of a guest was dropped, with the type "
				      "'ovos.tools.guest.call.response' and the source ";
	const char *log;
	char *id;

	start();
	id = call_guest("7");
	log_setup(LOG_LEVEL_WARNING, service->config.log_format);
	logged_begin();
	send_about("stranger", ANSWER, id, ",'result':{'is':'forged'}");
	send_about("guest", ANSWER, "another", ",'result':{'is':'forged'}");
	send_request(ANSWER, "{'call_id':7,'result':{}}", GUEST);
	send_request(ANSWER, "{'result':{}}", "{}");
	settle();
	log = logged_end();
	cr_expect_eq(n_lines(log), 4, "%s", log);
	cr_expect_not_null(strstr(log, dropped));
	cr_expect_not_null(
		strstr(log, "stranger: its sender is not the guest of the call\n"), "%s", log);
	cr_expect_not_null(strstr(log, "guest: it names no call that runs\n"), "%s", log);
	cr_expect_not_null(strstr(log, "null: it names no call that runs\n"), "%s", log);
	cr_expect_eq(n_unseen(INVOKE ".response"), 0);
	send_about("guest", ANSWER, id, ",'result':{'is':'true'}");
	expect_end("'result':{'is':'true'}");
	logged_begin();
	send_about("guest", ANSWER, id, ",'result':{'is':'second'}");
	expect_no_end();
	log = logged_end();
	cr_expect_not_null(strstr(log, "guest: it names no call that runs"), "%s", log);
	free(id);
}

/* Whoever floods the service with such messages does not flood its log. */
Test(guest_calls, are_named_in_a_bounded_number_of_lines)
{
	const char *log;

	start();
	log_setup(LOG_LEVEL_WARNING, service->config.log_format);
	logged_begin();
	for (int i = 0; i < 100; i++)
		send_about("stranger", ANSWER, "another", "");
	settle();
	log = logged_end();
	cr_expect_leq(n_lines(log), LOG_RATE_BURST + 1, "%s", log);
	cr_expect_gt(n_lines(log), 0);
}

Test(guest_calls, have_the_progress_of_their_guest_alone)
{
	const char *progress;
	char *id;

	start();
	send_request(INVOKE, "{'name':'say','call_id':'7','progress':true}", "{'source':'caller'}");
	id = call_id_of(wait_for(CALL));
	send_about("stranger", PROGRESS, id, ",'progress':99,'text':'forged'");
	send_about("guest", PROGRESS, "another", ",'progress':99");
	send_about("guest", PROGRESS, id, ",'progress':98,'progress':99");
	send_about("guest", PROGRESS, id, ",'progress':3,'total':5,'text':'half'");
	progress = wait_for("ovos.tools.call.progress");
	expect_part(progress, "'progress':3");
	expect_part(progress, "half");
	cr_expect_eq(n_unseen("ovos.tools.call.progress"), 0);
	send_about("guest", ANSWER, id, ",'result':{}");
	expect_end("'result':{}");
	send_about("guest", PROGRESS, id, ",'progress':4");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.call.progress"), 0);
	free(id);
}

/* ── the executor ────────────────────────────────────────────────────────────────────────────── */

static struct runner_call *first_call(void)
{
	struct call *call = container_of(service->calls.in_flight.next, struct call, link);

	cr_assert_not(list_is_empty(&service->calls.in_flight));
	return &call->runner_call;
}

static size_t n_in(const struct list *list)
{
	size_t n = 0;

	list_for_each(link, list)
		n++;
	return n;
}

Test(guest_calls, fail_when_memory_is_short_for_their_response)
{
	static const char *const members[] = {
		"'result':{}", "'result':5", "'error':'x'", "'error':{}"};

	start();
	container_of(service->guests.items.next, struct guest, link)->owner.connection = 0;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		struct request_scope scope = {.caller.source = {"guest", strlen("guest")}};
		cleanup_free char *id = call_guest("7");
		char text[256];
		char *frame;

		snprintf(text, sizeof(text), "{'type':'" ANSWER "','data':{'call_id':'%s',%s}}", id,
			members[i]);
		frame = quoted(text);
		cr_assert_eq(bus_envelope_read(
				     &scope.envelope, frame, strlen(frame), JSON_DEPTH_DEFAULT),
			0);
		scarce_once_after(0);
		guest_calls_respond(calls, &scope);
		cr_expect(scarce_has_failed(), "%s", members[i]);
		expect_end("Cannot allocate memory','code':'tool_failed'");
		cr_expect(list_is_empty(&calls->sent));
		bus_envelope_deinit(&scope.envelope);
		free(frame);
	}
}

/* Either the call has not begun, or it is in one of the lists, sent or lost. A client whose message
 * could not be sent may be disconnected, so the test does not go on with it. */
Test(guest_calls, begin_whole_or_not_at_all_when_memory_runs_short)
{
	const struct executor_operations *operations;
	struct runner_call *call;

	start();
	free(call_guest("7"));
	operations = calls->executor.operations;
	call = first_call();
	operations->cancel(&calls->executor, call, false);
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = operations->begin(&calls->executor, call, "{}", 2);
		bool has_failed = scarce_has_failed();

		cr_expect(r == 0 || (r == -ENOMEM && has_failed), "%zu: %d", n, r);
		cr_expect_eq(n_in(&calls->sent) + n_in(&calls->lost), r == 0 ? 1 : 0, "%zu", n);
		cr_expect(has_failed || n_in(&calls->sent) == 1, "%zu", n);
		if (r == 0)
			operations->cancel(&calls->executor, call, false);
		cr_assert_eq(n_in(&calls->sent) + n_in(&calls->lost), 0, "%zu", n);
	}
	cr_assert_eq(operations->begin(&calls->executor, call, "{}", 2), 0);
}

static const struct guest_owner *find_nobody(void *data, const struct package *package)
{
	(void)data;
	(void)package;
	return NULL;
}

Test(guest_calls, that_are_lost_can_be_cancelled_before_they_end)
{
	const struct executor_operations *operations;
	const struct guest_owner *(*find_owner)(void *data, const struct package *package);
	struct runner_call *call;
	char *id;

	start();
	id = call_guest("7");
	operations = calls->executor.operations;
	find_owner = calls->find_owner;
	call = first_call();
	operations->cancel(&calls->executor, call, true);
	expect_part(wait_for(CANCEL), id);
	calls->find_owner = find_nobody;
	cr_assert_eq(operations->begin(&calls->executor, call, "{}", 2), 0);
	cr_expect(n_in(&calls->lost) == 1 && n_in(&calls->sent) == 0);
	operations->cancel(&calls->executor, call, false);
	calls->find_owner = find_owner;
	cr_expect_eq(n_in(&calls->lost), 0);
	cr_assert_eq(operations->begin(&calls->executor, call, "{}", 2), 0);
	expect_no_end();
	cr_expect_eq(n_unseen(CANCEL), 0, "the guest has never heard of it");
	expect_part(wait_for(CALL), id);
	send_about("guest", ANSWER, id, ",'result':{}");
	expect_end("'result':{}");
	free(id);
}
