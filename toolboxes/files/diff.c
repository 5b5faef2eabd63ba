/* SPDX-License-Identifier: Apache-2.0 */
#include "diff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * The unified difference of two texts, by the greedy algorithm of Myers (An O(ND) Difference
 * Algorithm and Its Variations, 1986): a path through the grid of their lines, with a step right
 * for a removed line, down for an added one, and diagonals, which cost nothing, for equal lines.
 *
 *   before ─▶          the ends of the furthest paths with d steps are kept for each d, and the
 *   after  ▼ ╲__       path is found by going back through them
 *               │╲
 *
 * With more than STEPS_MAX steps the differing middle is one removed and one added block: correct,
 * and bounded.
 */

#define CONTEXT   3
#define STEPS_MAX 1000

struct lines_of {
	const char **begins; /* one more than there are lines: the end of the text */
	size_t n;
};

/* What happens to the lines: which ones of each side have no equal on the other. */
struct marks {
	bool *removed;
	bool *added;
};

static bool split_text(const struct text *text, struct lines_of *lines)
{
	const char *at = text_string(text);
	const char *end = at + text->size;
	size_t n = 1;

	for (const char *c = at; (c = memchr(c, '\n', (size_t)(end - c))); c++)
		n++;
	lines->begins = calloc(n + 1, sizeof(*lines->begins));
	if (!lines->begins)
		return false;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		lines->begins[lines->n++] = at;
		at = newline ? newline + 1 : end;
	}
	lines->begins[lines->n] = end;
	return true;
}

static size_t line_size(const struct lines_of *lines, size_t i)
{
	return (size_t)(lines->begins[i + 1] - lines->begins[i]);
}

static bool is_same_line(const struct lines_of *a, size_t i, const struct lines_of *b, size_t j)
{
	return line_size(a, i) == line_size(b, j) &&
	       memcmp(a->begins[i], b->begins[j], line_size(a, i)) == 0;
}

/* ── the path ────────────────────────────────────────────────────────────────────────────────── */

/* The differing middles of both sides. */
struct middle {
	const struct lines_of *a;
	const struct lines_of *b;
	size_t first; /* of both */
	long n_a;
	long n_b;
};

static long follow_diagonal(const struct middle *middle, long x, long k)
{
	while (x < middle->n_a && x - k < middle->n_b &&
		is_same_line(middle->a, middle->first + (size_t)x, middle->b,
			middle->first + (size_t)(x - k)))
		x++;
	return x;
}

/* Return the furthest x on the diagonal @k after @d steps, from the ends @v after one step less. */
static long step_on(const long *v, long d, long k)
{
	bool goes_down = k == -d || (k != d && v[k - 1] < v[k + 1]);

	return goes_down ? v[k + 1] : v[k - 1] + 1;
}

/* Go back from the end of the path, and mark its steps. @trace has the ends before each number of
 * steps, 2 * STEPS_MAX + 3 of them. */
static void go_back(
	const struct middle *middle, long *const *trace, long n_steps, struct marks *marks)
{
	long x = middle->n_a;
	long y = middle->n_b;

	for (long d = n_steps; d > 0; d--) {
		const long *v = trace[d] + STEPS_MAX + 1;
		long k = x - y;
		bool goes_down = k == -d || (k != d && v[k - 1] < v[k + 1]);
		long from = goes_down ? k + 1 : k - 1;

		x = v[from];
		y = x - from;
		if (goes_down)
			marks->added[middle->first + (size_t)y] = true;
		else
			marks->removed[middle->first + (size_t)x] = true;
	}
}

/* Mark the shortest path. Return false: it is too long, or there is no memory. */
static bool mark_path(const struct middle *middle, struct marks *marks)
{
	enum { SIZE = 2 * STEPS_MAX + 3 };
	long **trace = calloc(STEPS_MAX + 2, sizeof(*trace));
	long *ends = calloc(SIZE, sizeof(*ends));
	long *v = ends ? ends + STEPS_MAX + 1 : NULL;
	long found = -1;

	for (long d = 0; trace && v && found < 0 && d <= STEPS_MAX; d++) {
		trace[d] = malloc(SIZE * sizeof(*ends));
		if (!trace[d])
			break;
		memcpy(trace[d], ends, SIZE * sizeof(*ends));
		for (long k = -d; found < 0 && k <= d; k += 2) {
			v[k] = follow_diagonal(middle, d == 0 ? 0 : step_on(v, d, k), k);
			if (v[k] >= middle->n_a && v[k] - k >= middle->n_b)
				found = d;
		}
	}
	if (found >= 0)
		go_back(middle, trace, found, marks);
	for (long d = 0; trace && d <= STEPS_MAX; d++)
		free(trace[d]);
	free(trace);
	free(ends);
	return found >= 0;
}

/* Mark the lines that differ. */
static void compare_lines(const struct lines_of *a, const struct lines_of *b, struct marks *marks)
{
	size_t first = 0;
	size_t end_a = a->n;
	size_t end_b = b->n;
	struct middle middle;

	while (first < end_a && first < end_b && is_same_line(a, first, b, first))
		first++;
	while (end_a > first && end_b > first && is_same_line(a, end_a - 1, b, end_b - 1)) {
		end_a--;
		end_b--;
	}
	middle = (struct middle){a, b, first, (long)(end_a - first), (long)(end_b - first)};
	if (mark_path(&middle, marks))
		return;
	for (size_t i = first; i < end_a; i++)
		marks->removed[i] = true;
	for (size_t i = first; i < end_b; i++)
		marks->added[i] = true;
}

/* ── hunks ───────────────────────────────────────────────────────────────────────────────────── */

static void write_line(struct text *out, char mark, const struct lines_of *lines, size_t i)
{
	size_t size = line_size(lines, i);

	text_add(out, &mark, 1);
	text_add(out, lines->begins[i], size);
	if (size == 0 || lines->begins[i][size - 1] != '\n')
		text_put(out, "\n\\ No newline at end of file\n");
}

/* One hunk: lines of both sides. */
struct hunk {
	size_t a, end_a;
	size_t b, end_b;
};

/* Find the end of the hunk that begins at @hunk->a and b: after its last difference, CONTEXT lines
 * without one. */
static void extend_hunk(const struct lines_of *a, const struct lines_of *b,
	const struct marks *marks, struct hunk *hunk)
{
	size_t i = hunk->a;
	size_t j = hunk->b;
	size_t n_equal = 0;

	hunk->end_a = i;
	hunk->end_b = j;
	while ((i < a->n || j < b->n) && n_equal <= 2ul * CONTEXT) {
		bool is_removed = i < a->n && marks->removed[i];
		bool is_added = !is_removed && j < b->n && marks->added[j];

		i += is_removed || !is_added;
		j += !is_removed;
		n_equal = is_removed || is_added ? 0 : n_equal + 1;
		if (n_equal <= CONTEXT) {
			hunk->end_a = i;
			hunk->end_b = j;
		}
	}
}

static void write_hunk(struct text *out, const struct lines_of *a, const struct lines_of *b,
	const struct marks *marks, const struct hunk *hunk)
{
	size_t i = hunk->a;
	size_t j = hunk->b;
	size_t n_a = hunk->end_a - i;
	size_t n_b = hunk->end_b - j;

	text_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", i + (n_a > 0), n_a, j + (n_b > 0), n_b);
	while (i < hunk->end_a || j < hunk->end_b) {
		if (i < hunk->end_a && marks->removed[i]) {
			write_line(out, '-', a, i++);
		} else if (j < hunk->end_b && marks->added[j]) {
			write_line(out, '+', b, j++);
		} else {
			write_line(out, ' ', a, i++);
			j++;
		}
	}
}

static void write_hunks(struct text *out, const struct lines_of *a, const struct lines_of *b,
	const struct marks *marks)
{
	size_t i = 0;
	size_t j = 0;
	size_t from = 0; /* the lines before belong to an earlier hunk */

	while (i < a->n || j < b->n) {
		struct hunk hunk;
		size_t context = i - from < CONTEXT ? i - from : CONTEXT;

		if (!(i < a->n && marks->removed[i]) && !(j < b->n && marks->added[j])) {
			i++;
			j++;
			continue;
		}
		hunk = (struct hunk){.a = i - context, .b = j - context};
		extend_hunk(a, b, marks, &hunk);
		write_hunk(out, a, b, marks, &hunk);
		i = from = hunk.end_a;
		j = hunk.end_b;
	}
}

void diff_write(
	struct text *out, const char *name, const struct text *before, const struct text *after)
{
	struct lines_of a = {0};
	struct lines_of b = {0};
	struct marks marks = {0};

	if (split_text(before, &a) && split_text(after, &b)) {
		marks.removed = calloc(a.n + 1, sizeof(*marks.removed));
		marks.added = calloc(b.n + 1, sizeof(*marks.added));
	}
	if (!marks.removed || !marks.added) {
		out->has_failed = true;
	} else if (before->size != after->size ||
		   memcmp(text_string(before), text_string(after), before->size) != 0) {
		text_put(out, "--- ");
		text_add_name(out, name);
		text_put(out, "\n+++ ");
		text_add_name(out, name);
		text_put(out, "\n");
		compare_lines(&a, &b, &marks);
		write_hunks(out, &a, &b, &marks);
	}
	free(a.begins);
	free(b.begins);
	free(marks.removed);
	free(marks.added);
}
