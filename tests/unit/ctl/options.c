/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/options.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"

#define WORDS_MAX 8

static struct ctl_options options;
static struct buffer reason;

static void tear_down(void)
{
	ctl_options_deinit(&options);
	buffer_deinit(&reason);
}

TestSuite(ctl_options, .fini = tear_down, .timeout = 20);

/* Read a command line whose words are separated by spaces. */
static int read_line(const char *line)
{
	static char copy[256];
	static char *argv[WORDS_MAX + 1];
	char *rest = NULL;
	int argc = 0;

	memset(argv, 0, sizeof(argv));
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word && argc < WORDS_MAX;
		word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	buffer_reset(&reason);
	ctl_options_deinit(&options);
	return ctl_options_read(argc, argv, &options, &reason);
}

Test(ctl_options, are_all_default_without_a_flag)
{
	cr_assert_eq(read_line("list"), 0);
	cr_expect_eq(options.n_positional, 1);
	cr_expect_str_eq(options.positional[0], "list");
	cr_expect_eq(options.timeout_ms, CTL_TIMEOUT_MS);
	cr_expect_null(options.bus);
	cr_expect_not(options.json);
	cr_expect_null(ctl_options_other(&options, 0));
}

Test(ctl_options, keep_each_toolbox_in_its_order)
{
	cr_assert_eq(read_line("mcp --toolbox a --toolbox=b --toolbox a"), 0);
	cr_assert_eq(options.n_toolboxes, 3);
	cr_expect_str_eq(options.toolboxes[0], "a");
	cr_expect_str_eq(options.toolboxes[1], "b");
	cr_expect_str_eq(options.toolbox_id, "a");
}

Test(ctl_options, stand_anywhere_and_take_values_in_two_ways)
{
	cr_assert_eq(read_line("--bus ws://a invoke --toolbox=b=c n --timeout 0.5 -h"), 0);
	cr_expect_eq(options.n_positional, 2);
	cr_expect_str_eq(options.positional[1], "n");
	cr_expect_str_eq(options.bus, "ws://a");
	cr_expect_str_eq(options.toolbox_id, "b=c");
	cr_expect_eq(options.timeout_ms, 500);
	cr_expect(options.help);
	cr_expect_null(
		ctl_options_other(&options, CTL_FLAG_COMMON | CTL_FLAG_BUS | CTL_FLAG_TOOLBOX));
}

Test(ctl_options, end_at_two_dashes_and_leave_one_alone)
{
	cr_assert_eq(read_line("invoke - -- --json --"), 0);
	cr_expect_eq(options.n_positional, 4);
	cr_expect_str_eq(options.positional[1], "-");
	cr_expect_str_eq(options.positional[2], "--json");
	cr_expect_str_eq(options.positional[3], "--");
	cr_expect_not(options.json);
}

Test(ctl_options, leave_the_words_after_command_alone)
{
	static const char *const words[] = {"npx", "-y", "--json", "-h"};

	cr_assert_eq(read_line("new a --command npx -y --json -h"), 0);
	cr_expect_eq(options.n_positional, 2);
	cr_expect_not(options.json || options.help);
	cr_assert_eq(options.n_command, sizeof(words) / sizeof(*words));
	for (size_t i = 0; i < options.n_command; i++)
		cr_expect_str_eq(options.command[i], words[i]);
	cr_expect_str_eq(ctl_options_other(&options, CTL_FLAG_COMMON), "--command");
	cr_assert_eq(read_line("new a --command npx"), 0);
	cr_expect_eq(options.n_command, 1);
	cr_assert_eq(read_line("new a --kind mcp -- npx -y"), 0);
	cr_expect_eq(options.n_command, 2);
}

Test(ctl_options, take_arguments_of_a_call_and_none_to_watch_them)
{
	cr_assert_eq(read_line("invoke --args {} add"), 0);
	cr_expect_str_eq(options.args, "{}");
	cr_expect_not(options.shows_arguments);
	cr_assert_eq(read_line("--json watch --arguments --count 1"), 0);
	cr_expect(options.shows_arguments);
	cr_expect_null(options.args);
	cr_expect_str_eq(options.count, "1");
	cr_expect_null(ctl_options_other(&options, CTL_FLAG_COMMON | CTL_FLAG_EVENTS));
	cr_expect_str_eq(ctl_options_value("--args"), "JSON");
	cr_expect_null(ctl_options_value("--arguments"));
}

static void expect_refused(const char *line, const char *words)
{
	cr_expect_eq(read_line(line), CTL_OPTIONS_E_USAGE, "%s", line);
	cr_expect(reason.data && strstr(reason.data, words), "%s: %s", line, reason.data);
}

Test(ctl_options, refuse_what_is_unknown_and_name_what_is_near)
{
	expect_refused("list --jsn", "unknown flag '--jsn'; did you mean --json?");
	expect_refused("list --tollbox=x", "unknown flag '--tollbox'; did you mean --toolbox?");
	expect_refused("list -x", "unknown flag '-x'");
}

Test(ctl_options, refuse_a_value_too_few_or_too_many)
{
	expect_refused("list --bus", "--bus needs a value: --bus URL");
	expect_refused("list --json=yes", "--json takes no value");
	expect_refused("watch --arguments={}", "--arguments takes no value");
	expect_refused("invoke --args", "--args needs a value: --args JSON");
	expect_refused("new a --command", "--command needs a program");
	expect_refused("new a --command=npx", "--command needs a program");
}

Test(ctl_options, refuse_a_timeout_that_is_no_time)
{
	static const char *const wrong[] = {"list --timeout soon", "list --timeout 0",
		"list --timeout -1", "list --timeout 1s", "list --timeout nan",
		"list --timeout 86401", "list --timeout="};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		expect_refused(wrong[i], "--timeout must be a number of seconds up to 86400");
}

Test(ctl_options, help_with_the_flags_of_a_command)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	ctl_options_write_help(CTL_FLAG_LINES, 80, &text);
	cr_expect_str_eq(buffer_terminate(&text), "  --lines            one instance per line\n");
}

Test(ctl_options, name_the_flag_that_was_given_and_not_one_like_it)
{
	cr_assert_eq(read_line("list --json --raw --long"), 0);
	cr_expect_str_eq(ctl_options_other(&options, CTL_FLAG_COMMON | CTL_FLAG_LONG), "--raw");
	cr_expect_str_eq(ctl_options_other(&options, CTL_FLAG_ARGS | CTL_FLAG_LONG), "--json");
	cr_expect_null(
		ctl_options_other(&options, CTL_FLAG_ARGS | CTL_FLAG_LONG | CTL_FLAG_COMMON));
}
