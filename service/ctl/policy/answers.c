/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "policy/hex.h"
#include "policy/proof.h"
#include "util/cleanup.h"
#include "util/file/paths.h"

/* How often an attach is tried with another nonce: someone else may use one first. */
#define ATTACH_TRIES 5

/* The copy of the key of a person, in the user's folder of configurations. */
#define COPY_NAME "toolboxd/approval.key"

/* Return the path of the copy of the key that this user has, which the caller frees; NULL: there is
 * none. */
static char *find_copy(void)
{
	cleanup_free char *folder = NULL;
	cleanup_free char *path = NULL;

	if (paths_xdg_home("XDG_CONFIG_HOME", ".config", &folder) < 0 || !folder ||
		asprintf(&path, "%s/" COPY_NAME, folder) < 0)
		return NULL;
	return access(path, F_OK) == 0 ? take_ptr(path) : NULL;
}

/*
 * The key of approval.key_file may be one that only the service can read, such as a credential of
 * systemd. Then a person has a copy.
 */
int ctl_answers_key(struct approval_key *ret_key)
{
	const struct config_flags flags = {0};
	cleanup_free char *configured = NULL;
	cleanup_free char *copy = NULL;

	*ret_key = (struct approval_key){0};
	/* A configuration that cannot be read has no key for us: the service decides. */
	(void)config_read_approval_key(&flags, NULL, NULL, &configured, ret_key);
	if (ret_key->state != APPROVAL_KEY_READY && (copy = find_copy()))
		(void)approval_key_read(copy, ret_key);
	if (ret_key->state != APPROVAL_KEY_UNUSABLE)
		return 0;
	terminal_complain("%s %s, not '%s'", copy ? COPY_NAME : "approval.key_file",
		ret_key->problem, copy ? copy : configured);
	return CTL_USAGE;
}

int ctl_answers_open(const struct ctl_options *options, struct ctl_session **ret_session,
	struct approval_key *ret_key)
{
	int r = ctl_answers_key(ret_key);

	if (r == 0)
		r = ctl_session_open(options, ret_session);
	if (r == 0 && ctl_session_is_http(*ret_session))
		*ret_key = (struct approval_key){0};
	return r;
}

static int complain_proof(void)
{
	terminal_complain("the proof cannot be made");
	return CTL_ERROR;
}

int ctl_answers_write(const struct approval_key *key, const struct question_mark *question,
	const char *decision, const char *reason, struct buffer *data)
{
	const struct text_view view = {decision, strlen(decision)};
	char proof[PROOF_CHARS + 1];

	ctl_request_member(data, "id", question->id);
	ctl_request_member(data, "decision", decision);
	ctl_request_member(data, "reason", reason);
	if (key->state == APPROVAL_KEY_READY) {
		if (!proof_of_answer(key->bytes, question->id, &view, question->seal, proof))
			return complain_proof();
		ctl_request_member(data, "proof", proof);
	}
	return 0;
}

int ctl_answers_send(struct ctl_session *session, const struct approval_key *key,
	const struct question_mark *question, const char *decision, const char *reason,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = ctl_answers_write(key, question, decision, reason, &data);

	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.approval.respond", &data, ret_response);
	return r != 0 ? r : ctl_response_status(ret_response);
}

bool ctl_answers_write_attach(const struct approval_key *key, unsigned int seconds,
	const struct json_tape *asked, struct buffer *data)
{
	char nonce[HEX_ID_CHARS + 1];
	char proof[PROOF_CHARS + 1];

	if (asked && (key->state != APPROVAL_KEY_READY ||
			     !questions_read_hex(asked, 0, "nonce", nonce, HEX_ID_CHARS) ||
			     !proof_of_attach(key->bytes, seconds, nonce, proof)))
		return false;
	json_write_member_u64(data, "seconds", seconds);
	ctl_request_member(data, "proof", asked ? proof : NULL);
	return true;
}

/* Attach by a request with the proof that @asked wants, or without one: @ret_response may be the
 * response with @asked. */
static int ask_to_attach(struct ctl_session *session, const struct approval_key *key,
	unsigned int seconds, const struct json_tape *asked, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (!ctl_answers_write_attach(key, seconds, asked, &data))
		return complain_proof();
	return ctl_session_ask(session, "ovos.tools.approval.attach", &data, ret_response);
}

int ctl_answers_attach(
	struct ctl_session *session, const struct approval_key *key, unsigned int seconds)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = CTL_ERROR;

	for (int i = 0; i < ATTACH_TRIES; i++) {
		r = ask_to_attach(session, key, seconds, NULL, &response);
		if (r == 0 && ctl_response_find(&response, 0, "nonce", JSON_STRING) != JSON_NONE) {
			if (key->state != APPROVAL_KEY_READY) {
				terminal_complain(
					"the service takes answers with a proof only: this "
					"user's configuration needs approval.key_file, or "
					"~/.config/" COPY_NAME " a copy of the key");
				return CTL_USAGE;
			}
			r = ask_to_attach(session, key, seconds, &response.tape, &response);
		}
		if (r != 0 || ctl_response_status(&response) == CTL_DONE)
			return r;
	}
	ctl_response_complain(&response);
	return ctl_response_status(&response);
}
