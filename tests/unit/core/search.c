/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/search.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "boxes.h"
#include "config_fixture.h"
#include "scarce.h"
#include "search/language.h"

/* Searches in a service: when there is an index, who waits for it, and what becomes of a search
 * without one. tests/unit/search has the ranks. */

#define TOOL(name, description, more)                                                              \
	"{'name':'" name "','description':'" description "'" more ",'native':{'symbol':'sqrt',"    \
	"'parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}"
#define BOX(tools) "{'kind':'native','library':'libm.so.6','risk':'read','tools':[" tools "]}"
#define LAMPS                                                                                      \
	BOX(TOOL("on", "Switches lamps on.", "") "," TOOL("dim", "Dims them.", "") "," TOOL(       \
		"off", "Switches lamps off, all lamps.", ""))

static void set_up(void)
{
	asking_set_up();
	write_box("lamps.json", LAMPS);
	asking_start();
	ask_for("ovos.tools.list", "{}");
}

TestSuite(search, .init = set_up, .fini = asking_tear_down, .timeout = 300);

static const char *find(const char *data)
{
	return ask_for("ovos.tools.search", data);
}

/* Serve until no thread has the index. */
static void settle(void)
{
	while (service->search.aside)
		asking_step();
}

/* ── the index ───────────────────────────────────────────────────────────────────────────────── */

Test(search, makes_the_index_for_the_first_one)
{
	cr_expect_null(service->search.index);
	search_follow(&service->search);
	cr_expect_null(service->search.aside, "a service without searches has no index");
	expect_part(find("{'query':'lamps'}"), "'total':3");
	cr_assert_not_null(service->search.index);
	cr_expect_null(service->search.aside);
	cr_expect_eq(service->waiting.queues[WAITING_INDEX].n, 0);
}

Test(search, follows_a_reload_before_the_next_one)
{
	const struct search_index *index;

	find("{'query':'lamps'}");
	index = service->search.index;
	write_box("more.json", BOX(TOOL("door", "Opens a door.", "")));
	expect_part(ask_for("ovos.tools.reload", "{}"), "'total_tools':4");
	settle();
	cr_expect_eq(service->search.index, index, "the toolboxes that stay are not indexed again");
	cr_expect(search_index_is_current(index, service->offer.catalogue));
	expect_part(find("{'query':'doors'}"), "'toolbox_id':'more'");
	write_box("lamps.json", BOX(TOOL("none", "Nothing.", "")));
	ask_for("ovos.tools.reload", "{}");
	expect_part(find("{'query':'lamps'}"), "'total':1");
	expect_part(find("{'query':'switches'}"), "{'tools':[],'total':0}");
}

Test(search, makes_another_index_for_another_language)
{
	const char *german = search_language_stemmer("de");

	find("{'query':'lamps'}");
	cr_assert_str_neq(service->search.stemmer, german);
	service->config.stemmer = german;
	search_follow(&service->search);
	cr_assert_not_null(service->search.aside);
	settle();
	cr_expect_eq(service->search.stemmer, german);
	cr_expect(search_index_is_current(service->search.index, service->offer.catalogue));
	search_follow(&service->search);
	cr_expect_null(service->search.aside, "nothing has changed since");
}

Test(search, follows_what_has_changed_while_a_thread_had_the_index)
{
	find("{'query':'lamps'}");
	service->config.stemmer = search_language_stemmer("de");
	search_follow(&service->search);
	cr_assert_not_null(service->search.aside);
	service->config.stemmer = search_language_stemmer("fr");
	settle();
	cr_expect_eq(service->search.stemmer, service->config.stemmer);
	cr_expect(search_index_is_current(service->search.index, service->offer.catalogue));
}

/* ── waits ───────────────────────────────────────────────────────────────────────────────────── */

Test(search, answers_all_that_have_waited)
{
	for (int i = 0; i < 20; i++)
		send_request(
			"ovos.tools.search", i % 2 ? "{'query':'dim'}" : "{'query':'off'}", "{}");
	for (int i = 0; i < 20; i++)
		expect_part(wait_for("ovos.tools.search.response"),
			i % 2 ? "'name':'dim'" : "'name':'off'");
	cr_expect_eq(service->waiting.n, 0);
}

/* A search by hand, for `lamps`. */
static struct request_scope scope;
static struct asked asked;

static void prepare(void)
{
	static const char data[] = "{\"query\":\"lamps\"}";

	ask(&asked, "'query':'lamps'");
	cr_assert(request_read(&asked.request, &asked.envelope, REQUEST_QUERY | REQUEST_FORMAT));
	scope.envelope = asked.envelope;
	scope.request = asked.request;
	scope.text.topic = "ovos.tools.search";
	scope.text.message = TEXT_VIEW(data);
	scope.view = service->offer.catalogue;
	scope.caller = (struct policy_caller){.account = bus_sender(service->bus)};
}

static void search_by_hand(void)
{
	prepare();
	search_answer(&service->search, &scope, &asked.answer);
}

Test(search, is_busy_when_there_is_no_room_to_wait)
{
	uint32_t n = service->waiting.n;

	service->waiting.n = WAITING_MAX;
	search_by_hand();
	service->waiting.n = n;
	expect_answer(&asked, "\"error\":\"RuntimeError: The tools are being indexed: search again "
			      "in 1 s\",\"code\":\"busy\",\"retry_after_s\":1");
	asked_deinit(&asked);
	settle();
	search_by_hand();
	cr_expect_not(answer_is_error(&asked.answer));
	asked_deinit(&asked);
}

Test(search, waits_once)
{
	struct waiting_request waited = {.reason = WAITING_INDEX};

	scope.waited = &waited;
	search_by_hand();
	expect_answer(&asked,
		"\"error\":\"RuntimeError: The tools cannot be searched: Cannot allocate "
		"memory\",\"code\":\"unavailable\"");
	cr_expect_null(service->search.aside);
	find("{'query':'lamps'}");
	write_box("lamps.json", BOX(TOOL("lamps", "Nothing.", "")));
	service->config.stemmer = search_language_stemmer("de");
	search_by_hand();
	cr_expect_not(answer_is_error(&asked.answer), "it takes the index as it is");
	asked_deinit(&asked);
	scope.waited = NULL;
}

/* ── answers ─────────────────────────────────────────────────────────────────────────────────── */

Test(search, has_the_tools_in_the_format_asked_for)
{
	static const char *const rows[][2] = {
		{"{'query':'lamps'}", "{'tools':[{'name':'off','description':"},
		{"{'query':'lamps','limit':1}", "'total':3}"},
		{"{'query':'lamps','limit':1,'format':'openai'}", "{'tools':[{'type':'function'"},
		{"{'query':'lamps','format':'mcp'}", "'inputSchema'"},
		{"{'query':'lamps','format':'markdown'}", "{'text':'"},
		{"{'query':'nothing','format':'markdown'}", "{'text':'','total':0}"},
		{"{'query':'lamps','toolbox_id':'other'}", "{'tools':[],'total':0}"},
		{"{'query':'lamps','profile':'none'}", "{'tools':[],'total':0}"},
		{"{'query':'!?'}", "'code':'bad_request','field':'query'}"},
		{"{'query':''}", "'code':'bad_request','field':'query'}"},
		{"{'query':5}", "'code':'bad_request','field':'query'}"},
		{"{}", "'code':'bad_request','field':'query'}"},
		{"{'query':'lamps','limit':0}", "'code':'bad_request','field':'limit'}"},
		{"{'query':'lamps','limit':51}", "'code':'bad_request','field':'limit'}"},
		{"{'query':'lamps','format':'yaml'}", "'code':'bad_request','field':'format'}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_part(find(rows[i][0]), rows[i][1]);
}

Test(search, says_which_tools_a_format_leaves_out)
{
	const char *response;

	write_box("odd.json", "{'kind':'command','risk':'read','tools':[{'name':'odd','description'"
			      ":'A lamp among so many other odd things.',"
			      "'argument_schema':{'type':'object','properties':{'a "
			      "b':{'type':'string'}},'required':['a b']},"
			      "'command':{'argv':['true','{a b}']}}]}");
	ask_for("ovos.tools.reload", "{}");
	response = find("{'query':'lamps off','format':'anthropic'}");
	expect_part(response, "'total':4");
	expect_part(response, "'left_out':[{'toolbox_id':'odd','name':'odd'");
	cr_expect_null(strstr(response, "{\"name\":\"odd\""));
	cr_expect_null(strstr(find("{'query':'lamps off'}"), "left_out"));
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

/* The failure of any allocation costs one search, and leaves no index that is half made. */
Test(search, answers_or_waits_when_memory_is_short)
{
	bool has_failed = true;
	bool has_waited = false;

	for (size_t n = 0; has_failed; n++) {
		search_deinit(&service->search);
		search_init(&service->search, service->loop, &service->config, &service->offer,
			&service->waiting);
		prepare();
		scarce_once_after(n);
		search_answer(&service->search, &scope, &asked.answer);
		has_failed = scarce_has_failed();
		has_waited = !answer_is_open(&asked.answer);
		cr_expect(has_waited || (has_failed && answer_is_error(&asked.answer)),
			"allocation %zu", n);
		cr_expect_eq(service->waiting.queues[WAITING_INDEX].n, has_waited);
		asked_deinit(&asked);
		settle();
		cr_expect_eq(service->waiting.queues[WAITING_INDEX].n, 0);
		expect_part(find("{'query':'lamps'}"), "'total':3");
	}
	cr_expect(has_waited);
}
