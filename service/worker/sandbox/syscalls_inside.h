/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>

/* What the maker of the filters and the host that takes one agree on. */

/* In a filter, the number of the process that it is for: larger than any is. */
#define SYSCALLS_SELF 0x73656c66u

/* More instructions than any filter has. */
#define SYSCALLS_CODE_MAX 512

/* Whether the instruction compares with that number. */
static inline bool syscalls_is_place(const struct sock_filter *instruction)
{
	return instruction->code == (BPF_JMP | BPF_JEQ | BPF_K) && instruction->k == SYSCALLS_SELF;
}
