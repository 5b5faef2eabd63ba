/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/complete.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl/add/added.h"
#include "ctl/calls/query.h"
#include "ctl/calls/row.h"
#include "ctl/help/help.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "util/array.h"
#include "util/cleanup.h"

/* A command line up to the cursor. */
struct line {
	const struct ctl_command *command; /* NULL: it is the word that is completed */
	struct ctl_options options;        /* read up to the last word */
	const char *last;                  /* the word that is completed */
	struct buffer out;                 /* the words that fit */
};

static void offer(struct line *line, const char *word)
{
	if (strncmp(word, line->last, strlen(line->last)) != 0)
		return;
	terminal_append_line(&line->out, word, strlen(word));
	buffer_append_char(&line->out, '\n');
}

static void offer_each(struct line *line, const char *const *words, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		offer(line, words[i]);
}

/* ── words of the service ────────────────────────────────────────────────────────────────────── */

/* Ask for the list of tools, or for the definition of the tool that the line names. Return whether
 * there is a response. */
static bool ask_service(const struct line *line, const char *topic, const char *name,
	struct ctl_response *ret_response)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = 0;

	ctl_request_begin(&data);
	if (name)
		r = ctl_request_tool(&data, name, &line->options);
	ctl_request_end(&data);
	return r == 0 && ctl_session_open(&line->options, &session) == 0 &&
	       ctl_session_ask(session, topic, &data, ret_response) == 0 &&
	       ctl_response_status(ret_response) == CTL_DONE;
}

/* Offer the toolboxes, or the tools: by their names alone unless the word has a slash. */
static void offer_tools(struct line *line, bool are_toolboxes)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	const struct json_tape *tape = &response.tape;
	bool has_slash = strchr(line->last, '/');
	uint32_t tools;
	uint32_t last = JSON_NONE; /* the toolbox of the tool before */

	if (!ask_service(line, "ovos.tools.list", NULL, &response))
		return;
	tools = ctl_response_find(&response, 0, "tools", JSON_ARRAY);
	if (tools == JSON_NONE)
		return;
	json_each(i, tape, tools) {
		cleanup(buffer_deinit) struct buffer word = {0};
		uint32_t id = ctl_response_find(&response, i, "toolbox_id", JSON_STRING);
		uint32_t name = ctl_response_find(&response, i, "name", JSON_STRING);

		if (id == JSON_NONE || name == JSON_NONE)
			continue;
		if (has_slash || are_toolboxes)
			json_string_decode(tape, id, &word);
		if (has_slash && !are_toolboxes)
			buffer_append_char(&word, '/');
		if (!are_toolboxes)
			json_string_decode(tape, name, &word);
		if (are_toolboxes && last != JSON_NONE && json_strings_equal(tape, id, tape, last))
			continue;
		last = id;
		if (buffer_terminate(&word))
			offer(line, word.data);
	}
}

/* Whether the line gives the argument of the @size bytes at @key already. */
static bool has_argument(const struct line *line, const char *key, size_t size)
{
	for (size_t i = 2; i < line->options.n_positional; i++) {
		const char *word = line->options.positional[i];

		if (strncmp(word, key, size) == 0 &&
			(word[size] == '=' || strncmp(word + size, ":=", strlen(":=")) == 0))
			return true;
	}
	return false;
}

/* Offer the arguments of the tool of the line that it lacks, each as `KEY=`. */
static void offer_arguments(struct line *line)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	const struct json_tape *tape = &response.tape;
	uint32_t schema;
	uint32_t properties = JSON_NONE;

	if (!ask_service(line, "ovos.tools.get", line->options.positional[1], &response))
		return;
	schema = ctl_response_find(&response, 0, "argument_schema", JSON_OBJECT);
	if (schema != JSON_NONE)
		properties = ctl_response_find(&response, schema, "properties", JSON_OBJECT);
	if (properties == JSON_NONE)
		return;
	json_each_key(key, tape, properties) {
		cleanup(buffer_deinit) struct buffer word = {0};

		json_string_decode(tape, key, &word);
		if (buffer_status(&word) < 0 || has_argument(line, word.data, word.size))
			continue;
		buffer_append_char(&word, '=');
		if (buffer_terminate(&word))
			offer(line, word.data);
	}
}

/* Return whether the line has @word already. */
static bool has_word(const struct line *line, const char *word)
{
	for (size_t i = 1; i < line->options.n_positional; i++)
		if (strcmp(line->options.positional[i], word) == 0)
			return true;
	return false;
}

/* Offer the ids of the calls in flight. */
static void offer_calls(struct line *line)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(call_list_deinit) struct call_list list = {0};
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_begin(&data);
	ctl_request_member(&data, "state", "running");
	ctl_request_end(&data);
	if (ctl_session_open(&line->options, &session) != 0 ||
		call_list_ask(session, &data, &response, &list) != 0)
		return;
	for (size_t i = 0; i < list.n_calls; i++) {
		cleanup(buffer_deinit) struct buffer id = {0};

		row_write(&response, list.calls[i], ROW_ID, &id);
		if (buffer_terminate(&id) && !has_word(line, id.data))
			offer(line, id.data);
	}
}

/* Offer what `add` has put into the user's folder. */
static void offer_added(struct line *line)
{
	struct added added;
	int r = added_open(false, &added);

	for (size_t i = 0; r == 0 && i < added.paths.n_items; i++) {
		cleanup_free char *id = added_id(&added, i);

		if (id)
			offer(line, id);
	}
	added_close(&added);
}

/* ── words of toolboxctl ─────────────────────────────────────────────────────────────────────── */

static void offer_commands(struct line *line, const struct ctl_command *commands, size_t n_commands)
{
	for (size_t i = 0; i < n_commands; i++)
		if (*commands[i].summary)
			offer(line, commands[i].name);
}

static void offer_flags(struct line *line)
{
	unsigned int groups = CTL_FLAG_COMMON | (line->command ? line->command->flags : 0);
	const char *name;

	for (size_t i = 0; (name = ctl_options_flag(groups, i)); i++)
		offer(line, name);
}

/* Offer the values of the flag whose value is called @value. */
static void offer_values(struct line *line, const char *flag, const char *value)
{
	static const char *const formats[] = {
		"full", "compact", "openai", "anthropic", "mcp", "markdown"};
	static const char *const kinds[] = {
		"native", "plugin", "command", "programs", "python", "mcp", "bus"};

	if (strcmp(value, "FORMAT") == 0)
		offer_each(line, formats, ARRAY_SIZE(formats));
	else if (strcmp(value, "KIND") == 0)
		offer_each(line, kinds, ARRAY_SIZE(kinds));
	else if (strcmp(flag, "--toolbox") == 0)
		offer_tools(line, true);
	else if (strcmp(flag, "--tool") == 0)
		offer_tools(line, false);
}

/* Offer the arguments of the command of the line, by the word for them in its usage. */
static void offer_positional(
	struct line *line, const struct ctl_command *commands, size_t n_commands)
{
	const char *usage = line->command->arguments + strspn(line->command->arguments, "[");
	size_t n_before = line->options.n_positional - 1;
	bool is_repeated = strncmp(usage, "NAME...", strlen("NAME...")) == 0;

	if (strstr(usage, "KEY=VALUE") && n_before > 0)
		offer_arguments(line);
	else if (strncmp(usage, "NAME", strlen("NAME")) == 0 && (n_before == 0 || is_repeated))
		offer_tools(line, false);
	else if (strncmp(usage, "CALL", strlen("CALL")) == 0)
		offer_calls(line);
	else if (strcmp(line->command->name, "remove") == 0 && n_before == 0)
		offer_added(line);
	else if (strncmp(usage, "TOOLBOX", strlen("TOOLBOX")) == 0 && n_before == 0)
		offer_tools(line, true);
	else if (strncmp(usage, "COMMAND", strlen("COMMAND")) == 0 && n_before == 0) {
		offer_commands(line, commands, n_commands);
		for (size_t i = 0; help_topic_name(i); i++)
			offer(line, help_topic_name(i));
	}
}

static void leave_late(int number)
{
	(void)number;
	_exit(CTL_DONE);
}

/* Hold to the time: a service, a bus or a name server that is slow has no words. */
static void begin_time(void)
{
	const struct itimerval time = {.it_value = {.tv_usec = COMPLETE_MS * 1000L}};

	signal(SIGALRM, leave_late);
	setitimer(ITIMER_REAL, &time, NULL);
}

static void end_time(void)
{
	const struct itimerval none = {0};

	setitimer(ITIMER_REAL, &none, NULL);
}

/* Print the words, and nothing about why there are none. */
static void print_words(const struct line *line)
{
	end_time();
	terminal_print(&line->out);
}

/* Read the first @n_words of @words into the options of @line. Return whether they can be read. */
static bool read_words(struct line *line, const char **words, size_t n_words)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	ctl_options_deinit(&line->options);
	return ctl_options_read((int)n_words, (char **)words, &line->options, &reason) == 0;
}

static const char *command_word(const struct line *line)
{
	return line->options.n_positional > 0 ? line->options.positional[0] : NULL;
}

int help_complete(
	const struct ctl_command *commands, size_t n_commands, const struct ctl_options *options)
{
	const char **words = options->positional + 1;
	size_t n_words = options->n_positional - 1;
	struct line line = {.last = n_words > 0 ? words[n_words - 1] : ""};
	const char *before = n_words > 1 ? words[n_words - 2] : "";
	const char *value = NULL;

	begin_time();
	if (!freopen("/dev/null", "w", stderr))
		return CTL_DONE;
	/* The word before may be a flag, whose value is completed. */
	if (n_words > 1 && read_words(&line, words, n_words - 2))
		value = ctl_options_value(before);
	if (!value && !read_words(&line, words, n_words > 0 ? n_words - 1 : 0))
		return CTL_DONE;
	for (size_t i = 0; command_word(&line) && i < n_commands; i++)
		if (strcmp(commands[i].name, command_word(&line)) == 0)
			line.command = &commands[i];
	if (value)
		offer_values(&line, before, value);
	else if (*line.last == '-')
		offer_flags(&line);
	else if (line.command)
		offer_positional(&line, commands, n_commands);
	else if (line.options.n_positional == 0)
		offer_commands(&line, commands, n_commands);
	print_words(&line);
	ctl_options_deinit(&line.options);
	buffer_deinit(&line.out);
	return CTL_DONE;
}
