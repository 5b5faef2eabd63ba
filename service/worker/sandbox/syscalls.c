/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/sandbox/syscalls_inside.h"
#include "syscalls_filters.h"

/* worker/sandbox/syscalls_compile.c made the filters from its lists of denied calls. This writes
 * the number of the process into one, because a process may signal itself. */

#define FILTER(name)                                                                               \
	{                                                                                          \
		(name), sizeof(name) / sizeof(*(name))                                             \
	}

struct filter {
	const struct sock_filter *code;
	size_t n;
};

static const struct filter filters[][2] = {
	[SANDBOX_COMPUTE] = {FILTER(compute_without_truncate), FILTER(compute)},
	[SANDBOX_NET] = {FILTER(net_without_truncate), FILTER(net)},
};

int syscalls_deny(enum sandbox_class class, bool has_truncate)
{
	const struct filter *filter = &filters[class][has_truncate];
	struct sock_filter code[SYSCALLS_CODE_MAX];
	struct sock_fprog program = {.len = (unsigned short)filter->n, .filter = code};

	memcpy(code, filter->code, filter->n * sizeof(*code));
	for (size_t i = 0; i < filter->n; i++)
		if (syscalls_is_place(&code[i]))
			code[i].k = (uint32_t)getpid();
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
