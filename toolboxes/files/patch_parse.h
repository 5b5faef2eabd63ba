/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_PATCH_PARSE_H
#define FILES_PATCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/*
 * The text of a patch, read into its operations:
 *
 *   *** Begin Patch
 *   *** Add File: PATH          + lines
 *   *** Delete File: PATH
 *   *** Update File: PATH       [*** Move to: PATH], then hunks:
 *   @@ header                     any number of them; none before the first hunk
 *    context -removed +added      an empty line is an empty line of context
 *   *** End of File
 *   *** End Patch
 *
 * Tolerated are white space around the whole and around headers, CR before line ends, a
 * here-document around the whole (<<EOF, <<'EOF', <<"EOF"), and empty lines between operations and
 * hunks.
 */

/* A text inside of the patch. */
struct part {
	const char *bytes;
	size_t size;
};

struct patch_line {
	struct part text; /* without its mark */
	char mark;        /* ' ', '-' or '+' */
	bool is_bare;     /* the line was empty: context, or the distance to the next hunk */
};

struct patch_hunk {
	unsigned int number; /* its line in the patch, from 1 */
	size_t first_header; /* among the headers of the patch */
	size_t n_headers;
	size_t first_line; /* among the lines of the patch */
	size_t n_lines;
	bool is_at_end; /* *** End of File */
};

enum patch_kind {
	PATCH_ADD,
	PATCH_DELETE,
	PATCH_UPDATE,
};

struct patch_operation {
	enum patch_kind kind;
	unsigned int number; /* its line in the patch */
	struct part path;
	struct part moves_to; /* bytes NULL: it is not moved */
	size_t first_hunk;
	size_t n_hunks;
	size_t first_line; /* PATCH_ADD: its lines */
	size_t n_lines;
};

/* A zeroed struct is empty. The parts point into the text of the patch. */
struct patch {
	struct patch_operation *operations;
	size_t n_operations, room_operations;
	struct patch_hunk *hunks;
	size_t n_hunks, room_hunks;
	struct part *headers;
	size_t n_headers, room_headers;
	struct patch_line *lines;
	size_t n_lines, room_lines;
};

/* Read the @size bytes at @input, which outlive @ret_patch. Return whether it is a patch; else @why
 * has what was expected, and in which line. */
bool patch_parse(const char *input, size_t size, struct patch *ret_patch, struct text *why);

void patch_free(struct patch *patch);

#endif
