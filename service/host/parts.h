/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "host/host.h"
#include "host/host_state.h"
#include "host/output.h"
#include "host/refusal.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "util/assert.h"
#include "util/buffer.h"
#include "wire/ring.h"
#include "wire/wire.h"

/*
 * The inside of a host (host/host.h), for the files that have its parts:
 *
 *   life ──▶ receive ──▶ refused     life      the process starts, is dismissed, exits
 *     │ │       │ │        │         receive   bytes and frames of the process, and their effect
 *     │ └───────┼─┴────────┴─▶ send  refused   system calls refused by the sandbox
 *     └─────────┴──▶ end             send      calls and messages to the process; holding it
 *                                    end       why a host ends, once
 *
 * The daemon watches the socket, what the host wakes it with (wire/ring.h), the process (pidfd) and
 * a timer.
 *
 *   a frame          is progress of the call that runs, or its one answer. After the answer to the
 *                    last call there is nothing, or the host is killed: until the next INVOKE it
 *                    has nothing to send
 *   the process ends everything that it had sent still counts: the ring, then the socket is read
 *                    until it is empty, then ended() reports the exit status
 *   end of file      comes a moment before the end of the process, which reports the reason; a
 *                    process that goes on for HANG_UP_MS has closed its socket, and is killed
 *   a refused call   waits at the listener (host/refusal.h), and is answered at once. The first one
 *                    of a call is kept, to be reported with a failure
 *   the timer        start_timeout_ms, later HANG_UP_MS, HOST_CANCEL_MS or HOST_DISMISS_MS
 *
 * In the steady state a call is at most one sendmsg, at most one recv (none for an answer in the
 * ring), and no allocation: the buffers of the readers and the tape that checks a result are used
 * again and again. Calls after a running one are gathered, and sent together at the end of the
 * loop's turn.
 */
struct host {
	struct loop *loop;
	struct host_handler handler;
	void *data;
	enum host_state state;
	pid_t pid;
	bool has_guard;
	bool has_bus;
	struct loop_child *child; /* NULL once reaped */
	int wire;
	struct loop_source *source; /* reads wire; NULL after its end of file, or once dismissed */
	struct wire_reader reader;
	struct ring ring;           /* with memory: frames of the host come through it, too */
	struct loop_source *wakes;  /* the host wakes us; NULL once dismissed */
	struct wire_reader answers; /* frames of the ring */
	uint32_t n_taken;           /* frames taken from reader */
	struct buffer head;         /* the last INVOKE up to the arguments */
	struct buffer unsent;       /* frames that are gathered, or that the socket did not take */
	struct loop_task sending;   /* sends gathered frames */
	size_t sent;                /* bytes of unsent that it has taken since */
	bool is_blocked;            /* unsent waits for the socket */
	struct json_tape tape;
	uint32_t values_max; /* the most values of a frame, but for WIRE_LOADED; 0: not bounded */
	uint64_t reading_ns; /* the time of reading the text in the tape, if it was long */
	struct loop_timer timer;
	struct loop_timer hold; /* armed: nothing is read until it is due */
	struct output output;
	uint64_t calls[HOST_CARRIED_MAX]; /* ids in the order they were sent; the first one runs,
					     or all of them, which then have no order */
	unsigned int n_calls;
	unsigned int calls_max;
	bool carries;
	bool is_in_use;       /* as it has reported (WIRE_USE) */
	bool is_full;         /* it has refused a call, because it has not read what was sent */
	bool is_failed;       /* it cannot be sent what it has to know, and is ended by the timer */
	uint32_t n_cancelled; /* calls whose answers are to be dropped */
	bool has_begun;       /* its first frame was read, with which the listener comes */
	int listener;         /* -1: there is none */
	struct loop_source *refusals; /* watches listener */
	uint64_t refusals_ms;         /* when the window began in which n_refusals came */
	uint32_t n_refusals;
	char refused[REFUSAL_TEXT_BYTES]; /* the first one, or "" */
	char note[HOST_NOTE_BYTES];       /* the last one */
	uint64_t noted_ns;
	unsigned int n_inside; /* functions that have entered it, to which host_free returns */
	bool is_freed;         /* the last of these functions to leave it frees its memory */
};

/* Keep the memory of the host, whatever a handler does, until the function leaves it. */
static inline void host_enter(struct host *host)
{
	host->n_inside++;
}

/* Free the memory of a host that was freed, and that no function is in. */
void host_free_memory(struct host *host);

/* Returns whether the host can still be used. */
static inline bool host_leave(struct host *host)
{
	bool is_freed = host->is_freed;

	if (--host->n_inside == 0 && is_freed)
		host_free_memory(host);
	return !is_freed;
}

/* Change the state: the only place where that is done. */
static inline void host_move(struct host *host, enum host_state to)
{
	host->state = host_state_move(host->state, to);
	check(to != HOST_READY || host->n_calls == 0);
	check(to != HOST_RUNNING || host->n_calls == 1);
}

static inline bool host_is_held(const struct host *host)
{
	return loop_timer_is_armed(&host->hold);
}

/* ── end ─────────────────────────────────────────────────────────────────────────────────────── */

/* End the host and call ended(). The handler may free the host: after any of these four functions
 * it must not be touched. */
void host_end(struct host *host, const struct host_exit *exit);

/* End a host that broke the protocol, as @text describes. */
void host_end_malformed(struct host *host, const char *text);

/* End a host for which memory is short. */
void host_end_killed(struct host *host);

/* End a host whose process has ended with @status (waitpid(2)). */
void host_end_by_status(struct host *host, int status);

/* Close @fd beside the loop. */
void host_close_later(int fd);

/* ── send ────────────────────────────────────────────────────────────────────────────────────── */

/* Watch the socket for frames, unless the host is held, and for room for those that are unsent; the
 * listener for calls. 0 or a negative errno. */
int host_watch_wire(struct host *host);

/* Send the unsent bytes. If the socket takes none any more, drop them: the end of the host
 * follows. */
void host_flush(struct host *host);

/* The function of the task `sending`; @data is the host. */
void host_send_gathered(void *data);

/* Send a frame whose payload is @head, then @body: at once and without a copy while no call runs
 * and no frame waits; else a short frame goes at the end of the loop's turn. Returns 0 or a
 * negative errno. */
int host_transmit(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body);

/* Return the place of the call @id, or n_calls. */
unsigned int host_find_call(const struct host *host, uint64_t id);

/* Take the call at @at off a host that carries several. */
void host_drop_call(struct host *host, unsigned int at);

/* ── refused ─────────────────────────────────────────────────────────────────────────────────── */

/* Watch @listener, which the host owns from now on. 0 or a negative errno. */
int host_take_listener(struct host *host, int listener);

/* Close the listener, if there is one: calls that are refused from now on fail with ENOSYS. */
void host_close_listener(struct host *host);

/* ── receive ─────────────────────────────────────────────────────────────────────────────────── */

/* Begin to watch the socket, and to read what comes. 0 or a negative errno. */
int host_watch(struct host *host);

/* Read once from the socket, and from the ring if something came. Returns 0 then, -EAGAIN, -ENOMEM,
 * -EBADMSG when a descriptor came that was not expected, -EPROTO for a ring with counts that cannot
 * be, or -EPIPE at the end of file. */
int host_receive(struct host *host);

/* Act on all whole frames of the ring, and on frames received before; ask to be woken by
 * the next frame. */
void host_take_ring(struct host *host);

/* Act on all whole frames that were received, until the host is held, and send what was gathered
 * meanwhile. Returns whether the host can still be used; the handler may have freed it. */
bool host_take_received(struct host *host);
