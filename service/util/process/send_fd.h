/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The most descriptors that come at once (SCM_MAX_FD of Linux). */
#define PASS_FDS_MAX 253

/* Send @size bytes at @bytes through the socket @socket, with the descriptor @fd beside them (-1:
 * with none), which stays open here (SCM_RIGHTS, unix(7)). Return 0, -EPROTO when only a part was
 * taken, or the negative errno of sendmsg(). */
int pass_send(int socket, const void *bytes, size_t size, int fd);

/* As recvmsg() of at most @size bytes with @flags. Write the descriptors that came beside them to
 * @ret_fds, and their number to *ret_n_fds. They close on exec. The caller closes them, also after
 * a failure. Fail with ENOMEM when not all of them could be taken. */
ssize_t pass_receive_all(int socket, void *bytes, size_t size, int flags, int ret_fds[PASS_FDS_MAX],
	size_t *ret_n_fds);

/* Receive a descriptor sent through @socket with one byte. The caller closes *ret_fd, which closes
 * on exec. Return 0, -EPROTO when no descriptor came, or the negative errno of recvmsg(). */
int pass_receive(int socket, int *ret_fd);
