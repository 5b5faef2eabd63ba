/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/heads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue/package.h"
#include "manifest/dropin_definition.h"
#include "util/cleanup.h"
#include "util/file.h"
#include "util/text.h"

#define WORD_BYTES_MAX 20

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char spaces[] = " \t";

#define PARAM       "# param NAME TYPE DESCRIPTION"
#define DESCRIPTION "# description: TEXT"
#define RISK        "# risk: read, write or execute"
#define TIMEOUT     "# timeout: SECONDS"

/* The words that define something. */
static const struct {
	const char *word;
	const char *form;
} heads[] = {{"param", PARAM}, {"description", DESCRIPTION}, {"risk", RISK}, {"timeout", TIMEOUT}};
#define N_HEADS (sizeof(heads) / sizeof(*heads))

/* Other words for them. */
static const struct {
	const char *word;
	const char *form;
} others[] = {{"arg", PARAM}, {"args", PARAM}, {"argument", PARAM}, {"arguments", PARAM},
	{"input", PARAM}, {"option", PARAM}, {"parameter", PARAM}, {"parameters", PARAM},
	{"params", PARAM}, {"about", DESCRIPTION}, {"desc", DESCRIPTION}, {"summary", DESCRIPTION},
	{"deadline", TIMEOUT}};
#define N_OTHERS (sizeof(others) / sizeof(*others))

/* A comment: its first word, and what follows. */
struct comment {
	char word[WORD_BYTES_MAX + 1];
	bool has_colon;
	const char *rest;
	size_t rest_size;
};

/* Read the line. Return whether it is a comment that begins with a word. */
static bool read_comment(const char *line, size_t size, struct comment *ret_comment)
{
	const char *end = line + size;
	size_t length = 0;

	while (line < end && memchr(spaces, *line, strlen(spaces)))
		line++;
	if (line == end || *line++ != '#')
		return false;
	while (line < end && memchr(spaces, *line, strlen(spaces)))
		line++;
	while (line + length < end && memchr(letters, line[length], strlen(letters)))
		length++;
	if (length == 0 || length > WORD_BYTES_MAX)
		return false;
	memcpy(ret_comment->word, line, length);
	ret_comment->word[length] = '\0';
	line += length;
	ret_comment->has_colon = line < end && *line == ':';
	line += ret_comment->has_colon;
	while (line < end && memchr(spaces, *line, strlen(spaces)))
		line++;
	ret_comment->rest = line;
	ret_comment->rest_size = (size_t)(end - line);
	return true;
}

/* Return whether one of the first words after the comment's own is the name of a type. */
static bool has_type(const struct comment *comment)
{
	static const char *const types[] = {"string", "str", "text", "integer", "int", "number",
		"float", "boolean", "bool", "array", "list", "object"};
	cleanup_free char *rest = strndup(comment->rest, comment->rest_size);
	char *state = NULL;
	char *word = rest ? strtok_r(rest, " \t\r?:,()=", &state) : NULL;

	for (int n = 0; word && n < 2; n++, word = strtok_r(NULL, " \t\r?:,()=", &state))
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (strcmp(word, types[i]) == 0)
				return true;
	return false;
}

/* Return the form of the head @word, whose colon is wrong: `# param:`, `# risk execute`, `# timeout 5`;
 * NULL when the comment is right, or just text. */
static const char *check_known(const struct comment *comment, const char *word, const char *form)
{
	static const char *const risks[] = {"read", "write", "execute"};

	if (strcmp(word, "param") == 0)
		return comment->has_colon ? form : NULL;
	if (comment->has_colon)
		return NULL;
	for (size_t i = 0; strcmp(word, "risk") == 0 && i < sizeof(risks) / sizeof(*risks); i++)
		if (comment->rest_size == strlen(risks[i]) &&
			memcmp(comment->rest, risks[i], comment->rest_size) == 0)
			return form;
	if (strcmp(word, "timeout") == 0 && comment->rest_size > 0 &&
		strspn(comment->rest, "0123456789.") >= comment->rest_size)
		return form;
	return NULL;
}

/* Return the form that is meant instead of @comment; NULL: it is right, or just text. */
static const char *find_form(const struct comment *comment)
{
	size_t size = strlen(comment->word);

	for (size_t i = 0; i < N_HEADS; i++)
		if (strcmp(comment->word, heads[i].word) == 0)
			return check_known(comment, heads[i].word, heads[i].form);
	for (size_t i = 0; i < N_OTHERS; i++)
		if (strcasecmp(comment->word, others[i].word) == 0)
			return comment->has_colon || (strcmp(others[i].form, PARAM) == 0 &&
							     has_type(comment))
				       ? others[i].form
				       : NULL;
	for (size_t i = 0; comment->has_colon && i < N_HEADS; i++) {
		unsigned int distance;

		if (text_is_near(
			    comment->word, size, heads[i].word, strlen(heads[i].word), &distance))
			return heads[i].form;
	}
	return NULL;
}

/* Return the absolute path of the folder of programs that @file registers: it, or the one that it overlays;
 * NULL when there is none. The caller frees it. */
static char *find_program_folder(const char *file)
{
	size_t size = strlen(file);
	size_t suffix = strlen(".json");
	bool is_overlay = size > suffix && strcmp(file + size - suffix, ".json") == 0;
	cleanup_free char *folder = strndup(file, is_overlay ? size - suffix : size);

	return folder ? realpath(folder, NULL) : NULL;
}

/* Return whether @program is in a folder of programs and is defined by its comments. */
static bool has_heads(const struct tool *tool, const char *program)
{
	cleanup_free char *folder = find_program_folder(tool->toolbox->package->file);
	cleanup_free char *resolved = folder ? realpath(program, NULL) : NULL;
	cleanup_free char *definition = NULL;
	size_t stem_size;
	const char *stem = dropin_stem(program, &stem_size);
	size_t size = folder ? strlen(folder) : 0;

	if (!resolved || strncmp(resolved, folder, size) != 0 || resolved[size] != '/')
		return false;
	if (asprintf(&definition, "%.*s.json", (int)(stem - program + (ptrdiff_t)stem_size),
		    program) < 0)
		return false;
	return access(definition, F_OK) < 0;
}

void heads_advise(const struct tool *tool, const struct diagnostic_sink *sink)
{
	const struct text_list *arguments = &tool->command.arguments;
	const char *program = arguments->n_items > 0 ? arguments->items[0] : "";
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_close int fd = -1;
	const char *at;
	const char *end;

	if (tool->command.is_shell || !has_heads(tool, program))
		return;
	fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || file_read_fd(fd, DROPIN_HEAD_BYTES_MAX, &bytes) < 0 || !bytes.data)
		return;
	at = bytes.data;
	end = at + bytes.size;
	for (unsigned int line = 1; at < end && line <= DROPIN_LINES_MAX; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((stop ? stop : end) - at);
		struct comment comment;
		const char *form = read_comment(at, size, &comment) ? find_form(&comment) : NULL;

		if (form)
			diagnostic_report(sink, DIAGNOSTIC_WARNING, program, line, "",
				"the comment '# %s%s' defines nothing; is '%s' meant?",
				comment.word, comment.has_colon ? ":" : "", form);
		at += size + 1;
	}
}
