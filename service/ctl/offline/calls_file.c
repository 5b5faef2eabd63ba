/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/calls_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ctl/invoke/arguments.h"
#include "ctl/terminal.h"
#include "util/file/file.h"

#define ARROW       "->"
#define ERROR_WORD  "error "
#define DEPTH_MAX   1000
#define WHITE_SPACE " \t\r"

/* One line of a file, which is taken apart in place. */
struct parsing {
	const char *path;
	struct calls_line line;
	const char *words[CALLS_WORDS_MAX];
};

static int refuse_line(const struct parsing *parsing, const char *what)
{
	terminal_complain("%s:%u: %s", parsing->path, parsing->line.number, what);
	return CTL_USAGE;
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

/* Take the character after a backslash at @from. Return false for one that has no meaning. */
static bool unescape(char from, char *ret)
{
	switch (from) {
	case 'n':
		*ret = '\n';
		return true;
	case 't':
		*ret = '\t';
		return true;
	case '"':
	case '\\':
		*ret = from;
		return true;
	default:
		return false;
	}
}

/* Copy the text between the quotes at *@from to *@to, which is not after it, and move both to what
 * follows. Return what is wrong with it, or NULL. */
static const char *unquote(char **from, char **to)
{
	char quote = *(*from)++;

	while (**from && **from != quote) {
		if (quote == '"' && **from == '\\') {
			if (!unescape(*++*from, *to))
				return "after a backslash in \"…\" comes one of n, t, \" and \\";
			(*from)++;
			(*to)++;
		} else {
			*(*to)++ = *(*from)++;
		}
	}
	if (!**from)
		return "a quote is not closed";
	(*from)++;
	return NULL;
}

/* Cut the word at *@at off, without its quotes, and move *@at to the next one. Return what is wrong
 * with it, or NULL. */
static const char *cut_word(char **at)
{
	char *from = *at;
	char *to = from;
	const char *mistake = NULL;

	while (*from && !strchr(WHITE_SPACE, *from) && !mistake) {
		if (*from == '\'' || *from == '"')
			mistake = unquote(&from, &to);
		else
			*to++ = *from++;
	}
	if (*from)
		from++;
	*to = '\0';
	*at = from + strspn(from, WHITE_SPACE);
	return mistake;
}

static bool is_arrow(const char *text)
{
	return strncmp(text, ARROW, strlen(ARROW)) == 0 &&
	       (!text[strlen(ARROW)] || strchr(WHITE_SPACE, text[strlen(ARROW)]));
}

/* Take the words at *@at up to the arrow or the end. */
static int take_words(struct parsing *parsing, char **at)
{
	struct calls_line *line = &parsing->line;

	line->words = parsing->words;
	while (**at && !is_arrow(*at)) {
		const char *mistake;

		if (line->n_words == CALLS_WORDS_MAX)
			return refuse_line(parsing, "there are too many words");
		parsing->words[line->n_words++] = *at;
		mistake = cut_word(at);
		if (mistake)
			return refuse_line(parsing, mistake);
	}
	return 0;
}

/* ── the line ────────────────────────────────────────────────────────────────────────────────── */

static bool is_json(const char *text)
{
	cleanup(json_tape_deinit) struct json_tape tape = {0};
	struct json_error error;

	return json_tape_read(&tape, text, strlen(text), DEPTH_MAX, &error) == 0;
}

/* Take the JSON object at *@at. Its end is the first arrow that leaves an object before it: strings
 * may have arrows, too. */
static int take_object(struct parsing *parsing, char **at)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	char *text = *at;
	char *arrow = text;

	parsing->line.object = text;
	while ((arrow = strstr(arrow, " " ARROW " "))) {
		*arrow = '\0';
		if (is_json(text)) {
			*at = arrow + 1;
			return 0;
		}
		*arrow++ = ' ';
	}
	*at = text + strlen(text);
	if (ctl_arguments_check(text, strlen(text), &reason) == 0)
		return 0;
	return refuse_line(parsing, "the arguments are not a JSON object that ends before ' -> '");
}

/* Take the text after the arrow at @at. */
static int take_expectation(struct parsing *parsing, const char *at)
{
	struct calls_line *line = &parsing->line;

	if (!*at)
		return 0;
	at += strlen(ARROW);
	at += strspn(at, WHITE_SPACE);
	line->expectation = CALLS_RESULT;
	if (strncmp(at, ERROR_WORD, strlen(ERROR_WORD)) == 0) {
		line->expectation = CALLS_ERROR;
		at += strlen(ERROR_WORD);
		at += strspn(at, WHITE_SPACE);
	}
	line->expected = at;
	if (line->expectation == CALLS_ERROR ? *at != '\0' : is_json(at))
		return 0;
	return refuse_line(parsing, "after '->' comes the result as JSON, or `error` and a code");
}

/* Take the line @text apart and hand it on, unless it is empty or a comment. */
static int take_line(struct parsing *parsing, char *text, calls_function take, void *data)
{
	size_t size = strlen(text);
	const char *mistake;
	int r;

	while (size > 0 && strchr(WHITE_SPACE, text[size - 1]))
		text[--size] = '\0';
	text += strspn(text, WHITE_SPACE);
	if (!*text || *text == '#')
		return 0;
	parsing->line = (struct calls_line){.number = parsing->line.number, .tool = text};
	mistake = cut_word(&text);
	if (mistake)
		return refuse_line(parsing, mistake);
	r = *text == '{' ? take_object(parsing, &text) : take_words(parsing, &text);
	r = r ? r : take_expectation(parsing, text);
	return r ? r : take(data, &parsing->line);
}

int calls_file_read(const char *path, calls_function take, void *data)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct parsing parsing = {.path = path};
	char *line;
	char *next;
	int r = file_read(path, CALLS_FILE_BYTES_MAX, &text);

	if (r == 0 && memchr(buffer_text(&text), '\0', text.size))
		r = -EILSEQ;
	if (r == 0 && !buffer_terminate(&text))
		r = -ENOMEM;
	if (r < 0) {
		terminal_complain("%s cannot be read: %s", path, strerror(-r));
		return CTL_USAGE;
	}
	for (line = text.data; line && r == 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		parsing.line.number++;
		r = take_line(&parsing, line, take, data);
	}
	return r;
}
