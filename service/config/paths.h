/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

/*
 * Where our own files are, as seen from the program that runs: so an installation can be moved, and
 * a build tree needs none.
 *
 *   beside the program        a build tree: toolbox-host stands there
 *   PREFIX/bin/toolboxd       PREFIX/libexec/toolbox-host, PREFIX/lib/toolboxd
 *   anywhere else             the same below the prefix that was configured
 */
struct paths {
	char host_program[PATH_MAX]; /* toolbox-host */
	char library_dir[PATH_MAX];  /* $PREFIX/lib/toolboxd */
};

/* 0, or -ENOENT when no toolbox-host is found: @ret_paths->host_program then says where it was
 * looked for last. */
int paths_find(struct paths *ret_paths);
