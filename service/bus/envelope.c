/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/envelope.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bus/parts.h"
#include "json/scan.h"

/*
 * Reading an envelope: the outermost object is split into its members, and each is read on its own.
 *
 *   {"type": "ovos.tools.invoke", "data": {…}, "context": {…}, "extra": …}
 *             │                           │             │             │
 *             ▼                           ▼             ▼             ▼
 *         topic[]                     data tape    context tape    scratch: must be JSON
 *
 * So a mistake is laid to the part that has it: a duplicate key in `data` is the caller's to hear
 * about, in `context` it makes the message malformed (what we would send back would be, too), and
 * in a member that nobody reads it is nobody's business.
 */

static const char empty_object[] = "{}";

/* Note why the message is malformed. */
static int refuse(struct bus_envelope *envelope, const char *why)
{
	envelope->why = why;
	return BUS_E_MALFORMED;
}

/* A status of the reader that is not about the grammar: the text is JSON as far as it was read, and
 * the sender can be told. */
static bool is_tolerable(int status)
{
	return status == JSON_E_DUPLICATE_KEY || status == JSON_E_NUL_IN_KEY ||
	       status == JSON_E_DEPTH;
}

static int read_type(struct bus_envelope *envelope, const struct bus_part *part)
{
	int status;

	if (*part->value != '"')
		return refuse(envelope, "'type' is not a string");
	status = json_tape_read(&envelope->scratch, part->value, part->value_size, 1, NULL);
	if (status == -ENOMEM)
		return status;
	if (status)
		return refuse(envelope, "'type' is not a valid string");
	status = bus_topic_decode(
		part->value, part->value_size, envelope->topic, &envelope->topic_size);
	if (status)
		return refuse(envelope, "'type' is empty or longer than 255 bytes");
	envelope->topic[envelope->topic_size] = '\0';
	return 0;
}

/* What is null counts as absent. */
static bool is_null(const struct bus_part *part)
{
	return part->value_size == 4 && memcmp(part->value, "null", 4) == 0;
}

static int read_empty(struct json_tape *tape)
{
	return json_tape_read(tape, empty_object, sizeof(empty_object) - 1, 1, NULL);
}

static int read_data(struct bus_envelope *envelope, const struct bus_part *part, uint32_t depth_max)
{
	int status;

	if (is_null(part))
		return 0;
	if (*part->value != '{')
		return refuse(envelope, "'data' is not an object");
	status = json_tape_read(
		&envelope->data, part->value, part->value_size, depth_max, &envelope->data_error);
	if (status <= 0)
		return status;
	if (!is_tolerable(status))
		return refuse(envelope, "'data' is not JSON");
	envelope->data_status = status;
	return read_empty(&envelope->data);
}

/* What the sender calls its session must be usable or absent (OVOS-SESSION-1 §2.5). */
static int check_session(struct bus_envelope *envelope)
{
	uint32_t session = json_find(&envelope->context, 0, "session");
	enum json_type type;

	if (session == JSON_NONE)
		return 0;
	type = json_type_at(&envelope->context, session);
	if (type != JSON_OBJECT && type != JSON_NULL)
		return refuse(envelope, "'context.session' is not an object");
	return 0;
}

static int read_context(
	struct bus_envelope *envelope, const struct bus_part *part, uint32_t depth_max)
{
	int status;

	if (is_null(part))
		return 0;
	if (*part->value != '{')
		return refuse(envelope, "'context' is not an object");
	status = json_tape_read(&envelope->context, part->value, part->value_size, depth_max, NULL);
	if (status < 0)
		return status;
	if (status == JSON_E_DEPTH)
		return refuse(envelope, "'context' has too many levels");
	if (status == JSON_E_DUPLICATE_KEY || status == JSON_E_NUL_IN_KEY)
		return refuse(envelope, "'context' has a key twice, or one with U+0000");
	if (status)
		return refuse(envelope, "'context' is not JSON");
	return check_session(envelope);
}

/* A member that nobody reads must be JSON all the same. */
static int read_other(
	struct bus_envelope *envelope, const struct bus_part *part, uint32_t depth_max)
{
	int status =
		json_tape_read(&envelope->scratch, part->value, part->value_size, depth_max, NULL);

	if (status > 0 && !is_tolerable(status))
		return refuse(envelope, "a member beside the three is not JSON");
	return status < 0 ? status : 0;
}

static int check_key(struct bus_envelope *envelope, const struct bus_part *part)
{
	int status;

	if (part->kind != BUS_PART_OTHER)
		return 0;
	status = json_tape_read(&envelope->scratch, part->key, part->key_size, 1, NULL);
	return status > 0 ? refuse(envelope, "a key is not a valid string") : status;
}

static int read_part(struct bus_envelope *envelope, const struct bus_part *part, uint32_t depth_max)
{
	int status = check_key(envelope, part);

	if (status)
		return status;
	switch (part->kind) {
	case BUS_PART_TYPE:
		return read_type(envelope, part);
	case BUS_PART_DATA:
		return read_data(envelope, part, depth_max);
	case BUS_PART_CONTEXT:
		return read_context(envelope, part, depth_max);
	case BUS_PART_OTHER:
		return read_other(envelope, part, depth_max);
	}
	return 0;
}

/* Read the members up to the end of the object. */
static int read_parts(struct bus_envelope *envelope, struct bus_parts *parts, uint32_t depth_max)
{
	bool is_seen[BUS_PART_OTHER + 1] = {false};
	struct bus_part part;
	int status;

	while ((status = bus_parts_next(parts, &part)) == 0) {
		if (is_seen[part.kind] && part.kind != BUS_PART_OTHER)
			return refuse(envelope, "'type', 'data' or 'context' is given twice");
		is_seen[part.kind] = true;
		status = read_part(envelope, &part, depth_max);
		if (status)
			return status;
	}
	if (status != BUS_PARTS_END)
		return refuse(envelope, "the text is not a JSON object");
	return is_seen[BUS_PART_TYPE] ? 0 : refuse(envelope, "'type' is missing");
}

static int begin(struct bus_envelope *envelope)
{
	int status = read_empty(&envelope->data);

	envelope->topic_size = 0;
	envelope->topic[0] = '\0';
	envelope->data_status = 0;
	envelope->data_error = (struct json_error){0};
	envelope->why = NULL;
	return status ? status : read_empty(&envelope->context);
}

int bus_envelope_read(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max)
{
	struct bus_parts parts;
	int status = begin(envelope);

	if (status)
		return status;
	if (bus_parts_begin(&parts, text, size) != 0)
		return refuse(envelope, "the text is not a JSON object");
	status = read_parts(envelope, &parts, depth_max);
	if (status)
		return status;
	if (json_scan_space(text, size, parts.at) != size)
		return refuse(envelope, "something follows the JSON object");
	return 0;
}

void bus_envelope_deinit(struct bus_envelope *envelope)
{
	json_tape_deinit(&envelope->data);
	json_tape_deinit(&envelope->context);
	json_tape_deinit(&envelope->scratch);
	*envelope = (struct bus_envelope){0};
}
