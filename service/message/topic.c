/* SPDX-License-Identifier: Apache-2.0 */
#include "message/topic.h"

#include <string.h>

#include "json/reader.h"
#include "message/member.h"

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

int bus_topic_decode(
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

int bus_topic_scan(const char *text, size_t size, char ret_topic[BUS_TOPIC_BYTES], size_t *ret_size)
{
	struct json_members members;
	struct member member;
	int r = json_members_begin(&members, text, size);

	while (r == 0)
		if ((r = bus_member_next(&members, &member)) == 0 && member.kind == MEMBER_TYPE)
			break;
	if (r)
		return r == JSON_MEMBERS_INCOMPLETE ? BUS_E_INCOMPLETE : BUS_E_NO_TOPIC;
	if (*member.value != '"')
		return BUS_E_NO_TOPIC;
	return bus_topic_decode(member.value, member.value_size, ret_topic, ret_size);
}
