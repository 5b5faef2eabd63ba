/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Bytes of the list to read: it bounds the time of a visit. */
#define LIST_BYTES (32 << 10)

/* Read the list; the kernel gives about a page of it at once. Return its size or a negative
 * errno. */
static ssize_t read_list(const char *path, char *ret_text, size_t size_max)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n = -1;

	if (fd < 0)
		return -errno;
	while (size < size_max && (n = read(fd, ret_text + size, size_max - size)) > 0)
		size += (size_t)n;
	return n < 0 ? -errno : (ssize_t)size;
}

static int visit_list(const char *path, void (*visit)(void *data, pid_t pid), void *data)
{
	char text[LIST_BYTES + 1];
	ssize_t size = read_list(path, text, LIST_BYTES);
	char *end;

	if (size < 0)
		return (int)size;
	text[size] = '\0';
	for (char *at = text;; at = end) {
		long pid = strtol(at, &end, 10);

		/* The last number may be cut. */
		if (end == at || *end != ' ')
			return 0;
		visit(data, (pid_t)pid);
	}
}

int children_visit(void (*visit)(void *data, pid_t pid), void *data)
{
	return visit_list("/proc/thread-self/children", visit, data);
}

int children_visit_of(pid_t parent, void (*visit)(void *data, pid_t pid), void *data)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	return visit_list(path, visit, data);
}
