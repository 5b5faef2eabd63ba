/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest/guests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* The registry of guests, and the loads that take them in. core/guest/registration.c reads what
 * they send. */

/* The loads for guests rest so many times as long as the last one took. */
#define REST_FACTOR 4

/* ── one guest ───────────────────────────────────────────────────────────────────────────────── */

static struct guest *guest_of(struct list *link)
{
	return container_of(link, struct guest, link);
}

/* Drop the open answer of @guest: it was sent, or is given up. */
static void drop_answer(struct guest *guest)
{
	answer_deinit(&guest->answer);
	account_release(guest->payer, guest->held);
	account_unref(take_ptr(guest->payer));
	guest->held = 0;
}

/* Send the answer of @guest, which is complete. */
static void send_answer(struct guest *guest)
{
	struct bus *bus = guest->guests->bus;
	struct account *before = bus_act_for(bus, guest->payer);

	answer_make_fit(&guest->answer, guest->guests->config->limits.frame_bytes,
		"send a smaller context");
	answer_send(&guest->answer, bus);
	bus_act_for(bus, before);
	drop_answer(guest);
}

void guest_refuse(struct guest *guest, enum answer_code code, const char *text)
{
	if (!answer_is_open(&guest->answer))
		return;
	answer_error_format(&guest->answer, code, "%s: %s",
		code == ANSWER_DENIED ? "PermissionError" : "RuntimeError", text);
	send_answer(guest);
}

void guest_write_registered(const struct guest *guest, struct answer *answer)
{
	answer_member_text(answer, "toolbox_id", guest->id);
	answer_member_boolean(answer, "registered", true);
	answer_member_number(answer, "lease_s", guest->lease_s);
}

/* Append @problems as the array `violations`. */
static void write_violations(const struct diagnostics *problems, struct buffer *out)
{
	bool is_first = true;

	buffer_append_char(out, '[');
	for (size_t i = 0; i < problems->n_items; i++) {
		const struct diagnostic *problem = &problems->items[i];

		if (problem->severity != DIAGNOSTIC_ERROR)
			continue;
		buffer_append_string(out, is_first ? "{\"path\":" : ",{\"path\":");
		is_first = false;
		json_write_bytes_lossy(out, problem->pointer, strlen(problem->pointer));
		buffer_append_string(out, ",\"message\":");
		json_write_bytes_lossy(out, problem->text, strlen(problem->text));
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

static void free_guest(struct guest *guest)
{
	list_remove(&guest->link);
	loop_timer_deinit(&guest->lease);
	drop_answer(guest);
	guest_text_unref(guest->text);
	guest_text_unref(guest->next);
	package_unref(guest->package);
	free(guest->id);
	free(guest->owner.source);
	free(guest);
}

static void end_lease(void *data)
{
	guest_leave(data, "its lease is over");
}

struct guest *guest_new(struct guests *guests, const char *id, const struct text_view *source)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	list_init(&guest->link);
	guest->guests = guests;
	guest->number = ++guests->last_number;
	guest->id = strdup(id);
	guest->owner.source = strndup(source->text, source->size);
	if (!guest->id || !guest->owner.source ||
		loop_timer_init(&guest->lease, guests->loop, end_lease, guest) < 0) {
		free_guest(guest);
		return NULL;
	}
	list_append(&guests->items, &guest->link);
	return guest;
}

struct guest *guests_find_id(const struct guests *guests, const struct text_view *id)
{
	list_each(struct guest, guest, &guests->items, link) {
		if (!guest->gone && text_view_is(*id, guest->id))
			return guest;
	}
	return NULL;
}

/* Return the owner of the guest that brings @package, or NULL (struct guest_calls). */
static const struct guest_owner *find_owner(void *data, const struct package *package)
{
	const struct text_view id = {package->id, strlen(package->id)};
	const struct guest *guest = guests_find_id(data, &id);

	return guest && strcmp(guest->owner.source, package->guest_source) == 0 ? &guest->owner
										: NULL;
}

/* ── the loads ───────────────────────────────────────────────────────────────────────────────── */

/* Return when the text that waits of @guest may be taken in. */
static uint64_t due_ms(const struct guest *guest)
{
	return guest->taken_ms > 0 ? guest->taken_ms + GUEST_PAUSE_MS : 0;
}

/* Arm the timer for the next thing to do. */
static void plan_next(struct guests *guests)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t at_ms = UINT64_MAX;

	list_each(const struct guest, guest, &guests->items, link) {
		uint64_t next_ms = UINT64_MAX;

		if (guest->has_calls)
			next_ms = now_ms;
		else if (guest->gone || guest->is_left_out ||
			 (guest->next && due_ms(guest) <= guests->rested_ms))
			next_ms = guests->rested_ms;
		else if (guest->next)
			next_ms = due_ms(guest);
		at_ms = next_ms < at_ms ? next_ms : at_ms;
	}
	if (at_ms == UINT64_MAX)
		loop_timer_disarm(&guests->timer);
	else
		loop_timer_arm(&guests->timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

/* End the calls of the guests that have left. */
static void end_calls(struct guests *guests)
{
	list_each(struct guest, guest, &guests->items, link) {
		if (!guest->has_calls)
			continue;
		guest->has_calls = false;
		guest_refuse(
			guest, ANSWER_UNAVAILABLE, "The registration is void: the guest has left");
		offer_end_guest(
			guests->offer, guest->id, guest->owner.source, "its guest has left");
	}
}

/* Return whether a load would change what is offered of guests. */
static bool needs_load(const struct guests *guests, uint64_t now_ms)
{
	list_each(const struct guest, guest, &guests->items, link) {
		if (guest->gone || guest->is_left_out || (guest->next && due_ms(guest) <= now_ms))
			return true;
	}
	return false;
}

void guests_act(struct guests *guests)
{
	uint64_t now_ms = clock_now_ms();

	end_calls(guests);
	if (guests->is_loading)
		return;
	if (now_ms >= guests->rested_ms && needs_load(guests, now_ms))
		reload_guests(guests->reload);
	if (!guests->is_loading)
		plan_next(guests);
}

void guests_list(struct guests *guests, struct guest_set *ret_set)
{
	uint64_t now_ms = clock_now_ms();

	guests->is_loading = true;
	list_each(struct guest, guest, &guests->items, link) {
		bool is_new = guest->next && due_ms(guest) <= now_ms;
		const struct guest_entry entry = {
			.number = guest->number,
			.text = is_new ? guest->next : guest->text,
			.source = guest->owner.source,
			.is_new = is_new,
			.package = guest->package,
		};

		/* Without memory, it is not offered until the next load. */
		guest->is_listed =
			!guest->gone && entry.text && guest_set_add(ret_set, &entry) == 0;
	}
}

/* Answer the registration of @guest, whose text @entry has been read, as bad. */
static void refuse_tools(struct guest *guest, const struct guest_entry *entry)
{
	struct answer *answer = &guest->answer;

	if (!answer_is_open(answer))
		return;
	answer_error_format(answer, ANSWER_BAD_REQUEST,
		"ValueError: Bad request: 'tools' must be the tools of a manifest: %s: %s",
		entry->problems.n_items > 0 ? entry->problems.items[0].pointer : "",
		entry->problems.n_items > 0 ? entry->problems.items[0].text : "they are not");
	answer_member_text(answer, "field", "tools");
	write_violations(&entry->problems, answer_member(answer, "violations"));
	send_answer(guest);
}

/* Forget the text of @entry, which was read and is not offered. */
static void drop_next(struct guest *guest, const struct guest_entry *entry)
{
	if (guest->next == entry->text)
		guest_text_unref(take_ptr(guest->next));
}

/* The text of @entry is in force, though another one may wait by now. */
static void take_next_text(struct guest *guest, const struct guest_entry *entry)
{
	if (guest->text != entry->text) {
		guest_text_unref(guest->text);
		guest->text = guest_text_ref(entry->text);
	}
	if (guest->next != entry->text)
		return;
	guest_text_unref(take_ptr(guest->next));
	if (!answer_is_open(&guest->answer))
		return;
	guest_write_registered(guest, &guest->answer);
	send_answer(guest);
}

/* Take the outcome of @guest in a load. */
static void take_outcome(struct guest *guest, const struct guest_entry *entry)
{
	bool was_new = guest->text != entry->text && entry->outcome != GUEST_LATER;
	bool was_read = was_new && guest->next == entry->text;

	package_unref(guest->package);
	guest->package = entry->package ? package_ref(entry->package) : NULL;
	if (was_new)
		guest->taken_ms = clock_now_ms();
	switch (entry->outcome) {
	case GUEST_OFFERED:
		take_next_text(guest, entry);
		break;
	case GUEST_LATER:
		guest->is_left_out = guest->text == entry->text;
		break;
	case GUEST_REFUSED:
		if (was_read)
			refuse_tools(guest, entry);
		drop_next(guest, entry);
		if (!guest->package && !guest->next)
			guest_leave(guest, "its tools are not good");
		break;
	case GUEST_DISPLACED:
		guest_refuse(guest, ANSWER_DENIED, "The toolbox id is taken by a file");
		guest_leave(guest, "a file has its toolbox id");
		break;
	case GUEST_NO_ROOM:
		guest_refuse(guest, ANSWER_BUSY,
			"There is no room for another toolbox (limits.toolboxes, limits.tools)");
		guest_leave(guest, "there is no room for it (limits.toolboxes, limits.tools)");
		break;
	}
}

static const struct guest_entry *find_listed(const struct guest_set *set, const struct guest *guest)
{
	for (size_t i = 0; i < set->n_items; i++)
		if (set->items[i].number == guest->number)
			return &set->items[i];
	return NULL;
}

/* Take the outcome of the load for the guest of @link. It was not listed, or the load has failed,
 * when @entry is NULL. */
static void end_load(struct guest *guest, const struct guest_entry *entry, bool is_taken)
{
	bool was_listed = guest->is_listed;

	guest->is_listed = false;
	if (is_taken)
		guest->is_left_out = !entry && guest->text;
	if (guest->gone && is_taken && !was_listed)
		free_guest(guest);
	else if (!guest->gone && entry && is_taken)
		take_outcome(guest, entry);
	else if (!guest->gone && entry && entry->text == guest->next) {
		guest->taken_ms = clock_now_ms();
		drop_next(guest, entry);
		guest_refuse(guest, ANSWER_UNAVAILABLE, "The toolboxes could not be loaded");
		if (!guest->text)
			guest_leave(guest, "it could not be loaded");
	}
}

void guests_taken(
	struct guests *guests, const struct guest_set *set, bool is_taken, uint64_t spent_ms)
{
	struct list *link = guests->items.next;
	bool has_guests = !list_is_empty(&guests->items);
	uint64_t rest_ms = REST_FACTOR * spent_ms;

	while (link != &guests->items) {
		struct guest *guest = guest_of(link);

		link = link->next;
		end_load(guest, find_listed(set, guest), is_taken);
	}
	guests->is_loading = false;
	/* A load without guests is no guest's: the first one need not wait for its rest. */
	if (has_guests)
		guests->rested_ms = clock_now_ms() +
				    (rest_ms > GUEST_LOAD_PAUSE_MS ? rest_ms : GUEST_LOAD_PAUSE_MS);
	plan_next(guests);
}

void guests_count(const struct guests *guests, uint64_t *ret_n_offered, uint64_t *ret_n_waiting)
{
	*ret_n_offered = *ret_n_waiting = 0;
	list_each(const struct guest, guest, &guests->items, link) {
		*ret_n_offered += !guest->gone && guest->text;
		*ret_n_waiting += !guest->gone && guest->next;
	}
}

/* ── leaving ─────────────────────────────────────────────────────────────────────────────────── */

void guest_leave(struct guest *guest, const char *why)
{
	if (guest->gone)
		return;
	guest->gone = why;
	guest->has_calls = true;
	guest_text_unref(take_ptr(guest->next));
	guest_text_unref(take_ptr(guest->text));
	loop_timer_disarm(&guest->lease);
	log_limited(&guest->guests->changes, LOG_LEVEL_INFO, "The guest %s of '%s' leaves: %s",
		guest->id, guest->owner.source, why);
	plan_next(guest->guests);
}

void guests_configure(struct guests *guests)
{
	if (guests->config->guests.is_enabled)
		return;
	list_each(struct guest, guest, &guests->items, link)
		guest_leave(guest, "guests.enabled is false");
}

void guests_forget_peer(struct guests *guests, const struct account *account)
{
	list_each(struct guest, guest, &guests->items, link) {
		if (guest->owner.connection > 0 && guest->owner.connection == account->number)
			guest_leave(guest, "its connection has ended");
	}
}

/* The timer. */
static void act_again(void *data)
{
	guests_act(data);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int guests_init(struct guests *guests, struct loop *loop, const struct config *config,
	struct offer *offer, struct reload *reload)
{
	int r;

	*guests = (struct guests){
		.loop = loop,
		.config = config,
		.offer = offer,
		.reload = reload,
		.calls = {.config = config, .find_owner = find_owner, .data = guests},
	};
	list_init(&guests->items);
	r = guest_calls_init(&guests->calls, loop);
	return r ? r : loop_timer_init(&guests->timer, loop, act_again, guests);
}

void guests_deinit(struct guests *guests)
{
	while (guests->items.next && !list_is_empty(&guests->items))
		free_guest(guest_of(guests->items.next));
	guest_calls_deinit(&guests->calls);
	loop_timer_deinit(&guests->timer);
}
