/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/approval.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "policy/proof.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Calls that wait for a person, from the request to the answer, over the bus. */

TestSuite(approval, .init = asking_set_up, .fini = asking_tear_down, .timeout = 300);

#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','tools':["                                         \
	"{'name':'root','risk':'execute','native':{'symbol':'sqrt','parameters':["                 \
	"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}},"                                   \
	"{'name':'read','risk':'read','native':{'symbol':'sqrt','parameters':["                    \
	"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}},"                                   \
	"{'name':'plain','native':{'symbol':'sqrt','parameters':["                                 \
	"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}"

#define ATTACH    "ovos.tools.approval.attach"
#define RESPOND   "ovos.tools.approval.respond"
#define LIST      "ovos.tools.approval.list"
#define REQUESTED "ovos.tools.approval.requested"
#define RESOLVED  "ovos.tools.approval.resolved"
#define INVOKE    "ovos.tools.invoke"

#define SOMEONE "{'source':'skill','session':{'session_id':'s1'}}"

static char id[64];

/* Start with these members of `approval` in the configuration. */
static void start_with(const char *members)
{
	char text[512];
	char *json;

	snprintf(text, sizeof(text), "{'toolboxd':{'approval':{%s}}}", members);
	json = quoted(text);
	write_box("libm.json", LIBM);
	write_user_file(json);
	free(json);
	asking_start();
}

/* Call the tool @name, and keep the id of the question about it. Return the question. */
static const char *ask_about(const char *name)
{
	char data[128];
	const char *question;
	const char *at;

	snprintf(data, sizeof(data), "{'name':'%s','args':{'x':16}}", name);
	send_request(INVOKE, data, SOMEONE);
	question = wait_for(REQUESTED);
	at = strstr(question, "\"id\":\"");
	cr_assert_not_null(at, "%s", question);
	snprintf(id, sizeof(id), "%.32s", at + strlen("\"id\":\""));
	return question;
}

/* Answer the question that was asked last. Return the response. */
static const char *answer_with(const char *decision, const char *more)
{
	char data[512];

	snprintf(data, sizeof(data), "{'id':'%s','decision':'%s'%s}", id, decision, more);
	return ask_for(RESPOND, data);
}

static void attach(void)
{
	expect_part(ask_for(ATTACH, "{'seconds':60}"), "'seconds':60");
}

/* Expect a call of @name to end at once, with @part in its response, and without a question. */
static void expect_at_once(const char *name, const char *part)
{
	char data[128];

	snprintf(data, sizeof(data), "{'name':'%s','args':{'x':16}}", name);
	send_request(INVOKE, data, SOMEONE);
	expect_part(wait_for(INVOKE ".response"), part);
	cr_expect_eq(n_unseen(REQUESTED), 0, "%s", name);
}

/* ── which calls ask ─────────────────────────────────────────────────────────────────────────── */

/* Expect which of the tools root (execute), plain (unrated) and read ask in the mode @mode. */
static void expect_mode(const char *mode, bool root, bool plain, bool read)
{
	char members[32];

	snprintf(members, sizeof(members), "'mode':'%s'", mode);
	start_with(members);
	expect_at_once("root", root ? "'code':'denied'" : "'result':");
	expect_at_once("plain", plain ? "'code':'denied'" : "'result':");
	expect_at_once("read", read ? "'code':'denied'" : "'result':");
}

Test(approval, is_for_no_tool_when_it_is_off)
{
	expect_mode("off", false, false, false);
}

Test(approval, is_for_tools_that_execute)
{
	expect_mode("execute", true, false, false);
}

Test(approval, is_for_all_but_tools_that_read)
{
	expect_mode("auto", true, true, false);
}

Test(approval, is_for_every_tool_when_it_is_strict)
{
	expect_mode("strict", true, true, true);
}

Test(approval, is_not_for_tools_that_are_allowed)
{
	start_with("'mode':'strict','allow':['libm/ro*']");
	expect_at_once("root", "'result':");
	expect_at_once("read", "'code':'denied'");
}

Test(approval, is_not_asked_for_with_arguments_that_are_refused)
{
	start_with("'mode':'strict'");
	attach();
	send_request(INVOKE, "{'name':'root','args':{'x':'big'}}", SOMEONE);
	expect_part(wait_for(INVOKE ".response"), "'code':'invalid_arguments'");
	send_request(INVOKE, "{'name':'none'}", SOMEONE);
	expect_part(wait_for(INVOKE ".response"), "'code':'unknown_tool'");
	cr_expect_eq(n_unseen(REQUESTED), 0);
}

/* ── answers ─────────────────────────────────────────────────────────────────────────────────── */

Test(approval, lets_a_call_run_once)
{
	const char *question;
	const char *resolved;

	start_with("'mode':'execute'");
	attach();
	question = ask_about("root");
	expect_part(question, "'name':'root','toolbox_id':'libm'");
	expect_part(question, "'risk':'execute'");
	expect_part(question, "'args':{'x':16}");
	expect_part(question, "'source':'skill'");
	cr_expect_null(strstr(question, "arguments_hidden"));
	cr_expect_eq(n_unseen(INVOKE ".response"), 0, "it waits");
	expect_part(answer_with("once", ""), "'accepted':true,'decision':'once'");
	resolved = wait_for(RESOLVED);
	expect_part(resolved, "'decision':'once'");
	expect_part(wait_for(INVOKE ".response"), "'result':");
	ask_about("root");
	answer_with("deny", "");
	expect_part(wait_for(INVOKE ".response"), "'code':'denied'");
}

Test(approval, of_a_session_lasts_for_this_tool_of_this_caller)
{
	start_with("'mode':'strict'");
	attach();
	ask_about("root");
	expect_part(answer_with("session", ""), "'decision':'session'");
	expect_part(wait_for(INVOKE ".response"), "'result':");
	expect_at_once("root", "'result':");
	ask_about("read");
	answer_with("deny", "");
	wait_for(INVOKE ".response");
	send_request(INVOKE, "{'name':'root','args':{'x':1}}",
		"{'source':'skill','session':{'session_id':'s2'}}");
	wait_for(REQUESTED);
	send_request(INVOKE, "{'name':'root','args':{'x':1}}",
		"{'source':'other','session':{'session_id':'s1'}}");
	wait_for(REQUESTED);
}

Test(approval, of_a_session_is_once_for_a_caller_that_cannot_be_known_again)
{
	static const char *const contexts[] = {"{}", "{'source':'skill'}",
		"{'session':{'session_id':'s'}}", "{'source':5,'session':{'session_id':'s'}}",
		"{'source':'skill','session':{'session_id':[]}}"};

	start_with("'mode':'execute'");
	attach();
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		const char *at;

		send_request(INVOKE, "{'name':'root','args':{'x':1}}", contexts[i]);
		at = strstr(wait_for(REQUESTED), "\"id\":\"");
		snprintf(id, sizeof(id), "%.32s", at + strlen("\"id\":\""));
		expect_part(answer_with("session", ""), "'accepted':true,'decision':'once'");
		wait_for(INVOKE ".response");
	}
}

Test(approval, may_be_denied_with_a_reason)
{
	start_with("'mode':'execute'");
	attach();
	ask_about("root");
	expect_part(answer_with("deny", ",'reason':'not at night'"), "'accepted':true");
	expect_part(wait_for(RESOLVED), "'decision':'deny'");
	expect_part(wait_for(INVOKE ".response"), "not at night");
}

Test(approval, takes_an_answer_once)
{
	start_with("'mode':'execute'");
	attach();
	ask_about("root");
	expect_part(answer_with("once", ""), "'accepted':true");
	expect_part(answer_with("deny", ""), "'accepted':false");
	expect_part(wait_for(INVOKE ".response"), "'result':");
	snprintf(id, sizeof(id), "0123456789abcdef0123456789abcdef");
	expect_part(answer_with("once", ""), "'accepted':false");
	snprintf(id, sizeof(id), "short");
	expect_part(answer_with("once", ""), "'accepted':false");
}

Test(approval, refuses_requests_that_are_no_answers)
{
	static const char *const cases[][2] = {
		{RESPOND, "{}"},
		{RESPOND, "{'id':5,'decision':'once'}"},
		{RESPOND, "{'id':'x'}"},
		{RESPOND, "{'id':'x','decision':'maybe'}"},
		{RESPOND, "{'id':'x','decision':true}"},
		{ATTACH, "{}"},
		{ATTACH, "{'seconds':-1}"},
		{ATTACH, "{'seconds':301}"},
		{ATTACH, "{'seconds':1.5}"},
		{ATTACH, "{'seconds':'60'}"},
		{LIST, "{'after':-1}"},
		{LIST, "{'after':'x'}"},
	};

	start_with("'mode':'execute'");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_part(ask_for(cases[i][0], cases[i][1]), "'error':");
	expect_at_once("root", "'code':'denied'");
}

Test(approval, asks_no_one_when_no_one_is_attached)
{
	start_with("'mode':'execute'");
	expect_at_once("root", "'code':'denied'");
	attach();
	ask_about("root");
	expect_part(ask_for(ATTACH, "{'seconds':0}"), "'seconds':0");
	expect_at_once("root", "'code':'denied'");
}

Test(approval, takes_answers_of_its_sources_only)
{
	start_with("'mode':'execute','answer_sources':['persona*']");
	expect_part(ask_for(ATTACH, "{'seconds':60}"), "'seconds':0");
	expect_at_once("root", "'code':'denied'");
	send_request(ATTACH, "{'seconds':60}", "{'source':'persona.one'}");
	expect_part(wait_for(ATTACH ".response"), "'seconds':60");
	ask_about("root");
	expect_part(answer_with("once", ""), "'accepted':false");
}

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

Test(approval, lists_the_questions_that_wait)
{
	start_with("'mode':'execute'");
	attach();
	expect_part(ask_for(LIST, "{}"), "'pending':[]");
	ask_about("root");
	expect_part(ask_for(LIST, "{}"), "'name':'root'");
	answer_with("deny", "");
	expect_part(ask_for(LIST, "{}"), "'pending':[]");
}

/* ── its end without an answer ───────────────────────────────────────────────────────────────── */

Test(approval, expires)
{
	start_with("'mode':'execute','timeout_ms':1000");
	attach();
	ask_about("root");
	expect_part(wait_for(RESOLVED), "'decision':'expired'");
	expect_part(wait_for(INVOKE ".response"), "'code':'denied'");
	expect_part(answer_with("once", ""), "'accepted':false");
}

Test(approval, ends_with_a_call_that_is_cancelled)
{
	start_with("'mode':'execute'");
	attach();
	send_request(INVOKE, "{'name':'root','args':{'x':1},'call_id':'mine'}", SOMEONE);
	wait_for(REQUESTED);
	send_request("ovos.tools.cancel", "{'call_id':'mine'}", SOMEONE);
	expect_part(wait_for(RESOLVED), "'decision':'cancelled'");
	expect_part(wait_for(INVOKE ".response"), "'code':'cancelled'");
}

Test(approval, is_for_the_tool_that_was_asked_about)
{
	start_with("'mode':'execute'");
	attach();
	ask_about("root");
	write_box("libm.json",
		"{'kind':'native','library':'libm.so.6','tools':[{'name':'root','risk':'execute',"
		"'description':'Another one.','native':{'symbol':'cbrt','parameters':["
		"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}");
	ask_for("ovos.tools.reload", "{}");
	expect_part(answer_with("once", ""), "'accepted':false");
	expect_part(wait_for(RESOLVED), "'decision':'deny'");
	expect_part(wait_for(INVOKE ".response"), "'code':'denied'");
}

Test(approval, runs_the_tool_at_its_place_in_the_manifest_that_was_loaded_meanwhile)
{
	start_with("'mode':'execute'");
	attach();
	ask_about("root");
	write_box("libm.json",
		"{'kind':'native','library':'libm.so.6','tools':["
		"{'name':'cube_root','risk':'read','native':{'symbol':'cbrt','parameters':["
		"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}},"
		"{'name':'root','risk':'execute','native':{'symbol':'sqrt','parameters':["
		"{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}");
	ask_for("ovos.tools.reload", "{}");
	expect_part(answer_with("once", ""), "'accepted':true");
	expect_part(wait_for(INVOKE ".response"), "'result':{'result':4.0}");
}

/* ── with a key ──────────────────────────────────────────────────────────────────────────────── */

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

Test(approval, with_a_key_counts_only_answers_with_a_proof)
{
	const struct text_view once = {"once", strlen("once")};
	struct approval_key key;
	char members[192];
	char seal[PROOF_CHARS + 1] = "";
	char proof[PROOF_CHARS + 1];
	char nonce[64] = "";
	char data[256];
	const char *at;

	write_file("key", KEY "\n");
	cr_assert_eq(approval_key_read(in_folder("key"), &key), 0);
	snprintf(members, sizeof(members), "'mode':'execute','key_file':'%s'", in_folder("key"));
	start_with(members);
	/* An attach without a proof has a nonce for one. */
	at = strstr(ask_for(ATTACH, "{'seconds':60}"), "\"nonce\":\"");
	cr_assert_not_null(at);
	snprintf(nonce, sizeof(nonce), "%.32s", at + strlen("\"nonce\":\""));
	cr_assert(proof_of_attach(key.bytes, 60, nonce, proof));
	snprintf(data, sizeof(data), "{'seconds':60,'proof':'%s'}", proof);
	expect_part(ask_for(ATTACH, data), "'seconds':60");
	at = ask_for(ATTACH, data);
	cr_expect(strstr(at, "nonce"), "a right proof uses its nonce up: %s", at);
	at = strstr(ask_about("root"), "\"seal\":\"");
	cr_assert_not_null(at);
	snprintf(seal, sizeof(seal), "%.64s", at + strlen("\"seal\":\""));
	expect_part(answer_with("once", ""), "'accepted':false");
	cr_assert(proof_of_answer(key.bytes, id, &once, KEY, proof));
	snprintf(data, sizeof(data), ",'proof':'%s'", proof);
	expect_part(answer_with("once", data), "'accepted':false");
	cr_assert(proof_of_answer(key.bytes, id, &once, seal, proof));
	snprintf(data, sizeof(data), ",'proof':'%s'", proof);
	expect_part(answer_with("deny", data), "'accepted':false");
	expect_part(answer_with("once", data), "'accepted':true");
	expect_part(wait_for(INVOKE ".response"), "'result':");
}

Test(approval, with_a_key_that_others_can_read_asks_no_one)
{
	char members[192];
	char command[256];

	write_file("key", KEY "\n");
	snprintf(command, sizeof(command), "chmod 644 %s", in_folder("key"));
	cr_assert_eq(system(command), 0);
	snprintf(members, sizeof(members), "'mode':'execute','key_file':'%s'", in_folder("key"));
	start_with(members);
	expect_part(ask_for(ATTACH, "{'seconds':60}"), "'seconds':0");
	expect_at_once("root", "'code':'denied'");
	expect_part(ask_for("ovos.tools.status", "{}"), "'why':");
}
