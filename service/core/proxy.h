/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/bus.h"
#include "host/host.h"
#include "util/log.h"

/*
 * The bus, for the tools of hosts that are given it (kind python):
 *
 *   tool ──EMIT──▶ proxy_said ──▶ our seat on the bus      {"type", "data"?, "context"?}
 *   tool ──EMIT──▶ proxy_said: a topic is wanted, or not   {"subscribe", "wanted"}
 *   bus ──▶ proxy_wants? ──▶ proxy_deliver ──MESSAGE──▶ every host that wants the topic
 *
 * A host has one subscription for a topic, whoever in it listens; they end with it. Messages that a
 * host does not read are lost for it, not kept: the bus is everybody's, our memory is not.
 */

/* Most subscriptions of all hosts together, and most bytes of a topic. */
#define PROXY_SUBSCRIPTIONS_MAX 1024
#define PROXY_TOPIC_BYTES       256

struct proxy_subscription {
	struct host *host;
	char *topic;
	size_t topic_size;
};

/* Zeroed it is ready. */
struct proxy {
	struct proxy_subscription *subscriptions;
	size_t n_subscriptions;
	struct log_rate refused;
	struct log_rate lost;
};

void proxy_deinit(struct proxy *proxy);

/* @host has said @object, whose JSON text is @text: act on it; what is neither of the two objects
 * above is logged and dropped. @toolbox_id is for the log. */
void proxy_said(struct proxy *proxy, struct bus *bus, struct host *host, const char *toolbox_id,
	const struct json_tape *object, const char *text, size_t size);

/* @host is gone. */
void proxy_forget(struct proxy *proxy, const struct host *host);

/* Whether a host wants frames with this topic. */
bool proxy_wants(const struct proxy *proxy, const char *topic, size_t size);

/* Hand the frame @text with this topic to whoever wants it. */
void proxy_deliver(
	struct proxy *proxy, const char *topic, size_t topic_size, const char *text, size_t size);
