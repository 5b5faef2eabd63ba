/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "core/request/checks.h"
#include "core/request/errors.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/share.h"

static struct waiting_request *request_in(struct list *link)
{
	return container_of(link, struct waiting_request, link);
}

static struct waiting_request *request_at(struct list *place)
{
	return container_of(place, struct waiting_request, place);
}

/* ── queues ──────────────────────────────────────────────────────────────────────────────────── */

struct waiting_request *waiting_first(const struct waiting_room *room, enum waiting_reason reason)
{
	const struct list *list = &room->queues[reason].list;

	return list_is_empty(list) ? NULL : request_in(list->next);
}

bool waiting_is_for(const struct waiting_request *request, enum waiting_reason reason)
{
	return request->reason == reason && !list_is_empty(&request->link);
}

/* Return the request whose time is over first, or NULL. */
static struct waiting_request *find_due(const struct waiting_room *room)
{
	struct waiting_request *due = NULL;

	for (unsigned int reason = 0; reason < WAITING_REASONS; reason++) {
		struct waiting_request *first = waiting_first(room, reason);

		if (first && first->due_ms < (due ? due->due_ms : UINT64_MAX))
			due = first;
	}
	return due;
}

static void set_due_timer(struct waiting_room *room)
{
	const struct waiting_request *due = find_due(room);
	uint64_t now_ms = clock_now_ms();

	if (due)
		loop_timer_arm(&room->due, due->due_ms > now_ms ? due->due_ms - now_ms : 0);
	else
		loop_timer_disarm(&room->due);
}

/* Put @request into the queue of its reason, after those whose time is over no later. */
static void enter_queue(struct waiting_request *request)
{
	struct waiting_queue *queue = &request->room->queues[request->reason];
	struct list *before = queue->list.previous;

	check(list_is_empty(&request->link) && !list_is_empty(&request->place));
	while (before != &queue->list && request_in(before)->due_ms > request->due_ms)
		before = before->previous;
	list_insert_before(before->next, &request->link);
	queue->n++;
	set_due_timer(request->room);
}

static void leave_queue(struct waiting_request *request)
{
	struct waiting_queue *queue = &request->room->queues[request->reason];

	if (list_is_empty(&request->link))
		return;
	audit_forget(&request->line);
	list_remove(&request->link);
	check(queue->n > 0);
	queue->n--;
	set_due_timer(request->room);
}

/* ── places ──────────────────────────────────────────────────────────────────────────────────── */

static uint64_t holder_of(const struct account *account)
{
	return account->holder ? account->holder : account->number;
}

/* Return whether there is a place for the request in @scope, whose sender has @account. */
static bool has_place(const struct waiting_room *room, const struct request_scope *scope,
	const struct account *account)
{
	uint64_t source_key = checks_source_key(&scope->caller.source);
	uint32_t n_holder = 0;
	uint32_t n_source = 0;
	size_t source_bytes = 0;
	size_t share;

	list_each(const struct waiting_request, other, &room->places, place) {
		if (other->holder != holder_of(account))
			continue;
		n_holder++;
		if (other->source_key != source_key)
			continue;
		n_source++;
		source_bytes += request_text_size(&other->text);
	}
	share = share_of(WAITING_MAX, room->n - n_holder);
	if (room->n >= WAITING_MAX || n_holder >= share)
		return false;
	/* Over HTTP the holder is the source, and a connection has an account of its own. */
	if (address_names_caller(scope->address) || n_source == 0)
		return true;
	return n_source < share_of(share, n_holder - n_source) &&
	       source_bytes + request_text_size(&scope->text) <= account_held_max(account) / 2;
}

/* See struct audit_wait. */
static void take_line_status(void *data, int status)
{
	waiting_serve(data, status);
}

static struct waiting_request *make_request(
	struct waiting_room *room, const struct request_scope *scope)
{
	struct account *account = bus_sender(room->bus);
	size_t size = request_text_size(&scope->text);
	cleanup_free struct waiting_request *request = NULL;

	if (!has_place(room, scope, account))
		return NULL;
	request = calloc(1, sizeof(*request) + size);
	if (!request || !account_hold(account, size))
		return NULL;
	request->room = room;
	request->references = 1;
	request->account = account_ref(account);
	request->address = address_ref(scope->address);
	request->holder = holder_of(account);
	request->source_key = checks_source_key(&scope->caller.source);
	request->line = (struct audit_wait){.written = take_line_status, .data = request};
	request->text = request_text_copy(&scope->text, request->bytes);
	list_init(&request->link);
	list_append(&room->places, &request->place);
	room->n++;
	return take_ptr(request);
}

void waiting_unref(struct waiting_request *request)
{
	if (!request)
		return;
	check(request->references > 0);
	if (--request->references > 0)
		return;
	check(list_is_empty(&request->place));
	account_release(request->account, request_text_size(&request->text));
	account_unref(request->account);
	address_unref(request->address);
	package_unref(request->check.package);
	buffer_deinit(&request->call_id);
	buffer_deinit(&request->source);
	free(request->summary);
	free(request);
}

void waiting_drop(struct waiting_request *request)
{
	struct waiting_room *room = request->room;

	if (list_is_empty(&request->place))
		return;
	leave_queue(request);
	list_remove(&request->place);
	check(room->n > 0);
	room->n--;
	limits_release(&request->hold);
	waiting_unref(request);
}

void waiting_forget_peer(struct waiting_room *room, const struct account *account)
{
	list_each(struct waiting_request, request, &room->places, place) {
		if (request->account == account && request->reason != WAITING_CATALOGUE &&
			request->call_number == 0 && !address_is_of_job(request->address))
			waiting_drop(request);
	}
}

/* ── a wait ──────────────────────────────────────────────────────────────────────────────────── */

bool waiting_may(const struct waiting_request *request, enum waiting_reason reason)
{
	static const uint8_t moves[WAITING_REASONS] = {
		[WAITING_CATALOGUE] = 1 << WAITING_CHECK | 1 << WAITING_CHANGE | 1 << WAITING_LINE |
				      1 << WAITING_INDEX,
		[WAITING_CHECK] = 1 << WAITING_CHANGE | 1 << WAITING_LINE | 1 << WAITING_INDEX,
		[WAITING_CHANGE] = 1 << WAITING_CHECK | 1 << WAITING_CHANGE | 1 << WAITING_LINE,
		[WAITING_LINE] = 1 << WAITING_CHECK | 1 << WAITING_CHANGE,
	};

	if (!request)
		return true;
	if (request->is_cancelled || (request->reason == WAITING_LINE && !request->has_line))
		return false;
	return moves[request->reason] & (1u << reason);
}

/* Return whether @request has the origin of the request in @scope, which was read. */
static bool keep_origin(struct waiting_request *request, const struct request_scope *scope)
{
	request_scope_keep_origin(scope, &request->call_id, &request->source);
	return buffer_status(&request->call_id) == 0 && buffer_status(&request->source) == 0;
}

struct waiting_request *waiting_begin(struct waiting_room *room, const struct request_scope *scope,
	enum waiting_reason reason, uint64_t wait_ms)
{
	struct waiting_request *request = scope->waited;

	if (!waiting_may(request, reason))
		return NULL;
	if (!request)
		request = make_request(room, scope);
	if (!request)
		return NULL;
	if (reason != WAITING_CATALOGUE && !keep_origin(request, scope)) {
		waiting_drop(request);
		return NULL;
	}
	request->reason = reason;
	request->due_ms = wait_ms == UINT64_MAX ? UINT64_MAX : clock_now_ms() + wait_ms;
	request->hold = limits_move(room->hold);
	enter_queue(request);
	return request;
}

void waiting_serve(struct waiting_request *request, int status)
{
	struct waiting_room *room = request->room;

	check(!list_is_empty(&request->link));
	leave_queue(request);
	if (request->reason == WAITING_LINE)
		request->has_line = status == 0;
	waiting_ref(request);
	room->serve(room->data, request);
	if (list_is_empty(&request->link))
		waiting_drop(request);
	waiting_unref(request);
}

void waiting_serve_queue(struct waiting_room *room, enum waiting_reason reason, int status)
{
	struct list *queue = &room->queues[reason].list;
	struct list *link;
	struct list now;

	/* Some may wait again, for the same reason. */
	list_init(&now);
	while ((link = list_take_first(queue)))
		list_append(&now, link);
	while (!list_is_empty(&now))
		waiting_serve(request_in(now.next), status);
}

void waiting_serve_all(struct waiting_room *room, int status)
{
	for (unsigned int reason = 0; reason < WAITING_REASONS; reason++)
		waiting_serve_queue(room, reason, status);
}

static void serve_due(void *data)
{
	struct waiting_room *room = data;
	struct waiting_request *due;

	while ((due = find_due(room)) && due->due_ms <= clock_now_ms())
		waiting_serve(due, -ETIMEDOUT);
	set_due_timer(room);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int waiting_init(struct waiting_room *room, struct loop *loop, waiting_function serve, void *data)
{
	check(serve);
	*room = (struct waiting_room){.serve = serve, .data = data};
	list_init(&room->places);
	for (unsigned int reason = 0; reason < WAITING_REASONS; reason++)
		list_init(&room->queues[reason].list);
	return loop_timer_init(&room->due, loop, serve_due, room);
}

void waiting_deinit(struct waiting_room *room)
{
	while (room->n > 0)
		waiting_drop(request_at(room->places.next));
	loop_timer_deinit(&room->due);
}

/* ── cancelling ──────────────────────────────────────────────────────────────────────────────── */

void waiting_cancel(struct waiting_request *request)
{
	struct waiting_queue *queue = &request->room->queues[request->reason];

	request->is_cancelled = true;
	request->due_ms = 0;
	if (list_is_empty(&request->link))
		return;
	list_remove(&request->link);
	list_insert_before(queue->list.next, &request->link);
	set_due_timer(request->room);
}

bool waiting_cancel_origin(
	struct waiting_room *room, const struct buffer *source, const struct buffer *call_id)
{
	bool is_any = false;

	list_each(struct waiting_request, request, &room->places, place) {
		if (address_names_caller(request->address) ||
			!buffer_equals(&request->call_id, call_id) ||
			!buffer_equals(&request->source, source))
			continue;
		waiting_cancel(request);
		is_any = true;
	}
	return is_any;
}

void waiting_cancel_address(struct waiting_room *room, const struct address *address)
{
	list_each(struct waiting_request, request, &room->places, place)
		if (request->address == address)
			waiting_cancel(request);
}

/* ── changes ─────────────────────────────────────────────────────────────────────────────────── */

/* Let the request in @scope wait for a change, at most @wait_ms since the first one. Return false
 * when it has waited as long, or cannot wait. */
static bool wait_for_change(struct waiting_room *room, const struct request_scope *scope,
	uint64_t wait_ms, struct answer *answer)
{
	struct waiting_request *request = scope->waited;
	uint64_t now_ms = clock_now_ms();
	uint64_t end_ms = request && request->change_ms > 0 ? request->change_ms : now_ms + wait_ms;

	if (now_ms >= end_ms)
		return false;
	request = waiting_begin(room, scope, WAITING_CHANGE, end_ms - now_ms);
	if (!request)
		return false;
	request->change_ms = end_ms;
	/* Its line names the tool as it was. */
	request->has_line = false;
	request->is_counted = true;
	answer_deinit(answer);
	return true;
}

bool waiting_for_unknown(
	struct waiting_room *room, const struct request_scope *scope, struct answer *answer)
{
	return answer->code == ANSWER_UNKNOWN_TOOL && reload_is_pending(room->reload) &&
	       wait_for_change(room, scope, WAITING_UNKNOWN_MS, answer);
}

bool waiting_admit_changed(struct waiting_room *room, const struct request_scope *scope,
	const struct tool *tool, struct answer *answer)
{
	/* A reload that has read the file already is followed by another, when the request is
	 * served again. */
	if (!reload_is_pending(room->reload))
		reload_soon(room->reload);
	if (wait_for_change(room, scope, WAITING_CHANGED_MS, answer))
		return false;
	/* The process of any other tool has the program that belongs to the definition. */
	if (tool->toolbox->package->kind != KIND_COMMAND)
		return true;
	errors_write_unavailable(answer, tool,
		"its program or its definition has changed, and could not be loaded yet");
	return false;
}
