/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ctl/guess.h"
#include "ctl/terminal.h"
#include "manifest/dropin/head.h"
#include "util/array.h"

_Static_assert(DROPIN_LINES_MAX == 64, "as manifest.txt has it");

extern const char help_approval[];
extern const char help_arguments[];
extern const char help_configuration[];
extern const char help_environment[];
extern const char help_exit_status[];
extern const char help_formats[];
extern const char help_manifest[];
extern const char help_policy[];
extern const char help_sandbox[];
extern const char help_types[];

static const struct {
	const char *name;
	const char *summary;
	const char *text;
} topics[] = {
	{"approval", "when a person is asked, and how to answer", help_approval},
	{"arguments", "how to write the arguments of a tool", help_arguments},
	{"configuration", "where settings are, and the most useful ones", help_configuration},
	{"environment", "the variables that toolboxctl and toolboxd read", help_environment},
	{"exit-status", "what the exit status means", help_exit_status},
	{"formats", "listings for language models", help_formats},
	{"manifest", "what a toolbox is, and where it goes", help_manifest},
	{"policy", "who may use which tools", help_policy},
	{"sandbox", "what a toolbox may do", help_sandbox},
	{"types", "types of native parameters", help_types},
};
#define N_TOPICS ARRAY_SIZE(topics)

/* A word of other programs, and what we have for it. */
struct other_word {
	const char *word;
	const char *ours;
};

/* The words of other programs for our commands. */
static const struct other_word other_words[] = {
	{"add", "help manifest"},
	{"call", "invoke"},
	{"config", "help configuration"},
	{"create", "new"},
	{"describe", "get"},
	{"events", "watch"},
	{"exec", "invoke"},
	{"execute", "invoke"},
	{"find", "list"},
	{"history", "calls"},
	{"info", "get"},
	{"init", "new"},
	{"inspect", "get"},
	{"install", "help manifest"},
	{"kill", "cancel"},
	{"lint", "check"},
	{"ls", "list"},
	{"monitor", "watch"},
	{"ps", "calls"},
	{"refresh", "reload"},
	{"restart", "reload"},
	{"run", "invoke"},
	{"schema", "get"},
	{"show", "get"},
	{"tail", "watch"},
	{"tools", "list"},
	{"top", "status"},
};

/* Words of other programs for what is not done by toolboxctl. */
static const struct other_word other_places[] = {
	{"log", "toolboxd logs to its stderr, under systemd: journalctl -u toolboxd (or --user)"},
	{"logs", "toolboxd logs to its stderr, under systemd: journalctl -u toolboxd (or --user)"},
	{"serve", "toolboxd is the service: toolboxd, or sudo systemctl start toolboxd"},
	{"start", "toolboxd is the service: toolboxd, or sudo systemctl start toolboxd"},
	{"stop", "a signal stops toolboxd: sudo systemctl stop toolboxd (or --user)"},
};

/* ── the right word ──────────────────────────────────────────────────────────────────────────── */

/* Return what the @n_words @words have for @name, or NULL. */
static const char *find_other_word(const struct other_word *words, size_t n_words, const char *name)
{
	for (size_t i = 0; i < n_words; i++)
		if (strcmp(words[i].word, name) == 0)
			return words[i].ours;
	return NULL;
}

void help_refuse_command(const struct ctl_command *commands, size_t n_commands, const char *name)
{
	const char *place = find_other_word(other_places, ARRAY_SIZE(other_places), name);
	const char *word = find_other_word(other_words, ARRAY_SIZE(other_words), name);
	cleanup(guess_deinit) struct token_guess guess = {.wanted = name};

	for (size_t i = 0; i < n_commands; i++)
		if (*commands[i].summary)
			guess_compare(&guess, commands[i].name);
	if (place)
		terminal_complain("unknown command '%s'; %s", name, place);
	else if (word || guess.name)
		terminal_complain(
			"unknown command '%s'; is '%s' meant?", name, word ? word : guess.name);
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
		if (*commands[i].summary)
			buffer_printf(&out, "  %-13s %s\n", commands[i].name, commands[i].summary);
	buffer_append_string(
		&out, "\nFlags of most commands (toolboxctl COMMAND --help for others):\n");
	ctl_options_write_help(CTL_FLAG_BUS | CTL_FLAG_COMMON, terminal_text_width(), &out);
	buffer_append_string(&out, "\nExamples:\n"
				   "  toolboxctl list --long\n"
				   "  toolboxctl invoke add a=3 b=4\n"
				   "  toolboxctl status\n");
	buffer_append_string(&out, "\nTopics (toolboxctl help TOPIC):\n");
	for (size_t i = 0; i < N_TOPICS; i++)
		buffer_printf(&out, "  %-14s %s\n", topics[i].name, topics[i].summary);
	terminal_print(&out);
}

/* Append the lines of @text as one paragraph of @width columns. */
static void append_paragraph(struct buffer *out, const char *text, size_t width)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	size_t size = strlen(text);

	while (size > 0 && text[size - 1] == '\n')
		size--;
	terminal_append_line(&line, text, size);
	buffer_fail_with(out, &line);
	if (line.size > 0)
		terminal_append_wrapped(out, line.data, line.size, width, 0);
	buffer_append_char(out, '\n');
}

void help_print_command(const struct ctl_command *command)
{
	static const char usage_word[] = "Usage: ";
	cleanup(buffer_deinit) struct buffer usage = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t width = terminal_text_width();

	buffer_printf(&usage, "toolboxctl %s [FLAG]...%s%s", command->name,
		*command->arguments ? " " : "", command->arguments);
	buffer_fail_with(&out, &usage);
	buffer_append_string(&out, usage_word);
	if (usage.size > 0)
		terminal_append_wrapped(&out, usage.data, usage.size, width - strlen(usage_word),
			strlen(usage_word));
	buffer_printf(&out, "\n%c%s.\n", toupper((unsigned char)command->summary[0]),
		command->summary + 1);
	buffer_append_char(&out, '\n');
	if (*command->help) {
		append_paragraph(&out, command->help, width);
		buffer_append_char(&out, '\n');
	}
	ctl_options_write_help(command->flags, width, &out);
	ctl_options_write_help(CTL_FLAG_COMMON, width, &out);
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

const char *help_topic_name(size_t index)
{
	return index < N_TOPICS ? topics[index].name : NULL;
}
