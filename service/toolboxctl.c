/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"

/*
 * The command line client: the table of commands, and their common parts. ctl/ has the commands
 * themselves.
 */

#define WHICH_FLAGS (CTL_FLAG_TOOLBOX | CTL_FLAG_PROFILE)

static const struct ctl_command commands[] = {
	{"list", "", "list the tools that are offered",
		"With --format the list is printed as JSON for a model.\n",
		WHICH_FLAGS | CTL_FLAG_FORMAT | CTL_FLAG_WHY | CTL_FLAG_OFFLINE, 0, 0, ctl_list},
	{"get", "NAME", "show how to call a tool", "NAME is a tool, or TOOLBOX/TOOL.\n",
		WHICH_FLAGS, 1, 1, ctl_get},
	{"invoke", "NAME [KEY=VALUE | KEY:=JSON | -]...", "run a tool",
		"NAME is a tool, or TOOLBOX/TOOL. In KEY=VALUE the value is text where the tool "
		"wants text,\nand JSON or text elsewhere; in KEY:=JSON it is always JSON. A '-' "
		"alone "
		"reads one\nJSON object with all arguments from stdin. The result is printed as "
		"JSON.\n",
		WHICH_FLAGS | CTL_FLAG_ARGS | CTL_FLAG_DRY_RUN, 1, CTL_MANY, ctl_invoke},
	{"reload", "", "reload the configuration and the toolboxes", "", 0, 0, 0, ctl_reload},
	{"status", "", "show the state of the service and its toolboxes", "", 0, 0, 0, ctl_status},
	{"watch", "", "print calls as they happen",
		"It runs until it is interrupted. With --json it prints one line of JSON per "
		"event.\n",
		0, 0, 0, ctl_watch},
	{"match", "TEXT", "find the tool that an utterance means",
		"The first tool, in the order of `list`, with a trigger that matches.\n", 0, 1, 1,
		ctl_match},
	{"check", "FILE...", "check manifests (needs no daemon)",
		"Prints problems as `error|warning FILE:LINE PATH: text` on stderr, and a "
		"summary.\n",
		0, 1, CTL_MANY, ctl_check},
	{"validate", "SCHEMA INSTANCE...", "check JSON against a JSON Schema (needs no daemon)",
		"The schema is draft 2020-12, or draft-07 when $schema names it. '-' is stdin.\n",
		CTL_FLAG_LINES, 2, CTL_MANY, ctl_validate},
	{"new", "ID", "write a new toolbox into the folder ID (needs no daemon)",
		"It has a manifest, sources, CMakeLists.txt and tests, and builds as it is. KIND "
		"is\n"
		"native: a C library that does not know toolboxd; plugin: a library with "
		"toolbox.h;\n"
		"command: programs and shell lines; programs: a folder where each program is a "
		"tool;\npython: a package of ToolBox plugins.\n",
		CTL_FLAG_KIND, 1, 1, ctl_new},
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static const char statuses[] =
	"\nExit status: 0 done; 1 the response is an error, or a file is not valid; 2 usage;\n"
	"3 no bus, or no service on it; 4 the service is alive but did not respond, or the\n"
	"tool timed out.\n";

static const struct ctl_command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int refuse_command(const char *name)
{
	const struct ctl_command *nearest = NULL;
	unsigned int least = UINT_MAX;
	unsigned int distance;

	for (size_t i = 0; i < N_COMMANDS; i++) {
		const char *known = commands[i].name;

		if (!text_is_near(name, strlen(name), known, strlen(known), &distance))
			continue;
		if (distance >= least)
			continue;
		least = distance;
		nearest = &commands[i];
	}
	if (nearest)
		terminal_complain("unknown command '%s'; did you mean '%s'?", name, nearest->name);
	else
		terminal_complain("unknown command '%s'; see toolboxctl --help", name);
	return CTL_USAGE;
}

static void write_program_help(struct buffer *out)
{
	buffer_append_string(out, "Usage: toolboxctl COMMAND [FLAG]... [ARGUMENT]...\n"
				  "Talks to toolboxd, the tool service on the message bus.\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		buffer_printf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	buffer_append_string(
		out, "\nFlags of all commands (toolboxctl COMMAND --help for others):\n");
	ctl_options_write_help(CTL_FLAG_COMMON, out);
	buffer_append_string(out, statuses);
}

static void write_command_help(const struct ctl_command *command, struct buffer *out)
{
	buffer_printf(out, "Usage: toolboxctl %s [FLAG]...%s%s\n", command->name,
		*command->arguments ? " " : "", command->arguments);
	buffer_printf(
		out, "%c%s.\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
	buffer_printf(out, "%s%s\n", *command->help ? "\n" : "", command->help);
	ctl_options_write_help(command->flags, out);
	ctl_options_write_help(CTL_FLAG_COMMON, out);
}

static int print_help(const struct ctl_command *command)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (command)
		write_command_help(command, &text);
	else
		write_program_help(&text);
	terminal_print(&text);
	return CTL_DONE;
}

/* Check that the command takes these flags and this number of arguments. */
static int check_usage(const struct ctl_command *command, const struct ctl_options *options)
{
	unsigned int others = options->given & ~(command->flags | CTL_FLAG_COMMON);
	size_t n_arguments = options->n_positional - 1;

	if (others)
		terminal_complain("%s takes no %s", command->name, ctl_options_name(others));
	else if (n_arguments < command->n_least)
		terminal_complain("%s needs more arguments: toolboxctl %s %s", command->name,
			command->name, command->arguments);
	else if (n_arguments > command->n_most)
		terminal_complain("%s takes no '%s'", command->name,
			options->positional[command->n_most + 1]);
	else
		return 0;
	return CTL_USAGE;
}

static int run(const struct ctl_options *options)
{
	const struct ctl_command *command;
	int r;

	if (options->version) {
		puts("toolboxctl " TOOLBOXD_VERSION);
		return CTL_DONE;
	}
	if (options->n_positional == 0 && options->help)
		return print_help(NULL);
	if (options->n_positional == 0) {
		terminal_complain("a command is missing; see toolboxctl --help");
		return CTL_USAGE;
	}
	command = find_command(options->positional[0]);
	if (!command)
		return refuse_command(options->positional[0]);
	if (options->help)
		return print_help(command);
	r = check_usage(command, options);
	return r == 0 ? command->run(options) : r;
}

int main(int argc, char **argv)
{
	cleanup(ctl_options_deinit) struct ctl_options options = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r;

	/* For the widths of characters; numbers stay as they are. */
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	r = ctl_options_read(argc - 1, argv + 1, &options, &reason);
	if (r == 0) {
		r = run(&options);
	} else {
		terminal_complain("%s", r > 0 ? reason.data : strerror(-r));
		r = CTL_USAGE;
	}
	if (fflush(stdout) == 0 && !ferror(stdout))
		return r;
	terminal_complain("the output cannot be written");
	return r == CTL_DONE ? CTL_ERROR : r;
}
