/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Send @size bytes at @bytes through the socket @socket, with the descriptor @fd beside them (-1:
 * with none), which stays open here (SCM_RIGHTS, unix(7)). Return 0, -EPROTO when only a part was
 * taken, or the negative errno of sendmsg(). */
int pass_send(int socket, const void *bytes, size_t size, int fd);

/* Receive a descriptor sent through @socket with one byte. The caller closes *ret_fd, which closes
 * on exec. Return 0, -EPROTO when no descriptor came, or the negative errno of recvmsg(). */
int pass_receive(int socket, int *ret_fd);
