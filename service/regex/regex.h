/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "util/cleanup.h"

/*
 * Regular expressions, run by PCRE2 with a bound on the work of one search.
 *
 *   text ──regex_compile──▶ struct regex ──┐
 *                                          ├─regex_match─▶ matches, differs, too costly
 *   struct regex_scratch, one for many ────┘
 *
 * They are machine code when the system allows machine code. It has a small stack of its own: a
 * match that needs more is repeated by the interpreter, which uses the heap.
 *
 * PCRE2's own limit counts steps, anew at every place where a match could begin, and one step can
 * read the whole text: it bounds neither time nor the search. So expressions have callouts, points
 * where PCRE2 calls us, and the thread's clock is read there, more often for a longer text. Between
 * two callouts no work may be repeated: there is a callout where a search begins at the next place,
 * and a callout after everything with a way back into it: a group or a quantifier.
 *
 *   (?C1)  \w+ (?C1)  \s  ( a | b ) (?C1)  \1
 *
 * The compiling caller inserts them (as regex/translate does), or lets PCRE2 insert one before
 * every item (PCRE2_AUTO_CALLOUT).
 *
 * The owner of an expression gives the meaning: regex/pattern has the expressions of JSON Schema,
 * translated from ECMA-262; catalogue/triggers has PCRE2's own.
 */
struct regex {
	pcre2_code *code;
	bool is_fast; /* machine code */
};

/* Why a text is no regular expression. */
struct regex_error {
	int code;          /* PCRE2_ERROR_… */
	size_t offset;     /* in bytes: how far it was read */
	char message[256]; /* PCRE2's words, NUL-terminated */
};

/* The result of a match. */
enum regex_result {
	REGEX_DIFFERS,
	REGEX_MATCHES,
	REGEX_TOO_COSTLY, /* the bound was reached: the result is unknown */
};

/* Positive results. */
enum regex_status {
	REGEX_E_REFUSED = 1, /* the text is not a regular expression; the error has the reason */
};

/* Compile @size bytes of UTF-8 at @text with the PCRE2_… @options and the PCRE2_EXTRA_…
 * @more_options. 0 with @ret_regex to be deinited by the caller, REGEX_E_REFUSED with @ret_error
 * filled, or -ENOMEM. */
int regex_compile(const char *text, size_t size, uint32_t options, uint32_t more_options,
	struct regex *ret_regex, struct regex_error *ret_error);

/* Translate it to machine code, which pays for expressions matched often. */
void regex_make_fast(struct regex *regex);

/* Return whether this process can have machine code for expressions: PCRE2 can make it here, and
 * the system allows writable and executable memory. */
bool regex_can_be_fast(void);

/* Takes a zeroed one. */
void regex_deinit(struct regex *regex);

/* The memory of matches, reused with any expression. */
struct regex_scratch;

/* A callout in the text of an expression. */
#define REGEX_CALLOUT "(?C1)"

/* The most steps of a backtracking match, unless others are set. */
#define REGEX_STEPS_MAX 100000

/* The thread's time for one search. */
#define REGEX_NS_MAX (UINT64_C(10) * 1000 * 1000)

/* NULL without memory. */
struct regex_scratch *regex_scratch_new(void);

/* The most steps of a match from now on. */
void regex_scratch_limit(struct regex_scratch *scratch, uint32_t steps);

/* Let searches end with a larger piece of work, too: once clock_is_up(@end_ns, *@most_ns). Both are
 * borrowed, and may change between two searches. */
void regex_scratch_share(struct regex_scratch *scratch, uint64_t *end_ns, const uint64_t *most_ns);

/* Takes NULL. */
void regex_scratch_free(struct regex_scratch *scratch);

/* Whether the @size bytes of UTF-8 (which is not checked again) at @text hold a match; a search of
 * more steps than the limit, of more time than REGEX_NS_MAX, or of more memory than there is, is
 * too costly. */
enum regex_result regex_match(
	const struct regex *regex, struct regex_scratch *scratch, const char *text, size_t size);

/* Return the number of named groups of @regex. A name given to several groups counts for each. */
uint32_t regex_n_groups(const struct regex *regex);

/* Return the NUL-terminated name of the group at @index, in the order of the bytes of all names. */
const char *regex_group_name(const struct regex *regex, uint32_t index);

/* Take the @size bytes at @text, which the group @name of a match has. */
typedef void (*regex_group_function)(void *data, const char *name, const char *text, size_t size);

/* Search as regex_match() does, and after a match call @function with @data for each named group
 * that took part in it, once for a name. */
enum regex_result regex_match_groups(const struct regex *regex, struct regex_scratch *scratch,
	const char *text, size_t size, regex_group_function function, void *data);

/* Whether the searches since the last call of this function took enough work for a look at the
 * clock: a caller with a bound on all of its searches should look, too. */
bool regex_scratch_was_long(struct regex_scratch *scratch);

CLEANUP_DEFINE(regex_scratch, struct regex_scratch *, regex_scratch_free)
