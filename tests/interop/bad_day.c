/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A system on a bad day, to be preloaded into a daemon: LD_PRELOAD this, and name in BAD_DAY a file
 * that holds a struct bad_day. The test writes to it, the daemon's calls of the C library follow.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct bad_day {
	volatile int64_t wall_clock_ahead_s; /* the wall clock was set, by so much */
	volatile int64_t spawn_error;        /* an errno: no process can be started */
	volatile int64_t disk_hangs;         /* no data reaches the disk until this is 0 again */
	volatile int64_t wall_clock_timers;  /* reported: how often a timer was set by that clock */
};

#define TIMERS_MAX 1024 /* descriptors of timers */

static const struct bad_day good;
static struct bad_day *day;
static bool by_wall_clock[TIMERS_MAX];

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("BAD_DAY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = mmap(NULL, sizeof(*day), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || map == MAP_FAILED)
		abort();
	close(fd);
	day = map;
}

/* Constructors of others run before ours. */
static const struct bad_day *today(void)
{
	return day ? day : &good;
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(clock, ret_time);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		ret_time->tv_sec += today()->wall_clock_ahead_s;
	return r;
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	ret_time->tv_sec = now.tv_sec;
	ret_time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *ret_time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret_time)
		*ret_time = now.tv_sec;
	return now.tv_sec;
}

int timerfd_create(clockid_t clock, int flags)
{
	int (*real)(clockid_t, int) = dlsym(RTLD_NEXT, "timerfd_create");
	int fd = real(clock, flags);

	if (fd >= 0 && fd < TIMERS_MAX)
		by_wall_clock[fd] = clock == CLOCK_REALTIME;
	else if (fd >= 0)
		abort();
	return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *ret_old)
{
	int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
		dlsym(RTLD_NEXT, "timerfd_settime");
	bool is_set = new->it_value.tv_sec || new->it_value.tv_nsec;

	if (day && is_set && fd >= 0 && fd < TIMERS_MAX && by_wall_clock[fd])
		day->wall_clock_timers++;
	return real(fd, flags, new, ret_old);
}

int posix_spawn(pid_t *restrict ret_pid, const char *restrict path,
	const posix_spawn_file_actions_t *restrict actions,
	const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
	char *const environment[restrict])
{
	__typeof__(&posix_spawn) real = dlsym(RTLD_NEXT, "posix_spawn");

	if (today()->spawn_error)
		return (int)today()->spawn_error;
	return real(ret_pid, path, actions, attributes, arguments, environment);
}

int fdatasync(int fildes)
{
	static const struct timespec pause = {.tv_nsec = 5000000};
	int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");

	while (today()->disk_hangs)
		nanosleep(&pause, NULL);
	return real(fildes);
}
