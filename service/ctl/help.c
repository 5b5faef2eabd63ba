/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ctl/terminal.h"
#include "util/cleanup.h"
#include "util/text.h"

extern const char help_arguments[];
extern const char help_manifest[];
extern const char help_types[];

static const struct {
	const char *name;
	const char *summary;
	const char *text;
} topics[] = {
	{"arguments", "how to write the arguments of a tool", help_arguments},
	{"manifest", "what a toolbox is, and where it goes", help_manifest},
	{"types", "types of native parameters", help_types},
};
#define N_TOPICS (sizeof(topics) / sizeof(*topics))

/* The words of other programs for our commands. */
static const struct {
	const char *word;
	const char *command;
} other_words[] = {
	{"call", "invoke"},
	{"create", "new"},
	{"describe", "get"},
	{"events", "watch"},
	{"exec", "invoke"},
	{"info", "get"},
	{"init", "new"},
	{"inspect", "get"},
	{"lint", "check"},
	{"ls", "list"},
	{"ps", "status"},
	{"refresh", "reload"},
	{"restart", "reload"},
	{"run", "invoke"},
	{"schema", "get"},
	{"show", "get"},
	{"tail", "watch"},
	{"tools", "list"},
};

static const char statuses[] =
	"\nExit status: 0 done; 1 the response is an error, or a file is not valid; 2 usage;\n"
	"3 no bus, or no service on it; 4 the service is alive but did not respond, or the\n"
	"tool timed out.\n";

/* ── the right word ──────────────────────────────────────────────────────────────────────────── */

struct guess {
	const char *name; /* or NULL */
	unsigned int distance;
};

static void compare(struct guess *guess, const char *name, const char *candidate)
{
	unsigned int distance;

	if (!text_is_near(name, strlen(name), candidate, strlen(candidate), &distance) ||
		(guess->name && distance >= guess->distance))
		return;
	guess->name = candidate;
	guess->distance = distance;
}

static const char *find_near(
	const struct ctl_command *commands, size_t n_commands, const char *name)
{
	struct guess guess = {0};

	for (size_t i = 0; i < sizeof(other_words) / sizeof(*other_words); i++)
		if (strcmp(other_words[i].word, name) == 0)
			return other_words[i].command;
	for (size_t i = 0; i < n_commands; i++)
		compare(&guess, name, commands[i].name);
	return guess.name;
}

void help_refuse_command(const struct ctl_command *commands, size_t n_commands, const char *name)
{
	const char *near = find_near(commands, n_commands, name);

	if (near)
		terminal_complain("unknown command '%s'; did you mean '%s'?", name, near);
	else if (strcmp(name, "log") == 0 || strcmp(name, "logs") == 0)
		terminal_complain("unknown command '%s'; toolboxd logs to its stderr, under "
				  "systemd: journalctl -u toolboxd (or --user)",
			name);
	else
		terminal_complain("unknown command '%s'; see toolboxctl --help", name);
}

/* ── help ────────────────────────────────────────────────────────────────────────────────────── */

void help_print_program(const struct ctl_command *commands, size_t n_commands)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&out, "Usage: toolboxctl COMMAND [FLAG]... [ARGUMENT]...\n"
				   "Talks to toolboxd, the tool service on the message bus.\n\n");
	for (size_t i = 0; i < n_commands; i++)
		buffer_printf(&out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	buffer_append_string(
		&out, "\nFlags of most commands (toolboxctl COMMAND --help for others):\n");
	ctl_options_write_help(CTL_FLAG_BUS | CTL_FLAG_COMMON, &out);
	buffer_append_string(&out, "\nTopics (toolboxctl help TOPIC):\n");
	for (size_t i = 0; i < N_TOPICS; i++)
		buffer_printf(&out, "  %-9s %s\n", topics[i].name, topics[i].summary);
	buffer_append_string(&out, statuses);
	terminal_print(&out);
}

void help_print_command(const struct ctl_command *command)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_printf(&out, "Usage: toolboxctl %s [FLAG]...%s%s\n", command->name,
		*command->arguments ? " " : "", command->arguments);
	buffer_printf(
		&out, "%c%s.\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
	buffer_printf(&out, "%s%s\n", *command->help ? "\n" : "", command->help);
	ctl_options_write_help(command->flags, &out);
	ctl_options_write_help(CTL_FLAG_COMMON, &out);
	if (*command->examples)
		buffer_printf(&out, "\nExamples:\n%s", command->examples);
	terminal_print(&out);
}

bool help_print_topic(const char *name)
{
	for (size_t i = 0; i < N_TOPICS; i++) {
		if (strcmp(topics[i].name, name) != 0)
			continue;
		fputs(topics[i].text, stdout);
		return true;
	}
	return false;
}
