/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_inside.h"
#include "json/reader.h"
#include "util/utf8.h"

/*
 * What a host sends: hostile until it was expected, checked and found to be the last of its kind.
 *
 *                     kind and id                  payload
 *   bytes ─▶ frame ─▶ may it come now? ──▶ UTF-8, JSON, an object? ──▶ the handler
 *              │             │ no                   │ no
 *              └─ too large ─┴──────────────────────┴──▶ the host is killed
 *
 * But for what it says to the bus: there a tool, not the host, may have made the mistake, so what
 * is wrong with it costs the tool its message.
 */

/* A tape that grew larger for one result is given back behind it. */
#define KEEP_TOKENS 16384

static void end_too_large(struct host *host, size_t actual)
{
	host_end(host, &(struct host_end){.reason = HOST_TOO_LARGE,
			       .actual = actual,
			       .max = host->reader.payload_max});
}

/* Check that the payload is JSON. 0, -ENOMEM, or an enum json_status. */
static int read_payload(struct host *host, const struct wire_frame *frame)
{
	if (host->tape.capacity > KEEP_TOKENS)
		json_tape_deinit(&host->tape);
	return json_tape_read(&host->tape, frame->payload, frame->size, JSON_DEPTH_DEFAULT, NULL);
}

/* The member @key of the object in the tape: a text without U+0000. NULL if it is not that. */
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
	host->state = HOST_READY;
	host->handler.loaded(host->data, frame->payload, frame->size);
}

static void take_refused(struct host *host)
{
	cleanup_free char *pointer = dup_member(&host->tape, "pointer");
	cleanup_free char *message = dup_member(&host->tape, "message");

	if (!pointer || !message)
		host_end_malformed(host, "refused its toolbox without saying where and why");
	else
		host_end(host,
			&(struct host_end){
				.reason = HOST_REFUSED, .pointer = pointer, .message = message});
}

/* The call that runs is done; the one behind it, if any, has begun. */
static void advance(struct host *host)
{
	host->n_calls--;
	memmove(host->calls, host->calls + 1, host->n_calls * sizeof(*host->calls));
	if (host->n_calls > 0)
		output_begin_call(&host->output);
	else
		host->state = HOST_READY;
}

static void take_answer(struct host *host, const struct wire_frame *frame)
{
	struct host_answer answer = {
		.kind = HOST_ANSWER_RESULT, .text = frame->payload, .size = frame->size};

	if (frame->kind == WIRE_FAILED)
		answer.kind = HOST_ANSWER_FAILED;
	else
		answer.tape = &host->tape;
	if (frame->kind == WIRE_ERROR)
		answer.kind = HOST_ANSWER_ERROR;
	advance(host);
	host->handler.answered(host->data, frame->id, &answer);
}

static bool is_answer(const struct host *host, const struct wire_frame *frame)
{
	return host->state == HOST_RUNNING && frame->id == host->calls[0] &&
	       (frame->kind == WIRE_RESULT || frame->kind == WIRE_FAILED ||
		       frame->kind == WIRE_ERROR);
}

static bool is_progress(const struct host *host, const struct wire_frame *frame)
{
	return host->state == HOST_RUNNING && frame->id == host->calls[0] &&
	       frame->kind == WIRE_PROGRESS;
}

static bool is_said(const struct host *host, const struct wire_frame *frame)
{
	return host->has_bus && frame->id == 0 && frame->kind == WIRE_EMIT;
}

/* Whether the frame is what may come in this state. */
static bool is_expected(const struct host *host, const struct wire_frame *frame)
{
	if (is_said(host, frame))
		return true;
	if (host->state == HOST_STARTING)
		return frame->id == 0 &&
		       (frame->kind == WIRE_LOADED || frame->kind == WIRE_REFUSED);
	return is_answer(host, frame) || is_progress(host, frame);
}

/* What every kind must hold: text that is UTF-8, or JSON; an object, unless it is a result. */
static int check_payload(struct host *host, const struct wire_frame *frame)
{
	int r;

	if (frame->kind == WIRE_FAILED)
		return utf8_is_valid(frame->payload, frame->size) ? 0 : JSON_E_UTF8;
	r = read_payload(host, frame);
	if (r == 0 && frame->kind != WIRE_RESULT && json_type_at(&host->tape, 0) != JSON_OBJECT)
		return JSON_E_SYNTAX;
	return r;
}

/* Whether nothing may stand behind the frame: an answer is followed by silence. */
static bool is_last(const struct host *host, const struct wire_frame *frame)
{
	return !host->has_bus && host->n_calls <= 1 && !is_progress(host, frame);
}

/* Act on the frame. The handler may have freed the host. */
static void take_frame(struct host *host, const struct wire_frame *frame)
{
	int r = is_expected(host, frame) ? check_payload(host, frame) : 0;

	if (!is_expected(host, frame))
		host_end_malformed(host, "sent a frame that nobody waits for");
	else if (wire_reader_has_more(&host->reader) && is_last(host, frame))
		host_end_malformed(host, "sent more than one answer");
	else if (r == -ENOMEM)
		host_end_killed(host);
	else if (is_said(host, frame))
		host->handler.said(host->data, r ? NULL : &host->tape, frame->payload, frame->size);
	else if (r)
		host_end_malformed(host, "sent text that is not JSON, or not UTF-8");
	else if (frame->kind == WIRE_LOADED)
		take_loaded(host, frame);
	else if (frame->kind == WIRE_REFUSED)
		take_refused(host);
	else if (frame->kind != WIRE_PROGRESS)
		take_answer(host, frame);
	else if (host->handler.progressed)
		host->handler.progressed(host->data, frame->id, &host->tape);
}

/* Take what can be taken of what was received: a frame, or why there can be none any more. Whether
 * more may follow; the host may be gone. */
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
			host_end_malformed(host, "sent a frame over the limit");
		return false;
	case WIRE_E_MALFORMED:
		host_end_malformed(host, "sent bytes that are no frame");
		return false;
	default:
		take_frame(host, &frame);
		return true;
	}
}

/* Act on what was received, as far as it is frames by now. Whether the host is still of use: the
 * handler may have freed it. */
bool host_take_received(struct host *host)
{
	bool *outer = host->freed;
	bool is_freed = false;

	host->freed = &is_freed;
	while (!is_freed && host->state < HOST_DISMISSED && !host_is_held(host) && take_next(host))
		;
	if (is_freed) {
		if (outer)
			*outer = true;
		return false;
	}
	host->freed = outer;
	return host->state < HOST_DISMISSED;
}
