/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

/* Where our own files are: beside the running program in a build tree, else where they were
 * installed. */
struct paths {
	char host_program[PATH_MAX]; /* toolbox-host */
	char library_dir[PATH_MAX];  /* $PREFIX/lib/toolboxd */
};

/* 0, or -ENOENT when no toolbox-host is found: @ret_paths->host_program then says where it was
 * looked for last. */
int paths_find(struct paths *ret_paths);
