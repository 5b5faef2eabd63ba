/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/ancestry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Ancestors to look at: a longer line is cut by an error. */
#define ANCESTORS_MAX 256

/* The line of proc_pid_stat(5): the name may contain anything; after its last bracket come the
 * state and the parent. */
pid_t ancestry_parent(pid_t pid)
{
	char path[32];
	char text[512];
	const char *end;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (size < 0)
		return -errno;
	text[size] = '\0';
	end = strrchr(text, ')');
	if (!end || strlen(end) < sizeof(") S "))
		return -EBADMSG;
	return (pid_t)strtol(end + sizeof(") S"), NULL, 10);
}

int ancestry_is_ours(pid_t pid)
{
	pid_t self = getpid();

	for (unsigned int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (pid == self)
			return 1;
		pid = ancestry_parent(pid);
	}
	/* Every line ends at the process without a parent. */
	return pid > 0 ? -ELOOP : pid;
}
