/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/wire.h"
#include "worker/send.h"
#include "worker/sandbox/seal.h"

/* A socket pair records its maker, here the daemon. If the daemon ended before step 2 took effect,
 * this host has another parent by now. */
static int die_with_parent(int wire_fd)
{
	struct ucred maker;
	socklen_t size = sizeof(maker);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	if (getsockopt(wire_fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) < 0)
		return -errno;
	return maker.pid == getppid() ? 0 : -ESRCH;
}

/* The daemon's descriptors all close on exec. This closes the descriptors inherited by the daemon
 * itself. */
static int close_others(int wire_fd)
{
	bool has_ring = send_has_ring();

	for (int fd = WIRE_LIBRARY_FD; fd < WIRE_FDS_END; fd++) {
		bool is_given = fd < WIRE_RING_FD ? seal_is_given((size_t)(fd - WIRE_LIBRARY_FD))
						  : has_ring;

		if (!is_given)
			close(fd);
		else if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
	}
	if (close_range(WIRE_FDS_END, ~0u, 0) < 0 && errno != ENOSYS)
		return -errno;
	return fcntl(wire_fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int leave_no_core(void)
{
	const struct rlimit no_core = {0, 0};

	return setrlimit(RLIMIT_CORE, &no_core) < 0 ? -errno : 0;
}

/* Other processes of the user cannot read the memory and the environment of this one, nor trace it.
 * A program started by this process is readable again. LeakSanitizer traces its own process. */
int confine_again(void)
{
#ifndef TOOLBOXD_SANITIZED
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return -errno;
#endif
	return 0;
}

/* setlocale() does not change a thread's own locale. C.UTF-8 differs from C in LC_CTYPE alone, and
 * reading the other categories takes 60 system calls. */
static int pin_locale(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);

	if (!locale)
		locale = newlocale(LC_ALL_MASK, "C", NULL);
	if (!locale)
		return -errno;
	uselocale(locale);
	return 0;
}

int confine(int wire_fd)
{
	int r = confine_again();

	r = r ? r : die_with_parent(wire_fd);
	r = r ? r : close_others(wire_fd);
	r = r ? r : leave_no_core();
	return r ? r : pin_locale();
}
