/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/account.h"
#include "core/guest/guest_calls.h"
#include "core/request/answer.h"
#include "loader/guest/guests.h"
#include "loop/loop.h"
#include "offer/offer.h"
#include "offer/reload.h"
#include "util/list.h"
#include "util/log.h"

/*
 * Guests: other processes that bring toolboxes while they run (contract.md, Guests).
 *
 *   register ──▶ WAITING ──▶ listed for a load ──▶ OFFERED ──▶ gone, until a load is without it
 *                   ▲           (offer/reload.h)     │ │  ▲
 *                   └──── register, another text ────┘ └──┘ the same text: its lease begins anew
 *
 * A toolbox_id names a guest, which belongs to the context.source of its registration; on the
 * embedded bus also to the connection of the last registration. A guest leaves by unregistering, by
 * the end of its lease or of its connection, and when a file brings its id. Its calls end then
 * (core/guest/guest_calls.h).
 *
 * A text costs a load, so one guest is taken in once in GUEST_PAUSE_MS, and the loads for guests
 * take a fifth of the time of their thread. A text that waits gives way to a later one of the
 * guest.
 */
#define GUEST_PAUSE_MS      1000
#define GUEST_LOAD_PAUSE_MS 20

/* The largest text of a registration, without white space. */
#define GUEST_BYTES_MAX (1u << 20)

/* The leases of guests, in seconds. */
#define GUEST_LEASE_S       60
#define GUEST_LEASE_LEAST_S 5
#define GUEST_LEASE_MOST_S  600

/* The longest name of a guest's process: each call of a guest has it. */
#define GUEST_SOURCE_BYTES 255

struct guest {
	struct list link;
	struct guests *guests;
	uint64_t number;
	char *id;
	struct guest_owner owner;
	struct guest_text *text; /* the text in force, or NULL */
	struct guest_text *next; /* the text that waits for a load, or NULL */
	struct package *package; /* made from the text in force */
	uint32_t n_tools;        /* in the text that counts */
	uint64_t taken_ms;       /* when a load has read a text of this guest last; 0: never */
	uint64_t lease_s;
	struct loop_timer lease;
	const char *gone;      /* why it has left, or NULL */
	bool has_calls;        /* it has left, and its calls are still to be ended */
	bool is_listed;        /* the load under way has it */
	bool is_left_out;      /* the last load had no time or no memory for its text in force */
	struct answer answer;  /* the open answer to the registration of @next */
	struct account *payer; /* holds the bytes of that answer; counted */
	size_t held;
};

struct guests {
	struct loop *loop;
	const struct config *config;
	struct bus *bus; /* set once it is open */
	struct offer *offer;
	struct reload *reload;
	bool has_connections; /* the bus is ours: each account is a connection */
	struct list items;
	uint64_t last_number;
	struct loop_timer timer; /* the next load for guests, and the ends of calls */
	bool is_loading;         /* a load under way has listed them */
	uint64_t rested_ms;      /* when the next load for guests may begin */
	struct guest_calls calls;
	struct log_rate changes; /* lines about guests: any client can cause them */
};

/* Make @guests ready, without any. The parts are borrowed. 0 or -ENOMEM. */
int guests_init(struct guests *guests, struct loop *loop, const struct config *config,
	struct offer *offer, struct reload *reload);

/* Forget all of them; open answers are given up. Takes a zeroed one. */
void guests_deinit(struct guests *guests);

/* List the guests for a load, and take its outcomes (struct reload_handler). */
void guests_list(struct guests *guests, struct guest_set *ret_set);
void guests_taken(
	struct guests *guests, const struct guest_set *set, bool is_taken, uint64_t spent_ms);

/* Count the guests with tools, and the registrations that wait for a load. */
void guests_count(const struct guests *guests, uint64_t *ret_n_offered, uint64_t *ret_n_waiting);

/* Follow a configuration read again: all guests leave when guests.enabled is false. */
void guests_configure(struct guests *guests);

/* The connection of @account has ended: its guests are gone. Nothing is sent from here. */
void guests_forget_peer(struct guests *guests, const struct account *account);

/* ── for core/guest/registration.c ───────────────────────────────────────────────────────────── */

/* Return a new guest called @id of @source, without a text; NULL without memory. */
struct guest *guest_new(struct guests *guests, const char *id, const struct text_view *source);

/* Return the present guest called @id, or NULL. */
struct guest *guests_find_id(const struct guests *guests, const struct text_view *id);

/* Let @guest leave for @why, constant text: its calls end, and the next load is without it. May be
 * called from anywhere, since both happen later. */
void guest_leave(struct guest *guest, const char *why);

/* Answer the open registration of @guest, if there is one, with an error. */
void guest_refuse(struct guest *guest, enum answer_code code, const char *text);

/* Do what is to be done now, and arm the timer for the rest. */
void guests_act(struct guests *guests);

/* Write the members of the answer to a valid registration. */
void guest_write_registered(const struct guest *guest, struct answer *answer);
