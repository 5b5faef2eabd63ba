/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "core/call/calls.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"

static void set_held_timer(struct held_requests *requests)
{
	const struct held *first = container_of(requests->list.next, struct held, link);
	uint64_t now_ms = clock_now_ms();

	if (list_is_empty(&requests->list))
		loop_timer_disarm(&requests->due);
	else
		loop_timer_arm(&requests->due, first->due_ms > now_ms ? first->due_ms - now_ms : 0);
}

/* Take @held out of the list; it is freed with free_held(). */
static void take_held(struct held *held)
{
	audit_forget(&held->wait);
	list_remove(&held->link);
	check(held->requests->n > 0);
	held->requests->n--;
	set_held_timer(held->requests);
}

static void free_held(struct held *held)
{
	limits_release(&held->hold);
	buffer_deinit(&held->call_id);
	buffer_deinit(&held->source);
	inbox_frame_unref(held->frame);
	package_unref(held->check.package);
	free(held);
}

void held_serve(struct held *held, int status)
{
	take_held(held);
	held->status = status;
	held->requests->function(held->requests->data, held);
	free_held(held);
}

/* See struct audit_wait. */
static void take_status(void *data, int status)
{
	held_serve(data, status);
}

static void look_at_clock(void *data)
{
	struct held_requests *requests = data;

	while (!list_is_empty(&requests->list)) {
		struct held *first = held_first(requests);

		if (first->due_ms > clock_now_ms())
			break;
		held_serve(first, -ETIMEDOUT);
	}
	set_held_timer(requests);
}

int held_init(struct held_requests *requests, struct loop *loop, held_function function, void *data)
{
	check(function);
	*requests = (struct held_requests){.function = function, .data = data};
	list_init(&requests->list);
	return loop_timer_init(&requests->due, loop, look_at_clock, requests);
}

void held_deinit(struct held_requests *requests)
{
	while (requests->n > 0)
		held_drop(held_first(requests));
	loop_timer_deinit(&requests->due);
}

struct held *held_add(struct held_requests *requests, uint32_t max, struct account *account,
	struct address *address, const struct request_text *text, uint64_t wait_ms)
{
	cleanup_free struct held *held = requests->n < max ? calloc(1, sizeof(*held)) : NULL;

	if (!held || inbox_frame_new(account, address, text, &held->frame) != 0)
		return NULL;
	held->requests = requests;
	held->wait = (struct audit_wait){.written = take_status, .data = held};
	held->due_ms = clock_now_ms() + wait_ms;
	list_append(&requests->list, &held->link);
	requests->n++;
	set_held_timer(requests);
	return take_ptr(held);
}

void held_drop(struct held *held)
{
	take_held(held);
	free_held(held);
}

static bool is_equal(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

void held_cancel_one(struct held *held)
{
	held->is_cancelled = true;
	held->due_ms = 0;
	list_remove(&held->link);
	list_insert_before(held->requests->list.next, &held->link);
	set_held_timer(held->requests);
}

bool held_cancel(
	struct held_requests *requests, const struct buffer *source, const struct buffer *call_id)
{
	struct list *link = requests->list.next;
	bool is_any = false;

	while (link != &requests->list) {
		struct held *held = container_of(link, struct held, link);

		link = link->next;
		if (held->frame->address || !is_equal(&held->call_id, call_id) ||
			!is_equal(&held->source, source))
			continue;
		held_cancel_one(held);
		is_any = true;
	}
	return is_any;
}

void held_cancel_address(struct held_requests *requests, const struct address *address)
{
	struct list *link = requests->list.next;

	while (link != &requests->list) {
		struct held *held = container_of(link, struct held, link);

		link = link->next;
		if (held->frame->address == address)
			held_cancel_one(held);
	}
}

struct held *held_find_id(const struct held_requests *requests, const struct text_view *id)
{
	list_for_each(link, &requests->list) {
		struct held *held = container_of(link, struct held, link);

		if (call_has_id(held->summary.process, held->call_number, id))
			return held;
	}
	return NULL;
}

void held_serve_all(struct held_requests *requests, int status)
{
	/* Some may be held again. */
	for (uint32_t n = requests->n; n > 0 && requests->n > 0; n--)
		held_serve(held_first(requests), status);
}

void held_drop_account(struct held_requests *requests, const struct account *account)
{
	struct list *link = requests->list.next;

	while (link != &requests->list) {
		struct held *held = container_of(link, struct held, link);

		link = link->next;
		if (held->frame->account == account)
			held_drop(held);
	}
}
