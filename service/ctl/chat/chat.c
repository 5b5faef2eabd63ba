/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "ctl/chat/line.h"
#include "ctl/chat/questions.h"
#include "ctl/command.h"
#include "ctl/policy/answers.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text/visible.h"

/*
 * toolboxctl chat: a person talks to toolbox-agent, one turn or a conversation.
 *
 *   a line ─▶ ovos.tools.chat ──▶ delta: the text as it comes
 *                │                call.started, .completed: the tools, as they run
 *                │                approval.requested ─▶ questions ─▶ the first is shown ─▶ a line
 *                │                                         with y, s or n ─▶ approval.respond
 *                ▼
 *             the end, or Ctrl-C ─▶ ovos.tools.chat.cancel
 *
 * Each turn has a session of its own: no message is read while a person types.
 */

#define CANCEL_TOPIC    CTL_CHAT_TOPIC ".cancel"
#define DELTA_TOPIC     CTL_CHAT_TOPIC ".delta"
#define STARTED_TOPIC   "ovos.tools.call.started"
#define COMPLETED_TOPIC "ovos.tools.call.completed"
#define REQUESTED_TOPIC "ovos.tools.approval.requested"
#define RESOLVED_TOPIC  "ovos.tools.approval.resolved"
#define RESPOND_TOPIC   "ovos.tools.approval.respond"
#define ATTACH_TOPIC    "ovos.tools.approval.attach"
#define ATTACHED_TOPIC  ATTACH_TOPIC ".response"

/* The ids of an agent's calls begin so (agent/turn). */
#define CALL_PREFIX "agent-"

/* The longest turn, unless --timeout is given, and the time for its end after a cancel. */
#define TURN_MAX_MS (3600 * UINT64_C(1000))
#define CANCEL_MS   5000

static const char *const chat_topics[] = {DELTA_TOPIC, STARTED_TOPIC, COMPLETED_TOPIC,
	REQUESTED_TOPIC, RESOLVED_TOPIC, ATTACHED_TOPIC};

static const struct ctl_service agent_service = {
	.kind = "loop with a model",
	.program = "toolbox-agent",
	.alive = "mycroft.toolbox-agent.is_alive",
	.alive_response = "mycroft.toolbox-agent.is_alive.response",
};

struct chat_turn {
	struct ctl_session *session;
	struct approval_key key;
	struct chat_questions questions;
	char typed;        /* the first key of the line that is typed */
	size_t n_typed;    /* its keys so far */
	uint64_t renew_ms; /* when to attach and to watch again */
	bool is_shown;     /* the answer is shown as it comes */
	bool has_text;     /* a part of the answer was shown, without a newline */
	bool can_answer;   /* a person is at the keyboard */
	bool is_cancelled;
};

/* ── events of a turn ────────────────────────────────────────────────────────────────────────── */

static void end_text(struct chat_turn *turn)
{
	if (turn->has_text)
		putchar('\n');
	turn->has_text = false;
	fflush(stdout);
}

static void show_delta(struct chat_turn *turn, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup(buffer_deinit) struct buffer shown = {0};

	if (!turn->is_shown || !ctl_session_is_ours(turn->session) ||
		!json_read_text(event, json_find(event, 0, "text"), &decoded))
		return;
	visible_append_lines(&shown, buffer_text(&decoded), decoded.size);
	terminal_print(&shown);
	fflush(stdout);
	turn->has_text |= shown.size > 0;
}

/* Return whether the event is about a call of our turn. */
static bool is_own_call(const struct json_tape *event)
{
	uint32_t call_id = json_find_typed_at(event, 0, "call_id", JSON_STRING);

	return json_member_is(event, 0, "source", CTL_SOURCE) && call_id != JSON_NONE &&
	       json_at(event, call_id)->length > strlen(CALL_PREFIX) &&
	       memcmp(json_bytes(event, call_id), CALL_PREFIX, strlen(CALL_PREFIX)) == 0;
}

/* Print a line about a call on a terminal: `  add`, `  add: 2.1 ms`, `  add failed: …`. */
static void show_call(struct chat_turn *turn, const struct json_tape *event, bool is_end)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	if (!turn->is_shown || !is_own_call(event))
		return;
	end_text(turn);
	terminal_append_member(&line, event, 0, "name");
	if (is_end && json_find_typed_at(event, 0, "ok", JSON_TRUE) != JSON_NONE) {
		buffer_append_string(&line, ": ");
		terminal_append_member(&line, event, 0, "duration_ms");
		buffer_append_string(&line, " ms");
	} else if (is_end) {
		buffer_append_string(&line, " failed: ");
		terminal_append_member(&line, event, 0, "error");
	} else {
		buffer_append_string(&line, " …");
	}
	terminal_print_paragraph(&line, 2, 4);
	fflush(stdout);
}

/* Show the first question, with all arguments. */
static void show_question(struct chat_turn *turn)
{
	const struct buffer *text = &turn->questions.items[0].text;
	cleanup(json_tape_cleanup) struct json_tape event = {0};
	cleanup(buffer_deinit) struct buffer sentence = {0};
	cleanup(buffer_deinit) struct buffer keys = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t args;

	if (json_tape_read(&event, text->data, text->size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return;
	/* Nothing that was typed before the question is its answer. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	turn->n_typed = 0;
	end_text(turn);
	terminal_append_member(&sentence, &event, 0, "question");
	terminal_append_paragraph(&out, &sentence, 0, 0);
	terminal_print(&out);
	args = json_find(&event, 0, "args");
	if (args != JSON_NONE)
		terminal_print_json(&event, args);
	buffer_append_string(&keys, "y once, s for the session, n no; then Enter");
	buffer_reset(&out);
	terminal_append_paragraph(&out, &keys, 2, 2);
	terminal_print(&out);
	fflush(stdout);
}

/* Take a question about a call of our turn. The question that is read stays the first. */
static void queue_question(struct chat_turn *turn, const struct json_tape *event)
{
	struct question_mark mark;

	if (!turn->can_answer || !is_own_call(event))
		return;
	if (!questions_read(&turn->key, event, 0, &mark))
		questions_complain();
	else if (chat_questions_add(&turn->questions, &mark, event))
		show_question(turn);
}

static void take_decision(struct chat_turn *turn, const struct json_tape *event)
{
	size_t i = 0;

	while (i < turn->questions.n_items &&
		!questions_is_end(&turn->key, event, 0, &turn->questions.items[i].mark))
		i++;
	if (chat_questions_drop(&turn->questions, i))
		show_question(turn);
}

/* Prove who attaches: the service has sent a number for it. */
static void take_attached(struct chat_turn *turn, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (turn->can_answer && ctl_session_is_ours(turn->session) &&
		ctl_answers_write_attach(&turn->key, CHAT_WATCH_SECONDS, event, &data))
		ctl_session_send(turn->session, ATTACH_TOPIC, &data);
}

/* A ctl_event_function. */
static void take_chat_event(void *data, const char *topic, const struct json_tape *event)
{
	struct chat_turn *turn = data;

	if (json_type_at(event, 0) != JSON_OBJECT)
		return;
	if (strcmp(topic, DELTA_TOPIC) == 0)
		show_delta(turn, event);
	else if (strcmp(topic, REQUESTED_TOPIC) == 0)
		queue_question(turn, event);
	else if (strcmp(topic, RESOLVED_TOPIC) == 0)
		take_decision(turn, event);
	else if (strcmp(topic, ATTACHED_TOPIC) == 0)
		take_attached(turn, event);
	else
		show_call(turn, event, strcmp(topic, COMPLETED_TOPIC) == 0);
}

/* Listen to the events of a turn. @renews: to responses to the attach of renew_person(), too. Then
 * no request of ctl_answers_attach() would get its response. */
static void listen_to_events(struct chat_turn *turn, bool renews)
{
	size_t n = ARRAY_SIZE(chat_topics);

	ctl_session_listen(turn->session, chat_topics, renews ? n : n - 1, take_chat_event, turn);
}

/* ── the person ──────────────────────────────────────────────────────────────────────────────── */

/* Answer the first question, and forget it: a further key is about the next one. */
static void send_decision(struct chat_turn *turn, const char *decision)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (ctl_answers_write(&turn->key, &turn->questions.items[0].mark, decision, NULL, &data) ==
		0)
		ctl_session_send(turn->session, RESPOND_TOPIC, &data);
	if (chat_questions_drop(&turn->questions, 0))
		show_question(turn);
}

/* Act on a whole line: a single key is an answer, any other line is not. */
static void judge_line(struct chat_turn *turn)
{
	char key = turn->n_typed == 1 ? turn->typed : '\0';

	turn->n_typed = 0;
	if (turn->questions.n_items == 0)
		return;
	if (key == 'y')
		send_decision(turn, "once");
	else if (key == 's')
		send_decision(turn, "session");
	else if (key == 'n')
		send_decision(turn, "deny");
}

/* Read a byte of the lines that a person types in a turn: answers to questions. */
static bool take_typed(void *data)
{
	struct chat_turn *turn = data;
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	if (n != 1)
		return true;
	if (key == '\n')
		judge_line(turn);
	else if (turn->n_typed++ == 0)
		turn->typed = key;
	return true;
}

/* A ctl_interrupt_function: the first Ctrl-C cancels the turn, whose end is waited for. */
static uint64_t interrupt_turn(void *data, int signal_number)
{
	struct chat_turn *turn = data;

	if (signal_number != SIGINT || turn->is_cancelled)
		return 0;
	turn->is_cancelled = true;
	ctl_session_send(turn->session, CANCEL_TOPIC, NULL);
	return CANCEL_MS;
}

static void watch_calls(struct chat_turn *turn)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	buffer_printf(&data, "\"seconds\":%d", CHAT_WATCH_SECONDS);
	ctl_session_send(turn->session, "ovos.tools.watch", &data);
}

/* Attach and watch again when it is time (ctl_session_interrupts()). */
static void renew_person(void *data)
{
	struct chat_turn *turn = data;
	cleanup(buffer_deinit) struct buffer attach = {0};

	if (!turn->is_shown || !chat_is_due(&turn->renew_ms, clock_now_ms()))
		return;
	watch_calls(turn);
	if (turn->can_answer &&
		ctl_answers_write_attach(&turn->key, CHAT_WATCH_SECONDS, NULL, &attach))
		ctl_session_send(turn->session, ATTACH_TOPIC, &attach);
}

/* Let questions be answered here, and calls be shown. */
static void begin_person(struct chat_turn *turn)
{
	turn->can_answer = isatty(STDIN_FILENO) && turn->is_shown &&
			   ctl_answers_key(&turn->key) == 0 &&
			   ctl_answers_attach(turn->session, &turn->key, CHAT_WATCH_SECONDS) == 0 &&
			   ctl_session_read(turn->session, STDIN_FILENO, take_typed, turn) == 0;
	if (turn->is_shown && chat_is_due(&turn->renew_ms, clock_now_ms()))
		watch_calls(turn);
}

/* ── a turn ──────────────────────────────────────────────────────────────────────────────────── */

/* Print the answer, unless it was shown as it came. */
static void print_answer(const struct chat_turn *turn, const struct ctl_response *response)
{
	uint32_t answer = ctl_response_find(response, 0, "answer", JSON_STRING);
	uint32_t reason = ctl_response_find(response, 0, "reason", JSON_STRING);
	cleanup(buffer_deinit) struct buffer decoded = {0};
	cleanup(buffer_deinit) struct buffer shown = {0};
	cleanup(buffer_deinit) struct buffer why = {0};
	bool is_answer = json_member_is(&response->tape, 0, "finish", "answer");

	if (answer != JSON_NONE && !(turn->is_shown && is_answer)) {
		json_string_decode(&response->tape, answer, &decoded);
		visible_append_lines(&shown, buffer_text(&decoded), decoded.size);
		terminal_print_line(&shown);
	}
	if (reason == JSON_NONE)
		return;
	terminal_append_value(&why, &response->tape, reason);
	terminal_complain_text(&why);
}

/* Return the status of a turn: an answer, or the end for another reason. */
static int chat_status(const struct ctl_response *response)
{
	uint32_t finish = ctl_response_find(response, 0, "finish", JSON_STRING);

	if (finish == JSON_NONE)
		return ctl_response_status(response);
	return json_is_text(&response->tape, finish, "answer") ? CTL_DONE : CTL_ERROR;
}

static int report_turn(struct chat_turn *turn, const struct ctl_options *options,
	const struct ctl_response *response)
{
	bool was_shown = turn->has_text;

	end_text(turn);
	if (options->json)
		ctl_response_print(response);
	else if (ctl_response_find(response, 0, "finish", JSON_STRING) == JSON_NONE)
		ctl_response_complain(response);
	else
		print_answer(
			&(struct chat_turn){.is_shown = turn->is_shown && was_shown}, response);
	return chat_status(response);
}

/* Wait until an agent answers: it may start just now, and a bus keeps no utterance for it. */
static int await_agent(struct ctl_session *session)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};

	ctl_session_set_service(session, &agent_service);
	return ctl_session_ask(session, agent_service.alive, NULL, &response);
}

/* Make one turn with the members @data, an object. */
static int make_turn(const struct ctl_options *options, const struct buffer *data)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct chat_turn turn = {.is_shown = !options->json && isatty(STDOUT_FILENO)};
	bool can_answer;
	int r = ctl_session_open(options, &session);

	r = r ? r : await_agent(session);
	r = r ? r : ctl_session_interrupts(session, interrupt_turn, renew_person, &turn);
	if (r != 0)
		return r;
	turn.session = session;
	ctl_session_set_service(session, NULL);
	listen_to_events(&turn, false);
	begin_person(&turn);
	listen_to_events(&turn, true);
	ctl_session_set_service(session, &agent_service);
	if (!options->has_timeout)
		ctl_session_set_patience(session, TURN_MAX_MS);
	r = ctl_session_ask(session, CTL_CHAT_TOPIC, data, &response);
	can_answer = turn.can_answer;
	if (r == 0)
		r = report_turn(&turn, options, &response);
	chat_questions_deinit(&turn.questions);
	turn.can_answer = false;
	listen_to_events(&turn, false);
	ctl_session_set_service(session, NULL);
	if (can_answer)
		ctl_answers_attach(session, &turn.key, 0);
	return r;
}

static void begin_data(const struct ctl_options *options, struct buffer *data)
{
	ctl_request_member(data, "lang", options->lang);
	ctl_request_member(data, "profile", options->profile);
	if (!options->json && isatty(STDOUT_FILENO))
		ctl_request_flag(data, "stream");
}

/* Make a turn of each line, until the end of the lines. Return the status of the last turn. */
static int converse(const struct ctl_options *options)
{
	int r = CTL_DONE;
	char *line;

	while (r != CTL_NO_BUS && !ferror(stdout) && (line = chat_line_read("> "))) {
		cleanup(buffer_deinit) struct buffer data = {0};

		if (line[strspn(line, " \t")]) {
			begin_data(options, &data);
			ctl_request_member(&data, "utterance", line);
			r = make_turn(options, &data);
		}
		free(line);
	}
	/* After Ctrl-D the cursor is in the line of the prompt. */
	if (r != CTL_NO_BUS && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		putchar('\n');
	return r;
}

int ctl_chat(const struct ctl_options *options)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (options->n_positional < 2)
		return converse(options);
	begin_data(options, &data);
	ctl_request_words(&data, "utterance", options);
	return make_turn(options, &data);
}
