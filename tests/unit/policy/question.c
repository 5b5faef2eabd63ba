/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/question.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

static const char *schema;
static const char *spoken;
static bool is_whole;

static char *ask_about(const char *description, const char *arguments)
{
	struct toolbox toolbox = {.id = (char *)"shell"};
	struct tool tool = {.toolbox = &toolbox,
		.name = (char *)"exec_command",
		.description = (char *)description,
		.argument_schema = (char *)schema,
		.spoken = (char *)spoken};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer out = {0};
	char *text;

	cr_assert_eq(
		json_tape_read(&tape, arguments, strlen(arguments), JSON_DEPTH_DEFAULT, NULL), 0);
	is_whole = question_write(&out, &tool, &tape, TEXT_VIEW("en"));
	text = buffer_take(&out, NULL);
	cr_assert_not_null(text);
	cr_assert_leq(utf8_count(text, strlen(text)), QUESTION_POINTS, "%s", text);
	return text;
}

static void expect_question(const char *description, const char *arguments, const char *wanted)
{
	cleanup_free char *text = ask_about(description, arguments);

	cr_expect_str_eq(text, wanted);
}

Test(question, has_the_first_sentence_of_the_description_and_the_arguments)
{
	expect_question("Run a shell command. It may do anything.",
		"{\"cmd\":\"echo hi\", \"times\": 1.0}",
		"May 'exec_command' of 'shell' run? Run a shell command. cmd: \"echo hi\", times: "
		"1.0");
	expect_question("", "{}", "May 'exec_command' of 'shell' run?");
	expect_question("Version 1.2 of it\nmore", "{}",
		"May 'exec_command' of 'shell' run? Version 1.2 of it");
	expect_question(
		"", "\"***\"", "May 'exec_command' of 'shell' run? Its arguments are hidden.");
}

Test(question, shows_control_and_bidirectional_characters)
{
	expect_question("Do\x1b[2J it\xE2\x80\xAE!", "{\"a\":\"\\u001b[31m\xE2\x80\xAEx\\u0007\"}",
		"May 'exec_command' of 'shell' run? Do\\u001b[2J it\\u202e! "
		"a: \"\\u001b[31m\\u202ex\\u0007\"");
}

Test(question, shows_characters_that_nobody_sees)
{
	expect_question("Do\u200b it!", "{\"a\":\"/tmp/safe\\udb40\\udc41\ufe01\",\"b\u3164\":1}",
		"May 'exec_command' of 'shell' run? Do\\u200b it! "
		"a: \"/tmp/safe\\udb40\\udc41\\ufe01\", \"b\\u3164\": 1");
}

Test(question, cannot_be_made_to_show_an_argument_that_is_none)
{
	expect_question("", "{\"a\":\"1\\\", b: \\\"2\"}",
		"May 'exec_command' of 'shell' run? a: \"1\\\", b: \\\"2\"");
}

Test(question, shows_a_name_that_could_be_a_value_as_a_string)
{
	expect_question("",
		"{\"file: \\\"/tmp/harmless\\\", x\":1,\"file\":\"/etc/shadow\",\"\":2,\"1\":3}",
		"May 'exec_command' of 'shell' run? \"file: \\\"/tmp/harmless\\\", x\": 1, "
		"file: \"/etc/shadow\", \"\": 2, \"1\": 3");
	cr_expect(is_whole);
}

Test(question, shows_required_arguments_then_declared_ones_then_others_however_they_come)
{
	schema = "{\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"required\":[\"c\",\"missing\"]}";
	expect_question("", "{\"z\":1,\"b\":2,\"y\":3,\"a\":4,\"c\":{\"k\":5,\"j\":6}}",
		"May 'exec_command' of 'shell' run? c: {\"j\":6,\"k\":5}, a: 4, b: 2, z: 1, y: 3");
	cr_expect(is_whole);
}

Test(question, has_room_for_what_is_declared_before_anything_else)
{
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup_free char *text = NULL;

	schema = "{\"properties\":{\"file\":{\"type\":\"string\"}},\"required\":[\"file\"]}";
	buffer_append_string(&arguments, "{\"file: \\\"/tmp/harmless.txt\\\", note\":\"ok\"");
	for (int i = 0; i < 100; i++)
		buffer_printf(&arguments, ",\"p%03d\":\"ok\"", i);
	buffer_append_string(
		&arguments, ",\"file\":\"/etc/cron.d/a_path_of_some_length/that_matters\"}");
	text = ask_about("Touch a file.", buffer_terminate(&arguments));
	cr_expect(strstr(text, "run? Touch a file. file: "
			       "\"/etc/cron.d/a_path_of_some_length/that_matters\", "),
		"%s", text);
	cr_expect(strstr(text, ", p000: \"ok\", p001: "), "%s", text);
	cr_expect_not(is_whole);
}

Test(question, does_not_take_a_value_for_a_shortened_one)
{
	expect_question("", "{\"note\":\"ab\xE2\x80\xA6, file: 5\"}",
		"May 'exec_command' of 'shell' run? note: \"ab\\u2026, file: 5\"");
}

Test(question, shows_a_value_as_it_is_read)
{
	expect_question("", "{\"cmd\":\"\\u0072\\u006d -rf\"}",
		"May 'exec_command' of 'shell' run? cmd: \"rm -rf\"");
}

Test(question, shortens_a_long_argument_rather_than_the_next)
{
	static char arguments[2000];
	char long_text[1500];
	cleanup_free char *text = NULL;

	memset(long_text, 'x', sizeof(long_text));
	snprintf(arguments, sizeof(arguments), "{\"note\":\"%.*s\",\"cmd\":\"rm -rf /\"}", 1400,
		long_text);
	text = ask_about("Run a shell command.", arguments);
	cr_expect(strstr(text, "cmd: \"rm -rf /\""), "%s", text);
	cr_expect(strstr(text, "xxx\xE2\x80\xA6, cmd"), "%s", text);
	cr_expect_not(is_whole);
}

Test(question, shows_that_there_are_more_arguments_than_fit)
{
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup_free char *text = NULL;

	buffer_append_char(&arguments, '{');
	for (int i = 0; i < 100; i++)
		buffer_printf(
			&arguments, "%s\"argument_%d\":\"\xC3\xA9\xC3\xA9\"", i ? "," : "", i);
	buffer_append_char(&arguments, '}');
	text = ask_about("Do it.", buffer_terminate(&arguments));
	cr_expect(strstr(text, "argument_12: \"\xC3\xA9\xC3\xA9\" and 87 more"), "%s", text);
	cr_expect_not(is_whole);
}

Test(question, has_room_for_the_number_of_arguments_that_it_leaves_out)
{
	static const char end[] = "xxx\xE2\x80\xA6 and 5 more";
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup_free char *text = NULL;

	schema = "{\"properties\":{\"note\":{\"type\":\"string\"}}}";
	buffer_append_string(&arguments, "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"note\":\"");
	for (int i = 0; i < 1000; i++)
		buffer_append_char(&arguments, 'x');
	buffer_append_string(&arguments, "\"}");
	text = ask_about("Do it.", buffer_terminate(&arguments));
	cr_expect(strlen(text) > sizeof(end));
	cr_expect_str_eq(text + strlen(text) - strlen(end), end);
	cr_expect_geq(utf8_count(text, strlen(text)), QUESTION_POINTS - 3u, "%s", text);
}

/* ── the tool's own words ────────────────────────────────────────────────────────────────────── */

Test(question, is_the_face_confirm_of_the_tool)
{
	spoken = "{\"en\":{\"confirm\":\"Shall I run {cmd}?\"},\"de\":{\"done\":\"ja\"}}";
	expect_question("Run it.", "{\"cmd\":\"ls\"}", "Shall I run ls?");
	cr_expect(is_whole);
	expect_question("Run it.", "{\"cmd\":\"ls\",\"dir\":\"/\"}", "Shall I run ls?");
	cr_expect_not(is_whole);
	expect_question("", "{\"dir\":\"/\"}", "May 'exec_command' of 'shell' run? dir: \"/\"");
}

Test(question, has_no_more_than_its_points_of_a_face)
{
	cleanup(buffer_deinit) struct buffer arguments = {0};
	cleanup_free char *text = NULL;

	spoken = "{\"en\":{\"confirm\":\"Shall I run {cmd}?\"}}";
	buffer_append_string(&arguments, "{\"cmd\":\"\\u202e");
	for (int i = 0; i < QUESTION_POINTS; i++)
		buffer_append_char(&arguments, 'x');
	buffer_append_string(&arguments, "\"}");
	text = ask_about("", buffer_terminate(&arguments));
	cr_expect_eq(utf8_count(text, strlen(text)), QUESTION_POINTS);
	cr_expect_null(strstr(text, "\xE2\x80\xAE"));
	cr_expect_not(is_whole);
}
