/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/answers.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"

/* toolboxctl approve and deny: answer one question. */

static int answer_question(const struct ctl_options *options, const char *decision)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	struct approval_key key;
	int r = ctl_answers_key(&key);

	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = ctl_answers_send(session, &key, options->positional[1], decision,
			options->reason, &response);
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
