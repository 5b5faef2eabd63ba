/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* The name of standard input, as compilers have it. */
#define INPUT_NAME "<stdin>"

/* The marks of several characters, the longest first. */
static const char *const long_marks[] = {"...", "<<=", ">>=", "<<", ">>",
	"<=", ">=", "==", "!=", "&&", "||", "->", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};

struct reading {
	struct c_tokens *tokens;
	const char *at;
	const char *end;
	uint32_t file;
	uint32_t line;
	uint32_t first_comment;
	uint32_t comment;
	bool is_line_start;
	void *files; /* a tree (tsearch) of struct file, by their names */
};

struct file {
	const char *name; /* first, for text_compare() */
	uint32_t index;   /* its place in c_tokens.files */
};

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c);
}

static bool has(const struct reading *reading, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(reading->end - reading->at) >= size && memcmp(reading->at, text, size) == 0;
}

/* Keep the file name between the quotes at @text. Return 0 or -ENOMEM. */
static int keep_file(struct reading *reading, const char *text, size_t size)
{
	struct c_tokens *tokens = reading->tokens;
	cleanup_free char *name = strndup(text, size);
	cleanup_free struct file *file = malloc(sizeof(*file));
	struct file **found;

	if (!name || !file || array_grow(tokens->files, tokens->n_files) < 0)
		return -ENOMEM;
	*file = (struct file){name, (uint32_t)tokens->n_files};
	found = tsearch(file, &reading->files, text_compare);
	if (!found)
		return -ENOMEM;
	reading->file = (*found)->index;
	if (*found != file)
		return 0;
	tokens->files[tokens->n_files++] = name;
	name = NULL;
	file = NULL;
	return 0;
}

/* Note the current file, included by the line @line of the file @from, if that is standard
 * input. Return 0 or -ENOMEM. */
static int keep_include(struct reading *reading, uint32_t from, uint32_t line)
{
	struct c_tokens *tokens = reading->tokens;

	if (strcmp(tokens->files[from], INPUT_NAME) != 0 || tokens->files[reading->file][0] == '<')
		return 0;
	if (array_grow(tokens->includes, tokens->n_includes) < 0)
		return -ENOMEM;
	tokens->includes[tokens->n_includes++] = (struct c_include){line, reading->file};
	return 0;
}

/* Read a line that begins with '#': a marker sets the place, any other line is skipped. The newline
 * that follows is left. */
static int read_directive(struct reading *reading)
{
	const char *stop = memchr(reading->at, '\n', (size_t)(reading->end - reading->at));
	const char *at = reading->at + 1;
	const char *quote;
	uint32_t from = reading->file;
	uint32_t from_line = reading->line;
	uint32_t line = 0;
	int r;

	if (!stop)
		stop = reading->end;
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	if (stop - at > 4 && memcmp(at, "line", 4) == 0)
		at += 5;
	reading->at = stop;
	if (at == stop || !isdigit((unsigned char)*at))
		return 0;
	for (; at < stop && isdigit((unsigned char)*at); at++)
		line = line * 10 + (uint32_t)(*at - '0');
	/* The newline after the marker counts. */
	reading->line = line - 1;
	quote = memchr(at, '"', (size_t)(stop - at));
	if (!quote)
		return 0;
	at = ++quote;
	while (at < stop && *at != '"')
		at++;
	r = keep_file(reading, quote, (size_t)(at - quote));
	/* After the name: 1 for a file that begins here. */
	if (r == 0 && stop - at >= 3 && memcmp(at, "\" 1", 3) == 0)
		r = keep_include(reading, from, from_line);
	return r;
}

static uint32_t count_lines(const char *at, const char *end)
{
	uint32_t n = 0;

	for (; at < end; at++)
		n += *at == '\n';
	return n;
}

/* Keep the comment at the current place. Return 0 or -ENOMEM. */
static int read_comment(struct reading *reading)
{
	struct c_tokens *tokens = reading->tokens;
	size_t left = (size_t)(reading->end - reading->at);
	bool is_line = reading->at[1] == '/';
	const char *stop = is_line ? memchr(reading->at, '\n', left)
				   : memmem(reading->at + 2, left - 2, "*/", 2);

	if (!stop)
		stop = reading->end;
	else if (!is_line)
		stop += 2;
	if (array_grow(tokens->comments, tokens->n_comments) < 0)
		return -ENOMEM;
	reading->comment = (uint32_t)tokens->n_comments;
	if (reading->first_comment == C_COMMENT_NONE)
		reading->first_comment = reading->comment;
	tokens->comments[tokens->n_comments++] = (struct c_comment){
		(uint32_t)(reading->at - tokens->text), (uint32_t)(stop - reading->at)};
	reading->line += count_lines(reading->at, stop);
	reading->at = stop;
	return 0;
}

/* Skip white space, comments and directives. */
static int skip_space(struct reading *reading)
{
	int r = 0;

	while (r == 0 && reading->at < reading->end) {
		char c = *reading->at;

		if (c == '\n') {
			reading->line++;
			reading->is_line_start = true;
			reading->at++;
		} else if (isspace((unsigned char)c) || c == '\\' || c == '\0') {
			reading->at++;
		} else if (c == '#' && reading->is_line_start) {
			r = read_directive(reading);
		} else if (has(reading, "/*") || has(reading, "//")) {
			r = read_comment(reading);
		} else {
			break;
		}
	}
	return r;
}

/* Return the end of the string or character beginning here. */
static const char *find_quote_end(const struct reading *reading)
{
	const char *at = reading->at + 1;

	for (; at < reading->end && *at != *reading->at && *at != '\n'; at++)
		if (*at == '\\' && at + 1 < reading->end)
			at++;
	return at < reading->end ? at + 1 : at;
}

static const char *find_number_end(const struct reading *reading)
{
	const char *at = reading->at;

	for (; at < reading->end; at++) {
		bool is_sign = (*at == '+' || *at == '-') && at > reading->at &&
			       strchr("eEpP", at[-1]) && reading->at[0] != '0';

		if (!is_name_part(*at) && *at != '.' && !is_sign)
			break;
	}
	return at;
}

static const char *find_mark_end(const struct reading *reading)
{
	for (size_t i = 0; i < ARRAY_SIZE(long_marks); i++)
		if (has(reading, long_marks[i]))
			return reading->at + strlen(long_marks[i]);
	return reading->at + 1;
}

static int add_token(struct reading *reading, enum c_token_kind kind, const char *stop)
{
	struct c_tokens *tokens = reading->tokens;

	if (array_grow(tokens->items, tokens->n_items) < 0)
		return -ENOMEM;
	tokens->items[tokens->n_items++] = (struct c_token){
		.kind = kind,
		.offset = (uint32_t)(reading->at - tokens->text),
		.length = (uint32_t)(stop - reading->at),
		.file = reading->file,
		.line = reading->line,
		.comment = reading->comment,
		.first_comment = reading->first_comment,
	};
	reading->comment = C_COMMENT_NONE;
	reading->first_comment = C_COMMENT_NONE;
	reading->is_line_start = false;
	reading->at = stop;
	return 0;
}

static int read_token(struct reading *reading)
{
	const char *at = reading->at;

	if (is_name_start(*at)) {
		while (at < reading->end && is_name_part(*at))
			at++;
		return add_token(reading, C_TOKEN_NAME, at);
	}
	if (isdigit((unsigned char)*at))
		return add_token(reading, C_TOKEN_NUMBER, find_number_end(reading));
	if (*at == '"' || *at == '\'')
		return add_token(reading, C_TOKEN_TEXT, find_quote_end(reading));
	return add_token(reading, C_TOKEN_MARK, find_mark_end(reading));
}

int c_tokens_read(const char *text, size_t size, struct c_tokens *ret_tokens)
{
	struct c_tokens tokens = {.text = text};
	struct reading reading = {
		.tokens = &tokens,
		.at = text,
		.end = text + size,
		.line = 1,
		.comment = C_COMMENT_NONE,
		.first_comment = C_COMMENT_NONE,
		.is_line_start = true,
	};
	int r;

	if (size > C_TEXT_BYTES_MAX)
		return C_TOKENS_E_SIZE;
	r = keep_file(&reading, "", 0);
	while (r == 0) {
		r = skip_space(&reading);
		if (r < 0 || reading.at >= reading.end)
			break;
		r = read_token(&reading);
	}
	tdestroy(reading.files, free);
	if (r == 0)
		r = add_token(&reading, C_TOKEN_END, reading.at);
	if (r < 0) {
		c_tokens_deinit(&tokens);
		return r;
	}
	*ret_tokens = tokens;
	return 0;
}

void c_tokens_deinit(struct c_tokens *tokens)
{
	for (size_t i = 0; i < tokens->n_files; i++)
		free(tokens->files[i]);
	free(tokens->files);
	free(tokens->includes);
	free(tokens->items);
	free(tokens->comments);
	*tokens = (struct c_tokens){0};
}

bool c_token_is(const struct c_tokens *tokens, const struct c_token *token, const char *text)
{
	return token->kind != C_TOKEN_TEXT && strlen(text) == token->length &&
	       memcmp(tokens->text + token->offset, text, token->length) == 0;
}
