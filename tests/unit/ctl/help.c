/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/help.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "answering.h"

TestSuite(ctl_help, .timeout = 60);

static const struct ctl_command commands[] = {
	{"list", "[NAME...]", "list the tools", "NAMES are tools.\nOr parts.\n",
		"  toolboxctl list a\n", CTL_FLAG_TOOLBOX, 0, CTL_MANY, NULL},
	{"invoke", "NAME [KEY=VALUE | KEY:=JSON | KEY=@FILE | -]...", "run a tool", "", "", 0, 1,
		CTL_MANY, NULL},
	{"version", "", "print the version", "", "", 0, 0, 0, NULL},
	{"complete", "", "", "", "", 0, 0, 0, NULL},
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static const char *refused(const char *name)
{
	capture_begin();
	help_refuse_command(commands, N_COMMANDS, name);
	capture_end();
	return command_complaints;
}

Test(ctl_help, guesses_the_command_that_is_meant)
{
	static const char *const cases[][2] = {
		{"lits", "unknown command 'lits'; is 'list' meant?"},
		{"run", "unknown command 'run'; is 'invoke' meant?"},
		{"call", "unknown command 'call'; is 'invoke' meant?"},
		{"ls", "unknown command 'ls'; is 'list' meant?"},
		{"top", "unknown command 'top'; is 'status' meant?"},
		{"install", "unknown command 'install'; is 'help manifest' meant?"},
		{"stop", "unknown command 'stop'; a signal stops toolboxd: sudo systemctl stop "
			 "toolboxd (or --user)"},
		{"logs", "unknown command 'logs'; toolboxd logs to its stderr, under systemd: "
			 "journalctl -u toolboxd (or --user)"},
		{"serve", "unknown command 'serve'; toolboxd is the service: toolboxd, or sudo "
			  "systemctl start toolboxd"},
		{"zzzzzz", "unknown command 'zzzzzz'; see toolboxctl --help"},
		/* A hidden command is not offered. */
		{"complet", "unknown command 'complet'; see toolboxctl --help"},
		{"", "unknown command ''; see toolboxctl --help"},
	};
	char expected[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(expected, sizeof(expected), "toolboxctl: %s\n", cases[i][1]);
		cr_expect_str_eq(refused(cases[i][0]), expected, "%s", command_complaints);
	}
}

Test(ctl_help, lists_commands_flags_and_topics)
{
	capture_begin();
	help_print_program(commands, N_COMMANDS);
	capture_end();
	expect_output("Usage: toolboxctl COMMAND [FLAG]... [ARGUMENT]...\n");
	expect_output("\n  list          list the tools\n  invoke        run a tool\n");
	cr_expect_null(strstr(command_output, "complete"));
	expect_output("\n  --json ");
	expect_output("\n  --bus ");
	expect_output("\n  exit-status    what the exit status means\n");
}

Test(ctl_help, describes_a_command_with_its_flags_and_examples)
{
	capture_begin();
	help_print_command(&commands[0]);
	capture_end();
	cr_expect_eq(strncmp(command_output,
			     "Usage: toolboxctl list [FLAG]... [NAME...]\n"
			     "List the tools.\n"
			     "\n"
			     "NAMES are tools. Or parts.\n"
			     "\n"
			     "  --toolbox ",
			     strlen("Usage: toolboxctl list [FLAG]... [NAME...]\n"
				    "List the tools.\n"
				    "\n"
				    "NAMES are tools. Or parts.\n"
				    "\n"
				    "  --toolbox ")),
		0, "%s", command_output);
	expect_output("\n  --json ");
	expect_output("\nExamples:\n  toolboxctl list a\n");
	capture_begin();
	help_print_command(&commands[2]);
	capture_end();
	expect_output("Usage: toolboxctl version [FLAG]...\nPrint the version.\n\n  --");
	cr_expect_null(strstr(command_output, "Examples"));
}

Test(ctl_help, has_a_text_for_each_topic_that_it_lists)
{
	size_t n = 0;

	for (; help_topic_name(n); n++) {
		capture_begin();
		cr_expect(help_print_topic(help_topic_name(n)));
		capture_end();
		cr_expect_gt(strlen(command_output), 200, "%s", help_topic_name(n));
		for (const char *line = command_output; *line;) {
			size_t size = strcspn(line, "\n");

			cr_expect_leq(size, 100, "%s: %.*s", help_topic_name(n), (int)size, line);
			line += size + 1;
		}
	}
	cr_expect_geq(n, 10);
	capture_begin();
	cr_expect_not(help_print_topic("nothing"));
	cr_expect_not(help_print_topic(""));
	capture_end();
	cr_expect_str_empty(command_output);
}
