/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * No machine code but from files, as under systemd's MemoryDenyWriteExecute=yes: PCRE2 has no JIT,
 * and interprets patterns.
 *
 *   a filter of system calls  what systemd uses up to 253; the kernel of Debian 12 has nothing else
 *   PR_SET_MDWE               what later ones use, where the kernel has it (Linux 6.3)
 *
 * Both hold until the process ends, and for its children.
 */

/* Deny it to this process. Returns false, after a line on stderr, when memory can still be had. */
bool deny_machine_code(void);
