/* SPDX-License-Identifier: Apache-2.0 */
#include "http/routes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "serving.h"

/* Every route, by requests as a client sends them. */

TestSuite(routes, .init = serving_set_up, .fini = serving_tear_down, .timeout = 120);

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

Test(routes, list_tools_in_each_format)
{
	static const char *const cases[][2] = {
		{"GET /v1/tools", "{'name':'sqrt','description':'A root.','parameters':{"},
		{"GET /v1/tools?format=full", "'toolbox_id':'libm'"},
		{"GET /v1/tools?format=compact", "{'name':'pow'"},
		{"GET /v1/tools?format=openai", "{'type':'function','function':{'name':'wait'"},
		{"GET /v1/tools?format=anthropic", "'input_schema':{"},
		{"GET /v1/tools?format=mcp", "'annotations':{'readOnlyHint':true}"},
		{"GET /v1/tools?format=markdown", "### sqrt\n\nA root."},
		{"GET /v1/tools?toolbox_id=libc", "{'tools':[{'name':'wait'"},
		{"GET /v1/tools?toolbox_id=li%62c", "{'tools':[{'name':'wait'"},
	};

	serving_start("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_answer_part(cases[i][0], 200, cases[i][1]);
	expect_answer("GET /v1/tools?toolbox_id=none", 200, "{'tools':[]}");
	expect_answer("GET /v1/tools?toolbox_id=", 200, "{'tools':[]}");
	cr_expect_eq(http_ask("GET /v1/tools?format=markdown", "", ""), 200);
	expect_field("Content-Type: text/markdown; charset=utf-8");
}

Test(routes, list_no_tools_in_a_format_that_there_is_not)
{
	serving_start("");
	expect_answer_part("GET /v1/tools?format=yaml", 400, "format");
	expect_answer_part("GET /v1/tools?format=%zz", 400, "must be UTF-8, with every % followed");
	expect_answer_part(
		"GET /v1/tools?profile=%ff", 400, "must be UTF-8, with every % followed");
	expect_answer_part("GET /v1/tools?q=x&format=yaml", 400, "format");
}

Test(routes, list_tools_once_for_a_client_that_has_the_list)
{
	char fields[256];
	const char *tag;

	serving_start("");
	cr_expect_eq(http_ask("GET /v1/tools", "", ""), 200);
	tag = strstr(http_response, "ETag: ");
	cr_assert_not_null(tag, "%s", http_response);
	snprintf(fields, sizeof(fields), "If-None-Match: %.*s\r\n",
		(int)strcspn(tag + strlen("ETag: "), "\r"), tag + strlen("ETag: "));
	cr_expect_eq(http_ask("GET /v1/tools", fields, ""), 304);
	cr_expect_str_empty(http_body);
	cr_expect_eq(http_ask("GET /v1/tools?format=mcp", fields, ""), 200, "another document");
	cr_expect_eq(http_ask("GET /v1/tools", "If-None-Match: \"other\"\r\n", ""), 200);
	cr_expect_eq(http_ask("GET /v1/tools", "If-None-Match: *\r\n", ""), 304);
	cr_expect_eq(http_ask("HEAD /v1/tools", "", ""), 200);
	cr_expect_str_empty(http_body);
}

Test(routes, describe_one_tool)
{
	serving_start("");
	expect_answer_part("GET /v1/tools/sqrt", 200, "{'name':'sqrt','description':'A root.'");
	cr_expect_null(strstr(http_body, "timeout_ms"));
	expect_answer_part("GET /v1/tools/sqrt?deadline=1", 200, "'timeout_ms':");
	expect_answer_part("GET /v1/tools/sqrt?toolbox_id=libm", 200, "'toolbox_id':'libm'");
	expect_answer_part("GET /v1/tools/sqr", 404, "sqrt");
	expect_answer_part("GET /v1/tools/sqrt?toolbox_id=libc", 404, "'code':'unknown_tool'");
	expect_answer_part("GET /v1/tools/%zz", 400, "");
}

Test(routes, call_a_tool)
{
	serving_start("");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':16}"), 200);
	cr_expect_not_null(strstr(http_body, "\"result\":"), "%s", http_body);
	cr_expect_not_null(strstr(http_body, "4"));
	cr_expect_eq(http_ask("POST /tools/sqrt", "", "{'x':25}"), 200, "%s", http_response);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':'big'}"), 422);
	cr_expect_not_null(strstr(http_body, "\"code\":\"invalid_arguments\""), "%s", http_body);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':"), 400);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "[1]"), 422, "%s", http_response);
	cr_expect_eq(http_ask("POST /v1/tools/none", "", "{}"), 404);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt?timeout_ms=soon", "", "{'x':1}"), 400);
}

Test(routes, refuse_arguments_that_are_too_large)
{
	serving_start(",'limits':{'args_bytes':16}");
	cr_expect_eq(
		http_ask("POST /v1/tools/sqrt", "", "{'x':16.00000000}"), 413, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "\"code\":\"too_large\""), "%s", http_body);
	cr_expect_eq(
		http_ask("POST /v1/tools/sqrt", "", "{'x':16.0000000}"), 200, "%s", http_response);
}

Test(routes, judge_arguments_without_a_call)
{
	serving_start("");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt?dry_run=1", "", "{'x':16}"), 200);
	cr_expect_not_null(strstr(http_body, "\"valid\":true"), "%s", http_body);
	cr_expect_null(strstr(http_body, "result"));
	cr_expect_eq(http_ask("POST /v1/tools/sqrt?dry_run=1", "", "{}"), 200);
	cr_expect_not_null(strstr(http_body, "\"valid\":false"), "%s", http_body);
}

Test(routes, end_a_call_whose_time_is_over)
{
	serving_start("");
	cr_expect_eq(http_ask("POST /v1/tools/wait?timeout_ms=50", "", "{'us':5000000}"), 504, "%s",
		http_response);
	cr_expect_not_null(strstr(http_body, "\"code\":\"timeout\""), "%s", http_body);
}

Test(routes, find_the_tool_that_an_utterance_means)
{
	serving_start("");
	expect_answer_part("GET /v1/match?utterance=root%20of%20two", 200, "'name':'sqrt'");
	expect_answer_part("GET /v1/match?utterance=root+of+two", 200, "'name':'sqrt'");
	expect_answer_part("GET /v1/match?utterance=nothing", 200, "'name':null");
	expect_answer_part("GET /v1/match", 400, "utterance");
}

/* ── documents ───────────────────────────────────────────────────────────────────────────────── */

Test(routes, describe_the_service_to_programs)
{
	serving_start("");
	expect_answer_part("GET /openapi.json", 200, "'openapi':'3.");
	cr_expect_not_null(strstr(http_body, "/v1/tools/sqrt"), "%s", http_body);
	expect_answer_part("GET /utcp", 200, "'tools':[");
	cr_expect_not_null(strstr(http_body, "}}},{\"name\":\"sqrt\""), "%s", http_body);
	expect_answer_part("GET /tools/manual", 200, "'utcp_version'");
	cr_expect_not_null(strstr(http_body, "sqrt"));
}

Test(routes, list_the_toolboxes_beside_their_tools)
{
	serving_start("");
	expect_answer_part("GET /v1/tools?toolboxes=1", 200, "'toolboxes':");
	expect_answer_part("GET /v1/tools?toolboxes=1&toolbox_id=libc", 200, "{'name':'wait'");
	cr_expect_null(strstr(http_body, "sqrt"), "%s", http_body);
	expect_answer_part("GET /v1/tools?toolboxes=0", 200, "'name':'sqrt'");
	cr_expect_null(strstr(http_body, "\"toolboxes\""), "%s", http_body);
}

Test(routes, call_several_tools_at_once)
{
	serving_start("");
	cr_expect_eq(http_ask("POST /v1/calls", "",
			     " \n{'calls':[{'name':'sqrt','args':{'x':16}},"
			     "{'name':'none'}]}\t "),
		200, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "\"results\":["), "%s", http_body);
	cr_expect_not_null(strstr(http_body, "\"code\":\"unknown_tool\""), "%s", http_body);
	cr_expect_eq(http_ask("POST /v1/calls", "", " "), 404, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "\"code\":\"missing_name\""), "%s", http_body);
	cr_expect_eq(http_ask("POST /v1/calls", "", "[]"), 400, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "the body must be a JSON object"), "%s", http_body);
}

Test(routes, call_a_tool_in_the_background)
{
	char line[128];
	const char *place;

	serving_start(",'jobs':{'enabled':true}");
	serving_use_token(OPERATOR_TOKEN);
	cr_expect_eq(http_ask("POST /v1/tools/wait?background=1", "", "{'us':10}"), 202, "%s",
		http_response);
	cr_expect_not_null(strstr(http_body, "\"state\":\"running\""), "%s", http_body);
	place = strstr(http_response, "\r\nLocation: /v1/jobs/");
	cr_assert_not_null(place, "%s", http_response);
	place += strlen("\r\nLocation: ");
	snprintf(line, sizeof(line), "GET %.*s", (int)strcspn(place, "\r"), place);
	expect_answer_part(line, 200, "'job_id':'");
	expect_answer_part("GET /v1/jobs/0123456789abcdef0123456789abcdef", 404, "unknown_job");
}

/* ── operating ───────────────────────────────────────────────────────────────────────────────── */

Test(routes, report_the_state_of_the_service)
{
	serving_start("");
	serving_use_token(OPERATOR_TOKEN);
	expect_answer("GET /health", 200, "{'status':'ok'}");
	expect_answer_part("GET /v1/status", 200, "'toolbox_id':'libm'");
	expect_answer_part("GET /v1/status?toolbox_id=libc", 200, "'toolbox_id':'libc'");
	cr_expect_null(strstr(http_body, "libm"), "%s", http_body);
	cr_expect_eq(http_ask("POST /v1/reload", "", ""), 200, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "\"loaded\":["), "%s", http_body);
}

Test(routes, list_and_cancel_calls)
{
	char line[128];
	const char *id;
	int fd;

	serving_start("");
	serving_use_token(OPERATOR_TOKEN);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':1}"), 200);
	expect_answer_part("GET /v1/calls", 200, "'name':'sqrt'");
	expect_answer("GET /v1/calls?name=other&limit=5", 200, "{'calls':[]}");
	expect_answer_part("GET /v1/calls?limit=many", 400, "limit");
	expect_answer_part("GET /v1/calls?state=odd", 400, "state");
	fd = http_begin("POST /v1/tools/wait", "", "{'us':20000000}");
	do
		cr_assert_eq(
			http_ask("GET /v1/calls?state=running", "", ""), 200, "%s", http_response);
	while (!strstr(http_body, "\"name\":\"wait\""));
	id = strstr(http_body, "\"id\":\"");
	cr_assert_not_null(id);
	id += strlen("\"id\":\"");
	snprintf(line, sizeof(line), "DELETE /v1/calls/%.*s", (int)strcspn(id, "\""), id);
	expect_answer_part(line, 200, "'cancelled':true");
	cr_expect_not_null(strstr(http_read_until(fd, "\r\n\r\n{"), "HTTP/1.1 499 "));
	http_read_until(http_begin("GET /health", "", ""), "ok");
	expect_answer_part("DELETE /v1/calls/none", 200, "'cancelled':false");
}

Test(routes, expose_metrics_in_both_formats)
{
	serving_start("");
	serving_use_token(OPERATOR_TOKEN);
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':1}"), 200);
	cr_expect_eq(http_ask("GET /metrics", "", ""), 200);
	cr_expect_not_null(strstr(http_body, "# TYPE toolboxd_"), "%s", http_body);
	cr_expect_null(strstr(http_body, "# EOF"));
	cr_expect_eq(http_ask("GET /metrics", "Accept: application/openmetrics-text\r\n", ""), 200);
	cr_expect_str_eq(http_body + strlen(http_body) - strlen("# EOF\n"), "# EOF\n");
}

Test(routes, list_questions_and_refuse_what_is_no_decision)
{
	serving_start(",'approval':{'mode':'execute'}");
	serving_use_token(OPERATOR_TOKEN);
	expect_answer_part("GET /v1/approvals", 200, "'pending':[]");
	expect_answer_part("GET /v1/approvals?after=x", 400, "after");
	cr_expect_eq(http_ask("POST /v1/approvals/0123456789abcdef0123456789abcdef", "",
			     "{'decision':'maybe'}"),
		400, "%s", http_response);
	cr_expect_eq(http_ask("POST /v1/approvals/0123456789abcdef0123456789abcdef", "",
			     "{'decision':'once'}"),
		200, "%s", http_response);
	cr_expect_not_null(strstr(http_body, "\"accepted\":false"), "%s", http_body);
}

/* ── rights ──────────────────────────────────────────────────────────────────────────────────── */

Test(routes, let_a_guest_use_the_tools_of_a_profile_and_nothing_else)
{
	static const char *const operators[] = {"GET /v1/calls", "GET /v1/status",
		"POST /v1/reload", "GET /v1/approvals", "DELETE /v1/calls/x", "GET /metrics"};

	serving_start("");
	serving_use_token(GUEST_TOKEN);
	expect_answer_part("GET /v1/tools", 200, "sqrt");
	cr_expect_null(strstr(http_body, "pow"), "%s", http_body);
	expect_answer_part("GET /v1/tools/pow", 404, "unknown_tool");
	cr_expect_eq(http_ask("POST /v1/tools/sqrt", "", "{'x':4}"), 200);
	cr_expect_eq(http_ask("POST /v1/tools/pow", "", "{'x':4,'y':1}"), 404);
	expect_answer("GET /health", 200, "{'status':'ok'}");
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		expect_answer_part(operators[i], 403, "'code':'forbidden'");
}

Test(routes, let_nobody_in_without_a_token_but_to_see_that_it_is_there)
{
	static const char *const lines[] = {"GET /v1/tools", "GET /v1/status",
		"POST /v1/tools/sqrt", "GET /openapi.json", "POST /mcp", "GET /v1/events",
		"GET /metrics"};

	serving_start("");
	serving_use_token("wrong.0123456789abc");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cr_expect_eq(http_ask(lines[i], "", ""), 401, "%s: %s", lines[i], http_response);
		cr_expect_not_null(strstr(http_response, "\r\nWWW-Authenticate: Bearer"));
	}
	expect_answer("GET /health", 200, "{'status':'ok'}");
}

/* ── no route ────────────────────────────────────────────────────────────────────────────────── */

Test(routes, refuse_paths_and_methods_that_there_are_not)
{
	static const struct {
		const char *line;
		int status;
		const char *field;
	} cases[] = {
		{"GET /", 404, NULL},
		{"GET /v1", 404, NULL},
		{"GET /v1/", 404, NULL},
		{"GET /v1/toolsx", 404, NULL},
		{"GET /v1/tools/a/b", 404, NULL},
		{"GET /V1/tools", 404, NULL},
		{"DELETE /v1/tools", 405, "Allow: OPTIONS, GET, HEAD"},
		{"PUT /v1/tools/sqrt", 405, "Allow: OPTIONS, GET, HEAD, POST"},
		{"GET /v1/reload", 405, "Allow: OPTIONS, POST"},
		{"OPTIONS /v1/reload", 204, "Allow: OPTIONS, POST"},
		{"OPTIONS /v1/calls/x", 204, "Allow: OPTIONS, DELETE"},
	};

	serving_start("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int status = http_ask(cases[i].line, "", "");

		cr_expect_eq(status, cases[i].status, "%s: %s", cases[i].line, http_response);
		if (cases[i].field)
			expect_field(cases[i].field);
	}
}
