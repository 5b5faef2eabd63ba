/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/plain.h"

#include <ctype.h>
#include <string.h>

#define THOUGHT     "<think>"
#define THOUGHT_END "</think>"

/* The longest sign at the beginning of a line: "   ###### ". */
#define LINE_SIGN_BYTES 10

/* So many equal signs are no emphasis, and at the beginning of a line they are a rule. */
#define RUN_BYTES 64

/* A step returns how many bytes it has judged, or WAIT: more have to come. */
#define WAIT 0

struct view {
	const char *text;
	size_t size;
	bool is_end;
};

static bool is_blank_byte(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void put_bytes(struct plain *plain, const char *text, size_t size, struct buffer *out)
{
	/* White space before the text is no part of it. */
	while (!plain->has_text && size > 0 && is_blank_byte(*text)) {
		text++;
		size--;
	}
	plain->has_text |= size > 0;
	buffer_append(out, text, size);
}

/* ── thoughts ────────────────────────────────────────────────────────────────────────────────── */

static size_t begin_text(struct plain *plain, const struct view *view)
{
	size_t blank = 0;
	size_t size;

	while (blank < view->size && is_blank_byte(view->text[blank]))
		blank++;
	if (blank > 0)
		return blank;
	size = view->size;
	if (size >= strlen(THOUGHT)) {
		bool is_thought = memcmp(view->text, THOUGHT, strlen(THOUGHT)) == 0;

		plain->state = is_thought ? PLAIN_THOUGHT : PLAIN_LINE;
		return is_thought ? strlen(THOUGHT) : 0;
	}
	if (!view->is_end && memcmp(view->text, THOUGHT, size) == 0)
		return WAIT;
	plain->state = PLAIN_LINE;
	return WAIT;
}

static size_t skip_thought(struct plain *plain, const struct view *view)
{
	const char *end = memmem(view->text, view->size, THOUGHT_END, strlen(THOUGHT_END));

	if (end) {
		plain->state = PLAIN_LINE;
		return (size_t)(end - view->text) + strlen(THOUGHT_END);
	}
	if (view->is_end)
		return view->size;
	return view->size < strlen(THOUGHT_END) ? WAIT : view->size - strlen(THOUGHT_END) + 1;
}

/* ── the beginning of a line ─────────────────────────────────────────────────────────────────── */

static size_t count_run(const struct view *view, size_t at)
{
	size_t end = at;

	while (end < view->size && view->text[end] == view->text[at])
		end++;
	return end - at;
}

/* Return whether the bytes from @at on are a line of nothing but signs, such as `---`. */
static bool is_rule(const struct view *view, size_t at)
{
	size_t end = at + count_run(view, at);

	return end - at >= RUN_BYTES ||
	       (end - at >= 3 && (end == view->size || view->text[end] == '\n'));
}

/* Return the size of the sign at @at, after which the line goes on; 0: there is none. */
static size_t line_sign(const struct view *view, size_t at)
{
	char sign = at < view->size ? view->text[at] : '\0';
	size_t run = sign ? count_run(view, at) : 0;
	bool has_space = at + run < view->size && view->text[at + run] == ' ';

	if (sign == '>')
		return at + 1 < view->size && view->text[at + 1] == ' ' ? 2 : 1;
	if (sign == '#' && run <= 6 && has_space)
		return run + 1;
	return (sign == '-' || sign == '*' || sign == '+') && run == 1 && has_space ? 2 : 0;
}

static size_t begin_line(struct plain *plain, const struct view *view)
{
	bool has_end = view->is_end || memchr(view->text, '\n', view->size);
	size_t at = 0;
	size_t sign;

	while (at < view->size && at < 3 && view->text[at] == ' ')
		at++;
	if (!has_end && view->size < LINE_SIGN_BYTES &&
		(at == view->size || strchr("#>-*+`~_", view->text[at])))
		return WAIT;
	if (at < view->size && strchr("`~", view->text[at]) && count_run(view, at) >= 3) {
		plain->state = PLAIN_SKIPPING;
		return at + 3;
	}
	if (!view->is_end && at < view->size && strchr("-*_", view->text[at]) &&
		at + count_run(view, at) == view->size && view->size < at + RUN_BYTES)
		return WAIT;
	if (at < view->size && strchr("-*_", view->text[at]) && is_rule(view, at)) {
		plain->state = PLAIN_SKIPPING;
		return at + 3;
	}
	sign = line_sign(view, at);
	if (sign > 0)
		return at + sign;
	plain->state = PLAIN_INSIDE;
	return WAIT;
}

/* Leave out the rest of the line. */
static size_t skip_line(struct plain *plain, const struct view *view)
{
	const char *end = memchr(view->text, '\n', view->size);

	if (!end)
		return view->size;
	plain->state = PLAIN_LINE;
	return (size_t)(end - view->text) + 1;
}

/* ── inside of a line ────────────────────────────────────────────────────────────────────────── */

/* Return whether a run of @n signs @sign between @before and @after is emphasis. */
static bool is_emphasis(char sign, size_t n, char before, char after)
{
	bool is_inside = isalnum((unsigned char)before) && isalnum((unsigned char)after);

	if (is_blank_byte(before) && is_blank_byte(after))
		return false;
	return !is_inside || (sign == '*' && n > 1);
}

static size_t take_emphasis(struct plain *plain, const struct view *view, struct buffer *out)
{
	size_t run = count_run(view, 0);
	char sign = *view->text;
	char after;

	if (run >= RUN_BYTES) {
		put_bytes(plain, view->text, RUN_BYTES, out);
		return RUN_BYTES;
	}
	if (run == view->size && !view->is_end)
		return WAIT;
	after = run < view->size ? view->text[run] : '\n';
	if (sign == '~' ? run < 2 : !is_emphasis(sign, run, plain->last, after))
		put_bytes(plain, view->text, run, out);
	return run;
}

/* Return the place of @byte from @at on, in the same line and near, or 0. */
static size_t find_near(const struct view *view, size_t at, char byte)
{
	for (size_t i = at; i < view->size && i < PLAIN_LINK_BYTES; i++) {
		if (view->text[i] == byte)
			return i;
		if (view->text[i] == '\n')
			return 0;
	}
	return 0;
}

/* Take the text of a link or a picture, whose `[` is at @at. */
static size_t take_link(struct plain *plain, const struct view *view, size_t at, struct buffer *out)
{
	bool is_open = !view->is_end && view->size < PLAIN_LINK_BYTES &&
		       !memchr(view->text, '\n', view->size);
	size_t end = find_near(view, at, ']');
	size_t close = end > 0 && end + 1 < view->size && view->text[end + 1] == '('
			       ? find_near(view, end, ')')
			       : 0;

	if (close > 0) {
		put_bytes(plain, view->text + at + 1, end - at - 1, out);
		return close + 1;
	}
	if (is_open && (end == 0 || end + 1 == view->size || view->text[end + 1] == '('))
		return WAIT;
	put_bytes(plain, view->text, at + 1, out);
	return at + 1;
}

static size_t take_sign(struct plain *plain, const struct view *view, struct buffer *out)
{
	char sign = *view->text;
	bool is_last = view->size == 1;

	if (sign == '`')
		return count_run(view, 0);
	if (sign == '*' || sign == '_' || sign == '~')
		return take_emphasis(plain, view, out);
	if (sign == '[')
		return take_link(plain, view, 0, out);
	if (is_last && !view->is_end)
		return WAIT;
	if (sign == '!' && !is_last && view->text[1] == '[')
		return take_link(plain, view, 1, out);
	if (sign == '\\' && !is_last && ispunct((unsigned char)view->text[1])) {
		put_bytes(plain, view->text + 1, 1, out);
		return 2;
	}
	put_bytes(plain, view->text, 1, out);
	return 1;
}

static size_t take_inside(struct plain *plain, const struct view *view, struct buffer *out)
{
	size_t size = 0;

	while (size < view->size && !strchr("*_~`[!\\\n", view->text[size]))
		size++;
	if (size > 0) {
		put_bytes(plain, view->text, size, out);
		return size;
	}
	if (*view->text != '\n')
		return take_sign(plain, view, out);
	put_bytes(plain, view->text, 1, out);
	plain->state = PLAIN_LINE;
	return 1;
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

static size_t judge_bytes(struct plain *plain, const struct view *view, struct buffer *out)
{
	switch (plain->state) {
	case PLAIN_BEGIN:
		return begin_text(plain, view);
	case PLAIN_THOUGHT:
		return skip_thought(plain, view);
	case PLAIN_LINE:
		return begin_line(plain, view);
	case PLAIN_INSIDE:
		return take_inside(plain, view, out);
	case PLAIN_SKIPPING:
		return skip_line(plain, view);
	}
	return view->size;
}

void plain_take(struct plain *plain, const char *text, size_t size, bool is_end, struct buffer *out)
{
	struct view view = {.is_end = is_end};
	size_t at = 0;

	buffer_append(&plain->held, text, size);
	if (buffer_status(&plain->held) < 0) {
		buffer_fail_with(out, &plain->held);
		return;
	}
	while (at < plain->held.size) {
		enum plain_state before = plain->state;
		size_t n;

		view.text = plain->held.data + at;
		view.size = plain->held.size - at;
		n = judge_bytes(plain, &view, out);
		if (n > 0)
			plain->last = view.text[n - 1];
		else if (plain->state == before)
			break;
		at += n;
	}
	plain->held.size -= at;
	if (at > 0 && plain->held.size > 0)
		memmove(plain->held.data, plain->held.data + at, plain->held.size);
}

void plain_deinit(struct plain *plain)
{
	buffer_deinit(&plain->held);
	*plain = (struct plain){0};
}
