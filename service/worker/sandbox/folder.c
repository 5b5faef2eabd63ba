/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Most folders that are open at once; nftw() opens those of a deeper tree again. */
#define OPEN_MAX_AT_ONCE 16

int folder_make(char **ret_path)
{
	const char *parent = getenv("TMPDIR");
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/toolboxd-XXXXXX", parent && *parent == '/' ? parent : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(path))
		return -errno;
	if (setenv("TMPDIR", path, 1) < 0) {
		rmdir(path);
		return -ENOMEM;
	}
	*ret_path = take_ptr(path);
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	remove(path);
	return 0;
}

void folder_remove(const char *path)
{
	nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
}
