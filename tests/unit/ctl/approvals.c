/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "answering.h"
#include "ctl/policy/questions.h"

/* A person without a key, or with one that is a copy in the own folder. */
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

TestSuite(ctl_approvals, .init = set_up, .fini = tear_down, .timeout = 60);

#define LIST    "ovos.tools.approval.list"
#define RESPOND "ovos.tools.approval.respond"

#define ID    "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

#define QUESTION(id)                                                                               \
	"{'id':'" id "','toolbox_id':'home','name':'lights_on','risk':'act','source':'skill',"     \
	"'expires_s':41.7,'question':'Turn the lights on?'}"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void give_key(void)
{
	scratch_write("config/toolboxd/approval.key", KEY "\n");
}

/* Return the question @id with the seal that the key makes, or with a wrong one. */
static char *sealed(const char *id, bool is_right)
{
	static char text[512];
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct approval_key key;
	char digest[PROOF_CHARS + 1];
	char seal[PROOF_CHARS + 1];
	char *json;

	snprintf(text, sizeof(text),
		"{'id':'%s','toolbox_id':'home','name':'lights_on','question':'On?'}", id);
	json = quoted(text);
	cr_assert_eq(approval_key_read(scratch_path("config/toolboxd/approval.key"), &key), 0);
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 10, NULL), 0);
	cr_assert_eq(proof_digest(&tape, 0, digest), 0);
	cr_assert(proof_of_question(key.bytes, id, digest, seal));
	free(json);
	seal[0] = is_right ? seal[0] : (seal[0] == '0' ? '1' : '0');
	snprintf(text + strlen(text) - 1, sizeof(text) - strlen(text), ",'seal':'%s'}", seal);
	return text;
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_approvals, lists_the_questions_that_wait)
{
	static const struct prepared messages[] = {
		{LIST, "{'pending':[" QUESTION(ID) "," QUESTION(OTHER) "]}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_approvals, "approvals", CTL_DONE,
		"ID                                TOOL            RISK  FROM   SECONDS  "
		"QUESTION\n" ID
		"  home/lights_on  act   skill       42  Turn the lights on?\n" OTHER
		"  home/lights_on  act   skill       42  Turn the lights on?\n",
		"");
	cr_expect_str_eq(answering_requests(), LIST " {'after':0}\n");
}

Test(ctl_approvals, says_that_no_question_waits)
{
	static const struct prepared messages[] = {{LIST, "{'pending':[]}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_approvals, "approvals", CTL_DONE, "", "no call waits for approval\n");
	expect_command(ctl_approvals, "approvals --json", CTL_DONE, "{\"pending\":[]}\n", "");
}

Test(ctl_approvals, follows_the_pages_of_a_list_to_its_end)
{
	static const struct prepared messages[] = {
		{LIST, "{'pending':[{'id':'" ID "'}],'next':5}", NULL},
		{LIST, "{'pending':[{'id':'" OTHER "'}],'next':9}", NULL},
		{LIST, "{'pending':[],'next':9}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_approvals, "approvals --json", CTL_DONE,
		"{\"pending\":[{\"id\":\"" ID "\"},{\"id\":\"" OTHER "\"}]}\n", "");
	cr_expect_str_eq(answering_requests(),
		LIST " {'after':0}\n" LIST " {'after':5}\n" LIST " {'after':9}\n");
}

Test(ctl_approvals, follows_no_page_that_does_not_come_after_the_last)
{
	static const char *const nexts[] = {"0", "-1", "1.5", "'7'", "1e300", "null", "[]"};

	for (size_t i = 0; i < sizeof(nexts) / sizeof(*nexts); i++) {
		char data[64];
		const struct prepared messages[] = {{LIST, data, NULL}, {0}};

		snprintf(data, sizeof(data), "{'pending':[],'next':%s}", nexts[i]);
		answering_start(messages);
		cr_expect_eq(command_run(ctl_approvals, "approvals"), CTL_DONE);
		cr_expect_str_eq(answering_requests(), LIST " {'after':0}\n", "%s", nexts[i]);
		answering_stop();
	}
}

Test(ctl_approvals, shows_no_question_without_an_id)
{
	static const struct prepared messages[] = {
		{LIST,
			"{'pending':[1,[],{},{'id':5},{'id':'short'},{'id':'" ID "0'},"
			"{'id':'0123456789ABCDEF0123456789ABCDEF'},"
			"{'id':'0123456789abcdef0123456789abcde\\u0000'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_approvals, "approvals", CTL_DONE, "",
		"a question is not shown, because it has no right seal: it is not from the "
		"service, or the service has another key, or has not read its own (toolboxctl "
		"reload)\n"
		"no call waits for approval\n");
}

Test(ctl_approvals, shows_with_a_key_only_questions_that_have_its_seal)
{
	struct prepared messages[] = {{LIST, NULL, NULL}, {0}};
	char data[2048];

	give_key();
	snprintf(data, sizeof(data), "{'pending':[%s,", sealed(ID, true));
	snprintf(data + strlen(data), sizeof(data) - strlen(data), "%s," QUESTION(OTHER) "]}",
		sealed(OTHER, false));
	messages[0].data = data;
	answering_start(messages);
	cr_expect_eq(command_run(ctl_approvals, "approvals --json"), CTL_DONE);
	expect_output("{\"pending\":[{\"id\":\"" ID "\"");
	cr_expect_null(strstr(command_output, OTHER));
	expect_complaint("a question is not shown");
}

Test(ctl_approvals, ends_with_an_error_of_the_service)
{
	static const struct prepared messages[] = {
		{LIST, "{'error':'not for you','code':'forbidden'}", NULL},
		{LIST, "{'pending':{}}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_approvals, "approvals", CTL_ERROR, "", "not for you\n");
	cr_expect_eq(command_run(ctl_approvals, "approvals"), CTL_ERROR);
}

Test(ctl_approvals, are_not_asked_for_with_a_key_that_others_may_read)
{
	static const struct prepared messages[] = {{LIST, "{'pending':[]}", NULL}, {0}};
	char *path;

	give_key();
	path = scratch_path("config/toolboxd/approval.key");
	cr_assert_eq(chmod(path, 0644), 0);
	answering_start(messages);
	cr_expect_eq(command_run(ctl_approvals, "approvals"), CTL_USAGE);
	expect_complaint("toolboxd/approval.key ");
	expect_complaint(path);
	cr_expect_str_empty(answering_requests());
}

/* ── an answer ───────────────────────────────────────────────────────────────────────────────── */

Test(ctl_approvals, are_answered_by_a_decision)
{
	static const struct {
		command_function command;
		const char *line;
		const char *data;
	} cases[] = {
		{ctl_approve, "approve " ID, "{'id':'" ID "','decision':'once'}"},
		{ctl_approve, "approve --session " ID, "{'id':'" ID "','decision':'session'}"},
		{ctl_deny, "deny " ID, "{'id':'" ID "','decision':'deny'}"},
		{ctl_deny, "deny --reason later " ID,
			"{'id':'" ID "','decision':'deny','reason':'later'}"},
	};
	static const struct prepared messages[] = {{RESPOND, "{'resolved':true}", NULL}, {0}};
	char expected[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answering_start(messages);
		expect_command(cases[i].command, cases[i].line, CTL_DONE, "", "");
		snprintf(expected, sizeof(expected), RESPOND " %s\n", cases[i].data);
		cr_expect_str_eq(answering_requests(), expected, "%s", answering_requests());
		answering_stop();
	}
}

Test(ctl_approvals, report_what_the_service_says_to_an_answer)
{
	static const struct prepared messages[] = {
		{RESPOND, "{'error':'no such question','code':'unknown_call'}", NULL},
		{RESPOND, "{'error':'no such question','code':'unknown_call'}", NULL},
		{RESPOND, "{'resolved':true}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_approve, "approve " ID, CTL_ERROR, "", "no such question\n");
	expect_command(ctl_approve, "approve --json " ID, CTL_ERROR,
		"{\"error\":\"no such question\",\"code\":\"unknown_call\"}\n", "");
	expect_command(ctl_deny, "deny --json " ID, CTL_DONE, "{\"resolved\":true}\n", "");
}

Test(ctl_approvals, are_named_by_32_hexadecimal_digits)
{
	static const char *const wrong[] = {"x", "0123456789abcdef0123456789abcde", (ID "0"),
		"0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcdeg"};
	static const struct prepared messages[] = {{RESPOND, "{}", NULL}, {0}};

	answering_start(messages);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char line[64];

		snprintf(line, sizeof(line), "approve %s", wrong[i]);
		cr_expect_eq(command_run(ctl_approve, line), CTL_USAGE, "%s", line);
		expect_complaint("is no question: its id has 32 hexadecimal digits");
	}
	cr_expect_str_empty(answering_requests());
}

Test(ctl_approvals, are_answered_with_a_proof_about_the_words_that_were_shown)
{
	struct prepared messages[] = {{LIST, NULL, NULL}, {RESPOND, "{}", NULL}, {0}};
	const struct text_view decision = {"once", strlen("once")};
	struct approval_key key;
	char data[1024];
	char expected[256];
	char seal[PROOF_CHARS + 1] = "";
	char proof[PROOF_CHARS + 1];

	give_key();
	snprintf(data, sizeof(data), "{'pending':[%s]}", sealed(ID, true));
	memcpy(seal, strstr(data, "'seal':'") + strlen("'seal':'"), PROOF_CHARS);
	messages[0].data = data;
	answering_start(messages);
	expect_command(ctl_approve, "approve " ID, CTL_DONE, "", "");
	cr_assert_eq(approval_key_read(scratch_path("config/toolboxd/approval.key"), &key), 0);
	cr_assert(proof_of_answer(key.bytes, ID, &decision, seal, proof));
	snprintf(expected, sizeof(expected), "{'id':'" ID "','decision':'once','proof':'%s'}",
		proof);
	cr_expect_not_null(strstr(answering_requests(), expected), "%s", answering_requests());
}

Test(ctl_approvals, are_not_answered_with_a_key_when_no_question_has_its_seal)
{
	struct prepared messages[] = {{LIST, NULL, NULL}, {RESPOND, "{}", NULL}, {0}};
	char data[1024];

	give_key();
	snprintf(data, sizeof(data), "{'pending':[%s]}", sealed(ID, false));
	messages[0].data = data;
	answering_start(messages);
	cr_expect_eq(command_run(ctl_approve, "approve " ID), CTL_ERROR);
	expect_complaint("there is no question " ID ": it was answered, or its time is over");
	cr_expect_null(strstr(answering_requests(), RESPOND));
}
