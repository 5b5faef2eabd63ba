/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/question.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/cleanup.h"
#include "util/utf8.h"

static char *ask_about(const char *description, const char *arguments)
{
	struct toolbox toolbox = {.id = (char *)"shell"};
	struct tool tool = {.toolbox = &toolbox,
		.name = (char *)"exec_command",
		.description = (char *)description};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer out = {0};
	char *text;

	cr_assert_eq(
		json_tape_read(&tape, arguments, strlen(arguments), JSON_DEPTH_DEFAULT, NULL), 0);
	question_write(&out, &tool, &tape);
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

Test(question, cannot_be_made_to_show_an_argument_that_is_none)
{
	expect_question("", "{\"a\":\"1\\\", b: \\\"2\"}",
		"May 'exec_command' of 'shell' run? a: \"1\\\", b: \\\"2\"");
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
	cr_expect(strstr(text, "xxx\xE2\x80\xA6"), "%s", text);
}

Test(question, shows_that_there_are_more_arguments_than_fit)
{
	struct buffer arguments = {0};
	cleanup_free char *text = NULL;

	buffer_append_char(&arguments, '{');
	for (int i = 0; i < 100; i++)
		buffer_printf(
			&arguments, "%s\"argument_%d\":\"\xC3\xA9\xC3\xA9\"", i ? "," : "", i);
	buffer_append_char(&arguments, '}');
	text = ask_about("Do it.", buffer_terminate(&arguments));
	cr_expect_eq(strcmp(text + strlen(text) - 3, "\xE2\x80\xA6"), 0, "%s", text);
	buffer_deinit(&arguments);
}
