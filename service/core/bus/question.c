/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/question.h"

#include "json/member.h"
#include "util/array.h"

/* Programs with a new name of a topic send the old one beside it, with the mark of a twin, and
 * programs with the old one only that. */
static const struct {
	enum interest_role role;
	const char *topic;
} topics[] = {
	{INTEREST_REPLY, BUS_ASK_ID ".converse.get_response"},
	{INTEREST_STOP, BUS_ASK_ID ".get_response.killed"},
	{INTEREST_STOP, "mycroft.stop"},
	{INTEREST_STOP, "ovos.stop"},
	{INTEREST_ABORT, "mycroft.skills.abort_question"},
	{INTEREST_ABORT, "ovos.skills.converse.force_timeout"},
	{INTEREST_PAUSE, "recognizer_loop:audio_output_start"},
	{INTEREST_PAUSE, "ovos.audio.output.started"},
	{INTEREST_PAUSE, "recognizer_loop:record_begin"},
	{INTEREST_PAUSE, "ovos.listener.record.started"},
	{INTEREST_RESUME, "recognizer_loop:audio_output_end"},
	{INTEREST_RESUME, "ovos.audio.output.ended"},
	{INTEREST_RESUME, "recognizer_loop:record_end"},
	{INTEREST_RESUME, "ovos.listener.record.ended"},
};
_Static_assert(ARRAY_SIZE(topics) <= BUS_RUN_INTERESTS, "a run has room for them");

size_t question_n_topics(void)
{
	return ARRAY_SIZE(topics);
}

const char *question_topic(size_t index, enum interest_role *ret_role)
{
	*ret_role = topics[index].role;
	return topics[index].topic;
}

enum question_step question_judge(enum interest_role role, const struct json_tape *data)
{
	switch (role) {
	case INTEREST_STOP:
		return QUESTION_STOPS;
	case INTEREST_ABORT:
		return json_member_is(data, 0, "skill_id", BUS_ASK_ID) ? QUESTION_STOPS
								       : QUESTION_GOES_ON;
	case INTEREST_PAUSE:
		return QUESTION_PAUSES;
	case INTEREST_RESUME:
		return QUESTION_LISTENS;
	case INTEREST_REPLY:
	case INTEREST_COLLECT:
		break;
	}
	return QUESTION_GOES_ON;
}

bool question_has_words(const struct json_tape *data)
{
	uint32_t utterances = json_find_typed_at(data, 0, "utterances", JSON_ARRAY);

	return utterances != JSON_NONE && json_count(data, utterances) > 0;
}
