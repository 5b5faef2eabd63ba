/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>

/* Constants shared by the build's program for writing filters and the host, which installs one. */

/* Placeholder for the process's own number in a filter; no process has a number as large. */
#define SYSCALLS_SELF 0x73656c66u

/* The return value of a filter for a refused call, without a listener to refuse it. */
#define SYSCALLS_REFUSE (SECCOMP_RET_ERRNO | EPERM)

/* More instructions than any filter has. */
#define SYSCALLS_CODE_MAX 1024

/* Return whether @instruction compares with this number. */
static inline bool syscalls_is_place(const struct sock_filter *instruction)
{
	return instruction->code == (BPF_JMP | BPF_JEQ | BPF_K) && instruction->k == SYSCALLS_SELF;
}

static inline bool syscalls_is_refusal(const struct sock_filter *instruction)
{
	return instruction->code == (BPF_RET | BPF_K) && instruction->k == SYSCALLS_REFUSE;
}
