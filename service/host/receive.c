/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "host/parts.h"
#include "json/member.h"
#include "util/clock.h"
#include "util/process/send_fd.h"
#include "util/text/utf8.h"

/*
 * A frame is hostile until it was expected, checked and found to be the last of its kind.
 *
 *                     kind and id                  payload
 *   bytes ─▶ frame ─▶ may it come now? ──▶ UTF-8, JSON, an object? ──▶ the handler
 *              │             │ no                   │ no
 *              └─ too large ─┴──────────────────────┴──▶ the host is killed
 *
 * Messages to the bus are the exception: the mistake may be the tool's, not the host's, so it costs
 * the tool its message.
 */

/* A process that dies closes its socket first. The rest of its end takes hundreds of milliseconds
 * on a busy machine. */
#define HANG_UP_MS 2000

/* A tape that grew larger than this is freed after its frame. */
#define KEEP_TOKENS 16384

/* Reading an answer of so many bytes is measured: it can take a millisecond. */
#define LONG_BYTES (128u << 10)

/* ── descriptors ─────────────────────────────────────────────────────────────────────────────── */

/*
 * Descriptors sent by a host over its wire (SCM_RIGHTS). One is expected, with the first frame; a
 * toolbox can send any others. The last close of some of them waits: of a TCP socket for as long as
 * its SO_LINGER asks for, of a file for its file system. So the loop never makes it:
 *
 *   wire ──▶ receive_bytes ─┬─▶ the one descriptor, for the caller
 *                           └─▶ others ──▶ a thread that closes them
 *   wire that is closed with unread bytes ─▶ the same thread
 *
 * Descriptors left in the kernel by a receiver would be closed there, by the receiver.
 */

/* As a non-blocking recv() of at most @size bytes. Write to *ret_fd the descriptor received with
 * them, or -1. With several descriptors, return -1 with EBADMSG. */
static ssize_t receive_bytes(int wire, void *bytes, size_t size, int *ret_fd)
{
	int fds[PASS_FDS_MAX];
	size_t n_fds;
	ssize_t n = pass_receive_all(wire, bytes, size, MSG_DONTWAIT, fds, &n_fds);

	*ret_fd = n_fds == 1 && n >= 0 ? fds[0] : -1;
	if (n_fds == 0 || *ret_fd >= 0)
		return n;
	for (size_t i = 0; i < n_fds; i++)
		host_close_later(fds[i]);
	errno = n_fds > 1 ? EBADMSG : ENOMEM;
	return -1;
}

/* ── frames ──────────────────────────────────────────────────────────────────────────────────── */

static void end_too_large(struct host *host, size_t actual)
{
	host_end(host, &(struct host_exit){.reason = HOST_TOO_LARGE,
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

	/* A frame of this kind may be the description of many tools. */
	host->tape.tokens_max = frame->kind == WIRE_LOADED ? 0 : host->values_max;
	r = json_tape_read(&host->tape, frame->payload, frame->size, JSON_DEPTH_DEFAULT, NULL);
	host->reading_ns = is_long ? clock_thread_ns() - start_ns : 0;
	return r;
}

/* Return the member @key of the object in the tape if it is a text without U+0000, or NULL. The
 * caller frees it. */
static char *dup_member(const struct json_tape *tape, const char *key)
{
	uint32_t value = json_find_typed_at(tape, 0, key, JSON_STRING);
	size_t size;
	char *text;

	if (value == JSON_NONE)
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
		host_end_malformed(host, "refused its toolbox without a place and a reason");
	else
		host_end(host,
			&(struct host_exit){
				.reason = HOST_REFUSED, .pointer = pointer, .message = message});
}

/* Note the end of the running call, and the beginning of the next, if there is one. */
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
	/* Any of several running calls: which one is not known. */
	if (host->refused[0] && !(host->carries && host->n_calls > 1))
		answer.refused = memcpy(refused, host->refused, sizeof(refused));
	if (host->carries)
		host_drop_call(host, host_find_call(host, frame->id));
	else
		advance_calls(host);
	host->handler.answered(host->data, frame->id, &answer);
}

static bool runs_call(const struct host *host, uint64_t id)
{
	return host->state == HOST_RUNNING &&
	       (id == host->calls[0] ||
		       (host->carries && host_find_call(host, id) < host->n_calls));
}

static bool is_answer(const struct host *host, const struct wire_frame *frame)
{
	return runs_call(host, frame->id) && is_answer_kind(frame->kind);
}

static bool is_progress(const struct host *host, const struct wire_frame *frame)
{
	return runs_call(host, frame->id) && frame->kind == WIRE_PROGRESS;
}

/* Drop the frame if it may belong to a cancelled call. Returns whether it was dropped. */
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
	       (frame->kind == WIRE_NOTE || frame->kind == WIRE_USE);
}

static void take_use(struct host *host)
{
	host->is_in_use = json_member_is_true(&host->tape, 0, "is_in_use");
	host->handler.used(host->data);
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
		host_end_killed(host);
		return;
	}
	host->reading_ns = reading_ns;
	take_answer(host, &error);
}

static bool has_more(const struct host *host)
{
	return wire_reader_has_more(&host->answers) || wire_reader_has_more(&host->reader);
}

/* Act on the frame. The handler may have freed the host. */
static void take_frame(struct host *host, const struct wire_frame *frame)
{
	int r = is_expected(host, frame) ? check_payload(host, frame) : 0;

	if (!is_expected(host, frame)) {
		if (!drop_cancelled(host, frame))
			host_end_malformed(host, "sent a frame that was not expected");
	} else if (has_more(host) && is_last(host, frame))
		host_end_malformed(host, "sent more than one answer");
	else if (r == -ENOMEM)
		host_end_killed(host);
	else if (r == JSON_E_TOKENS && is_answer(host, frame))
		take_crowded(host, frame);
	else if (is_bus_message(host, frame))
		host->handler.bus_message(
			host->data, r ? NULL : &host->tape, frame->payload, frame->size);
	else if (r)
		host_end_malformed(host, "sent text that is not JSON, or not UTF-8, or has too "
					 "many values");
	else if (frame->kind == WIRE_LOADED)
		take_loaded(host, frame);
	else if (frame->kind == WIRE_REFUSED)
		take_refused(host);
	else if (frame->kind == WIRE_STALE)
		host->handler.stale(host->data);
	else if (frame->kind == WIRE_USE)
		take_use(host);
	else if (frame->kind == WIRE_NOTE)
		take_note(host, frame);
	else if (frame->kind != WIRE_PROGRESS)
		take_answer(host, frame);
	else if (host->handler.progressed)
		host->handler.progressed(host->data, frame->id, &host->tape);
}

/* Read the next frame that was received: frames in the ring are older than frames in the socket. */
static int read_next(struct host *host, struct wire_frame *ret_frame)
{
	int r = wire_reader_next(&host->answers, ret_frame);

	if (r != WIRE_E_MORE)
		return r;
	r = wire_reader_next(&host->reader, ret_frame);
	host->n_taken += r == 0;
	return r;
}

/* Act on the next frame that was received, or on bytes that are none. Returns whether there may be
 * another; the handler may have freed the host. */
static bool take_next(struct host *host)
{
	struct wire_frame frame;

	switch (read_next(host, &frame)) {
	case WIRE_E_MORE:
		return false;
	case WIRE_E_TOO_LARGE:
		if (is_answer(host, &frame) && frame.size > host->reader.payload_max)
			end_too_large(host, frame.size);
		else
			host_end_malformed(host, "sent a frame over the limit");
		return false;
	case WIRE_E_MALFORMED:
		host_end_malformed(host, "sent bytes that are not a frame");
		return false;
	default:
		take_frame(host, &frame);
		return true;
	}
}

bool host_take_received(struct host *host)
{
	host_enter(host);
	while (!host->is_freed && host->state < HOST_DISMISSED && !host_is_held(host) &&
		take_next(host))
		;
	json_tape_recycle(&host->tape, KEEP_TOKENS);
	wire_reader_recycle(&host->reader);
	wire_reader_recycle(&host->answers);
	if (host->ring.memory)
		ring_report(&host->ring, host->n_taken);
	return host_leave(host) && host->state < HOST_DISMISSED;
}

/* ── bytes ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the status of host_receive() for the @error of a read. */
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

/* Read the header of the first frame, and the descriptor that may come with it. A frame other than
 * LISTENER is left to the reader. Returns as host_receive() does; -ENOMEM also without a descriptor
 * to spare. */
static int receive_first(struct host *host)
{
	struct wire_header header;
	int fd;
	ssize_t n = receive_bytes(host->wire, &header, sizeof(header), &fd);
	char *space;
	size_t size;

	if (n <= 0)
		return n < 0 ? status_of(errno) : -EPIPE;
	host->has_begun = true;
	if (n == (ssize_t)sizeof(header) && header.kind == WIRE_LISTENER && header.size == 0)
		return fd >= 0 && host_take_listener(host, fd) < 0 ? -ENOMEM : 0;
	if (fd >= 0) {
		host_close_later(fd);
		return -EBADMSG;
	}
	space = wire_reader_space(&host->reader, &size);
	if (!space)
		return -ENOMEM;
	memcpy(space, &header, (size_t)n);
	wire_reader_received(&host->reader, (size_t)n);
	return 0;
}

/* Read once from the socket. Returns as host_receive() does. */
static int receive_wire(struct host *host)
{
	size_t size;
	char *space;
	ssize_t n;
	int fd;

	space = wire_reader_space(&host->reader, &size);
	if (!space)
		return -ENOMEM;
	n = receive_bytes(host->wire, space, size, &fd);
	if (n < 0)
		return status_of(errno);
	if (fd >= 0) {
		host_close_later(fd);
		return -EBADMSG;
	}
	wire_reader_received(&host->reader, (size_t)n);
	return n > 0 ? 0 : -EPIPE;
}

int host_receive(struct host *host)
{
	int r;

	if (!host->has_begun)
		return receive_first(host);
	r = receive_wire(host);
	if (r || !host->ring.memory)
		return r;
	/* Afterwards: the ring may have frames that were sent before the bytes from the socket. */
	r = ring_take(&host->ring, &host->answers);
	return r < 0 ? r : 0;
}

/* End an unreadable host, by the status of host_receive(). */
static void end_unread(struct host *host, int status)
{
	switch (status) {
	case -ENOMEM:
		host_end_killed(host);
		break;
	case -EBADMSG:
		host_end_malformed(host, "sent a descriptor");
		break;
	case -EPROTO:
		host_end_malformed(host, "wrote more into its ring than that holds");
		break;
	}
}

void host_take_ring(struct host *host)
{
	int r = 0;

	if (host->ring.memory && host->state < HOST_DISMISSED) {
		ring_ask(&host->ring);
		r = ring_take(&host->ring, &host->answers);
	}
	if (r < 0)
		end_unread(host, r);
	else
		host_take_received(host);
}

/* Stop reading the socket at its end of file. The end of the process should follow at once and give
 * the reason; if it does not, the host has only closed its socket. It may have closed what wakes
 * us, too. */
static void hang_up(struct host *host)
{
	loop_source_free(host->source);
	host->source = NULL;
	loop_timer_arm(&host->timer, HANG_UP_MS);
	host_take_ring(host);
}

/* Act on @events. From a host that is held only EPOLLHUP and EPOLLERR come; the rest is read
 * then. */
static void on_wire(void *data, uint32_t events)
{
	struct host *host = data;
	int r;

	if ((events & EPOLLOUT) && host->is_blocked)
		host_flush(host);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	r = host_receive(host);
	if (r == 0)
		host_take_received(host);
	else if (r == -EPIPE)
		hang_up(host);
	else
		end_unread(host, r);
}

/* The host has put a frame into the ring. While the host is held, its frames wait there. */
static void on_wake(void *data, uint32_t events)
{
	struct host *host = data;

	(void)events;
	if (!ring_count_wake(&host->ring))
		host_end_malformed(host, "woke the daemon and had no frame for it");
	else if (!host_is_held(host))
		host_take_ring(host);
}

int host_watch(struct host *host)
{
	int r = loop_add_fd(host->loop, host->wire, EPOLLIN, on_wire, host, &host->source);

	if (r || !host->ring.memory)
		return r;
	ring_given(&host->ring);
	ring_ask(&host->ring);
	return loop_add_fd(
		host->loop, host->ring.wake_fd, EPOLLIN | EPOLLET, on_wake, host, &host->wakes);
}
