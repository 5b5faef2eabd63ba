/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/calls.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "boxes.h"

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
