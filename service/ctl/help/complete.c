/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/complete.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "catalogue/definition.h"
#include "catalogue/toolbox.h"
#include "ctl/add/added.h"
#include "ctl/calls/query.h"
#include "ctl/calls/row.h"
#include "ctl/help/help.h"
#include "ctl/help/known_tools.h"
#include "ctl/new/template.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"

/* A command line up to the cursor. */
struct line {
	const struct ctl_command *command; /* NULL: it is the word that is completed */
	struct ctl_options options;        /* read up to the last word */
	const char *before;                /* the part of that word that stays … */
	size_t before_size;                /* … as in `--flag=` or `KEY=a,` */
	const char *last;                  /* the rest, which is completed */
	struct buffer out;                 /* the words that fit */
};

/* Complete only what begins at @rest, in the last word. */
static void keep_before(struct line *line, const char *rest)
{
	line->before = line->before ? line->before : line->last;
	line->before_size = (size_t)(rest - line->before);
	line->last = rest;
}

static void offer(struct line *line, const char *word)
{
	if (strncmp(word, line->last, strlen(line->last)) != 0)
		return;
	terminal_append_line(&line->out, line->before ? line->before : "", line->before_size);
	terminal_append_line(&line->out, word, strlen(word));
	buffer_append_char(&line->out, '\n');
}

static void offer_each(struct line *line, const char *const *words, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		offer(line, words[i]);
}

/* ── words of the service ────────────────────────────────────────────────────────────────────── */

/* Offer the toolboxes, or the tools: by their names alone unless the word has a slash. */
static void offer_tools(struct line *line, bool are_toolboxes)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	const struct json_tape *tape = &response.tape;
	bool has_slash = strchr(line->last, '/');
	uint32_t tools;
	uint32_t last = JSON_NONE; /* the toolbox of the tool before */

	if (!known_tools_list(&line->options, &response, &tools))
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

/* ── values of an argument ───────────────────────────────────────────────────────────────────── */

/* Offer the value at @token, as one types it there: as JSON after `:=`. */
static void offer_value(
	struct line *line, bool is_json, const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer word = {0};

	if (json_at(tape, token)->type == JSON_STRING && !is_json)
		json_string_decode(tape, token, &word);
	else
		json_write_compact(&word, tape, token);
	if (buffer_terminate(&word))
		offer(line, word.data);
}

/* Offer the values that the schema at @schema lists: of enum and const, and of booleans. */
static void offer_listed(
	struct line *line, bool is_json, const struct json_tape *tape, uint32_t schema)
{
	static const char *const booleans[] = {"true", "false"};
	uint32_t values = json_find_typed(tape, schema, "enum", JSON_ARRAY);
	uint32_t value = json_find(tape, schema, "const");
	uint32_t type = json_find_typed(tape, schema, "type", JSON_STRING);

	if (values != JSON_NONE)
		json_each(i, tape, values)
			offer_value(line, is_json, tape, i);
	else if (value != JSON_NONE)
		offer_value(line, is_json, tape, value);
	else if (json_is_text(tape, type, "boolean"))
		offer_each(line, booleans, ARRAY_SIZE(booleans));
}

/* Offer the values that the schema at @schema of an argument lists, alone, in branches, or for the
 * elements after the last comma. */
static void offer_values_of(
	struct line *line, bool is_json, const struct json_tape *tape, uint32_t schema)
{
	static const char *const branches[] = {"anyOf", "oneOf"};
	uint32_t items = json_find_typed(tape, schema, "items", JSON_OBJECT);
	const char *comma = strrchr(line->last, ',');

	offer_listed(line, is_json, tape, schema);
	for (size_t i = 0; i < ARRAY_SIZE(branches); i++) {
		uint32_t list = json_find_typed(tape, schema, branches[i], JSON_ARRAY);

		if (list == JSON_NONE)
			continue;
		json_each(branch, tape, list) {
			if (json_at(tape, branch)->type == JSON_OBJECT)
				offer_listed(line, is_json, tape, branch);
		}
	}
	if (items == JSON_NONE || is_json)
		return;
	if (comma)
		keep_before(line, comma + 1);
	offer_listed(line, is_json, tape, items);
}

/* Return where a value begins in @word, `NAME=…` or `NAME:=…` for the argument @name; NULL: the
 * word is for another one. */
static const char *find_value(const char *word, const struct buffer *name, bool *ret_is_json)
{
	const char *rest = word + name->size;

	if (strncmp(word, name->data, name->size) != 0)
		return NULL;
	*ret_is_json = *rest == ':';
	rest += *ret_is_json ? 1 : 0;
	return *rest == '=' ? rest + 1 : NULL;
}

/* Offer the arguments of the tool of the line that it lacks, each as `KEY=`; or the values of the
 * argument that the last word has. */
static void offer_arguments(struct line *line)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	const struct json_tape *tape = &response.tape;
	const char *value;
	bool is_json;
	uint32_t tool;
	uint32_t schema;
	uint32_t properties = JSON_NONE;

	if (!known_tools_get(&line->options, line->options.positional[1], &response, &tool))
		return;
	schema = ctl_response_find(&response, tool, "argument_schema", JSON_OBJECT);
	if (schema != JSON_NONE)
		properties = ctl_response_find(&response, schema, "properties", JSON_OBJECT);
	json_each_key_found(key, tape, properties) {
		cleanup(buffer_deinit) struct buffer word = {0};

		json_string_decode(tape, key, &word);
		if (!buffer_terminate(&word))
			continue;
		value = find_value(line->last, &word, &is_json);
		if (value) {
			keep_before(line, value);
			if (json_at(tape, key + 1)->type == JSON_OBJECT)
				offer_values_of(line, is_json, tape, key + 1);
			return;
		}
		if (has_argument(line, word.data, word.size))
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

	ctl_request_member(&data, "state", "running");
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

/* Offer the ids @member in the array @list of the response to @topic. */
static void offer_ids(struct line *line, const char *topic, const char *list, const char *member)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	uint32_t entries;

	if (ctl_session_ask_once(&line->options, topic, NULL, &response) != 0)
		return;
	entries = ctl_response_find(&response, 0, list, JSON_ARRAY);
	json_each_found(i, &response.tape, entries) {
		cleanup_free char *id = json_find_dup(&response.tape, i, member);

		if (id && !has_word(line, id))
			offer(line, id);
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

/* Offer what `new` can write: the templates, and a manifest for a server. */
static void offer_kinds(struct line *line)
{
	for (size_t i = 0; i < n_templates; i++)
		if (i == 0 || strcmp(templates[i - 1].kind, templates[i].kind) != 0)
			offer(line, templates[i].kind);
	offer(line, "mcp");
}

/* Offer the values of the flag whose value is called @value. */
static void offer_values(struct line *line, const char *flag, const char *value)
{
	if (strcmp(value, "FORMAT") == 0)
		for (size_t i = 0; definition_format_name(i); i++)
			offer(line, definition_format_name(i));
	else if (strcmp(value, "KIND") == 0)
		offer_kinds(line);
	else if (strcmp(value, "RISK") == 0)
		for (int risk = TOOL_READ; risk <= TOOL_EXECUTE; risk++)
			offer(line, tool_risk_names[risk]);
	else if (strcmp(flag, "--toolbox") == 0)
		offer_tools(line, true);
	else if (strcmp(flag, "--tool") == 0)
		offer_tools(line, false);
}

/* Offer `--flag=VALUE` for the beginning of it. */
static void offer_joined(struct line *line)
{
	const char *equals = strchr(line->last, '=');
	cleanup_free char *flag = strndup(line->last, (size_t)(equals - line->last));
	const char *value = flag ? ctl_options_value(flag) : NULL;

	keep_before(line, equals + 1);
	if (value)
		offer_values(line, flag, value);
}

/* Offer each first word in small letters of the usage of a command, `new NAME | list`. */
static void offer_first_words(struct line *line, const char *usage)
{
	for (const char *at = usage; *at;) {
		cleanup_free char *word = NULL;
		size_t size;

		at += strspn(at, "[ ");
		size = strspn(at, "abcdefghijklmnopqrstuvwxyz");
		word = strndup(at, size);
		if (word && size > 0)
			offer(line, word);
		at += strcspn(at, "|");
		at += *at ? 1 : 0;
	}
}

/* Offer the arguments of the command of the line, by the word for them in its usage. */
static void offer_positional(
	struct line *line, const struct ctl_command *commands, size_t n_commands)
{
	const char *usage = line->command->arguments + strspn(line->command->arguments, "[");
	size_t n_before = line->options.n_positional - 1;
	bool is_repeated = strncmp(usage, "NAME...", strlen("NAME...")) == 0;

	if (n_before == 0)
		offer_first_words(line, usage);
	if (strstr(usage, "KEY=VALUE") && n_before > 0)
		offer_arguments(line);
	else if (strncmp(usage, "NAME", strlen("NAME")) == 0 && (n_before == 0 || is_repeated))
		offer_tools(line, false);
	else if (strncmp(usage, "CALL", strlen("CALL")) == 0)
		offer_calls(line);
	else if (strstr(usage, "JOB") && n_before > 0)
		offer_ids(line, "ovos.tools.job.list", "jobs", "job_id");
	else if (line->command->run == ctl_approve || line->command->run == ctl_deny)
		offer_ids(line, "ovos.tools.approval.list", "pending", "id");
	else if (line->command->run == ctl_remove && n_before == 0)
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
	else if (*line.last == '-' && strchr(line.last, '='))
		offer_joined(&line);
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
