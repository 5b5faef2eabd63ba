/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call/batch.h"
#include "core/call/cancel.h"
#include "core/request/checks.h"
#include "core/request/errors.h"
#include "core/call/events.h"
#include "core/call/invocation.h"
#include "core/guest/registration.h"
#include "core/job/job_queries.h"
#include "core/job/jobs.h"
#include "core/listing/listing.h"
#include "core/listing/match.h"
#include "core/proxy.h"
#include "core/voice/conversation.h"
#include "core/voice/listening.h"
#include "core/voice/utterance_topic.h"
#include "offer/reload.h"
#include "core/status/status.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define PERSONA_PREFIX "ovos.persona.tools."
#define PERSONA_SUFFIX ".call"
#define LIFE_PREFIX    "mycroft.toolboxd."

/* Short enough to be refused before any longer comparison. */
#define COMMON_PREFIX_BYTES 5

/* ── handlers: the parts of the service that each topic needs ────────────────────────────────── */

static void serve_is_alive(struct service *service, struct answer *answer)
{
	answer_member_boolean(answer, "status", !service->calls.is_stopping);
}

static void serve_is_ready(struct service *service, struct answer *answer)
{
	answer_member_boolean(
		answer, "status", service->reload.is_ready && !service->calls.is_stopping);
}

static void serve_invoke(struct service *service, struct answer *answer)
{
	if (!request_is_batch(&service->scope.request))
		invocation_begin(&service->invoker, &service->scope, answer);
	else if (!batches_begin(&service->batches, &service->scope, answer))
		invocation_note_refused(&service->invoker, &service->scope, answer);
}

static void serve_job_get(struct service *service, struct answer *answer)
{
	jobs_open(&service->jobs);
	jobs_get(&service->jobs, &service->scope, answer);
}

static void serve_job_list(struct service *service, struct answer *answer)
{
	jobs_open(&service->jobs);
	jobs_list(&service->jobs, &service->scope, answer);
}

static void serve_job_cancel(struct service *service, struct answer *answer)
{
	jobs_open(&service->jobs);
	cancel_serve_job(&service->invoker, &service->scope, answer);
}

static void serve_validate(struct service *service, struct answer *answer)
{
	invocation_validate(&service->invoker, &service->scope, answer);
}

static void serve_cancel(struct service *service, struct answer *answer)
{
	cancel_serve(&service->invoker, &service->scope, answer);
}

static void serve_calls(struct service *service, struct answer *answer)
{
	history_query(&service->history, &service->calls, &service->waiting, &service->scope,
		offer_shows_all(&service->offer, service->scope.view), answer);
}

static void serve_approval_list(struct service *service, struct answer *answer)
{
	approval_list(&service->approval, &service->scope, answer);
}

static void serve_approval_respond(struct service *service, struct answer *answer)
{
	approval_respond(&service->approval, &service->scope, answer);
}

static void serve_approval_attach(struct service *service, struct answer *answer)
{
	approval_attach(&service->approval, &service->scope, answer);
}

static void serve_list(struct service *service, struct answer *answer)
{
	listing_list(&service->scope, answer);
}

static void serve_get(struct service *service, struct answer *answer)
{
	listing_get(&service->offer, &service->config, &service->scope, answer);
	waiting_for_unknown(&service->waiting, &service->scope, answer);
}

static void serve_match(struct service *service, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer args = {0};
	struct match match;

	if (match_request(&service->matcher, &service->scope, &match, &args, answer))
		match_write(&match, &args, answer);
}

static void serve_utterance(struct service *service, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer args = {0};
	struct match match;

	if (match_request(&service->matcher, &service->scope, &match, &args, answer))
		utterance_serve(&service->utterances, &service->scope, &match, &args, answer);
}

static void serve_search(struct service *service, struct answer *answer)
{
	struct search *search = &service->search;
	struct request_scope *scope = &service->scope;

	if (search->was_costly && !checks_admit(service->bus, scope, answer))
		return;
	if (checks_charge(service->bus, scope, search_answer(search, scope, answer)))
		search->was_costly = true;
}

static void serve_watch(struct service *service, struct answer *answer)
{
	events_watch(&service->events, &service->scope.request, answer);
}

static void serve_reload(struct service *service, struct answer *answer)
{
	reload_requests_take(&service->reload_requests, &service->scope.caller, answer);
}

static void serve_status(struct service *service, struct answer *answer)
{
	status_write(service, answer);
}

/* OVOS ToolBoxes look for their tools when they are asked for them. Ours are known: they are listed
 * first, and looked for afterwards. */
static void serve_discover(struct service *service, struct answer *answer)
{
	(void)answer;
	listing_discover(service->scope.view, &service->scope.envelope,
		service->config.limits.frame_bytes, service->bus);
	reload_refresh(&service->reload);
}

static void serve_register(struct service *service, struct answer *answer)
{
	guests_register(&service->guests, &service->scope, answer);
}

static void serve_unregister(struct service *service, struct answer *answer)
{
	guests_unregister(&service->guests, &service->scope, answer);
}

static void serve_guest_response(struct service *service, struct answer *answer)
{
	(void)answer;
	guest_calls_respond(&service->guests.calls, &service->scope);
}

static void serve_guest_progress(struct service *service, struct answer *answer)
{
	(void)answer;
	guest_calls_progress(&service->guests.calls, &service->scope);
}

static void serve_installed(struct service *service, struct answer *answer)
{
	(void)answer;
	reload_soon(&service->reload);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

/* The answer that every request of a topic gets. */
enum reply {
	REPLY_PLAIN, /* without members of its own */
	REPLY_ECHO,  /* begins with `name` and `call_id` as they came */
	REPLY_OWNER, /* begins with `toolbox_id`; none, if the toolbox is not ours */
	REPLY_OTHER, /* none, or as many as the handler sends: its @answer is not open */
};

struct topic {
	const char *name;
	size_t name_size;
	unsigned int fields; /* the fields read; 0: the data does not matter */
	enum reply reply;
	const char *hint; /* for an answer that does not fit in a frame: how to make it smaller */
	void (*serve)(struct service *service, struct answer *answer);
};

#define TOPIC(name)    name, sizeof(name) - 1
#define FIELDS_OF_CALL (REQUEST_CALL | REQUEST_OWNER)

static const char hint_arguments[] = "send shorter arguments";
static const char hint_context[] = "send a smaller context";
static const char hint_approvals[] = "answer some of them";
static const char hint_calls[] = "ask for fewer of them by 'limit'";
static const char hint_list[] = "name a 'toolbox_id' to list less";
static const char hint_get[] = "its schemas are too large";
static const char hint_status[] = "name a 'toolbox_id' to see less";

/* The topic of most requests: it is looked at before the others. */
static const struct topic topic_of_call = {TOPIC("ovos.tools.invoke"),
	FIELDS_OF_CALL | REQUEST_BATCH, REPLY_ECHO, hint_arguments, serve_invoke};

/* The others, sorted by the size of the name, and by its bytes. */
static const struct topic topics[] = {
	{TOPIC("ovos.tools.get"), REQUEST_OWNER | REQUEST_DEADLINE, REPLY_PLAIN, hint_get,
		serve_get},
	{TOPIC("ovos.tools.list"), REQUEST_OWNER | REQUEST_FORMAT | REQUEST_TOOLBOXES, REPLY_PLAIN,
		hint_list, serve_list},
	{TOPIC("ovos.tools.calls"), REQUEST_HISTORY | REQUEST_OWNER, REPLY_PLAIN, hint_calls,
		serve_calls},
	{TOPIC("ovos.tools.match"), REQUEST_UTTERANCE | REQUEST_PROFILE, REPLY_PLAIN, hint_context,
		serve_match},
	{TOPIC("ovos.tools.watch"), REQUEST_SECONDS, REPLY_PLAIN, hint_context, serve_watch},
	{TOPIC("ovos.tools.cancel"), REQUEST_CALL_ID | REQUEST_PROFILE, REPLY_PLAIN, hint_context,
		serve_cancel},
	{TOPIC("ovos.tools.reload"), 0, REPLY_PLAIN, hint_context, serve_reload},
	{TOPIC("ovos.tools.search"), REQUEST_QUERY | REQUEST_OWNER | REQUEST_FORMAT, REPLY_PLAIN,
		hint_calls, serve_search},
	{TOPIC("ovos.tools.status"), REQUEST_TOOLBOX, REPLY_PLAIN, hint_status, serve_status},
	{TOPIC("ovos.tools.job.get"), REQUEST_JOB, REPLY_PLAIN, hint_context, serve_job_get},
	{TOPIC("ovos.tools.job.list"), REQUEST_PROFILE, REPLY_PLAIN, hint_context, serve_job_list},
	{TOPIC("ovos.tools.register"), REQUEST_TOOLBOX, REPLY_PLAIN, hint_context, serve_register},
	{TOPIC("ovos.tools.validate"), FIELDS_OF_CALL, REPLY_ECHO, hint_arguments, serve_validate},
	{TOPIC("ovos.tools.utterance"), REQUEST_UTTERANCE | REQUEST_PROFILE, REPLY_PLAIN,
		hint_context, serve_utterance},
	{TOPIC("ovos.tools.job.cancel"), REQUEST_JOB, REPLY_PLAIN, hint_context, serve_job_cancel},
	{TOPIC("ovos.tools.unregister"), REQUEST_TOOLBOX, REPLY_PLAIN, hint_context,
		serve_unregister},
	{TOPIC("ovos.persona.tools.call"), REQUEST_PERSONA | REQUEST_OWNER, REPLY_OWNER,
		hint_arguments, serve_invoke},
	{TOPIC("ovos.tools.approval.list"), REQUEST_AFTER, REPLY_PLAIN, hint_approvals,
		serve_approval_list},
	{TOPIC("mycroft.toolboxd.is_alive"), 0, REPLY_PLAIN, hint_context, serve_is_alive},
	{TOPIC("mycroft.toolboxd.is_ready"), 0, REPLY_PLAIN, hint_context, serve_is_ready},
	{TOPIC("ovos.pip.install.complete"), 0, REPLY_OTHER, NULL, serve_installed},
	{TOPIC("ovos.tools.guest.progress"), 0, REPLY_OTHER, NULL, serve_guest_progress},
	{TOPIC("ovos.tools.approval.attach"), REQUEST_ATTACH, REPLY_PLAIN, hint_context,
		serve_approval_attach},
	{TOPIC("mycroft.toolboxd.all_loaded"), 0, REPLY_PLAIN, hint_context, serve_is_ready},
	{TOPIC("ovos.persona.tools.discover"), REQUEST_PROFILE, REPLY_OTHER, NULL, serve_discover},
	{TOPIC("ovos.pip.uninstall.complete"), 0, REPLY_OTHER, NULL, serve_installed},
	{TOPIC("ovos.tools.approval.respond"), REQUEST_ANSWER, REPLY_PLAIN, hint_context,
		serve_approval_respond},
	{TOPIC("ovos.tools.guest.call.response"), 0, REPLY_OTHER, NULL, serve_guest_response},
};

/* ovos.persona.tools.<toolbox_id>.call: its toolbox_id comes from the topic. */
static const struct topic topic_of_owner = {TOPIC(PERSONA_PREFIX "*" PERSONA_SUFFIX),
	REQUEST_PERSONA | REQUEST_PROFILE, REPLY_OWNER, hint_arguments, serve_invoke};

static int compare_topic(const void *key, const void *entry)
{
	const struct text_view *wanted = key;
	const struct topic *topic = entry;

	if (wanted->size != topic->name_size)
		return wanted->size < topic->name_size ? -1 : 1;
	return memcmp(wanted->text, topic->name, wanted->size);
}

/* Return the toolbox id of ovos.persona.tools.<toolbox_id>.call; size 0: it is another topic. */
static struct text_view owner_of(const char *topic, size_t size)
{
	size_t prefix = strlen(PERSONA_PREFIX);
	size_t suffix = strlen(PERSONA_SUFFIX);

	if (size <= prefix + suffix || memcmp(topic, PERSONA_PREFIX, prefix) != 0 ||
		memcmp(topic + size - suffix, PERSONA_SUFFIX, suffix) != 0)
		return (struct text_view){0};
	return (struct text_view){topic + prefix, size - prefix - suffix};
}

/* Return the entry of the topic @text, or NULL. *ret_owner is the toolbox id that is a part of it,
 * else size 0. */
static const struct topic *find_topic(const char *text, size_t size, struct text_view *ret_owner)
{
	const struct text_view key = {text, size};
	const struct topic *topic;

	*ret_owner = (struct text_view){0};
	if (compare_topic(&key, &topic_of_call) == 0)
		return &topic_of_call;
	topic = bsearch(&key, topics, ARRAY_SIZE(topics), sizeof(*topics), compare_topic);
	if (topic)
		return topic;
	*ret_owner = owner_of(text, size);
	return ret_owner->size > 0 ? &topic_of_owner : NULL;
}

bool topics_wants(const char *topic, size_t size)
{
	struct text_view owner;

	if (size < COMMON_PREFIX_BYTES || memchr(topic, '\0', size))
		return false;
	if (memcmp(topic, PERSONA_PREFIX, COMMON_PREFIX_BYTES) != 0 &&
		memcmp(topic, LIFE_PREFIX, COMMON_PREFIX_BYTES) != 0)
		return false;
	return find_topic(topic, size, &owner) != NULL;
}

/* Return whether the topic only asks for the state of the service, which is answered before
 * anything is loaded. */
static bool is_about_life(const char *topic)
{
	return strncmp(topic, LIFE_PREFIX, strlen(LIFE_PREFIX)) == 0;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

/* Read @text into the scope, or skim it. Returns the result of request_text_read(). */
static int read_into_scope(struct service *service, const struct request_text *text, bool is_skim)
{
	struct request_scope *scope = &service->scope;
	bool is_long = request_text_size(text) >= REQUEST_TEXT_LONG_BYTES;
	uint64_t start_ns = is_long ? clock_thread_ns() : 0;
	int r;

	scope->text = *text;
	r = request_text_read(text, &scope->envelope, is_skim, service->config.limits.depth);
	scope->reading_ns = is_long ? clock_thread_ns() - start_ns : 0;
	return r;
}

/* The most code points of a source in the log. */
#define LOGGED_SOURCE_POINTS 128

static void log_malformed(struct service *service)
{
	const struct bus_envelope *envelope = &service->scope.envelope;
	struct text_view source = {"null", 4};
	cleanup(buffer_deinit) struct buffer text = {0};

	if (envelope->source != JSON_NONE)
		source.text = json_value_text(&envelope->context, envelope->source, &source.size);
	bus_fault_write(&envelope->fault, &text);
	log_limited(&service->malformed, LOG_LEVEL_WARNING,
		"A message is malformed, with the type '%s' and the source %.*s: %s",
		envelope->topic,
		(int)answer_cut_text(source.text, source.size, LOGGED_SOURCE_POINTS), source.text,
		buffer_terminate(&text) ? text.data : envelope->fault.part);
}

static void serve_request(struct service *service);

/* Return whether @r, the result of reading a text into the scope, means that the text is good. Else
 * @r is logged, and a malformed text with a topic of ours is answered. */
static bool note_reading(struct service *service, int r)
{
	if (r == BUS_E_MALFORMED) {
		log_malformed(service);
		serve_request(service);
	} else if (r < 0) {
		log_error("Dropped a message: %s", strerror(-r));
	}
	return r == 0;
}

/* Read @text into the scope, or skim it. Returns whether it is a message; else it is logged. */
static bool read_message(struct service *service, const struct request_text *text, bool is_skim)
{
	return note_reading(service, read_into_scope(service, text, is_skim));
}

/* ── one request, one answer ─────────────────────────────────────────────────────────────────── */

/* Return whether the service offers tools of the toolbox @id. */
static bool is_our_topic(const struct catalogue *catalogue, const struct text_view *id)
{
	long index = id->text ? catalogue_find_toolbox(catalogue, id->text, id->size) : -1;
	size_t n_tools;

	if (index < 0)
		return false;
	catalogue_toolbox(catalogue, (size_t)index, NULL, &n_tools);
	return n_tools > 0;
}

/* Begin the answer that every request of @topic gets. It stays closed if there is none. */
static void begin_answer(
	const struct service *service, const struct topic *topic, struct answer *answer)
{
	const struct request *request = &service->scope.request;

	*answer = (struct answer){0};
	if (topic->reply == REPLY_OTHER ||
		(topic->reply == REPLY_OWNER &&
			!is_our_topic(service->scope.view, &request->toolbox_id)))
		return;
	if (service->scope.address)
		answer_begin_at(answer, service->scope.address);
	else
		answer_begin(answer, &service->scope.envelope,
			bus_share(service->bus, &service->scope.envelope));
	if (topic->reply == REPLY_ECHO)
		request_write_echo(request, answer);
	if (topic->reply == REPLY_OWNER) {
		json_write_string(answer_member(answer, "toolbox_id"), request->toolbox_id.text,
			request->toolbox_id.size);
		answer_keep(answer);
	}
}

/* Note a request for a call that is refused with the error in @answer before its handler sees
 * it. */
static void note_refused(
	struct service *service, const struct topic *topic, const struct answer *answer)
{
	if (topic->serve == serve_invoke)
		invocation_note_refused(&service->invoker, &service->scope, answer);
}

static void finish_answer(
	const struct service *service, const struct topic *topic, struct answer *answer)
{
	answer_make_fit(answer, service->config.limits.frame_bytes, topic->hint);
	answer_send(answer, service->bus);
}

/* Return whether requests of @topic count for the limits of their caller. */
static bool is_counted(const struct topic *topic)
{
	return (topic->fields & (REQUEST_CALL | REQUEST_PERSONA)) != 0;
}

/* Return whether the request in @scope has passed the limits of its caller before. */
static bool was_counted(const struct request_scope *scope)
{
	return address_is_of_job(scope->address) || (scope->waited && scope->waited->is_counted);
}

static void write_too_many(
	struct answer *answer, const struct text_view *source, const struct limit_refusal *refusal)
{
	char reason[64] = "memory is short";

	if (refusal->in_flight)
		snprintf(reason, sizeof(reason), "%u %s in flight", refusal->in_flight,
			refusal->in_flight == 1 ? "is" : "are");
	else if (refusal->per_minute)
		snprintf(reason, sizeof(reason), "%u a minute %s allowed", refusal->per_minute,
			refusal->per_minute == 1 ? "is" : "are");
	errors_write_too_many(answer, source, refusal->retry_after_s, reason);
}

/* Serve the good request of @topic, unless its caller makes too many. The calls of a batch count,
 * and not the batch. */
static void serve_topic(struct service *service, const struct topic *topic, struct answer *answer)
{
	struct limit_hold *hold = &service->calls.hold;
	struct limit_refusal refusal;

	if (service->config.n_callers == 0 || was_counted(&service->scope) || !is_counted(topic) ||
		request_is_batch(&service->scope.request)) {
		topic->serve(service, answer);
	} else if (limits_take(&service->limits, &service->scope.caller, clock_now_ns(), hold,
			   &refusal)) {
		topic->serve(service, answer);
		/* A call that was opened has taken it. */
		limits_release(hold);
	} else {
		account_note_refused(service->scope.caller.account);
		write_too_many(answer, &service->scope.caller.source, &refusal);
		note_refused(service, topic, answer);
	}
}

/* Return whether the request in @scope is an entry of a batch. */
static bool is_entry(const struct request_scope *scope)
{
	return scope->address && scope->address->batch;
}

/* Find out who sent the request in the scope. */
static void read_caller(struct service *service)
{
	struct request_scope *scope = &service->scope;
	struct policy_caller *caller = &scope->caller;

	*caller = (struct policy_caller){.account = bus_sender(service->bus)};
	if (address_names_caller(scope->address)) {
		caller->door = scope->address->door;
		caller->source = scope->address->source;
		caller->session_id = scope->address->session_id;
		caller->granted = scope->address->granted;
		caller->token = scope->address->token;
	} else {
		request_read_caller(&scope->request, &scope->envelope, scope->caller_texts, caller);
	}
}

/* Find out who sent the request in the scope, and which tools that caller may use. */
static void take_caller(struct service *service, const struct topic *topic)
{
	struct request_scope *scope = &service->scope;
	struct policy_caller *caller = &scope->caller;

	read_caller(service);
	if (is_entry(scope))
		caller->profile = scope->address->batch->profile;
	else if (topic->fields & REQUEST_PROFILE)
		caller->profile = scope->request.profile;
	scope->view = caller->view = policy_view(service->offer.policy, caller);
}

/* Read the whole request that was skimmed, and serve it. */
static void serve_whole(struct service *service)
{
	const struct request_text text = service->scope.text;

	if (read_message(service, &text, false))
		serve_request(service);
}

/* Return the tool whose arguments the request of @topic has, as far as it was skimmed, or NULL. */
static const struct tool *find_topic_tool(const struct service *service, const struct topic *topic)
{
	bool last_wins = service->config.duplicate_names == CONFIG_DUPLICATES_LAST;
	const struct request_scope *scope = &service->scope;
	const struct request *request = &scope->request;
	const struct tool *tool = NULL;

	if (is_counted(topic) && request->name_is_string)
		catalogue_find(scope->view, request->name_text.text, request->name_text.size,
			request->toolbox_id.text, request->toolbox_id.size, last_wins, &tool);
	return tool;
}

/* Have the whole request of @topic read, which was skimmed, and its arguments checked if the
 * skimmed part @is_good, before it is served. Return 0, or the time until there may be room for
 * it. */
static uint64_t read_beside(struct service *service, const struct topic *topic, bool is_good)
{
	const struct request_scope *scope = &service->scope;
	const struct tool *tool = is_good ? find_topic_tool(service, topic) : NULL;

	if (!waiting_may(scope->waited, WAITING_CHECK)) {
		serve_whole(service);
		return 0;
	}
	return offload_begin(&service->offload, scope, tool, false) ? 0 : WAITING_FULL_NS;
}

/* Return the time until the text in the scope is read, which takes long; 0: now. A sender owes for
 * the first time that a request was read, and is not refused for that. */
static uint64_t reading_wait_ns(const struct service *service)
{
	const struct waiting_request *waited = service->scope.waited;

	return waited && waited->is_read ? 0 : checks_wait_ns(service->bus, &service->scope);
}

/* Return whether the answer to requests of @topic depends on their data. */
static bool needs_data(const struct topic *topic)
{
	return topic->fields != 0 && topic->reply != REPLY_OTHER;
}

/* Return whether the request of @topic has what its topic reads. A malformed one has what answers
 * it. */
static bool read_request(struct service *service, const struct topic *topic)
{
	const struct bus_envelope *envelope = &service->scope.envelope;
	unsigned int fields = topic->fields | (is_entry(&service->scope) ? REQUEST_ENTRY : 0);
	bool is_good =
		topic->fields == 0 || request_read(&service->scope.request, envelope, fields);

	if (address_wants_progress(service->scope.address))
		service->scope.request.wants_progress = true;
	return is_good && !envelope->fault.part;
}

/* Serve the request read into service->scope.envelope. Every request gets exactly one
 * answer, now or later from the handler. The table marks the topics that answer otherwise. */
static void serve_request(struct service *service)
{
	const struct bus_envelope *envelope = &service->scope.envelope;
	struct request *request = &service->scope.request;
	struct text_view owner;
	const struct topic *topic = find_topic(envelope->topic, envelope->topic_size, &owner);
	struct answer answer;
	uint64_t wait_ns = 0;
	bool is_good;

	if (!topic)
		return;
	is_good = read_request(service, topic);
	if (owner.size > 0)
		request->toolbox_id = owner;
	service->scope.fields = topic->fields;
	take_caller(service, topic);
	if (service->scope.reading_ns > 0)
		checks_charge(service->bus, &service->scope, service->scope.reading_ns);
	if (envelope->is_skimmed && !envelope->fault.part &&
		!waiting_has_ended(service->scope.waited)) {
		wait_ns = reading_wait_ns(service);
		if (wait_ns == 0)
			wait_ns = read_beside(service, topic, is_good);
		if (wait_ns == 0)
			return;
		if (!needs_data(topic))
			wait_ns = 0;
	}
	begin_answer(service, topic, &answer);
	if (!answer_is_open(&answer) && (topic->reply != REPLY_OTHER || !is_good))
		return;
	if (is_good && wait_ns > 0) {
		errors_write_checking(&answer, &service->scope.caller.source, wait_ns);
		note_refused(service, topic, &answer);
	} else if (is_good) {
		serve_topic(service, topic, &answer);
	} else {
		request_write_refusal(request, envelope, &service->config.limits, &answer);
		note_refused(service, topic, &answer);
	}
	if (answer_is_open(&answer))
		finish_answer(service, topic, &answer);
}

/* Answer it with @code and the text @error instead. A topic that only the owner of a toolbox
 * answers stays silent, since the owner is not known yet. */
static void refuse_request(struct service *service, enum answer_code code, const char *error)
{
	const struct bus_envelope *envelope = &service->scope.envelope;
	struct text_view owner;
	const struct topic *topic = find_topic(envelope->topic, envelope->topic_size, &owner);
	struct answer answer;

	if (!topic || topic->reply == REPLY_OTHER || topic->reply == REPLY_OWNER)
		return;
	/* For the echo only: the request may be a bad one. */
	if (topic->fields != 0)
		request_read(&service->scope.request, envelope, topic->fields);
	take_caller(service, topic);
	begin_answer(service, topic, &answer);
	answer_error(&answer, code, error, strlen(error), UINT32_MAX);
	note_refused(service, topic, &answer);
	finish_answer(service, topic, &answer);
}

/* ── frames ──────────────────────────────────────────────────────────────────────────────────── */

bool topics_wants_frame(void *data, const char *topic, size_t size)
{
	struct service *service = data;

	if (topics_wants(topic, size))
		return true;
	return other_services_hear(&service->rivals, topic, size) ||
	       bus_calls_want(&service->bus_calls, topic, size) ||
	       listening_wants(&service->listening, topic, size) ||
	       conversations_wants(&service->conversations, topic, size) ||
	       proxy_wants(&service->proxy, topic, size);
}

/* Keep the request read into the scope until it can be served. */
static void defer_request(struct service *service)
{
	read_caller(service);
	if (!waiting_begin(&service->waiting, &service->scope, WAITING_CATALOGUE, UINT64_MAX))
		refuse_request(service, ANSWER_BUSY,
			"RuntimeError: The service is busy: too many requests wait until its "
			"toolboxes are loaded");
}

/* Return whether the message in the scope is a request that no host has asked for. */
static bool is_ours_alone(const struct service *service)
{
	const struct bus_envelope *envelope = &service->scope.envelope;

	return topics_wants(envelope->topic, envelope->topic_size) &&
	       !proxy_wants(&service->proxy, envelope->topic, envelope->topic_size);
}

/* Pass the frame to the hosts subscribed to its topic, and return whether it is a request, too. */
static bool is_request(struct service *service, const char *text, size_t size)
{
	const struct bus_envelope *envelope = &service->scope.envelope;

	if (service->proxy.n_subscriptions > 0 || other_services_is_open(&service->rivals))
		proxy_deliver(&service->proxy, envelope->topic, envelope->topic_size, text, size);
	return topics_wants(envelope->topic, envelope->topic_size);
}

/* Give the message in the scope, of @size bytes, to the calls that wait for its topic. Return
 * whether nothing else wants it. */
static bool take_reply(struct service *service, size_t size)
{
	const struct bus_envelope *envelope = &service->scope.envelope;

	if (!bus_calls_want(&service->bus_calls, envelope->topic, envelope->topic_size))
		return false;
	bus_calls_take(&service->bus_calls, envelope, size);
	return !topics_wants(envelope->topic, envelope->topic_size) &&
	       !listening_has_topic(envelope->topic, envelope->topic_size) &&
	       !proxy_wants(&service->proxy, envelope->topic, envelope->topic_size);
}

/* Free memory that a large request took, before the next one. */
static void recycle(struct request_scope *scope)
{
	bus_envelope_recycle(&scope->envelope);
	arguments_recycle(&scope->arguments);
}

/* Serve the request read into the scope, once there is a catalogue. */
static void serve_or_defer(struct service *service)
{
	/* While the configuration is closed there is nothing to wait for. */
	if (service->reload.is_ready || service->config.closed ||
		is_about_life(service->scope.envelope.topic))
		serve_request(service);
	else
		defer_request(service);
	recycle(&service->scope);
}

/* Return whether the frame is an utterance, a sign, or a part of a conversation, for us alone. */
static bool is_only_listened_to(const struct service *service, const char *text, size_t size)
{
	char topic[BUS_TOPIC_BYTES];
	size_t topic_size;

	return bus_topic_scan(text, size, topic, &topic_size) == 0 &&
	       (listening_has_topic(topic, topic_size) ||
		       conversations_has_topic(topic, topic_size)) &&
	       !bus_calls_want(&service->bus_calls, topic, topic_size) &&
	       !proxy_wants(&service->proxy, topic, topic_size);
}

void topics_take_frame(void *data, const char *text, size_t size)
{
	const struct request_text frame = {.message = {text, size}};
	bool must_skim = request_text_is_long(&frame);
	struct service *service = data;

	if (size > LISTENING_FRAME_BYTES && is_only_listened_to(service, text, size))
		return;
	if (!read_message(service, &frame, must_skim))
		return;
	if (service->conversations.is_on)
		conversations_hear(
			&service->conversations, &service->scope.envelope, stamp_now_ns());
	if (take_reply(service, size)) {
		recycle(&service->scope);
		return;
	}
	if (must_skim && !is_ours_alone(service) && !read_message(service, &frame, false))
		return;
	if (other_services_take(&service->rivals, &service->scope.envelope))
		return;
	if (is_request(service, text, size))
		serve_or_defer(service);
	else if (listening_take(&service->listening) ||
		 conversations_has_topic(
			 service->scope.envelope.topic, service->scope.envelope.topic_size))
		recycle(&service->scope);
}

/* Refuse the request in the scope: its caller may do less by now than when it began. */
static void refuse_changed(struct service *service)
{
	refuse_request(service, ANSWER_DENIED,
		"PermissionError: The rights of the caller have changed since the request");
}

int topics_take_request(
	struct service *service, struct address *address, const struct request_text *text)
{
	int r = read_into_scope(service, text, request_text_is_long(text));

	if (r != 0)
		return r;
	service->scope.address = address;
	if (address_is_granted(address)) {
		serve_or_defer(service);
	} else {
		refuse_changed(service);
		recycle(&service->scope);
	}
	service->scope.address = NULL;
	return 0;
}

int topics_take_entry(void *data, struct address *address, const struct request_text *text)
{
	return topics_take_request(data, address, text);
}

/* Read the text of the request in the scope, which has waited, or skim it, unless it was read
 * beside the loop. Returns whether it is a message; else it is logged. */
static bool read_again(struct service *service)
{
	const struct request_text *text = &service->scope.waited->text;
	int r;

	if (offload_take(&service->offload, &service->scope, &r))
		return note_reading(service, r);
	return read_message(service, text, request_text_is_long(text));
}

/* Answer the request in the scope, which has waited. Without a catalogue by now there will be none
 * for it. */
static void answer_again(struct service *service)
{
	if (!address_is_granted(service->scope.address))
		refuse_changed(service);
	else if (service->reload.is_ready)
		serve_request(service);
	else if (service->scope.waited->is_cancelled)
		refuse_request(
			service, ANSWER_CANCELLED, "RuntimeError: The request was cancelled");
	else
		refuse_request(service, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: it is stopping");
}

void topics_serve_again(void *data, struct waiting_request *request)
{
	struct service *service = data;
	struct request_scope *scope = &service->scope;
	struct account *before = bus_act_for(service->bus, request->account);

	scope->waited = request;
	scope->address = request->address;
	service->calls.hold = limits_move(&request->hold);
	service->calls.next_id = request->call_number;
	if (read_again(service))
		answer_again(service);
	service->calls.next_id = 0;
	limits_release(&service->calls.hold);
	recycle(scope);
	scope->address = NULL;
	scope->waited = NULL;
	scope->checked = NULL;
	scope->is_beside = false;
	bus_act_for(service->bus, before);
}
