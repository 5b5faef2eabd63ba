/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/*
 * A ring of frames from a host to the daemon, in shared memory: the faster way beside the socket
 * (wire/wire.h).
 *
 *   host                                            daemon
 *     frame ──▶ bytes ──▶ written ────────────────▶ copies the bytes, reads frames in the copy
 *                            │                        │
 *                            └─ wants_wake? ─ yes ──▶ eventfd ──▶ epoll
 *
 * The first frame after the daemon asked wakes it: all answers of a turn cost one system call. The
 * answer of a call that has ended is safe at once, whatever the next call does: a process that
 * crashes or hangs takes nothing back.
 *
 * Frames stay in their order. The ring gets a frame only if it has room, and the daemon has taken
 * each frame of the socket. Else the frame goes through the socket, and so do later frames, until
 * the daemon has taken all of them. So frames in the ring are always older than frames in the
 * socket.
 *
 * The host may write anything to the memory at any time. The daemon reads each count once, and
 * copies the bytes before a look at them; its own counts there are for the host alone. The size of
 * the memory is sealed, all of it is taken at the beginning, and a toolbox of class compute or net
 * cannot give it back (MADV_REMOVE): no access of the daemon fails.
 */

/* The room of a ring: a power of two, for 32 answers of 256 bytes. */
#define RING_BYTES 8192u

/* All counts are modulo 2^32. */
struct ring_memory {
	/* from the host */
	alignas(64) _Atomic uint32_t written; /* bytes, so far */
	/* from the daemon */
	alignas(64) _Atomic uint32_t read; /* bytes, so far */
	_Atomic uint32_t taken;            /* frames of the socket, so far */
	/* from both: the daemon asks, the host takes it back and wakes the daemon */
	alignas(64) _Atomic uint32_t wants_wake;
	alignas(64) char bytes[RING_BYTES];
};

/* ── the daemon ──────────────────────────────────────────────────────────────────────────────── */

struct ring {
	struct ring_memory *memory; /* NULL: there is none */
	int memory_fd;              /* for the host, until ring_given(); then -1 */
	int wake_fd;                /* eventfd(2); edge-triggered, it is never read */
	uint32_t read;
	uint32_t n_wakes; /* since bytes were taken */
};

/* Make a ring, whose descriptors close on exec; the caller frees it with ring_deinit(). 0 or a
 * negative errno. */
int ring_init(struct ring *ring);

/* Close the descriptor of the memory: the host has its own. */
void ring_given(struct ring *ring);

/* Free a ring, if there is one. */
void ring_deinit(struct ring *ring);

/* Ask to be woken by the next frame. Earlier frames are there for the next ring_take(). */
void ring_ask(struct ring *ring);

/* Count a wake-up. Return whether the host may have had a reason: a frame, perhaps taken by now. */
bool ring_count_wake(struct ring *ring);

/* Return whether there is something in the ring. */
bool ring_has_more(const struct ring *ring);

/* Move the bytes of the ring to @reader. Return 1, 0 when there are none, -ENOMEM, or -EPROTO for
 * counts that cannot be. */
int ring_take(struct ring *ring, struct wire_reader *reader);

/* Report to the host: @taken frames of the socket were taken so far. */
void ring_report(struct ring *ring, uint32_t taken);

/* ── the host ────────────────────────────────────────────────────────────────────────────────── */

struct ring_writer {
	struct ring_memory *memory; /* NULL: there is no ring */
	int wake_fd;
	uint32_t written;
};

/* Map the ring of @memory_fd, which is closed, for the rest of the process's life. @wake_fd stays
 * open. 0 or a negative errno. */
int ring_join(struct ring_writer *writer, int memory_fd, int wake_fd);

/* Put the whole frame @frame of @size bytes into the ring, and wake the daemon if it wants that.
 * @sent: the frames that went through the socket so far. Return 1; 0 when the frame has not been
 * taken, and goes through the socket; or a negative errno when the ring has the frame, but the
 * toolbox has closed @wake_fd: the end of the process, which has to follow, wakes the daemon. */
int ring_put(struct ring_writer *writer, uint32_t sent, const char *frame, size_t size);
