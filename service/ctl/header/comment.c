/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/comment.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

/* ── which comment ───────────────────────────────────────────────────────────────────────────── */

static bool mentions_name(const struct header *header, uint32_t comment, const char *name)
{
	const struct c_comment *found;

	if (comment == C_COMMENT_NONE)
		return false;
	found = &header->tokens.comments[comment];
	return memmem(header->text.data + found->offset, found->length, name, strlen(name)) != NULL;
}

/* Comments around the functions of one file. */
struct habit {
	size_t n_before; /* comments that name the function after them */
	size_t n_after;  /* comments that name the function before them */
	size_t n_comments;
};

/* Return whether the authors of the file write comments after declarations: then most of them name
 * the function before, and more than name the function after. */
static bool is_after(const struct habit *habit)
{
	return habit->n_after > habit->n_before && 2 * habit->n_after > habit->n_comments;
}

int comment_place(struct header *header)
{
	const struct c_declarations *all = &header->declarations;
	cleanup_free struct habit *habits = calloc(header->tokens.n_files + 1, sizeof(*habits));

	if (!habits)
		return -ENOMEM;
	for (size_t i = 0; i < all->n_functions; i++) {
		const struct c_function *function = all->functions[i];
		struct habit *habit = &habits[function->file_number];

		habit->n_before += mentions_name(header, function->comment, function->name);
		habit->n_comments += function->comment_after != C_COMMENT_NONE;
		habit->n_after += mentions_name(header, function->comment_after, function->name);
	}
	for (size_t i = 0; i < all->n_functions; i++)
		if (is_after(&habits[all->functions[i]->file_number]))
			all->functions[i]->comment = all->functions[i]->comment_after;
	return 0;
}

/* Append the text of a comment without its marks: lines, without the stars before them. */
static void append_plain(const char *text, size_t size, struct buffer *out)
{
	const char *end = text + size;

	text += 2;
	if (end - text >= 2 && end[-1] == '/' && end[-2] == '*')
		end -= 2;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		while (text < stop && (isspace((unsigned char)*text) || strchr("*!</", *text)))
			text++;
		buffer_append(out, text, (size_t)(stop - text));
		buffer_append_char(out, '\n');
		text = stop + 1;
	}
}

/* Write the plain comment of @function, with a NUL. Return false when it has none. */
static bool take_comment(
	const struct header *header, const struct c_function *function, struct buffer *plain)
{
	const struct c_comment *comment;

	if (function->comment == C_COMMENT_NONE)
		return false;
	comment = &header->tokens.comments[function->comment];
	append_plain(header->text.data + comment->offset,
		comment->length < COMMENT_READ_MAX ? comment->length : COMMENT_READ_MAX, plain);
	return buffer_terminate(plain) != NULL;
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

/* Append text up to @stop, after a newline or at the NUL, as one line: white space is one blank,
 * marks of Doxygen are left out. */
static void append_words_line(const char *text, const char *stop, struct buffer *out)
{
	bool is_blank = true;

	for (; text < stop && out->size < COMMENT_BYTES_MAX; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '^' || (c == ')' && text[1] == '^')) {
			/* ^(…)^ of SQLite. */
			text += c == ')' || text[1] == '(';
			continue;
		}
		if (strchr("[]|", c))
			continue;
		if (c == '\\' && isalpha((unsigned char)text[1])) {
			/* \c and \p of Doxygen keep their word. */
			while (isalpha((unsigned char)text[1]))
				text++;
			continue;
		}
		if (isspace(c) || iscntrl(c)) {
			if (!is_blank)
				buffer_append_char(out, ' ');
			is_blank = true;
			continue;
		}
		buffer_append_char(out, (char)c);
		is_blank = false;
	}
	/* End a cut text with a sentence, if a sentence ends in its second half. */
	for (size_t end = out->size; text < stop && end > COMMENT_BYTES_MAX / 2; end--)
		if (out->data[end - 1] == ' ' && out->data[end - 2] == '.') {
			out->size = end;
			break;
		}
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
}

/* Return the end of the paragraph at @text: an empty line, or a line with a word of Doxygen. */
static const char *find_paragraph_end(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		if (line > text && (*line == '\n' || *line == '@' || *line == '\\'))
			return line;
		if (!strchr(line, '\n'))
			break;
	}
	return text + strlen(text);
}

/* Return the rest of the text after the word of Doxygen @word, or NULL. */
static const char *find_doxygen_word(const char *text, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += size)
		if (at > text && (at[-1] == '@' || at[-1] == '\\') &&
			isspace((unsigned char)at[size]))
			return at + size;
	return NULL;
}

/* Step over what repeats the declaration: "CAPI3REF: ", "NAME curl_version()", "name() - ". */
static const char *skip_title(const char *text, const char *name)
{
	size_t size = strlen(name);

	text += strspn(text, " \n\t=-+#");
	if (strncmp(text, "CAPI3REF:", 9) == 0)
		return text + 9;
	if (strncmp(text, "NAME ", 5) == 0) {
		const char *words = strstr(text, "DESCRIPTION");

		text = words ? words + strlen("DESCRIPTION") : text + strcspn(text, "\n");
		return text + strspn(text, " \n\t");
	}
	if (strncmp(text, name, size) == 0) {
		const char *rest = text + size;

		rest += strncmp(rest, "()", 2) == 0 ? 2 : 0;
		rest += strspn(rest, " ");
		if (*rest == '-' || *rest == ':')
			return rest + 1;
	}
	return text;
}

void comment_describe(
	const struct header *header, const struct c_function *function, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer plain = {0};
	const char *text;

	if (!take_comment(header, function, &plain))
		return;
	text = find_doxygen_word(plain.data, "brief");
	if (!text)
		text = skip_title(plain.data, function->name);
	while (*text == '\n' || *text == ' ')
		text++;
	/* A comment beginning with @param describes no function. */
	if (*text != '@' && *text != '\\')
		append_words_line(text, find_paragraph_end(text), out);
}

void comment_describe_parameter(const struct header *header, const struct c_function *function,
	const char *name, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer plain = {0};
	size_t size = strlen(name);

	if (!take_comment(header, function, &plain))
		return;
	for (const char *at = plain.data; (at = strstr(at, name)); at += size) {
		const char *line = at;
		const char *after = at + size;
		bool is_doxygen;

		while (line > plain.data && line[-1] != '\n')
			line--;
		is_doxygen = strncmp(line, "@param", 6) == 0 || strncmp(line, "\\param", 6) == 0;
		if (at > plain.data && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
			continue;
		if (is_doxygen && isspace((unsigned char)*after)) {
			const char *between = line + strcspn(line, " [\t");

			/* "@param[in] name": no other word is between. */
			between += *between == '[' ? strcspn(between, "]") + 1 : 0;
			between += strspn(between, " \t");
			if (between != at)
				continue;
		} else if (!(line[0] == '@' && line + 1 == at && *after == ':')) {
			continue;
		}
		after += strspn(after, " \t:-");
		append_words_line(after, find_paragraph_end(after), out);
		return;
	}
}
