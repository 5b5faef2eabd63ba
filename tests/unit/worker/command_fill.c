/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/fill.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "scarce.h"

static struct json_tape command_tape, arguments;
static struct command command;
static struct command_fill fill;

static void read_text(struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void set_up(void)
{
	struct command_mistake mistake;

	read_text(&command_tape, "{\"f\":{\"argv\":[\"printf\",\"--a={a}\",\"{b}\"]}}");
	read_text(&arguments, "{\"a\":\"O'Neill\",\"b\":\"\"}");
	cr_assert_eq(
		command_read(&command_tape, json_find(&command_tape, 0, "f"), &command, &mistake),
		0);
}

static void tear_down(void)
{
	command_fill_deinit(&fill);
	command_deinit(&command);
	json_tape_deinit(&arguments);
	json_tape_deinit(&command_tape);
}

TestSuite(command_fill, .init = set_up, .fini = tear_down, .timeout = 60);

/* Fill with memory that was not used before. */
static int fill_anew(void)
{
	static const char caller[] = "{\"session_id\":\"7\"}";

	command_fill_deinit(&fill);
	fill = (struct command_fill){0};
	return command_fill(
		&fill, &command, "TOOL_NAME=f\0", caller, sizeof(caller) - 1, &arguments, 0);
}

static void append_lines(struct buffer *out, char *const *texts)
{
	for (; *texts; texts++)
		buffer_printf(out, "%s\n", *texts);
}

Test(command_fill, starts_no_program_with_less_than_all_of_its_arguments)
{
	cleanup(buffer_deinit) struct buffer expected = {0};
	size_t n = 0;

	cr_assert_eq(fill_anew(), 0);
	append_lines(&expected, fill.arguments);
	append_lines(&expected, fill.environment);
	cr_assert(strstr(buffer_terminate(&expected), "--a=O'Neill\n\n"), "%s", expected.data);
	for (; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer came = {0};
		int r = fill_anew();

		if (scarce_has_failed()) {
			cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
			continue;
		}
		cr_assert_eq(r, 0);
		append_lines(&came, fill.arguments);
		append_lines(&came, fill.environment);
		cr_expect_str_eq(buffer_terminate(&came), expected.data, "%zu: %s", n, came.data);
	}
	cr_expect_gt(n, 3);
}

Test(command_fill, tells_a_shortage_from_a_value_that_is_too_long)
{
	size_t n = 0;

	read_text(&arguments, "[\"a\\u0062\"]");
	for (; scarce_once_after(n); n++) {
		const char *message = command_refusal(&arguments, 1);

		if (scarce_has_failed())
			cr_expect(message && strstr(message, "memory is short"), "%s", message);
		else
			cr_expect_null(message);
	}
	cr_expect_gt(n, 0);
}

/* ── variables ───────────────────────────────────────────────────────────────────────────────── */

/* Expect the variables for a call with @object by @caller ("": unknown), beside @fixed. */
static void expect_environment(
	const char *fixed, const char *caller, const char *object, const char *lines)
{
	cleanup(buffer_deinit) struct buffer came = {0};

	read_text(&arguments, object);
	cr_assert_eq(
		command_fill(&fill, &command, fixed, caller, strlen(caller), &arguments, 0), 0);
	append_lines(&came, fill.environment);
	cr_expect_str_eq(buffer_terminate(&came), lines, "%s: %s", object, came.data);
}

#define NOBODY "TOOL_CALL_ID=\nTOOL_SESSION_ID=\nTOOL_LANG=\nTRACEPARENT=\nTRACESTATE=\n"

Test(command_fill, names_the_caller)
{
	expect_environment("A=b\0", "", "{}", "A=b\n" NOBODY);
	expect_environment("A=b\0",
		"{\"call_id\":\"1\",\"session_id\":\"two\",\"lang\":\"\\u0064e\",\"traceparent\":"
		"\"00-1\","
		"\"tracestate\":\"a=b\",\"more\":\"x\"}",
		"{}",
		"A=b\nTOOL_CALL_ID=1\nTOOL_SESSION_ID=two\nTOOL_LANG=de\nTRACEPARENT=00-1\n"
		"TRACESTATE=a=b\n");
	expect_environment(
		"A=b\0", "{\"call_id\":7,\"session_id\":\"a\\u0000\"}", "{}", "A=b\n" NOBODY);
	expect_environment("TOOL_LANG=own\0", "{\"lang\":\"de\"}", "{}",
		"TOOL_LANG=own\nTOOL_CALL_ID=\nTOOL_SESSION_ID=\nTRACEPARENT=\nTRACESTATE=\n");
}

Test(command_fill, has_a_variable_for_each_argument_with_a_name_for_one)
{
	expect_environment("A=b\0", "",
		"{\"from-city\":\"Ulm\",\"n_9\":[1,{\"x\": null}],\"t\":true,\"e\":\"\"}",
		"A=b\n" NOBODY "TOOL_ARG_FROM_CITY=Ulm\nTOOL_ARG_N_9=[1,{\"x\":null}]\n"
		"TOOL_ARG_T=true\nTOOL_ARG_E=\n");
	expect_environment("TOOL_ARG_B=own\0", "",
		"{\"a\":null,\"b\":\"x\",\"\":1,\"a "
		"b\":1,\"\xC3\xA9\":1,\"c\":\"\\u0000\",\"d.e\":1}",
		"TOOL_ARG_B=own\n" NOBODY);
}
