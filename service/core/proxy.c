/* SPDX-License-Identifier: Apache-2.0 */
#include "core/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/clock.h"

#define MS_PER_S 1000

void proxy_deinit(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		free(proxy->subscriptions[i].topic);
	free(proxy->subscriptions);
	free(proxy->speakers);
	*proxy = (struct proxy){0};
}

static bool is_topic(const struct proxy_subscription *subscription, const char *topic, size_t size)
{
	return subscription->topic_size == size && memcmp(subscription->topic, topic, size) == 0;
}

static void refuse(struct proxy *proxy, const char *toolbox_id, const char *why)
{
	log_limited(&proxy->refused, LOG_LEVEL_WARNING,
		"Toolbox %s: a message of a tool was dropped: %s", toolbox_id, why);
}

static void remove_at(struct proxy *proxy, size_t index)
{
	free(proxy->subscriptions[index].topic);
	proxy->subscriptions[index] = proxy->subscriptions[--proxy->n_subscriptions];
}

static void unsubscribe(
	struct proxy *proxy, const struct host *host, const char *topic, size_t size)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		if (proxy->subscriptions[i].host == host &&
			is_topic(&proxy->subscriptions[i], topic, size)) {
			remove_at(proxy, i);
			return;
		}
}

/* NULL, or why not. @topic is taken over when it is kept. */
static const char *subscribe(struct proxy *proxy, struct host *host, char **topic, size_t size)
{
	struct proxy_subscription *grown;

	if (size == 0 || size > PROXY_TOPIC_BYTES)
		return "a topic to subscribe to must be 1 to 256 bytes long";
	if (proxy->n_subscriptions >= PROXY_SUBSCRIPTIONS_MAX)
		return "there are 1024 subscriptions already";
	unsubscribe(proxy, host, *topic, size);
	grown = reallocarray(
		proxy->subscriptions, proxy->n_subscriptions + 1, sizeof(*proxy->subscriptions));
	if (!grown)
		return strerror(ENOMEM);
	proxy->subscriptions = grown;
	grown[proxy->n_subscriptions++] = (struct proxy_subscription){
		.host = host, .topic = take_ptr(*topic), .topic_size = size};
	return NULL;
}

static const char *take_subscription(
	struct proxy *proxy, struct host *host, const struct json_tape *object, uint32_t token)
{
	uint32_t wanted = json_find(object, 0, "wanted");
	cleanup_free char *topic = NULL;
	size_t size;

	if (json_type_at(object, token) != JSON_STRING || wanted == JSON_NONE)
		return "expected {\"subscribe\": a topic, \"wanted\": a boolean}";
	topic = json_string_dup(object, token, &size);
	if (!topic)
		return strerror(ENOMEM);
	if (json_is_true(object, wanted))
		return subscribe(proxy, host, &topic, size);
	unsubscribe(proxy, host, topic, size);
	return NULL;
}

/* Absent, null, or of the type. */
static bool is_or_none(const struct json_tape *object, const char *key, enum json_type type)
{
	uint32_t token = json_find(object, 0, key);

	return token == JSON_NONE || json_type_at(object, token) == JSON_NULL ||
	       json_type_at(object, token) == type;
}

/* What OVOS-MSG-1 calls a message, and no key besides. */
static bool is_message(const struct json_tape *object)
{
	static const char *const keys[] = {"type", "data", "context"};
	uint32_t type = json_find(object, 0, "type");
	uint32_t n_known = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		n_known += json_find(object, 0, keys[i]) != JSON_NONE;
	return n_known == json_count(object, 0) && type != JSON_NONE &&
	       json_type_at(object, type) == JSON_STRING && json_string_points(object, type) > 0 &&
	       is_or_none(object, "data", JSON_OBJECT) &&
	       is_or_none(object, "context", JSON_OBJECT);
}

/* ── the rate ────────────────────────────────────────────────────────────────────────────────── */

/* NULL without memory: then it is not held, either. */
static struct proxy_speaker *find_speaker(struct proxy *proxy, const struct host *host)
{
	struct proxy_speaker *grown;

	for (size_t i = 0; i < proxy->n_speakers; i++)
		if (proxy->speakers[i].host == host)
			return &proxy->speakers[i];
	grown = reallocarray(proxy->speakers, proxy->n_speakers + 1, sizeof(*proxy->speakers));
	if (!grown)
		return NULL;
	proxy->speakers = grown;
	grown[proxy->n_speakers] = (struct proxy_speaker){.host = host};
	return &grown[proxy->n_speakers++];
}

static void log_held(struct proxy *proxy, const char *toolbox_id)
{
	log_limited(&proxy->held, LOG_LEVEL_WARNING,
		"Toolbox %s: a tool sends more than %d messages a second to the bus; its host has "
		"to wait",
		toolbox_id, MS_PER_S / PROXY_MESSAGE_MS);
}

/* Let @host pay for what it has said: it is held while it is too far ahead. */
static void charge(
	struct proxy *proxy, struct host *host, const char *toolbox_id, uint64_t price_ms)
{
	struct proxy_speaker *speaker = find_speaker(proxy, host);
	uint64_t now_ms = clock_now_ms();

	if (!speaker)
		return;
	if (speaker->paid_ms < now_ms)
		speaker->paid_ms = now_ms;
	speaker->paid_ms += price_ms;
	if (speaker->paid_ms <= now_ms + PROXY_BURST_MS)
		return;
	log_held(proxy, toolbox_id);
	host_hold(host, speaker->paid_ms - now_ms - PROXY_BURST_MS + PROXY_HOLD_MS);
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

/* Why this was no object: a constant text. */
static const char *find_mistake(const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;

	if (json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, &error) > 0)
		return error.message;
	return "expected a JSON object";
}

/* Say it; what cannot be queued is counted and logged there. */
static void pass_on(struct bus *bus, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	bus_message_begin(&message);
	buffer_append(&message, text, size);
	bus_send(bus, &message);
}

void proxy_said(struct proxy *proxy, struct bus *bus, struct host *host, const char *toolbox_id,
	const struct json_tape *object, const char *text, size_t size)
{
	uint32_t token = object ? json_find(object, 0, "subscribe") : JSON_NONE;
	uint64_t price_ms = token == JSON_NONE ? PROXY_MESSAGE_MS : PROXY_SUBSCRIPTION_MS;
	const char *why = NULL;

	if (!object) {
		why = find_mistake(text, size);
	} else if (token != JSON_NONE) {
		why = take_subscription(proxy, host, object, token);
	} else if (is_message(object)) {
		pass_on(bus, text, size);
	} else {
		why = "expected {\"type\": a string, \"data\": an object, \"context\": an object}";
	}
	if (why)
		refuse(proxy, toolbox_id, why);
	charge(proxy, host, toolbox_id, price_ms + PROXY_MESSAGE_MS * (size / PROXY_PART_BYTES));
}

void proxy_forget(struct proxy *proxy, const struct host *host)
{
	for (size_t i = proxy->n_subscriptions; i > 0; i--)
		if (proxy->subscriptions[i - 1].host == host)
			remove_at(proxy, i - 1);
	for (size_t i = proxy->n_speakers; i > 0; i--)
		if (proxy->speakers[i - 1].host == host)
			proxy->speakers[i - 1] = proxy->speakers[--proxy->n_speakers];
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
