/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

/*
 * held: loaded into the daemon with LD_PRELOAD, it measures how long the loop is held: the
 * processor time of the main thread from one epoll_wait() to the next. Everybody else waits for so
 * long.
 *
 *   epoll_wait() returns ──▶ the loop serves what is ready ──▶ epoll_wait()
 *                        ╰────────── thread's time ─────────╯
 *
 * The longest such time is in the file that HELD_FILE names, in nanoseconds, as a 64-bit number.
 * The bench sets it to zero.
 */

static uint64_t *longest_ns; /* NULL: not measured, as in hosts */
static uint64_t began_ns;

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void open_file(void)
{
	const char *path = getenv("HELD_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = MAP_FAILED;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*longest_ns), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	longest_ns = map == MAP_FAILED ? NULL : map;
}

__attribute__((visibility("default"))) int epoll_wait(
	int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	static int (*system_wait)(int epfd, struct epoll_event *events, int maxevents, int timeout);
	int r;

	if (!system_wait)
		*(void **)&system_wait = dlsym(RTLD_NEXT, "epoll_wait");
	if (longest_ns && getpid() == gettid()) {
		uint64_t held_ns = thread_ns() - began_ns;

		if (began_ns && held_ns > *longest_ns)
			*longest_ns = held_ns;
	}
	r = system_wait(epfd, events, maxevents, timeout);
	if (longest_ns && getpid() == gettid())
		began_ns = thread_ns();
	return r;
}
