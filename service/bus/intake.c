/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/intake.h"

#include "bus/bus.h"
#include "util/assert.h"

/* Judge a frame by its first @size bytes at @text: INTAKE_WHOLE means wanted. */
static enum intake_result judge_topic(
	const struct intake_rules *rules, const char *text, size_t size)
{
	char topic[BUS_TOPIC_BYTES];
	size_t topic_size;

	switch (bus_topic_scan(text, size, topic, &topic_size)) {
	case 0:
		return rules->wants(rules->data, topic, topic_size) ? INTAKE_WHOLE : INTAKE_FOREIGN;
	case BUS_E_INCOMPLETE:
		return INTAKE_MORE;
	default:
		return INTAKE_NO_TOPIC;
	}
}

void intake_reset(struct intake *intake, struct intake_rules *rules)
{
	check(intake->charged <= rules->gathered);
	rules->gathered -= intake->charged;
	buffer_deinit(&intake->message);
	*intake = (struct intake){0};
}

void intake_abandon(struct intake *intake, struct intake_rules *rules)
{
	if (intake->state != INTAKE_GATHERING)
		return;
	intake_reset(intake, rules);
	intake->state = INTAKE_SKIPPING;
}

static enum intake_result skip(
	struct intake *intake, struct intake_rules *rules, bool is_last, enum intake_result result)
{
	intake_reset(intake, rules);
	intake->state = is_last ? INTAKE_NEW : INTAKE_SKIPPING;
	return result;
}

/* Append a piece, and return INTAKE_MORE, or the reason why it could not be kept. */
static enum intake_result keep_piece(
	struct intake *intake, struct intake_rules *rules, const char *piece, size_t size)
{
	if (size > rules->gather_bytes - rules->gathered && rules->make_room)
		rules->make_room(rules->data, intake, size);
	if (size > rules->gather_bytes - rules->gathered)
		return INTAKE_CROWDED;
	if (!intake->message.data)
		bus_message_begin(&intake->message);
	buffer_append(&intake->message, piece, size);
	if (buffer_status(&intake->message))
		return INTAKE_SHORT;
	intake->charged += size;
	rules->gathered += size;
	return INTAKE_MORE;
}

/* Judge the gathered bytes, but not at every piece: a frame in a million pieces is judged twenty
 * times. */
static enum intake_result look_again(
	struct intake *intake, const struct intake_rules *rules, bool is_last)
{
	enum intake_result result;
	const char *text;
	size_t size;

	if (intake->is_wanted || !rules->wants)
		return INTAKE_WHOLE;
	if (intake->charged < intake->next_look && !is_last)
		return INTAKE_MORE;
	intake->next_look = intake->charged * 2;
	text = bus_message_text(&intake->message, &size);
	result = judge_topic(rules, text, size);
	intake->is_wanted = result == INTAKE_WHOLE;
	return result == INTAKE_MORE && is_last ? INTAKE_NO_TOPIC : result;
}

/* Judge the only piece of a frame. */
static enum intake_result take_alone(
	struct intake *intake, struct intake_rules *rules, const char *piece, size_t size)
{
	enum intake_result result = rules->wants ? judge_topic(rules, piece, size) : INTAKE_WHOLE;

	if (result == INTAKE_MORE)
		return INTAKE_NO_TOPIC;
	if (result == INTAKE_WHOLE)
		intake->state = INTAKE_DELIVERED;
	return result;
}

/* Judge the first of several pieces: most frames are found to be foreign here, before any copy. */
static enum intake_result begin_gathering(
	struct intake *intake, struct intake_rules *rules, const char *piece, size_t size)
{
	enum intake_result result = rules->wants ? judge_topic(rules, piece, size) : INTAKE_WHOLE;

	if (result != INTAKE_WHOLE && result != INTAKE_MORE)
		return result;
	intake->state = INTAKE_GATHERING;
	intake->is_wanted = result == INTAKE_WHOLE;
	intake->next_look = size * 2;
	return INTAKE_MORE;
}

enum intake_result intake_take(struct intake *intake, struct intake_rules *rules, const char *piece,
	size_t size, bool is_last, const char **ret_text, size_t *ret_size)
{
	enum intake_result result = INTAKE_MORE;

	check(intake->state != INTAKE_DELIVERED);
	if (intake->state == INTAKE_SKIPPING) {
		intake->state = is_last ? INTAKE_NEW : INTAKE_SKIPPING;
		return INTAKE_MORE;
	}
	if (size > rules->frame_bytes - intake->charged)
		return skip(intake, rules, is_last, INTAKE_OVERSIZED);
	*ret_text = piece;
	*ret_size = size;
	if (intake->state == INTAKE_NEW && is_last)
		return take_alone(intake, rules, piece, size);
	if (intake->state == INTAKE_NEW)
		result = begin_gathering(intake, rules, piece, size);
	if (result != INTAKE_MORE)
		return skip(intake, rules, is_last, result);
	result = keep_piece(intake, rules, piece, size);
	if (result != INTAKE_MORE)
		return skip(intake, rules, is_last, result);
	result = look_again(intake, rules, is_last);
	if (result != INTAKE_WHOLE && result != INTAKE_MORE)
		return skip(intake, rules, is_last, result);
	*ret_text = bus_message_text(&intake->message, ret_size);
	if (!is_last)
		return INTAKE_MORE;
	intake->state = INTAKE_DELIVERED;
	return INTAKE_WHOLE;
}

struct frame *intake_frame(struct intake *intake, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	if (intake->message.data)
		return frame_take(&intake->message);
	bus_message_begin(&message);
	buffer_append(&message, text, size);
	return buffer_status(&message) ? NULL : frame_take(&message);
}
