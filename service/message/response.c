/* SPDX-License-Identifier: Apache-2.0 */
#include "message/response.h"

#include <string.h>

#include "json/writer.h"
#include "message/spares.h"
#include "util/assert.h"
#include "util/siphash.h"

/*
 * A response derives its context from the request's (OVOS-MSG-1 §5):
 *
 *   request has       response gets
 *   source            destination = source          (source stays)
 *   both              source and destination swapped
 *   destination       source = destination          (destination stays)
 *   neither           the same context
 *
 * The first element of a list `destination` becomes the source; null, "" and [] count as absent.
 * The context is never rebuilt. At most two places of its text are edited, everything between them
 * is copied as it came:
 *
 *   {"session": {…}, "source": "skill", "n": 1.10 }
 *   ───────────copied─────────────────────────── ▲
 *                                      insert `, "destination": "skill"`
 */

/* Most responses have fewer bytes beside their context. */
#define RESPONSE_BYTES 256

_Thread_local struct spares spares_of_thread;

/* Begin @message with room for @size bytes. */
static void begin_sized(struct buffer *message, size_t size)
{
	spares_take(message, size);
	if (!buffer_reserve(message, size))
		return;
	memset(message->data + message->size, 0, BUS_MESSAGE_ROOM_BYTES);
	message->size += BUS_MESSAGE_ROOM_BYTES;
}

void bus_message_begin(struct buffer *message)
{
	begin_sized(message, BUS_MESSAGE_ROOM_BYTES);
}

/* Put @text, after @before, in the place of the bytes from @start to @end of the context. */
struct edit {
	const char *start;
	const char *end;
	const char *before;
	const char *text;
	size_t text_size;
};

struct context_edits {
	const struct json_tape *context;
	struct edit edits[2];
	unsigned int count;
};

/* Return @value, a token or JSON_NONE, unless it counts as absent; else JSON_NONE. */
static uint32_t if_present(const struct json_tape *context, uint32_t value)
{
	enum json_type type;

	if (value == JSON_NONE)
		return JSON_NONE;
	type = json_type_at(context, value);
	if (type == JSON_NULL || (type == JSON_STRING && json_at(context, value)->length == 0) ||
		(type == JSON_ARRAY && json_count(context, value) == 0))
		return JSON_NONE;
	return value;
}

/* Return the end of the last member of the context, which has one. */
static const char *members_end(const struct json_tape *context)
{
	size_t size;
	const char *text = json_value_text(context, 0, &size);
	const char *end = text + size - 1;

	while (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n' || end[-1] == '\r')
		end--;
	return end;
}

/* Give the member whose value is @present the text of the value @value; a new member begins with
 * @before. */
static void set_member(
	struct context_edits *edits, uint32_t present, const char *before, uint32_t value)
{
	struct edit *edit = &edits->edits[edits->count++];
	size_t size;

	edit->text = json_value_text(edits->context, value, &edit->text_size);
	if (present == JSON_NONE) {
		edit->start = members_end(edits->context);
		edit->end = edit->start;
		edit->before = before;
	} else {
		edit->start = json_value_text(edits->context, present, &size);
		edit->end = edit->start + size;
		edit->before = "";
	}
}

static uint32_t first_of_list(const struct json_tape *context, uint32_t value)
{
	return json_type_at(context, value) == JSON_ARRAY ? json_first(context, value) : value;
}

static void find_edits(struct context_edits *edits, const struct bus_envelope *envelope)
{
	uint32_t source = if_present(edits->context, envelope->source);
	uint32_t destination = if_present(edits->context, envelope->destination);

	if (source != JSON_NONE)
		set_member(edits, envelope->destination, ", \"destination\": ", source);
	if (destination != JSON_NONE)
		set_member(edits, envelope->source,
			", \"source\": ", first_of_list(edits->context, destination));
}

static void order_edits(struct context_edits *edits)
{
	struct edit first = edits->edits[0];

	if (edits->count < 2 || first.start < edits->edits[1].start)
		return;
	edits->edits[0] = edits->edits[1];
	edits->edits[1] = first;
}

void bus_context_derive(const struct bus_envelope *envelope, struct buffer *out)
{
	struct context_edits edits = {.context = &envelope->context};
	size_t size;
	const char *at = json_value_text(edits.context, 0, &size);
	const char *end = at + size;

	find_edits(&edits, envelope);
	order_edits(&edits);
	for (unsigned int i = 0; i < edits.count; i++) {
		const struct edit *edit = &edits.edits[i];

		buffer_append(out, at, (size_t)(edit->start - at));
		buffer_append_string(out, edit->before);
		buffer_append(out, edit->text, edit->text_size);
		at = edit->end;
	}
	buffer_append(out, at, (size_t)(end - at));
}

/* Write the message up to its context. It is given memory once, if it has at most @size bytes. */
static void begin_message(struct buffer *message, const char *topic, size_t topic_size, size_t size)
{
	begin_sized(message, size);
	buffer_append_string(message, "{\"type\": ");
	json_write_string(message, topic, topic_size);
	buffer_append_string(message, ", \"context\": ");
}

static void begin_data(struct buffer *message)
{
	buffer_append_string(message, ", \"data\": ");
}

/* Append the member @key with the value at @value, unless that is JSON_NONE. */
static void append_member(
	struct buffer *out, const char *key, const struct json_tape *context, uint32_t value)
{
	size_t size;
	const char *text;

	if (value == JSON_NONE)
		return;
	text = json_value_text(context, value, &size);
	if (out->data[out->size - 1] != '{')
		buffer_append_string(out, ", ");
	json_write_key(out, key);
	buffer_append(out, text, size);
}

/* The pair of bus_context_derive(): where one of the two is absent, the other stays. */
static void derive_short(const struct bus_envelope *envelope, struct buffer *out)
{
	const struct json_tape *context = &envelope->context;
	uint32_t source = if_present(context, envelope->source);
	uint32_t destination = if_present(context, envelope->destination);

	buffer_append_char(out, '{');
	if (!out->data)
		return;
	append_member(out, "session", context, envelope->session);
	append_member(out, "source", context,
		destination == JSON_NONE ? source : first_of_list(context, destination));
	append_member(out, "destination", context, source == JSON_NONE ? destination : source);
	buffer_append_char(out, '}');
}

/* Return the size of the text of @value; 0 of JSON_NONE. */
static size_t value_size(const struct json_tape *context, uint32_t value)
{
	size_t size = 0;

	if (value != JSON_NONE)
		json_value_text(context, value, &size);
	return size;
}

size_t bus_context_size(const struct bus_envelope *envelope, enum bus_context_part part)
{
	const struct json_tape *context = &envelope->context;
	size_t source = value_size(context, envelope->source);
	size_t destination = value_size(context, envelope->destination);
	size_t size = 0;

	if (part == BUS_CONTEXT_EMPTY)
		return 0;
	if (part == BUS_CONTEXT_WHOLE) {
		json_value_text(context, 0, &size);
		return size + source + destination;
	}
	return value_size(context, envelope->session) + 2 * (source + destination);
}

unsigned int bus_response_share(const struct bus_envelope *envelope)
{
	struct siphash_key key = siphash_process_key();
	uint32_t source = if_present(&envelope->context, envelope->source);
	struct siphash hash;
	const char *text = "";
	size_t size = 0;

	if (source != JSON_NONE)
		text = json_value_text(&envelope->context, source, &size);
	siphash_init(&hash, &key);
	siphash_bytes(&hash, text, size);
	return (unsigned int)(siphash_finish(&hash) % (BUS_SHARES - 1)) + 1;
}

void bus_response_begin_part(
	struct buffer *message, const struct bus_envelope *envelope, enum bus_context_part part)
{
	static const char suffix[] = ".response";
	char topic[BUS_TOPIC_BYTES + sizeof(suffix)];

	memcpy(topic, envelope->topic, envelope->topic_size);
	memcpy(topic + envelope->topic_size, suffix, sizeof(suffix));
	begin_message(message, topic, envelope->topic_size + sizeof(suffix) - 1,
		bus_context_size(envelope, part) + RESPONSE_BYTES);
	if (part == BUS_CONTEXT_WHOLE)
		bus_context_derive(envelope, message);
	else if (part == BUS_CONTEXT_SHORT)
		derive_short(envelope, message);
	else
		buffer_append_string(message, "{}");
	begin_data(message);
}

void bus_response_begin(struct buffer *message, const struct bus_envelope *envelope)
{
	bus_response_begin_part(message, envelope, BUS_CONTEXT_WHOLE);
}

void bus_broadcast_begin(struct buffer *message, const char *topic, const char *source)
{
	begin_message(message, topic, strlen(topic), RESPONSE_BYTES);
	buffer_append_string(message, "{\"source\": ");
	json_write_text(message, source);
	buffer_append_string(message, ", \"session\": {\"session_id\": \"default\"}}");
	begin_data(message);
}

void bus_aside_begin(struct buffer *message, const char *topic, const struct buffer *response,
	size_t response_head)
{
	static const char before[] = ", \"context\": ";
	static const char after[] = ", \"data\": ";
	const char *end = response->data + response_head - strlen(after);
	const char *start = memmem(response->data, response_head, before, strlen(before));

	check(start && start + strlen(before) < end);
	start += strlen(before);
	begin_message(message, topic, strlen(topic), RESPONSE_BYTES);
	buffer_append(message, start, (size_t)(end - start));
	begin_data(message);
}

void bus_request_begin(struct buffer *message, const char *topic, const char *context)
{
	begin_message(message, topic, strlen(topic), RESPONSE_BYTES);
	buffer_append_string(message, context);
	begin_data(message);
}
