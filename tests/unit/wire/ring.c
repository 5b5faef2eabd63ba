/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scarce.h"
#include "util/cleanup.h"
#include "wire/ring.h"

#define LIMIT 120

/* Both ends of a ring. */
static struct ring ring;
static struct ring_writer writer;
static struct wire_reader reader = {.payload_max = RING_BYTES};

static void set_up(void)
{
	cr_assert_eq(ring_init(&ring), 0);
	cr_assert_eq(ring_join(&writer, dup(ring.memory_fd), ring.wake_fd), 0);
}

static void tear_down(void)
{
	munmap(writer.memory, sizeof(*writer.memory));
	wire_reader_deinit(&reader);
	ring_deinit(&ring);
}

TestSuite(ring, .init = set_up, .fini = tear_down, .timeout = LIMIT);

/* Put a frame with the id @id and a payload of @size bytes, after @sent frames of the socket. */
static bool put(uint64_t id, size_t size, uint32_t sent)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	char payload[RING_BYTES];

	memset(payload, (int)(id % 251), sizeof(payload));
	wire_write(&frame, WIRE_RESULT, id, payload, size, NULL, 0);
	return ring_put(&writer, sent, frame.data, frame.size) == 1;
}

/* Take the next frame, which must be as put() has written it. */
static void expect_frame(uint64_t id, size_t size)
{
	struct wire_frame frame;

	cr_assert_eq(wire_reader_next(&reader, &frame), 0);
	cr_assert_eq(frame.id, id);
	cr_assert_eq(frame.size, size);
	for (size_t i = 0; i < size; i++)
		cr_assert_eq((unsigned char)frame.payload[i], id % 251);
}

static uint64_t count_wakes(void)
{
	uint64_t count = 0;

	return read(ring.wake_fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

Test(ring, gives_back_what_was_put_around_its_end)
{
	for (uint64_t id = 1; id < 1000; id++) {
		cr_assert(put(id, id % 700, 0));
		cr_assert(put(id + 1, 10, 0));
		cr_assert_eq(ring_take(&ring, &reader), 1);
		expect_frame(id, id % 700);
		expect_frame(id + 1, 10);
		cr_assert_eq(ring_take(&ring, &reader), 0);
	}
}

Test(ring, goes_on_where_its_counts_begin_anew)
{
	const uint32_t late = UINT32_MAX - 50;

	atomic_store(&ring.memory->written, late);
	atomic_store(&ring.memory->read, late);
	ring.read = late;
	writer.written = late;
	cr_assert(put(1, 100, 0));
	cr_assert(put(2, RING_BYTES - 200, 0));
	cr_assert_not(put(3, 100, 0));
	cr_assert_eq(ring_take(&ring, &reader), 1);
	expect_frame(1, 100);
	expect_frame(2, RING_BYTES - 200);
	cr_expect(put(3, 100, 0));
}

Test(ring, takes_no_frame_that_does_not_fit)
{
	const size_t all = RING_BYTES - sizeof(struct wire_header);
	struct ring_writer none = {0};

	cr_expect_not(ring_put(&none, 0, "", 0), "without a ring");
	cr_expect_not(put(1, all + 1, 0));
	cr_expect(put(1, all, 0));
	cr_expect_not(put(2, 0, 0), "into a full ring");
	cr_expect_eq(ring_take(&ring, &reader), 1);
	expect_frame(1, all);
	cr_expect(put(2, 0, 0));
}

/* A frame in the ring would be read before those that are in the socket. */
Test(ring, takes_no_frame_before_those_of_the_socket_were_taken)
{
	cr_expect_not(put(1, 10, 2));
	ring_report(&ring, 1);
	cr_expect_not(put(1, 10, 2));
	ring_report(&ring, 2);
	cr_expect(put(1, 10, 2));
}

Test(ring, wakes_the_daemon_once_for_each_time_it_asked)
{
	cr_expect(put(1, 10, 0));
	cr_expect_eq(count_wakes(), 0);
	ring_ask(&ring);
	for (unsigned int i = 0; i < 3; i++)
		cr_expect(put(1, 10, 0));
	cr_expect_eq(count_wakes(), 1);
	cr_expect(put(1, 10, 0));
	cr_expect_eq(count_wakes(), 0);
	ring_ask(&ring);
	cr_expect(put(1, 10, 0));
	cr_expect_eq(count_wakes(), 1);
}

/* Frames that came without a wake-up are no credit for later. */
Test(ring, has_hardly_more_wakes_than_frames)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		cr_assert(put(1, 0, 0));
		cr_assert_eq(ring_take(&ring, &reader), 1);
		expect_frame(1, 0);
		cr_assert(ring_count_wake(&ring), "after its frame was taken");
		cr_assert(put(1, 0, 0));
		cr_assert(ring_count_wake(&ring), "before its frame is taken");
		cr_assert_eq(ring_take(&ring, &reader), 1);
		expect_frame(1, 0);
	}
	while (n <= RING_BYTES && ring_count_wake(&ring))
		n++;
	cr_expect_leq(n, 10, "without a frame: %u", n);
}

Test(ring, does_not_believe_its_counts)
{
	static const uint32_t counts[] = {RING_BYTES + 1, UINT32_MAX, 1u << 31};

	for (size_t i = 0; i < 3; i++) {
		atomic_store(&ring.memory->written, counts[i]);
		cr_expect_eq(ring_take(&ring, &reader), -EPROTO, "%u", counts[i]);
	}
	cr_expect_not(wire_reader_has_more(&reader));
	atomic_store(&ring.memory->written, RING_BYTES);
	cr_expect_eq(ring_take(&ring, &reader), 1);
}

Test(ring, does_not_change_what_was_taken)
{
	cr_assert(put(5, 10, 0));
	cr_assert_eq(ring_take(&ring, &reader), 1);
	memset(writer.memory->bytes, 0, sizeof(writer.memory->bytes));
	atomic_store(&writer.memory->read, 12345);
	expect_frame(5, 10);
	cr_expect_eq(ring_take(&ring, &reader), 0);
}

/* An access to memory that is not there any more would be a SIGBUS. */
Test(ring, has_a_size_that_nobody_changes)
{
	cr_expect_eq(ftruncate(ring.memory_fd, 0), -1);
	cr_expect_eq(errno, EPERM);
	cr_expect_eq(ftruncate(ring.memory_fd, 1 << 20), -1);
	ring_given(&ring);
	cr_expect(put(1, 10, 0));
	cr_expect_eq(ring_take(&ring, &reader), 1);
}

/* An access to memory that was never given could fail, too: where memory is not overcommitted. */
Test(ring, has_all_its_memory_from_the_beginning)
{
	struct stat status;

	cr_assert_eq(fstat(ring.memory_fd, &status), 0);
	cr_expect_geq((size_t)status.st_blocks * 512, sizeof(struct ring_memory));
}

Test(ring, tells_whether_it_has_more)
{
	cr_expect_not(ring_has_more(&ring));
	cr_assert(put(1, 10, 0));
	cr_expect(ring_has_more(&ring));
	cr_assert_eq(ring_take(&ring, &reader), 1);
	cr_expect_not(ring_has_more(&ring));
}

Test(ring, takes_up_to_eight_wakes_in_a_row_without_a_byte)
{
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 8; i++)
			cr_expect(ring_count_wake(&ring), "%u", i);
		cr_expect_not(ring_count_wake(&ring));
		cr_assert(put(1, 10, 0));
		cr_assert_eq(ring_take(&ring, &reader), 1);
	}
}

Test(ring, is_not_read_when_memory_is_short)
{
	cr_assert(put(1, 10, 0));
	scarce_once_after(0);
	cr_expect_eq(ring_take(&ring, &reader), -ENOMEM);
	cr_expect(scarce_has_failed());
	cr_expect(ring_has_more(&ring));
}

/* ── its descriptors ─────────────────────────────────────────────────────────────────────────── */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(ring, has_descriptors_that_close_on_exec)
{
	cr_expect_eq(fcntl(ring.memory_fd, F_GETFD), FD_CLOEXEC);
	cr_expect_eq(fcntl(ring.wake_fd, F_GETFD), FD_CLOEXEC);
	cr_expect(fcntl(ring.wake_fd, F_GETFL) & O_NONBLOCK);
}

Test(ring, takes_everything_with_it)
{
	struct ring one;

	cr_assert_eq(ring_init(&one), 0);
	const struct ring before = one;

	ring_deinit(&one);
	cr_expect_not(is_open(before.memory_fd));
	cr_expect_not(is_open(before.wake_fd));
	cr_expect_eq(msync(before.memory, sizeof(*before.memory), MS_ASYNC), -1, "unmapped");
	cr_expect_eq(errno, ENOMEM);
	cr_expect_null(one.memory);
	ring_deinit(&one);
}

Test(ring, closes_the_descriptor_of_its_memory_once)
{
	struct ring one;
	int fd;

	cr_assert_eq(ring_init(&one), 0);
	fd = one.memory_fd;
	ring_given(&one);
	cr_expect_not(is_open(fd));
	cr_expect_eq(one.memory_fd, -1);
	cr_assert_eq(dup2(one.wake_fd, fd), fd);
	ring_deinit(&one);
	cr_expect(is_open(fd), "it belongs to somebody else now");
	close(fd);
}

Test(ring, takes_the_descriptor_of_the_memory_from_a_host)
{
	struct ring_writer other;
	int fd = dup(ring.memory_fd);

	cr_assert_eq(ring_join(&other, fd, ring.wake_fd), 0);
	cr_expect_not(is_open(fd));
	cr_expect(is_open(ring.wake_fd));
	cr_expect_eq(other.wake_fd, ring.wake_fd);
	munmap(other.memory, sizeof(*other.memory));
	cr_expect_eq(ring_join(&other, open("/dev/null", O_WRONLY), -1), -EACCES);
}

Test(ring, needs_two_descriptors)
{
	struct rlimit before, few;
	int next = dup(0);
	struct ring one;

	close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	for (int n_free = 0; n_free < 2; n_free++) {
		few.rlim_cur = (rlim_t)(next + n_free);
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		cr_expect_eq(ring_init(&one), -EMFILE, "%d", n_free);
		cr_expect_not(is_open(next));
	}
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

Test(ring, tells_that_its_host_has_closed_the_way_to_wake_the_daemon)
{
	struct wire_header header = {.kind = WIRE_RESULT, .id = 1};

	writer.wake_fd = -1;
	ring_ask(&ring);
	cr_expect_eq(ring_put(&writer, 0, (char *)&header, sizeof(header)), -EBADF);
	cr_expect_eq(ring_take(&ring, &reader), 1);
	expect_frame(1, 0);
}

#define FRAMES 200000

static size_t size_of(uint64_t id)
{
	return id * 37 % 300;
}

static void put_all(void)
{
	for (uint64_t id = 1; id <= FRAMES; id++)
		while (!put(id, size_of(id), 0))
			;
	_exit(0);
}

/* A wake-up that is lost would leave the reader in poll(). */
Test(ring, loses_nothing_between_two_processes)
{
	struct pollfd wake = {.fd = ring.wake_fd, .events = POLLIN};
	pid_t child = fork();
	uint64_t id = 1;
	int status;

	cr_assert_geq(child, 0);
	if (child == 0)
		put_all();
	while (id <= FRAMES) {
		ring_ask(&ring);
		if (ring_take(&ring, &reader) == 0) {
			cr_assert_eq(poll(&wake, 1, LIMIT * 500), 1, "frame %lu", id);
			cr_assert_gt(count_wakes(), 0);
		}
		while (wire_reader_has_more(&reader)) {
			expect_frame(id, size_of(id));
			id++;
		}
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}
