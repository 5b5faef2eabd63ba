/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_state.h"
#include "host/output.h"
#include "host/process.h"
#include "host/refusal.h"
#include "host/received_fds.h"
#include "json/reader.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/text/utf8.h"
#include "wire/wire.h"

/*
 * The daemon watches the socket, the process (pidfd) and a timer.
 *
 *   a frame          is progress of the call that runs, or its one answer. After the answer to the
 *                    last call there is nothing, or the host is killed: until the next INVOKE it
 *                    has nothing to send
 *   the process ends everything that it had sent still counts: the socket is read until it is
 *                    empty, then ended() reports the exit status
 *   end of file      comes a moment before the end of the process, which reports the reason; a
 *                    process that goes on for HANG_UP_MS has closed its socket, and is killed
 *   a refused call   waits at the listener (host/refusal.h), and is answered at once. The first one
 *                    of a call is kept, to be reported with a failure
 *   the timer        start_timeout_ms, later HANG_UP_MS, HOST_CANCEL_MS or HOST_DISMISS_MS
 *
 * A host that sends too much to the bus, or has too many calls refused, is held: its socket is not
 * read for a while, and what was read is kept. Then the host itself waits, in its own send, and
 * nothing is lost.
 *
 * In the steady state a call is at most one sendmsg, at most one recv, and no allocation: the
 * buffer of the reader and the tape that checks a result are used again and again. When several
 * answers were received at once, the calls that follow them are gathered, and sent together.
 */

/* A process that dies closes its socket first. The rest of its end takes hundreds of milliseconds
 * on a busy machine. */
#define HANG_UP_MS 2000

/* The reads after a process has ended: more than a socket holds. A child that it has left could go
 * on sending for ever. */
#define LEFT_READS_MAX 256

/* A tape that grew larger than this is freed after the result. */
#define KEEP_TOKENS 16384

/* The memory for unsent frames that is kept: that of a few calls which are sent ahead. */
#define UNSENT_KEPT_BYTES 8192

/* Reading an answer of so many bytes is measured: it can take a millisecond. */
#define LONG_BYTES (128u << 10)

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
	struct buffer head;   /* the last INVOKE up to the arguments */
	struct buffer unsent; /* frames that are gathered, or that the socket did not take */
	size_t sent;          /* bytes of unsent that it has taken since */
	bool is_blocked;      /* unsent waits for the socket */
	bool gathers;         /* unsent waits until the frames that were received are acted on */
	struct json_tape tape;
	uint32_t values_max; /* the most values of an answer; 0: not bounded */
	uint64_t reading_ns; /* the time of reading the text in the tape, if it was long */
	struct loop_timer timer;
	struct loop_timer hold; /* armed: nothing is read until it is due */
	struct output output;
	uint64_t calls[HOST_CARRIED_MAX]; /* ids in the order they were sent; the first one runs,
					     or all of them, which then have no order */
	unsigned int n_calls;
	unsigned int calls_max;
	bool carries;
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
	bool *freed; /* set by host_free, for a function that it returns to */
};

/* Change the state: the only place where that is done. */
static void host_move(struct host *host, enum host_state to)
{
	host->state = host_state_move(host->state, to);
	check(to != HOST_READY || host->n_calls == 0);
	check(to != HOST_RUNNING || host->n_calls == 1);
}

static bool is_held(const struct host *host)
{
	return loop_timer_is_armed(&host->hold);
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

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
	return host->child ? process_used_ns(host->pid, ret_ns) : -ESRCH;
}

/* Kill the leader and its group: a leader may have left its group, and children may be left in
 * it. */
static void kill_all(struct host *host)
{
	if (!host->child)
		return;
	if (host->has_guard) {
		/* A guard that is killed could not kill the others; one that its toolbox has
		 * stopped must wake up. */
		loop_child_signal(host->child, SIGTERM);
		loop_child_signal(host->child, SIGCONT);
		return;
	}
	loop_child_signal(host->child, SIGKILL);
	kill(-host->pid, SIGKILL);
}

/* Calls that are refused from now on fail with ENOSYS. */
static void close_listener(struct host *host)
{
	loop_source_free(take_ptr(host->refusals));
	if (host->listener >= 0)
		close(host->listener);
	host->listener = -1;
}

/* End the process and give back everything but memory. */
static void shut_host(struct host *host)
{
	host_move(host, HOST_ENDED);
	kill_all(host);
	loop_child_forget(host->child);
	host->child = NULL;
	loop_source_free(host->source);
	host->source = NULL;
	close_listener(host);
	loop_timer_deinit(&host->timer);
	loop_timer_deinit(&host->hold);
	output_deinit(&host->output);
	if (host->wire >= 0)
		received_fds_close_wire(host->wire);
	host->wire = -1;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	if (host->freed)
		*host->freed = true;
	if (host->state != HOST_ENDED)
		shut_host(host);
	wire_reader_deinit(&host->reader);
	buffer_deinit(&host->unsent);
	buffer_deinit(&host->head);
	json_tape_deinit(&host->tape);
	free(host);
}

/* End the host and call ended(). The handler may free the host, so do not touch it afterwards. */
static void end_host(struct host *host, const struct host_exit *exit)
{
	char refused[REFUSAL_TEXT_BYTES];
	char printed[OUTPUT_LINE_BYTES + 1];
	struct host_exit whole = *exit;

	memcpy(refused, host->refused, sizeof(refused));
	whole.refused = *refused ? refused : NULL;
	output_finish(&host->output);
	memcpy(printed, host->output.line, host->output.last_size);
	printed[host->output.last_size] = '\0';
	whole.printed = host->output.last_size > 0 ? printed : NULL;
	shut_host(host);
	host->handler.ended(host->data, &whole);
}

/* End a host that broke the protocol, as @text describes. */
static void end_malformed(struct host *host, const char *text)
{
	end_host(host, &(struct host_exit){.reason = HOST_MALFORMED, .message = text});
}

/* End a host for which memory is short. */
static void end_killed(struct host *host)
{
	end_host(host, &(struct host_exit){.reason = HOST_SIGNALED, .signal = SIGKILL});
}

/* ── unsent frames ───────────────────────────────────────────────────────────────────────────── */

/* Watch the socket for frames, and for room for those that are unsent; the listener for calls. */
static int watch_wire(struct host *host)
{
	uint32_t input = is_held(host) ? 0 : (uint32_t)EPOLLIN;
	uint32_t events = input | (host->is_blocked ? (uint32_t)EPOLLOUT : 0);

	if (host->refusals)
		loop_source_set_events(host->refusals, input);
	return host->source ? loop_source_set_events(host->source, events) : -EPIPE;
}

static void set_blocked(struct host *host, bool is_blocked)
{
	if (host->is_blocked == is_blocked)
		return;
	host->is_blocked = is_blocked;
	watch_wire(host);
}

/* Send the unsent bytes. If the socket takes none any more, drop them: the end of the host
 * follows. */
static void flush_unsent(struct host *host)
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

/* ── received frames
 * ───────────────────────────────────────────────────────────────────────────── */

/*
 * A frame is hostile until it was expected, checked and found to be the last of its kind.
 *
 *                     kind and id                  payload
 *   bytes ─▶ frame ─▶ may it come now? ──▶ UTF-8, JSON, an object? ──▶ the handler
 *              │             │ no                   │ no
 *              └─ too large ─┴──────────────────────┴──▶ the host is killed
 *
 * Messages to the bus are the exception: the mistake may be that of a tool, not of the host, so it
 * costs the tool its message.
 */

static void end_too_large(struct host *host, size_t actual)
{
	end_host(host, &(struct host_exit){.reason = HOST_TOO_LARGE,
			       .actual = actual,
			       .max = host->reader.payload_max});
}

static bool is_answer_kind(enum wire_kind kind)
{
	return kind == WIRE_RESULT || kind == WIRE_FAILED || kind == WIRE_ERROR;
}

/* Check that the payload is JSON. Returns 0, -ENOMEM, or an enum json_status. */
static int read_payload(struct host *host, const struct wire_frame *frame)
{
	bool is_long = frame->size >= LONG_BYTES;
	uint64_t start_ns = is_long ? clock_thread_ns() : 0;
	int r;

	if (host->tape.capacity > KEEP_TOKENS)
		json_tape_deinit(&host->tape);
	host->tape.tokens_max = is_answer_kind(frame->kind) ? host->values_max : 0;
	r = json_tape_read(&host->tape, frame->payload, frame->size, JSON_DEPTH_DEFAULT, NULL);
	host->reading_ns = is_long ? clock_thread_ns() - start_ns : 0;
	return r;
}

/* Return the member @key of the object in the tape if it is a text without U+0000, or NULL. The
 * caller frees it. */
static char *dup_member(const struct json_tape *tape, const char *key)
{
	uint32_t value = json_find(tape, 0, key);
	size_t size;
	char *text;

	if (value == JSON_NONE || json_type_at(tape, value) != JSON_STRING)
		return NULL;
	text = json_string_dup(tape, value, &size);
	if (text && strlen(text) == size)
		return text;
	free(text);
	return NULL;
}

static void take_loaded(struct host *host, const struct wire_frame *frame)
{
	loop_timer_disarm(&host->timer);
	host_move(host, HOST_READY);
	host->handler.loaded(host->data, frame->payload, frame->size);
}

static void take_refused(struct host *host)
{
	cleanup_free char *pointer = dup_member(&host->tape, "pointer");
	cleanup_free char *message = dup_member(&host->tape, "message");

	if (!pointer || !message)
		end_malformed(host, "refused its toolbox without a place and a reason");
	else
		end_host(host,
			&(struct host_exit){
				.reason = HOST_REFUSED, .pointer = pointer, .message = message});
}

/* Return the place of the call @id, or n_calls. */
static unsigned int find_call(const struct host *host, uint64_t id)
{
	unsigned int at = 0;

	while (at < host->n_calls && host->calls[at] != id)
		at++;
	return at;
}

/* Take the call at @at off a host that carries several. */
static void drop_call(struct host *host, unsigned int at)
{
	host->calls[at] = host->calls[--host->n_calls];
	if (host->n_calls > 0)
		return;
	host->refused[0] = '\0';
	host_move(host, HOST_READY);
}

/* Note that the call that runs is done, and that the next one, if there is any, has begun. */
static void advance_calls(struct host *host)
{
	check(host->n_calls > 0);
	host->n_calls--;
	host->refused[0] = '\0';
	memmove(host->calls, host->calls + 1, host->n_calls * sizeof(*host->calls));
	if (host->n_calls > 0)
		output_begin_call(&host->output);
	else
		host_move(host, HOST_READY);
}

static void take_answer(struct host *host, const struct wire_frame *frame)
{
	struct host_answer answer = {.kind = HOST_ANSWER_RESULT,
		.text = frame->payload,
		.size = frame->size,
		.reading_ns = host->reading_ns};
	char refused[REFUSAL_TEXT_BYTES];

	if (frame->kind == WIRE_FAILED)
		answer.kind = HOST_ANSWER_FAILED;
	else
		answer.tape = &host->tape;
	if (frame->kind == WIRE_ERROR)
		answer.kind = HOST_ANSWER_ERROR;
	/* One of several calls that run: it is not known which. */
	if (host_refused(host) && !(host->carries && host->n_calls > 1))
		answer.refused = memcpy(refused, host->refused, sizeof(refused));
	if (host->carries)
		drop_call(host, find_call(host, frame->id));
	else
		advance_calls(host);
	host->handler.answered(host->data, frame->id, &answer);
}

static bool runs_call(const struct host *host, uint64_t id)
{
	return host->state == HOST_RUNNING &&
	       (id == host->calls[0] || (host->carries && find_call(host, id) < host->n_calls));
}

static bool is_answer(const struct host *host, const struct wire_frame *frame)
{
	return runs_call(host, frame->id) && is_answer_kind(frame->kind);
}

static bool is_progress(const struct host *host, const struct wire_frame *frame)
{
	return runs_call(host, frame->id) && frame->kind == WIRE_PROGRESS;
}

/* Drop the frame if it may be one of a call that was cancelled. Returns whether it was dropped. */
static bool drop_cancelled(struct host *host, const struct wire_frame *frame)
{
	bool is_end = is_answer_kind(frame->kind);

	if (host->n_cancelled == 0 || frame->id == 0 || !(is_end || frame->kind == WIRE_PROGRESS))
		return false;
	host->n_cancelled -= is_end;
	if (!is_end || !host->source || host->is_failed)
		return true;
	if (host->n_cancelled > 0)
		loop_timer_arm(&host->timer, HOST_CANCEL_MS);
	else
		loop_timer_disarm(&host->timer);
	return true;
}

static bool is_bus_message(const struct host *host, const struct wire_frame *frame)
{
	return host->has_bus && frame->id == 0 && frame->kind == WIRE_EMIT;
}

static bool is_stale(const struct host *host, const struct wire_frame *frame)
{
	return host->carries && host->state != HOST_STARTING && frame->id == 0 &&
	       frame->kind == WIRE_STALE;
}

static bool is_note(const struct host *host, const struct wire_frame *frame)
{
	return host->carries && host->state != HOST_STARTING && frame->id == 0 &&
	       frame->kind == WIRE_NOTE;
}

static void take_note(struct host *host, const struct wire_frame *frame)
{
	size_t points = sizeof(host->note) / 4 - 1;
	size_t size = utf8_prefix(frame->payload, frame->size, points);

	memcpy(host->note, frame->payload, size);
	host->note[size] = '\0';
	host->noted_ns = clock_now_ns();
}

/* Return whether the frame may come in this state. */
static bool is_expected(const struct host *host, const struct wire_frame *frame)
{
	if (is_bus_message(host, frame) || is_stale(host, frame) || is_note(host, frame))
		return true;
	if (host->state == HOST_STARTING)
		return frame->id == 0 &&
		       (frame->kind == WIRE_LOADED || frame->kind == WIRE_REFUSED);
	return is_answer(host, frame) || is_progress(host, frame);
}

/* Check that the payload is text in UTF-8, or JSON; an object, unless it is a result. Returns 0,
 * -ENOMEM, or an enum json_status. */
static int check_payload(struct host *host, const struct wire_frame *frame)
{
	int r;

	if (frame->kind == WIRE_FAILED || frame->kind == WIRE_NOTE)
		return utf8_is_valid(frame->payload, frame->size) ? 0 : JSON_E_UTF8;
	r = read_payload(host, frame);
	if (r == 0 && frame->kind != WIRE_RESULT && json_type_at(&host->tape, 0) != JSON_OBJECT)
		return JSON_E_SYNTAX;
	return r;
}

/* Return whether nothing may follow the frame: after its last answer a host is silent. */
static bool is_last(const struct host *host, const struct wire_frame *frame)
{
	return !host->has_bus && !host->carries && host->n_calls <= 1 && host->n_cancelled == 0 &&
	       !is_progress(host, frame);
}

/* Take an error of its call in the place of the answer @frame, which has too many values. */
static void take_crowded(struct host *host, const struct wire_frame *frame)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "{\"code\":\"too_large\",\"values\":%" PRIu32 "}",
		host->values_max);
	uint64_t reading_ns = host->reading_ns;
	struct wire_frame error = {
		.kind = WIRE_ERROR, .id = frame->id, .payload = text, .size = (size_t)length};

	if (read_payload(host, &error) != 0) {
		end_killed(host);
		return;
	}
	host->reading_ns = reading_ns;
	take_answer(host, &error);
}

/* Act on the frame. The handler may have freed the host. */
static void take_frame(struct host *host, const struct wire_frame *frame)
{
	int r = is_expected(host, frame) ? check_payload(host, frame) : 0;

	if (!is_expected(host, frame)) {
		if (!drop_cancelled(host, frame))
			end_malformed(host, "sent a frame that was not expected");
	} else if (wire_reader_has_more(&host->reader) && is_last(host, frame))
		end_malformed(host, "sent more than one answer");
	else if (r == -ENOMEM)
		end_killed(host);
	else if (r == JSON_E_TOKENS && is_answer(host, frame))
		take_crowded(host, frame);
	else if (is_bus_message(host, frame))
		host->handler.bus_message(
			host->data, r ? NULL : &host->tape, frame->payload, frame->size);
	else if (r)
		end_malformed(host, "sent text that is not JSON, or not UTF-8");
	else if (frame->kind == WIRE_LOADED)
		take_loaded(host, frame);
	else if (frame->kind == WIRE_REFUSED)
		take_refused(host);
	else if (frame->kind == WIRE_STALE)
		host->handler.stale(host->data);
	else if (frame->kind == WIRE_NOTE)
		take_note(host, frame);
	else if (frame->kind != WIRE_PROGRESS)
		take_answer(host, frame);
	else if (host->handler.progressed)
		host->handler.progressed(host->data, frame->id, &host->tape);
}

/* Act on the next frame that was received, or on bytes that are none. Returns whether there may be
 * another; the handler may have freed the host. */
static bool take_next(struct host *host)
{
	struct wire_frame frame;

	switch (wire_reader_next(&host->reader, &frame)) {
	case WIRE_E_MORE:
		return false;
	case WIRE_E_TOO_LARGE:
		if (is_answer(host, &frame))
			end_too_large(host, frame.size);
		else
			end_malformed(host, "sent a frame over the limit");
		return false;
	case WIRE_E_MALFORMED:
		end_malformed(host, "sent bytes that are not a frame");
		return false;
	default:
		host->gathers = !host->carries && wire_reader_has_more(&host->reader);
		take_frame(host, &frame);
		return true;
	}
}

/* Act on all whole frames that were received, until the host is held, and send what was gathered
 * meanwhile. Returns whether the host can still be used; the handler may have freed it. */
static bool take_received(struct host *host)
{
	bool *outer = host->freed;
	bool is_freed = false;

	host->freed = &is_freed;
	while (!is_freed && host->state < HOST_DISMISSED && !is_held(host) && take_next(host))
		;
	if (is_freed) {
		if (outer)
			*outer = true;
		return false;
	}
	host->gathers = false;
	if (host->state < HOST_DISMISSED && host->unsent.size > 0 && !host->is_blocked)
		flush_unsent(host);
	if (is_freed && outer)
		*outer = true;
	if (is_freed)
		return false;
	host->freed = outer;
	return host->state < HOST_DISMISSED;
}

/* ── sent frames, and its life ───────────────────────────────────────────────────────────── */

static void end_by_status(struct host *host, int status)
{
	if (WIFSIGNALED(status))
		end_host(host,
			&(struct host_exit){.reason = HOST_SIGNALED, .signal = WTERMSIG(status)});
	else
		end_host(host, &(struct host_exit){
				       .reason = HOST_EXITED, .exit_code = WEXITSTATUS(status)});
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

/* Keep the frame for flush_unsent(), except its first @sent bytes, which were sent. */
static int keep_unsent(struct host *host, enum wire_kind kind, uint64_t id, struct iovec head,
	struct iovec body, size_t sent)
{
	int r = append_unsent(host, kind, id, head, body);

	if (r)
		return r;
	host->sent = sent;
	host->is_blocked = true;
	return watch_wire(host);
}

/* Send a frame whose payload is @head, then @body, without a copy if the socket takes it at once,
 * and nothing is gathered. Returns 0 or a negative errno. */
static int transmit(
	struct host *host, enum wire_kind kind, uint64_t id, struct iovec head, struct iovec body)
{
	struct wire_header header = {
		.size = (uint32_t)(head.iov_len + body.iov_len), .kind = kind, .id = id};
	struct iovec parts[] = {{&header, sizeof(header)}, head, body};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
	ssize_t n;

	if (body.iov_len > JSON_SIZE_MAX - head.iov_len)
		return -EMSGSIZE;
	if (host->unsent.size > 0 || (host->gathers && host->n_calls > 0))
		return append_unsent(host, kind, id, head, body);
	n = sendmsg(host->wire, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (n == (ssize_t)(sizeof(header) + header.size))
		return 0;
	return keep_unsent(host, kind, id, head, body, n < 0 ? 0 : (size_t)n);
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
		r = transmit(host, call->is_check ? WIRE_CHECK : WIRE_INVOKE, id,
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
	unsigned int at = find_call(host, id);
	int r;

	check(host->carries && host->state == HOST_RUNNING && at < host->n_calls);
	drop_call(host, at);
	host->n_cancelled++;
	if (!host->source || host->is_failed)
		return;
	r = transmit(host, WIRE_CANCEL, id, (struct iovec){&cancel, sizeof(cancel)},
		(struct iovec){NULL, 0});
	if (r && r != -EPIPE)
		fail_later(host);
	else if (host->n_cancelled == 1)
		loop_timer_arm(&host->timer, HOST_CANCEL_MS);
}

int host_send_bus_message(struct host *host, const char *text, size_t size)
{
	if (host->state == HOST_ENDED || !host->child || !host->source || !host->has_bus)
		return -EPIPE;
	if (host->unsent.size - host->sent + size > HOST_UNREAD_BYTES)
		return -ENOBUFS;
	return transmit(
		host, WIRE_MESSAGE, 0, (struct iovec){NULL, 0}, (struct iovec){(void *)text, size});
}

const char *host_note(const struct host *host, uint64_t since_ns)
{
	return host->note[0] && host->noted_ns >= since_ns ? host->note : NULL;
}

const char *host_refused(const struct host *host)
{
	return host->refused[0] ? host->refused : NULL;
}

/* Hold a host that loops over refused calls: each wakes the daemon. One that is ending cannot be
 * held. */
static void bound_refusals(struct host *host)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms - host->refusals_ms >= HOST_REFUSAL_WINDOW_MS) {
		host->refusals_ms = now_ms;
		host->n_refusals = 0;
	}
	if (++host->n_refusals <= HOST_REFUSALS_MAX)
		return;
	if (host->source)
		host_hold(host, HOST_REFUSAL_WINDOW_MS);
	else
		close_listener(host);
}

/* Return whether the host may have sent an answer that was not taken yet: the call that is refused
 * is then one of a later call of a tool. */
static bool has_unread(const struct host *host)
{
	int size = 0;

	return host->n_calls > 1 && host->source && ioctl(host->wire, FIONREAD, &size) == 0 &&
	       size > 0;
}

static void on_refusal(void *data, uint32_t events)
{
	char text[REFUSAL_TEXT_BYTES];
	struct host *host = data;

	/* No thread is left that a filter could stop. */
	if (!(events & EPOLLIN) && (events & (EPOLLHUP | EPOLLERR)))
		close_listener(host);
	if (!(events & EPOLLIN) || has_unread(host))
		return;
	if (refusal_answer(host->listener, text) == 0 && !host_refused(host))
		memcpy(host->refused, text, sizeof(text));
	bound_refusals(host);
}

/* Return the status of receive() for the @error of a read. */
static int status_of(int error)
{
	switch (error) {
	case EAGAIN:
	case EINTR:
		return -EAGAIN;
	case ENOMEM:
	case EBADMSG:
		return -error;
	default:
		return -EPIPE;
	}
}

/* Watch @listener, which the host owns from now on. */
static int take_listener(struct host *host, int listener)
{
	host->listener = listener;
	return loop_add_fd(host->loop, listener, EPOLLIN, on_refusal, host, &host->refusals);
}

/* Read the header of the first frame, and the descriptor that may come with it. A frame other than
 * LISTENER is left to the reader. Returns as receive() does; -ENOMEM also without a descriptor to
 * spare. */
static int receive_first(struct host *host)
{
	struct wire_header header;
	int fd;
	ssize_t n = received_fds_take(host->wire, &header, sizeof(header), &fd);
	char *space;
	size_t size;

	if (n <= 0)
		return n < 0 ? status_of(errno) : -EPIPE;
	host->has_begun = true;
	if (n == (ssize_t)sizeof(header) && header.kind == WIRE_LISTENER && header.size == 0)
		return fd >= 0 && take_listener(host, fd) < 0 ? -ENOMEM : 0;
	received_fds_close(fd);
	if (fd >= 0)
		return -EBADMSG;
	space = wire_reader_space(&host->reader, &size);
	if (!space)
		return -ENOMEM;
	memcpy(space, &header, (size_t)n);
	wire_reader_received(&host->reader, (size_t)n);
	return 0;
}

/* Read once. Returns 0 when something came, -EAGAIN, -ENOMEM, -EBADMSG when a descriptor came that
 * was not expected, or -EPIPE at the end of file. */
static int receive(struct host *host)
{
	size_t size;
	char *space;
	ssize_t n;
	int fd;

	if (!host->has_begun)
		return receive_first(host);
	space = wire_reader_space(&host->reader, &size);
	if (!space)
		return -ENOMEM;
	n = received_fds_take(host->wire, space, size, &fd);
	if (n < 0)
		return status_of(errno);
	received_fds_close(fd);
	if (fd >= 0)
		return -EBADMSG;
	wire_reader_received(&host->reader, (size_t)n);
	return n > 0 ? 0 : -EPIPE;
}

/* Stop reading at the end of file. The end of the process should follow at once and give the
 * reason; if it does not, the host has only closed its socket. */
static void hang_up(struct host *host)
{
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_arm(&host->timer, HANG_UP_MS);
}

void host_hold(struct host *host, uint64_t hold_ms)
{
	if (!host->child || !host->source)
		return;
	loop_timer_arm(&host->hold, hold_ms);
	watch_wire(host);
}

static void on_hold(void *data)
{
	watch_wire(data);
	take_received(data);
}

/* Act on @events. From a host that is held only EPOLLHUP and EPOLLERR come; the rest is read
 * then. */
static void on_wire(void *data, uint32_t events)
{
	struct host *host = data;

	if ((events & EPOLLOUT) && host->is_blocked)
		flush_unsent(host);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	switch (receive(host)) {
	case 0:
		take_received(host);
		break;
	case -ENOMEM:
		end_killed(host);
		break;
	case -EBADMSG:
		end_malformed(host, "sent a descriptor");
		break;
	case -EPIPE:
		hang_up(host);
		break;
	}
}

static void on_timer(void *data)
{
	struct host *host = data;

	if (host->state == HOST_DISMISSED)
		end_host(host, &(struct host_exit){.reason = HOST_LINGERED});
	else if (host->is_failed)
		end_killed(host);
	else if (host->source && host->state == HOST_STARTING)
		end_host(host, &(struct host_exit){.reason = HOST_TOO_SLOW});
	else if (host->source)
		end_malformed(host, "did not end a call that was cancelled");
	else
		end_malformed(host, "closed its socket and kept running");
}

static void on_exit_status(void *data, int status)
{
	struct host *host = data;
	bool is_freed = false;

	/* Kill the processes that it has left: as long as its group has any, no other process group
	 * gets its number. */
	kill(-host->pid, SIGKILL);
	host->child = NULL;
	host->freed = &is_freed;
	loop_timer_disarm(&host->hold);
	for (int i = 0; take_received(host) && host->source && i < LEFT_READS_MAX; i++)
		if (receive(host) < 0)
			break;
	if (is_freed)
		return;
	host->freed = NULL;
	if (host->state != HOST_ENDED)
		end_by_status(host, status);
}

void host_dismiss(
	struct host *host, void (*ended)(void *data, const struct host_exit *exit), void *data)
{
	host_move(host, HOST_DISMISSED);
	host->handler = (struct host_handler){.ended = ended};
	host->data = data;
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_disarm(&host->hold);
	/* The host may still send: its frames are not read, and it gets no error. */
	shutdown(host->wire, SHUT_WR);
	loop_timer_arm(&host->timer, HOST_DISMISS_MS);
}

/* Start the process and watch it. On failure host_free frees the parts that are there. */
static int set_up(struct host *host, const struct host_options *options)
{
	struct process process;
	int r = loop_timer_init(&host->timer, host->loop, on_timer, host);

	if (r == 0)
		r = loop_timer_init(&host->hold, host->loop, on_hold, host);
	if (r)
		return r;
	r = process_spawn(options->program, options->toolbox_id,
		options->library ? options->library->fd : -1, &process);
	if (r)
		return r;
	host->pid = process.pid;
	host->wire = process.wire;
	/* It starts nothing before it has read LOAD. */
	if (options->yields)
		process_yield(host->pid);
	r = loop_add_child(host->loop, host->pid, on_exit_status, host, &host->child);
	if (r) {
		close(process.output);
		kill(host->pid, SIGKILL);
		waitpid(host->pid, NULL, 0);
		return r;
	}
	r = output_init(&host->output, host->loop, process.output, options->toolbox_id,
		options->tail, options->stderr_max);
	if (r)
		return r;
	return loop_add_fd(host->loop, host->wire, EPOLLIN, on_wire, host, &host->source);
}

static int transmit_environment(struct host *host, const char *environment)
{
	struct iovec text = {(void *)environment, environment_size(environment)};

	if (environment_count(environment) == 0)
		return 0;
	return transmit(host, WIRE_ENVIRONMENT, 0, (struct iovec){NULL, 0}, text);
}

int host_spawn(struct loop *loop, const struct host_options *options,
	const struct host_handler *handler, void *data, struct host **ret_host)
{
	cleanup(host_cleanup) struct host *host = calloc(1, sizeof(*host));
	struct iovec load = {(void *)options->load, options->load_size};
	int r;

	if (!host)
		return -ENOMEM;
	host->loop = loop;
	host->handler = *handler;
	host->data = data;
	host->wire = -1;
	host->listener = -1;
	host->output.fd = -1;
	host->carries = options->carries;
	host->calls_max = options->carries ? HOST_CARRIED_MAX : HOST_CALLS_MAX;
	host->has_guard = options->has_guard;
	host->has_bus = options->has_bus;
	host->reader.payload_max = options->output_max;
	host->values_max = options->values_max;
	r = set_up(host, options);
	if (r)
		return r;
	r = transmit_environment(host, options->environment);
	r = r ? r : transmit(host, WIRE_LOAD, 0, (struct iovec){NULL, 0}, load);
	if (r && r != -EPIPE)
		return r;
	check(handler->ended && (!options->has_bus || handler->bus_message));
	loop_timer_arm(&host->timer, options->start_timeout_ms);
	*ret_host = take_ptr(host);
	return 0;
}

/* ── description of its end ──────────────────────────────────────────────────────────────────── */

void host_describe_exit(const struct host_exit *exit, char *ret_text, size_t size)
{
	size_t length;

	switch (exit->reason) {
	case HOST_EXITED:
		snprintf(ret_text, size, "its host ended with exit status %d", exit->exit_code);
		break;
	case HOST_SIGNALED:
		snprintf(ret_text, size, "its host died (%s)", host_signal_name(exit->signal));
		break;
	case HOST_MALFORMED:
		snprintf(ret_text, size, "its host sent a malformed frame: %s",
			exit->message ? exit->message : "no reason given");
		break;
	case HOST_TOO_LARGE:
		snprintf(ret_text, size, "its host sent %zu bytes, %zu are allowed", exit->actual,
			exit->max);
		break;
	case HOST_REFUSED:
		snprintf(ret_text, size, "it cannot be loaded: %s", exit->message);
		break;
	case HOST_TOO_SLOW:
		snprintf(ret_text, size, "its host did not start in time");
		break;
	case HOST_LINGERED:
		snprintf(ret_text, size, "its host was killed because it took more than %d ms",
			HOST_DISMISS_MS);
		break;
	}
	length = strlen(ret_text);
	if (exit->refused)
		snprintf(ret_text + length, size - length, HOST_REFUSED_FORMAT, exit->refused);
}
