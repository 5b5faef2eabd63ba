/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "call/toolbox_sandbox.h"

/*
 * System calls, by seccomp: from here on those that the class does not allow fail with EPERM, as
 * they would for want of a privilege; a tool is never killed for asking. A list of what is denied
 * and not of what is allowed: any library may be loaded, and must find what it needs.
 *
 *   compute, net   start processes (threads may be), touch other processes, change the system
 *   compute        socket()
 *
 * @has_truncate: landlock takes care of truncating (else truncate() by path is denied too). Class
 * compute or net; no_new_privs is set. 0 or a negative errno (-ENOSYS, -EINVAL: the kernel has no
 * seccomp filters).
 */
int syscalls_deny(enum sandbox_class class, bool has_truncate);
