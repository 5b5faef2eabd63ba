/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/batch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "boxes.h"
#include "config_fixture.h"
#include "quotes.h"
#include "scarce.h"
#include "served.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Batches in a service whose calls the test answers: which begin when, and what becomes of each. */

#define TOOL(name, symbol, risk)                                                                   \
	"{'name':'" name "','risk':'" risk "','native':{'symbol':'" symbol                         \
	"','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}"
#define BOX                                                                                        \
	"{'kind':'native','library':'libm.so.6','tools':[" TOOL("look", "sin", "read") "," TOOL(   \
		"see", "cos", "read") "," TOOL("change", "sqrt", "write") "]}"

static void start(const char *configuration)
{
	if (configuration)
		write_user_file(configuration);
	write_box("box.json", BOX);
	asking_start();
	ask_for("ovos.tools.list", "{}");
	service->batches.serve = served_take;
}

static void tear_down(void)
{
	served_forget();
	asking_tear_down();
}

TestSuite(batch, .init = asking_set_up, .fini = tear_down, .timeout = 300);

/* Serve until each batch has begun the entries that may begin now. */
static void settle(void)
{
	ask_for("ovos.tools.status", "{}");
	while (!list_is_empty(&service->batches.ready))
		asking_step();
}

static void begin(const char *data)
{
	send_request("ovos.tools.invoke", data, "{'source':'me'}");
	settle();
}

/* The response to the first batch is @results, the text of the array. */
static void expect_results(const char *results)
{
	const char *response = wait_for("ovos.tools.invoke.response");
	char expected[2048];

	snprintf(expected, sizeof(expected), "{'results':%s}", results);
	swap_quotes(expected);
	cr_expect_str_eq(response, expected);
	cr_expect_eq(service->batches.n, 0);
}

/* The response has the codes @codes in their order: a letter for each entry, '-' for a result. */
static void expect_codes(const char *codes)
{
	static const struct {
		const char *text;
		char letter;
	} members[] = {{"\"result\":", '-'}, {"\"code\":\"denied\"", 'd'},
		{"\"code\":\"skipped\"", 's'}, {"\"code\":\"cancelled\"", 'c'},
		{"\"code\":\"timeout\"", 't'}, {"\"code\":\"tool_failed\"", 'f'},
		{"\"code\":\"too_large\"", 'l'}, {"\"code\":\"unavailable\"", 'u'}};
	const char *response = wait_for("ovos.tools.invoke.response");
	char found[64] = "";
	size_t n_found = 0;

	for (const char *at = response; *at; at++)
		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			if (n_found + 1 < sizeof(found) &&
				strncmp(at, members[i].text, strlen(members[i].text)) == 0)
				found[n_found++] = members[i].letter;
	cr_expect_str_eq(found, codes, "%s", response);
}

static void expect_words(const char *text, const char *words)
{
	cr_expect(strstr(text, words), "%s\nis not in %s", words, text);
}

/* ── order ───────────────────────────────────────────────────────────────────────────────────── */

Test(batch, begins_reads_side_by_side_and_any_other_call_alone)
{
	start(NULL);
	begin("{'calls':[{'name':'look'},{'name':'see'},{'name':'change'},{'name':'look'}]}");
	cr_assert_eq(n_served, 2);
	served_answer(1, "1");
	settle();
	cr_assert_eq(n_served, 2, "a read is under way");
	served_answer(0, "0");
	settle();
	cr_assert_eq(n_served, 3);
	settle();
	cr_assert_eq(n_served, 3, "a call that is no read is under way");
	served_answer(2, "2");
	settle();
	cr_assert_eq(n_served, 4);
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
	served_answer(3, "3");
	expect_results("[{'result':0},{'result':1},{'result':2},{'result':3}]");
}

Test(batch, runs_a_tool_alone_that_is_not_known_to_read)
{
	static const char *const names[] = {"{'name':'none'}", "{'name':5}", "{}",
		"{'name':'look','toolbox_id':'other'}", "{'name':''}"};
	char data[128];

	start(NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(data, sizeof(data), "{'calls':[{'name':'look'},%s]}", names[i]);
		begin(data);
		cr_expect_eq(n_served, 1, "%s", names[i]);
		served_answer(0, "0");
		settle();
		cr_assert_eq(n_served, 2, "%s", names[i]);
		served_answer(1, "1");
		wait_for("ovos.tools.invoke.response");
		served_forget();
	}
}

Test(batch, does_not_hold_up_another_batch)
{
	start(NULL);
	begin("{'calls':[{'name':'change','call_id':'a'},{'name':'change'}]}");
	begin("{'calls':[{'name':'change','call_id':'b'}]}");
	cr_assert_eq(n_served, 2);
	served_answer(1, "1");
	expect_part(wait_for("ovos.tools.invoke.response"), "[{'result':1}]");
	cr_expect_eq(service->batches.n, 1);
}

/* ── the request of an entry ─────────────────────────────────────────────────────────────────── */

Test(batch, serves_an_entry_as_a_request_of_its_caller)
{
	static const char *const rows[][2] = {
		{"{'name':'look'}", "{'name':'look','call_id':'0'}"},
		{"{}", "{'name':'','call_id':'0'}"},
		{"{'name':null,'call_id':null}", "{'name':'','call_id':'0'}"},
		{"{'name':[1, 2]}", "{'name':[1, 2],'call_id':'0'}"},
		{"{'name':'l\\u006fok','call_id':'\\u0061'}",
			"{'name':'l\\u006fok','call_id':'a'}"},
		{"{'args':{'x':9007199254740993, 'y':1.10},'name':'look'}",
			"{'name':'look','call_id':'0','args':{'x':9007199254740993, 'y':1.10}}"},
		{"{'name':'look','toolbox_id':'box','args':5}",
			"{'name':'look','call_id':'0','args':5,'toolbox_id':'box'}"},
		{"{'name':'look','timeout_ms':7,'args':{}}",
			"{'name':'look','call_id':'0','args':{},'timeout_ms':7}"},
		{"{'name':'look','timeout_ms':0}", "{'name':'look','call_id':'0','timeout_ms':0}"},
		{"{'name':'look','timeout_ms':-1}",
			"{'name':'look','call_id':'0','timeout_ms':-1}"},
		{"{'name':'look','timeout_ms':'7'}",
			"{'name':'look','call_id':'0','timeout_ms':'7'}"},
		{"{'name':'look','background':true,'profile':'p'}",
			"{'name':'look','call_id':'0','background':true,'profile':'p'}"},
		{"{'name':'look','calls':[],'progress':1,'other':2}",
			"{'name':'look','call_id':'0','calls':[],'progress':1}"},
	};
	char data[256];

	start(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char expected[256];

		snprintf(data, sizeof(data), "{'calls':[%s]}", rows[i][0]);
		begin(data);
		cr_assert_eq(n_served, 1, "%s", rows[i][0]);
		snprintf(expected, sizeof(expected),
			"{'type':'ovos.tools.invoke','data':%s,'context':", rows[i][1]);
		swap_quotes(expected);
		cr_expect_eq(strncmp(served_texts[0], expected, strlen(expected)), 0, "%s, not %s",
			served_texts[0], expected);
		expect_part(served_texts[0], "'source':'me'");
		served_answer(0, "0");
		wait_for("ovos.tools.invoke.response");
		served_forget();
	}
}

/* Return the deadline of the call @at, in ms; 0: it has none. */
static uint64_t timeout_of(size_t at)
{
	const char *found = strstr(served_texts[at], "\"timeout_ms\":");

	return found ? strtoull(found + strlen("\"timeout_ms\":"), NULL, 10) : 0;
}

Test(batch, leaves_an_entry_the_rest_of_its_deadline)
{
	start(NULL);
	begin("{'timeout_ms':50000,'calls':[{'name':'look'},{'name':'look','timeout_ms':99999999},"
	      "{'name':'look','timeout_ms':5}]}");
	cr_assert_eq(n_served, 3);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_leq(timeout_of(i), 50000);
		cr_expect_gt(timeout_of(i), 10000);
	}
	cr_expect_eq(timeout_of(2), 5);
	begin("{'timeout_ms':4294967296,'calls':[{'name':'look'}]}");
	cr_assert_eq(n_served, 4);
	cr_expect_eq(timeout_of(3), 0, "so long a deadline is none");
}

Test(batch, begins_no_entry_after_its_deadline)
{
	struct batch *batch;
	const char *response;

	start(NULL);
	begin("{'timeout_ms':50000,'calls':[{'name':'change'},{'name':'look'},{'name':'look'}]}");
	cr_assert_eq(n_served, 1);
	batch = container_of(service->batches.all.next, struct batch, link);
	batch->due_ms = clock_now_ms();
	served_answer(0, "0");
	response = wait_for("ovos.tools.invoke.response");
	expect_part(response, "{'results':[{'result':0},{'name':'look','call_id':'1','error':");
	expect_words(response, "\"TimeoutError: Tool 'look' was not run: its batch exceeded its "
			       "deadline of 50000 ms\"");
	expect_part(response, "'code':'timeout','timeout_ms':50000},{'name':'look','call_id':'2'");
	cr_expect_eq(n_served, 1);
}

/* ── entries that are not run ────────────────────────────────────────────────────────────────── */

Test(batch, stops_at_a_denial_alone)
{
	static const struct {
		enum answer_code code;
		const char *on_denied;
		const char *codes;
	} rows[] = {
		{ANSWER_DENIED, "stop", "dss"},
		{ANSWER_DENIED, "continue", "d--"},
		{ANSWER_TOOL_FAILED, "stop", "f--"},
		{ANSWER_TIMEOUT, "stop", "t--"},
		{ANSWER_CANCELLED, "stop", "c--"},
	};
	char data[256];

	start(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(data, sizeof(data),
			"{'on_denied':'%s','calls':[{'name':'change'},{'name':'change'},"
			"{'name':'look'}]}",
			rows[i].on_denied);
		begin(data);
		served_refuse(0, rows[i].code);
		for (size_t next = 1; next < 3 && rows[i].codes[next] == '-'; next++) {
			settle();
			cr_assert_eq(n_served, next + 1, "%s", data);
			served_answer(next, "0");
		}
		expect_codes(rows[i].codes);
		served_forget();
	}
}

Test(batch, names_the_call_that_was_denied_first)
{
	const char *response;

	start(NULL);
	begin("{'calls':[{'name':'look','call_id':'a'},{'name':'look','call_id':'b'},"
	      "{'name':'change','call_id':'c'}]}");
	cr_assert_eq(n_served, 2);
	served_refuse(1, ANSWER_DENIED);
	served_refuse(0, ANSWER_DENIED);
	response = wait_for("ovos.tools.invoke.response");
	expect_words(response, "Skipped: 'change' was not run, since call 'b' was denied\"");
	expect_part(response, "'code':'skipped','denied_call_id':'b'}]");
}

Test(batch, cancels_the_entries_with_an_id_of_its_source)
{
	static const struct {
		const char *source;
		const char *id;
		const char *is_any;
		const char *codes;
	} rows[] = {
		{"me", "b", "'cancelled':true", "-c-"},
		{"me", "all", "'cancelled':true", "-cc"},
		{"other", "all", "'cancelled':false", "---"},
		{"me", "none", "'cancelled':false", "---"},
	};
	char data[64];
	char context[64];

	start(NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin("{'call_id':'all','calls':[{'name':'change','call_id':'a'},{'name':'change',"
		      "'call_id':'b'},{'name':'change','call_id':'c'}]}");
		snprintf(data, sizeof(data), "{'call_id':'%s'}", rows[i].id);
		snprintf(context, sizeof(context), "{'source':'%s'}", rows[i].source);
		send_request("ovos.tools.cancel", data, context);
		expect_part(wait_for("ovos.tools.cancel.response"), rows[i].is_any);
		for (size_t n = 0; n < n_served; n++) {
			served_answer(n, "0");
			settle();
		}
		expect_codes(rows[i].codes);
		served_forget();
	}
}

Test(batch, begins_nothing_for_a_caller_that_has_left)
{
	start(NULL);
	begin("{'calls':[{'name':'change'},{'name':'change'},{'name':'look'}]}");
	asking_leave();
	while (!container_of(service->batches.all.next, struct batch, link)
			->caller->account->is_closed)
		asking_step();
	served_answer(0, "0");
	while (service->batches.n > 0)
		asking_step();
	cr_expect_eq(n_served, 1);
}

/* ── bounds ──────────────────────────────────────────────────────────────────────────────────── */

/* Answer the call @at with @size characters. */
static void answer_with(size_t at, size_t size)
{
	cleanup_free char *result = malloc(size + 3);

	memset(result, 'x', size + 2);
	result[0] = result[size + 1] = '\'';
	result[size + 2] = '\0';
	served_answer(at, result);
}

Test(batch, cuts_the_largest_answers_until_a_frame_has_all)
{
	static const struct {
		size_t sizes[3];
		const char *codes;
	} rows[] = {
		{{1000, 1000, 1000}, "---"},
		{{500, 3500, 1000}, "-l-"},
		{{3000, 500, 3500}, "--l"},
		{{3000, 500, 900}, "l--"},
		{{3900, 3800, 3400}, "ll-"},
		{{9000, 9000, 9000}, "lll"},
	};
	const struct account *account;
	const char *response;

	start("{\"toolboxd\":{\"limits\":{\"frame_bytes\":4096}}}");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin("{'calls':[{'name':'look'},{'name':'look'},{'name':'look'}]}");
		for (size_t n = 0; n < 3; n++)
			answer_with(n, rows[i].sizes[n]);
		expect_codes(rows[i].codes);
		served_forget();
	}
	begin("{'calls':[{'name':'look'},{'name':'look'}]}");
	account = container_of(service->batches.all.next, struct batch, link)->caller->account;
	answer_with(0, 5000);
	answer_with(1, 10);
	response = wait_for("ovos.tools.invoke.response");
	expect_part(response, "RuntimeError: The answer has 5013 bytes, ");
	expect_part(response, "'actual':5013,'max':");
	cr_expect_eq(account->held, 0);
}

Test(batch, charges_its_source_until_the_response)
{
	struct account *account;
	size_t before;

	start(NULL);
	begin("{'calls':[{'name':'change'}]}");
	account = container_of(service->batches.all.next, struct batch, link)->caller->account;
	before = account->held;
	cr_expect_gt(before, sizeof(struct batch) + sizeof(struct batch_entry));
	begin("{'calls':[{'name':'look'},{'name':'change'}]}");
	cr_assert_eq(n_served, 2);
	cr_expect_gt(account->held, 2 * before - 1);
	answer_with(1, 10000);
	cr_expect_gt(account->held, 10000);
	settle();
	served_answer(2, "0");
	wait_for("ovos.tools.invoke.response");
	cr_expect_eq(account->held, before);
	served_answer(0, "0");
	wait_for("ovos.tools.invoke.response");
	cr_expect_eq(account->held, 0);
}

Test(batch, answers_what_its_caller_cannot_hold)
{
	struct account_book *book;
	size_t others;

	start(NULL);
	begin("{'calls':[{'name':'look'},{'name':'look'}]}");
	cr_assert_eq(n_served, 2);
	book = container_of(service->batches.all.next, struct batch, link)->caller->account->book;
	/* Others hold all but a kilobyte. */
	others = book->bytes_max / ACCOUNT_HELD_SHARE - book->held - 8192;
	book->held += others;
	answer_with(0, 100000);
	served_answer(1, "1");
	book->held -= others;
	expect_results("[{'name':'look','call_id':'0','error':'RuntimeError: The answer is more "
		       "than the calls of its caller may hold (limits.peer_bytes)','code':"
		       "'too_large'},{'result':1}]");
}

Test(batch, gives_a_source_half_of_what_its_connection_may_hold)
{
	char data[5000];
	struct account_book *book;
	const char *response;

	start(NULL);
	begin("{'calls':[{'name':'change'}]}");
	book = container_of(service->batches.all.next, struct batch, link)->caller->account->book;
	snprintf(data, sizeof(data), "{'calls':[{'name':'change','args':{'x':'%4000d'}}]}", 0);
	book->bytes_max = 4 * 16000;
	for (int i = 0; i < 3; i++)
		send_request("ovos.tools.invoke", data, "{'source':'me'}");
	response = wait_for("ovos.tools.invoke.response");
	expect_words(response,
		"Too many calls from 'me': their requests hold as much memory as they "
		"may (limits.peer_bytes)");
	expect_part(response, "'code':'busy','retry_after_s':1.0}");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 1);
	send_request("ovos.tools.invoke", data, "{'source':'other'}");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 1, "another source has its half");
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

Test(batch, answers_each_id_when_calls_cannot_begin)
{
	start(NULL);
	served_status = -ENOMEM;
	begin("{'calls':[{'name':'look'},{'name':'change'},{'name':'none'}]}");
	expect_codes("uuu");
	cr_expect_eq(service->batches.n, 0);
}

Test(batch, begins_whole_or_not_at_all_when_memory_is_short)
{
	struct request_scope scope = {0};
	struct asked asked = {0};
	bool is_begun = false;

	start(NULL);
	for (size_t n = 0; !is_begun; n++) {
		ask(&asked, "'calls':[{'name':'l\\u006fok','args':{'x':1}},{'name':'change'}]");
		cr_assert(request_read(&asked.request, &asked.envelope, REQUEST_BATCH));
		scope.envelope = asked.envelope;
		scope.request = asked.request;
		scope.caller = (struct policy_caller){.account = bus_sender(service->bus)};
		scarce_once_after(n);
		is_begun = batches_begin(&service->batches, &scope, &asked.answer);
		cr_expect_eq(is_begun, !scarce_has_failed(), "allocation %zu", n);
		cr_expect_eq(service->batches.n, is_begun);
		cr_expect_neq(answer_is_open(&asked.answer), is_begun);
		cr_expect_neq(answer_is_error(&asked.answer), is_begun);
		asked_deinit(&asked);
	}
	settle();
	cr_expect_eq(n_served, 1);
}
