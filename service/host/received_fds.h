/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/*
 * Descriptors sent by a host over its wire (SCM_RIGHTS). One is expected, with the first frame; a
 * toolbox can send any others. The last close of some of them waits: of a TCP socket for as long as
 * its SO_LINGER asks for, of a file for its file system. So the loop never makes it:
 *
 *   wire ──▶ received_fds_take ─┬─▶ the one descriptor, for the caller
 *                           └─▶ others ──▶ a thread that closes them
 *   wire that is closed with unread bytes ─▶ the same thread
 *
 * Descriptors left in the kernel by a receiver would be closed there, by the receiver.
 */

/* As a non-blocking recv() of at most @size bytes. Write to *ret_fd the descriptor received with
 * them, or -1. With several descriptors, return -1 with EBADMSG. */
ssize_t received_fds_take(int wire, void *bytes, size_t size, int *ret_fd);

/* Close @fd, unless it is -1, beside the loop. */
void received_fds_close(int fd);

/* Close @wire: beside the loop if something was not read. */
void received_fds_close_wire(int wire);
