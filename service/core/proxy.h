/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/bus.h"
#include "host/host.h"
#include "util/log.h"

/*
 * The bus, for the tools of hosts with the bus (kind python):
 *
 *   tool ──EMIT──▶ proxy_on_bus_message ──▶ the bus         {"type", "data"?, "context"?}
 *   tool ──EMIT──▶ proxy_on_bus_message: (un)subscribe     {"subscribe", "wanted"}
 *   bus ──▶ proxy_wants? ──▶ proxy_deliver ──MESSAGE──▶ every host that wants the topic
 *
 * The bus returns our own messages to us, embedded or not. So a tool receives its own messages, the
 * messages of our other tools, and our answers to its requests.
 *
 * A host has one subscription per topic, however many listeners it has, and loses all of them when
 * it ends. A message not read by a host is lost for it: the memory of the daemon is not for keeping
 * the traffic of the bus.
 *
 * Every message of a tool costs each client of the bus, and a tool can send more than they can
 * read. So a host may send messages worth PROXY_BURST_MS at once, and then as many as time passes:
 *
 *   message ─▶ paid for until ──┬─ less than a burst ahead of now ──▶ go on
 *                               └─ more ──▶ the host is held: its socket is not read until then
 *
 * A tool over the rate waits in emit(), and so do the answers of its host. Nothing is lost, and no
 * other host waits.
 */

/* The price of a message: 100 a second, 500 at once. A client in Python needs 0.6 ms for each. A
 * large one pays for each part, so that a burst stays within the bytes that a client of the
 * embedded bus may leave unread. A subscription only costs the daemon. */
#define PROXY_MESSAGE_MS      10
#define PROXY_PART_BYTES      (16u << 10)
#define PROXY_SUBSCRIPTION_MS 1
#define PROXY_BURST_MS        5000

/* The time by which a host is held longer than necessary: it then sends several messages at once,
 * and the daemon wakes up less often. */
#define PROXY_HOLD_MS 100

/* The most subscriptions of all hosts together, and the most bytes of a topic. */
#define PROXY_SUBSCRIPTIONS_MAX 1024
#define PROXY_TOPIC_BYTES       256

struct proxy_subscription {
	struct host *host;
	char *topic;
	size_t topic_size;
};

/* A host with sent messages. */
struct proxy_sender {
	const struct host *host;
	uint64_t paid_ms; /* the time until which its messages are paid for */
};

/* A zeroed proxy is ready for use. */
struct proxy {
	struct proxy_subscription *subscriptions;
	size_t n_subscriptions;
	struct proxy_sender *senders;
	size_t n_senders;
	struct log_rate refused;
	struct log_rate lost;
	struct log_rate held;
};

/* Free the subscriptions and senders. */
void proxy_deinit(struct proxy *proxy);

/* Act on @object, sent by @host as the JSON @text of @size bytes (NULL: not an object). Any object
 * but the two above is logged and dropped. May hold the host. @toolbox_id is for the log. */
void proxy_on_bus_message(struct proxy *proxy, struct bus *bus, struct host *host,
	const char *toolbox_id, const struct json_tape *object, const char *text, size_t size);

/* Forget @host, which is gone. */
void proxy_forget(struct proxy *proxy, const struct host *host);

/* Return whether a host has subscribed to this topic. */
bool proxy_wants(const struct proxy *proxy, const char *topic, size_t size);

/* Send the frame @text with this topic to each host that has subscribed to it. */
void proxy_deliver(
	struct proxy *proxy, const char *topic, size_t topic_size, const char *text, size_t size);
