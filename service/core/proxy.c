/* SPDX-License-Identifier: Apache-2.0 */
#include "core/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/clock.h"

void proxy_deinit(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->n_subscriptions; i++)
		free(proxy->subscriptions[i].topic);
	free(proxy->subscriptions);
	*proxy = (struct proxy){0};
}

static bool is_topic(const struct proxy_subscription *subscription, const char *topic, size_t size)
{
	return subscription->topic_size == size && memcmp(subscription->topic, topic, size) == 0;
}

static void refuse(struct proxy *proxy, const char *toolbox_id, const char *why)
{
	uint64_t suppressed;

	if (log_rate_allows(&proxy->refused, clock_now_ms(), &suppressed))
		log_warning("Toolbox %s: what a tool said to the bus was dropped: %s (%llu like it "
			    "were not logged)",
			toolbox_id, why, (unsigned long long)suppressed);
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

void proxy_said(struct proxy *proxy, struct bus *bus, struct host *host, const char *toolbox_id,
	const struct json_tape *object, const char *text, size_t size)
{
	uint32_t token = json_find(object, 0, "subscribe");
	cleanup(buffer_deinit) struct buffer message = {0};
	const char *why = NULL;

	if (token != JSON_NONE) {
		why = take_subscription(proxy, host, object, token);
	} else if (!is_message(object)) {
		why = "expected {\"type\": a string, \"data\": an object, \"context\": an object}";
	} else {
		bus_message_begin(&message);
		buffer_append(&message, text, size);
		/* What cannot be queued is counted and logged there. */
		bus_send(bus, &message);
	}
	if (why)
		refuse(proxy, toolbox_id, why);
}

void proxy_forget(struct proxy *proxy, const struct host *host)
{
	for (size_t i = proxy->n_subscriptions; i > 0; i--)
		if (proxy->subscriptions[i - 1].host == host)
			remove_at(proxy, i - 1);
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
	uint64_t suppressed;

	for (size_t i = 0; i < proxy->n_subscriptions; i++) {
		const struct proxy_subscription *subscription = &proxy->subscriptions[i];

		if (is_topic(subscription, topic, topic_size) &&
			host_tell(subscription->host, text, size) == -ENOBUFS &&
			log_rate_allows(&proxy->lost, clock_now_ms(), &suppressed))
			log_warning("A toolbox host does not read what it has subscribed to; a "
				    "message '%s' is lost for it (%llu like it were not logged)",
				subscription->topic, (unsigned long long)suppressed);
	}
}
