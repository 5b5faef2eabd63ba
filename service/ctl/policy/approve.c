/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/policy/answers.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/stringify.h"

/* toolboxctl approve and deny: answer one question. */

struct sought {
	struct question_mark mark;
	bool is_found;
};

static void compare_question(
	void *data, const struct json_tape *tape, uint32_t object, const struct question_mark *mark)
{
	struct sought *sought = data;

	(void)tape;
	(void)object;
	if (strcmp(sought->mark.id, mark->id) != 0)
		return;
	sought->mark = *mark;
	sought->is_found = true;
}

/* Find the question @id, with its seal if there is a key: the person has seen its words in
 * `approvals`, where they had the same seal. Return 0, or an enum ctl_status after a complaint. */
static int find_question(struct ctl_session *session, const struct approval_key *key,
	const char *id, struct question_mark *ret_mark)
{
	struct sought sought = {0};
	int r = 0;

	memcpy(sought.mark.id, id, sizeof(sought.mark.id));
	if (key->state == APPROVAL_KEY_READY) {
		r = questions_each(session, key, compare_question, &sought);
		if (r == 0 && !sought.is_found) {
			terminal_complain("there is no question %s: it was answered, or its time "
					  "is over",
				id);
			r = CTL_ERROR;
		}
	}
	*ret_mark = sought.mark;
	return r;
}

static int answer_question(const struct ctl_options *options, const char *decision)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	const char *id = options->positional[1];
	struct question_mark mark;
	struct approval_key key;
	int r;

	if (!questions_is_id(id)) {
		terminal_complain(
			"'%s' is no question: its id has " STRINGIFY(
				HEX_ID_CHARS) " hexadecimal digits (toolboxctl approvals)",
			id);
		return CTL_USAGE;
	}
	r = ctl_answers_open(options, &session, &key);
	if (r == 0)
		r = find_question(session, &key, id, &mark);
	if (r == 0)
		r = ctl_answers_send(session, &key, &mark, decision, options->reason, &response);
	if (options->json && response.text.size > 0)
		ctl_response_print(&response);
	else if (r == CTL_ERROR && response.text.size > 0)
		ctl_response_complain(&response);
	return r;
}

int ctl_approve(const struct ctl_options *options)
{
	return answer_question(options, options->session ? "session" : "once");
}

int ctl_deny(const struct ctl_options *options)
{
	return answer_question(options, "deny");
}
