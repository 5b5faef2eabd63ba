/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/approval.h"
#include "ctl/invoke/call.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/invoke/progress.h"
#include "ctl/policy/answers.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "policy/hex.h"
#include "util/array.h"
#include "util/clock.h"

#define REQUESTED_TOPIC "ovos.tools.approval.requested"
#define RESOLVED_TOPIC  "ovos.tools.approval.resolved"
#define RESPOND_TOPIC   "ovos.tools.approval.respond"
#define PROGRESS_TOPIC  "ovos.tools.call.progress"

/* The time after a report that a person is asked, of which there is one every 5 s, without another
 * one. */
#define SILENCE_MS (UINT64_C(3) * APPROVAL_REPORT_MS)

/* The time that messages on their way may take after the end of a question. */
#define RESOLVE_MS 2000

/* The time that the response of the service to the end of a --timeout may take. */
#define RESPONSE_MS 1000

/* The time for which --yes attaches. */
#define ATTACH_SECONDS 60

#define DAY_S 86400

struct waiting {
	struct ctl_session *session;
	const struct buffer *args;
	char call_id[HEX_ID_CHARS + 1];
	struct progress progress;
	const struct approval_key *key; /* with --yes, or NULL */
	struct question_mark question;  /* the question about our call; its id is "": none */
	bool has_timeout;
	bool is_cancelled;
	int signal;
};

/* ── a person who is asked ───────────────────────────────────────────────────────────────────── */

static bool is_asked(const struct waiting *waiting)
{
	return waiting->question.id[0] != '\0';
}

/* Return whether the arguments in @event are ours: each that we sent, as it is or hidden. */
static bool has_our_arguments(const struct waiting *waiting, const struct json_tape *event)
{
	uint32_t shown = json_find_typed_at(event, 0, "args", JSON_OBJECT);
	cleanup(json_tape_cleanup) struct json_tape ours = {0};

	if (shown == JSON_NONE || json_tape_read(&ours, waiting->args->data, waiting->args->size,
					  JSON_DEPTH_DEFAULT, NULL) != 0)
		return false;
	json_each_key(key, &ours, 0) {
		cleanup(buffer_deinit) struct buffer name = {0};
		cleanup(buffer_deinit) struct buffer mine = {0};
		cleanup(buffer_deinit) struct buffer other = {0};
		static const char hidden[] = "\"***\"";
		uint32_t value;

		json_string_decode(&ours, key, &name);
		value = json_find_sized(event, shown, buffer_text(&name), name.size);
		if (value == JSON_NONE)
			return false;
		json_write_compact(&mine, &ours, key + 1);
		json_write_compact(&other, event, value);
		if (!buffer_terminate(&mine) || !buffer_terminate(&other) ||
			(strcmp(mine.data, other.data) != 0 && strcmp(other.data, hidden) != 0))
			return false;
	}
	return true;
}

/* Answer the question about our call with yes. */
static void answer_own_question(struct waiting *waiting, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	if (!has_our_arguments(waiting, event)) {
		terminal_complain("--yes does not answer question %s, whose arguments are others "
				  "than those of this command; see toolboxctl approvals",
			waiting->question.id);
		return;
	}
	r = ctl_answers_write(waiting->key, &waiting->question, "once", NULL, &data);
	if (r == 0)
		ctl_session_send(waiting->session, RESPOND_TOPIC, &data);
}

/* Stop the clock for the question about our call. */
static void take_question(struct waiting *waiting, const struct json_tape *event)
{
	static const struct approval_key none = {0};
	struct question_mark mark;
	double seconds = 0;

	if (is_asked(waiting) || !json_member_is(event, 0, "source", CTL_SOURCE) ||
		!json_member_is(event, 0, "call_id", waiting->call_id) ||
		!json_read_f64(event, json_find(event, 0, "expires_s"), &seconds) ||
		!(seconds >= 0 && seconds <= DAY_S))
		return;
	if (!questions_read(waiting->key ? waiting->key : &none, event, 0, &mark)) {
		questions_complain();
		return;
	}
	waiting->question = mark;
	ctl_session_pause(waiting->session, (uint64_t)(seconds * MS_PER_S) + RESOLVE_MS);
	terminal_clear_line();
	if (waiting->key)
		answer_own_question(waiting, event);
	else if (isatty(STDERR_FILENO))
		terminal_complain("waiting for approval %s, up to %.0f s (Ctrl-C cancels)",
			waiting->question.id, seconds);
}

/* Report that our answer does not count. */
static void take_refusal(const struct waiting *waiting, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer error = {0};

	if (!is_asked(waiting) || !json_member_is(event, 0, "id", waiting->question.id))
		return;
	terminal_append_member(&error, event, 0, "error");
	if (error.size > 0 && buffer_terminate(&error))
		terminal_complain("--yes is not enough: %s", error.data);
}

/* Take a report of our call. The time of the call begins anew with it, and while a person is asked
 * no time passes: over HTTP there are no other events of that. */
static void take_progress(struct waiting *waiting, const struct json_tape *event)
{
	bool is_http = ctl_session_is_http(waiting->session);

	/* Over HTTP there is no progress except the call's. On the bus a question is an event of
	 * its own. */
	if (!is_http && (!json_member_is(event, 0, "call_id", waiting->call_id) ||
				json_member_is(event, 0, "state", "waiting")))
		return;
	progress_take(&waiting->progress, event);
	if (is_http && json_member_is(event, 0, "text", APPROVAL_REPORT_TEXT))
		ctl_session_pause(waiting->session, SILENCE_MS);
	else if (!waiting->has_timeout && !is_asked(waiting))
		ctl_session_restart(waiting->session);
}

static void take_event(void *data, const char *topic, const struct json_tape *event)
{
	struct waiting *waiting = data;

	if (json_type_at(event, 0) != JSON_OBJECT || waiting->is_cancelled)
		return;
	if (strcmp(topic, PROGRESS_TOPIC) == 0) {
		take_progress(waiting, event);
	} else if (strcmp(topic, REQUESTED_TOPIC) == 0) {
		take_question(waiting, event);
	} else if (strcmp(topic, RESOLVED_TOPIC) != 0) {
		take_refusal(waiting, event);
	} else if (is_asked(waiting) && json_member_is(event, 0, "id", waiting->question.id)) {
		waiting->progress.began_ms = clock_now_ms();
		waiting->question = (struct question_mark){0};
		ctl_session_resume(waiting->session);
	}
}

/* ── the end before the response ─────────────────────────────────────────────────────────────── */

/* Cancel the call, and return how long to wait for its response; the second time leave at once. */
static uint64_t interrupt(void *data, int signal_number)
{
	struct waiting *waiting = data;

	waiting->signal = signal_number ? signal_number : waiting->signal;
	if (waiting->is_cancelled)
		return 0;
	waiting->is_cancelled = true;
	terminal_clear_line();
	return ctl_session_cancel(waiting->session, waiting->call_id);
}

static void tick(void *data)
{
	struct waiting *waiting = data;

	if (!is_asked(waiting) && !waiting->is_cancelled)
		progress_tick(&waiting->progress);
}

/* Report how a call that was cancelled has ended, and return the status. @r: the result of its
 * request. A call that ended only by our own cancel was not answered in time. */
static int report_end(const struct waiting *waiting, const struct ctl_options *options, int r,
	double seconds, const struct ctl_response *response)
{
	if (waiting->signal && r != 0)
		terminal_complain("interrupted; %s",
			ctl_session_is_http(waiting->session)
				? "the connection is closed, which cancels the call"
				: "no answer to the cancel yet: the tool may still run");
	else if (!waiting->signal && r == 0 && !options->json)
		terminal_complain("no answer within %g s; the call was told to end", seconds);
	return !waiting->signal && r == 0 && ctl_response_has_code(response, "cancelled")
		       ? CTL_NO_ANSWER
		       : r;
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

static int write_request(
	const struct waiting *waiting, const struct ctl_options *options, struct buffer *data)
{
	int r;

	r = ctl_request_tool(data, options->positional[1], options);
	if (r != 0)
		return r;
	ctl_request_member(data, "call_id", waiting->call_id);
	if (options->has_timeout)
		json_write_member_u64(data, "timeout_ms", options->timeout_ms);
	/* Each report begins the deadline of the call anew, and with it our time. */
	ctl_request_flag(data, "progress");
	json_write_member_json(data, "args", waiting->args->data, waiting->args->size);
	return 0;
}

/* Send the request, and wait for the response. */
static int ask_service(struct waiting *waiting, const struct ctl_options *options, uint64_t most_ms,
	struct ctl_response *ret_response)
{
	static const char *const topics[] = {
		REQUESTED_TOPIC, RESOLVED_TOPIC, RESPOND_TOPIC ".response", PROGRESS_TOPIC};
	cleanup(buffer_deinit) struct buffer data = {0};
	uint64_t wait_ms = options->has_timeout ? options->timeout_ms + RESPONSE_MS : most_ms;
	int r = write_request(waiting, options, &data);

	if (r == 0)
		r = ctl_session_interrupts(waiting->session, interrupt, tick, waiting);
	if (r != 0)
		return r;
	ctl_session_listen(waiting->session, topics, ARRAY_SIZE(topics), take_event, waiting);
	ctl_session_set_timeout(waiting->session, wait_ms);
	r = ctl_session_ask(waiting->session, "ovos.tools.invoke", &data, ret_response);
	ctl_session_listen(waiting->session, NULL, 0, NULL, NULL);
	ctl_session_interrupts(waiting->session, NULL, NULL, NULL);
	ctl_session_set_timeout(waiting->session, options->timeout_ms);
	terminal_clear_line();
	return waiting->is_cancelled
		       ? report_end(waiting, options, r, (double)wait_ms / MS_PER_S, ret_response)
		       : r;
}

int call_run(struct ctl_session *session, const struct ctl_options *options,
	const struct buffer *args, uint64_t most_ms, struct ctl_response *ret_response,
	int *ret_signal)
{
	struct waiting waiting = {
		.session = session, .args = args, .has_timeout = options->has_timeout};
	struct approval_key key = {0};
	int r = 0;

	*ret_signal = 0;
	if (hex_write_id(waiting.call_id) < 0) {
		terminal_complain("no random bytes for the call");
		return CTL_ERROR;
	}
	if (options->yes) {
		r = ctl_answers_key(&key);
		r = r ? r : ctl_answers_attach(session, &key, ATTACH_SECONDS);
		waiting.key = &key;
	}
	if (r != 0)
		return r;
	progress_begin(&waiting.progress);
	r = ask_service(&waiting, options, most_ms, ret_response);
	*ret_signal = waiting.signal;
	progress_deinit(&waiting.progress);
	if (options->yes && !waiting.signal)
		ctl_answers_attach(session, &key, 0);
	explicit_bzero(&key, sizeof(key));
	return r;
}
