/* SPDX-License-Identifier: Apache-2.0 */
#include "patch_apply.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the lines that an error repeats. */
#define SHOWN_BYTES 2000

/* The most comparisons in looking for the nearest place. */
#define NEAREST_MAX 20000000

/* A line of the text; its line end follows. */
struct source_line {
	struct part text;
	size_t end_size; /* of its line end: 0, 1 or 2 */
};

struct applying {
	const struct patch *patch;
	const char *name;
	struct source_line *lines;
	size_t n_lines;
	const char *line_end; /* of new lines */
	size_t at;            /* the first line that is not in the result yet */
	struct text *after;
	struct text *why;
};

static bool split_lines(struct applying *applying, const struct text *text)
{
	const char *at = text_string(text);
	const char *end = at + text->size;
	size_t n = 1;

	for (const char *c = at; (c = memchr(c, '\n', (size_t)(end - c))); c++)
		n++;
	applying->lines = calloc(n, sizeof(*applying->lines));
	if (!applying->lines)
		return false;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		bool has_cr = newline && stop > at && stop[-1] == '\r';

		applying->lines[applying->n_lines++] = (struct source_line){
			.text = {at, (size_t)(stop - at) - has_cr},
			.end_size = (newline != NULL) + (size_t)has_cr,
		};
		at = newline ? newline + 1 : end;
	}
	applying->line_end =
		applying->n_lines > 0 && applying->lines[0].end_size == 2 ? "\r\n" : "\n";
	return true;
}

/* ── comparing lines ─────────────────────────────────────────────────────────────────────────── */

enum pass {
	PASS_EQUAL,
	PASS_END,   /* without white space at the end */
	PASS_ENDS,  /* at both ends */
	PASS_ASCII, /* and with ASCII for punctuation of Unicode */
	N_PASSES,
};

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct part trim_line(struct part part, enum pass pass)
{
	while (pass >= PASS_END && part.size > 0 && is_white(part.bytes[part.size - 1]))
		part.size--;
	while (pass >= PASS_ENDS && part.size > 0 && is_white(*part.bytes)) {
		part.bytes++;
		part.size--;
	}
	return part;
}

/* Take the next character of @part: a dash, quote or space of Unicode as ASCII, else a byte. */
static int take_ascii(struct part *part)
{
	const unsigned char *at = (const unsigned char *)part->bytes;
	size_t size = utf8_size(part->bytes, part->size);
	unsigned int point =
		size == 2   ? (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu)
		: size == 3 ? (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu)
			    : 0; /* ASCII, or a byte of no character */
	int ascii = at[0];

	if ((point >= 0x2010 && point <= 0x2015) || point == 0x2212)
		ascii = '-';
	else if (point >= 0x2018 && point <= 0x201B)
		ascii = '\'';
	else if (point >= 0x201C && point <= 0x201F)
		ascii = '"';
	else if (point == 0x00A0 || (point >= 0x2002 && point <= 0x200A) || point == 0x202F ||
		 point == 0x205F || point == 0x3000)
		ascii = ' ';
	else
		size = 1;
	part->bytes += size;
	part->size -= size;
	return ascii;
}

static bool is_equal_ascii(struct part a, struct part b)
{
	while (a.size > 0 && b.size > 0)
		if (take_ascii(&a) != take_ascii(&b))
			return false;
	return a.size == b.size;
}

static bool is_equal_line(struct part a, struct part b, enum pass pass)
{
	a = trim_line(a, pass);
	b = trim_line(b, pass);
	if (pass == PASS_ASCII)
		return is_equal_ascii(a, b);
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* ── the search ──────────────────────────────────────────────────────────────────────────────── */

/* Return whether the @n lines of @wanted are at @at. */
static bool is_at(const struct applying *applying, size_t at, const struct part *wanted, size_t n,
	enum pass pass)
{
	for (size_t i = 0; i < n; i++)
		if (!is_equal_line(applying->lines[at + i].text, wanted[i], pass))
			return false;
	return true;
}

/* Find the @n lines of @wanted from @from on. Return whether *ret_at has their place. */
static bool search_lines(const struct applying *applying, const struct part *wanted, size_t n,
	size_t from, size_t *ret_at)
{
	for (int pass = 0; pass < N_PASSES; pass++)
		for (size_t at = from; at + n <= applying->n_lines; at++)
			if (is_at(applying, at, wanted, n, (enum pass)pass)) {
				*ret_at = at;
				return true;
			}
	return false;
}

/* ── the nearest place ───────────────────────────────────────────────────────────────────────── */

/* Return how many of the @n lines of @wanted are at @at, as far as the text goes. */
static size_t count_equal(
	const struct applying *applying, size_t at, const struct part *wanted, size_t n)
{
	size_t n_equal = 0;

	for (size_t i = 0; i < n && at + i < applying->n_lines; i++)
		n_equal += is_equal_line(applying->lines[at + i].text, wanted[i], PASS_ENDS);
	return n_equal;
}

static void write_part(struct text *out, struct part part)
{
	text_put(out, "'");
	text_add_lossy(out, part.bytes, part.size < SHOWN_BYTES ? part.size : SHOWN_BYTES);
	text_put(out, "'");
}

/* Append the place with the most equal lines, and the first line that differs there. */
static void write_nearest(const struct applying *applying, const struct part *wanted, size_t n)
{
	size_t best = 0;
	size_t best_at = 0;
	size_t i = 0;

	if (n == 0 || applying->n_lines == 0 || n > NEAREST_MAX / applying->n_lines)
		return;
	for (size_t at = 0; at < applying->n_lines; at++) {
		size_t n_equal = count_equal(applying, at, wanted, n);

		if (n_equal > best) {
			best = n_equal;
			best_at = at;
		}
	}
	if (best == 0)
		return;
	text_printf(applying->why, "\nNearest place: line %zu, where %zu of %zu lines are equal",
		best_at + 1, best, n);
	while (i < n && best_at + i < applying->n_lines &&
		is_equal_line(applying->lines[best_at + i].text, wanted[i], PASS_ENDS))
		i++;
	if (i == n || best_at + i == applying->n_lines) {
		text_put(applying->why,
			i == n ? ", but it is before the end of an earlier hunk or header"
			       : ", and there the file ends");
		return;
	}
	text_printf(applying->why, "; line %zu is ", best_at + i + 1);
	write_part(applying->why, applying->lines[best_at + i].text);
	text_put(applying->why, ", the patch has ");
	write_part(applying->why, wanted[i]);
}

/* Append the first line that has @header as a part: headers are whole lines. */
static void write_containing(const struct applying *applying, struct part header)
{
	for (size_t i = 0; i < applying->n_lines; i++) {
		struct part line = applying->lines[i].text;

		if (!memmem(line.bytes, line.size, header.bytes, header.size))
			continue;
		text_printf(applying->why, "\nNearest place: line %zu is ", i + 1);
		write_part(applying->why, line);
		text_put(applying->why, "; a header is a whole line after the last hunk");
		return;
	}
}

/* Go to the line after the headers of @hunk. */
static bool follow_headers(struct applying *applying, const struct patch_hunk *hunk, size_t *from)
{
	for (size_t i = 0; i < hunk->n_headers; i++) {
		const struct part *header = &applying->patch->headers[hunk->first_header + i];
		size_t at;

		if (!search_lines(applying, header, 1, *from, &at)) {
			text_put(applying->why, "Failed to find context '");
			text_add_lossy(applying->why, header->bytes, header->size);
			text_printf(applying->why,
				"' in %s (line %u of the patch); nothing was written.",
				applying->name, hunk->number);
			write_containing(applying, *header);
			return false;
		}
		*from = at + 1;
	}
	return true;
}

static bool refuse_lines(const struct applying *applying, const struct patch_hunk *hunk,
	const struct part *wanted, size_t n)
{
	size_t size = 0;

	text_printf(applying->why, "Failed to find expected lines in %s:", applying->name);
	for (size_t i = 0; i < n && size < SHOWN_BYTES; i++) {
		text_put(applying->why, "\n");
		text_add_lossy(applying->why, wanted[i].bytes,
			wanted[i].size < SHOWN_BYTES ? wanted[i].size : SHOWN_BYTES);
		size += wanted[i].size + 1;
	}
	text_printf(applying->why, "\nThe hunk is on line %u of the patch; nothing was written.",
		hunk->number);
	write_nearest(applying, wanted, n);
	return false;
}

/* ── the result ──────────────────────────────────────────────────────────────────────────────── */

/* Let a line begin at the end of the result. */
static void end_line(struct applying *applying)
{
	struct text *after = applying->after;

	if (after->size > 0 && after->data[after->size - 1] != '\n')
		text_put(after, applying->line_end);
}

/* Copy the next line of the text. */
static void copy_line(struct applying *applying)
{
	const struct source_line *line = &applying->lines[applying->at++];

	end_line(applying);
	text_add(applying->after, line->text.bytes, line->text.size + line->end_size);
}

/* Put the first @n lines of @hunk at @at. */
static void put_hunk(struct applying *applying, const struct patch_hunk *hunk, size_t n, size_t at)
{
	const struct patch_line *lines = applying->patch->lines + hunk->first_line;

	while (applying->at < at)
		copy_line(applying);
	for (size_t i = 0; i < n; i++) {
		if (lines[i].mark == ' ') {
			copy_line(applying);
		} else if (lines[i].mark == '-') {
			applying->at++;
		} else {
			end_line(applying);
			text_add(applying->after, lines[i].text.bytes, lines[i].text.size);
			text_put(applying->after, applying->line_end);
		}
	}
}

/* Return the number of lines of @hunk without its last one, if that is empty and no line is added
 * or removed by it. */
static size_t without_empty_end(
	const struct applying *applying, const struct patch_hunk *hunk, size_t n)
{
	const struct patch_line *lines = applying->patch->lines + hunk->first_line;

	return n > 0 && lines[n - 1].mark == ' ' && lines[n - 1].text.size == 0 ? n - 1 : n;
}

/* Gather the lines of the text that the first @n lines of @hunk expect. Return their number. */
static size_t gather(const struct applying *applying, const struct patch_hunk *hunk, size_t n,
	struct part *ret_wanted)
{
	const struct patch_line *lines = applying->patch->lines + hunk->first_line;
	size_t n_wanted = 0;

	for (size_t i = 0; i < n; i++)
		if (lines[i].mark != '+')
			ret_wanted[n_wanted++] = lines[i].text;
	return n_wanted;
}

/* Return the number of lines of @hunk, without empty ones at the end of a hunk that only adds: they
 * are the distance to the next hunk, and no line to look for. */
static size_t count_lines(const struct applying *applying, const struct patch_hunk *hunk)
{
	const struct patch_line *lines = applying->patch->lines + hunk->first_line;
	size_t n = hunk->n_lines;

	while (n > 1 && lines[n - 1].is_bare)
		n--;
	for (size_t i = 0; i < n; i++)
		if (lines[i].mark != '+')
			return hunk->n_lines;
	return n;
}

/* Find the place of @hunk from the line @from on. *ret_n are the lines of the hunk that count:
 * empty lines at its end may be only the distance to the next hunk. */
static bool find_place(const struct applying *applying, const struct patch_hunk *hunk,
	struct part *wanted, size_t from, size_t *ret_n, size_t *ret_at)
{
	size_t n = count_lines(applying, hunk);

	for (;;) {
		size_t n_wanted = gather(applying, hunk, n, wanted);
		size_t last = n_wanted < applying->n_lines ? applying->n_lines - n_wanted : 0;
		size_t shorter = without_empty_end(applying, hunk, n);

		*ret_n = n;
		*ret_at = hunk->n_headers > 0 && !hunk->is_at_end ? from : applying->n_lines;
		if (n_wanted == 0)
			return true;
		if (search_lines(applying, wanted, n_wanted,
			    hunk->is_at_end && last > from ? last : from, ret_at))
			return true;
		if (shorter == n || gather(applying, hunk, shorter, wanted) == 0)
			return false;
		n = shorter;
	}
}

static bool apply_hunk(struct applying *applying, const struct patch_hunk *hunk)
{
	struct part *wanted = calloc(hunk->n_lines + 1, sizeof(*wanted));
	size_t from = applying->at;
	size_t at;
	size_t n;
	bool is_good = wanted && follow_headers(applying, hunk, &from);

	if (is_good && find_place(applying, hunk, wanted, from, &n, &at))
		put_hunk(applying, hunk, n, at);
	else if (is_good)
		is_good = refuse_lines(
			applying, hunk, wanted, gather(applying, hunk, hunk->n_lines, wanted));
	free(wanted);
	return is_good;
}

bool patch_apply(const struct patch *patch, const struct patch_operation *operation,
	const char *name, const struct text *before, struct text *ret_after, struct text *why)
{
	struct applying applying = {.patch = patch, .name = name, .after = ret_after, .why = why};
	bool is_good = split_lines(&applying, before);

	for (size_t i = 0; is_good && i < operation->n_hunks; i++)
		is_good = apply_hunk(&applying, &patch->hunks[operation->first_hunk + i]);
	while (is_good && applying.at < applying.n_lines)
		copy_line(&applying);
	if (ret_after->has_failed || !applying.lines) {
		text_put(why, "out of memory");
		is_good = false;
	}
	free(applying.lines);
	return is_good;
}
