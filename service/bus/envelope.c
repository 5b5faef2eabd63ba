/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/envelope.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bus/members.h"
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
static int refuse_envelope(struct bus_envelope *envelope, const char *reason)
{
	envelope->reason = reason;
	return BUS_E_MALFORMED;
}

/* A status of the reader that is not about the grammar: the text is JSON as far as it was read, and
 * the sender can be told. */
static bool is_tolerable(int r)
{
	return r == JSON_E_DUPLICATE_KEY || r == JSON_E_NUL_IN_KEY || r == JSON_E_DEPTH;
}

static int read_type(struct bus_envelope *envelope, const struct bus_member *member)
{
	int r;

	if (*member->value != '"')
		return refuse_envelope(envelope, "'type' is not a string");
	r = json_tape_read(&envelope->scratch, member->value, member->value_size, 1, NULL);
	if (r == -ENOMEM)
		return r;
	if (r)
		return refuse_envelope(envelope, "'type' is not a valid string");
	r = bus_topic_decode(
		member->value, member->value_size, envelope->topic, &envelope->topic_size);
	if (r)
		return refuse_envelope(envelope, "'type' is empty or longer than 255 bytes");
	envelope->topic[envelope->topic_size] = '\0';
	return 0;
}

/* What is null counts as absent. */
static bool is_null(const struct bus_member *member)
{
	return member->value_size == 4 && memcmp(member->value, "null", 4) == 0;
}

static int read_empty(struct json_tape *tape)
{
	return json_tape_read(tape, empty_object, sizeof(empty_object) - 1, 1, NULL);
}

static int read_data(
	struct bus_envelope *envelope, const struct bus_member *member, uint32_t depth_max)
{
	int r;

	if (is_null(member))
		return 0;
	if (*member->value != '{')
		return refuse_envelope(envelope, "'data' is not an object");
	r = json_tape_read(&envelope->data, member->value, member->value_size, depth_max,
		&envelope->data_error);
	if (r <= 0)
		return r;
	if (!is_tolerable(r))
		return refuse_envelope(envelope, "'data' is not JSON");
	envelope->data_status = r;
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
		return refuse_envelope(envelope, "'context.session' is not an object");
	return 0;
}

static int read_context(
	struct bus_envelope *envelope, const struct bus_member *member, uint32_t depth_max)
{
	int r;

	if (is_null(member))
		return 0;
	if (*member->value != '{')
		return refuse_envelope(envelope, "'context' is not an object");
	r = json_tape_read(&envelope->context, member->value, member->value_size, depth_max, NULL);
	if (r < 0)
		return r;
	if (r == JSON_E_DEPTH)
		return refuse_envelope(envelope, "'context' has too many levels");
	if (r == JSON_E_DUPLICATE_KEY || r == JSON_E_NUL_IN_KEY)
		return refuse_envelope(envelope, "'context' has a key twice, or one with U+0000");
	if (r)
		return refuse_envelope(envelope, "'context' is not JSON");
	return check_session(envelope);
}

/* A member that nobody reads must be JSON all the same. */
static int read_other(
	struct bus_envelope *envelope, const struct bus_member *member, uint32_t depth_max)
{
	int r = json_tape_read(
		&envelope->scratch, member->value, member->value_size, depth_max, NULL);

	if (r > 0 && !is_tolerable(r))
		return refuse_envelope(envelope, "a member beside the three is not JSON");
	return r < 0 ? r : 0;
}

static int check_key(struct bus_envelope *envelope, const struct bus_member *member)
{
	int r;

	if (member->kind != BUS_MEMBER_OTHER)
		return 0;
	r = json_tape_read(&envelope->scratch, member->key, member->key_size, 1, NULL);
	return r > 0 ? refuse_envelope(envelope, "a key is not a valid string") : r;
}

static int read_member(
	struct bus_envelope *envelope, const struct bus_member *member, uint32_t depth_max)
{
	int r = check_key(envelope, member);

	if (r)
		return r;
	switch (member->kind) {
	case BUS_MEMBER_TYPE:
		return read_type(envelope, member);
	case BUS_MEMBER_DATA:
		return read_data(envelope, member, depth_max);
	case BUS_MEMBER_CONTEXT:
		return read_context(envelope, member, depth_max);
	case BUS_MEMBER_OTHER:
		return read_other(envelope, member, depth_max);
	}
	return 0;
}

/* Read the members up to the end of the object. */
static int read_members(
	struct bus_envelope *envelope, struct bus_members *members, uint32_t depth_max)
{
	bool is_seen[BUS_MEMBER_OTHER + 1] = {false};
	struct bus_member member;
	int r;

	while ((r = bus_members_next(members, &member)) == 0) {
		if (is_seen[member.kind] && member.kind != BUS_MEMBER_OTHER)
			return refuse_envelope(
				envelope, "'type', 'data' or 'context' is given twice");
		is_seen[member.kind] = true;
		r = read_member(envelope, &member, depth_max);
		if (r)
			return r;
	}
	if (r != BUS_MEMBERS_END)
		return refuse_envelope(envelope, "the text is not a JSON object");
	return is_seen[BUS_MEMBER_TYPE] ? 0 : refuse_envelope(envelope, "'type' is missing");
}

static int begin_envelope(struct bus_envelope *envelope)
{
	int r = read_empty(&envelope->data);

	envelope->topic_size = 0;
	envelope->topic[0] = '\0';
	envelope->data_status = 0;
	envelope->data_error = (struct json_error){0};
	envelope->reason = NULL;
	return r ? r : read_empty(&envelope->context);
}

int bus_envelope_read(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max)
{
	struct bus_members members;
	int r = begin_envelope(envelope);

	if (r)
		return r;
	if (bus_members_begin(&members, text, size) != 0)
		return refuse_envelope(envelope, "the text is not a JSON object");
	r = read_members(envelope, &members, depth_max);
	if (r)
		return r;
	if (json_scan_space(text, size, members.at) != size)
		return refuse_envelope(envelope, "something follows the JSON object");
	return 0;
}

void bus_envelope_deinit(struct bus_envelope *envelope)
{
	json_tape_deinit(&envelope->data);
	json_tape_deinit(&envelope->context);
	json_tape_deinit(&envelope->scratch);
	*envelope = (struct bus_envelope){0};
}
