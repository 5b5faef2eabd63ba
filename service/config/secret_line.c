/* SPDX-License-Identifier: Apache-2.0 */
#include "config/secret_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/file/file.h"

/* Return whether @path is below $CREDENTIALS_DIRECTORY. */
static bool is_credential(const char *path)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	size_t size = folder ? strlen(folder) : 0;

	return size > 0 && strncmp(path, folder, size) == 0 && path[size] == '/' &&
	       !strchr(path + size + 1, '/');
}

mode_t secret_line_forbidden(const char *path)
{
	return is_credential(path) ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
}

int secret_line_read(const char *path, mode_t forbidden, size_t size_max, struct buffer *line)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_mode & forbidden)
		return -EPERM;
	r = file_read_fd(fd, size_max + 1, line);
	if (r < 0)
		return r == -EFBIG ? -EINVAL : r;
	if (line->size > 0 && line->data[line->size - 1] == '\n')
		line->size--;
	return line->size > size_max ? -EINVAL : 0;
}

void secret_line_deinit(struct buffer *line)
{
	if (line->data)
		explicit_bzero(line->data, line->capacity);
	buffer_deinit(line);
}
