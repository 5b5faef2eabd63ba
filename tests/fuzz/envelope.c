/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * Any bytes as a frame. Three ways to look at them must agree:
 *
 *   the topic scan  ──┐
 *   the same, cut   ──┼── and the response to it must hold the context, byte for byte but for the
 *   the full read   ──┤   routing pair, in a message that can itself be read
 *   the JSON reader ──┘
 *
 * The same bytes as the arguments of a request without a message, too.
 */

/* A context that is no longer is kept whole. */
#define CONTEXT_WHOLE_BYTES 16384

#define DEPTH_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

struct topic {
	int status;
	char text[BUS_TOPIC_BYTES];
	size_t size;
};

static struct topic scan(const char *text, size_t size)
{
	struct topic topic = {0};

	topic.status = bus_topic_scan(text, size, topic.text, &topic.size);
	expect(topic.status != 0 || (topic.size > 0 && topic.size < BUS_TOPIC_BYTES));
	return topic;
}

static bool topics_agree(const struct topic *a, const char *text, size_t size)
{
	return a->status == 0 && a->size == size && memcmp(a->text, text, size) == 0;
}

/* The whole frame must not contradict a part of it. */
static void check_cut(const struct topic *whole, const char *text, size_t size)
{
	struct topic cut = scan(text, size);

	if (cut.status == 0)
		expect(topics_agree(whole, cut.text, cut.size));
	else if (cut.status == BUS_E_NO_TOPIC)
		expect(whole->status == BUS_E_NO_TOPIC);
}

/* Return whether the member @key is allowed in an envelope: absent, null or an object. */
static bool is_object_or_nothing(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find(tape, object, key);

	return value == JSON_NONE || json_type_at(tape, value) == JSON_NULL ||
	       json_type_at(tape, value) == JSON_OBJECT;
}

static bool is_message(const struct json_tape *tape, const struct topic *topic)
{
	uint32_t context;

	if (json_type_at(tape, 0) != JSON_OBJECT || topic->status != 0)
		return false;
	context = json_find(tape, 0, "context");
	return is_object_or_nothing(tape, 0, "data") && is_object_or_nothing(tape, 0, "context") &&
	       (context == JSON_NONE || json_type_at(tape, context) == JSON_NULL ||
		       is_object_or_nothing(tape, context, "session"));
}

/* The reader, over the whole text at once, against the envelope's reading in parts. */
static void check_reading(int status, const struct bus_envelope *envelope,
	const struct topic *topic, const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int whole = json_tape_read(&tape, text, size, DEPTH_MAX + 1, NULL);

	if (whole == 0)
		expect((status == 0) == is_message(&tape, topic));
	if (whole == 0 && status == 0)
		expect(envelope->data_status == 0);
	if (status == 0 && whole != 0)
		expect(whole == JSON_E_DUPLICATE_KEY || whole == JSON_E_NUL_IN_KEY ||
			whole == JSON_E_DEPTH ||
			json_tape_read_lax(&tape, text, size, UINT32_MAX, NULL) == 0);
}

static bool values_equal(
	const struct json_tape *a, uint32_t a_index, const struct json_tape *b, uint32_t b_index)
{
	size_t a_size;
	size_t b_size;
	const char *a_text = json_value_text(a, a_index, &a_size);
	const char *b_text = json_value_text(b, b_index, &b_size);

	return a_size == b_size && memcmp(a_text, b_text, a_size) == 0;
}

static uint32_t present(const struct json_tape *tape, const char *key)
{
	uint32_t value = json_find(tape, 0, key);
	size_t size;

	if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL)
		return JSON_NONE;
	json_value_text(tape, value, &size);
	if (json_type_at(tape, value) == JSON_STRING && size == 2)
		return JSON_NONE;
	if (json_type_at(tape, value) == JSON_ARRAY &&
		json_first(tape, value) == json_end(tape, value))
		return JSON_NONE;
	return value;
}

/* The member @key of the derived context is the value @expected of the request's; where nothing
 * is expected, what it was. */
static void check_routing(const struct json_tape *request, const struct json_tape *derived,
	const char *key, uint32_t expected)
{
	uint32_t value = json_find(derived, 0, key);

	if (expected == JSON_NONE)
		expected = json_find(request, 0, key);
	if (expected == JSON_NONE) {
		expect(value == JSON_NONE);
		return;
	}
	expect(value != JSON_NONE && values_equal(request, expected, derived, value));
}

static bool is_routing_key(const struct json_tape *tape, uint32_t key)
{
	return json_string_equals(tape, key, "source", 6) ||
	       json_string_equals(tape, key, "destination", 11);
}

/* Keys in their order, values as they were. */
static void check_members(const struct json_tape *request, const struct json_tape *derived)
{
	uint32_t at = json_first(derived, 0);

	for (uint32_t key = json_first(request, 0); key < json_end(request, 0);
		key = json_next_key(request, key)) {
		expect(at < json_end(derived, 0));
		expect(values_equal(request, key, derived, at));
		if (!is_routing_key(request, key))
			expect(values_equal(request, key + 1, derived, at + 1));
		at = json_next_key(derived, at);
	}
	for (; at < json_end(derived, 0); at = json_next_key(derived, at))
		expect(is_routing_key(derived, at));
}

static void check_context(const struct json_tape *request, const struct json_tape *derived)
{
	uint32_t source = present(request, "source");
	uint32_t destination = present(request, "destination");
	uint32_t reply_source = destination;

	if (destination != JSON_NONE && json_type_at(request, destination) == JSON_ARRAY)
		reply_source = json_first(request, destination);
	check_routing(request, derived, "source", reply_source);
	check_routing(request, derived, "destination", source);
	check_members(request, derived);
}

static void check_response(const struct bus_envelope *request)
{
	cleanup(bus_envelope_deinit) struct bus_envelope response = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	const char *text;
	size_t size;
	int status;

	bus_response_begin(&message, request);
	buffer_append_string(&message, "{}");
	bus_message_end(&message);
	expect(buffer_status(&message) == 0);
	text = bus_message_text(&message, &size);
	status = bus_envelope_read(&response, text, size, DEPTH_MAX);
	if (request->topic_size + strlen(".response") < BUS_TOPIC_BYTES) {
		expect(status == 0);
		expect(memcmp(response.topic, request->topic, request->topic_size) == 0);
		expect(strcmp(response.topic + request->topic_size, ".response") == 0);
		check_context(&request->context, &response.context);
	}
}

/* The members that are kept of an object are among its own, in order. */
static void check_kept(const struct json_tape *kept, const struct json_tape *whole)
{
	uint32_t at = json_first(whole, 0);

	for (uint32_t key = json_first(kept, 0); key < json_end(kept, 0);
		key = json_next_key(kept, key)) {
		while (at < json_end(whole, 0) && !values_equal(kept, key, whole, at))
			at = json_next_key(whole, at);
		expect(at < json_end(whole, 0));
		expect(values_equal(kept, key + 1, whole, at + 1));
		at = json_next_key(whole, at);
	}
}

/* A valid message, skimmed. */
static void check_skimmed(const struct bus_envelope *whole, const char *text, size_t size)
{
	static struct bus_envelope skimmed;
	int status = bus_envelope_skim(&skimmed, text, size, DEPTH_MAX);

	/* The rest after a key that is there twice was not read, and may be no JSON. */
	expect(status == 0 || (status == BUS_E_MALFORMED && whole->data_status != 0));
	if (status != 0)
		return;
	expect(strcmp(skimmed.topic, whole->topic) == 0);
	check_kept(&skimmed.context, &whole->context);
	if (whole->context.size <= CONTEXT_WHOLE_BYTES)
		expect(values_equal(&skimmed.context, 0, &whole->context, 0));
	if (whole->data_status != 0)
		return;
	expect(skimmed.data_status == 0);
	check_kept(&skimmed.data, &whole->data);
}

/* A valid message, with a bound of values: it is refused, or its tapes keep the bound. */
static void check_bound(const struct bus_envelope *whole, const char *text, size_t size)
{
	static struct bus_envelope bound = {.values_max = 24};
	uint32_t values = whole->data.count + whole->context.count;
	int status = bus_envelope_read(&bound, text, size, DEPTH_MAX);

	expect(status == 0 || (status == BUS_E_MALFORMED && bound.fault.part));
	if (status == 0 && bound.data_status == 0)
		expect(bound.data.count + bound.context.count <= bound.values_max + 2);
	if (whole->data_status == 0 && values > bound.values_max + 2)
		expect(status != 0 || bound.data_status == JSON_E_TOKENS);
}

/* Any bytes as the arguments of a request by another door. Good arguments are the same value as
 * in a message around them, which has no other member by that. */
static void check_filled(const char *text, size_t size)
{
	static struct bus_envelope filled;
	static struct bus_envelope whole;
	struct text_view args = {text, size};
	struct buffer message = {0};
	int status = bus_envelope_fill(
		&filled, "t", &TEXT_VIEW("{\"name\":\"n\"}"), &args, false, DEPTH_MAX);

	expect(status == 0 || (status == BUS_E_MALFORMED && filled.fault.offset <= size));
	expect(filled.has_args == (status == 0 && filled.data_status == 0));
	if (!filled.has_args)
		return;
	buffer_append_string(&message, "{\"type\":\"t\",\"data\":{\"name\":\"n\",\"args\":");
	buffer_append(&message, text, size);
	buffer_append_string(&message, "}}");
	expect(buffer_status(&message) == 0);
	expect(bus_envelope_read(&whole, message.data, message.size, DEPTH_MAX) == 0);
	expect(whole.data_status == 0 && json_count(&whole.data, 0) == 2);
	expect(values_equal(&whole.data, json_find(&whole.data, 0, "args"), &filled.args, 0));
	buffer_deinit(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bus_envelope envelope;
	char *text = malloc(size ? size : 1); /* a block of its own: the sanitizer sees its end */
	struct topic topic;
	int status;

	expect(text != NULL);
	memcpy(text, data, size);
	topic = scan(text, size);
	check_cut(&topic, text, size / 2);
	check_cut(&topic, text, size - size / 8);
	check_filled(text, size);
	status = bus_envelope_read(&envelope, text, size, DEPTH_MAX);
	check_reading(status, &envelope, &topic, text, size);
	if (status == 0) {
		expect(topics_agree(&topic, envelope.topic, envelope.topic_size));
		check_response(&envelope);
		check_skimmed(&envelope, text, size);
		check_bound(&envelope, text, size);
	} else {
		expect(status == BUS_E_MALFORMED && envelope.fault.part);
		expect(envelope.fault.offset <= size);
		check_response(&envelope);
	}
	free(text);
	return 0;
}
