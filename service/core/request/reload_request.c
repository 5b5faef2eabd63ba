/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/reload_request.h"

#include <stdlib.h>

#include "bus/account.h"
#include "core/listing/listing.h"
#include "json/writer.h"
#include "loader/asking.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/text/text_list.h"

/* A request that waits. */
struct reload_waiter {
	struct list link;
	struct answer answer;
	struct policy_caller *caller; /* owned; its account is charged with @size bytes */
	size_t size;
};

void reload_requests_init(
	struct reload_requests *requests, struct reload *reload, const struct audience *audience)
{
	*requests = (struct reload_requests){.reload = reload, .audience = audience};
	list_init(&requests->current);
	list_init(&requests->next);
}

/* ── answers ─────────────────────────────────────────────────────────────────────────────────── */

void reload_announce(const struct audience *audience, const struct buffer *members)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.changed");
	buffer_append(&event.message, members->data, members->size);
	answer_announce(&event, audience);
}

void reload_write_mistakes(
	const struct reload *reload, const struct catalogue *view, struct answer *answer)
{
	if (mistakes_exist(&reload->mistakes) && offer_shows_all(reload->parts.offer, view))
		mistakes_write(&reload->mistakes, answer_member(answer, "configuration"));
}

/* Write the member `asked`, if there are servers that are still asked for their tools: their
 * toolboxes. It is only for a caller that sees every tool. */
static void write_asked(
	const struct reload *reload, const struct catalogue *view, struct answer *answer)
{
	cleanup(text_list_deinit) struct text_list ids = {0};
	struct buffer *out;

	if (!offer_shows_all(reload->parts.offer, view) ||
		asking_list(reload->asking, false, &ids) < 0 || ids.n_items == 0)
		return;
	out = answer_member(answer, "asked");
	for (size_t i = 0; i < ids.n_items; i++) {
		buffer_append_char(out, i == 0 ? '[' : ',');
		json_write_text(out, ids.items[i]);
	}
	buffer_append_char(out, ']');
}

/* Send @answer, which it takes over, with what @caller may see. A list of tools that does not fit
 * in a frame is left out (contract.md, Size of results). */
static void send_answer(
	struct reload_requests *requests, const struct policy_caller *caller, struct answer *answer)
{
	const struct reload *reload = requests->reload;
	const struct catalogue *view = policy_view(reload->parts.offer->policy, caller);
	struct bus *bus = requests->audience->bus;
	struct buffer *out;

	prepared_reload_write_loaded(view, answer_member(answer, "loaded"));
	answer_member_number(answer, "total_tools", catalogue_n_tools(view));
	listing_write_failed(view, &(struct text_view){0}, answer_member(answer, "failed"));
	reload_write_mistakes(reload, view, answer);
	write_asked(reload, view, answer);
	answer_keep(answer);
	out = answer_member(answer, "tools");
	if (reload->tools.size > 0 && offer_shows_all(reload->parts.offer, view))
		buffer_append_buffer(out, &reload->tools);
	else
		listing_write(view, NULL, 0, DEFINITION_FULL, out);
	if (!answer_fits(answer, reload->parts.config->limits.frame_bytes) ||
		account_is_full(bus_sender(bus)))
		answer_rewind(answer);
	answer_send(answer, bus);
}

static void send_unavailable(
	struct reload_requests *requests, const struct policy_caller *caller, struct answer *answer)
{
	(void)caller;
	answer_error_format(answer, ANSWER_UNAVAILABLE,
		"RuntimeError: The service is unavailable: it is stopping");
	answer_send(answer, requests->audience->bus);
}

static void forget_answer(
	struct reload_requests *requests, const struct policy_caller *caller, struct answer *answer)
{
	(void)requests;
	(void)caller;
	answer_deinit(answer);
}

typedef void (*send_function)(struct reload_requests *requests, const struct policy_caller *caller,
	struct answer *answer);

/* Take the first waiter off @waiting, and call @send for its answer, charged to its account.
 * Returns false when there is none. */
static bool answer_waiter(
	struct reload_requests *requests, struct list *waiting, send_function send)
{
	struct list *link = list_take_first(waiting);
	struct reload_waiter *waiter;
	struct account *before;

	if (!link)
		return false;
	waiter = container_of(link, struct reload_waiter, link);
	check(requests->n > 0);
	requests->n--;
	before = bus_act_for(requests->audience->bus, waiter->caller->account);
	send(requests, waiter->caller, &waiter->answer);
	bus_act_for(requests->audience->bus, before);
	account_release(waiter->caller->account, waiter->size);
	policy_caller_free(waiter->caller);
	free(waiter);
	return true;
}

/* Answer the waiters of both lists. */
static void answer_all(struct reload_requests *requests, send_function send)
{
	while (answer_waiter(requests, &requests->current, send) ||
		answer_waiter(requests, &requests->next, send))
		continue;
}

void reload_requests_finish(struct reload_requests *requests)
{
	while (answer_waiter(requests, &requests->current, send_answer))
		continue;
}

void reload_requests_give_up(struct reload_requests *requests)
{
	answer_all(requests, send_unavailable);
}

void reload_requests_deinit(struct reload_requests *requests)
{
	if (requests->n > 0)
		answer_all(requests, forget_answer);
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

static void write_busy(const struct reload_requests *requests, struct answer *answer)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: The service is busy: %u request%s for a reload", requests->n,
		requests->n == 1 ? " waits" : "s wait");
}

void reload_requests_take(
	struct reload_requests *requests, const struct policy_caller *caller, struct answer *answer)
{
	/* The answer begins with the context, which has the texts of the caller. */
	size_t size = 2 * answer->message.size;
	cleanup(policy_caller_cleanup) struct policy_caller *copy = NULL;
	struct reload_waiter *waiter;

	if (requests->n >= requests->reload->parts.config->limits.in_flight) {
		write_busy(requests, answer);
		return;
	}
	copy = policy_caller_copy(caller);
	waiter = copy ? malloc(sizeof(*waiter)) : NULL;
	if (!waiter) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: out of memory");
		return;
	}
	if (!account_hold(copy->account, size)) {
		free(waiter);
		write_busy(requests, answer);
		return;
	}
	waiter->caller = take_ptr(copy);
	waiter->size = size;
	list_init(&waiter->link);
	waiter->answer = answer_take(answer);
	list_append(&requests->next, &waiter->link);
	requests->n++;
	reload_ask_again(requests->reload);
}

bool reload_requests_begin(struct reload_requests *requests)
{
	struct list *link;

	check(list_is_empty(&requests->current));
	while ((link = list_take_first(&requests->next)))
		list_append(&requests->current, link);
	return !list_is_empty(&requests->current);
}
