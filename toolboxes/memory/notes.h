/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_NOTES_H
#define MEMORY_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/*
 * A file of notes, one a line:
 *
 *   - 2026-11-26T14:52:01Z [voice assistant] The user's name is Ada.
 *
 * Notes are only appended, by one process at a time (flock(2)), and each is on the disk before it
 * counts. So a process that is killed while it writes leaves at most the beginning of its own line,
 * after which the next line begins; and a disk that is full leaves the file as it was.
 */
#define NOTE_BYTES_MAX  2048u        /* of the text of a note */
#define NOTES_BYTES_MAX (256u << 10) /* of the file, to which notes are added */

/* Write the line of a note. Line ends, and other characters that no line has, become spaces. */
void note_write(
	struct text *out, int64_t time_s, const char *source, const char *note, size_t size);

/* Append @line to the file at @path, which is made if it is absent, within @wait_ms. Return false
 * with @why, and the file as it was. */
bool notes_append(const char *path, const struct text *line, uint32_t wait_ms, struct text *why);

enum notes_status {
	NOTES_OK,
	NOTES_ABSENT, /* there is no file, or nothing in it */
	NOTES_FAILED,
};

/* Read the file at @path. Of a longer file than NOTES_BYTES_MAX the beginning is read, and
 * *ret_size is its whole size. Return NOTES_FAILED with @why. */
enum notes_status notes_read(
	const char *path, struct text *ret_text, uint64_t *ret_size, struct text *why);

#endif
