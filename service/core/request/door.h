/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A door: another way into the service, beside the bus. It makes requests (topics_take_request) and
 * gets their answers (core/request/address.h). The service reports its own events to it by these
 * operations.
 */
struct door;

struct door_operations {
	/* The configuration was read again. */
	void (*configured)(struct door *door);

	/* The service announces something (contract.md, Broadcasts): @topic is the topic on the
	 * bus, @text the data, a JSON object. Beside them ovos.tools.job.completed, for the jobs of
	 * callers at doors. */
	void (*heard)(struct door *door, const char *topic, const char *text, size_t size);

	/* The service stops: take no further requests. */
	void (*stop)(struct door *door);

	/* Return whether nothing is left to send. */
	bool (*is_drained)(const struct door *door);
};

/* The member of each kind of door. */
struct door {
	const struct door_operations *operations;
};
