/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/bus.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "util/log.h"

/* What the two kinds of seat share: nobody outside this folder includes it. */

struct bus_operations {
	void (*free)(struct bus *bus);
	/* Queue @frame (the seat takes its own reference). 0 or a negative errno. */
	int (*queue)(struct bus *bus, struct frame *frame);
	size_t (*queued_bytes)(const struct bus *bus);
};

/* The first member of each kind. */
struct bus {
	const struct bus_operations *operations;
	struct loop *loop;
	struct bus_address address;
	struct bus_limits limits;
	struct bus_handler handler;
	void *data;
	struct bus_counters counters;
	bool is_up;
	struct {
		struct log_rate frames;   /* that come in and are not taken */
		struct log_rate messages; /* of ours that cannot be sent */
		struct log_rate peers;    /* that are dropped, or cannot be reached */
	} rates; /* of lines that others can provoke: a flood of one kind must not hide another */
};

/* Fill the shared part of a zeroed seat. */
void bus_init(struct bus *bus, const struct bus_operations *operations, struct loop *loop,
	const struct bus_address *address, const struct bus_limits *limits,
	const struct bus_handler *handler, void *data);

/* A warning at a limited rate. */
#define bus_warn(rate, ...) log_limited(rate, LOG_LEVEL_WARNING, "bus: " __VA_ARGS__)

/* Count, and tell of, a frame that was not taken; nothing for the results that are no refusal. */
void bus_warn_refused(struct bus *bus, enum intake_result result);

/* Send each small write at once, and find a peer that is gone without a goodbye. */
void bus_socket_setup(int fd);
