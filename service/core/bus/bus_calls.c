/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/bus_calls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/bus/compose.h"
#include "core/bus/question.h"
#include "core/voice/conversation.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/clock.h"

_Static_assert(MS_PER_S / BUS_MESSAGE_MS == 100, "as the note has it");

/* The life of a run, and the order and the times of runs. */

/* The time between two looks at whether a message without a reply has left. */
#define LEAVING_MS 5

/* Ended runs kept for the next calls. */
#define SPARE_MAX 64

/* ── a run ───────────────────────────────────────────────────────────────────────────────────── */

static void on_run_timer(void *data);

static void free_run(struct bus_run *run)
{
	list_remove(&run->link);
	for (size_t i = 0; i < run->n_interests; i++)
		interests_remove(&run->calls->interests, &run->interests[i]);
	for (size_t i = 0; i < run->capacity; i++)
		buffer_deinit(&run->messages[i]);
	free(run->messages);
	buffer_deinit(&run->session);
	buffer_deinit(&run->collected);
	buffer_deinit(&run->reason);
	loop_timer_deinit(&run->timer);
	free(run);
}

static struct bus_run *make_run(struct bus_calls *calls)
{
	struct bus_run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->calls = calls;
	list_init(&run->link);
	if (loop_timer_init(&run->timer, calls->loop, on_run_timer, run) == 0)
		return run;
	free(run);
	return NULL;
}

/* Return a run for @call, a spare one if there is one. NULL without memory. */
static struct bus_run *take_run(struct bus_calls *calls, struct runner_call *call)
{
	const struct package *package = runner_package(call->runner);
	struct list *link = list_take_first(&calls->spare);
	struct bus_run *run = link ? container_of(link, struct bus_run, link) : make_run(calls);

	if (!run)
		return NULL;
	calls->n_spare -= link != NULL;
	list_append(&calls->runs, &run->link);
	run->call = call;
	run->bus = package->tools[call->tool]->bus;
	run->state = BUS_RUN_HELD;
	call->execution = run;
	return run;
}

/* Put the run away. Nothing refers to it any more. */
static void release_run(struct bus_run *run)
{
	struct bus_calls *calls = run->calls;

	loop_timer_disarm(&run->timer);
	run->call = NULL;
	run->bus = NULL;
	run->n_messages = run->n_echoes = run->n_collected = run->n_interests = 0;
	run->is_paid = run->is_sent = run->is_asked = run->wants_reply = false;
	buffer_recycle(&run->collected, 0);
	buffer_reset(&run->reason);
	if (run->pace)
		run->pace->n_runs--;
	run->pace = NULL;
	list_remove(&run->link);
	if (calls->n_spare >= SPARE_MAX) {
		free_run(run);
		return;
	}
	list_append(&calls->spare, &run->link);
	calls->n_spare++;
}

void bus_run_end_later(struct bus_run *run, enum call_outcome outcome, const char *format, ...)
{
	va_list arguments;

	buffer_reset(&run->reason);
	va_start(arguments, format);
	buffer_vprintf(&run->reason, format, arguments);
	va_end(arguments);
	run->outcome = outcome;
	run->state = BUS_RUN_ENDING;
	loop_timer_arm(&run->timer, 0);
}

/* ── the pace of a toolbox ───────────────────────────────────────────────────────────────────── */

static struct bus_pace *pace_of(struct list *link)
{
	return container_of(link, struct bus_pace, link);
}

/* Free the paces of toolboxes without a debt, and without a message lately. */
static void drop_settled_paces(struct bus_calls *calls, uint64_t now_ms)
{
	list_for_each(link, &calls->paces) {
		struct bus_pace *pace = pace_of(link);

		if (pace->n_runs > 0 || pace->paid_ms > now_ms ||
			pace->sent_ms + BUS_UNASKED_MS > now_ms)
			continue;
		list_remove(link);
		free(pace);
	}
}

/* Return the pace of the toolbox @id, whatever its manifest was before; NULL without memory. */
static struct bus_pace *find_pace(struct bus_calls *calls, const char *id)
{
	struct bus_pace *pace;

	list_for_each(link, &calls->paces)
		if (strcmp(pace_of(link)->id, id) == 0)
			return pace_of(link);
	drop_settled_paces(calls, clock_now_ms());
	pace = calloc(1, sizeof(*pace) + strlen(id) + 1);
	if (!pace)
		return NULL;
	memcpy(pace->id, id, strlen(id) + 1);
	list_append(&calls->paces, &pace->link);
	return pace;
}

/* Let the messages of @run be paid for, and return the time until they may be sent, in ms. */
static uint64_t pay_messages(struct bus_run *run, uint64_t now_ms)
{
	struct bus_pace *pace = run->pace;

	run->is_paid = true;
	if (pace->paid_ms < now_ms)
		pace->paid_ms = now_ms;
	pace->paid_ms += BUS_MESSAGE_MS * run->n_messages;
	return pace->paid_ms > now_ms + BUS_BURST_MS ? pace->paid_ms - now_ms - BUS_BURST_MS : 0;
}

/* Return the time until @run may be sent, whose reply topic is also sent without being asked for
 * after messages of other tools of its toolbox. */
static uint64_t unasked_wait_ms(const struct bus_run *run, uint64_t now_ms)
{
	const struct bus_pace *pace = run->pace;
	uint64_t other_ms = pace->tool != run->call->tool ? pace->sent_ms : pace->other_ms;

	if (!run->bus->is_unasked || other_ms == 0 || other_ms + BUS_UNASKED_MS <= now_ms)
		return 0;
	return other_ms + BUS_UNASKED_MS - now_ms;
}

/* Note that @run was sent now. */
static void note_sent(const struct bus_run *run)
{
	struct bus_pace *pace = run->pace;

	if (pace->tool != run->call->tool)
		pace->other_ms = pace->sent_ms;
	pace->tool = run->call->tool;
	pace->sent_ms = clock_now_ms();
}

/* ── sending ─────────────────────────────────────────────────────────────────────────────────── */

/* The question of @run is open. */
static void begin_listening(struct bus_run *run)
{
	run->calls->asking = run;
	run->calls->reopened = 0;
	loop_timer_arm(&run->calls->again, BUS_ASK_AGAIN_MS);
	loop_timer_arm(&run->timer, run->bus->listen_ms);
}

/* A session that begins with a message of @call, of @run, is its caller's, if that is not on the
 * bus. A session of another caller is its own no more. Return 0 or -ENOMEM. */
static int claim_session(const struct bus_run *run, const struct call *call)
{
	static const struct buffer bus = {0};
	cleanup(buffer_deinit) struct buffer session = {0};
	int r;

	if (!run->calls->conversations)
		return 0;
	json_write_string(&session, run->session.data, run->session.size);
	r = buffer_status(&session);
	if (r == 0)
		conversations_claim(run->calls->conversations, &session,
			call->door == CALL_DOOR_BUS ? &bus : &call->source);
	return r;
}

static void send_run(struct bus_run *run)
{
	struct bus *bus = run->calls->bus;
	struct call *call = container_of(run->call, struct call, runner_call);
	struct account *before;
	int r;

	if (!bus_is_up(bus)) {
		bus_run_end_later(run, CALL_UNAVAILABLE, "the bus is away");
		return;
	}
	r = claim_session(run, call);
	before = bus_act_for(bus, call->account);
	for (size_t i = 0; r == 0 && i < run->n_messages; i++)
		r = bus_send(bus, &run->messages[i], BUS_SHARE_OWN);
	bus_act_for(bus, before);
	run->state = BUS_RUN_SENT;
	run->is_sent = true;
	run->is_asked = run->wants_reply && run->bus->ask != JSON_NONE;
	note_sent(run);
	if (r < 0)
		bus_run_end_later(run, CALL_UNAVAILABLE, "the bus does not take its message: %s",
			strerror(-r));
	else if (!run->wants_reply)
		loop_timer_arm(&run->timer, 0);
	else if (run->is_asked)
		begin_listening(run);
}

/* Send @run as soon as its toolbox may. */
static void make_due(struct bus_run *run)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t wait_ms = unasked_wait_ms(run, now_ms);
	uint64_t pay_ms = pay_messages(run, now_ms);

	wait_ms = pay_ms > wait_ms ? pay_ms : wait_ms;
	run->state = BUS_RUN_DUE;
	if (wait_ms > 0)
		loop_timer_arm(&run->timer, wait_ms);
	else
		send_run(run);
}

/* ── the order of runs with one reply topic and session ──────────────────────────────────────── */

static struct interest *interest_of(struct list *link)
{
	return container_of(link, struct interest, link);
}

/* Return whether no run before @run has the topic of @interest and its session. */
static bool is_first_of(const struct bus_run *run, const struct interest *interest)
{
	list_each(const struct interest, other, &interest->topic->interests, link) {
		if (other == interest)
			return true;
		if (other->role == INTEREST_REPLY &&
			buffer_equals(&run->session, &other->run->session))
			return false;
	}
	return true;
}

static bool is_first(const struct bus_run *run)
{
	for (size_t i = 0; i < run->n_interests; i++)
		if (run->interests[i].role == INTEREST_REPLY &&
			!is_first_of(run, &run->interests[i]))
			return false;
	return true;
}

/* Return the next run after @interest, an interest in a reply; or NULL. */
static struct bus_run *find_next(const struct interest *interest)
{
	const struct list *head = &interest->topic->interests;

	for (struct list *link = interest->link.next; link != head; link = link->next)
		if (interest_of(link)->role == INTEREST_REPLY &&
			buffer_equals(&interest->run->session, &interest_of(link)->run->session))
			return interest_of(link)->run;
	return NULL;
}

/* Take the interests of @run out, but for replies if @keeps_replies. Runs that have waited for it
 * are sent. */
static void drop_interests(struct bus_run *run, bool keeps_replies)
{
	struct bus_run *next[BUS_RUN_INTERESTS];
	size_t n_next = 0;
	size_t n_kept = 0;

	for (size_t i = 0; i < run->n_interests; i++) {
		struct interest *interest = &run->interests[i];

		if (!interest->topic)
			continue;
		if (interest->role == INTEREST_REPLY && keeps_replies) {
			n_kept++;
			continue;
		}
		if (interest->role == INTEREST_REPLY && (next[n_next] = find_next(interest)))
			n_next++;
		interests_remove(&run->calls->interests, interest);
	}
	if (n_kept == 0)
		run->n_interests = 0;
	for (size_t i = 0; i < n_next; i++)
		if (next[i]->state == BUS_RUN_HELD && is_first(next[i]))
			make_due(next[i]);
}

static int add_interest(struct bus_run *run, enum interest_role role, const char *topic)
{
	struct interest *interest = &run->interests[run->n_interests];

	*interest = (struct interest){.run = run, .role = role};
	run->n_interests++;
	return interests_add(&run->calls->interests, interest, topic);
}

static int add_interests(struct bus_run *run)
{
	const struct bus_call *bus = run->bus;
	int r = 0;

	for (size_t i = 0; r == 0 && bus->ask != JSON_NONE && i < question_n_topics(); i++) {
		enum interest_role role;
		const char *topic = question_topic(i, &role);

		r = add_interest(run, role, topic);
	}
	for (size_t i = 0; r == 0 && i < bus->replies.n_items; i++)
		r = add_interest(run, INTEREST_REPLY, bus->replies.items[i]);
	for (size_t i = 0; r == 0 && i < bus->collects.n_items; i++)
		r = add_interest(run, INTEREST_COLLECT, bus->collects.items[i]);
	return r;
}

/* ── the end of a run ────────────────────────────────────────────────────────────────────────── */

/* Close the open question. While the bus is away, bus_calls_begin() is to come. */
static void close_question(struct bus_calls *calls)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	for (size_t step = 0; bus_is_up(calls->bus) && compose_close(step, &message); step++)
		bus_send(calls->bus, &message, BUS_SHARE_OWN);
}

/* Open the question once more, step by step, or close it. */
static void ask_again(void *data)
{
	struct bus_calls *calls = data;
	cleanup(buffer_deinit) struct buffer message = {0};

	if (!calls->asking) {
		close_question(calls);
	} else if (bus_is_up(calls->bus) && compose_reopen(calls->reopened, &message)) {
		calls->reopened++;
		bus_send(calls->bus, &message, BUS_SHARE_OWN);
		loop_timer_arm(&calls->again, BUS_ASK_AGAIN_MS);
	}
}

void bus_run_keep(struct bus_run *run, uint64_t guard_ms)
{
	run->state = BUS_RUN_CLOSING;
	drop_interests(run, guard_ms > 0);
	if (guard_ms > 0)
		loop_timer_arm(&run->timer, guard_ms);
	else
		release_run(run);
}

/* End @run, and keep its place for @guard_ms if it was sent. */
static void close_run(struct bus_run *run, uint64_t guard_ms)
{
	bool was_sent = run->is_sent && run->wants_reply;

	if (run->is_asked) {
		run->calls->asking = NULL;
		close_question(run->calls);
		loop_timer_arm(&run->calls->again, BUS_ASK_AGAIN_MS);
	}
	run->is_asked = false;
	/* Messages never sent cost the toolbox nothing. */
	if (run->pace && run->is_paid && !run->is_sent)
		run->pace->paid_ms -= BUS_MESSAGE_MS * run->n_messages;
	run->is_paid = false;
	run->call->execution = NULL;
	run->call = NULL;
	bus_run_keep(run, was_sent ? guard_ms : 0);
}

void bus_run_finish(struct bus_run *run, const struct call_result *result, uint64_t guard_ms)
{
	struct runner_call *call = run->call;

	close_run(run, guard_ms);
	runner_finish(call, result);
}

void bus_run_end_silent(struct bus_run *run)
{
	static const char text[] = "nobody answered";
	const struct call_result result = {
		.outcome = CALL_TIMED_OUT,
		.text = text,
		.size = strlen(text),
		.timeout_ms = run->bus->listen_ms,
	};

	bus_run_finish(run, &result, BUS_LATE_MS);
}

/* Report the end of @run, decided in an earlier turn. */
static void report_decided(struct bus_run *run)
{
	struct buffer *text = &run->calls->result;
	struct call_result result = {.outcome = run->outcome};

	buffer_reset(text);
	buffer_append(text, run->reason.data, run->reason.size);
	result.text = buffer_terminate(text) ? text->data : "memory is short";
	result.size = strlen(result.text);
	bus_run_finish(run, &result, BUS_LATE_MS);
}

/* Report the departure of the message of @run, without a reply. */
static void report_sent(struct bus_run *run)
{
	static const char sent[] = "{\"sent\":true}";
	struct json_tape *tape = &run->calls->result_tape;
	const struct call_result result = {
		.outcome = CALL_RESULT, .text = sent, .size = strlen(sent), .tape = tape};

	if (!run->calls->is_own_bus && bus_queued_bytes(run->calls->bus) > 0) {
		loop_timer_arm(&run->timer, LEAVING_MS);
		return;
	}
	if (json_tape_read(tape, sent, strlen(sent), JSON_DEPTH_DEFAULT, NULL) == 0)
		bus_run_finish(run, &result, 0);
	else
		bus_run_end_later(run, CALL_UNAVAILABLE, "memory is short");
}

static void on_run_timer(void *data)
{
	struct bus_run *run = data;

	switch (run->state) {
	case BUS_RUN_DUE:
		send_run(run);
		break;
	case BUS_RUN_SENT:
		if (run->wants_reply)
			bus_run_end_silent(run);
		else
			report_sent(run);
		break;
	case BUS_RUN_ENDING:
		report_decided(run);
		break;
	case BUS_RUN_CLOSING:
		bus_run_keep(run, 0);
		break;
	case BUS_RUN_HELD:
		break;
	}
}

/* ── the executor ────────────────────────────────────────────────────────────────────────────── */

/* Begin @run. Its messages are written; all but its turn is decided. */
static void begin_run(struct bus_run *run)
{
	if (!bus_is_up(run->calls->bus))
		bus_run_end_later(run, CALL_UNAVAILABLE, "the bus is away");
	else if (run->wants_reply && run->bus->ask != JSON_NONE && !compose_may_ask(run))
		bus_run_end_later(run, CALL_DENIED,
			"only the satellite of session '%.*s' can open a question",
			(int)run->session.size, run->session.data);
	else if (!run->wants_reply || is_first(run))
		make_due(run);
}

static int begin_on_bus(
	struct executor *executor, struct runner_call *call, const char *arguments, size_t size)
{
	struct bus_calls *calls = container_of(executor, struct bus_calls, executor);
	struct bus_run *run = take_run(calls, call);
	int r;

	if (!run)
		return -ENOMEM;
	call_id_format(container_of(call, struct call, runner_call)->process, call->id, run->mark);
	run->pace = find_pace(calls, runner_package(call->runner)->id);
	if (run->pace)
		run->pace->n_runs++;
	r = run->pace ? compose_messages(run, arguments, size) : -ENOMEM;
	if (r == 0 && run->wants_reply)
		r = add_interests(run);
	if (r == -ENOMEM) {
		close_run(run, 0);
		return r;
	}
	if (r < 0)
		bus_run_end_later(run, CALL_FAILED,
			"its message would be larger than limits.frame_bytes (%zu)",
			calls->config->limits.frame_bytes);
	else
		begin_run(run);
	return 0;
}

static void cancel_on_bus(struct executor *executor, struct runner_call *call, bool is_late)
{
	(void)executor;
	(void)is_late;
	close_run(call->execution, BUS_LATE_MS);
}

static const char *note_call(struct executor *executor, const struct runner_call *call)
{
	struct bus_calls *calls = container_of(executor, struct bus_calls, executor);
	const struct bus_run *run = call->execution;

	if (run->bus->ask != JSON_NONE && run->state == BUS_RUN_SENT)
		return "nobody answered";
	if (run->state == BUS_RUN_DUE)
		return "its toolbox sends more than 100 messages a second";
	if (run->n_interests == 0)
		return "its message did not leave";
	snprintf(calls->note, sizeof(calls->note), "%s %s",
		run->state == BUS_RUN_SENT ? "nobody answered" : "earlier calls waited for",
		run->bus->ask != JSON_NONE ? "a question"
		: run->state == BUS_RUN_SENT && run->bus->n_messages > 0
			? run->bus->messages[run->bus->n_messages - 1].topic
			: run->bus->replies.items[0]);
	return calls->note;
}

static const struct executor_operations operations = {
	.begin = begin_on_bus,
	.cancel = cancel_on_bus,
	.note = note_call,
};

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

int bus_calls_init(struct bus_calls *calls, struct loop *loop, const struct config *config)
{
	*calls = (struct bus_calls){
		.executor.operations = &operations, .loop = loop, .config = config};
	list_init(&calls->runs);
	list_init(&calls->spare);
	list_init(&calls->paces);
	interests_init(&calls->interests);
	return loop_timer_init(&calls->again, loop, ask_again, calls);
}

void bus_calls_deinit(struct bus_calls *calls)
{
	struct list *link;

	if (!calls->loop)
		return;
	list_each(struct bus_run, run, &calls->runs, link)
		free_run(run);
	list_each(struct bus_run, run, &calls->spare, link)
		free_run(run);
	while ((link = list_take_first(&calls->paces)))
		free(pace_of(link));
	interests_deinit(&calls->interests);
	loop_timer_deinit(&calls->again);
	json_tape_deinit(&calls->arguments);
	json_tape_deinit(&calls->caller);
	json_tape_deinit(&calls->sent);
	json_tape_deinit(&calls->result_tape);
	buffer_deinit(&calls->result);
	buffer_deinit(&calls->context);
	buffer_deinit(&calls->scratch);
}

void bus_calls_begin(struct bus_calls *calls)
{
	close_question(calls);
}

void bus_calls_lose(struct bus_calls *calls)
{
	list_each(struct bus_run, run, &calls->runs, link) {
		if (run->state <= BUS_RUN_SENT)
			bus_run_end_later(
				run, CALL_UNAVAILABLE, "the bus was lost before a reply came");
	}
}
