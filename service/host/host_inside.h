/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "host/host.h"
#include "host/output.h"
#include "wire/wire.h"

/* The inside of a host, for the files that are one: host.c, its process and what is sent to it, and
 * host_frames.c, what it sends. */

enum host_state {
	HOST_STARTING,
	HOST_READY,
	HOST_RUNNING,
	HOST_DISMISSED, /* nothing of what it sends is read any more */
	HOST_ENDED,
};

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
	struct loop_source *source; /* of wire; NULL behind its end of file, or ours */
	struct wire_reader reader;
	struct buffer head;   /* of the last INVOKE: what stands before the arguments */
	struct buffer unsent; /* what the socket did not take at once */
	size_t sent;          /* bytes of it that it has taken since */
	struct json_tape tape;
	struct loop_timer timer;
	struct loop_timer hold; /* armed: nothing is read before */
	struct output output;
	uint64_t calls[HOST_CALLS_MAX]; /* ids in the order they were sent; the first one runs */
	unsigned int n_calls;
	bool *freed; /* where host_free leaves a note for a function it returns to */
};

static inline bool host_is_held(const struct host *host)
{
	return loop_timer_is_armed(&host->hold);
}

/* The last thing that is done with a host: the handler may free it. Because of @why; because of
 * what it did; because we had no memory to go on with it. */
void host_end(struct host *host, const struct host_end *why);
void host_end_malformed(struct host *host, const char *what);
void host_end_killed(struct host *host);

/* Act on what was received, as far as it is frames by now and the host is not held. Whether the
 * host is still of use: the handler may have freed it. */
bool host_take_received(struct host *host);
