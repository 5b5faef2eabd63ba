/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/guarded.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

int guarded_mark(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_LOCKS, &limit) < 0)
		return -errno;
	if (limit.rlim_max > 0)
		limit.rlim_max--;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_LOCKS, &limit) < 0 ? -errno : 0;
}

bool guarded_has_mark(pid_t pid)
{
	struct rlimit ours;
	struct rlimit its;

	return getrlimit(RLIMIT_LOCKS, &ours) == 0 && prlimit(pid, RLIMIT_LOCKS, NULL, &its) == 0 &&
	       its.rlim_max < ours.rlim_max;
}
