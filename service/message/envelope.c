/* SPDX-License-Identifier: Apache-2.0 */
#include "message/envelope.h"

#include <stdbool.h>
#include <string.h>

#include "json/members.h"
#include "json/reader.h"
#include "util/assert.h"

_Static_assert(BUS_TOPIC_BYTES - 1 == 255, "as the mistake has it");

/*
 * The outermost object is split into its members, and each is read on its own:
 *
 *   {"type": "ovos.tools.invoke", "data": {…}, "context": {…}, "extra": …}
 *             │                           │             │             │
 *             ▼                           ▼             ▼             ▼
 *         topic[]                     data tape    context tape    scratch: must be JSON
 *
 * So a mistake counts against its own member. A duplicate key in `data` is reported to the caller;
 * in `context`, which goes back unchanged, it is taken, unless it leaves open who the sender is; in
 * any other member it is ignored.
 *
 * An unreadable part is replaced by its few members needed to answer the sender:
 *
 *   "data": {"name": "add", "call_id": "7", "args": {"a": 01}}     ─▶ {"name":"add","call_id":"7"}
 */

/* A skimmed data, or context, has members among its first ones, and bytes, up to so many. */
#define SKIMMED_MEMBERS 1000
#define SKIMMED_BYTES   16384

/* The most tokens of a tape with memory kept for the next message. */
#define KEPT_TOKENS 65536

/* Members needed to answer the sender of a malformed message; NULL ends each list. */
static const char *const keys_of_data[] = {"name", "call_id", "toolbox_id", "profile", NULL};
static const char *const keys_of_context[] = {"source", "destination", "session", NULL};

/* The reader of a part: json_tape_read() or json_tape_read_lax(). */
typedef int (*tape_function)(struct json_tape *tape, const char *text, size_t size,
	uint32_t depth_max, struct json_error *ret_error);

/* The members of a message, found by their keys and not checked. */

enum member_kind {
	MEMBER_TYPE,
	MEMBER_DATA,
	MEMBER_CONTEXT,
	MEMBER_OTHER,
};

struct member {
	enum member_kind kind;
	const char *key; /* with its quotes, unchecked */
	size_t key_size;
	const char *value; /* unchecked, at least one byte */
	size_t value_size;
	const char *whole; /* the value as it came, where a part of it was skimmed */
	size_t whole_size;
	bool is_read;           /* its tape has it */
	bool has_repeated_keys; /* after is_read */
};

static const char *const part_names[] = {
	[MEMBER_TYPE] = "type", [MEMBER_DATA] = "data", [MEMBER_CONTEXT] = "context"};

static enum member_kind kind_of_escaped(const char *key, size_t size)
{
	enum member_kind kind = MEMBER_TYPE;

	while (kind < MEMBER_OTHER && !json_escaped_key_is(key, size, part_names[kind]))
		kind++;
	return kind;
}

static enum member_kind kind_of(const char *key, size_t size)
{
	if (json_raw_key_is(key, size, "type"))
		return MEMBER_TYPE;
	if (json_raw_key_is(key, size, "data"))
		return MEMBER_DATA;
	if (json_raw_key_is(key, size, "context"))
		return MEMBER_CONTEXT;
	return memchr(key, '\\', size) ? kind_of_escaped(key, size) : MEMBER_OTHER;
}

/* Return the member with the key of @found, and no value yet. */
static struct member keyed_member(const struct json_member *found)
{
	return (struct member){
		.kind = kind_of(found->key, found->key_size),
		.key = found->key,
		.key_size = found->key_size,
	};
}

static void set_member_value(struct member *member, const struct json_member *found)
{
	member->value = member->whole = found->value;
	member->value_size = member->whole_size = found->value_size;
}

/* Read the next member. Return 0 or an enum json_members_status. */
static int next_member(struct json_members *members, struct member *ret_member)
{
	struct json_member found;
	int r = json_members_next(members, &found);

	if (r)
		return r;
	*ret_member = keyed_member(&found);
	set_member_value(ret_member, &found);
	return 0;
}

/* ── the topic ───────────────────────────────────────────────────────────────────────────────── */

/*
 * Most frames are for somebody else, so the topic is found with next to no work:
 *
 *   {"context": {…}, "data": {…}, "type": "recognizer_loop:utterance", …
 *    ────┬────  ─┬─  ───┬──  ─┬─   ──┬──  ─────────────┬────────────
 *      other    skip  other  skip  found!    decode, and be done
 *
 * Values are skipped by bracket and quote, so a "type" inside of them is never met. Only the type
 * is checked: a frame that is wanted is read whole afterwards.
 */

/* Check an escape before it is decoded. Topics are rarely written with one, so this may be slow. */
static int decode_escaped(
	const char *quoted, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer topic = {.limit = BUS_TOPIC_BYTES - 1};

	if (size > (size_t)BUS_TOPIC_BYTES * JSON_ESCAPED_BYTE_SIZE ||
		json_tape_read(&tape, quoted, size, 1, NULL) != 0)
		return BUS_E_NO_TOPIC;
	json_string_decode(&tape, 0, &topic);
	if (buffer_status(&topic))
		return BUS_E_NO_TOPIC;
	memcpy(ret_topic, topic.data, topic.size);
	*ret_size = topic.size;
	return 0;
}

/* Decode the JSON string at @quoted (@size bytes with its quotes, unchecked) as a topic. Return 0,
 * or BUS_E_NO_TOPIC if it is empty, too long or has broken escapes. */
static int decode_topic(
	const char *quoted, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size)
{
	size_t raw_size = size - 2;

	if (memchr(quoted, '\\', size))
		return decode_escaped(quoted, size, ret_topic, ret_size);
	if (raw_size == 0 || raw_size >= BUS_TOPIC_BYTES)
		return BUS_E_NO_TOPIC;
	memcpy(ret_topic, quoted + 1, raw_size);
	*ret_size = raw_size;
	return 0;
}

/* The beginning of messages that Python's json.dumps() writes, and of ours. */
static const char usual_begin[] = "{\"type\": \"";

int bus_topic_scan(const char *text, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size)
{
	struct json_members members;
	struct member member;
	size_t begin = strlen(usual_begin);
	int r;

	if (size > begin && memcmp(text, usual_begin, begin) == 0) {
		size_t end = json_scan_string(text, size, begin - 1);

		return end == 0 ? BUS_E_INCOMPLETE
				: decode_topic(
					  text + begin - 1, end - begin + 1, ret_topic, ret_size);
	}
	r = json_members_begin(&members, text, size);
	while (r == 0)
		if ((r = next_member(&members, &member)) == 0 && member.kind == MEMBER_TYPE)
			break;
	if (r)
		return r == JSON_MEMBERS_INCOMPLETE ? BUS_E_INCOMPLETE : BUS_E_NO_TOPIC;
	if (*member.value != '"')
		return BUS_E_NO_TOPIC;
	return decode_topic(member.value, member.value_size, ret_topic, ret_size);
}

/* ── the whole message ───────────────────────────────────────────────────────────────────────── */

static int refuse_at(
	struct bus_envelope *envelope, const char *part, const char *expected, const char *at)
{
	if (!envelope->fault.part)
		envelope->fault = (struct bus_fault){.part = part,
			.expected = expected,
			.offset = (size_t)(at - envelope->text)};
	return BUS_E_MALFORMED;
}

/* Note why the message is malformed, unless something was wrong before. */
static int refuse_member(struct bus_envelope *envelope, const struct member *member,
	const char *part, const char *expected)
{
	return refuse_at(envelope, part, expected, member->whole);
}

/* As refuse_member(), with the reason and the place of the reader in @error. */
static int refuse_text(struct bus_envelope *envelope, const struct member *member, const char *part,
	const char *expected, const struct json_error *error)
{
	/* The place is in the copy of a skimmed member. */
	size_t at = member->value == member->whole ? error->offset : 0;
	bool is_first = !envelope->fault.part;

	refuse_at(envelope, part, expected, member->whole + at);
	if (is_first)
		envelope->fault.reason = error->message;
	return BUS_E_MALFORMED;
}

/* Return whether the status of the reader is not about the grammar: the text is JSON as far as it
 * was read, and the sender gets an answer. */
static bool is_tolerable(int r)
{
	return r == JSON_E_DUPLICATE_KEY || r == JSON_E_NUL_IN_KEY || r == JSON_E_DEPTH ||
	       r == JSON_E_TOKENS;
}

/* Set the bound of @tape to the rest of values_max after the members before. Keep at least 1: 0
 * would mean "no bound". */
static struct json_tape *bound_tape(struct bus_envelope *envelope, struct json_tape *tape)
{
	tape->tokens_max = envelope->values_max > 0 ? envelope->values_left : 0;
	return tape;
}

/* Note the result @r of reading the member in @tape. */
static void count_values(struct bus_envelope *envelope, const struct json_tape *tape, int r)
{
	uint32_t used = r == JSON_E_TOKENS ? envelope->values_left : tape->count;

	envelope->values_left -= used < envelope->values_left ? used : envelope->values_left - 1;
}

static int read_type(struct bus_envelope *envelope, const struct member *member)
{
	static const char expected[] = "a string of 1 to 255 bytes";
	struct json_error error;
	int r;

	if (*member->value != '"')
		return refuse_member(envelope, member, "type", expected);
	r = json_scan_is_plain(member->value, member->value_size)
		    ? 0
		    : json_tape_read(
			      &envelope->scratch, member->value, member->value_size, 1, &error);
	if (r != 0)
		return r < 0 ? r : refuse_text(envelope, member, "type", expected, &error);
	r = decode_topic(member->value, member->value_size, envelope->topic, &envelope->topic_size);
	if (r)
		return refuse_member(envelope, member, "type", expected);
	envelope->topic[envelope->topic_size] = '\0';
	return 0;
}

/* Return whether the member is null, so counts as absent. */
static bool is_null(const struct member *member)
{
	return member->value_size == 4 && memcmp(member->value, "null", 4) == 0;
}

/* ── parts that cannot be read ─────────────────────────────────────────────────────────────── */

/* Append the member at @inner to the object in @out. */
static void append_copy(const struct member *inner, struct buffer *out)
{
	if (out->size > 1)
		buffer_append_char(out, ',');
	buffer_append(out, inner->key, inner->key_size);
	buffer_append_char(out, ':');
	buffer_append(out, inner->value, inner->value_size);
}

/* Return the bit of the key of @inner in @keys, or 0. */
static unsigned int key_bit(const struct member *inner, const char *const *keys)
{
	for (unsigned int i = 0; keys[i]; i++)
		if (json_key_is(inner->key, inner->key_size, keys[i]))
			return 1u << i;
	return 0;
}

/* Return whether the value of @inner can be returned to its sender: the value is short, @read takes
 * it, and a session is valid. */
static bool is_usable(struct bus_envelope *envelope, const struct member *inner, tape_function read,
	uint32_t depth_max)
{
	bool is_session = json_key_is(inner->key, inner->key_size, "session");

	return inner->value_size <= SKIMMED_BYTES &&
	       (!is_session || *inner->value == '{' || is_null(inner)) &&
	       read(bound_tape(envelope, &envelope->scratch), inner->value, inner->value_size,
		       depth_max, NULL) == 0;
}

/* Copy the first usable member of each of the @keys to @out, from the object at @member, perhaps no
 * JSON. */
static void copy_usable_members(struct bus_envelope *envelope, const struct member *member,
	const char *const *keys, tape_function read, uint32_t depth_max, struct buffer *out)
{
	struct json_members members;
	struct member inner;
	unsigned int left = ~0u;
	int r = json_members_begin(&members, member->whole, member->whole_size);

	buffer_reset(out);
	buffer_append_char(out, '{');
	while (r == 0 && (r = next_member(&members, &inner)) == 0) {
		unsigned int bit = key_bit(&inner, keys) & left;

		if (bit == 0 || !is_usable(envelope, &inner, read, depth_max))
			continue;
		left &= ~bit;
		append_copy(&inner, out);
	}
	buffer_append_char(out, '}');
}

/* Let @tape, of an unreadable part, have its readable members among @keys, in @text. Return 0 or
 * -ENOMEM. */
static int save_members(struct bus_envelope *envelope, const struct member *member,
	const char *const *keys, tape_function read, uint32_t depth_max, struct json_tape *tape,
	struct buffer *text)
{
	int r;

	copy_usable_members(envelope, member, keys, read, depth_max - 1, text);
	if (buffer_status(text) < 0)
		return buffer_status(text);
	r = read(bound_tape(envelope, tape), text->data, text->size, depth_max, NULL);
	return r > 0 ? json_tape_set_empty(tape) : r;
}

/* ── data and context ──────────────────────────────────────────────────────────────────────── */

/* Save the usable part of the data at @member, refused with @r. Return @r or -ENOMEM. */
static int save_data(
	struct bus_envelope *envelope, const struct member *member, uint32_t depth_max, int r)
{
	int saved = save_members(envelope, member, keys_of_data, json_tape_read, depth_max,
		&envelope->data, &envelope->skimmed);

	return saved < 0 ? saved : r;
}

static int read_data(struct bus_envelope *envelope, const struct member *member, uint32_t depth_max)
{
	int r;

	if (is_null(member))
		return 0;
	if (*member->value != '{')
		return refuse_member(envelope, member, "data", "an object");
	r = member->is_read ? 0
			    : json_tape_read(bound_tape(envelope, &envelope->data), member->value,
				      member->value_size, depth_max, &envelope->data_error);
	count_values(envelope, &envelope->data, r);
	if (r <= 0)
		return r;
	if (!is_tolerable(r))
		return save_data(envelope, member, depth_max,
			refuse_text(envelope, member, "data", "JSON", &envelope->data_error));
	envelope->data_status = r;
	return save_data(envelope, member, depth_max, 0);
}

/* Copy the short members of the object at @member, if among the first ones, to @out. Return 0,
 * -ENOMEM or an enum json_members_status. */
static int copy_short_members(const struct member *member, struct buffer *out)
{
	struct json_members members;
	struct member inner;
	int r = json_members_begin(&members, member->value, member->value_size);

	buffer_reset(out);
	buffer_append_char(out, '{');
	for (unsigned int n = 0; r == 0 && n < SKIMMED_MEMBERS; n++) {
		r = next_member(&members, &inner);
		if (r == 0 && out->size + inner.key_size + inner.value_size <= SKIMMED_BYTES)
			append_copy(&inner, out);
	}
	buffer_append_char(out, '}');
	if (buffer_status(out) < 0)
		return buffer_status(out);
	return r == JSON_MEMBERS_END ? 0 : r;
}

/* Let @member have only its short members, in @text. Return 0 or -ENOMEM. A broken member stays
 * unchanged, for the reader to report the place. */
static int skim_member(struct member *member, struct buffer *text)
{
	int r = copy_short_members(member, text);

	if (r == 0) {
		member->value = text->data;
		member->value_size = text->size;
	}
	return r < 0 ? r : 0;
}

/* Return whether the object at @object has the key @key twice. */
static bool has_twice(const struct json_tape *tape, uint32_t object, const char *key)
{
	unsigned int n = 0;

	json_each_key(i, tape, object)
		n += json_string_equals(tape, i, key, strlen(key));
	return n > 1;
}

/* Return whether the sender of the message is ambiguous: one reader takes the first of two keys,
 * another the last. */
static bool is_sender_unclear(const struct bus_envelope *envelope)
{
	const struct json_tape *context = &envelope->context;

	for (size_t i = 0; keys_of_context[i]; i++)
		if (has_twice(context, 0, keys_of_context[i]))
			return true;
	if (envelope->session == JSON_NONE ||
		json_type_at(context, envelope->session) != JSON_OBJECT)
		return false;
	return has_twice(context, envelope->session, "session_id") ||
	       has_twice(context, envelope->session, "site_id");
}

static void find_sender(struct bus_envelope *envelope)
{
	envelope->source = json_find(&envelope->context, 0, "source");
	envelope->destination = json_find(&envelope->context, 0, "destination");
	envelope->session = json_find(&envelope->context, 0, "session");
}

/* Judge the context: whether it has one sender, and a usable or absent session (OVOS-SESSION-1
 * §2.5). */
static int judge_context(
	struct bus_envelope *envelope, const struct member *member, bool has_repeated_keys)
{
	uint32_t session = envelope->session;
	enum json_type type;

	if (has_repeated_keys && is_sender_unclear(envelope))
		return refuse_member(envelope, member, "context",
			"an object with 'source', 'destination', 'session' and its ids once");
	type = session == JSON_NONE ? JSON_NULL : json_type_at(&envelope->context, session);
	if (type != JSON_OBJECT && type != JSON_NULL)
		return refuse_member(envelope, member, "context.session", "an object");
	return 0;
}

/* Return the expected form of a context refused by the reader with @r. */
static const char *expected_context(int r)
{
	if (r == JSON_E_TOKENS)
		return "an object with fewer values";
	return r == JSON_E_DEPTH ? "an object with fewer levels" : "JSON";
}

static int read_context(
	struct bus_envelope *envelope, const struct member *member, uint32_t depth_max)
{
	struct json_error error;
	int r;

	if (is_null(member))
		return 0;
	if (*member->value != '{')
		return refuse_member(envelope, member, "context", "an object");
	error.status = member->has_repeated_keys ? JSON_E_DUPLICATE_KEY : 0;
	r = member->is_read ? 0
			    : json_tape_read_lax(bound_tape(envelope, &envelope->context),
				      member->value, member->value_size, depth_max, &error);
	count_values(envelope, &envelope->context, r);
	if (r < 0)
		return r;
	if (r == 0) {
		find_sender(envelope);
		r = judge_context(envelope, member, error.status != 0);
	} else {
		r = refuse_text(envelope, member, "context", expected_context(r), &error);
	}
	if (r == 0)
		return 0;
	r = save_members(envelope, member, keys_of_context, json_tape_read_lax, depth_max,
		&envelope->context, &envelope->skimmed_context);
	find_sender(envelope);
	return r < 0 ? r : BUS_E_MALFORMED;
}

/* Refuse an unread member, unless it is JSON. */
static int read_other(
	struct bus_envelope *envelope, const struct member *member, uint32_t depth_max)
{
	struct json_error error;
	int r = json_tape_read(bound_tape(envelope, &envelope->scratch), member->value,
		member->value_size, depth_max, &error);

	count_values(envelope, &envelope->scratch, r);
	if (r > 0 && !is_tolerable(r))
		return refuse_text(envelope, member, "message", "JSON", &error);
	return r < 0 ? r : 0;
}

static int check_key(struct bus_envelope *envelope, const struct member *member)
{
	struct json_error error;
	int r;

	if (member->kind != MEMBER_OTHER)
		return 0;
	r = json_tape_read(&envelope->scratch, member->key, member->key_size, 1, &error);
	if (r <= 0)
		return r;
	refuse_at(envelope, "message", "JSON", member->key + error.offset);
	return BUS_E_MALFORMED;
}

static int read_envelope_member(
	struct bus_envelope *envelope, struct member *member, uint32_t depth_max)
{
	bool is_skim = envelope->is_skimmed && *member->value == '{';
	int r = check_key(envelope, member);

	if (r)
		return r;
	switch (member->kind) {
	case MEMBER_TYPE:
		return read_type(envelope, member);
	case MEMBER_DATA:
		if (is_skim)
			r = skim_member(member, &envelope->skimmed);
		return r ? r : read_data(envelope, member, depth_max);
	case MEMBER_CONTEXT:
		if (is_skim && member->value_size > SKIMMED_BYTES)
			r = skim_member(member, &envelope->skimmed_context);
		return r ? r : read_context(envelope, member, depth_max);
	case MEMBER_OTHER:
		return envelope->is_skimmed ? 0 : read_other(envelope, member, depth_max);
	}
	return 0;
}

/*
 * Read the object that is the data or the context, whose key was read, without a scan for its end
 * before. Return whether this could be done. If not, the scan finds the end, and the reader reports
 * the fault of the text up to there: only a broken message is read twice.
 */
static bool read_at_once(struct bus_envelope *envelope, struct json_members *members,
	enum member_kind kind, uint32_t depth_max, struct json_member *member,
	bool *ret_has_repeated_keys)
{
	bool is_lax = kind == MEMBER_CONTEXT;
	struct json_tape *tape = is_lax ? &envelope->context : &envelope->data;
	struct json_error error = {0};
	size_t at;
	int r;

	if (kind != MEMBER_DATA && kind != MEMBER_CONTEXT)
		return false;
	at = json_scan_space(members->text, members->size, members->at);
	if (at == members->size || members->text[at] != '{')
		return false;
	if (json_tape_read_object(bound_tape(envelope, tape), members->text + at,
		    members->size - at, depth_max, is_lax, &error) != 0) {
		/* begin_envelope() has made room. */
		r = json_tape_set_empty(tape);
		check(r == 0);
		return false;
	}
	json_members_step(members, member, at, at + tape->size);
	*ret_has_repeated_keys = error.status != 0;
	return true;
}

/* As next_member(), with data or context read, unless @is_seen, or unless they are skimmed. */
static int next_part(struct bus_envelope *envelope, struct json_members *members,
	const bool *is_seen, uint32_t depth_max, struct member *ret_member)
{
	struct json_member found;
	int r = json_members_next_key(members, &found);

	if (r)
		return r;
	*ret_member = keyed_member(&found);
	ret_member->is_read = !envelope->is_skimmed && !is_seen[ret_member->kind] &&
			      read_at_once(envelope, members, ret_member->kind, depth_max, &found,
				      &ret_member->has_repeated_keys);
	if (!ret_member->is_read && (r = json_members_find_value(members, &found)) != 0)
		return r;
	set_member_value(ret_member, &found);
	return 0;
}

/* Read the members up to the end of the object. After a mistake in one the others are read, too: by
 * them its sender is answered. Return 0 or -ENOMEM. */
static int read_members(
	struct bus_envelope *envelope, struct json_members *members, uint32_t depth_max)
{
	bool is_seen[MEMBER_OTHER + 1] = {false};
	struct member member;
	int r;

	while ((r = next_part(envelope, members, is_seen, depth_max, &member)) == 0) {
		if (is_seen[member.kind] && member.kind != MEMBER_OTHER) {
			refuse_member(envelope, &member, part_names[member.kind], "given once");
			continue;
		}
		is_seen[member.kind] = true;
		r = read_envelope_member(envelope, &member, depth_max);
		if (r < 0)
			return r;
	}
	if (r != JSON_MEMBERS_END)
		refuse_at(envelope, "message", "a JSON object", members->text + members->at);
	else if (!is_seen[MEMBER_TYPE])
		refuse_at(envelope, "type", "given", members->text + members->at);
	return 0;
}

static int begin_envelope(struct bus_envelope *envelope)
{
	int r = json_tape_set_empty(&envelope->data);

	envelope->values_left = envelope->values_max;
	envelope->topic_size = 0;
	envelope->topic[0] = '\0';
	envelope->source = envelope->destination = envelope->session = JSON_NONE;
	envelope->has_args = false;
	envelope->given = NULL;
	envelope->data_status = 0;
	envelope->data_error = (struct json_error){0};
	envelope->fault = (struct bus_fault){0};
	return r ? r : json_tape_set_empty(&envelope->context);
}

static int read_envelope(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max)
{
	struct json_members members;
	size_t end;
	int r = begin_envelope(envelope);

	if (r)
		return r;
	envelope->text = text;
	if (json_members_begin(&members, text, size) != 0)
		return refuse_at(envelope, "message", "a JSON object", text);
	r = read_members(envelope, &members, depth_max);
	if (r)
		return r;
	end = json_scan_space(text, size, members.at);
	if (end != size && !envelope->fault.part)
		return refuse_at(envelope, "message", "one JSON object, and no more", text + end);
	return envelope->fault.part ? BUS_E_MALFORMED : 0;
}

int bus_envelope_read(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max)
{
	envelope->is_skimmed = false;
	return read_envelope(envelope, text, size, depth_max);
}

int bus_envelope_skim(
	struct bus_envelope *envelope, const char *text, size_t size, uint32_t depth_max)
{
	envelope->is_skimmed = true;
	return read_envelope(envelope, text, size, depth_max);
}

/* ── a request without a message ───────────────────────────────────────────────────────────── */

/* Read @args, the value that the data of the request has as `args`. */
static int read_args(
	struct bus_envelope *envelope, const struct text_view *args, uint32_t depth_max)
{
	struct json_error *error = &envelope->data_error;
	int r = json_tape_read(
		bound_tape(envelope, &envelope->args), args->text, args->size, depth_max, error);

	count_values(envelope, &envelope->args, r);
	envelope->has_args = r == 0;
	if (r <= 0)
		return r;
	if (is_tolerable(r) && json_scan_value(args->text, args->size, 0) == args->size) {
		envelope->data_status = r;
		return 0;
	}
	envelope->fault = (struct bus_fault){.part = "args",
		.expected = "JSON",
		.reason = error->message,
		.offset = error->offset};
	return BUS_E_MALFORMED;
}

int bus_envelope_fill(struct bus_envelope *envelope, const char *topic,
	const struct text_view *data, const struct text_view *args, bool is_skim,
	uint32_t depth_max)
{
	struct member member = {.kind = MEMBER_DATA,
		.value = data->text,
		.value_size = data->size,
		.whole = data->text,
		.whole_size = data->size};
	int r = begin_envelope(envelope);

	envelope->text = data->text;
	envelope->is_skimmed = is_skim;
	envelope->topic_size = strlen(topic);
	check(envelope->topic_size < BUS_TOPIC_BYTES);
	memcpy(envelope->topic, topic, envelope->topic_size + 1);
	if (r == 0 && is_skim && !args->text && *data->text == '{')
		r = skim_member(&member, &envelope->skimmed);
	if (r == 0)
		r = read_data(envelope, &member, depth_max);
	if (r == 0 && args->text && !is_skim)
		r = read_args(envelope, args, depth_max - 1);
	return r;
}

void bus_envelope_give(struct bus_envelope *envelope, const struct json_tape *tape, uint32_t token,
	uint32_t depth_max)
{
	uint32_t values = json_end(tape, token) - token;

	if (json_is_deeper(tape, token, depth_max - 1)) {
		envelope->data_status = JSON_E_DEPTH;
	} else if (envelope->values_max > 0 && values > envelope->values_left) {
		envelope->data_status = JSON_E_TOKENS;
	} else {
		envelope->given = tape;
		envelope->given_token = token;
	}
}

/* Return whether @context has the member @key, with a value for yes. */
static bool has_flag(const struct json_tape *context, const char *key)
{
	uint32_t value = json_find(context, 0, key);

	return value != JSON_NONE && json_type_at(context, value) != JSON_NULL &&
	       json_type_at(context, value) != JSON_FALSE;
}

bool bus_envelope_is_skill_twin(const struct bus_envelope *envelope)
{
	return has_flag(&envelope->context, "_intent_compat_twin");
}

bool bus_envelope_is_twin(const struct bus_envelope *envelope)
{
	return has_flag(&envelope->context, "_namespace_compat_twin") ||
	       bus_envelope_is_skill_twin(envelope);
}

void bus_fault_write(const struct bus_fault *fault, struct buffer *out)
{
	buffer_printf(out, "'%s' must be %s", fault->part, fault->expected);
	if (fault->reason)
		buffer_printf(out, ": at byte %zu: %s", fault->offset, fault->reason);
	else
		buffer_printf(out, " (at byte %zu)", fault->offset);
}

void bus_envelope_recycle(struct bus_envelope *envelope)
{
	json_tape_recycle(&envelope->data, KEPT_TOKENS);
	json_tape_recycle(&envelope->context, KEPT_TOKENS);
	json_tape_recycle(&envelope->args, KEPT_TOKENS);
	json_tape_recycle(&envelope->scratch, KEPT_TOKENS);
}

void bus_envelope_deinit(struct bus_envelope *envelope)
{
	json_tape_deinit(&envelope->data);
	json_tape_deinit(&envelope->context);
	json_tape_deinit(&envelope->args);
	json_tape_deinit(&envelope->scratch);
	buffer_deinit(&envelope->skimmed);
	buffer_deinit(&envelope->skimmed_context);
	*envelope = (struct bus_envelope){0};
}
