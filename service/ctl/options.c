/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/terminal.h"
#include "util/array.h"
#include "util/text/text.h"

_Static_assert(CTL_TIMEOUT_MS == 5000, "as the help of --timeout has it");

struct flag {
	const char *name;
	const char *value; /* the name of its value, for usage; NULL: it takes none */
	const char *help;
	unsigned int group; /* CTL_FLAG_… */
	size_t offset;      /* the offset of its member: text, a bool when it takes no value, or
	                * timeout_ms */
};

/* The column of a help text where what a flag does begins. */
#define HELP_COLUMN 21u

#define MEMBER(name) offsetof(struct ctl_options, name)

/* In the order of help texts. */
static const struct flag flags[] = {
	{"--toolbox", "ID", "only this toolbox", CTL_FLAG_TOOLBOX, MEMBER(toolbox_id)},
	{"--profile", "NAME", "only tools that this profile grants", CTL_FLAG_PROFILE,
		MEMBER(profile)},
	{"--format", "FORMAT", "full, compact, openai, anthropic, mcp or markdown", CTL_FLAG_FORMAT,
		MEMBER(format)},
	{"--long", NULL, "the parameters and results of each tool", CTL_FLAG_LONG, MEMBER(is_long)},
	{"--stat", NULL, "what the format takes of a model's context, by toolbox", CTL_FLAG_FORMAT,
		MEMBER(stat)},
	{"--why", NULL, "also list what is not offered, and why", CTL_FLAG_WHY, MEMBER(why)},
	{"--offline", NULL, "without a daemon: list what a daemon would offer", CTL_FLAG_OFFLINE,
		MEMBER(offline)},
	{"--toolbox-dir", "DIR", "the folder of toolboxes in place of the default ones",
		CTL_FLAG_DIR, MEMBER(toolbox_dir)},
	{"--standalone", NULL, "without a daemon: a service that lives as long as this command",
		CTL_FLAG_MCP, MEMBER(standalone)},
	{"--bare", NULL, "tools by their own names, where only one tool has it", CTL_FLAG_MCP,
		MEMBER(bare)},
	{"--lazy", NULL, "list three tools, which search, describe and call the others",
		CTL_FLAG_MCP, MEMBER(lazy)},
	{"--kind", "KIND", "the kind of the toolbox", CTL_FLAG_KIND, MEMBER(kind)},
	{"--from-skill", "SKILL", "a skill of OVOS on the bus: its functions and intents",
		CTL_FLAG_KIND, MEMBER(skill)},
	{"--from-header", "H", "a C header of a library: its functions", CTL_FLAG_KIND,
		MEMBER(from_header)},
	{"--from-gir", "NAME", "a GIR file, such as GLib-2.0: its functions", CTL_FLAG_KIND,
		MEMBER(gir)},
	{"--library", "L", "from a header: the shared library, or several: a.so,b.so",
		CTL_FLAG_KIND, MEMBER(library)},
	{"--only", "GLOBS", "from a header: only these functions: 'crc32*,adler32'", CTL_FLAG_KIND,
		MEMBER(only)},
	{"--risk", "RISK", "from a header: read, write or execute", CTL_FLAG_KIND, MEMBER(risk)},
	{"--out", "FILE", "from a skill: the manifest that is written", CTL_FLAG_KIND, MEMBER(out)},
	{"--url", "URL", "mcp: where the server is", CTL_FLAG_KIND, MEMBER(url)},
	{"--env", "NAME=VALUE", "mcp: a variable for the server; NAME alone: that of toolboxd",
		CTL_FLAG_KIND, MEMBER(variable)},
	{"--header", "TEXT",
		"new, of kind mcp: 'NAME: VALUE' for requests to the server; check: a C header",
		CTL_FLAG_KIND | CTL_FLAG_HEADER, MEMBER(header)},
	{"--pkg", "NAME", "the package of a C header, whose words pkg-config knows",
		CTL_FLAG_HEADER | CTL_FLAG_KIND, MEMBER(pkg)},
	{"--cflags", "WORDS", "further words for the C compiler that reads a header",
		CTL_FLAG_HEADER | CTL_FLAG_KIND, MEMBER(cflags)},
	{"--command", "WORDS", "mcp: how the server is started: all words that follow",
		CTL_FLAG_KIND, MEMBER(command)},
	{"--args", "JSON", "all arguments as one JSON object", CTL_FLAG_ARGS, MEMBER(args)},
	{"--dry-run", NULL, "check the arguments, run nothing", CTL_FLAG_DRY_RUN, MEMBER(dry_run)},
	{"--background", NULL, "begin a job and leave: see jobs", CTL_FLAG_DRY_RUN,
		MEMBER(background)},
	{"--raw", NULL, "print the text of the result as it is; decode bytes", CTL_FLAG_ARGS,
		MEMBER(raw)},
	{"--get", "PATH", "print one value of the response: result.loud, result.list.0",
		CTL_FLAG_ARGS, MEMBER(get)},
	{"--yes", NULL, "answer yes yourself where a person would be asked", CTL_FLAG_ARGS,
		MEMBER(yes)},
	{"--file", "FILE", "without a daemon: run the tool of this manifest", CTL_FLAG_FILE,
		MEMBER(file)},
	{"--trace-files", NULL, "list the paths that it tried and that no rule allows",
		CTL_FLAG_FILE, MEMBER(trace_files)},
	{"--all", NULL, "also the examples of tools that write or execute", CTL_FLAG_ALL,
		MEMBER(all)},
	{"--run", NULL, "call the examples of tools that read, and compare", CTL_FLAG_RUN,
		MEMBER(run)},
	{"--lines", NULL, "one instance per line", CTL_FLAG_LINES, MEMBER(lines)},
	{"--running", NULL, "only calls in flight", CTL_FLAG_CALLS, MEMBER(running)},
	{"--failed", NULL, "only calls that failed", CTL_FLAG_CALLS | CTL_FLAG_EVENTS,
		MEMBER(failed)},
	{"--since", "TIME", "only calls since then: 10m, 2h, 3d ago, or 2026-11-23T10:00",
		CTL_FLAG_PAST, MEMBER(since)},
	{"--tool", "NAME", "only calls of this tool", CTL_FLAG_TOOL, MEMBER(tool)},
	{"--source", "TEXT", "only calls of this source", CTL_FLAG_PAST | CTL_FLAG_EVENTS,
		MEMBER(source)},
	{"--ended", NULL, "only the end of each call", CTL_FLAG_EVENTS, MEMBER(ended)},
	{"--arguments", NULL, "the arguments of each call, too, if its event has them",
		CTL_FLAG_EVENTS, MEMBER(shows_arguments)},
	{"--count", "N", "leave when so many calls have ended", CTL_FLAG_EVENTS, MEMBER(count)},
	{"--show", NULL, "show the changes, and accept none", CTL_FLAG_SHOW, MEMBER(show)},
	{"--allowed", NULL, "list the tools that never ask, and since when", CTL_FLAG_ALLOWED,
		MEMBER(allowed)},
	{"--for", "TIME", "not for good: 30s, 10m, 2h, 3d from now", CTL_FLAG_FOR, MEMBER(span)},
	{"--watch", NULL, "go on until it is interrupted", CTL_FLAG_WATCH, MEMBER(watch)},
	{"--session", NULL, "not this call only: the tool, for the session", CTL_FLAG_SESSION,
		MEMBER(session)},
	{"--reason", "TEXT", "the reason, for the caller", CTL_FLAG_REASON, MEMBER(reason)},
	{"--lang", "TAG", "the language of the words: en, de-AT", CTL_FLAG_LANG, MEMBER(lang)},
	{"--admin", NULL, "its holder may operate the service, too", CTL_FLAG_ADMIN, MEMBER(admin)},
	{"--new", NULL, "write a new key", CTL_FLAG_KEY, MEMBER(makes_new)},
	{"--force", NULL, "also in place of an old one", CTL_FLAG_KEY, MEMBER(force)},
	{"--bus", "URL", "the bus (else TOOLBOXD_BUS, mycroft.conf, ws://127.0.0.1:8181/core)",
		CTL_FLAG_BUS, MEMBER(bus)},
	{"--http", "URL",
		"over HTTP: http://HOST:PORT, https://HOST:PORT, unix:/PATH (TOOLBOXD_HTTP)",
		CTL_FLAG_HTTP, MEMBER(http)},
	{"--token-file", "FILE", "the token that is shown over HTTP", CTL_FLAG_HTTP,
		MEMBER(token_file)},
	{"--timeout", "SECONDS",
		"how long to wait for a response (5; reload: 60; invoke: the deadline of the tool)",
		CTL_FLAG_BUS, MEMBER(timeout_ms)},
	{"--json", NULL, "print the response as it came, on one line", CTL_FLAG_COMMON,
		MEMBER(json)},
	{"--help", NULL, "print this and exit", CTL_FLAG_COMMON, MEMBER(help)},
	{"--version", NULL, "print the version and exit", CTL_FLAG_COMMON, MEMBER(version)},
};
#define N_FLAGS ARRAY_SIZE(flags)
_Static_assert(N_FLAGS <= 64, "each flag has a bit of ctl_options.given");

/* Return the flag called @name of @size bytes, or NULL. */
static const struct flag *find_flag(const char *name, size_t size)
{
	if (size == 2 && memcmp(name, "-h", size) == 0)
		name = "--help", size = strlen(name);
	if (size == 2 && memcmp(name, "-V", size) == 0)
		name = "--version", size = strlen(name);
	for (size_t i = 0; i < N_FLAGS; i++)
		if (text_is(name, size, flags[i].name))
			return &flags[i];
	return NULL;
}

static void refuse_unknown_flag(const char *name, size_t size, struct buffer *reason)
{
	unsigned int least = UINT32_MAX;
	unsigned int distance;
	const char *nearest = NULL;

	for (size_t i = 0; i < N_FLAGS; i++) {
		if (!text_is_near(name, size, flags[i].name, strlen(flags[i].name), &distance))
			continue;
		if (distance >= least)
			continue;
		least = distance;
		nearest = flags[i].name;
	}
	buffer_printf(reason, "unknown flag '%.*s'", (int)size, name);
	if (nearest)
		buffer_printf(reason, "; did you mean %s?", nearest);
}

/* Read a number of seconds, which may have a fraction. */
static int parse_timeout(const char *text, uint64_t *ret_ms, struct buffer *reason)
{
	char *end;
	double seconds = strtod(text, &end);

	/* The comparison is false for NaN too. */
	if (end != text && !*end && seconds >= 0.001 && seconds <= CTL_TIMEOUT_MAX_S) {
		*ret_ms = (uint64_t)(seconds * 1000);
		return 0;
	}
	buffer_printf(reason, "--timeout must be a number of seconds up to %d, not '%s'",
		CTL_TIMEOUT_MAX_S, text);
	return CTL_OPTIONS_E_USAGE;
}

static void mark_given(struct ctl_options *options, const struct flag *flag)
{
	options->given |= UINT64_C(1) << (flag - flags);
}

/* Keep the @value (NULL: none) of a flag. */
static int keep_flag(struct ctl_options *options, const struct flag *flag, const char *value,
	struct buffer *reason)
{
	void *member = (char *)options + flag->offset;

	mark_given(options, flag);
	if (flag->value && !value) {
		buffer_printf(
			reason, "%s needs a value: %s %s", flag->name, flag->name, flag->value);
		return CTL_OPTIONS_E_USAGE;
	}
	if (!flag->value && value) {
		buffer_printf(reason, "%s takes no value", flag->name);
		return CTL_OPTIONS_E_USAGE;
	}
	if (!value)
		*(bool *)member = true;
	else if (flag->offset == MEMBER(timeout_ms)) {
		options->has_timeout = true;
		return parse_timeout(value, &options->timeout_ms, reason);
	} else
		*(const char **)member = value;
	if (flag->offset == MEMBER(toolbox_id))
		options->toolboxes[options->n_toolboxes++] = value;
	if (flag->offset == MEMBER(variable))
		options->variables[options->n_variables++] = value;
	if (flag->offset == MEMBER(header))
		options->headers[options->n_headers++] = value;
	if (flag->offset == MEMBER(from_header))
		options->from_headers[options->n_from_headers++] = value;
	return 0;
}

/* Take all words after the word at @argv[*at], --command or --, as a command line. */
static int take_command(
	struct ctl_options *options, int argc, char **argv, int *at, struct buffer *reason)
{
	static const char command_flag[] = "--command";

	if (strchr(argv[*at], '=') || *at + 1 == argc) {
		buffer_append_string(reason,
			"--command needs a program and its arguments, as words of "
			"their own: --command PROGRAM ...");
		return CTL_OPTIONS_E_USAGE;
	}
	mark_given(options, find_flag(command_flag, strlen(command_flag)));
	options->command = argv + *at + 1;
	options->n_command = (size_t)(argc - *at - 1);
	*at = argc;
	return 0;
}

/* Take the flag at @argv[*at], and move *at to a value in the next word. */
static int take_flag(
	struct ctl_options *options, int argc, char **argv, int *at, struct buffer *reason)
{
	const char *word = argv[*at];
	size_t size = strcspn(word, "=");
	const struct flag *flag = find_flag(word, size);
	const char *value = word[size] ? word + size + 1 : NULL;

	if (!flag) {
		refuse_unknown_flag(word, size, reason);
		return CTL_OPTIONS_E_USAGE;
	}
	if (flag->offset == MEMBER(command))
		return take_command(options, argc, argv, at, reason);
	if (flag->value && !value && *at + 1 < argc)
		value = argv[++*at];
	return keep_flag(options, flag, value, reason);
}

int ctl_options_read(
	int argc, char **argv, struct ctl_options *ret_options, struct buffer *ret_reason)
{
	struct ctl_options options = {.timeout_ms = CTL_TIMEOUT_MS};
	bool is_over = false; /* after `--` */
	int r = 0;

	options.positional = calloc((size_t)argc + 1, sizeof(*options.positional));
	options.toolboxes = calloc((size_t)argc + 1, sizeof(*options.toolboxes));
	options.variables = calloc((size_t)argc + 1, sizeof(*options.variables));
	options.headers = calloc((size_t)argc + 1, sizeof(*options.headers));
	options.from_headers = calloc((size_t)argc + 1, sizeof(*options.from_headers));
	if (!options.positional || !options.toolboxes || !options.variables || !options.headers ||
		!options.from_headers) {
		ctl_options_deinit(&options);
		return -ENOMEM;
	}
	for (int i = 0; r == 0 && i < argc; i++) {
		if (is_over || argv[i][0] != '-' || !argv[i][1])
			options.positional[options.n_positional++] = argv[i];
		else if (strcmp(argv[i], "--") == 0 && options.kind &&
			 strcmp(options.kind, "mcp") == 0)
			r = take_command(&options, argc, argv, &i, ret_reason);
		else if (strcmp(argv[i], "--") == 0)
			is_over = true;
		else
			r = take_flag(&options, argc, argv, &i, ret_reason);
	}
	if (r == 0) {
		*ret_options = options;
		return 0;
	}
	ctl_options_deinit(&options);
	return buffer_terminate(ret_reason) ? r : -ENOMEM;
}

void ctl_options_write_help(unsigned int groups, size_t width, struct buffer *out)
{
	size_t columns = width > 2ul * HELP_COLUMN ? width - HELP_COLUMN : 0;

	for (size_t i = 0; i < N_FLAGS; i++) {
		const struct flag *flag = &flags[i];
		int padding = (int)HELP_COLUMN - 4 - (int)strlen(flag->name);

		if (!(flag->group & groups))
			continue;
		buffer_printf(
			out, "  %s %-*s ", flag->name, padding, flag->value ? flag->value : "");
		terminal_append_wrapped(out, flag->help, strlen(flag->help), columns, HELP_COLUMN);
		buffer_append_char(out, '\n');
	}
}

const char *ctl_options_flag(unsigned int groups, size_t index)
{
	for (size_t i = 0; i < N_FLAGS; i++)
		if ((flags[i].group & groups) && index-- == 0)
			return flags[i].name;
	return NULL;
}

const char *ctl_options_value(const char *name)
{
	const struct flag *flag = find_flag(name, strlen(name));

	return flag ? flag->value : NULL;
}

const char *ctl_options_other(const struct ctl_options *options, unsigned int groups)
{
	for (size_t i = 0; i < N_FLAGS; i++)
		if ((options->given & UINT64_C(1) << i) && !(flags[i].group & groups))
			return flags[i].name;
	return NULL;
}

void ctl_options_deinit(struct ctl_options *options)
{
	free(options->positional);
	free(options->toolboxes);
	free(options->variables);
	free(options->headers);
	free(options->from_headers);
	*options = (struct ctl_options){0};
}
