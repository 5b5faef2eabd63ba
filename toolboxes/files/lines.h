/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_LINES_H
#define FILES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toolbox.h>

#include "text.h"

/* Lines of a file, one after the other, in bounded memory, and in the time of a call. */

/* The characters of a line that are shown. */
#define LINE_CHARACTERS_MAX 500

/* The bytes of a line that are kept: as many characters, and one more byte. */
#define LINE_BYTES_MAX (LINE_CHARACTERS_MAX * 4 + 1)

/* A line without its line end. */
struct line {
	const char *bytes; /* at most LINE_BYTES_MAX of them */
	size_t size;       /* as many as there are */
	size_t whole_size; /* size of the whole line */
};

struct lines {
	struct toolbox_call call;
	int fd; /* borrowed */
	char block[64 << 10];
	size_t at; /* place in the block */
	size_t end;
	char kept[LINE_BYTES_MAX]; /* a line that crosses blocks */
	uint64_t number;           /* number of the last line; 0: none yet */
	uint32_t n_blocks;
	int error; /* 0 or a negative errno; -ETIME: the time of the call is over */
};

/* Go to the next line. Return false at the end of the file, or with an error. *ret_line is valid
 * until the next call; NULL: the line is skipped. */
bool lines_next(struct lines *lines, struct line *ret_line);

/* Return whether there is another line. */
bool lines_has_next(struct lines *lines);

/* Append a line as read_file shows it. */
void line_write(struct text *out, uint64_t number, const struct line *line);

#endif
