/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/answers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "answering.h"
#include "ctl/request.h"
#include "util/array.h"
#include "util/cleanup.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("HOME", scratch_path("home"), 1);
	setenv("XDG_CONFIG_HOME", scratch_path("config"), 1);
	setenv("XDG_CONFIG_DIRS", scratch_path("none"), 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_answers, .init = set_up, .fini = tear_down, .timeout = 60);

#define ATTACH  "ovos.tools.approval.attach"
#define NONCE   "0123456789abcdef0123456789abcdef"
#define ASKED   "{'error':'A proof is needed.','code':'forbidden','nonce':'" NONCE "'}"
#define SECONDS 60

static const struct approval_key none;
static const struct approval_key key = {.state = APPROVAL_KEY_READY, .bytes = {1, 2, 3}};

/* Attach to a service with @messages for SECONDS. Return the status. */
static int attach(const struct prepared *messages, const struct approval_key *with)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct ctl_options options = {.timeout_ms = 5000};
	int r;

	answering_start(messages);
	options.bus = (char *)answering_url();
	capture_begin();
	r = ctl_session_open(&options, &session);
	r = r ? r : ctl_answers_attach(session, with, SECONDS);
	capture_end();
	return r;
}

#define WITHOUT ATTACH " {'seconds':60}\n"

Test(ctl_answers, attach_without_a_proof_where_none_is_wanted)
{
	static const struct prepared messages[] = {{ATTACH, "{'attached':true}", NULL}, {0}};

	cr_expect_eq(attach(messages, &key), CTL_DONE);
	cr_expect_str_eq(answering_requests(), WITHOUT);
	cr_expect_str_eq(command_complaints, "");
}

Test(ctl_answers, attach_with_the_proof_for_the_nonce)
{
	static const struct prepared messages[] = {
		{ATTACH, ASKED, NULL}, {ATTACH, "{'attached':true}", NULL}, {0}};
	char proof[PROOF_CHARS + 1];
	char expected[256];

	cr_assert(proof_of_attach(key.bytes, SECONDS, NONCE, proof));
	snprintf(
		expected, sizeof(expected), WITHOUT ATTACH " {'seconds':60,'proof':'%s'}\n", proof);
	cr_expect_eq(attach(messages, &key), CTL_DONE);
	cr_expect_str_eq(answering_requests(), expected);
}

Test(ctl_answers, need_a_key_where_a_proof_is_wanted)
{
	static const struct prepared messages[] = {{ATTACH, ASKED, NULL}, {0}};

	cr_expect_eq(attach(messages, &none), CTL_USAGE);
	cr_expect_str_eq(answering_requests(), WITHOUT);
	expect_complaint("the service takes answers with a proof only: this user's configuration "
			 "needs approval.key_file, or ~/.config/toolboxd/approval.key a copy of "
			 "the key");
}

/* Another client may use each nonce first. */
Test(ctl_answers, attach_anew_five_times_at_most)
{
	static const struct prepared messages[] = {{ATTACH, ASKED, NULL},
		{ATTACH, "{'error':'It is used.','code':'forbidden'}", NULL}, {ATTACH, ASKED, NULL},
		{ATTACH, "{'attached':true}", NULL}, {0}};
	static const struct prepared never[] = {{ATTACH, ASKED, NULL}, {0}};
	size_t n = 0;

	cr_expect_eq(attach(messages, &key), CTL_DONE);
	answering_stop();
	cr_expect_eq(attach(never, &key), CTL_ERROR);
	for (const char *at = answering_requests(); (at = strchr(at, '\n')); at++)
		n++;
	cr_expect_eq(n, 10);
	expect_complaint("A proof is needed.");
}

/* A refusal for another reason ends at once. */
Test(ctl_answers, report_why_they_cannot_attach)
{
	static const struct prepared messages[] = {
		{ATTACH, "{'error':'No.','code':'bad_request'}", NULL}, {0}};

	cr_expect_eq(attach(messages, &none), CTL_ERROR);
	expect_complaint("No.");
}

Test(ctl_answers, prove_nothing_without_a_key_or_a_nonce)
{
	static const struct {
		const char *asked;
		const struct approval_key *key;
	} cases[] = {{ASKED, &none}, {"{}", &key}, {"{'nonce':'0123'}", &key},
		{"{'nonce':'0123456789ABCDEF0123456789ABCDEF'}", &key},
		{"{'nonce':'" NONCE "0'}", &key}, {"{'nonce':5}", &key}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer data = {0};
		cleanup_free char *json = quoted(cases[i].asked);

		cr_assert_eq(json_tape_read(&tape, json, strlen(json), 9, NULL), 0);
		cr_expect_not(ctl_answers_write_attach(cases[i].key, 5, &tape, &data), "%s", json);
		cr_expect_eq(data.size, 0);
	}
}

Test(ctl_answers, have_a_proof_only_with_a_key)
{
	struct question_mark mark = {.id = NONCE, .seal = "ab"};
	const struct text_view once = {"once", 4};
	cleanup(buffer_deinit) struct buffer data = {0};
	char proof[PROOF_CHARS + 1];
	char expected[256];

	cr_expect_eq(ctl_answers_write(&none, &mark, "once", NULL, &data), 0);
	cr_expect_str_eq(buffer_terminate(&data), "\"id\":\"" NONCE "\",\"decision\":\"once\"");
	buffer_reset(&data);
	cr_assert(proof_of_answer(key.bytes, NONCE, &once, "ab", proof));
	snprintf(expected, sizeof(expected),
		"\"id\":\"" NONCE "\",\"decision\":\"once\",\"reason\":\"mine\",\"proof\":\"%s\"",
		proof);
	cr_expect_eq(ctl_answers_write(&key, &mark, "once", "mine", &data), 0);
	cr_expect_str_eq(buffer_terminate(&data), expected);
}

/* Return a message with @id and the seal by @prove (NULL: none), its first digit another one
 * unless @is_right. */
static struct json_tape end_of(const char *id,
	bool (*prove)(const unsigned char *key, const char *id, const char *digest, char *ret),
	bool is_right)
{
	struct json_tape tape = {0};
	char digest[PROOF_CHARS + 1];
	char seal[PROOF_CHARS + 1] = "";
	static char text[256];

	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"decision\":\"once\"}", id);
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 9, NULL), 0);
	if (!prove)
		return tape;
	cr_assert_eq(proof_digest(&tape, 0, digest), 0);
	cr_assert(prove(key.bytes, id, digest, seal));
	json_tape_deinit(&tape);
	tape = (struct json_tape){0};
	if (!is_right)
		seal[0] = seal[0] == '0' ? '1' : '0';
	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"decision\":\"once\",\"seal\":\"%s\"}", id,
		seal);
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 9, NULL), 0);
	return tape;
}

Test(ctl_answers, believe_an_end_with_the_seal_of_the_service)
{
#define OTHER "fedcba9876543210fedcba9876543210"
	static const struct {
		const char *id;
		bool (*prove)(
			const unsigned char *key, const char *id, const char *digest, char *ret);
		bool is_right;
		bool with_key;
		bool without;
	} cases[] = {
		{NONCE, proof_of_end, true, true, true},
		{NONCE, proof_of_end, false, false, true},
		{NONCE, proof_of_question, true, false, true},
		{NONCE, NULL, true, false, true},
		{OTHER, proof_of_end, true, false, false},
		{"0123", NULL, true, false, false},
	};
	const struct question_mark mark = {.id = NONCE};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape =
			end_of(cases[i].id, cases[i].prove, cases[i].is_right);

		cr_expect_eq(questions_is_end(&key, &tape, 0, &mark), cases[i].with_key, "%zu", i);
		cr_expect_eq(questions_is_end(&none, &tape, 0, &mark), cases[i].without, "%zu", i);
	}
}
