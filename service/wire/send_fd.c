/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/send_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int pass_send(int socket, const void *bytes, size_t size, int fd)
{
	struct iovec part = {(void *)bytes, size};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *first;
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		first = CMSG_FIRSTHDR(&message);
		first->cmsg_level = SOL_SOCKET;
		first->cmsg_type = SCM_RIGHTS;
		first->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(first), &fd, sizeof(int));
	}
	n = sendmsg(socket, &message, MSG_NOSIGNAL);
	return n < 0 ? -errno : (size_t)n < size ? -EPROTO : 0;
}

/* Close the descriptors in @header, of which only one is expected. */
static void close_received(const struct cmsghdr *header)
{
	size_t n_fds = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < n_fds; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
		close(fd);
	}
}

int pass_receive(int socket, int *ret_fd)
{
	char byte;
	struct iovec part = {&byte, sizeof(byte)};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *first;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	first = CMSG_FIRSTHDR(&message);
	if (!first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	if (first->cmsg_len != CMSG_LEN(sizeof(int))) {
		close_received(first);
		return -EPROTO;
	}
	memcpy(ret_fd, CMSG_DATA(first), sizeof(int));
	return 0;
}
