/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/config.h"
#include "core/request/door.h"
#include "offer/mistakes.h"
#include "util/file/paths.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * The service: an endpoint on the bus, a catalogue, and everything between the two.
 *
 *   bus frame → topic scan → envelope → topics → catalogue → argument schema → policy → runner
 *     → toolbox-host → output schema → size guard → response
 *
 * Signals: HUP reloads; TERM and INT stop: no further calls are taken, those in flight have
 * drain_ms, the rest is answered `unavailable`, and the loop ends.
 */
struct service;

struct service_options {
	const struct config_flags *flags; /* borrowed; the configuration is read again with them */
	const struct paths *paths;        /* copied */
	struct mistakes *mistakes;        /* the mistakes of @config; taken over */
	bool is_bus;                      /* be the bus, too (--embedded-bus) */
};

/* Begin to serve on @loop. @config is taken over. Returns 0 or a negative errno, with
 * --embedded-bus also the error of the port. */
int service_new(struct loop *loop, const struct service_options *options, struct config *config,
	struct service **ret_service);

/* Let @service know its other door (core/request/door.h), which outlives it. */
void service_set_door(struct service *service, struct door *door);

/* Return the address of the bus, with the actual port. */
const struct bus_address *service_address(const struct service *service);

/* Return whether the loop was stopped to start another service, with a configuration read again:
 * this service was started with a closed configuration (config/config.h), mended since. */
bool service_starts_again(const struct service *service);

/* Stop serving and free @service, with its hosts. Takes NULL. */
void service_free(struct service *service);

CLEANUP_DEFINE(service, struct service *, service_free)
