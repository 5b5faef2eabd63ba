/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

/*
 * The places of our own files.
 *
 * Installed files are found from the running program, so an installation can be moved and a build
 * tree needs no installation:
 *
 *   beside the program        a build tree, with toolbox-host
 *   PREFIX/bin/toolboxd       PREFIX/libexec/toolbox-host, PREFIX/lib/toolboxd
 *   anywhere else             the same below the configured prefix
 *
 * The user's are below the folders of the XDG Base Directory Specification.
 */
struct paths {
	char host_program[PATH_MAX]; /* toolbox-host */
	char library_dir[PATH_MAX];  /* $PREFIX/lib/toolboxd */
};

/* Return 0, or -ENOENT when there is no toolbox-host: @ret_paths->host_program is then the last
 * path tried. */
int paths_find(struct paths *ret_paths);

/* Find our file @name, in the folder of toolbox-host. Return 0, or -ENOENT with @ret_path the last
 * path tried, or another negative errno. */
int paths_find_file(const char *name, char ret_path[PATH_MAX]);

/* The next three set *@ret to a path, which the caller frees; or to NULL where there is no such
 * folder. They return 0, or a negative errno when that cannot be found out. */

/* Find the user's home folder. */
int paths_home(char **ret);

/* Find the folder in the XDG variable @variable, else @fallback in the home folder. A relative path
 * is ignored. */
int paths_xdg_home(const char *variable, const char *fallback, char **ret);

/* Find our state folder: the first of $STATE_DIRECTORY (systemd), else toolboxd in $XDG_STATE_HOME
 * or ~/.local/state. */
int paths_state(char **ret);
