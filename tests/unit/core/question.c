/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/question.h"

#include <criterion/criterion.h>
#include <string.h>

#include "quotes.h"
#include "util/array.h"

/* The events around a question, without a bus. */

static void read_data(struct json_tape *tape, char *text)
{
	swap_quotes(text);
	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

/* Return the role of @topic, or -1 when a question does not wait for it. */
static int find_role(const char *topic)
{
	for (size_t i = 0; i < question_n_topics(); i++) {
		enum interest_role role;

		if (strcmp(question_topic(i, &role), topic) == 0)
			return (int)role;
	}
	return -1;
}

Test(question, takes_the_old_and_the_new_name_of_a_topic_for_the_same_event)
{
	static const struct {
		const char *old_name;
		const char *new_name;
		int role; /* as find_role() returns it */
	} events[] = {
		{"mycroft.stop", "ovos.stop", INTEREST_STOP},
		{"mycroft.skills.abort_question", "ovos.skills.converse.force_timeout",
			INTEREST_ABORT},
		{"recognizer_loop:audio_output_start", "ovos.audio.output.started", INTEREST_PAUSE},
		{"recognizer_loop:audio_output_end", "ovos.audio.output.ended", INTEREST_RESUME},
		{"recognizer_loop:record_begin", "ovos.listener.record.started", INTEREST_PAUSE},
		{"recognizer_loop:record_end", "ovos.listener.record.ended", INTEREST_RESUME},
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		cr_expect_eq(
			find_role(events[i].old_name), events[i].role, "%s", events[i].old_name);
		cr_expect_eq(
			find_role(events[i].new_name), events[i].role, "%s", events[i].new_name);
	}
	cr_expect_eq(find_role("toolboxd.converse.get_response"), INTEREST_REPLY);
	cr_expect_eq(find_role("toolboxd.get_response.killed"), INTEREST_STOP);
	cr_expect_eq(find_role("speak"), -1);
}

Test(question, has_one_reply_and_each_topic_once)
{
	size_t n_replies = 0;

	for (size_t i = 0; i < question_n_topics(); i++) {
		enum interest_role role;
		enum interest_role other;
		const char *topic = question_topic(i, &role);

		n_replies += role == INTEREST_REPLY;
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(question_topic(j, &other), topic);
	}
	cr_expect_eq(n_replies, 1);
}

Test(question, is_aborted_only_by_its_own_skill_id)
{
	static const struct {
		const char *data;
		enum question_step step;
	} cases[] = {
		{"{'skill_id':'toolboxd'}", QUESTION_STOPS},
		{"{'skill_id':'toolbox\\u0064'}", QUESTION_STOPS},
		{"{'skill_id':'toolboxd.x'}", QUESTION_GOES_ON},
		{"{'skill_id':'Toolboxd'}", QUESTION_GOES_ON},
		{"{'skill_id':''}", QUESTION_GOES_ON},
		{"{'skill_id':null}", QUESTION_GOES_ON},
		{"{'skill_id':['toolboxd']}", QUESTION_GOES_ON},
		{"{'skill':'toolboxd'}", QUESTION_GOES_ON},
		{"{}", QUESTION_GOES_ON},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		char text[128] = "";

		read_data(&tape, strncpy(text, cases[i].data, sizeof(text) - 1));
		cr_expect_eq(question_judge(INTEREST_ABORT, &tape), cases[i].step, "%s", text);
		cr_expect_eq(question_judge(INTEREST_STOP, &tape), QUESTION_STOPS);
		cr_expect_eq(question_judge(INTEREST_PAUSE, &tape), QUESTION_PAUSES);
		cr_expect_eq(question_judge(INTEREST_RESUME, &tape), QUESTION_LISTENS);
		cr_expect_eq(question_judge(INTEREST_REPLY, &tape), QUESTION_GOES_ON);
		cr_expect_eq(question_judge(INTEREST_COLLECT, &tape), QUESTION_GOES_ON);
	}
}

Test(question, has_an_answer_only_with_an_array_of_words)
{
	static const char *const with[] = {"{'utterances':['yes']}", "{'utterances':['','x']}"};
	static const char *const without[] = {"{}", "{'utterances':[]}", "{'utterances':null}",
		"{'utterances':'yes'}", "{'utterances':{'0':'yes'}}", "{'utterance':['yes']}"};

	for (size_t i = 0; i < ARRAY_SIZE(with) + ARRAY_SIZE(without); i++) {
		bool has_words = i < ARRAY_SIZE(with);
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		char text[128] = "";

		read_data(&tape, strncpy(text, has_words ? with[i] : without[i - ARRAY_SIZE(with)],
					 sizeof(text) - 1));
		cr_expect_eq(question_has_words(&tape), has_words, "%s", text);
	}
}
