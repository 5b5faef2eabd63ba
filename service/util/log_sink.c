/* SPDX-License-Identifier: Apache-2.0 */
#include "util/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

/*
 * The destination of log lines. O_NONBLOCK belongs to the open file, shared by stderr with other
 * processes: a shell, the program at the other end of a terminal. So it is not set there; writes
 * that may block are made without it:
 *
 *   a socket (systemd's journal)   MSG_DONTWAIT
 *   a pipe, a terminal             opened once more, for us alone, with O_NONBLOCK
 *   the same, where that fails     poll(2) first; another writer may still be in between
 *   a file                         does not block
 */
static struct {
	log_wake_function wake; /* NULL: writing a line may block */
	void *data;
	bool is_socket;
	bool is_asked; /* poll(2) first */
	int fd;        /* STDERR_FILENO, or our own */
	char queue[LOG_QUEUE_BYTES];
	size_t used;
	unsigned long long lost;
} sink = {.fd = STDERR_FILENO};

static bool is_writable(int timeout_ms)
{
	struct pollfd fd = {.fd = sink.fd, .events = POLLOUT};

	return poll(&fd, 1, timeout_ms) > 0;
}

/* Write up to @size bytes without waiting. Return the number of bytes written; all of them when the
 * descriptor has no reader any more. */
static size_t put_now(const char *bytes, size_t size)
{
	ssize_t written;

	if (sink.is_asked && !is_writable(0))
		return 0;
	written = sink.is_socket ? send(sink.fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL)
				 : write(sink.fd, bytes, size);
	if (written >= 0)
		return (size_t)written;
	return errno == EAGAIN || errno == EINTR ? 0 : size;
}

/* Queue @size bytes until there is room for them. */
static void keep_line(const char *bytes, size_t size)
{
	if (size > sizeof(sink.queue) - sink.used) {
		sink.lost++;
		return;
	}
	memcpy(sink.queue + sink.used, bytes, size);
	if (sink.used == 0)
		sink.wake(sink.data);
	sink.used += size;
}

/* Write the queue line by line: a line in one write does not mix with lines of other processes. */
static void put_queue(void)
{
	size_t done = 0;

	while (done < sink.used) {
		const char *line = sink.queue + done;
		const char *end = memchr(line, '\n', sink.used - done);
		size_t size = end ? (size_t)(end + 1 - line) : sink.used - done;
		size_t written = put_now(line, size);

		done += written;
		if (written < size)
			break;
	}
	sink.used -= done;
	memmove(sink.queue, sink.queue + done, sink.used);
}

bool log_sink_flush(void)
{
	put_queue();
	return sink.used == 0;
}

unsigned long long log_sink_take_lost(void)
{
	unsigned long long lost = sink.lost;

	sink.lost = 0;
	return lost;
}

void log_sink_put(const char *line, size_t size)
{
	size_t written = sink.used > 0 ? 0 : put_now(line, size);

	/* Without log_defer(), an unwritable line is dropped: there is no other log. */
	if (sink.wake && written < size)
		keep_line(line + written, size - written);
}

void log_sink_wait(int timeout_ms)
{
	is_writable(timeout_ms);
}

int log_fd(void)
{
	return sink.fd;
}

void log_defer(log_wake_function wake, void *data)
{
	struct stat what;
	int own = -1;

	sink.wake = wake;
	sink.data = data;
	if (fstat(STDERR_FILENO, &what) < 0 || S_ISREG(what.st_mode))
		return;
	sink.is_socket = S_ISSOCK(what.st_mode);
	if (sink.is_socket)
		return;
	own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	sink.is_asked = own < 0;
	if (own >= 0)
		sink.fd = own;
}

void log_sink_reset(void)
{
	if (sink.fd != STDERR_FILENO)
		close(sink.fd);
	memset(&sink, 0, sizeof(sink));
	sink.fd = STDERR_FILENO;
}
