/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"

/* Linux 6.3; a kernel that forbids executable memfds requires it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* The most wake-ups in a row without a byte. An honest host has up to two: of a frame that was
 * taken before its wake-up came, and of the next frame, which is taken after it. */
#define WAKES_MAX 8

_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0, "a place is a count modulo the room");

static int map_memory(int fd, struct ring_memory **ret_memory)
{
	void *memory =
		mmap(NULL, sizeof(struct ring_memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

/* Return the bytes from the place of @count on: up to @left of them, or up to the end of the
 * memory. */
static size_t run_of(uint32_t count, size_t left)
{
	size_t to_end = RING_BYTES - count % RING_BYTES;

	return left < to_end ? left : to_end;
}

/* ── the daemon ──────────────────────────────────────────────────────────────────────────────── */

static int make_answers(void)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("answers", flags | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create("answers", flags) : fd;
}

int ring_init(struct ring *ring)
{
	cleanup_close int fd = make_answers();
	cleanup_close int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r;

	if (fd < 0 || wake_fd < 0 || fallocate(fd, 0, 0, sizeof(struct ring_memory)) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return -errno;
	*ring = (struct ring){.memory_fd = -1, .wake_fd = -1};
	r = map_memory(fd, &ring->memory);
	if (r)
		return r;
	ring->memory_fd = take_fd(fd);
	ring->wake_fd = take_fd(wake_fd);
	return 0;
}

void ring_given(struct ring *ring)
{
	close(ring->memory_fd);
	ring->memory_fd = -1;
}

void ring_deinit(struct ring *ring)
{
	if (!ring->memory)
		return;
	munmap(ring->memory, sizeof(*ring->memory));
	if (ring->memory_fd >= 0)
		close(ring->memory_fd);
	close(ring->wake_fd);
	ring->memory = NULL;
}

void ring_ask(struct ring *ring)
{
	/* Before the next look at `written`, as ring_put() looks after its writing: one of both
	 * sees what the other has done (both are in the one order of memory_order_seq_cst). */
	atomic_store(&ring->memory->wants_wake, 1);
}

bool ring_count_wake(struct ring *ring)
{
	return ++ring->n_wakes <= WAKES_MAX;
}

bool ring_has_more(const struct ring *ring)
{
	return atomic_load(&ring->memory->written) != ring->read;
}

int ring_take(struct ring *ring, struct wire_reader *reader)
{
	size_t left = atomic_load(&ring->memory->written) - ring->read;

	if (left == 0)
		return 0;
	if (left > RING_BYTES)
		return -EPROTO;
	ring->n_wakes = 0;
	while (left > 0) {
		size_t size = run_of(ring->read, left);
		size_t room;
		char *space = wire_reader_space(reader, &room);

		if (!space)
			return -ENOMEM;
		size = size < room ? size : room;
		memcpy(space, ring->memory->bytes + ring->read % RING_BYTES, size);
		wire_reader_received(reader, size);
		ring->read += (uint32_t)size;
		left -= size;
	}
	atomic_store_explicit(&ring->memory->read, ring->read, memory_order_release);
	return 1;
}

void ring_report(struct ring *ring, uint32_t taken)
{
	atomic_store_explicit(&ring->memory->taken, taken, memory_order_release);
}

/* ── the host ────────────────────────────────────────────────────────────────────────────────── */

int ring_join(struct ring_writer *writer, int memory_fd, int wake_fd)
{
	int r = map_memory(memory_fd, &writer->memory);

	close(memory_fd);
	writer->wake_fd = wake_fd;
	return r;
}

static bool fits_now(const struct ring_writer *writer, size_t size)
{
	uint32_t used =
		writer->written - atomic_load_explicit(&writer->memory->read, memory_order_acquire);

	return used <= RING_BYTES && size <= RING_BYTES - used;
}

/* Wake the daemon if it wants that. Return 1, or a negative errno. */
static int wake(const struct ring_writer *writer)
{
	const uint64_t one = 1;

	if (atomic_load(&writer->memory->wants_wake) == 0 ||
		atomic_exchange(&writer->memory->wants_wake, 0) == 0)
		return 1;
	return write(writer->wake_fd, &one, sizeof(one)) < 0 ? -errno : 1;
}

int ring_put(struct ring_writer *writer, uint32_t sent, const char *frame, size_t size)
{
	struct ring_memory *memory = writer->memory;

	if (!memory || atomic_load_explicit(&memory->taken, memory_order_acquire) != sent ||
		!fits_now(writer, size))
		return 0;
	for (size_t at = 0; at < size;) {
		size_t run = run_of(writer->written, size - at);

		memcpy(memory->bytes + writer->written % RING_BYTES, frame + at, run);
		writer->written += (uint32_t)run;
		at += run;
	}
	atomic_store(&memory->written, writer->written);
	return wake(writer);
}
