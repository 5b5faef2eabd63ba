/* SPDX-License-Identifier: Apache-2.0 */
#include "host/received_fds.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/thread.h"

/* The most descriptors that come at once (SCM_MAX_FD of Linux). */
#define STRAYS_MAX 253

static void *close_beside(void *data)
{
	close((int)(intptr_t)data);
	return NULL;
}

/* A thread for each: one that waits holds up no other. Without one it is closed here. */
void received_fds_close(int fd)
{
	pthread_t thread;

	if (fd < 0)
		return;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the thread takes it back as a number */
	if (thread_start(&thread, close_beside, (void *)(intptr_t)fd) < 0)
		close(fd);
	else
		pthread_detach(thread);
}

void received_fds_close_wire(int wire)
{
	int size = 0;

	/* Nothing more can be sent from here on. */
	shutdown(wire, SHUT_RD);
	if (ioctl(wire, FIONREAD, &size) < 0 || size > 0)
		received_fds_close(wire);
	else
		close(wire);
}

ssize_t received_fds_take(int wire, void *bytes, size_t size, int *ret_fd)
{
	struct iovec part = {bytes, size};
	union {
		char bytes[CMSG_SPACE(sizeof(int) * STRAYS_MAX)];
		struct cmsghdr align;
	} control;
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(wire, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *first = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
	size_t n_fds = 0;

	*ret_fd = -1;
	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
		n_fds = (first->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < n_fds; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(first) + i * sizeof(int), sizeof(int));
		if (n_fds == 1)
			*ret_fd = fd;
		else
			received_fds_close(fd);
	}
	if (n_fds <= 1 && !(n >= 0 && message.msg_flags & MSG_CTRUNC))
		return n;
	errno = n_fds > 1 ? EBADMSG : ENOMEM;
	return -1;
}
