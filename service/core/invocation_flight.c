/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core/caller.h"
#include "core/invocation_inside.h"
#include "json/writer.h"

/*
 * Calls in flight: what is kept of each from its beginning to its end, and how a cancel finds it.
 *
 *   open ──▶ service->invocations ──close──▶ service->spare
 *     ▲        in flight                       memory for the next one ──┐
 *     └──────────────────────────────────────────────────────────────────┘
 *
 * A call is known by its id to its host, and by call_id and source, as its caller gave them, to who
 * wants to cancel it.
 */

/* A buffer of a call that is over is kept for the next one, unless it has grown beyond this. */
#define KEEP_BYTES 16384

static struct invocation *take_spare(struct service *service)
{
	struct invocation *invocation = service->spare;

	if (invocation) {
		service->spare = invocation->next;
		return invocation;
	}
	invocation = calloc(1, sizeof(*invocation));
	if (invocation && runner_call_init(&invocation->call, service->loop) < 0) {
		free(invocation);
		return NULL;
	}
	return invocation;
}

static void link_in(struct service *service, struct invocation *invocation)
{
	invocation->next = service->invocations;
	invocation->link = &service->invocations;
	if (invocation->next)
		invocation->next->link = &invocation->next;
	service->invocations = invocation;
	service->n_in_flight++;
}

/* A burst of large calls must not stay with us for ever. */
static void give_back_large(struct buffer *buffer)
{
	if (buffer->capacity > KEEP_BYTES)
		buffer_deinit(buffer);
}

void invocation_close(struct invocation *invocation)
{
	struct service *service = invocation->service;

	*invocation->link = invocation->next;
	if (invocation->next)
		invocation->next->link = invocation->link;
	service->n_in_flight--;
	answer_deinit(&invocation->answer);
	toolbox_unref(take_ptr(invocation->toolbox));
	give_back_large(&invocation->call.arguments);
	give_back_large(&invocation->call.caller);
	give_back_large(&invocation->source);
	invocation->next = service->spare;
	service->spare = invocation;
}

/* Keep the JSON text of a value; nothing, when there is none. One string has one text, however its
 * sender escapes: clients differ in that. */
static void keep_value(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const char *text;
	size_t size;

	buffer_reset(out);
	if (token == JSON_NONE)
		return;
	if (json_at(tape, token)->flags & JSON_ESCAPED) {
		json_string_decode(tape, token, &decoded);
		json_write_string(out, decoded.data, decoded.size);
		return;
	}
	text = json_value_text(tape, token, &size);
	buffer_append(out, text, size);
}

struct invocation *invocation_open(struct service *service, const struct tool *tool,
	uint64_t timeout_ms, struct answer *answer)
{
	const struct request *request = &service->request;
	struct invocation *invocation = take_spare(service);

	if (!invocation)
		return NULL;
	invocation->service = service;
	invocation->tool = tool;
	invocation->toolbox = toolbox_ref(tool->toolbox);
	invocation->answer = *answer;
	*answer = (struct answer){0};
	invocation->timeout_ms = timeout_ms;
	invocation->call.id = ++service->last_call_id;
	invocation->call.tool = tool->index;
	invocation->has_events = events_are_wanted(service);
	invocation->progressed_ms = 0;
	keep_value(request->data, request->call_id, &invocation->call_id);
	/* Only a call with an id can be cancelled: the others need no source. */
	keep_value(&service->envelope.context,
		request->call_id ? json_find(&service->envelope.context, 0, "source") : JSON_NONE,
		&invocation->source);
	caller_write(tool, &service->envelope.context, request, &invocation->call.caller);
	link_in(service, invocation);
	return invocation;
}

struct events_call invocation_event(const struct invocation *invocation)
{
	return (struct events_call){
		.tool = invocation->tool,
		.call_id = invocation->call_id.data,
		.call_id_size = invocation->call_id.size,
	};
}

static bool is_equal(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static struct invocation *find_call(
	const struct service *service, const struct buffer *call_id, const struct buffer *source)
{
	struct invocation *invocation = service->invocations;

	while (invocation &&
		!(is_equal(&invocation->call_id, call_id) && is_equal(&invocation->source, source)))
		invocation = invocation->next;
	return invocation;
}

/* Cancel what the request means. Whether there was any. Looked for anew each time, since the end of
 * one call may be the end of others. */
static bool cancel_calls(struct service *service)
{
	const struct json_tape *context = &service->envelope.context;
	cleanup(buffer_deinit) struct buffer call_id = {0};
	cleanup(buffer_deinit) struct buffer source = {0};
	struct invocation *invocation;
	bool is_any = false;

	keep_value(service->request.data, service->request.call_id, &call_id);
	keep_value(context, json_find(context, 0, "source"), &source);
	while ((invocation = find_call(service, &call_id, &source))) {
		runner_cancel(invocation->call.runner, &invocation->call);
		is_any = true;
	}
	return is_any;
}

void invocation_cancel(struct service *service)
{
	struct request *request = &service->request;
	bool is_good = request_read(request, &service->envelope, REQUEST_CALL_ID);
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	if (is_good) {
		size_t size;
		const char *text = json_value_text(request->data, request->call_id, &size);

		buffer_append(answer_member(&answer, "call_id"), text, size);
		answer_member_boolean(&answer, "cancelled", cancel_calls(service));
	} else {
		request_write_refusal(
			request, &service->envelope, &service->config.limits, &answer);
	}
	answer_send(&answer, service->bus);
}

void invocation_free_all(struct service *service)
{
	while (service->invocations)
		invocation_close(service->invocations);
	while (service->spare) {
		struct invocation *invocation = service->spare;

		service->spare = invocation->next;
		runner_call_deinit(&invocation->call);
		buffer_deinit(&invocation->call_id);
		buffer_deinit(&invocation->source);
		free(invocation);
	}
}
