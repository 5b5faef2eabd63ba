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

/* worker/sandbox/syscalls_compile.c made the filters from its lists of allowed calls. This writes
 * the number of the process into one, because a process may signal itself. */

#define FILTER(name)                                                                               \
	{                                                                                          \
		(name), sizeof(name) / sizeof(*(name))                                             \
	}

struct filter {
	const struct sock_filter *code;
	size_t n;
};

/* The changes to files that a filter allows. */
enum changes {
	WITHOUT_WRITE,    /* none but writing to what is open for it */
	WITHOUT_TRUNCATE, /* all but truncating by path */
	ALL,
};

static const struct filter of_compute[] = {
	FILTER(compute_without_write), FILTER(compute_without_truncate), FILTER(compute)};
static const struct filter of_net[] = {
	FILTER(net_without_write), FILTER(net_without_truncate), FILTER(net)};
static const struct filter of_net_unix[] = {
	FILTER(net_unix_without_write), FILTER(net_unix_without_truncate), FILTER(net_unix)};

static const struct filter *find_filter(const struct toolbox_sandbox *sandbox, bool has_truncate)
{
	enum changes changes = has_truncate ? ALL : WITHOUT_TRUNCATE;

	if (sandbox->write.n_items == 0)
		changes = WITHOUT_WRITE;
	if (sandbox->class == SANDBOX_COMPUTE)
		return &of_compute[changes];
	return sandbox->has_unix ? &of_net_unix[changes] : &of_net[changes];
}

int syscalls_restrict(const struct toolbox_sandbox *sandbox, bool has_truncate)
{
	const struct filter *filter = find_filter(sandbox, has_truncate);
	struct sock_filter code[SYSCALLS_CODE_MAX];
	struct sock_fprog program = {.len = (unsigned short)filter->n, .filter = code};

	memcpy(code, filter->code, filter->n * sizeof(*code));
	for (size_t i = 0; i < filter->n; i++)
		if (syscalls_is_place(&code[i]))
			code[i].k = (uint32_t)getpid();
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
