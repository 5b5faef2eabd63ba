/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quotes.h"

/* A folder of its own for each test, which is a process of its own. */
static char scratch_folder[64];

static inline void scratch_set_up(void)
{
	strcpy(scratch_folder, "/tmp/unit-XXXXXX");
	cr_assert(mkdtemp(scratch_folder));
}

static inline void scratch_tear_down(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", scratch_folder);
	cr_expect_eq(system(command), 0);
}

/* The path of @name in the folder; good for a few calls. */
static inline char *scratch_path(const char *name)
{
	static char paths[8][384];
	static unsigned int used;
	char *path = paths[used++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch_folder, name);
	return path;
}

/* Write the file @name, and the folders on its way. */
static inline void scratch_write_bytes(const char *name, const char *bytes, size_t size)
{
	char *path = scratch_path(name);
	int fd;

	for (char *slash = path + strlen(scratch_folder) + 1; (slash = strchr(slash, '/'));
		slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(fd >= 0, "%s", path);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static inline void scratch_write(const char *name, const char *text)
{
	scratch_write_bytes(name, text, strlen(text));
}

/* The same for JSON, written with ' in place of ", so that tests can be read. */
static inline void scratch_write_json(const char *name, const char *text)
{
	char *json = quoted(text);

	scratch_write(name, json);
	free(json);
}
