/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_CHANGE_H
#define FILES_CHANGE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <toolbox.h>

#include "fence.h"
#include "text.h"

/*
 * A change of files: all of them, or none.
 *
 *   prepare   each new text is written beside its file, to the end: .NAME.toolboxd-N
 *   commit    new and old file change places (renameat2, RENAME_EXCHANGE), one file after the other
 *   finish    the old texts, beside the files now, are removed
 *
 * A full disk stops the preparation, when nothing has changed. What fails in the commit is undone
 * by changing places again. No reader sees a file that is written in part.
 */

/* A file as it was read, for finding out whether it is still the same. */
struct seen {
	bool exists;
	struct stat status;
};

/* The change of one file. */
struct change {
	struct place place;
	struct seen seen;        /* before */
	bool is_removed;         /* after the change there is no such file */
	const struct text *text; /* the text after the change; borrowed */
	mode_t mode;             /* of a file that is new */

	/* inside of change.c */
	int folder; /* -1: not open */
	const char *name;
	char beside[64]; /* name of the other file, "": there is none */
	bool is_done;
};

/* Look at the file at @place, which may be absent. Return whether @ret_seen has what was found;
 * else @why has the words: it is no regular file, or cannot be read. */
bool change_look(const struct place *place, struct seen *ret_seen, struct text *why);

/* The same, and read the whole file into @ret_text; an absent file has no text. */
bool change_read(
	const struct place *place, struct text *ret_text, struct seen *ret_seen, struct text *why);

/* Make the @n changes of different files. Return whether all are made; else none is, and @why has
 * the words: it cannot be done, or several changes are not prepared 2 seconds before @call ends. */
bool change_make(struct toolbox_call call, struct change *changes, size_t n, struct text *why);

#endif
