/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Ownership of local variables.
 *
 * An owning local carries such an attribute from its first line, so every early return frees its
 * object. take_ptr() and take_fd() hand it over.
 */

/* Run @function(&variable) when the variable goes out of scope. */
#define cleanup(function) __attribute__((cleanup(function)))

/* free() a malloc'd pointer at the end of the scope. */
#define cleanup_free cleanup(cleanup_free_pointer)

/* close() a descriptor at the end of the scope, unless it is negative. */
#define cleanup_close cleanup(cleanup_close_fd)

/* closedir() a folder at the end of the scope. */
#define cleanup_folder cleanup(cleanup_folder_stream)

/* Give up ownership of the pointer @p: return its value and set @p to NULL. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_pointer = (p);                                                 \
		(p) = NULL;                                                                        \
		taken_pointer;                                                                     \
	})

/* Give up ownership of the descriptor @fd: return its value and set @fd to -1. */
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_fd = (fd);                                                               \
		(fd) = -1;                                                                         \
		taken_fd;                                                                          \
	})

/* Define cleanup(NAME_cleanup) for a type whose free function takes NULL: CLEANUP_DEFINE(schema,
 * struct schema *, schema_free) gives cleanup(schema_cleanup). */
#define CLEANUP_DEFINE(name, type, function)                                                       \
	static inline void name##_cleanup(type *pointer)                                           \
	{                                                                                          \
		function(*pointer);                                                                \
	}

static inline void cleanup_folder_stream(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static inline void cleanup_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
