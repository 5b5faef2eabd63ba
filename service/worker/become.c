/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/become.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file.h"
#include "wire/wire.h"

int become_prepare(const struct driver_load *load)
{
	cleanup_close int fd = memfd_create("load", 0);

	if (fd < 0 || file_write_all(fd, load->text, load->text_size) < 0 ||
		lseek(fd, 0, SEEK_SET) < 0 || fcntl(WIRE_FD, F_SETFD, 0) < 0)
		return -errno;
	if (fd == LOAD_FD) {
		fd = -1; /* it is in its place, and must stay open */
		return 0;
	}
	return dup2(fd, LOAD_FD) < 0 ? -errno : 0;
}

int become_find(const char *name, char ret_path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	size_t room;
	char *slash;

	if (size < 0)
		return -errno;
	ret_path[size] = '\0';
	slash = strrchr(ret_path, '/') + 1;
	room = PATH_MAX - (size_t)(slash - ret_path);
	if (strlen(name) >= room)
		return -ENAMETOOLONG;
	memcpy(slash, name, strlen(name) + 1);
	return access(ret_path, R_OK) < 0 ? -errno : 0;
}
