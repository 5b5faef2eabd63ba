/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/answers.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "policy/hex.h"
#include "policy/proof.h"
#include "util/cleanup.h"

/* How often an attach is tried with another nonce: someone else may use one first. */
#define ATTACH_TRIES 5

static void ignore_report(void *data, const struct diagnostic *diagnostic)
{
	(void)data;
	(void)diagnostic;
}

int ctl_answers_key(struct approval_key *ret_key)
{
	const struct config_flags flags = {0};
	cleanup_free char *path = NULL;

	*ret_key = (struct approval_key){0};
	/* A configuration that cannot be read has no key for us: the service decides. */
	if (config_read_approval_key(&flags, ignore_report, NULL, &path, ret_key) != 0)
		return 0;
	if (ret_key->state != APPROVAL_KEY_UNUSABLE)
		return 0;
	terminal_complain("approval.key_file %s, not '%s'", ret_key->problem, path);
	return CTL_USAGE;
}

static int complain_proof(void)
{
	terminal_complain("the proof cannot be made");
	return CTL_ERROR;
}

int ctl_answers_write(const struct approval_key *key, const char *id, const char *decision,
	const char *reason, struct buffer *data)
{
	const struct text_view view = {decision, strlen(decision)};
	char proof[PROOF_CHARS + 1];

	ctl_request_begin(data);
	ctl_request_member(data, "id", id);
	ctl_request_member(data, "decision", decision);
	ctl_request_member(data, "reason", reason);
	if (key->state == APPROVAL_KEY_READY) {
		if (!proof_of_answer(key->bytes, id, &view, proof))
			return complain_proof();
		ctl_request_member(data, "proof", proof);
	}
	ctl_request_end(data);
	return 0;
}

int ctl_answers_send(struct ctl_session *session, const struct approval_key *key, const char *id,
	const char *decision, const char *reason, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r = ctl_answers_write(key, id, decision, reason, &data);

	if (r == 0)
		r = ctl_session_ask(session, "ovos.tools.approval.respond", &data, ret_response);
	return r != 0 ? r : ctl_response_status(ret_response);
}

static int ask_to_attach(struct ctl_session *session, unsigned int seconds, const char *proof,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_begin(&data);
	json_write_key(&data, "seconds");
	json_write_u64(&data, seconds);
	ctl_request_member(&data, "proof", proof);
	ctl_request_end(&data);
	return ctl_session_ask(session, "ovos.tools.approval.attach", &data, ret_response);
}

/* Attach with a proof about the nonce in @response, which is then replaced. */
static int prove_attach(struct ctl_session *session, const struct approval_key *key,
	unsigned int seconds, struct ctl_response *response)
{
	cleanup_free char *nonce = json_string_dup(
		&response->tape, ctl_response_find(response, 0, "nonce", JSON_STRING), NULL);
	char proof[PROOF_CHARS + 1];

	if (!nonce || !proof_of_attach(key->bytes, seconds, nonce, proof))
		return complain_proof();
	return ask_to_attach(session, seconds, proof, response);
}

int ctl_answers_attach(
	struct ctl_session *session, const struct approval_key *key, unsigned int seconds)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = CTL_ERROR;

	for (int i = 0; i < ATTACH_TRIES; i++) {
		r = ask_to_attach(session, seconds, NULL, &response);
		if (r == 0 && ctl_response_find(&response, 0, "nonce", JSON_STRING) != JSON_NONE) {
			if (key->state != APPROVAL_KEY_READY) {
				terminal_complain(
					"the service takes answers with a proof only: this "
					"user's configuration needs approval.key_file");
				return CTL_USAGE;
			}
			r = prove_attach(session, key, seconds, &response);
		}
		if (r != 0 || ctl_response_status(&response) == CTL_DONE)
			return r;
	}
	ctl_response_complain(&response);
	return ctl_response_status(&response);
}
