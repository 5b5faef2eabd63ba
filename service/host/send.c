/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "host/parts.h"
#include "host/process.h"
#include "util/clock.h"

/*
 * The daemon acts on a host: it sends frames, stops reading for a while, looks at the processor
 * time. The socket takes frames at once, or they wait in their order:
 *
 *   host_invoke() ─┬─ none runs ──▶ sendmsg ── takes all ──▶ sent
 *                  │                  │ some, or none
 *                  │                  └──▶ unsent ── room again ──▶ sent
 *                  └─ one runs ─────────▶ unsent ── the end of the turn ──▶ sent
 *
 * The first call of an idle host goes at once: its caller waits. Later calls wait for the first one
 * in any case, so all calls of one turn cost one system call.
 *
 * The process runs calls in the order in which they were sent, or carries several; their ids are
 * kept until their answers come.
 */

/* The memory for unsent frames that is kept: enough for a few calls sent ahead. */
#define UNSENT_KEPT_BYTES 8192

/* The most bytes that are gathered. A longer frame is sent without a copy. */
#define GATHERED_BYTES (64u << 10)

pid_t host_pid(const struct host *host)
{
	return host->pid;
}

void host_yield(struct host *host)
{
	/* As long as the leader is not reaped, no other group gets its number. */
	if (host->child)
		process_yield(host->pid);
}

int host_used_ns(const struct host *host, uint64_t *ret_ns)
{
	return host->child ? clock_process_ns(host->pid, ret_ns) : -ESRCH;
}

int host_watch_wire(struct host *host)
{
	uint32_t input = host_is_held(host) ? 0 : (uint32_t)EPOLLIN;
	uint32_t events = input | (host->is_blocked ? (uint32_t)EPOLLOUT : 0);

	if (host->refusals)
		loop_source_set_events(host->refusals, input);
	return host->source ? loop_source_set_events(host->source, events) : -EPIPE;
}

void host_hold(struct host *host, uint64_t hold_ms)
{
	if (!host->child || (!host->source && !host->wakes))
		return;
	loop_timer_arm(&host->hold, hold_ms);
	host_watch_wire(host);
}

static void set_blocked(struct host *host, bool is_blocked)
{
	if (host->is_blocked == is_blocked)
		return;
	host->is_blocked = is_blocked;
	host_watch_wire(host);
}

void host_flush(struct host *host)
{
	const char *from = host->unsent.data + host->sent;
	size_t left = host->unsent.size - host->sent;
	ssize_t n = send(host->wire, from, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0)
		host->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		host->sent = host->unsent.size;
	if (host->sent < host->unsent.size) {
		set_blocked(host, true);
		return;
	}
	buffer_recycle(&host->unsent, UNSENT_KEPT_BYTES);
	host->sent = 0;
	set_blocked(host, false);
	if (!host->is_full)
		return;
	host->is_full = false;
	host->handler.relieved(host->data);
}

void host_send_gathered(void *data)
{
	struct host *host = data;

	if (host->state < HOST_DISMISSED && host->unsent.size > 0 && !host->is_blocked)
		host_flush(host);
}

/* Append a frame. One that does not fit into memory leaves nothing. */
static int append_unsent(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body)
{
	size_t size = host->unsent.size;
	int r;

	wire_write(
		&host->unsent, kind, id, head.iov_base, head.iov_len, body.iov_base, body.iov_len);
	r = buffer_status(&host->unsent);
	if (r == 0)
		return 0;
	host->unsent.error = 0;
	host->unsent.size = size;
	return r;
}

/* Keep the frame for host_flush(), except its first @sent bytes, which were sent. */
static int keep_unsent(struct host *host, enum wire_kind kind, uint64_t id, struct iovec head,
	struct iovec body, size_t sent)
{
	int r = append_unsent(host, kind, id, head, body);

	if (r)
		return r;
	host->sent = sent;
	host->is_blocked = true;
	return host_watch_wire(host);
}

/* Return whether a frame of @size bytes waits for the end of the turn. */
static bool may_gather(const struct host *host, size_t size)
{
	return !host->carries && host->n_calls > 0 && !host->is_blocked &&
	       host->unsent.size + size <= GATHERED_BYTES;
}

static int gather(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body)
{
	loop_task_post(&host->sending);
	return append_unsent(host, kind, id, head, body);
}

int host_transmit(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body)
{
	struct wire_header header = {
		.size = (uint32_t)(head.iov_len + body.iov_len), .kind = kind, .id = id};
	struct iovec parts[] = {{&header, sizeof(header)}, head, body};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
	ssize_t n;

	if (body.iov_len > JSON_SIZE_MAX - head.iov_len)
		return -EMSGSIZE;
	if (may_gather(host, header.size))
		return gather(host, kind, id, head, body);
	if (host->unsent.size > 0 && !host->is_blocked)
		host_flush(host);
	if (host->unsent.size > 0)
		return append_unsent(host, kind, id, head, body);
	n = sendmsg(host->wire, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (n == (ssize_t)(sizeof(header) + header.size))
		return 0;
	return keep_unsent(host, kind, id, head, body, n < 0 ? 0 : (size_t)n);
}

unsigned int host_find_call(const struct host *host, uint64_t id)
{
	unsigned int at = 0;

	while (at < host->n_calls && host->calls[at] != id)
		at++;
	return at;
}

void host_drop_call(struct host *host, unsigned int at)
{
	host->calls[at] = host->calls[--host->n_calls];
	if (host->n_calls > 0)
		return;
	host->refused[0] = '\0';
	host_move(host, HOST_READY);
}

/* Return whether a call may wait until the host has read the bytes before it. */
static bool may_append(struct host *host)
{
	if (!host->carries)
		return false;
	host->is_full = host->unsent.size - host->sent > HOST_FULL_BYTES;
	return !host->is_full;
}

/* End a host that carries calls, and cannot be sent a frame, from the loop. Returns -EPIPE. */
static int fail_later(struct host *host)
{
	host->is_failed = true;
	loop_timer_arm(&host->timer, 0);
	return -EPIPE;
}

bool host_has_room(const struct host *host)
{
	return host->state != HOST_STARTING && host->n_calls < host->calls_max && !host->is_blocked;
}

int host_invoke(struct host *host, uint64_t id, const struct host_call *call)
{
	struct wire_invoke invoke = {
		.program = call->program,
		.tool = call->tool,
		.timeout_ms = call->timeout_ms,
		.output_max = (uint32_t)host->reader.payload_max,
		.stderr_max = (uint32_t)host->output.bytes_max,
		.caller_size = (uint32_t)call->caller_size,
	};
	int r;

	check(id != 0);
	if (host->state == HOST_ENDED || !host->child || !host->source)
		return -EPIPE;
	if (host->state == HOST_STARTING || host->n_calls == host->calls_max ||
		(host->is_blocked && !may_append(host)))
		return -EBUSY;
	buffer_reset(&host->head);
	buffer_append(&host->head, &invoke, sizeof(invoke));
	buffer_append(&host->head, call->caller, call->caller_size);
	r = buffer_status(&host->head);
	if (r == 0)
		r = host_transmit(host, call->is_check ? WIRE_CHECK : WIRE_INVOKE, id,
			(struct iovec){host->head.data, host->head.size},
			(struct iovec){(void *)call->arguments, call->size});
	if (r)
		return host->carries && r != -EPIPE ? fail_later(host) : r;
	host->calls[host->n_calls++] = id;
	if (host->n_calls == 1 || host->carries)
		output_begin_call(&host->output);
	if (host->n_calls == 1) {
		host->refused[0] = '\0';
		host_move(host, HOST_RUNNING);
	}
	return 0;
}

void host_cancel(struct host *host, uint64_t id, bool is_late)
{
	struct wire_cancel cancel = {.is_late = is_late};
	unsigned int at = host_find_call(host, id);
	int r;

	check(host->carries && host->state == HOST_RUNNING && at < host->n_calls);
	host_drop_call(host, at);
	host->n_cancelled++;
	if (!host->source || host->is_failed)
		return;
	r = host_transmit(host, WIRE_CANCEL, id, (struct iovec){&cancel, sizeof(cancel)},
		(struct iovec){NULL, 0});
	if (r && r != -EPIPE)
		fail_later(host);
	else if (host->n_cancelled == 1)
		loop_timer_arm(&host->timer, HOST_CANCEL_MS);
}

void host_replace(struct host *host)
{
	const struct iovec none = {NULL, 0};
	int r;

	if (host->state == HOST_STARTING || host->state >= HOST_DISMISSED || !host->source ||
		host->is_failed)
		return;
	r = host_transmit(host, WIRE_REPLACED, 0, none, none);
	if (r && r != -EPIPE)
		fail_later(host);
}

int host_send_bus_message(struct host *host, const char *text, size_t size)
{
	if (host->state == HOST_ENDED || !host->child || !host->source || !host->has_bus)
		return -EPIPE;
	if (host->unsent.size - host->sent + size > HOST_UNREAD_BYTES)
		return -ENOBUFS;
	return host_transmit(
		host, WIRE_MESSAGE, 0, (struct iovec){NULL, 0}, (struct iovec){(void *)text, size});
}
