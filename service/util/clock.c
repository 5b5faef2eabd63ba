/* SPDX-License-Identifier: Apache-2.0 */
#include "util/clock.h"

#include <errno.h>
#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_now_ms(void)
{
	return clock_now_ns() / NS_PER_MS;
}

uint64_t clock_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int clock_process_ns(pid_t pid, uint64_t *ret_ns)
{
	struct timespec used;
	clockid_t clock;
	int r = clock_getcpuclockid(pid, &clock);

	if (r)
		return -r;
	if (clock_gettime(clock, &used) < 0)
		return -errno;
	*ret_ns = (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
	return 0;
}

bool clock_is_up(uint64_t *end_ns, uint64_t most_ns)
{
	uint64_t now = clock_thread_ns();

	if (*end_ns == 0)
		*end_ns = now + most_ns;
	return now > *end_ns;
}
