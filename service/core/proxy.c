/* SPDX-License-Identifier: Apache-2.0 */
#include "core/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/share.h"
#include "util/stringify.h"

void proxy_deinit(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		free(proxy->subscriptions[i].topic);
	free(proxy->subscriptions);
	free(proxy->senders);
	*proxy = (struct proxy){0};
}

static bool is_topic(const struct proxy_subscription *subscription, const char *topic, size_t size)
{
	return subscription->topic_size == size && memcmp(subscription->topic, topic, size) == 0;
}

static void remove_subscription(struct proxy *proxy, struct proxy_subscription *subscription)
{
	free(subscription->topic);
	*subscription = proxy->subscriptions[--proxy->n_subscriptions];
}

/* Return the subscription of @host to @topic, or NULL. */
static struct proxy_subscription *find_subscription(
	const struct proxy *proxy, const struct host *host, const char *topic, size_t size)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		if (proxy->subscriptions[i].host == host &&
			is_topic(&proxy->subscriptions[i], topic, size))
			return &proxy->subscriptions[i];
	return NULL;
}

static size_t count_subscriptions(const struct proxy *proxy, const struct host *host)
{
	size_t count = 0;

	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		count += proxy->subscriptions[i].host == host;
	return count;
}

/* Subscribe @host to @topic, which is taken over unless @host has it. Returns NULL, or the reason
 * it was refused. */
static const char *subscribe(struct proxy *proxy, struct host *host, char **topic, size_t size)
{
	size_t own;

	if (size == 0 || size > PROXY_TOPIC_BYTES)
		return "a topic to subscribe to must be 1 to " STRINGIFY(
			PROXY_TOPIC_BYTES) " bytes long";
	if (find_subscription(proxy, host, *topic, size))
		return NULL;
	if (proxy->n_subscriptions >= PROXY_SUBSCRIPTIONS_MAX)
		return "there are " STRINGIFY(PROXY_SUBSCRIPTIONS_MAX) " subscriptions already";
	own = count_subscriptions(proxy, host);
	if (own >= share_of(PROXY_SUBSCRIPTIONS_MAX, proxy->n_subscriptions - own))
		return "the toolbox has half of the subscriptions that others leave of " STRINGIFY(
			PROXY_SUBSCRIPTIONS_MAX);
	if (array_grow(proxy->subscriptions, proxy->n_subscriptions) < 0)
		return strerror(ENOMEM);
	proxy->subscriptions[proxy->n_subscriptions++] = (struct proxy_subscription){
		.host = host, .topic = take_ptr(*topic), .topic_size = size};
	return NULL;
}

static const char *take_subscription(
	struct proxy *proxy, struct host *host, const struct json_tape *object, uint32_t token)
{
	uint32_t wanted = json_find(object, 0, "wanted");
	struct proxy_subscription *subscription;
	cleanup_free char *topic = NULL;
	size_t size;

	if (json_type_at(object, token) != JSON_STRING || wanted == JSON_NONE)
		return "expected {\"subscribe\": a topic, \"wanted\": a boolean}";
	topic = json_string_dup(object, token, &size);
	if (!topic)
		return strerror(ENOMEM);
	if (json_is_true(object, wanted))
		return subscribe(proxy, host, &topic, size);
	subscription = find_subscription(proxy, host, topic, size);
	if (subscription)
		remove_subscription(proxy, subscription);
	return NULL;
}

/* Return whether the member @key is absent, null, or an object. */
static bool is_object_or_none(const struct json_tape *object, const char *key)
{
	uint32_t token = json_find_root(object, key);

	return token == JSON_NONE || json_type_at(object, token) == JSON_OBJECT;
}

/* Return whether @object is a message of OVOS-MSG-1, without other keys. */
static bool is_message(const struct json_tape *object)
{
	static const char *const keys[] = {"type", "data", "context"};
	uint32_t type = json_find_typed_at(object, 0, "type", JSON_STRING);
	uint32_t n_known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		n_known += json_find(object, 0, keys[i]) != JSON_NONE;
	return n_known == json_count(object, 0) && type != JSON_NONE &&
	       json_string_points(object, type) > 0 && is_object_or_none(object, "data") &&
	       is_object_or_none(object, "context");
}

/* ── the rate ────────────────────────────────────────────────────────────────────────────────── */

/* Return the sender @host, which is added if need be; NULL without memory: it is not held then. */
static struct proxy_sender *find_sender(struct proxy *proxy, const struct host *host)
{
	for (size_t i = 0; i < proxy->n_senders; i++)
		if (proxy->senders[i].host == host)
			return &proxy->senders[i];
	if (array_grow(proxy->senders, proxy->n_senders) < 0)
		return NULL;
	proxy->senders[proxy->n_senders] = (struct proxy_sender){.host = host};
	return &proxy->senders[proxy->n_senders++];
}

static void log_held(struct proxy *proxy, const char *toolbox_id)
{
	log_limited(&proxy->held, LOG_LEVEL_WARNING,
		"Toolbox %s: a tool sends more than %d messages a second to the bus; its host has "
		"to wait",
		toolbox_id, (int)(MS_PER_S / PROXY_MESSAGE_MS));
}

/* Let @host pay @price_ms for a message, and hold it while it is too far ahead. */
static void charge_sender(
	struct proxy *proxy, struct host *host, const char *toolbox_id, uint64_t price_ms)
{
	struct proxy_sender *sender = find_sender(proxy, host);
	uint64_t now_ms = clock_now_ms();

	if (!sender)
		return;
	if (sender->paid_ms < now_ms)
		sender->paid_ms = now_ms;
	sender->paid_ms += price_ms;
	if (sender->paid_ms <= now_ms + PROXY_BURST_MS)
		return;
	log_held(proxy, toolbox_id);
	host_hold(host, sender->paid_ms - now_ms - PROXY_BURST_MS + PROXY_HOLD_MS);
}

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

/* Return the reason why the text is no JSON object: a constant text. */
static const char *find_mistake(const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;

	if (json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, &error) > 0)
		return error.message;
	return "expected a JSON object of no more values than a message may have";
}

/* Send the message. bus_send() counts and logs one that cannot be queued. */
static void send_message(struct bus *bus, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	bus_message_begin(&message);
	buffer_append(&message, text, size);
	bus_send(bus, &message, BUS_SHARE_OWN);
}

void proxy_on_bus_message(struct proxy *proxy, struct bus *bus, struct host *host,
	const char *toolbox_id, const struct json_tape *object, const char *text, size_t size)
{
	uint32_t token = object ? json_find(object, 0, "subscribe") : JSON_NONE;
	uint64_t price_ms = token == JSON_NONE ? PROXY_MESSAGE_MS : PROXY_SUBSCRIPTION_MS;
	const char *reason = NULL;

	if (!object) {
		reason = find_mistake(text, size);
	} else if (token != JSON_NONE) {
		reason = take_subscription(proxy, host, object, token);
	} else if (is_message(object)) {
		send_message(bus, text, size);
	} else {
		reason = "expected {\"type\": a string, \"data\": an object, \"context\": an "
			 "object}";
	}
	if (reason)
		log_limited(&proxy->refused, LOG_LEVEL_WARNING,
			"Toolbox %s: a message of a tool was dropped: %s", toolbox_id, reason);
	charge_sender(
		proxy, host, toolbox_id, price_ms + PROXY_MESSAGE_MS * (size / PROXY_PART_BYTES));
}

void proxy_forget(struct proxy *proxy, const struct host *host)
{
	for (size_t i = proxy->n_subscriptions; i > 0; i--)
		if (proxy->subscriptions[i - 1].host == host)
			remove_subscription(proxy, &proxy->subscriptions[i - 1]);
	for (size_t i = proxy->n_senders; i > 0; i--)
		if (proxy->senders[i - 1].host == host)
			proxy->senders[i - 1] = proxy->senders[--proxy->n_senders];
}

bool proxy_wants(const struct proxy *proxy, const char *topic, size_t size)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		if (is_topic(&proxy->subscriptions[i], topic, size))
			return true;
	return false;
}

void proxy_deliver(
	struct proxy *proxy, const char *topic, size_t topic_size, const char *text, size_t size)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++) {
		const struct proxy_subscription *subscription = &proxy->subscriptions[i];

		if (is_topic(subscription, topic, topic_size) &&
			host_send_bus_message(subscription->host, text, size) == -ENOBUFS)
			log_limited(&proxy->lost, LOG_LEVEL_WARNING,
				"A toolbox host does not read the topics that it has subscribed "
				"to; it loses a message '%s'",
				subscription->topic);
	}
}
