/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/calls.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "boxes.h"
#include "bus/account.h"
#include "util/cleanup.h"

static struct loop *loop;
static struct calls calls;
static struct toolbox *box;

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(calls_init(&calls, loop), 0);
	box = make_box("box", BOX_TOOL("add", ""));
}

static void tear_down(void)
{
	calls_deinit(&calls);
	package_unref(box->package);
	loop_free(loop);
}

TestSuite(calls, .init = set_up, .fini = tear_down);

/* A call in flight; without a call_id when @call_id is NULL. */
static struct call *open_call(const char *source, const char *call_id)
{
	struct call *call = calls_new(&calls, &box->tools[0]);

	cr_assert(call);
	buffer_append_string(&call->source, source);
	if (call_id)
		buffer_append_string(&call->call_id, call_id);
	cr_assert(calls_charge(&calls, call, NULL, 10, &call->answer));
	calls_open(&calls, call);
	return call;
}

static struct call *find_call(const char *source, const char *call_id)
{
	struct buffer source_text = {.data = (char *)source, .size = strlen(source)};
	struct buffer call_id_text = {.data = (char *)call_id, .size = strlen(call_id)};

	return calls_find(&calls, CALL_DOOR_BUS, &source_text, &call_id_text);
}

Test(calls, are_found_by_their_source_and_id)
{
	struct call *call = open_call("\"me\"", "\"7\"");
	struct call *other = open_call("\"you\"", "\"7\"");

	open_call("\"me\"", NULL);
	cr_expect_eq(find_call("\"me\"", "\"7\""), call);
	cr_expect_eq(find_call("\"you\"", "\"7\""), other);
	cr_expect_null(find_call("\"me\"", "\"8\""));
	cr_expect_null(find_call("\"m\"", "e\"\"7\""), "the border between both counts");
	calls_close(&calls, call);
	cr_expect_null(find_call("\"me\"", "\"7\""));
}

Test(calls, are_freed_when_they_were_never_made)
{
	struct calls none = {0};

	calls_deinit(&none); /* a start without memory ends so */
	cr_expect_null(none.buckets);
}

Test(calls, of_one_origin_are_found_one_after_the_other)
{
	for (int i = 0; i < 3; i++)
		open_call("\"me\"", "\"7\"");
	for (int i = 0; i < 3; i++)
		calls_close(&calls, find_call("\"me\"", "\"7\""));
	cr_expect_null(find_call("\"me\"", "\"7\""));
	cr_expect_eq(calls.n_in_flight, 0);
}

Test(calls, are_found_among_many)
{
	char call_id[16];

	for (int i = 0; i < 1000; i++) {
		snprintf(call_id, sizeof(call_id), "\"%d\"", i);
		open_call("\"me\"", i % 10 == 0 ? NULL : call_id);
	}
	for (int i = 0; i < 1000; i++) {
		struct call *call;

		snprintf(call_id, sizeof(call_id), "\"%d\"", i);
		call = find_call("\"me\"", call_id);
		cr_expect_eq(call != NULL, i % 10 != 0, "%d", i);
		if (call)
			cr_expect_eq(call->runner_call.id, (uint64_t)i + 1);
	}
}

Test(calls, count_the_bytes_that_they_hold)
{
	struct call *call = open_call("\"me\"", "\"7\"");

	cr_expect_eq(call->held_bytes, strlen("\"me\"\"7\"") + 10);
	open_call("\"me\"", NULL);
	cr_expect_eq(calls.held_bytes, call->held_bytes + strlen("\"me\"") + 10);
	calls_close(&calls, call);
	cr_expect_eq(calls.held_bytes, strlen("\"me\"") + 10);
	cr_expect_eq(calls.n_in_flight, 1);
}

Test(calls, hold_the_knowledge_for_their_host)
{
	static const char given[] = "{\"given\":{}}";
	struct call *call = calls_new(&calls, &box->tools[0]);

	cr_assert(call);
	buffer_append_string(&call->runner_call.caller, given);
	cr_assert(calls_charge(&calls, call, NULL, 10, &call->answer));
	cr_expect_eq(call->held_bytes, strlen(given) + 10);
	calls_close(&calls, call);
}

Test(calls, that_are_over_leave_nothing_to_the_next)
{
	calls_close(&calls, open_call("\"me\"", "\"7\""));
	cr_expect_null(find_call("\"me\"", "\"7\""));
	open_call("", NULL);
	cr_expect_null(find_call("\"me\"", "\"7\""));
	cr_expect_eq(calls.held_bytes, 10);
}

Test(calls, that_never_flew_are_closed)
{
	calls_close(&calls, calls_new(&calls, &box->tools[0]));
	cr_expect_eq(calls.n_in_flight, 0);
}

Test(calls, are_closed_once, .signal = SIGABRT)
{
	struct call *call = open_call("\"me\"", "\"7\"");

	calls_close(&calls, call);
	calls_close(&calls, call);
}

Test(calls, are_not_closed_before_they_are_answered, .signal = SIGABRT)
{
	struct call *call = open_call("\"me\"", "\"7\"");

	answer_begin_broadcast(&call->answer, "topic");
	calls_close(&calls, call);
}

Test(calls, have_short_ids_of_their_own)
{
	char id[CALL_ID_BYTES];
	char other[CALL_ID_BYTES];

	for (uint64_t number = 1; number < 1000; number++) {
		call_id_format(7, number, id);
		cr_expect_eq(strlen(id), 6);
		call_id_format(7, number + 1, other);
		cr_expect_str_neq(id, other);
	}
	call_id_format(8, 1, other);
	call_id_format(7, 1, id);
	cr_expect_str_neq(id, other);
	cr_expect(call_has_id(7, 1, &TEXT_VIEW(id)));
	cr_expect_not(call_has_id(7, 2, &TEXT_VIEW(id)));
	/* Later numbers have more digits, and the same ones at the end. */
	call_id_format(7, (1 << 24) - 1, other);
	cr_expect_eq(strlen(other), 6);
	call_id_format(7, (1 << 24) + 1, other);
	cr_expect_eq(*other, '1');
	cr_expect_str_eq(other + 1, id);
}

Test(calls, are_found_by_their_own_id_and_their_address)
{
	struct address address = {0};
	struct call *calls_made[3];
	char id[CALL_ID_BYTES];

	for (int i = 0; i < 3; i++)
		calls_made[i] = open_call("\"me\"", NULL);
	call_id_format(calls.process, calls_made[1]->runner_call.id, id);
	cr_expect_eq(calls_find_id(&calls, &TEXT_VIEW(id)), calls_made[1]);
	cr_expect_null(calls_find_id(&calls, &TEXT_VIEW("none")));
	cr_expect_null(calls_find_address(&calls, &address));
	calls_made[2]->answer.address = &address;
	cr_expect_eq(calls_find_address(&calls, &address), calls_made[2]);
	calls_made[2]->answer.address = NULL;
}

/* Charge a call of @source with @bytes in all. Return whether it may hold them. */
static bool charge(struct account *account, const char *source, size_t bytes)
{
	struct call *call = calls_new(&calls, &box->tools[0]);
	bool is_good;

	buffer_append_string(&call->source, source);
	is_good = calls_charge(&calls, call, account, bytes - strlen(source), &call->answer);
	if (is_good)
		calls_open(&calls, call);
	else
		calls_close(&calls, call);
	return is_good;
}

Test(calls, of_one_source_hold_half_of_what_their_client_may)
{
	struct account_book book = {.bytes_max = 4000};
	struct account *account = account_new(&book);

	cr_assert_eq(account_held_max(account), 1000);
	cr_expect(charge(account, "me", 400));
	cr_expect(charge(account, "me", 100));
	cr_expect_not(charge(account, "me", 10));
	cr_expect_eq(account->held, 500, "nothing of the refused call");
	cr_expect(charge(account, "you", 400));
	cr_expect_not(charge(account, "you", 101), "over the half");
	cr_expect(charge(account, "you", 100));
	cr_expect_not(charge(account, "other", 10), "over all");
	cr_expect_eq(account->held, 1000);
	calls_deinit(&calls);
	cr_expect_eq(account->held, 0);
	cr_assert_eq(calls_init(&calls, loop), 0);
	account_unref(account);
}

Test(calls, keep_their_last_progress)
{
	static const struct {
		const char *progress;
		const char *text;
		bool has_number;
	} rows[] = {
		{"{\"progress\":0.5,\"text\":\"half\"}", "\"half\"", true},
		{"{\"text\":\"more\"}", "\"more\"", true},
		{"{\"progress\":\"1\",\"text\":5}", "\"more\"", true},
		{"{\"progress\":1e999}", "\"more\"", false},
		{"{\"text\":\"\"}", "\"\"", false},
	};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct json_tape tape = {0};
	bool has_number = false;
	double number = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_assert_eq(
			json_tape_read(&tape, rows[i].progress, strlen(rows[i].progress), 8, NULL),
			0);
		call_keep_progress(&tape, &has_number, &number, &text);
		cr_expect_str_eq(buffer_terminate(&text), rows[i].text, "%s", rows[i].progress);
		cr_expect_eq(has_number, rows[i].has_number, "%s", rows[i].progress);
		if (has_number)
			cr_expect_eq(number, 0.5);
	}
	json_tape_deinit(&tape);
}

Test(calls, have_the_shortest_of_their_deadlines)
{
	struct config config = {.timeout_ms = 1000, .job_timeout_ms = 5000};
	struct tool *tool = &box->tools[0];

	cr_expect_eq(call_timeout_ms(&config, tool, 0), 1000);
	cr_expect_eq(call_timeout_ms(&config, tool, 999), 999);
	cr_expect_eq(call_timeout_ms(&config, tool, 1001), 1000);
	cr_expect_eq(call_job_timeout_ms(&config, tool, 0), 5000);
	cr_expect_eq(call_job_timeout_ms(&config, tool, 4000), 4000);
	cr_expect_eq(call_job_timeout_ms(&config, tool, 6000), 5000);
	tool->timeout_ms = 3000;
	cr_expect_eq(call_job_timeout_ms(&config, tool, 0), 3000);
	cr_expect_eq(call_job_timeout_ms(&config, tool, 4000), 3000);
	cr_expect_eq(call_most_ms(tool), 0, "this kind has none");
	box->package->limits.max_ms = 70;
	cr_expect_eq(call_most_ms(tool), 0);
	box->package->kind = KIND_MCP;
	cr_expect_eq(call_most_ms(tool), 70);
	box->package->limits.max_ms = 0;
	cr_expect_gt(call_most_ms(tool), 70);
	box->package->kind = KIND_NATIVE;
}
