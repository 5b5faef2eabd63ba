/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/envelope.h"
#include "json/writer.h"

/*
 * Messages of ours, from their first byte to where the data goes, and the derivation of a
 * response's context (OVOS-MSG-1 §5).
 *
 *   request has       response gets
 *   source            destination = source          (source stays)
 *   both              source and destination swapped
 *   destination       source = destination          (destination stays)
 *   neither           what it had
 *
 * Of a list `destination` its first element becomes the source; null, "" and [] count as absent.
 * The context is never rebuilt. At most two places of its text are edited, everything between them
 * is copied as it came:
 *
 *   {"session": {…}, "source": "skill", "n": 1.10 }
 *   ───────────copied─────────────────────────── ▲
 *                                      insert `, "destination": "skill"`
 */

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

/* The value of the member @key, or JSON_NONE when it is absent or counts as absent. */
static uint32_t find_present(const struct json_tape *context, const char *key)
{
	uint32_t value = json_find(context, 0, key);
	enum json_type type;

	if (value == JSON_NONE)
		return JSON_NONE;
	type = json_type_at(context, value);
	if (type == JSON_NULL || (type == JSON_STRING && json_at(context, value)->length == 0) ||
		(type == JSON_ARRAY && json_count(context, value) == 0))
		return JSON_NONE;
	return value;
}

/* Behind the last member of an object that has one. */
static const char *members_end(const struct json_tape *context)
{
	size_t size;
	const char *text = json_value_text(context, 0, &size);
	const char *end = text + size - 1;

	while (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n' || end[-1] == '\r')
		end--;
	return end;
}

/* The member @key gets the text of the value @value; @before is what a new member begins with. */
static void set_member(
	struct context_edits *edits, const char *key, const char *before, uint32_t value)
{
	uint32_t present = json_find(edits->context, 0, key);
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

static void find_edits(struct context_edits *edits)
{
	uint32_t source = find_present(edits->context, "source");
	uint32_t destination = find_present(edits->context, "destination");

	if (source != JSON_NONE)
		set_member(edits, "destination", ", \"destination\": ", source);
	if (destination != JSON_NONE)
		set_member(edits, "source",
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

	find_edits(&edits);
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

/* Everything up to the context. */
static void begin_message(struct buffer *message, const char *topic, size_t topic_size)
{
	bus_message_begin(message);
	buffer_append_string(message, "{\"type\": ");
	json_write_string(message, topic, topic_size);
	buffer_append_string(message, ", \"context\": ");
}

static void begin_data(struct buffer *message)
{
	buffer_append_string(message, ", \"data\": ");
}

void bus_response_begin(struct buffer *message, const struct bus_envelope *envelope)
{
	static const char suffix[] = ".response";
	char topic[BUS_TOPIC_BYTES + sizeof(suffix)];

	memcpy(topic, envelope->topic, envelope->topic_size);
	memcpy(topic + envelope->topic_size, suffix, sizeof(suffix));
	begin_message(message, topic, envelope->topic_size + sizeof(suffix) - 1);
	bus_context_derive(envelope, message);
	begin_data(message);
}

void bus_broadcast_begin(struct buffer *message, const char *topic, const char *source)
{
	begin_message(message, topic, strlen(topic));
	buffer_append_string(message, "{\"source\": ");
	json_write_text(message, source);
	buffer_append_char(message, '}');
	begin_data(message);
}

void bus_request_begin(struct buffer *message, const char *topic, const char *context)
{
	begin_message(message, topic, strlen(topic));
	buffer_append_string(message, context);
	begin_data(message);
}

void bus_message_end(struct buffer *message)
{
	buffer_append_char(message, '}');
}
