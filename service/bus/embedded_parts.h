/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/account.h"
#include "bus/admission.h"
#include "bus/connection.h"
#include "bus/crowd.h"
#include "bus/endpoint.h"
#include "bus/entry.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "bus/listener.h"
#include "bus/pacing.h"
#include "loop/loop.h"
#include "util/debt.h"
#include "util/list.h"

/* The embedded bus and its clients, as its files share them: bus/embedded.c has the idea. */

struct embedded {
	struct bus bus;
	struct listener *listener;
	struct entries *entries;   /* connections that are not yet peers */
	struct loop_task writing;  /* writes to the clients */
	struct loop_task settling; /* frees the removed peers, and resumes paused ones */
	struct loop_timer up_timer;
	struct loop_timer echo_timer;
	struct loop_timer tick_timer; /* armed while there are peers */
	struct loop_timer rest_timer; /* armed while a peer is not read because of its debt */
	struct loop_timer kept_timer; /* handles the kept bytes of resumed peers */
	uint64_t short_ms;            /* since when room is short (is_short); 0: it is not */
	uint64_t looked_ms;           /* time of the last look at the clients: it is good enough for
				       * them, and reading the clock for each frame is not free */
	unsigned int n_paused;
	struct frame_queue echo; /* own messages for us to receive */
	struct frame *greeting;
	struct list peers;   /* struct peer */
	struct list gone;    /* removed peers */
	struct list resumed; /* peers with kept bytes, by their member of this name */
	struct crowd crowd;  /* the peers */
	bool is_reporting;   /* peer_gone() runs: it may remove no other peer */
	bool is_closing;     /* freed by its owner: handler, listener and timer are gone */
	struct intake_rules rules;
	struct admission admission;
};

struct peer {
	struct embedded *embedded;
	struct connection connection;
	struct list link;    /* in embedded->peers, while the peer is a member; then in gone */
	struct list resumed; /* in embedded->resumed, or in no list */
	struct crowd_member member;
	bool is_member;
	bool is_paused;          /* not read: too much of what it sent waits, or it owes */
	struct buffer kept;      /* bytes read, but not handled before a pause */
	struct account *account; /* counted reference */
	struct debt debt;        /* for the time of its large frames */
	struct frame_queue queue;
	struct intake intake;
	struct bus_heartbeat heartbeat;
	uint64_t piece_ms; /* time of the last piece of an unfinished frame */
	uint64_t write_ms; /* time of the last write, or of the first frame after an empty queue */
	uint64_t pace_ms;  /* start of the time in which its pace is judged … */
	uint64_t written;  /* … and bytes written since */
};

/* Return whether @request comes from a client that may join, for an upgrade, with the token where
 * one is needed; else *ret_refusal is the response. */
bool embedded_admits(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal);
