/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library that does everything possible to its process. Each function is one betrayal, and is
 * named for it. Run it in a host only.
 */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "own_ring.h"

/* A prototype, then the function: these have no header. */
#define EXPORT(type, name, ...)                                                                    \
	type name(__VA_ARGS__);                                                                    \
	type name(__VA_ARGS__)

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

EXPORT(int32_t, behave, int32_t value)
{
	return value;
}

EXPORT(void, crash, int32_t signal_number)
{
	raise(signal_number);
}

static volatile int32_t *volatile nowhere;

EXPORT(int32_t, segfault, void)
{
	return *nowhere;
}

EXPORT(void, call_abort, void)
{
	abort();
}

EXPORT(void, call_exit, int32_t status)
{
	exit(status);
}

static volatile int bottom;

static int recurse(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	if (bottom)
		return frame[0];
	return recurse(depth + 1) + frame[0];
}

EXPORT(int32_t, overflow_stack, void)
{
	return recurse(0);
}

EXPORT(void, hang, void)
{
	sleep_for_ever();
}

EXPORT(void, spin, void)
{
	for (volatile uint64_t i = 0;; i++)
		;
}

static void *spin_in_thread(void *data)
{
	(void)data;
	spin();
	return NULL;
}

EXPORT(bool, spin_aside, void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, spin_in_thread, NULL) == 0;
}

EXPORT(void, ignore_signals, void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGTERM, SIG_IGN);
	sleep_for_ever();
}

/* Leaves signals blocked and ignored, and goes on. */
EXPORT(void, spoil_signals, void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
}

EXPORT(void, write_wire, const char *text)
{
	leave_ring();
	if (write(WIRE_FD, text, strlen(text)) < 0)
		abort();
}

/* The action of a faker after its frame. */
enum afterwards {
	AND_RETURN,
	AND_EXIT,
	AND_HANG,
	AND_CRASH,
};

/* A frame as a host sends it, but with any header: @size and @payload need not agree. */
EXPORT(void, send_frame, uint32_t size, uint32_t kind, uint64_t id, const char *payload,
	int32_t afterwards)
{
	struct {
		uint32_t size;
		uint32_t kind;
		uint64_t id;
		char payload[4096];
	} frame = {.size = size, .kind = kind, .id = id};
	size_t length = strlen(payload);

	leave_ring();
	memcpy(frame.payload, payload, length);
	if (write(WIRE_FD, &frame, 16 + length) < 0)
		abort();
	if (afterwards == AND_EXIT)
		_exit(7);
	if (afterwards == AND_HANG)
		sleep_for_ever();
	if (afterwards == AND_CRASH)
		abort();
}

/* A failure whose words are Latin-1. */
EXPORT(void, fail_in_latin1, uint64_t id)
{
	send_frame(4, 6, id, "caf\xe9", AND_HANG);
}

/* A full connection to @port, which is not read there: its last close waits for a minute. */
static int connect_lingering(uint16_t port)
{
	const struct sockaddr_in name = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger linger = {.l_onoff = 1, .l_linger = 60};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char bytes[4096] = "";

	if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) < 0)
		abort();
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* The daemon gets the last copy; the host stops. */
EXPORT(void, send_descriptor, uint16_t port)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.bytes = ""};
	char byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	int fd = connect_lingering(port);

	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = SCM_RIGHTS;
	first->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(first), &fd, sizeof(int));
	if (sendmsg(WIRE_FD, &message, MSG_NOSIGNAL) < 0)
		abort();
	close(fd);
	raise(SIGSTOP);
}

EXPORT(void, close_wire, bool hangs)
{
	close(WIRE_FD);
	if (hangs)
		sleep_for_ever();
}

EXPORT(void, close_wake, void)
{
	close(WIRE_WAKE_FD);
}

/* No later wake-up fits into the eventfd. */
EXPORT(void, fill_wake, void)
{
	const uint64_t most = UINT64_MAX - 1;
	uint64_t earlier;

	(void)!read(WIRE_WAKE_FD, &earlier, sizeof(earlier));
	if (write(WIRE_WAKE_FD, &most, sizeof(most)) < 0)
		abort();
}

/* The daemon can send, but nothing comes back any more. */
EXPORT(void, shut_wire, void)
{
	shutdown(WIRE_FD, SHUT_WR);
	sleep_for_ever();
}

/* Pretend to have put @bytes into the ring. */
EXPORT(void, write_ring, uint32_t bytes)
{
	const uint64_t one = 1;

	atomic_fetch_add(&own_ring()->written, bytes);
	if (write(WIRE_WAKE_FD, &one, sizeof(one)) < 0)
		abort();
	sleep_for_ever();
}

/* Close the socket, and put @times messages for the bus into the ring. */
EXPORT(void, speak_without_wire, uint32_t times)
{
	const struct wire_header header = {.size = 2, .kind = WIRE_EMIT};
	const struct timespec pause = {.tv_nsec = 100000000};
	struct ring_memory *ring = own_ring();
	const uint64_t one = 1;
	char *at = ring->bytes;

	close(WIRE_FD);
	nanosleep(&pause, NULL);
	for (uint32_t i = 0; i < times; i++) {
		memcpy(at, &header, sizeof(header));
		memcpy(at + sizeof(header), "{}", 2);
		at += sizeof(header) + 2;
	}
	atomic_store(&ring->written, (uint32_t)(at - ring->bytes));
	if (write(WIRE_WAKE_FD, &one, sizeof(one)) < 0)
		abort();
	sleep_for_ever();
}

/* Begin an answer in the ring that is larger than the ring. */
EXPORT(void, promise_in_ring, uint64_t id)
{
	const struct wire_header header = {.size = RING_BYTES + 1, .kind = WIRE_RESULT, .id = id};
	struct ring_memory *ring = own_ring();

	if (!ring)
		abort();
	memcpy(ring->bytes, &header, sizeof(header));
	write_ring(sizeof(header));
}

EXPORT(void, wake_for_nothing, void)
{
	const uint64_t one = 1;

	while (write(WIRE_WAKE_FD, &one, sizeof(one)) > 0)
		;
	abort();
}

EXPORT(void, replace_wire, void)
{
	int nowhere = open("/dev/null", O_RDWR);

	dup2(nowhere, WIRE_FD);
}

EXPORT(void, close_everything, void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
}

/* @bytes of lines to descriptor @fd. */
EXPORT(void, print, int32_t fd, uint64_t bytes)
{
	static const char line[] = "all work and no play makes a toolbox a dull one\n";
	const uint64_t size = sizeof(line) - 1;

	for (uint64_t written = 0; written < bytes; written += size)
		if (write(fd, line, size) < 0)
			abort();
}

/* @mebibytes of the same, faster than anybody can read. */
EXPORT(void, pour, int32_t fd, uint32_t mebibytes)
{
	static char block[1 << 20];

	memset(block, '.', sizeof(block));
	for (size_t i = 99; i < sizeof(block); i += 100)
		block[i] = '\n';
	while (mebibytes-- > 0)
		for (size_t at = 0; at < sizeof(block);) {
			ssize_t n = write(fd, block + at, sizeof(block) - at);

			if (n < 0)
				abort();
			at += (size_t)n;
		}
}

EXPORT(void, print_junk, void)
{
	static const char junk[] = "\xff\xfe\0\x1b[31m no line end";

	if (write(STDERR_FILENO, junk, sizeof(junk) - 1) < 0)
		abort();
}

EXPORT(const char *, not_utf8, void)
{
	return "caf\xe9";
}

EXPORT(const char *, surrogate, void)
{
	return "\xed\xa0\x80";
}

EXPORT(double, not_a_number, void)
{
	return NAN;
}

EXPORT(float, infinite, bool is_negative)
{
	return is_negative ? -INFINITY : INFINITY;
}

EXPORT(const char *, no_text, void)
{
	return NULL;
}

/* A text of so many bytes. */
EXPORT(char *, long_text, size_t size)
{
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	text[size] = '\0';
	return text;
}

/* Children that live on: with everything of ours open, or in a group and session of their own. */
EXPORT(int32_t, leave_child, bool is_detached)
{
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			pause();
	}
	if (is_detached)
		setpgid(child, child); /* here, so that it is done when the tool returns */
	return child;
}

EXPORT(void, leave_child_and_exit, void)
{
	leave_child(false);
	_exit(0);
}

/* Goes where kill(-pid) does not reach. */
EXPORT(int32_t, leave_group, bool hangs)
{
	int r = setpgid(0, getpgid(getppid()));

	if (hangs)
		sleep_for_ever();
	return r;
}

EXPORT(void, take_all_descriptors, void)
{
	while (dup(0) >= 0)
		;
}

/* Whether there was so much memory to be had. */
EXPORT(bool, hoard, uint64_t mebibytes)
{
	void *volatile memory = malloc((size_t)mebibytes << 20);
	bool is_given = memory != NULL;

	free(memory);
	return is_given;
}

/* Each process makes others, as a fork bomb does, but @processes in all. */
EXPORT(void, fork_bomb, int32_t processes)
{
	atomic_int *made = mmap(
		NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		abort();
	while (atomic_fetch_add(made, 1) < processes)
		fork();
	sleep_for_ever();
}

static jmp_buf gone;

static int remember(void)
{
	return setjmp(gone);
}

/* Into a frame that is not there any more. */
EXPORT(void, jump, void)
{
	if (remember() == 0)
		longjmp(gone, 1);
}

/* Does nothing until the process is to end. */
EXPORT(int32_t, spoil_the_end, bool hangs)
{
	return atexit(hangs ? sleep_for_ever : abort);
}
