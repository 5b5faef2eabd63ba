/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/send_fd.h"

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

ssize_t pass_receive_all(int socket, void *bytes, size_t size, int flags, int ret_fds[PASS_FDS_MAX],
	size_t *ret_n_fds)
{
	struct iovec part = {bytes, size};
	union {
		char bytes[CMSG_SPACE(sizeof(int) * PASS_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *first = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_n_fds = 0;
	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
		*ret_n_fds = (first->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret_fds, CMSG_DATA(first), *ret_n_fds * sizeof(int));
	}
	if (n < 0 || !(message.msg_flags & MSG_CTRUNC))
		return n;
	errno = ENOMEM;
	return -1;
}

int pass_receive(int socket, int *ret_fd)
{
	char byte;
	int fds[PASS_FDS_MAX];
	size_t n_fds;
	int r = pass_receive_all(socket, &byte, sizeof(byte), 0, fds, &n_fds) < 0 ? -errno : 0;

	if (r == 0 && n_fds == 1) {
		*ret_fd = fds[0];
		return 0;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	return r < 0 ? r : -EPROTO;
}
