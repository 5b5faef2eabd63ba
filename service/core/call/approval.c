/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/approval.h"

#include <errno.h>
#include <string.h>

#include "core/request/address.h"
#include "core/request/errors.h"
#include "core/call/events.h"
#include "core/call/masked_arguments.h"
#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "policy/proof.h"
#include "policy/question.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/text/glob.h"
#include "util/log.h"
#include "util/file/stamp.h"
#include "util/text/utf8.h"

/* The most code points of an answer's reason: everybody on the bus reads it. */
#define REASON_POINTS 1000

/* The most code points of a tool's words about a call. */
#define ABOUT_POINTS 1000

/* The bytes of questions in one response, or half a frame: one question may have more. */
#define PAGE_BYTES ((size_t)1 << 20)

static const char *const decision_names[] = {
	[APPROVAL_ONCE] = "once",
	[APPROVAL_SESSION] = "session",
	[APPROVAL_DENY] = "deny",
	[APPROVAL_EXPIRED] = "expired",
	[APPROVAL_CANCELLED] = "cancelled",
	[APPROVAL_WITHDRAWN] = "withdrawn",
};

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static void look_at_clock(void *data);

int approval_init(struct approval *approval, struct loop *loop, const struct config *config,
	const unsigned char *fingerprint_key, const struct approval_handler *handler, void *data)
{
	*approval = (struct approval){
		.config = config,
		.fingerprint_key = fingerprint_key,
		.handler = *handler,
		.data = data,
	};
	check(handler->decided && handler->is_changed);
	pending_init(&approval->pending);
	grants_init(&approval->grants);
	if (hex_write_id(approval->nonce) < 0)
		return -EIO;
	return loop_timer_init(&approval->due, loop, look_at_clock, approval);
}

void approval_deinit(struct approval *approval)
{
	if (!approval->config)
		return;
	pending_deinit(&approval->pending);
	answerers_deinit(&approval->answerers);
	grants_deinit(&approval->grants);
	loop_timer_deinit(&approval->due);
}

/* Arm the timer for the question that expires or is reported next. */
static void set_timer(struct approval *approval)
{
	uint64_t next_ms = pending_next_ms(&approval->pending);
	uint64_t now_ms = clock_now_ms();

	if (next_ms == UINT64_MAX)
		loop_timer_disarm(&approval->due);
	else
		loop_timer_arm(&approval->due, next_ms > now_ms ? next_ms - now_ms : 0);
}

/* ── decisions ───────────────────────────────────────────────────────────────────────────────── */

/* Append @view as a JSON string, or null when it is absent. */
static void write_view(struct buffer *out, const struct text_view *view, size_t points)
{
	if (view->text)
		json_write_string(out, view->text, utf8_prefix(view->text, view->size, points));
	else
		json_write_text(out, NULL);
}

const char *approval_decision_name(const struct approval_outcome *outcome)
{
	return decision_names[outcome->is_changed ? APPROVAL_DENY : outcome->decision];
}

/* Write the digest of the message with the @members to @ret. Return 0 or a negative errno. */
static int digest_members(const struct buffer *members, char ret[PROOF_CHARS + 1])
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer object = {0};
	int r;

	buffer_append_char(&object, '{');
	buffer_append_buffer(&object, members);
	buffer_append_char(&object, '}');
	r = buffer_status(&object);
	if (r == 0)
		r = json_tape_read(&tape, object.data, object.size, JSON_DOCUMENT_DEPTH_MAX, NULL);
	if (r == 0)
		r = proof_digest(&tape, 0, ret);
	return r > 0 ? -EINVAL : r;
}

/* Append the members of the end of @question. */
static void write_end(struct buffer *out, const struct pending_question *question,
	const struct approval_outcome *outcome)
{
	bool is_ours = outcome->is_changed || outcome->decision > APPROVAL_DENY;

	json_write_key(out, "id");
	json_write_text(out, question->id);
	json_write_member_text(out, "decision", approval_decision_name(outcome));
	buffer_append_string(out, ",\"by\":");
	if (is_ours)
		json_write_text(out, "toolboxd");
	else
		write_view(out, &outcome->by, SIZE_MAX);
	buffer_append_string(out, ",\"reason\":");
	if (outcome->is_changed)
		json_write_text(out, "changed");
	else
		write_view(out, &outcome->reason, REASON_POINTS);
}

/* Broadcast the end of @question, with a seal if there is a key. */
static void announce_end(const struct approval *approval, const struct pending_question *question,
	const struct approval_outcome *outcome)
{
	const struct approval_key *key = &approval->config->approval_key;
	cleanup(buffer_deinit) struct buffer members = {0};
	char digest[PROOF_CHARS + 1];
	char seal[PROOF_CHARS + 1];
	struct answer event;

	write_end(&members, question, outcome);
	answer_begin_broadcast(&event, "ovos.tools.approval.resolved");
	buffer_append_buffer(&event.message, &members);
	if (key->state == APPROVAL_KEY_READY && digest_members(&members, digest) == 0 &&
		proof_of_end(key->bytes, question->id, digest, seal))
		json_write_member_text(&event.message, "seal", seal);
	answer_announce(&event, approval->audience);
}

static void log_end(const struct pending_question *question, const struct approval_outcome *outcome)
{
	const struct call *call = question->call;
	const struct text_view *by = &outcome->by;

	log_info("Question %s about %s/%s: %s%s%s%.*s", question->id, call->tool->toolbox->id,
		call->tool->name, decision_names[outcome->decision],
		outcome->is_changed ? ", and the tool has changed" : "", by->text ? " by " : "",
		by->text ? (int)by->size : 0, by->text ? by->text : "");
}

/* Note that the calls of the question's tool are approved for its session. Without memory they ask
 * again. */
static void grant_session(struct approval *approval, const struct pending_question *question)
{
	const struct policy_caller *caller = question->caller;
	const struct call *call = question->call;
	int r = grants_add(&approval->grants, call->tool, &question->grant, caller,
		grantee_of(caller, approval->has_connections));

	if (r < 0)
		log_error("A session cannot be granted: %s", strerror(-r));
}

/* End @question with @outcome. */
static void decide(struct approval *approval, struct pending_question *question,
	struct approval_outcome *outcome)
{
	struct call *call = question->call;

	pending_take(&approval->pending, question);
	set_timer(approval);
	outcome->is_changed = outcome->decision <= APPROVAL_SESSION &&
			      approval->handler.is_changed(approval->data, call, question);
	if (outcome->decision == APPROVAL_SESSION && !outcome->is_changed)
		grant_session(approval, question);
	log_end(question, outcome);
	announce_end(approval, question, outcome);
	approval->handler.decided(approval->data, call, question, outcome);
	pending_question_free(question);
}

/* Report to the caller of @question that a person is asked. */
static void report_question(struct pending_question *question, uint64_t now_ms)
{
	static const char text[] = "{\"progress\":null,\"text\":\"" APPROVAL_REPORT_TEXT "\"}";
	const struct call *call = question->call;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	question->report_ms = now_ms + APPROVAL_REPORT_MS;
	if (json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) == 0)
		address_progress(call->answer.address, &tape);
}

static bool has_other_rights(const struct pending_question *question, const void *data)
{
	const struct call *call = question->call;

	(void)data;
	return !address_is_granted(call->answer.address);
}

/* Return the outcome of @question, whose time is over. */
static struct approval_outcome outcome_of_time(const struct pending_question *question)
{
	static const char reason[] = "the rights of its caller have changed";
	struct approval_outcome outcome = {
		.decision = question->is_withdrawn ? APPROVAL_WITHDRAWN : APPROVAL_EXPIRED};

	if (question->is_withdrawn && has_other_rights(question, NULL))
		outcome.reason = TEXT_VIEW(reason);
	return outcome;
}

static void look_at_clock(void *data)
{
	struct approval *approval = data;
	struct pending_question *question;
	uint64_t now_ms = clock_now_ms();

	while ((question = pending_expired(&approval->pending, clock_now_ms()))) {
		struct approval_outcome outcome = outcome_of_time(question);

		decide(approval, question, &outcome);
	}
	/* A report may be the end of its connection, and so of other questions. */
	while ((question = pending_reported(&approval->pending, now_ms)))
		report_question(question, now_ms);
	set_timer(approval);
}

void approval_cancel(struct approval *approval, const struct call *call)
{
	const struct address *address = call->answer.address;
	struct approval_outcome outcome = {
		.decision = address && address->has_left ? APPROVAL_WITHDRAWN : APPROVAL_CANCELLED};
	struct pending_question *question = pending_find_call(&approval->pending, call);

	if (question)
		decide(approval, question, &outcome);
}

void approval_stop(struct approval *approval)
{
	static const char reason[] = "the service is stopping";
	struct pending_question *question;

	while ((question = pending_expired(&approval->pending, UINT64_MAX))) {
		struct approval_outcome outcome = {.decision = APPROVAL_CANCELLED,
			.is_stopping = true,
			.reason = {reason, strlen(reason)}};

		decide(approval, question, &outcome);
	}
}

static bool is_of_account(const struct pending_question *question, const void *account)
{
	const struct call *call = question->call;

	/* A job outlives the connection of its caller. */
	return question->caller && question->caller->account == account &&
	       !address_is_of_job(call->answer.address);
}

void approval_withdraw(struct approval *approval, const struct account *account)
{
	/* The bus may be in the middle of sending: the answers follow from the loop. */
	if (pending_withdraw(&approval->pending, is_of_account, account))
		set_timer(approval);
	answerers_leave(&approval->answerers, account->number);
}

void approval_configure(struct approval *approval)
{
	if (pending_withdraw(&approval->pending, has_other_rights, NULL))
		set_timer(approval);
}

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether calls of the session of @caller can be found again. On a bus of others everybody
 * can write its names: with a key, which keeps others from approving calls, they are not enough. */
static bool has_session(const struct approval *approval, const struct policy_caller *caller)
{
	return caller->session_id.text && caller->source.text &&
	       (grantee_of(caller, approval->has_connections) ||
		       approval->config->approval_key.state == APPROVAL_KEY_NONE);
}

bool approval_is_granted(const struct approval *approval, const struct request_scope *scope,
	const struct tool *tool, bool *ret_needs_none)
{
	const struct text_view arguments = {scope->arguments.json, scope->arguments.size};
	const struct policy_caller *caller = &scope->caller;
	cleanup(buffer_deinit) struct buffer grant = {0};

	*ret_needs_none = grants_need_none(tool, &arguments);
	if (*ret_needs_none || !has_session(approval, caller))
		return false;
	grants_write_scope(tool, &arguments, &grant);
	return grants_have(&approval->grants, tool, &grant, caller,
		grantee_of(caller, approval->has_connections));
}

bool approval_check(struct approval *approval, const struct tool *tool,
	const struct policy_caller *caller, struct answer *answer)
{
	const struct config *config = approval->config;

	if (config->approval_key.state == APPROVAL_KEY_UNUSABLE) {
		errors_write_denied(answer, tool, config->approval_mode,
			"the key of approval.key_file cannot be used; mend that file");
		return false;
	}
	if (answerers_count(&approval->answerers, clock_now_ms()) == 0) {
		errors_write_denied(answer, tool, config->approval_mode,
			"there is no one to ask; run `toolboxctl approvals --watch`");
		return false;
	}
	if (!pending_has_room(&approval->pending, caller, config->limits.pending_approvals)) {
		errors_write_many_questions(answer, tool, approval->pending.n,
			approval->pending.n < config->limits.pending_approvals);
		return false;
	}
	return true;
}

/* Append the mark of a @question that does not show all that a person should look at. */
static void mark_cut(struct pending_question *question)
{
	question->is_cut = true;
	buffer_append_string(&question->members, ",\"arguments_cut\":true");
}

/* Append the members of the question without the end, the time left, and the seal. */
static void write_question_members(struct pending_question *question, const struct tool *tool,
	const struct masked_arguments *shown, struct text_view language)
{
	const struct call *call = question->call;
	cleanup(buffer_deinit) struct buffer sentence = {0};
	struct buffer *out = &question->members;
	bool is_whole;

	json_write_key(out, "id");
	json_write_text(out, question->id);
	json_write_member_text(out, "name", tool->name);
	json_write_member_text(out, "toolbox_id", tool->toolbox->id);
	json_write_member_text(out, "risk", tool_risk_names[tool->risk]);
	json_write_member_text(out, "fingerprint", shown->fingerprint);
	json_write_member_value(out, "args", &shown->tape, 0);
	buffer_append_string(out, ",\"source\":");
	if (call->source.size > 0)
		buffer_append_buffer(out, &call->source);
	else
		buffer_append_string(out, "null");
	buffer_append_string(out, ",\"call_id\":");
	call_write_id(call, out);
	is_whole = question_write(&sentence, tool, &shown->tape, language);
	buffer_append_string(out, ",\"question\":");
	json_write_buffer(out, &sentence);
	if (!is_whole)
		mark_cut(question);
	if (shown->is_hidden)
		buffer_append_string(out, ",\"arguments_hidden\":true");
}

/* Write the texts of @question. Returns 0, SCHEMA_E_UNCHECKED, or a negative errno. */
static int write_texts(const struct approval *approval, struct pending_question *question,
	const struct request_scope *scope)
{
	const struct call *call = question->call;
	const struct tool *tool = call->tool;
	cleanup(masked_arguments_deinit) struct masked_arguments shown = {0};
	int r;

	buffer_append(&question->arguments, scope->arguments.json, scope->arguments.size);
	grants_write_scope(tool, &(struct text_view){scope->arguments.json, scope->arguments.size},
		&question->grant);
	r = buffer_status(&question->arguments);
	if (r == 0)
		r = masked_arguments_read(&shown, tool, scope->context, question->arguments.data,
			question->arguments.size, approval->fingerprint_key);
	if (r != 0)
		return r;
	write_question_members(
		question, tool, &shown, request_scope_language(scope, approval->config->lang));
	return buffer_status(&question->members);
}

/* Write the seal of @question by the key in force to @ret. Return false when there is none. */
static bool write_seal(const struct approval *approval, const struct pending_question *question,
	char ret[PROOF_CHARS + 1])
{
	const struct approval_key *key = &approval->config->approval_key;

	return key->state == APPROVAL_KEY_READY &&
	       proof_of_question(key->bytes, question->id, question->digest, ret);
}

/* Append the members of @question, with the time left for an answer, and the seal. */
static void write_question(const struct approval *approval, const struct pending_question *question,
	uint64_t now_ms, struct buffer *out)
{
	uint64_t left_ms = question->expires_ms > now_ms ? question->expires_ms - now_ms : 0;
	char seal[PROOF_CHARS + 1];

	buffer_append_buffer(out, &question->members);
	buffer_append_string(out, ",\"expires_s\":");
	json_write_f64(out, (double)left_ms / MS_PER_S);
	if (write_seal(approval, question, seal))
		json_write_member_text(out, "seal", seal);
}

/* Append the end of @question to its members, and have its digest. Return 0 or a negative errno. */
static int date_question(struct pending_question *question, uint64_t timeout_ms)
{
	cleanup(buffer_deinit) struct buffer end = {0};

	stamp_write_time(&end, stamp_now_ns() + (int64_t)(timeout_ms * NS_PER_MS));
	buffer_append_string(&question->members, ",\"expires\":");
	json_write_buffer(&question->members, &end);
	return buffer_status(&question->members) < 0
		       ? buffer_status(&question->members)
		       : digest_members(&question->members, question->digest);
}

struct pending_question *approval_prepare(struct approval *approval, struct call *call,
	struct request_scope *scope, struct answer *answer)
{
	struct pending_question *question = pending_new(&approval->pending, call);
	int r = -ENOMEM;

	if (question) {
		question->caller = policy_caller_copy(&scope->caller);
		if (question->caller)
			r = write_texts(approval, question, scope);
	}
	if (r == 0)
		return question;
	if (r == SCHEMA_E_UNCHECKED)
		errors_write_unchecked(
			answer, call->tool, "The arguments for", schema_stop_text(scope->context));
	else
		errors_write_unavailable(
			answer, call->tool, r < 0 ? strerror(-r) : "its arguments cannot be shown");
	if (question)
		approval_forget(approval, question);
	return NULL;
}

/* Let @question show the words of its tool in @said. */
static void write_about(struct pending_question *question, const struct json_tape *said)
{
	uint32_t about = json_type_at(said, 0) == JSON_OBJECT
				 ? json_find_typed_at(said, 0, "about", JSON_STRING)
				 : JSON_NONE;
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	if (about == JSON_NONE)
		return;
	json_string_decode(said, about, &text);
	buffer_fail_with(&question->members, &text);
	size = text.data ? utf8_prefix(text.data, text.size, ABOUT_POINTS) : 0;
	buffer_append_string(&question->members, ",\"about\":");
	json_write_string(&question->members, buffer_text(&text), size);
	if (size < text.size && !question->is_cut)
		mark_cut(question);
}

bool approval_ask(struct approval *approval, struct pending_question *question,
	const struct json_tape *said, struct answer *answer)
{
	const struct call *call = question->call;
	/* The response that lists it has a context, too. */
	size_t max =
		approval->config->limits.frame_bytes - approval->config->limits.frame_bytes / 16;
	uint64_t timeout_ms = approval->config->approval_timeout_ms;
	uint64_t now_ms = clock_now_ms();
	struct answer event;
	int r;

	if (said)
		write_about(question, said);
	r = date_question(question, timeout_ms);
	if (r < 0) {
		errors_write_unavailable(answer, call->tool, strerror(-r));
		return false;
	}
	pending_ask(&approval->pending, question, now_ms + timeout_ms);
	answer_begin_broadcast(&event, "ovos.tools.approval.requested");
	write_question(approval, question, now_ms, &event.message);
	if (!answer_fits(&event, max)) {
		errors_write_too_large(answer, call->tool, "Too large a question about",
			event.message.size, max, "bytes");
		answer_deinit(&event);
		return false;
	}
	answer_announce(&event, approval->audience);
	/* Its stream is begun when the request has been served: the first report comes from the
	 * loop. */
	if (answer->address)
		question->report_ms = now_ms;
	if (!address_names_caller(answer->address))
		events_call_waits(approval->audience, call, answer, APPROVAL_REPORT_TEXT);
	set_timer(approval);
	return true;
}

void approval_forget(struct approval *approval, struct pending_question *question)
{
	pending_take(&approval->pending, question);
	pending_question_free(question);
}

void approval_write_refusal(const struct approval *approval,
	const struct pending_question *question, const struct approval_outcome *outcome,
	struct answer *answer)
{
	const struct call *call = question->call;
	const struct tool *tool = call->tool;
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "PermissionError: The call of tool '%s' in ToolBox '%s' was ",
		tool->name, tool->toolbox->id);
	if (outcome->is_changed)
		buffer_append_string(&text, "approved, but the tool has changed since it was asked "
					    "about; call it again");
	else if (outcome->decision == APPROVAL_EXPIRED)
		buffer_printf(&text, "not approved within %g s (approval.timeout_ms)",
			(double)approval->config->approval_timeout_ms / MS_PER_S);
	else if (outcome->decision == APPROVAL_WITHDRAWN)
		buffer_append_string(&text, outcome->reason.text
						    ? "withdrawn"
						    : "withdrawn: the connection of its caller "
						      "was closed");
	else
		buffer_append_string(&text, "denied by a person");
	if (!outcome->is_changed && outcome->reason.text && outcome->reason.size > 0) {
		buffer_append_string(&text, ": ");
		buffer_append(&text, outcome->reason.text,
			utf8_prefix(outcome->reason.text, outcome->reason.size, REASON_POINTS));
	}
	answer_error(answer, ANSWER_DENIED, text.data, text.size, UINT32_MAX);
	answer_member_text(answer, "approval_id", question->id);
}

/* ── topics ──────────────────────────────────────────────────────────────────────────────────── */

void approval_list(
	const struct approval *approval, const struct request_scope *scope, struct answer *answer)
{
	size_t most = approval->config->limits.frame_bytes / 2;
	struct buffer *out = answer_member(answer, "pending");
	size_t start = out->size;
	uint64_t now_ms = clock_now_ms();
	uint64_t last = 0;

	most = most < PAGE_BYTES ? most : PAGE_BYTES;
	buffer_append_char(out, '[');
	list_each(const struct pending_question, question, &approval->pending.list, link) {
		if (question->number <= scope->request.after)
			continue;
		if (last && out->size - start + question->members.size > most) {
			buffer_append_char(out, ']');
			answer_member_number(answer, "next", last);
			return;
		}
		buffer_append_string(out, last ? ",{" : "{");
		write_question(approval, question, now_ms, out);
		buffer_append_char(out, '}');
		last = question->number;
	}
	buffer_append_char(out, ']');
}

/* Return why the sender of a request may not answer, or NULL. */
static const char *find_obstacle(
	const struct approval *approval, const struct policy_caller *caller)
{
	const struct config *config = approval->config;

	if (config->approval_key.state == APPROVAL_KEY_UNUSABLE)
		return "PermissionError: Nobody can answer: the key of approval.key_file cannot be "
		       "used";
	if (!config->has_answer_sources)
		return NULL;
	for (size_t i = 0; caller->source.text && i < config->answer_sources.n_items; i++) {
		const char *pattern = config->answer_sources.items[i];

		if (glob_matches(
			    pattern, strlen(pattern), caller->source.text, caller->source.size))
			return NULL;
	}
	return "PermissionError: This source may not answer (approval.answer_sources)";
}

/* Return why the answer in @scope to @question does not count, or NULL. */
static const char *check_answer(const struct approval *approval,
	const struct pending_question *question, const struct request_scope *scope)
{
	const struct request *request = &scope->request;
	const struct approval_key *key = &approval->config->approval_key;
	char proof[PROOF_CHARS + 1];
	char seal[PROOF_CHARS + 1];

	if (!question)
		return "ValueError: There is no such question: it was answered, or its time is "
		       "over";
	/* Over HTTP only an administrator answers, whose token is a proof. */
	if (key->state != APPROVAL_KEY_READY || scope->caller.door == CALL_DOOR_HTTP)
		return NULL;
	if (!request->proof.text)
		return "PermissionError: A proof is missing: approval.key_file has the key for it";
	/* The decision is one of three words, without U+0000. */
	if (!write_seal(approval, question, seal) ||
		!proof_of_answer(key->bytes, question->id, &request->decision, seal, proof) ||
		!proof_is(proof, request->proof.text, request->proof.size))
		return "PermissionError: The proof is wrong, or was made for another text than the "
		       "question's";
	return NULL;
}

static void write_accepted(
	struct answer *answer, const struct request *request, const char *obstacle)
{
	write_view(answer_member(answer, "id"), &request->id, SIZE_MAX);
	answer_member_boolean(answer, "accepted", !obstacle);
	if (obstacle)
		answer_member_text(answer, "error", obstacle);
}

/* Return the decision of @request about @question. One for a session that cannot be found again is
 * for once. */
static enum approval_decision decision_of(const struct approval *approval,
	const struct request *request, const struct pending_question *question)
{
	const struct policy_caller *caller = question->caller;

	if (request->decision.text[0] == 'd')
		return APPROVAL_DENY;
	if (request->decision.text[0] == 's' && has_session(approval, caller))
		return APPROVAL_SESSION;
	return APPROVAL_ONCE;
}

void approval_respond(
	struct approval *approval, const struct request_scope *scope, struct answer *answer)
{
	const struct request *request = &scope->request;
	const char *obstacle = find_obstacle(approval, &scope->caller);
	struct approval_outcome outcome = {.by = scope->caller.source, .reason = request->reason};
	struct pending_question *question =
		pending_find(&approval->pending, request->id.text, request->id.size);

	if (!obstacle)
		obstacle = check_answer(approval, question, scope);
	if (obstacle) {
		write_accepted(answer, request, obstacle);
		return;
	}
	outcome.decision = decision_of(approval, request, question);
	decide(approval, question, &outcome);
	if (outcome.is_changed) {
		write_accepted(answer, request,
			"PermissionError: The tool has changed since the question: the call is "
			"denied");
		return;
	}
	write_accepted(answer, request, NULL);
	answer_member_text(answer, "decision", decision_names[outcome.decision]);
}

/* Return why the attach of @request does not count, or NULL. A right proof uses up the nonce. */
static const char *check_attach(struct approval *approval, const struct request *request)
{
	const struct approval_key *key = &approval->config->approval_key;
	char proof[PROOF_CHARS + 1];

	if (key->state != APPROVAL_KEY_READY)
		return NULL;
	if (!proof_of_attach(key->bytes, request->seconds, approval->nonce, proof) ||
		!proof_is(proof, request->proof.text, request->proof.size))
		return "PermissionError: The proof is wrong, or was for another nonce";
	return hex_write_id(approval->nonce) < 0 ? "PermissionError: There are no random bytes for "
						   "the next nonce"
						 : NULL;
}

/* Attach the caller for @seconds; false with the error in @answer. */
static bool attach(struct approval *approval, const struct policy_caller *caller, uint64_t seconds,
	struct answer *answer)
{
	uint64_t now_ms = clock_now_ms();
	const char *source = caller->source.text ? caller->source.text : "";
	int r = answerers_attach(&approval->answerers,
		caller->account ? caller->account->number : 0, source, caller->source.size, now_ms,
		now_ms + seconds * MS_PER_S);

	if (r > 0)
		answer_error_format(answer, ANSWER_BUSY,
			"RuntimeError: Other clients have attached %d sources, the most that are "
			"allowed",
			ANSWERERS_MAX);
	else if (r < 0)
		answer_error_format(answer, ANSWER_UNAVAILABLE, "RuntimeError: %s", strerror(-r));
	return r == 0;
}

void approval_attach(
	struct approval *approval, const struct request_scope *scope, struct answer *answer)
{
	const struct request *request = &scope->request;
	bool needs_proof = approval->config->approval_key.state == APPROVAL_KEY_READY;
	const char *obstacle = find_obstacle(approval, &scope->caller);

	if (!obstacle && needs_proof && !request->proof.text) {
		answer_member_number(answer, "seconds", 0);
		answer_member_text(answer, "nonce", approval->nonce);
		return;
	}
	if (!obstacle)
		obstacle = check_attach(approval, request);
	if (obstacle)
		answer_error(answer, ANSWER_DENIED, obstacle, strlen(obstacle), UINT32_MAX);
	answer_member_number(answer, "seconds",
		!obstacle && attach(approval, &scope->caller, request->seconds, answer)
			? request->seconds
			: 0);
}

/* Append the names of approval.allow, which come first in the list: the names of allow.json are in
 * that file. */
static void write_allowed(const struct config *config, struct buffer *out)
{
	const struct text_list *names = &config->approval_allow;

	buffer_append_string(out, ",\"allow\":[");
	for (size_t i = 0; i < names->n_items - config->allowed.names.n_items; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_text(out, names->items[i]);
	}
	buffer_append_char(out, ']');
}

void approval_write_status(const struct approval *approval, bool has_names, struct buffer *out)
{
	const struct config *config = approval->config;
	static const char *const keys[] = {
		[APPROVAL_KEY_NONE] = "none",
		[APPROVAL_KEY_READY] = "ready",
		[APPROVAL_KEY_UNUSABLE] = "unusable",
	};

	buffer_append_char(out, '{');
	json_write_member_text(out, "mode", approval_mode_names[config->approval_mode]);
	json_write_member_u64(
		out, "answerers", answerers_count(&approval->answerers, clock_now_ms()));
	json_write_member_u64(out, "pending", approval->pending.n);
	json_write_member_text(out, "key", keys[config->approval_key.state]);
	json_write_member_text(out, "why", config->approval_key.problem);
	if (has_names)
		write_allowed(config, out);
	buffer_append_char(out, '}');
}
