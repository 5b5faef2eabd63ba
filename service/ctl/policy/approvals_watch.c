/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "ctl/policy/answers.h"
#include "ctl/policy/approvals.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/document.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/list.h"

/*
 * toolboxctl approvals --watch: a person answers questions at this terminal.
 *
 *   attach, again at half of its time
 *   .list, .requested ─▶ questions ─▶ the first is shown ─▶ a key ─▶ .respond
 *                            ▲
 *   .resolved ───────────────┘ decided elsewhere: it is taken off
 *
 * Only the main loop sends requests: events and keys leave something for it to do, and wake it.
 */

/* The time of one attach. Another terminal that leaves detaches this one, too, which has the same
 * source: it attaches again soon. */
#define ATTACH_SECONDS 20
#define RENEW_MS       10000
#define DETACHED_MS    100

/* The time between two attempts while the service is away. */
#define AWAY_MS 1000

#define EXPIRES_S_MAX 1e9
#define INDENT        2

#define REQUESTED_TOPIC "ovos.tools.approval.requested"
#define RESOLVED_TOPIC  "ovos.tools.approval.resolved"
#define ATTACH_TOPIC    "ovos.tools.approval.attach" /* the bus sends requests to every client */

static const char *const topics[] = {REQUESTED_TOPIC, RESOLVED_TOPIC, ATTACH_TOPIC};

struct watched {
	struct list link;
	struct question_mark mark;
	struct buffer text; /* the question, JSON */
	struct json_tape tape;
	uint64_t expires_ms;
	bool is_shown;
	bool is_cut; /* its sentence does not have all arguments, and they were not shown */
};

struct watch {
	struct ctl_session *session;
	struct approval_key key;
	struct list questions; /* the first one is asked about */
	uint64_t renew_ms;     /* when to attach again */
	char pressed;          /* the key to act on; 0: none */
	bool is_over;          /* stdin has ended */
	bool stays;            /* a service that goes away is waited for */
};

/* ── the terminal ────────────────────────────────────────────────────────────────────────────── */

static struct termios before;
static bool is_raw;

static void restore_terminal(void)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	is_raw = false;
}

static void restore_and_end(int signal_number)
{
	restore_terminal();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Let keys arrive one by one and unseen, if stdin is a terminal. */
static void begin_keys(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return;
	raw = before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	signal(SIGINT, restore_and_end);
	signal(SIGTERM, restore_and_end);
	signal(SIGHUP, restore_and_end);
}

/* Forget keys that were pressed before the person could read what they would answer. */
static void drop_keys(struct watch *watch)
{
	if (is_raw)
		tcflush(STDIN_FILENO, TCIFLUSH);
	if (watch->pressed != 'q')
		watch->pressed = '\0';
}

static void print_line(struct buffer *line)
{
	buffer_append_char(line, '\n');
	terminal_print(line);
	fflush(stdout);
}

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

static struct watched *first_question(const struct watch *watch)
{
	if (list_is_empty(&watch->questions))
		return NULL;
	return container_of(watch->questions.next, struct watched, link);
}

static size_t count_questions(const struct watch *watch)
{
	size_t n = 0;

	list_for_each(link, &watch->questions)
		n++;
	return n;
}

static void drop_question(struct watched *question)
{
	list_remove(&question->link);
	json_tape_deinit(&question->tape);
	buffer_deinit(&question->text);
	free(question);
}

static void forget_questions(struct watch *watch)
{
	while (!list_is_empty(&watch->questions))
		drop_question(first_question(watch));
}

static struct watched *find_question(const struct watch *watch, const char *id)
{
	list_each(struct watched, question, &watch->questions, link) {
		if (strcmp(question->mark.id, id) == 0)
			return question;
	}
	return NULL;
}

/* Return the moment at which the question @tape expires, which was sent just now. */
static uint64_t expiry_of(const struct json_tape *tape)
{
	double left_s = 0;

	json_read_f64(tape, json_find(tape, 0, "expires_s"), &left_s);
	return clock_now_ms() +
	       (left_s > 0 && left_s < EXPIRES_S_MAX ? (uint64_t)(left_s * MS_PER_S) : 0);
}

/* Add the question at @object of @tape, unless it is there. */
static void add_question(
	void *data, const struct json_tape *tape, uint32_t object, const struct question_mark *mark)
{
	struct watch *watch = data;
	struct watched *question;

	if (find_question(watch, mark->id))
		return;
	question = calloc(1, sizeof(*question));
	if (!question)
		return;
	list_init(&question->link);
	question->mark = *mark;
	json_write_compact(&question->text, tape, object);
	if (buffer_status(&question->text) < 0 ||
		json_tape_read(&question->tape, question->text.data, question->text.size,
			JSON_DOCUMENT_DEPTH_MAX, NULL) != 0) {
		drop_question(question);
		return;
	}
	question->expires_ms = expiry_of(&question->tape);
	question->is_cut = json_find(&question->tape, 0, "arguments_cut") != JSON_NONE;
	list_append(&watch->questions, &question->link);
}

/* Append what the question of @tape is about, and the time that is left. */
static void append_facts(struct buffer *line, const struct json_tape *tape, uint64_t left_ms)
{
	terminal_append_tool(line, tape, 0);
	buffer_append_string(line, ", risk ");
	terminal_append_member(line, tape, 0, "risk");
	buffer_append_string(line, ", from '");
	terminal_append_member(line, tape, 0, "source");
	buffer_printf(line, "', %.0f s left, fingerprint ", (double)left_ms / MS_PER_S);
	terminal_append_member(line, tape, 0, "fingerprint");
}

/* Append the keys that answer the first question, and how many others wait. */
static void append_keys(struct buffer *out, const struct watch *watch)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	size_t n_others = count_questions(watch) - 1;

	buffer_append_string(&line, first_question(watch)->is_cut
					    ? "not all arguments are shown: ? shows them, before a "
					      "yes; n no, q leave"
					    : "y once, s for the session, n no, ? all arguments, "
					      "q leave");
	if (n_others > 0)
		buffer_printf(&line, "; %zu more %s", n_others, n_others == 1 ? "waits" : "wait");
	terminal_append_paragraph(out, &line, INDENT, INDENT);
}

/* Print the first question and its keys. */
static void show_question(const struct watch *watch, struct watched *question)
{
	cleanup(buffer_deinit) struct buffer sentence = {0};
	cleanup(buffer_deinit) struct buffer about = {0};
	cleanup(buffer_deinit) struct buffer facts = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	uint64_t now_ms = clock_now_ms();

	question->is_shown = true;
	terminal_append_member(&sentence, &question->tape, 0, "question");
	terminal_append_paragraph(&out, &sentence, 0, 0);
	terminal_append_member(&about, &question->tape, 0, "about");
	if (about.size > 0)
		terminal_append_paragraph(&out, &about, INDENT, INDENT);
	append_facts(&facts, &question->tape,
		question->expires_ms > now_ms ? question->expires_ms - now_ms : 0);
	terminal_append_paragraph(&out, &facts, INDENT, INDENT);
	append_keys(&out, watch);
	terminal_print(&out);
	fflush(stdout);
}

static void show_keys(const struct watch *watch)
{
	cleanup(buffer_deinit) struct buffer keys = {0};

	append_keys(&keys, watch);
	terminal_print(&keys);
	fflush(stdout);
}

/* Print the arguments of the first question, and its keys again: the arguments may be long. */
static void show_arguments(const struct watch *watch, struct watched *question)
{
	uint32_t arguments = json_find(&question->tape, 0, "args");

	if (arguments != JSON_NONE)
		terminal_print_json(&question->tape, arguments);
	question->is_cut = false;
	show_keys(watch);
}

/* Print how the question was decided, and forget it. */
static void take_resolved(struct watch *watch, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	char id[HEX_ID_CHARS + 1];
	struct watched *question = NULL;

	if (questions_read_hex(event, 0, "id", id, HEX_ID_CHARS))
		question = find_question(watch, id);
	if (!question || !questions_is_end(&watch->key, event, 0, &question->mark))
		return;
	if (question->is_shown) {
		buffer_append_string(&line, "  ");
		terminal_append_member(&line, event, 0, "decision");
		buffer_append_string(&line, " by ");
		terminal_append_member(&line, event, 0, "by");
		terminal_append_member(&reason, event, 0, "reason");
		if (reason.size > 0)
			buffer_append_string(&line, "  ");
		buffer_append_buffer(&line, &reason);
		print_line(&line);
	}
	drop_question(question);
}

/* Attach again soon if the request @event detaches a terminal, perhaps this one. */
static void take_attach(struct watch *watch, const struct json_tape *event)
{
	uint64_t soon_ms = clock_now_ms() + DETACHED_MS;
	uint64_t seconds;

	if (json_read_u64(event, json_find(event, 0, "seconds"), &seconds) && seconds == 0 &&
		watch->renew_ms > soon_ms)
		watch->renew_ms = soon_ms;
}

static void take_requested(struct watch *watch, const struct json_tape *event)
{
	struct question_mark mark;

	if (questions_read(&watch->key, event, 0, &mark))
		add_question(watch, event, 0, &mark);
	else
		questions_complain();
}

static void take_event(void *data, const char *topic, const struct json_tape *event)
{
	struct watch *watch = data;

	if (strcmp(topic, REQUESTED_TOPIC) == 0)
		take_requested(watch, event);
	else if (strcmp(topic, ATTACH_TOPIC) == 0)
		take_attach(watch, event);
	else if (json_type_at(event, 0) == JSON_OBJECT)
		take_resolved(watch, event);
	ctl_session_wake(watch->session);
}

/* Keep a key for later: it may come in the middle of a request. */
static bool take_key(void *data)
{
	struct watch *watch = data;
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		watch->is_over = true;
	else if (n == 1)
		watch->pressed = key;
	ctl_session_wake(watch->session);
	return !watch->is_over;
}

/* ── the service ─────────────────────────────────────────────────────────────────────────────── */

static int answer_question(
	struct watch *watch, const struct watched *question, const char *decision)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	/* The question may be gone before the response. */
	const struct question_mark mark = question->mark;
	int r = ctl_answers_send(watch->session, &watch->key, &mark, decision, NULL, &response);

	/* The question may be gone by now: it was resolved. */
	if (r == CTL_ERROR && response.text.size > 0)
		ctl_response_complain(&response);
	return watch->stays ? 0 : r;
}

/* Act on the pressed key. *ret_leaves: the key means to leave. */
static int act_on_key(struct watch *watch, bool *ret_leaves)
{
	struct watched *question = first_question(watch);
	char key = watch->pressed;

	watch->pressed = '\0';
	*ret_leaves = key == 'q' || watch->is_over;
	if (*ret_leaves || !question)
		return 0;
	if (question->is_cut && (key == 'y' || key == 's')) {
		show_keys(watch);
		return 0;
	}
	switch (key) {
	case 'y':
		return answer_question(watch, question, "once");
	case 's':
		return answer_question(watch, question, "session");
	case 'n':
		return answer_question(watch, question, "deny");
	case '?':
		show_arguments(watch, question);
		return 0;
	default:
		return 0;
	}
}

/* Report that questions are shown from now on, unless one is about to be. */
static void report_attached(const struct watch *watch)
{
	if (!is_raw || !list_is_empty(&watch->questions))
		return;
	puts("waiting for questions (q: the end)");
	fflush(stdout);
}

/* Attach, and look for questions that were asked meanwhile if @is_new. A service that is away is
 * waited for. Return 0, or an enum ctl_status. */
static int renew_attach(struct watch *watch, bool *is_new)
{
	int r = ctl_answers_attach(watch->session, &watch->key, ATTACH_SECONDS);

	if (r == 0 && *is_new)
		r = questions_each(watch->session, &watch->key, add_question, watch);
	watch->renew_ms = clock_now_ms() + (r == 0 ? RENEW_MS : AWAY_MS);
	if (r == 0) {
		if (*is_new)
			report_attached(watch);
		*is_new = false;
		ctl_session_stay(watch->session);
		watch->stays = true;
		return 0;
	}
	if (!watch->stays || (r != CTL_NO_BUS && r != CTL_NO_ANSWER))
		return r;
	/* A service that starts again has none of the questions. */
	forget_questions(watch);
	*is_new = true;
	return 0;
}

/* Renew the attach when it is time, show the first question, and act on keys, until the person
 * leaves. */
static int serve_person(struct watch *watch)
{
	bool is_new = true;
	bool leaves = false;
	int r = 0;

	while (r == 0 && !leaves) {
		uint64_t now_ms = clock_now_ms();
		struct watched *question = first_question(watch);

		if (question && !question->is_shown) {
			drop_keys(watch);
			show_question(watch, question);
		}
		/* A person who cannot read the questions is not to be asked. */
		if (ferror(stdout))
			break;
		if (watch->pressed || watch->is_over)
			r = act_on_key(watch, &leaves);
		else if (now_ms >= watch->renew_ms)
			r = renew_attach(watch, &is_new);
		else
			r = ctl_session_wait(watch->session, watch->renew_ms - now_ms);
	}
	return r;
}

int approvals_watch(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct watch watch = {0};
	int r;

	list_init(&watch.questions);
	if (options->json) {
		terminal_complain("approvals --watch takes no --json");
		return CTL_USAGE;
	}
	r = ctl_answers_key(&watch.key);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r != 0)
		return r;
	watch.session = session;
	ctl_session_listen(session, topics, ARRAY_SIZE(topics), take_event, &watch);
	r = ctl_session_read(session, STDIN_FILENO, take_key, &watch);
	if (r == -EPERM) {
		terminal_complain(
			"approvals --watch is answered by keys: stdin has to be a terminal");
		return CTL_USAGE;
	}
	if (r != 0)
		return r;
	begin_keys();
	r = serve_person(&watch);
	restore_terminal();
	if (r == 0)
		ctl_answers_attach(session, &watch.key, 0);
	forget_questions(&watch);
	return r;
}
