/* SPDX-License-Identifier: Apache-2.0 */
#include "core/paths.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOST_NAME "toolbox-host"

/* Put @folder/@name into @ret; whether a program is there. */
static int find_program(const char *folder, const char *name, char ret[PATH_MAX])
{
	if (snprintf(ret, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(ret, X_OK) == 0 ? 0 : -ENOENT;
}

int paths_find(struct paths *ret_paths)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *folder;

	if (length < 0)
		return -errno;
	program[length] = '\0';
	folder = dirname(program);
	snprintf(ret_paths->library_dir, PATH_MAX, "%s", TOOLBOXD_LIBRARY_DIR);
	if (find_program(folder, HOST_NAME, ret_paths->host_program) == 0)
		return 0;
	return find_program(TOOLBOXD_LIBEXEC_DIR, HOST_NAME, ret_paths->host_program);
}
