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
 * What we say ourselves comes back from the bus like all the rest, embedded or not: so a tool hears
 * itself, other tools of ours, and the answers to what it asks of us.
 *
 * A host has one subscription for a topic, whoever in it listens; they end with it. Messages that a
 * host does not read are lost for it, not kept: the bus is everybody's, our memory is not.
 *
 * Every message of a tool costs everybody on the bus, and a tool can make more of them than all can
 * read. So a host may say PROXY_BURST_MS worth of them at once, and then as many as time passes:
 *
 *   said ─▶ paid for until ──┬─ less than a burst ahead of now ──▶ go on
 *                            └─ more ──▶ the host is held: its socket is not read until then
 *
 * A tool that is over the rate waits in emit(), and so do the answers of its host; nothing is lost,
 * and nobody else waits.
 */

/* What a message is reckoned at: 100 a second, 500 at once. A client in Python has 0.6 ms to do
 * with each. A large one counts by its parts, so that a burst stays within what a client of the
 * embedded bus may leave unread. A subscription costs only us. */
#define PROXY_MESSAGE_MS      10
#define PROXY_PART_BYTES      (16u << 10)
#define PROXY_SUBSCRIPTION_MS 1
#define PROXY_BURST_MS        5000

/* A host that is held stays so a little longer, and then says several at once: each end of a hold
 * wakes us up. */
#define PROXY_HOLD_MS 100

/* Most subscriptions of all hosts together, and most bytes of a topic. */
#define PROXY_SUBSCRIPTIONS_MAX 1024
#define PROXY_TOPIC_BYTES       256

struct proxy_subscription {
	struct host *host;
	char *topic;
	size_t topic_size;
};

/* A host that has said something. */
struct proxy_speaker {
	const struct host *host;
	uint64_t paid_ms; /* the time that all it said is paid for with */
};

/* Zeroed it is ready. */
struct proxy {
	struct proxy_subscription *subscriptions;
	size_t n_subscriptions;
	struct proxy_speaker *speakers;
	size_t n_speakers;
	struct log_rate refused;
	struct log_rate lost;
	struct log_rate held;
};

void proxy_deinit(struct proxy *proxy);

/* @host has said @object, whose JSON text is @text: act on it; what is neither of the two objects
 * above (NULL: none at all) is logged and dropped. May hold the host. @toolbox_id is for the log.
 */
void proxy_said(struct proxy *proxy, struct bus *bus, struct host *host, const char *toolbox_id,
	const struct json_tape *object, const char *text, size_t size);

/* @host is gone. */
void proxy_forget(struct proxy *proxy, const struct host *host);

/* Whether a host wants frames with this topic. */
bool proxy_wants(const struct proxy *proxy, const char *topic, size_t size);

/* Hand the frame @text with this topic to whoever wants it. */
void proxy_deliver(
	struct proxy *proxy, const char *topic, size_t topic_size, const char *text, size_t size);
