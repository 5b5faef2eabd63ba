/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest/registration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/stringify.h"

/* The messages of guests about themselves: ovos.tools.register and ovos.tools.unregister. */

/* A registration, as it is read from its message. */
struct registration {
	const struct request_scope *scope;
	const struct json_tape *data;
	char *id;
	uint32_t n_tools;
	uint64_t lease_s;
	struct buffer text; /* the manifest, see manifest/guest/guest.h */
};

static void registration_deinit(struct registration *registration)
{
	free(registration->id);
	buffer_deinit(&registration->text);
}

/* ── the fields ──────────────────────────────────────────────────────────────────────────────── */

/* Write that @field must be @expected. Return false. */
static bool refuse_field(struct answer *answer, const char *field, const char *expected)
{
	answer_error_format(answer, ANSWER_BAD_REQUEST, "ValueError: Bad request: '%s' must be %s",
		field, expected);
	answer_member_text(answer, "field", field);
	return false;
}

/* Return whether the sender has a name, the mark of its guest in each message and list; else the
 * error is written. */
static bool check_source(const struct request_scope *scope, struct answer *answer)
{
	const struct text_view *source = &scope->caller.source;

	if (source->text && source->size > 0 && source->size <= GUEST_SOURCE_BYTES &&
		!memchr(source->text, '\0', source->size))
		return true;
	answer_error_format(answer, ANSWER_BAD_REQUEST,
		"ValueError: Bad request: 'context' must have a source of at most %d bytes, by "
		"which the guest is known",
		GUEST_SOURCE_BYTES);
	answer_member_text(answer, "field", "context");
	return false;
}

/* Read the id, which the caller frees; false with the error in @answer. */
static bool read_guest_id(const struct request_scope *scope, struct answer *answer, char **ret_id)
{
	const struct text_view *text = &scope->request.toolbox_id;
	cleanup_free char *id = text->text ? strndup(text->text, text->size) : NULL;

	if (!id || strlen(id) != text->size || !manifest_is_id(id))
		return refuse_field(answer, "toolbox_id",
			"1 to " STRINGIFY(TOOLBOX_ID_BYTES) " letters, digits, '_' or '-'");
	*ret_id = take_ptr(id);
	return true;
}

static bool read_lease(struct registration *registration, struct answer *answer)
{
	const struct json_tape *data = registration->data;
	uint32_t token = json_find_root(data, "lease_s");

	registration->lease_s = GUEST_LEASE_S;
	if (token == JSON_NONE)
		return true;
	return (json_read_u64(data, token, &registration->lease_s) &&
		       registration->lease_s >= GUEST_LEASE_LEAST_S &&
		       registration->lease_s <= GUEST_LEASE_MOST_S) ||
	       refuse_field(answer, "lease_s",
		       "an integer of seconds from " STRINGIFY(
			       GUEST_LEASE_LEAST_S) " to " STRINGIFY(GUEST_LEASE_MOST_S));
}

/* Write the manifest: the members of the message that a manifest has. */
static bool read_tools_offered(struct registration *registration, struct answer *answer)
{
	const struct json_tape *data = registration->data;
	uint32_t description = json_find_root(data, "description");
	uint32_t tools = json_find_root(data, "tools");
	struct buffer *text = &registration->text;

	if (description != JSON_NONE && json_type_at(data, description) != JSON_STRING)
		return refuse_field(answer, "description", "a string");
	if (tools == JSON_NONE || json_type_at(data, tools) != JSON_ARRAY ||
		json_count(data, tools) == 0)
		return refuse_field(answer, "tools", "an array of at least one tool");
	registration->n_tools = json_count(data, tools);
	buffer_append_string(text, "{\"toolbox_id\":");
	json_write_text(text, registration->id);
	if (description != JSON_NONE)
		json_write_member_value(text, "description", data, description);
	json_write_member_value(text, "tools", data, tools);
	buffer_append_char(text, '}');
	if (buffer_status(text) == 0 && text->size <= GUEST_BYTES_MAX)
		return true;
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: Too large a registration of '%s': %zu bytes, %u are allowed",
		registration->id, text->size, GUEST_BYTES_MAX);
	answer_member_number(answer, "actual", text->size);
	answer_member_number(answer, "max", GUEST_BYTES_MAX);
	return false;
}

static bool read_registration(struct registration *registration, struct answer *answer)
{
	return check_source(registration->scope, answer) &&
	       read_guest_id(registration->scope, answer, &registration->id) &&
	       read_lease(registration, answer) && read_tools_offered(registration, answer);
}

/* ── who may ─────────────────────────────────────────────────────────────────────────────────── */

static bool deny(struct answer *answer, const char *id, const char *why)
{
	answer_error_format(
		answer, ANSWER_DENIED, "PermissionError: The toolbox id '%s' %s", id, why);
	return false;
}

/* Return whether a file brings the toolbox @id, good or bad. */
static bool is_of_file(const struct catalogue *catalogue, const char *id)
{
	long index = catalogue_find_toolbox(catalogue, id, strlen(id));

	if (index >= 0)
		return catalogue_toolbox(catalogue, (size_t)index, NULL, NULL)->package->kind !=
		       KIND_GUEST;
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		if (strcmp(catalogue_failure(catalogue, i)->toolbox_id, id) == 0)
			return true;
	return false;
}

/* Return whether there is room for @n_tools tools of @guest (NULL: a new one); else the error is
 * written. */
static bool check_guest_room(const struct guests *guests, const struct guest *guest,
	uint32_t n_tools, struct answer *answer)
{
	const struct config_guests *limits = &guests->config->guests;
	uint32_t n_guests = guest ? 0 : 1;
	uint64_t n_kept = n_guests;
	uint64_t n_all = n_tools;

	list_each(const struct guest, other, &guests->items, link) {
		n_kept++;
		if (other->gone)
			continue;
		n_guests++;
		n_all += other == guest ? 0 : other->n_tools;
	}
	/* Guests stay in the list after they left, until a load has taken their tools out. */
	if (n_guests <= limits->max && n_all <= limits->tools && n_kept <= 2ull * limits->max)
		return true;
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: There is room for %u guests and %u tools of guests (guests.max, "
		"guests.tools)",
		limits->max, limits->tools);
	return false;
}

/* Return whether the sender of @registration may register it; else the error is written. */
static bool check_right(const struct guests *guests, const struct registration *registration,
	const struct guest *guest, struct answer *answer)
{
	const char *id = registration->id;

	if (guest && !text_view_is(registration->scope->caller.source, guest->owner.source))
		return deny(answer, id, "is taken by another guest");
	if (!guest && is_of_file(guests->offer->catalogue, id))
		return deny(answer, id, "is taken by an installed toolbox");
	return check_guest_room(guests, guest, registration->n_tools, answer);
}

/* Return whether guests may come at all; else the error is written. */
static bool check_enabled(const struct guests *guests, struct answer *answer)
{
	if (guests->config->closed) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: No toolbox is loaded, because of a mistake in the "
			"configuration: %s",
			guests->config->closed);
		return false;
	}
	if (guests->config->guests.is_enabled)
		return true;
	answer_error_format(answer, ANSWER_DENIED,
		"PermissionError: This service takes no guests: its operator has to set "
		"guests.enabled");
	return false;
}

/* Return whether the sender is still connected: a registration may have waited for the first
 * catalogue. Else the error is written. */
static bool check_present(
	const struct guests *guests, const struct request_scope *scope, struct answer *answer)
{
	const struct account *account = scope->caller.account;

	if (!guests->has_connections || !account || !account->is_closed)
		return true;
	answer_error_format(
		answer, ANSWER_UNAVAILABLE, "RuntimeError: The connection of the guest has ended");
	return false;
}

/* ── registering ─────────────────────────────────────────────────────────────────────────────── */

/* Return whether @text has the bytes of @registration. */
static bool is_same_text(const struct guest_text *text, const struct registration *registration)
{
	return text && text->size == registration->text.size &&
	       memcmp(text->bytes, registration->text.data, text->size) == 0;
}

/* Let @answer wait with @guest, which its sender pays for. False with the error in @answer. */
static bool keep_answer(
	struct guest *guest, const struct policy_caller *caller, struct answer *answer)
{
	size_t size = answer->message.size;

	if (!account_hold(caller->account, size)) {
		answer_error_format(answer, ANSWER_BUSY,
			"RuntimeError: The requests of this client that wait hold as much memory "
			"as they may");
		return false;
	}
	guest_refuse(guest, ANSWER_BUSY,
		"A later registration of the guest has come before this one was taken in");
	guest->payer = account_ref(caller->account);
	guest->held = size;
	guest->answer = answer_take(answer);
	return true;
}

/* Let @guest have the text of @registration with the next load, whose answer waits until then.
 * False with the error in @answer. */
static bool take_next(
	struct guest *guest, const struct registration *registration, struct answer *answer)
{
	struct guest_text *text;

	if (is_same_text(guest->next, registration))
		return keep_answer(guest, &registration->scope->caller, answer);
	text = guest_text_new(registration->text.data, registration->text.size);
	if (!text) {
		answer_error_format(
			answer, ANSWER_UNAVAILABLE, "RuntimeError: %s", strerror(ENOMEM));
		return false;
	}
	if (!keep_answer(guest, &registration->scope->caller, answer)) {
		guest_text_unref(text);
		return false;
	}
	guest_text_unref(guest->next);
	guest->next = text;
	guest->n_tools = registration->n_tools;
	return true;
}

/* Begin the lease of @guest: its owner is the sender of @registration from now on. */
static void renew(struct guest *guest, const struct registration *registration)
{
	const struct guests *guests = guest->guests;
	const struct account *account = registration->scope->caller.account;

	guest->owner.connection = guests->has_connections && account ? account->number : 0;
	guest->lease_s = registration->lease_s;
	loop_timer_arm(&guest->lease, guest->lease_s * MS_PER_S);
}

/* Register the text of @registration for @guest of the same sender. */
static void register_text(
	struct guest *guest, const struct registration *registration, struct answer *answer)
{
	bool is_next = is_same_text(guest->next, registration);
	bool is_replaced = guest->next && guest->is_listed;

	renew(guest, registration);
	/* The last text counts: an earlier waiting text is not taken in. */
	if (!is_next && !is_replaced && is_same_text(guest->text, registration)) {
		guest_refuse(guest, ANSWER_BUSY,
			"A later registration of the guest has come before this one was taken in");
		guest_text_unref(take_ptr(guest->next));
		guest->n_tools = registration->n_tools;
		guest_write_registered(guest, answer);
		return;
	}
	if (!take_next(guest, registration, answer) && !guest->text && !guest->next)
		guest_leave(guest, "its registration could not be kept");
}

/* Return a new guest for @registration, or NULL with the error in @answer. */
static struct guest *add_guest(
	struct guests *guests, const struct registration *registration, struct answer *answer)
{
	struct guest *guest =
		guest_new(guests, registration->id, &registration->scope->caller.source);

	if (!guest) {
		answer_error_format(
			answer, ANSWER_UNAVAILABLE, "RuntimeError: %s", strerror(ENOMEM));
		return NULL;
	}
	/* A guest does not come in more often by leaving between. */
	list_each(const struct guest, other, &guests->items, link) {
		if (other->gone && strcmp(other->id, guest->id) == 0 &&
			other->taken_ms > guest->taken_ms)
			guest->taken_ms = other->taken_ms;
	}
	return guest;
}

void guests_register(
	struct guests *guests, const struct request_scope *scope, struct answer *answer)
{
	cleanup(registration_deinit) struct registration registration = {
		.scope = scope, .data = &scope->envelope.data};
	struct guest *guest;

	if (!check_enabled(guests, answer) || !check_present(guests, scope, answer) ||
		!read_registration(&registration, answer))
		return;
	guest = guests_find_id(guests, &scope->request.toolbox_id);
	if (!check_right(guests, &registration, guest, answer))
		return;
	guest = guest ? guest : add_guest(guests, &registration, answer);
	if (guest)
		register_text(guest, &registration, answer);
	guests_act(guests);
}

void guests_unregister(
	struct guests *guests, const struct request_scope *scope, struct answer *answer)
{
	cleanup_free char *id = NULL;
	struct guest *guest;

	if (!check_enabled(guests, answer) || !check_source(scope, answer) ||
		!read_guest_id(scope, answer, &id))
		return;
	guest = guests_find_id(guests, &scope->request.toolbox_id);
	if (guest && !guest_owner_is(&guest->owner, &scope->caller)) {
		deny(answer, id, "is another guest's");
		return;
	}
	if (guest)
		guest_leave(guest, "it has unregistered");
	answer_member_text(answer, "toolbox_id", id);
	answer_member_boolean(answer, "unregistered", guest);
}
