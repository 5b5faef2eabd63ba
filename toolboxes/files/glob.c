/* SPDX-License-Identifier: Apache-2.0 */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* The most steps of one match: stars in a row would take time without end. */
#define STEPS_MAX 20000

/* The most braces in one another. */
#define DEPTH_MAX 8

struct matching {
	unsigned int n_steps;
	int depth;
};

/* The rest of a pattern after an alternative of braces. */
struct rest {
	const char *pattern;
	const char *end;
	const struct rest *next;
};

static bool match_here(struct matching *matching, const char *pattern, const char *end,
	const struct rest *rest, const char *path);

/* Return the end of the class that begins at @at, after its ], or NULL. */
static const char *class_end(const char *at, const char *end)
{
	const char *c = at + 1;

	if (c < end && (*c == '!' || *c == '^'))
		c++;
	if (c < end && *c == ']')
		c++;
	while (c < end && *c != ']')
		c++;
	return c < end ? c + 1 : NULL;
}

/* Return whether the class from @at to @end has @letter. */
static bool class_has(const char *at, const char *end, char letter)
{
	bool is_inverse = at[1] == '!' || at[1] == '^';
	bool has_letter = false;

	for (at += 1 + is_inverse; at < end - 1; at++) {
		bool is_range = at + 2 < end - 1 && at[1] == '-';

		has_letter |= is_range ? letter >= at[0] && letter <= at[2] : letter == *at;
		at += is_range ? 2 : 0;
	}
	return has_letter != is_inverse;
}

/* Match @pattern after a star at each place of @path, up to a slash unless it @crosses slashes. */
static bool match_star(struct matching *matching, const char *pattern, const char *end,
	const struct rest *rest, const char *path, bool crosses)
{
	for (;; path++) {
		if (match_here(matching, pattern, end, rest, path))
			return true;
		if (*path == '\0' || (*path == '/' && !crosses))
			return false;
	}
}

/* Match after `**` and a slash: here, or after any slash. */
static bool match_folders(struct matching *matching, const char *pattern, const char *end,
	const struct rest *rest, const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (match_here(matching, pattern, end, rest, path))
			return true;
	}
	return false;
}

/* Return the end of the braces that begin at @at; NULL: they have none. */
static const char *braces_end(const char *at, const char *end)
{
	int depth = 0;

	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0)
			return at;
	}
	return NULL;
}

/* Match one of the alternatives from @at to @close, and then what follows. */
static bool match_braces(struct matching *matching, const char *at, const char *close,
	const char *end, const struct rest *rest, const char *path)
{
	const struct rest after = {close + 1, end, rest};
	int depth = 0;

	for (const char *c = at; c <= close; c++) {
		depth += *c == '{' ? 1 : *c == '}' && c < close ? -1 : 0;
		if (c < close && (*c != ',' || depth > 0))
			continue;
		if (match_here(matching, at, c, &after, path))
			return true;
		at = c + 1;
	}
	return false;
}

/* Go on after the end of an alternative. */
static bool match_rest(struct matching *matching, const struct rest *rest, const char *path)
{
	if (!rest)
		return *path == '\0';
	return match_here(matching, rest->pattern, rest->end, rest->next, path);
}

static bool match_here(struct matching *matching, const char *pattern, const char *end,
	const struct rest *rest, const char *path)
{
	for (; pattern < end; path++) {
		const char *next;

		if (++matching->n_steps > STEPS_MAX)
			return false;
		if (*pattern == '*') {
			const char *after = pattern + strspn(pattern, "*");

			after = after > end ? end : after;
			if (after - pattern > 1 && after < end && *after == '/')
				return match_folders(matching, after + 1, end, rest, path);
			return match_star(matching, after, end, rest, path, after - pattern > 1);
		}
		next = *pattern == '{' ? braces_end(pattern, end) : NULL;
		if (next) {
			bool is_match = ++matching->depth <= DEPTH_MAX &&
					match_braces(matching, pattern + 1, next, end, rest, path);

			matching->depth--;
			return is_match;
		}
		if (*path == '\0')
			return false;
		next = *pattern == '[' ? class_end(pattern, end) : NULL;
		if (next) {
			if (*path == '/' || !class_has(pattern, next, *path))
				return false;
			pattern = next;
			continue;
		}
		if (*pattern == '\\' && pattern + 1 < end)
			pattern++;
		else if (*pattern == '?' && *path != '/') {
			pattern++;
			continue;
		}
		if (*pattern != *path)
			return false;
		pattern++;
	}
	return match_rest(matching, rest, path);
}

bool glob_match(const char *pattern, const char *path)
{
	struct matching matching = {0};

	return match_here(&matching, pattern, pattern + strlen(pattern), NULL, path);
}
