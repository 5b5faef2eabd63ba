/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/approval_key.h"
#include "ctl/policy/questions.h"
#include "ctl/response.h"
#include "ctl/session.h"

/*
 * Answers to questions, each with its proof if there is a key (policy/proof.h).
 */

/* Read the key named by the configuration, or this user's copy of it. Return 0; without a key its
 * state is APPROVAL_KEY_NONE. Else an enum ctl_status after a complaint. */
int ctl_answers_key(struct approval_key *ret_key);

/* Open a session as ctl_session_open() does, with the key of its service: none over HTTP, where the
 * token of an administrator is the proof. */
int ctl_answers_open(const struct ctl_options *options, struct ctl_session **ret_session,
	struct approval_key *ret_key);

/* Write the data of the answer for ctl_answers_send(). Return 0, or an enum ctl_status after a
 * complaint. */
int ctl_answers_write(const struct approval_key *key, const struct question_mark *question,
	const char *decision, const char *reason, struct buffer *data);

/* Send the @decision ("once", "session" or "deny") on @question, with the @reason (or NULL). Return
 * CTL_DONE with @ret_response filled when it was accepted, else an enum ctl_status; a complaint
 * about an error response is up to the caller. */
int ctl_answers_send(struct ctl_session *session, const struct approval_key *key,
	const struct question_mark *question, const char *decision, const char *reason,
	struct ctl_response *ret_response);

/* Write the data of a request that reports a person's presence here for @seconds: without a proof
 * (@asked NULL), or with the proof that the response @asked wants. Return false for a response that
 * wants none, without a key, or when the proof cannot be made. */
bool ctl_answers_write_attach(const struct approval_key *key, unsigned int seconds,
	const struct json_tape *asked, struct buffer *data);

/* Report a person's presence here for @seconds (0: no longer) to the service. Return 0, or an enum
 * ctl_status after a complaint. */
int ctl_answers_attach(
	struct ctl_session *session, const struct approval_key *key, unsigned int seconds);
