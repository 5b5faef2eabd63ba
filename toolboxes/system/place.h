/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_PLACE_H
#define SYSTEM_PLACE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Files of the kernel. TOOLBOXD_SYSROOT, set by tests, is put before each path:
 *
 *   /proc/meminfo ─▶ /tmp/copy/proc/meminfo
 */

/* The longest path here, with its NUL. */
#define PLACE_BYTES 1024

/* A file that is read is cut to this, with its NUL. */
#define PLACE_FILE_BYTES (256u << 10)

/* Write the place of the path given by @format to @ret_path. Return false if it is too long. */
bool place_path(char ret_path[PLACE_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return the text of a file, which the caller frees; NULL if it cannot be read or is empty. A NUL
 * in it is replaced by a space, and white space at its end is left out. */
char *place_read(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Read a file with one whole number. Return whether there was one. */
bool place_read_number(int64_t *ret_number, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Open a folder, which the caller closes; NULL if it cannot be read. */
DIR *place_open_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return the next entry of @folder that is not hidden; NULL at its end. */
const char *place_next(DIR *folder);

/* Free the text at *@text: for the attribute cleanup. */
void place_free(char **text);

/* Close the folder at *@folder: for the attribute cleanup. */
void place_close(DIR **folder);

#define PLACE_TEXT   __attribute__((cleanup(place_free))) char *
#define PLACE_FOLDER __attribute__((cleanup(place_close))) DIR *

#endif
