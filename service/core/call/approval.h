/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/config.h"
#include "core/request/answer.h"
#include "core/call/calls.h"
#include "core/request/request_scope.h"
#include "loop/loop.h"
#include "policy/answerers.h"
#include "policy/grants.h"
#include "policy/pending.h"
#include "util/text/text_view.h"

/*
 * Approval: calls waiting until a person has answered (contract.md, Approval).
 *
 *   approval_check ──▶ may be asked      someone is attached, the key can be used, there is room
 *   approval_prepare ▶ a draft           its tool may still refuse the arguments
 *   approval_ask ────▶ ovos.tools.approval.requested ┐
 *                                                    │  .respond, the end of its time, a cancel,
 *                                                    ▼  the end of its caller or of the service
 *                      handler.decided ◀── ovos.tools.approval.resolved
 *
 * Each question is decided once: it is off the table before anything else happens.
 */

/* The report to a caller with progress, while a person is asked: at once, and at this interval.
 * Clients begin their deadlines anew with it. */
#define APPROVAL_REPORT_TEXT "Waiting for a person to approve the call"
#define APPROVAL_REPORT_MS   5000

enum approval_decision {
	APPROVAL_ONCE,
	APPROVAL_SESSION,
	APPROVAL_DENY,
	APPROVAL_EXPIRED,
	APPROVAL_CANCELLED, /* by ovos.tools.cancel, or the end of the service */
	APPROVAL_WITHDRAWN, /* its caller has gone */
};

/* The end of a question. */
struct approval_outcome {
	enum approval_decision decision;
	bool is_changed;         /* approved, but the tool differs now: denied */
	bool is_stopping;        /* it was cancelled because the service ends */
	struct text_view by;     /* the deciding source; absent: none */
	struct text_view reason; /* its words; absent: none */
};

/* Return the name of the decision: "deny" for a tool that has changed. */
const char *approval_decision_name(const struct approval_outcome *outcome);

/* Callbacks, with the data that approval_init() was given. */
struct approval_handler {
	/* Return whether the tool of @call differs now from the tool in @question. */
	bool (*is_changed)(
		void *data, const struct call *call, const struct pending_question *question);

	/* Take @call back: @question has this outcome and is freed afterwards. */
	void (*decided)(void *data, struct call *call, const struct pending_question *question,
		const struct approval_outcome *outcome);
};

struct approval {
	const struct config *config;          /* borrowed */
	const struct audience *audience;      /* borrowed */
	const unsigned char *fingerprint_key; /* borrowed: see masked_arguments_read() */
	struct approval_handler handler;
	void *data;
	struct pending pending;
	struct answerers answerers;
	struct grants grants;
	bool has_connections;         /* see grantee_of() */
	struct loop_timer due;        /* when the next question expires, or is reported */
	char nonce[HEX_ID_CHARS + 1]; /* for the next attach */
};

/* Make @approval ready, without questions. @fingerprint_key is kept, @handler is copied, @data
 * passed to it. Returns 0, -ENOMEM, or -EIO without random bytes. */
int approval_init(struct approval *approval, struct loop *loop, const struct config *config,
	const unsigned char *fingerprint_key, const struct approval_handler *handler, void *data);

/* Forget everything. Waiting calls are not reported. Takes a zeroed struct. */
void approval_deinit(struct approval *approval);

/* Return whether calls of @tool as the call of @scope were approved for its caller's session.
 * *ret_needs_none is set where the call only reads, and needs no approval. */
bool approval_is_granted(const struct approval *approval, const struct request_scope *scope,
	const struct tool *tool, bool *ret_needs_none);

/* Return whether a person can be asked about a call of @tool by @caller; else the error is written
 * to @answer. */
bool approval_check(struct approval *approval, const struct tool *tool,
	const struct policy_caller *caller, struct answer *answer);

/*
 * Prepare the question about @call by @scope's caller, with the arguments of @scope. Returns it,
 * with all of its texts, or NULL with the error written to @answer. Call approval_ask() or
 * approval_forget().
 */
struct pending_question *approval_prepare(struct approval *approval, struct call *call,
	struct request_scope *scope, struct answer *answer);

/* Write the error of a call whose @question ended with @outcome, neither approved nor cancelled. */
void approval_write_refusal(const struct approval *approval,
	const struct pending_question *question, const struct approval_outcome *outcome,
	struct answer *answer);

/* Ask @question, by a broadcast. @said: the words of its tool about the call, as {"about": TEXT};
 * anything else, or NULL: none. Return false, with the error written to @answer, when it does not
 * fit in a frame; then call approval_forget(). */
bool approval_ask(struct approval *approval, struct pending_question *question,
	const struct json_tape *said, struct answer *answer);

/* Forget and free @question before its broadcast. */
void approval_forget(struct approval *approval, struct pending_question *question);

/* Cancel the question about the waiting @call. When its caller at an address has left, the question
 * is withdrawn. */
void approval_cancel(struct approval *approval, const struct call *call);

/* Cancel all questions: the service ends. */
void approval_stop(struct approval *approval);

/* Withdraw the questions of the departed peer with @account, and detach its sources; from the
 * loop. */
void approval_withdraw(struct approval *approval, const struct account *account);

/* Follow the configuration: withdraw the questions of callers with changed rights; from the
 * loop. */
void approval_configure(struct approval *approval);

/* Serve ovos.tools.approval.list, .respond and .attach. */
void approval_list(
	const struct approval *approval, const struct request_scope *scope, struct answer *answer);
void approval_respond(
	struct approval *approval, const struct request_scope *scope, struct answer *answer);
void approval_attach(
	struct approval *approval, const struct request_scope *scope, struct answer *answer);

/* Write the state of approval for ovos.tools.status; @has_names: with the names of
 * approval.allow. */
void approval_write_status(const struct approval *approval, bool has_names, struct buffer *out);
