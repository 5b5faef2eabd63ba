/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include <stdlib.h>
#include <string.h>

/* ── line ends ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether every line of @text ends with CR LF, and there is one. */
static bool has_returns(const struct text *text)
{
	const char *at = text_string(text);
	bool has_one = false;

	for (; (at = strchr(at, '\n')); at++) {
		if (at == text->data || at[-1] != '\r')
			return false;
		has_one = true;
	}
	return has_one;
}

/* Append @string with the line ends of the file: CR LF or LF. */
static void add_with_ends(struct text *out, const char *string, bool has_cr)
{
	for (; *string; string++) {
		if (string[0] == '\r' && string[1] == '\n')
			continue;
		if (*string == '\n' && has_cr)
			text_put(out, "\r");
		text_add(out, string, 1);
	}
}

/* ── a run of lines ──────────────────────────────────────────────────────────────────────────── */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A line without its line end, and without the white space at its ends. */
struct bare {
	const char *begin;
	size_t indent; /* bytes of white space before */
	size_t size;
	const char *next; /* the next line; NULL: it is the last one */
};

static struct bare bare_read(const char *line)
{
	const char *newline = strchr(line, '\n');
	size_t size = newline ? (size_t)(newline - line) : strlen(line);
	struct bare bare = {.begin = line, .next = newline ? newline + 1 : NULL};

	while (size > 0 && is_space(line[size - 1]))
		size--;
	while (bare.indent < size && is_space(line[bare.indent]))
		bare.indent++;
	bare.size = size - bare.indent;
	return bare;
}

static bool is_same(const struct bare *a, const struct bare *b)
{
	return a->size == b->size &&
	       memcmp(a->begin + a->indent, b->begin + b->indent, a->size) == 0;
}

/* Return the end of the run of lines at @at that equals @old, or NULL. */
static const char *match_run(const char *at, const char *old)
{
	while (at) {
		struct bare theirs = bare_read(at);
		struct bare ours = bare_read(old);

		if (!is_same(&theirs, &ours))
			return NULL;
		/* A last line end belongs to the run. */
		if (!ours.next || !*ours.next)
			return ours.next && theirs.next
				       ? theirs.next
				       : theirs.begin + theirs.indent + theirs.size;
		at = theirs.next;
		old = ours.next;
	}
	return NULL;
}

/* Find the run of lines that equals @old. Return how often it is there. */
static size_t find_run(
	const struct text *text, const char *old, const char **ret_begin, const char **ret_end)
{
	size_t n = 0;

	for (const char *line = text_string(text); line && *line;) {
		const char *end = match_run(line, old);
		const char *newline = strchr(line, '\n');

		if (end && n++ == 0) {
			*ret_begin = line;
			*ret_end = end;
		}
		line = newline ? newline + 1 : NULL;
	}
	return n;
}

/* Append @new, whose lines are indented as lines of @old, with the indentation of the line @found:
 * what the first lines of both differ by is added to or taken from each. */
static void add_indented(struct text *out, const char *new, const char *old, const char *found)
{
	struct bare before = bare_read(old);
	struct bare there = bare_read(found);

	for (const char *line = new; line;) {
		struct bare bare = bare_read(line);
		size_t size = bare.next ? (size_t)(bare.next - line) : strlen(line);
		size_t same = bare.indent < before.indent ? bare.indent : before.indent;
		size_t missing = before.indent - same;

		if (bare.size > 0) {
			text_add(out, found, there.indent > missing ? there.indent - missing : 0);
			text_add(out, line + same, size - same);
		} else {
			text_add(out, line, size);
		}
		line = bare.next && *bare.next ? bare.next : NULL;
	}
}

/* ── one edit ────────────────────────────────────────────────────────────────────────────────── */

static size_t count_places(const char *text, const char *old)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, old)); at++)
		n++;
	return n;
}

static bool refuse_edit(struct text *why, const char *words, const char *old)
{
	text_put(why, words);
	text_put(why, "\n");
	text_put(why, old);
	return false;
}

static bool refuse_several(struct text *why, size_t n, const char *old)
{
	text_printf(
		why, "Found %zu matches for edit; give more of the lines around it:\n%s", n, old);
	return false;
}

/* Put @new in the place of the bytes from @begin to @end. */
static bool put_text(struct text *text, const char *begin, const char *end, const struct text *new)
{
	struct text out = {0};

	text_add(&out, text->data, (size_t)(begin - text->data));
	text_add(&out, text_string(new), new->size);
	text_add(&out, end, (size_t)(text->data + text->size - end));
	out.has_failed |= new->has_failed;
	text_free(text);
	*text = out;
	return !out.has_failed;
}

/* Replace @old by @new, both with the line ends of @text. */
static bool replace_text(struct text *text, const char *old, const char *new, struct text *why)
{
	size_t n = count_places(text_string(text), old);
	struct text indented = {0};
	const char *begin = NULL;
	const char *end = NULL;
	bool is_good;

	if (n > 1)
		return refuse_several(why, n, old);
	if (n == 1) {
		struct text exact = {.data = (char *)new, .size = strlen(new)};

		begin = strstr(text->data, old);
		return put_text(text, begin, begin + strlen(old), &exact);
	}
	n = find_run(text, old, &begin, &end);
	if (n != 1)
		return n > 1 ? refuse_several(why, n, old)
			     : refuse_edit(why, "Could not find exact match for edit:", old);
	add_indented(&indented, new, old, begin);
	is_good = put_text(text, begin, end, &indented);
	text_free(&indented);
	return is_good;
}

bool edit_replace(struct text *text, const char *old, const char *new, struct text *why)
{
	struct text from = {0};
	struct text to = {0};
	bool has_cr = has_returns(text);
	bool is_good = false;

	if (!*old)
		return refuse_edit(why,
			"oldText is empty: write_file writes a whole file, and a text "
			"is added by replacing a line beside it",
			"");
	add_with_ends(&from, old, has_cr);
	add_with_ends(&to, new, has_cr);
	if (!from.has_failed && !to.has_failed)
		is_good = replace_text(text, text_string(&from), text_string(&to), why);
	text_free(&from);
	text_free(&to);
	return is_good;
}
