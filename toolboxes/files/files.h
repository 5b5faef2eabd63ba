/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <toolbox.h>

#include "answer.h"
#include "fence.h"
#include "text.h"

/* What the tools share. */

/* The most bytes of the text of an answer, below the result_max_chars of the tools, so that an
 * answer ends where the tool ends it. */
#define ANSWER_BYTES_MAX 100000
#define RESULT_CHARS_MAX 120000
#define FILE_BYTES_MAX   (16u << 20) /* the largest file that is changed */

/* What a call has that says nothing else, and the most paths of a search. */
#define READ_LINES     200
#define LIST_ENTRIES   25
#define LIST_DEPTH     2
#define GREP_PATHS     100
#define GREP_PATHS_MAX 2000

/* The handlers of the tools. */
void read_file(struct toolbox_call call, void *data);
void list_dir(struct toolbox_call call, void *data);
void grep_files(struct toolbox_call call, void *data);
void write_file(struct toolbox_call call, void *data);
void edit_file(struct toolbox_call call, void *data);
void apply_patch(struct toolbox_call call, void *data);

/* Return the path in the argument @key, or @fallback without it; NULL, and the words in @why: the
 * path has U+0000. */
const char *read_path(
	struct toolbox_call call, const char *key, const char *fallback, struct text *why);

#endif
