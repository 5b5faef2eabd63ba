/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/listing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "boxes.h"
#include "config_fixture.h"
#include "quotes.h"
#include "util/cleanup.h"

#define DISCOVER "ovos.persona.tools.discover"

static struct catalogue *catalogue; /* three toolboxes of one tool each */

static void set_up(void)
{
	asking_set_up();
	catalogue = make_catalogue(make_box("a", BOX_TOOL("f", "")),
		make_box("b", BOX_TOOL("f", "")), make_box("c", BOX_TOOL("f", "")), NULL);
}

static void tear_down(void)
{
	catalogue_free(catalogue);
	asking_tear_down();
}

TestSuite(listing, .init = set_up, .fini = tear_down, .timeout = 300);

static size_t count_defined(void)
{
	size_t size = 0;

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++)
		size += catalogue_tool(catalogue, i)->definition_size;
	return size;
}

/* Discover with a context of @size bytes, in frames of @frame_bytes; @session_size bytes of it are
 * a session (0: there is none). The contexts of all three responses begin with @expected. */
static void expect_context(
	size_t size, size_t session_size, size_t frame_bytes, const char *expected)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *start = quoted(expected);
	size_t begun;

	buffer_append_string(&text, "{\"type\":\"" DISCOVER "\",\"data\":{},\"context\":");
	begun = text.size;
	buffer_append_string(&text, "{");
	if (session_size > 0) {
		buffer_append_string(&text, "\"session\":{\"s\":\"");
		for (size_t i = strlen("{'s':''}"); i < session_size; i++)
			buffer_append_char(&text, 's');
		buffer_append_string(&text, "\"},");
	}
	buffer_append_string(&text, "\"p\":\"");
	while (text.size - begun < size - 2)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, "\"}}");
	cr_assert_eq(text.size - 1 - begun, size);
	cr_assert_eq(bus_envelope_read(&envelope, text.data, text.size, 16), 0);
	listing_discover(catalogue, &envelope, frame_bytes, service->bus);
	for (int i = 0; i < 3; i++) {
		wait_for(DISCOVER ".response");
		cr_expect_eq(strncmp(asking_context(), start, strlen(start)), 0,
			"%zu, %zu, %zu: %.60s", size, session_size, frame_bytes, asking_context());
	}
	cr_expect_eq(n_unseen(DISCOVER ".response"), 0);
}

#define WHOLE "{'p':'xxx"
#define EMPTY "{}"

/* All contexts together have twice the bytes of the context, and what is left of a frame beside the
 * definitions, at most a MiB; but each may have 4 KiB. */
Test(listing, returns_a_context_with_each_toolbox_that_its_request_can_pay_for)
{
	asking_start();
	expect_context(5000, 0, count_defined() + 5000, WHOLE);
	expect_context(5001, 0, count_defined() + 5000, EMPTY);
	expect_context(4096, 0, count_defined(), WHOLE);
	expect_context(4097, 0, count_defined(), EMPTY);
	expect_context(4097, 0, 1, EMPTY);
	expect_context(1 << 20, 0, count_defined() + (2 << 20), WHOLE);
	expect_context((1 << 20) + 1, 0, count_defined() + (2 << 20), EMPTY);
}

Test(listing, returns_the_session_where_a_whole_context_is_too_much)
{
	asking_start();
	expect_context(6000, 4096, count_defined(), "{'session':{'s':'sss");
	expect_context(6000, 4097, count_defined(), EMPTY);
}

Test(listing, discovers_a_toolbox_that_fits_no_frame_by_an_error)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	const char *request = "{\"type\":\"" DISCOVER "\",\"data\":{}}";

	asking_start();
	cr_assert_eq(bus_envelope_read(&envelope, request, strlen(request), 16), 0);
	listing_discover(catalogue, &envelope, 300, service->bus);
	expect_part(wait_for(DISCOVER ".response"),
		"{'toolbox_id':'a','error':'RuntimeError: The answer has ");
	expect_part(wait_for(DISCOVER ".response"), "300 fit in a frame; get its tools one by one");
}

/* ── what is not offered ─────────────────────────────────────────────────────────────────────── */

static void expect_text(struct buffer *out, const char *expected)
{
	cleanup_free char *json = quoted(expected);

	cr_expect_str_eq(buffer_terminate(out), json);
	buffer_reset(out);
}

Test(listing, tells_what_failed_and_what_is_not_offered)
{
	static const struct catalogue_failure failures[] = {
		{.toolbox_id = (char *)"x", .file = (char *)"/x.json", .error = (char *)"why"},
		{.toolbox_id = (char *)"y", .file = (char *)"/y.json", .error = (char *)"so"},
	};
	static const struct text_view all;
	const struct text_view x = TEXT_VIEW("x");
	const struct text_view b = TEXT_VIEW("b");
	cleanup(buffer_deinit) struct buffer out = {0};

	asking_start();
	listing_write_failed(catalogue, &all, &out);
	expect_text(&out, "[]");
	listing_write_not_offered(catalogue, &all, &out);
	expect_text(&out, "[]");
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(catalogue_add_failure(catalogue, &failures[i], NULL), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "a", "g", "it is off"), 0);
	cr_assert_eq(catalogue_add_skipped(catalogue, "b", "g", "it is new"), 0);
	listing_write_failed(catalogue, &all, &out);
	expect_text(&out, "[{'toolbox_id':'x','file':'/x.json','error':'why'},"
			  "{'toolbox_id':'y','file':'/y.json','error':'so'}]");
	listing_write_failed(catalogue, &x, &out);
	expect_text(&out, "[{'toolbox_id':'x','file':'/x.json','error':'why'}]");
	listing_write_not_offered(catalogue, &all, &out);
	expect_text(&out, "[{'toolbox_id':'a','name':'g','why':'it is off'},"
			  "{'toolbox_id':'b','name':'g','why':'it is new'}]");
	listing_write_not_offered(catalogue, &b, &out);
	expect_text(&out, "[{'toolbox_id':'b','name':'g','why':'it is new'}]");
}

Test(listing, lists_one_toolbox_or_all)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	asking_start();
	listing_write(catalogue, "b", 1, DEFINITION_COMPACT, &out);
	expect_text(&out, "[{'name':'b__f','description':'','parameters':{'type':'object',"
			  "'properties':{},'additionalProperties':false}}]");
	listing_write(catalogue, "d", 1, DEFINITION_COMPACT, &out);
	expect_text(&out, "[]");
	listing_write(catalogue, NULL, 0, DEFINITION_COMPACT, &out);
	cr_expect_not_null(strstr(buffer_terminate(&out), "}},{\"name\":\"b__f\""), "%s", out.data);
	cr_expect_not_null(strstr(out.data, "}},{\"name\":\"c__f\""), "%s", out.data);
}

Test(listing, writes_a_heading_for_each_toolbox)
{
	struct toolbox *two = make_box("two", BOX_TOOL("f", "") "," BOX_TOOL("g", ""));
	struct catalogue *mixed = make_catalogue(two, make_box("one", BOX_TOOL("h", "")), NULL);
	cleanup(buffer_deinit) struct buffer out = {0};
	unsigned int n_headings = 0;

	asking_start();
	listing_write_markdown(mixed, NULL, 0, &out);
	for (const char *at = buffer_terminate(&out); (at = strstr(at, "\n## ")); at++)
		n_headings++;
	cr_expect_eq(n_headings + (out.data[0] == '#'), 2, "%s", out.data);
	catalogue_free(mixed);
}

/* ── the topics ──────────────────────────────────────────────────────────────────────────────── */

#define CRASHING(id)                                                                               \
	"{'toolbox_id':'" id "','description':'The " id                                            \
	".','kind':'native','risk':'read','library':'" TEST_TOOLBOX_DIR                            \
	"/libtest_misbehave.so','tools':[{'name':'segfault','native':{'symbol':'segfault'}}]}"

Test(listing, names_the_toolboxes_that_crashed_too_often)
{
	write_box("a.json", CRASHING("a"));
	write_box("b.json", CRASHING("b"));
	write_box("c.json", CRASHING("c"));
	write_user_file("{\"toolboxd\":{\"crash_limit\":1}}");
	asking_start();
	cr_expect_null(strstr(ask_for("ovos.tools.list", "{}"), "quarantined"));
	ask_for("ovos.tools.invoke", "{'name':'a__segfault'}");
	ask_for("ovos.tools.invoke", "{'name':'c__segfault'}");
	while (!strstr(ask_for("ovos.tools.list", "{}"), "\"quarantined\":[\"a\",\"c\"]"))
		;
	expect_part(ask_for("ovos.tools.list", "{'toolboxes':true,'toolbox_id':'b'}"),
		"'quarantined':['a','c'],'toolboxes':[{'toolbox_id':'a','description':'The a.'},"
		"{'toolbox_id':'b','description':'The b.'},{'toolbox_id':'c','description':"
		"'The c.'}],'tools':[{");
	cr_expect_null(strstr(ask_for("ovos.tools.list", "{}"), "\"toolboxes\""));
}

Test(listing, tells_the_time_that_a_call_has)
{
	write_box("a.json", CRASHING("a"));
	write_user_file("{\"toolboxd\":{\"timeout_ms\":1234,\"start_timeout_ms\":2345}}");
	asking_start();
	expect_part(ask_for("ovos.tools.get", "{'name':'segfault','deadline':true}"),
		",'timeout_ms':1234,'start_timeout_ms':");
	cr_expect_null(strstr(ask_for("ovos.tools.get", "{'name':'segfault'}"), "timeout_ms"));
}
