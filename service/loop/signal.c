/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "loop/inside.h"
#include "loop/loop.h"
#include "util/assert.h"

/*
 * Signals: the process blocks them and reads them from one signalfd. So a handler is an ordinary
 * callback of the loop and may do anything.
 */

static void on_signal(void *data, uint32_t events)
{
	struct loop *loop = data;
	struct signalfd_siginfo info;

	(void)events;
	while (read(loop->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		loop->signals.entries[number].function(loop->signals.entries[number].data, number);
	}
}

/* The taken signals stay blocked: a late SIGTERM must not end a process in its cleanup. */
static void close_signals(struct loop *loop)
{
	loop_source_free(loop->signals.source);
	close(loop->signals.fd);
}

static int watch_signals(struct loop *loop, const sigset_t *signals)
{
	int fd = signalfd(loop->signals.fd, signals, SFD_NONBLOCK | SFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	loop->signals.fd = fd;
	if (loop->signals.source)
		return 0;
	loop->close_signals = close_signals;
	return loop_add_fd(loop, fd, EPOLLIN, on_signal, loop, &loop->signals.source);
}

int loop_add_signal(struct loop *loop, int signal, loop_signal_function function, void *data)
{
	sigset_t signals = loop->signals.taken;
	int r;

	if (signal <= 0 || signal >= NSIG)
		return -EINVAL;
	check(function);
	if (loop->signals.entries[signal].function)
		return -EEXIST;
	sigaddset(&signals, signal);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	r = watch_signals(loop, &signals);
	if (r < 0)
		return r;
	loop->signals.taken = signals;
	loop->signals.entries[signal].function = function;
	loop->signals.entries[signal].data = data;
	return 0;
}
