/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/account.h"
#include "bus/bus.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "util/log.h"

/* The common part of the two kinds of endpoint. Only this folder includes it. */

struct bus_operations {
	void (*free)(struct bus *bus);
	/* Queue @frame and take a reference of its own to it. Return 0 or a negative errno. */
	int (*queue)(struct bus *bus, struct frame *frame);
	size_t (*queued_bytes)(const struct bus *bus);
	/* Make room for the tokens in the book. NULL: the bus holds nothing of others. */
	void (*make_room)(struct bus *bus);
	/* Replace the token. NULL: clients have no use for another one. */
	void (*set_token)(struct bus *bus, const char *token);
	bool has_shares; /* sources share a queue */
};

/* The member `bus` of each kind. */
struct bus {
	const struct bus_operations *operations;
	struct loop *loop;
	struct bus_address address;
	struct bus_limits limits;
	struct bus_handler handler;
	void *data;
	struct bus_counters counters;
	struct account_book book;
	struct account own; /* our own messages; on a bus of others: all of its messages */
	struct account
		*sender; /* borrowed: the account of the peer whose frame is handled; NULL: own */
	uint64_t n_answers; /* by bus_count_answers() */
	bool is_up;
	bool is_kept; /* it was lost a moment ago, and messages wait for it */
	struct {
		struct log_rate frames;   /* refused incoming frames */
		struct log_rate messages; /* messages of ours that cannot be sent */
		struct log_rate peers;    /* dropped or unreachable peers */
	} rates; /* limits of log lines provoked by others: a flood of one kind must not hide
	          * another */
};

/* Fill the common part of a zeroed endpoint. */
void bus_init(struct bus *bus, const struct bus_operations *operations, struct loop *loop,
	const struct bus_address *address, const struct bus_limits *limits,
	const struct bus_handler *handler, void *data);

/* Log a warning at a limited rate. */
#define bus_warn(rate, ...) log_limited(rate, LOG_LEVEL_WARNING, "bus: " __VA_ARGS__)

/* Count and log a refused frame. Do nothing for other results. */
void bus_warn_refused(struct bus *bus, enum intake_result result);

/* Log a dropped binary frame. */
void bus_warn_binary(struct bus *bus);
