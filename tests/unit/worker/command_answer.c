/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/answer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"

/* Answers to what programs printed. JSON is written with ' in place of ". */

TestSuite(command_answer, .timeout = 60);

/* A status as from wait(). */
#define EXITED(status) ((status) << 8)

#define OUTPUT_MAX 1024

struct printed {
	const char *output;
	size_t size; /* bytes of the output; 0: up to its NUL */
	const char *errors;
	int status;
	size_t output_max; /* 0: OUTPUT_MAX */
};

/* Answer the end of a program, for which 0 and 1 are success. */
static int answer(enum command_output output, const struct printed *printed, struct buffer *out)
{
	struct command command = {.output = output};
	struct command_run run = {
		.output_max = printed->output_max ? printed->output_max : OUTPUT_MAX,
		.errors_max = OUTPUT_MAX,
		.status = printed->status,
	};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r;

	command_set_add(&command.success, 0);
	command_set_add(&command.success, 1);
	buffer_append(&run.output, printed->output ? printed->output : "",
		printed->size || !printed->output ? printed->size : strlen(printed->output));
	buffer_append_string(&run.errors, printed->errors ? printed->errors : "");
	r = command_answer(&command, &run, &tape, out);
	command_run_deinit(&run);
	return r;
}

struct answered {
	struct printed printed;
	const char *answer; /* whole */
};

static void expect_answers(
	enum command_output output, int status, const struct answered *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup_free char *json = quoted(rows[i].answer);

		cr_expect_eq(answer(output, &rows[i].printed, &out), status, "%zu", i);
		cr_expect_str_eq(buffer_terminate(&out), json, "%zu: %s", i, out.data);
	}
}

#define EXPECT_ANSWERS(output, status, rows)                                                       \
	expect_answers(output, status, rows, sizeof(rows) / sizeof(*(rows)))

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

Test(command_answer, has_text_without_the_line_ends_at_its_end)
{
	static const struct answered rows[] = {
		{{.output = ""}, "{'output':''}"},
		{{.output = "\n"}, "{'output':''}"},
		{{.output = "one\r\n\n"}, "{'output':'one'}"},
		{{.output = "\n one \n two \n"}, "{'output':'\\n one \\n two '}"},
		{{.output = "\xEF\xBB\xBFmarked"}, "{'output':'marked'}"},
		{{.output = "\xEF\xBB"}, "{'output':'\xEF\xBF\xBD\xEF\xBF\xBD'}"},
		{{.output = "\033[31mred\033[0m\n"}, "{'output':'red'}"},
		{{.output = "a\0b", .size = 3}, "{'output':'a\\u0000b'}"},
		{{.output = "few", .status = EXITED(1)}, "{'output':'few'}"},
	};

	EXPECT_ANSWERS(COMMAND_TEXT, 0, rows);
}

Test(command_answer, has_the_value_that_was_printed)
{
	static const struct answered rows[] = {
		{{.output = " [1, 2]\n"}, "{'output':[1,2]}"},
		{{.output = "5"}, "{'output':5}"},
		{{.output = ""}, "{'output':null}"},
		{{.output = " \n\t"}, "{'output':null}"},
		{{.output = "\xEF\xBB\xBF null"}, "{'output':null}"},
		{{.output = "\xEF\xBB\xBF"}, "{'output':null}"},
	};
	static const struct answered whole[] = {
		{{.output = "{\"a\": 1}\n"}, "{'a':1}"},
		{{.output = "{}"}, "{}"},
		{{.output = "\"a\xFF\""}, "{'output':'a\xEF\xBF\xBD'}"},
		{{.output = "\"\\ud800 \\ud83d\\ude00\""}, "{'output':'\\ufffd \\ud83d\\ude00'}"},
		{{.output = "{\"\xC0\":\"\xE2\x82\"}"},
			"{'\xEF\xBF\xBD':'\xEF\xBF\xBD\xEF\xBF\xBD'}"},
	};

	EXPECT_ANSWERS(COMMAND_JSON, 0, whole);
	EXPECT_ANSWERS(COMMAND_JSON, 0, rows);
}

Test(command_answer, has_each_of_the_values_that_were_printed)
{
	static const struct answered rows[] = {
		{{.output = ""}, "{'output':[]}"},
		{{.output = "\n\n"}, "{'output':[]}"},
		{{.output = "1\n2\n"}, "{'output':[1,2]}"},
		{{.output = "1 [2]\t{\"a\":3}null"}, "{'output':[1,[2],{'a':3},null]}"},
		{{.output = "\"\xFF\"\n\"\\udc00\""}, "{'output':['\xEF\xBF\xBD','\\ufffd']}"},
	};

	EXPECT_ANSWERS(COMMAND_JSON_LINES, 0, rows);
}

Test(command_answer, refuses_output_that_is_no_json_with_its_beginning)
{
	static const struct {
		enum command_output output;
		struct printed printed;
		const char *part;
	} rows[] = {
		{COMMAND_JSON, {.output = "nothing"}, "must be one JSON value ('json_lines' takes"},
		{COMMAND_JSON, {.output = "nothing\n"}, ",'output':'nothing'}"},
		{COMMAND_JSON, {.output = "1 2"}, "at byte 2: "},
		{COMMAND_JSON, {.output = "{\"a\":1,\"a\":2}"}, "'code':'tool_failed'"},
		{COMMAND_JSON_LINES, {.output = "1\n2\n}"}, "at byte 4: "},
		{COMMAND_JSON_LINES, {.output = "1 nul"}, "one after the other: at byte "},
		{COMMAND_JSON_LINES, {.output = "1\n[2"}, ",'output':'1\\n[2'}"},
		{COMMAND_JSON, {.output = "\xFF", .output_max = 64}, ",'output':'\xEF\xBF\xBD'}"},
		{COMMAND_JSON, {.output = "12345 is too long a text for it", .output_max = 64},
			",'output':'1234'}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup_free char *part = quoted(rows[i].part);
		char plain[512] = "";

		cr_expect_eq(
			answer(rows[i].output, &rows[i].printed, &out), DRIVER_E_ERROR, "%zu", i);
		buffer_terminate(&out);
		/* Quotes inside of the message have a backslash. */
		for (size_t at = 0, n = 0; at < out.size && n < sizeof(plain) - 1; at++)
			if (out.data[at] != '\\' || out.data[at + 1] != '"')
				plain[n++] = out.data[at];
		cr_expect(strstr(plain, part), "%zu: %s\nis not in %s", i, part, plain);
	}
}

/* Write @depth arrays in each other, around nothing. */
static void nest(unsigned int depth, struct buffer *out)
{
	for (unsigned int i = 0; i < depth; i++)
		buffer_append_char(out, '[');
	for (unsigned int i = 0; i < depth; i++)
		buffer_append_char(out, ']');
	buffer_terminate(out);
}

Test(command_answer, has_no_value_deeper_than_a_response_can_have)
{
	static const struct {
		enum command_output output;
		unsigned int depth;
		int status;
	} rows[] = {
		{COMMAND_JSON, JSON_DEPTH_DEFAULT - 1, 0},
		{COMMAND_JSON, JSON_DEPTH_DEFAULT, DRIVER_E_ERROR},
		{COMMAND_JSON_LINES, JSON_DEPTH_DEFAULT - 2, 0},
		{COMMAND_JSON_LINES, JSON_DEPTH_DEFAULT - 1, DRIVER_E_ERROR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		nest(rows[i].depth, &text);
		cr_expect_eq(answer(rows[i].output, &(struct printed){.output = text.data}, &out),
			rows[i].status, "%zu", i);
		cr_expect_eq(
			json_tape_read(&tape, out.data, out.size, JSON_DEPTH_DEFAULT, NULL), 0);
	}
}

/* ── limits ──────────────────────────────────────────────────────────────────────────────────── */

Test(command_answer, is_an_error_when_its_json_text_is_too_long)
{
	static const struct answered fitting[] = {
		{{.output = "12345", .output_max = 18}, "{'output':'12345'}"},
	};
	static const struct answered larger[] = {
		{{.output = "123456", .output_max = 18},
			"{'code':'too_large','actual':19,'max':18}"},
		{{.output = "\001\001", .output_max = 18},
			"{'code':'too_large','actual':25,'max':18}"},
	};
	struct command command = {0};
	struct command_run run = {.output_max = 2, .is_too_large = true};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	EXPECT_ANSWERS(COMMAND_TEXT, 0, fitting);
	EXPECT_ANSWERS(COMMAND_TEXT, DRIVER_E_ERROR, larger);
	buffer_append_string(&run.output, "abc");
	cr_expect_eq(command_answer(&command, &run, &tape, &out), DRIVER_E_ERROR);
	cr_expect_str_eq(buffer_terminate(&out), "{\"code\":\"too_large\",\"actual\":3,\"max\":2}");
	command_run_deinit(&run);
}

Test(command_answer, is_whole_or_fails_when_memory_is_short)
{
	static const struct {
		enum command_output output;
		struct printed printed;
	} rows[] = {
		{COMMAND_TEXT, {.output = "text"}},
		{COMMAND_JSON, {.output = "[1,\"\\ud800\"]"}},
		{COMMAND_JSON_LINES, {.output = "1 \"\xFF\""}},
		{COMMAND_JSON, {.output = "not JSON"}},
		{COMMAND_TEXT, {.output = "text", .errors = "bad\n", .status = EXITED(2)}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer whole = {0};
		int status = answer(rows[i].output, &rows[i].printed, &whole);
		size_t n = 0;

		for (; scarce_once_after(n); n++) {
			cleanup(buffer_deinit) struct buffer out = {0};
			int r = answer(rows[i].output, &rows[i].printed, &out);

			if (r == -ENOMEM || buffer_status(&out))
				continue;
			cr_expect_eq(r, status, "%zu, %zu", i, n);
			cr_expect(out.size == whole.size &&
					  memcmp(out.data, whole.data, out.size) == 0,
				"%zu, %zu: %.*s", i, n, (int)out.size, out.data);
		}
		cr_expect_gt(n, 1);
	}
}

/* ── failures ────────────────────────────────────────────────────────────────────────────────── */

Test(command_answer, says_how_a_program_has_failed_and_what_it_printed_last)
{
	static const struct answered rows[] = {
		{{.status = EXITED(2)},
			"{'code':'tool_failed','message':'the program exited with status 2 and "
			"printed nothing','exit_code':2,'stderr':'','output':''}"},
		{{.status = EXITED(255), .errors = "no such file\n"},
			"{'code':'tool_failed','message':'the program exited with status 255: no "
			"such file','exit_code':255,'stderr':'no such file\\n','output':''}"},
		{{.status = EXITED(2), .output = "printed\n"},
			"{'code':'tool_failed','message':'the program exited with status 2: "
			"printed','exit_code':2,'stderr':'','output':'printed'}"},
		{{.status = EXITED(2), .output = "printed", .errors = "said"},
			"{'code':'tool_failed','message':'the program exited with status 2: "
			"said','exit_code':2,'stderr':'said','output':'printed'}"},
		{{.status = EXITED(2), .errors = "\033[1mone\033[0m \t\r\n\n  \ntwo\n\n"},
			"{'code':'tool_failed','message':'the program exited with status 2: "
			"one\\ntwo','exit_code':2,'stderr':'one \\t\\r\\n\\n  "
			"\\ntwo\\n\\n','output':''}"},
		{{.status = EXITED(2), .errors = "why\n    at f (x.js:1)\n    at g (x.js:2)\n"},
			"{'code':'tool_failed','message':'the program exited with status 2: "
			"why','exit_code':2,'stderr':'why\\n    at f (x.js:1)\\n    at g "
			"(x.js:2)\\n','output':''}"},
		{{.status = SIGSEGV},
			"{'code':'tool_failed','message':'the program was killed by SIGSEGV and "
			"printed nothing','signal':'SIGSEGV','stderr':'','output':''}"},
		{{.status = 63, .errors = "x"},
			"{'code':'tool_failed','message':'the program was killed by SIG?: "
			"x','signal':'SIG63','stderr':'x','output':''}"},
	};

	EXPECT_ANSWERS(COMMAND_TEXT, DRIVER_E_ERROR, rows);
	EXPECT_ANSWERS(COMMAND_JSON, DRIVER_E_ERROR, rows);
}

/* Return the bytes of the message in the answer to a program that printed @errors. */
static size_t message_size(const char *errors, unsigned int *ret_n_lines)
{
	const struct printed printed = {.errors = errors, .status = EXITED(2)};
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *message, *end;

	cr_assert_eq(answer(COMMAND_TEXT, &printed, &out), DRIVER_E_ERROR);
	message = strstr(buffer_terminate(&out), "status 2: ");
	cr_assert_not_null(message);
	message += strlen("status 2: ");
	end = strchr(message, '"');
	*ret_n_lines = 1;
	for (const char *at = message; (at = strstr(at, "\\n")) && at < end; at++)
		++*ret_n_lines;
	return (size_t)(end - message);
}

Test(command_answer, has_as_many_of_the_last_lines_as_have_room)
{
	char text[1024];
	unsigned int n_lines;

	memset(text, 'x', sizeof(text));
	text[600] = '\0';
	cr_expect_eq(message_size(text, &n_lines), 500);
	cr_expect_eq(n_lines, 1);
	text[99] = '\n';
	/* 500 bytes and the line end are one byte too many with the line before. */
	cr_expect_eq(message_size(text, &n_lines), 500);
	cr_expect_eq(n_lines, 1);
	text[99] = 'x';
	text[600 - 250 - 1] = '\n';
	/* 500 bytes with both line ends fit. */
	cr_expect_eq(message_size(text + 600 - 499, &n_lines), 248 + strlen("\\n") + 250);
	cr_expect_eq(n_lines, 2);
	cr_expect_eq(message_size(text + 600 - 500, &n_lines), 250);
	cr_expect_eq(n_lines, 1);
	for (size_t i = 0; i < 600; i++)
		text[i] = i % 50 == 49 ? '\n' : 'x';
	cr_expect_eq(message_size(text, &n_lines), 10 * 49 + 9 * strlen("\\n"));
	cr_expect_eq(n_lines, 10);
	for (size_t i = 0; i < 200; i++)
		text[i] = i % 2 ? '\n' : 'x';
	text[200] = '\0';
	message_size(text, &n_lines);
	cr_expect_eq(n_lines, 32);
}

Test(command_answer, has_a_part_of_what_a_failed_program_printed)
{
	const struct printed printed = {.output = "0123456789",
		.errors = "abcdefghij",
		.status = EXITED(2),
		.output_max = 64};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(answer(COMMAND_TEXT, &printed, &out), DRIVER_E_ERROR);
	cr_expect_not_null(
		strstr(buffer_terminate(&out), ",\"stderr\":\"ghij\",\"output\":\"0123\"}"));
}

/* ── programs that do not start ──────────────────────────────────────────────────────────────── */

Test(command_answer, says_why_a_program_was_not_started)
{
	static const struct {
		const char *program;
		int error;
		const char *reason;
	} rows[] = {
		{"ls", -ENOENT, "is in none of the folders of PATH; install it, or give its path"},
		{"/bin/ls", -ENOENT,
			"cannot be run: it does not exist, or the interpreter of its '#!' line "
			"does not"},
		{"./ls", -ENOENT,
			"cannot be run: it does not exist, or the interpreter of its '#!' line "
			"does not"},
		{"ls", -EACCES, "cannot be run: Permission denied (chmod +x?)"},
		{"ls", -ENOEXEC,
			"cannot be run: Exec format error (a script begins with a line like "
			"#!/bin/sh)"},
		{"ls", -E2BIG,
			"cannot be run: its arguments together are too long; it could read them "
			"from stdin"},
		{"ls", -EMFILE, "cannot be run: Too many open files"},
		{"l\xEF\xBF\xBD", -EMFILE, "cannot be run: Too many open files"},
	};
	const struct command command = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer expected = {0};

		buffer_printf(&expected,
			"{\"code\":\"tool_failed\",\"message\":\"the program '%s' %s\"}",
			rows[i].program, rows[i].reason);
		cr_expect_eq(command_answer_not_started(&command,
				     rows[i].program[1] == '\xEF' ? "l\xFF" : rows[i].program,
				     rows[i].error, &out),
			DRIVER_E_ERROR);
		cr_expect_str_eq(
			buffer_terminate(&out), buffer_terminate(&expected), "%s", out.data);
	}
}

Test(command_answer, names_the_folder_that_cannot_be_entered_first)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	char nowhere[] = "/nowhere/at/all";
	char root[] = "/";

	command_answer_not_started(&(struct command){.cwd = nowhere}, "ls", -ENOENT, &out);
	cr_expect_str_eq(buffer_terminate(&out),
		"{\"code\":\"tool_failed\",\"message\":\"the folder to run in, '/nowhere/at/all', "
		"cannot be entered: No such file or directory\"}");
	buffer_reset(&out);
	command_answer_not_started(&(struct command){.cwd = root}, "ls", -ENOENT, &out);
	cr_expect_not_null(strstr(buffer_terminate(&out), "the program 'ls' is in none"));
}

Test(command_answer, asks_for_another_call_after_a_change)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(command_answer_changed(&out), DRIVER_E_ERROR);
	cr_expect_str_eq(buffer_terminate(&out),
		"{\"code\":\"unavailable\",\"message\":\"its program has changed since the call "
		"was accepted; call it again\"}");
}

Test(command_answer, points_to_the_argument_that_cannot_be_passed)
{
	static const char text[] = "{\"a/b~\\u00e9\":1}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 9, NULL), 0);
	cr_expect_eq(command_answer_refused(&tape, json_first(&tape, 0), "is \"bad\"", &out),
		DRIVER_E_ERROR);
	cr_expect_str_eq(buffer_terminate(&out),
		"{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":\"/a~1b~0\xC3\xA9\","
		"\"message\":\"is \\\"bad\\\"\"}]}");
}
