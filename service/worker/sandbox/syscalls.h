/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "call/toolbox_sandbox.h"

/*
 * Deny system calls, by seccomp. From here on, calls that the class does not allow fail with EPERM,
 * as without a privilege; a tool is never killed for trying. The list names what is denied, not
 * what is allowed, because any library may be loaded and must find the calls that it needs.
 *
 *   compute, net   start processes (but threads), touch other processes, change the system
 *   compute        socket()
 *
 * @has_truncate: landlock restricts truncating (otherwise truncate() by path is denied here).
 * @class is compute or net; no_new_privs is set. Return 0 or a negative errno (-ENOSYS, -EINVAL:
 * the kernel has no seccomp filters).
 */
int syscalls_deny(enum sandbox_class class, bool has_truncate);
