/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/calls.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "util/cleanup.h"

/* The calls of one answer. JSON is written with ' in place of ". */

static struct tools tools;
static struct reply reply;
static struct turn_calls calls;
static struct call_counts counts;

static void forget(void)
{
	turn_calls_deinit(&calls);
	tools_deinit(&tools);
	reply_deinit(&reply);
	call_counts_deinit(&counts);
}

TestSuite(turn_calls, .timeout = 60, .fini = forget);

#define CHARS_MAX 10000

/* Offer math/add and math/get, in a list of more than @tools_max. */
static void offer(size_t tools_max)
{
	cleanup_free char *json = quoted("{'tools':[{'name':'add','toolbox_id':'math'},"
					 "{'name':'get','toolbox_id':'math'}]}");
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 16, NULL), 0);
	cr_assert_eq(tools_read(&tools, &tape), 0);
	cr_assert_eq(tools_offer(&tools, tools_max, NULL), 0);
}

/* Add a call to the answer: @arguments is a text. */
static void want(const char *id, const char *name, const char *arguments)
{
	cleanup_free char *text = quoted(arguments);
	struct reply_call *call;

	reply.calls = realloc(reply.calls, (reply.n_calls + 1) * sizeof(*reply.calls));
	call = &reply.calls[reply.n_calls++];
	*call = (struct reply_call){.index = -1};
	buffer_append_string(&call->id, id);
	buffer_append_string(&call->name, name);
	buffer_append_string(&call->arguments, text);
}

static void take(void)
{
	turn_calls_deinit(&calls);
	cr_assert_eq(turn_calls_take(&calls, &reply, &tools, &counts), 0);
	reply_deinit(&reply);
}

static void end_batch(const char *response)
{
	cleanup_free char *json = quoted(response);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 16, NULL), 0);
	turn_calls_end_batch(&calls, &tape, &counts, CHARS_MAX);
}

static void expect_batch(size_t n, const char *expected)
{
	cleanup_free char *json = quoted(expected);
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(turn_calls_write_batch(&calls, "p", &out), n);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, json, "%s", out.data);
}

static void expect_content(size_t i, const char *part)
{
	cleanup_free char *json = quoted(part);

	cr_assert(buffer_terminate(&calls.items[i].content));
	cr_expect(strstr(calls.items[i].content.data, json), "%s", calls.items[i].content.data);
}

Test(turn_calls, become_entries_of_a_batch)
{
	offer(10);
	want("a", "add", "{'a': 1.0}");
	want("b", "ghost", "");
	take();
	expect_batch(2, "{'name':'add','toolbox_id':'math','call_id':'p-0','args':{'a': 1.0}},"
			"{'name':'ghost','call_id':'p-1','args':{}}");
}

Test(turn_calls, end_with_their_results)
{
	offer(10);
	want("a", "add", "{}");
	want("b", "add", "{'x':1}");
	take();
	end_batch("{'results':[{'name':'add','call_id':'p-0','result':{'r': 7}},"
		  "{'name':'add','call_id':'p-1','run_llm':false,'error':'No.','code':'denied'}]}");
	cr_expect(calls.items[0].is_ok);
	expect_content(0, "{'r':7}");
	cr_expect_not(calls.items[1].is_ok);
	expect_content(1, "{'error':'No.','code':'denied'}");
}

Test(turn_calls, without_a_result_are_unavailable)
{
	offer(10);
	want("a", "add", "{}");
	want("b", "get", "{}");
	take();
	end_batch("{'results':[{'result':1}]}");
	cr_expect(calls.items[0].is_ok);
	expect_content(1, "'code':'unavailable'");
}

Test(turn_calls, end_with_the_error_of_the_whole)
{
	offer(10);
	want("a", "add", "{}");
	take();
	end_batch("{'error':'Too long.','code':'too_large'}");
	expect_content(0, "{'error':'Too long.','code':'too_large'}");
}

Test(turn_calls, without_a_service_are_unavailable)
{
	offer(10);
	want("a", "add", "{}");
	take();
	turn_calls_end_batch(&calls, NULL, &counts, CHARS_MAX);
	expect_content(0, "'code':'unavailable'");
}

Test(turn_calls, with_broken_arguments_are_not_run)
{
	offer(10);
	want("a", "add", "{'a':");
	take();
	expect_batch(0, "");
	expect_content(0, "'code':'invalid_arguments'");
	/* A server would refuse the next request for them. */
	cr_expect_eq(calls.items[0].call.arguments.size, 2);
}

Test(turn_calls, have_different_ids)
{
	offer(10);
	want("a", "add", "{}");
	want("a", "add", "{'x':1}");
	want("", "add", "{'x':2}");
	want("call_2", "add", "{'x':3}");
	take();
	for (size_t i = 0; i < calls.n_items; i++)
		for (size_t j = 0; j < i; j++)
			cr_expect_not(
				buffer_equals(&calls.items[i].call.id, &calls.items[j].call.id));
}

Test(turn_calls, beyond_their_bound_are_busy)
{
	offer(10);
	for (int i = 0; i < TURN_CALLS_MAX + 1; i++) {
		char arguments[16];

		snprintf(arguments, sizeof(arguments), "{'a':%d}", i);
		want("", "add", arguments);
	}
	take();
	cr_expect_eq(calls.items[TURN_CALLS_MAX - 1].state, TURN_CALL_NEW);
	expect_content(TURN_CALLS_MAX, "'code':'busy'");
}

Test(turn_calls, that_are_too_long_are_not_run)
{
	offer(10);
	want("a", "add", "{'half");
	reply.calls[0].is_oversized = true;
	take();
	expect_content(0, "'code':'too_large'");
}

static void run_once(const char *arguments, const char *response)
{
	want("a", "add", arguments);
	take();
	if (calls.items[0].state == TURN_CALL_NEW)
		end_batch(response);
}

Test(turn_calls, are_answered_with_a_hint_the_third_time)
{
	offer(10);
	run_once("{'a':1,'b':2}", "{'results':[{'result':1}]}");
	run_once("{ 'b': 2, 'a': 1 }", "{'results':[{'error':'x','code':'tool_failed'}]}");
	run_once("{'a':1,'b':3}", "{'results':[{'result':1}]}");
	cr_expect(calls.items[0].is_ok);
	run_once("{'a':1,'b':2}", "{'results':[{'result':1}]}");
	expect_content(0, "'code':'repeated'");
}

Test(turn_calls, of_one_answer_are_counted_together)
{
	offer(10);
	for (int i = 0; i < 4; i++)
		want("", "add", "{'a':1}");
	take();
	expect_batch(2, "{'name':'add','toolbox_id':'math','call_id':'p-0','args':{'a':1}},"
			"{'name':'add','toolbox_id':'math','call_id':'p-1','args':{'a':1}}");
	expect_content(2, "'code':'repeated'");
	expect_content(3, "'code':'repeated'");
}

Test(turn_calls, that_did_not_run_do_not_count)
{
	offer(10);
	for (int i = 0; i < 2; i++) {
		run_once("{}", "{'results':[{'error':'x','code':'cooldown'}]}");
		run_once("{}", "{'results':[{'error':'x','code':'busy'}]}");
		run_once("{}", "{'results':[{'error':'x','code':'timeout'}]}");
	}
	run_once("{}", "{'results':[{'result':1}]}");
	cr_expect(calls.items[0].is_ok);
}

Test(turn_calls, of_the_pair_are_unwrapped)
{
	offer(1);
	want("a", "call_tool", "{'name':'add','arguments':{'a':1}}");
	want("b", "call_tool", "{'name':'get','arguments':'{\\'x\\':1}'}");
	want("c", "call_tool", "{'name':'add','arguments':'{'}");
	want("d", "search_tools", "{'query':'sum'}");
	want("e", "search_tools", "{}");
	take();
	expect_batch(2, "{'name':'add','toolbox_id':'math','call_id':'p-0','args':{'a':1}},"
			"{'name':'get','toolbox_id':'math','call_id':'p-1','args':{'x':1}}");
	expect_content(2, "'code':'invalid_arguments'");
	cr_expect_eq(turn_calls_next_search(&calls), &calls.items[3]);
	expect_content(4, "'code':'invalid_arguments'");
}

Test(turn_calls, of_the_pair_need_it_to_be_offered)
{
	offer(10);
	want("a", "search_tools", "{'query':'sum'}");
	take();
	cr_expect_null(turn_calls_next_search(&calls));
	expect_batch(1, "{'name':'search_tools','call_id':'p-0','args':{'query':'sum'}}");
}

Test(turn_calls, that_search_end_without_a_service)
{
	offer(1);
	want("a", "search_tools", "{'query':'sum'}");
	take();
	turn_call_end_search(turn_calls_next_search(&calls), &tools, NULL, CHARS_MAX);
	expect_content(0, "'code':'unavailable'");
	cr_expect_null(turn_calls_next_search(&calls));
}

Test(turn_calls, are_quiet_when_all_are_good_and_the_last_is)
{
	offer(10);
	want("a", "add", "{}");
	want("b", "get", "{}");
	take();
	end_batch("{'results':[{'result':1},{'result':1,'run_llm':false}]}");
	cr_expect(turn_calls_are_quiet(&calls));
	want("a", "add", "{}");
	want("b", "get", "{'x':1}");
	take();
	end_batch("{'results':[{'error':'x','run_llm':false},{'result':1,'run_llm':false}]}");
	cr_expect_not(turn_calls_are_quiet(&calls));
	want("a", "add", "{'x':5}");
	take();
	end_batch("{'results':[{'result':1,'run_llm':true}]}");
	cr_expect_not(turn_calls_are_quiet(&calls));
}

Test(turn_calls, that_are_cancelled_all_have_an_answer)
{
	struct history history = {0};

	offer(1);
	want("a", "add", "{}");
	want("b", "search_tools", "{'query':'x'}");
	take();
	turn_calls_cancel(&calls);
	cr_assert_eq(turn_calls_keep(&calls, &history), 0);
	cr_expect_eq(history.n_messages, 2);
	expect_content(1, "'code':'cancelled'");
	history_deinit(&history);
}

Test(turn_calls, have_results_that_are_cut)
{
	cleanup_free char *json = quoted("{'results':[{'result':'0123456789'}]}");
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	offer(10);
	want("a", "add", "{}");
	take();
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 16, NULL), 0);
	turn_calls_end_batch(&calls, &tape, &counts, 5);
	expect_content(0, "'0123… [the rest is left out]");
}

Test(turn_calls, are_listed)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *expected = quoted("{'name':'add','ok':true,'duration_ms':5}");

	offer(10);
	want("a", "add", "{}");
	take();
	end_batch("{'results':[{'result':1}]}");
	turn_calls_list(&calls, 5, &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, expected);
}
