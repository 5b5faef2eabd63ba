/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "call/toolbox_sandbox.h"

/*
 * Allow the system calls of a class, by seccomp; from here on all others fail. A tool is never
 * killed for trying.
 *
 *   compute    memory, time, its own threads, signals and limits; files through landlock; waiting
 *   net        also TCP and UDP sockets
 *   `unix`     in both classes, unix sockets
 *   `write`    in both classes, to change the mode, owner, times and attributes of an open file
 *
 * A call that exists fails with EPERM, as without a privilege. clone3(), and a call newer than this
 * program, fail with ENOSYS, as on an older kernel: libc then uses an older call.
 *
 * @has_truncate: landlock restricts truncating (otherwise truncate() by path is refused here). The
 * class of @sandbox is compute or net; no_new_privs is set.
 *
 * @ret_listener gets a descriptor that the caller owns: calls refused with EPERM wait there until
 * its reader answers them (host/refusal.h), and fail with ENOSYS after its close. It stays as it is
 * where the kernel has no listener to spare; then, and without @ret_listener, calls fail at once.
 *
 * Return 0 or a negative errno (-ENOSYS, -EINVAL: the kernel has no seccomp filters).
 */
int syscalls_restrict(const struct toolbox_sandbox *sandbox, bool has_truncate, int *ret_listener);

/* Let the @n system calls with these numbers wait for a listener, *ret_listener, owned by the
 * caller. A call refused by another filter stays refused. No_new_privs is set, and
 * syscalls_restrict() comes later: then it has no listener to spare. Return 0 or a negative errno
 * (-EBUSY: there is a listener already). */
int syscalls_trace(const int *numbers, size_t n, int *ret_listener);
