/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/errors.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "quotes.h"

static struct toolbox *box;
static const struct tool *tool;
static struct asked asked;

static void set_up(void)
{
	box = make_box("box", BOX_TOOL("act", ""));
	tool = &box->tools[0];
	ask(&asked, "");
}

static void tear_down(void)
{
	asked_deinit(&asked);
	package_unref(box->package);
}

TestSuite(errors, .init = set_up, .fini = tear_down);

/* The answer is @expected, written with ' in place of " and ` in place of '; begin another. */
static void expect_error(const char *expected)
{
	cleanup_free char *text = quoted(expected);

	for (char *at = text; (at = strchr(at, '`')); at++)
		*at = '\'';
	expect_answer(&asked, text);
	ask(&asked, "");
}

#define IN_BOX "for `act` in ToolBox `box`: "
#define FAILED "'error':'RuntimeError: Tool execution failed " IN_BOX
#define OUTPUT "'error':'RuntimeError: Tool output validation failed " IN_BOX
#define INPUT  "'error':'ValueError: Tool input validation failed " IN_BOX

/* Write the failure @reported, cut to @max code points; it becomes @code. */
static void report(
	const char *reported, const char *refused, uint32_t max, enum answer_code expected_code)
{
	cleanup_free char *text = quoted(reported);
	cleanup(json_tape_deinit) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 16, NULL), 0, "%s", text);
	cr_expect_eq(errors_write_reported(&asked.answer, tool, &tape, refused, max),
		(int)expected_code, "%s", text);
}

Test(errors, tell_what_a_host_has_reported)
{
	static const struct {
		const char *reported;
		const char *expected;
		enum answer_code code;
	} rows[] = {
		{"{'code':'tool_failed','message':'no \\'luck\\'','exit_code':7,'signal':'SIGKILL',"
		 "'stderr':'err','output':''}",
			FAILED "no \\'luck\\'','code':'tool_failed','exit_code':7,"
			       "'signal':'SIGKILL','stderr':'err','output':''",
			ANSWER_TOOL_FAILED},
		{"{'message':'no','exit_code':'7'}", FAILED "no','code':'tool_failed'",
			ANSWER_TOOL_FAILED},
		{"{'code':'invented'}", FAILED "','code':'tool_failed'", ANSWER_TOOL_FAILED},
		{"{'code':'invalid_arguments','violations':[{'path':'/a','message':'is bad'},"
		 "5,{'path':'/b'},{'message':'is lost'},{'path':1,'message':'is lost'},"
		 "{'path':'/c','message':2},{'path':'','message':'is worse'}]}",
			INPUT "/a: is bad; is worse','code':"
			      "'invalid_arguments','violations':[{'path':'/a','message':'is bad'},"
			      "{'path':'','message':'is worse'}]",
			ANSWER_INVALID_ARGUMENTS},
		{"{'code':'invalid_output','violations':[{'path':'/a','message':'is bad'}]}",
			OUTPUT "/a: is bad','code':'invalid_output','violations':"
			       "[{'path':'/a','message':'is bad'}]",
			ANSWER_INVALID_OUTPUT},
		{"{'code':'unavailable','message':'it sleeps'}",
			"'error':'RuntimeError: Toolbox `box` is unavailable: it sleeps',"
			"'code':'unavailable'",
			ANSWER_UNAVAILABLE},
		{"{'code':'unavailable'}",
			"'error':'RuntimeError: Toolbox `box` is unavailable: ',"
			"'code':'unavailable'",
			ANSWER_UNAVAILABLE},
		{"{'code':'too_large','actual':11,'max':10}",
			"'error':'RuntimeError: Too large output of `act` in ToolBox `box`: 11 "
			"bytes, 10 are allowed','code':'too_large','actual':11,'max':10",
			ANSWER_TOO_LARGE},
		{"{'code':'too_large','values':10}",
			"'error':'RuntimeError: The output of `act` in ToolBox `box` has more than "
			"10 values','code':'too_large','actual':11,'max':10",
			ANSWER_TOO_LARGE},
		{"{'code':'too_large','message':'no','actual':11}",
			FAILED "no','code':'tool_failed'", ANSWER_TOOL_FAILED},
		{"{'code':'too_large','message':'no','max':10}", FAILED "no','code':'tool_failed'",
			ANSWER_TOOL_FAILED},
		{"{'actual':11,'message':'no','max':10,'values':1}",
			FAILED "no','code':'tool_failed'", ANSWER_TOOL_FAILED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		report(rows[i].reported, NULL, 1000, rows[i].code);
		expect_error(rows[i].expected);
	}
}

Test(errors, cut_what_a_host_has_reported)
{
	report("{'code':'unavailable','message':'abc'}", NULL, 2, ANSWER_UNAVAILABLE);
	expect_error("'error':'RuntimeError: Toolbox `box` is unavailable: ab',"
		     "'code':'unavailable'");
	report("{'message':'abc','stderr':'abcdefg'}", NULL, 5, ANSWER_TOOL_FAILED);
	expect_error("'error':'Runti','code':'tool_failed','stderr':'abcde'");
	report("{'code':'invalid_output','violations':[]}", NULL, 5, ANSWER_INVALID_OUTPUT);
	expect_error("'error':'Runti','code':'invalid_output','violations':[]");
}

Test(errors, name_what_the_sandbox_refused)
{
	report("{'message':'no'}", "socket", 1000, ANSWER_TOOL_FAILED);
	expect_error(FAILED "no (the sandbox refused: socket)','code':'tool_failed',"
			    "'refused':'socket'");
}

Test(errors, tell_how_a_host_has_ended)
{
	static const struct {
		struct host_exit end;
		const char *expected;
	} rows[] = {
		{{.reason = HOST_SIGNALED, .signal = SIGSEGV},
			"'error':'RuntimeError: Toolbox host `box` died (SIGSEGV) while running "
			"`act`','code':'host_crashed','signal':'SIGSEGV'"},
		{{.reason = HOST_EXITED, .exit_code = 3, .refused = "fork"},
			"'error':'RuntimeError: Toolbox host `box` died (exit 3) while running "
			"`act` (the sandbox refused: fork)','code':'host_crashed','exit_code':3,"
			"'refused':'fork'"},
		{{.reason = HOST_MALFORMED},
			"'error':'RuntimeError: Toolbox host `box` sent a malformed frame while "
			"running `act`','code':'host_crashed'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		errors_write_crash(&asked.answer, tool, &rows[i].end);
		expect_error(rows[i].expected);
	}
}

Test(errors, count_in_the_singular_and_the_plural)
{
	errors_write_busy(&asked.answer, tool, 1);
	expect_error("'error':'RuntimeError: Toolbox `box` is busy: 1 call is waiting',"
		     "'code':'busy'");
	errors_write_busy(&asked.answer, tool, 2);
	expect_error("'error':'RuntimeError: Toolbox `box` is busy: 2 calls are waiting',"
		     "'code':'busy'");
	errors_write_many_questions(&asked.answer, tool, 1, false);
	expect_error("'error':'RuntimeError: Toolbox `box` is busy: 1 call is waiting for a "
		     "person`s approval (limits.pending_approvals)','code':'busy'");
	errors_write_many_questions(&asked.answer, tool, 2, true);
	expect_error("'error':'RuntimeError: Toolbox `box` is busy: 2 calls are waiting for a "
		     "person`s approval, and the rest is for other clients and sources "
		     "(limits.pending_approvals)','code':'busy'");
}

Test(errors, round_the_time_to_wait_up)
{
	errors_write_cooldown(&asked.answer, tool, 2);
	expect_error("'error':'RuntimeError: Tool is on cooldown: `act` may run again in 2 s',"
		     "'code':'cooldown','retry_after_s':2.0");
	errors_write_cooldown(&asked.answer, tool, 2.0001);
	expect_error("'error':'RuntimeError: Tool is on cooldown: `act` may run again in 3 s',"
		     "'code':'cooldown','retry_after_s':2.001");
	errors_write_results(&asked.answer, tool, UINT64_C(1500000001));
	expect_error("'error':'RuntimeError: Toolbox `box` is busy: its results have taken more "
		     "than their share of the time to check','code':'busy','retry_after_s':1.501");
	errors_write_checking(&asked.answer, &(struct text_view){"me", 2}, UINT64_C(2000000000));
	expect_error("'error':'RuntimeError: Too many checks from `me`: they have taken more than "
		     "their share of the time','code':'busy','retry_after_s':2.0");
}

Test(errors, name_a_source_by_its_first_128_characters)
{
	char source[130] = "";
	char expected[300];

	memset(source, 's', sizeof(source) - 1);
	snprintf(expected, sizeof(expected),
		"'error':'RuntimeError: Too many calls from `%.128s`: so','code':'busy',"
		"'retry_after_s':1.0",
		source);
	errors_write_too_many(&asked.answer, &TEXT_VIEW(source), 1, "so");
	expect_error(expected);
	errors_write_too_many(&asked.answer, &(struct text_view){0}, 1, "so");
	expect_error("'error':'RuntimeError: Too many calls from one client: so','code':'busy',"
		     "'retry_after_s':1.0");
}

Test(errors, name_the_fault_behind_a_deadline)
{
	errors_write_timeout(&asked.answer, tool, 50, NULL);
	expect_error("'error':'TimeoutError: Tool `act` in ToolBox `box` exceeded its deadline of "
		     "50 ms','code':'timeout','timeout_ms':50");
	errors_write_timeout(&asked.answer, tool, 50, "no answer");
	expect_error("'error':'TimeoutError: Tool `act` in ToolBox `box` exceeded its deadline of "
		     "50 ms (no answer)','code':'timeout','timeout_ms':50");
}

Test(errors, name_a_cancelled_call_by_the_id_it_has)
{
	cleanup(buffer_deinit) struct buffer given = {0};
	static const struct buffer none;

	buffer_append_string(&given, "\"7\"");
	errors_write_cancelled(&asked.answer, &given, "x");
	expect_error("'error':'RuntimeError: Call `7` was cancelled','code':'cancelled'");
	errors_write_cancelled(&asked.answer, &none, "x");
	expect_error("'error':'RuntimeError: Call `x` was cancelled','code':'cancelled'");
	errors_write_cancelled(&asked.answer, &none, NULL);
	expect_error("'error':'RuntimeError: The call was cancelled','code':'cancelled'");
}

/* The reason in @error, of a call of the tool or of none, is @expected. */
static void expect_reason(const char *error, bool has_tool, const char *expected)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	answer_error_format(&asked.answer, ANSWER_BUSY, "%s", error);
	errors_write_reason(&asked.answer, has_tool ? tool : NULL, &reason);
	cr_expect_str_eq(buffer_terminate(&reason), expected, "%s", error);
	ask(&asked, "");
}

Test(errors, have_a_reason_after_their_kind_and_their_tool)
{
	expect_reason("RuntimeError: It is so", false, "\"It is so\"");
	expect_reason("AZaz: x", false, "\"x\"");
	expect_reason("A1: x", false, "\"A1: x\"");
	expect_reason("A:x", false, "\"A:x\"");
	expect_reason("It is so", false, "\"It is so\"");
	expect_reason("RuntimeError: Failed in ToolBox 'box': so: it is", true, "\"so: it is\"");
	expect_reason("RuntimeError: Failed in ToolBox 'box': so", false,
		"\"Failed in ToolBox 'box': so\"");
	expect_reason("RuntimeError: Failed in ToolBox 'fox': so", true,
		"\"Failed in ToolBox 'fox': so\"");
}

Test(errors, have_no_reason_where_there_is_none)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	answer_member_text(&asked.answer, "result", "x");
	errors_write_reason(&asked.answer, tool, &reason);
	cr_expect_eq(reason.size, 0);
}
