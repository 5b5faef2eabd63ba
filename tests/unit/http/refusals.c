/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serving.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* Requests that are refused before a route serves them, and what a connection does then. */

TestSuite(refusals, .init = serving_set_up, .fini = serving_tear_down, .timeout = 120);

/* Expect the status, and the code of the error, of the request @bytes. */
static void expect_refused(const char *bytes, int status, const char *code)
{
	char head[32];
	char part[64];

	http_raw(bytes, strlen(bytes));
	snprintf(head, sizeof(head), "HTTP/1.1 %d ", status);
	snprintf(part, sizeof(part), "\"code\":\"%s\"", code);
	cr_expect_eq(strncmp(http_response, head, strlen(head)), 0, "%s: %s", bytes, http_response);
	cr_expect_not_null(strstr(http_response, part), "%s: %s", bytes, http_response);
}

#define HOST "Host: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

Test(refusals, answer_what_is_no_request)
{
	static const struct {
		const char *bytes;
		int status;
		const char *code;
	} cases[] = {
		{"nonsense\r\n\r\n", 400, "bad_request"},
		{"GET\r\n\r\n", 400, "bad_request"},
		{"GET / HTTP/1.1\r\n\r\n", 400, "bad_request"},
		{"GET /health HTTP/1.1\r\n" HOST HOST "\r\n", 400, "bad_request"},
		{"GET  /health HTTP/1.1\r\n" HOST "\r\n", 400, "bad_request"},
		{"GET /health HTTP/2.0\r\n" HOST "\r\n", 505, "version_not_supported"},
		{"GET /health HTTP/1.1\r\n" HOST "Bad Name: x\r\n\r\n", 400, "bad_request"},
		{"GET /health HTTP/1.1\r\n" HOST " folded: x\r\n\r\n", 400, "bad_request"},
		{"GET /health HTTP/1.1\r\n" HOST "A\r\n\r\n", 400, "bad_request"},
		{"GET /health HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", 501,
			"not_implemented"},
		{"POST /v1/tools/sqrt HTTP/1.1\r\n" HOST JSON
		 "Expect: magic\r\nContent-Length: 2\r\n\r\n",
			417, "expectation_failed"},
	};

	serving_start("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_refused(cases[i].bytes, cases[i].status, cases[i].code);
}

/* A request that two readers could understand differently lets one smuggle another past a proxy. */
Test(refusals, answer_a_length_that_is_not_one_number)
{
	static const char *const fields[] = {"Content-Length: 2\r\nContent-Length: 3\r\n",
		"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -2\r\n",
		"Content-Length: +2\r\n", "Content-Length: 0x2\r\n", "Content-Length: 2 2\r\n",
		"Content-Length: 99999999999999999999\r\n", "Content-Length:\r\n",
		"Content-Length : 2\r\n", "Transfer-Encoding: chunked, chunked\r\n",
		"Transfer-Encoding: \r\n"};

	serving_start("");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		int status = 0;

		buffer_printf(
			&text, "POST /v1/tools/sqrt HTTP/1.1\r\n" HOST JSON "%s\r\n{}", fields[i]);
		http_raw(text.data, text.size);
		cr_expect_eq(sscanf(http_response, "HTTP/1.1 %d ", &status), 1, "%s", fields[i]);
		cr_expect(status >= 400 && status < 600, "%s: %s", fields[i], http_response);
		cr_expect_null(
			strstr(http_response + 1, "HTTP/1.1"), "%s: a second response", fields[i]);
	}
}

Test(refusals, answer_a_body_of_another_type)
{
	static const char *const types[] = {"", "Content-Type: text/plain\r\n",
		"Content-Type: application/json; charset=latin1\r\n",
		"Content-Type: application/jsonx\r\n"};

	serving_start("");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		char bytes[256];

		snprintf(bytes, sizeof(bytes),
			"POST /v1/tools/sqrt HTTP/1.1\r\n" HOST
			"%sContent-Length: 7\r\n\r\n{\"x\":4}",
			types[i]);
		expect_refused(bytes, 415, "unsupported_media_type");
	}
}

Test(refusals, take_a_body_in_chunks)
{
	static const char good[] = "POST /v1/tools/sqrt HTTP/1.1\r\n" HOST JSON
				   "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "3\r\n{\"x\r\n4;ext=1\r\n\":16\r\n1\r\n}\r\n0\r\n\r\n";
	static const char *const wrong[] = {"x\r\n", "-1\r\n", "3\r\n{\"x}\r\n",
		"3\r\n{}\r\n0\r\n\r\n", "10000000000000000\r\n", "3\n{\"x\n"};

	serving_start("");
	http_send(good, strlen(good));
	cr_expect_not_null(strstr(http_response, "HTTP/1.1 200 OK"), "%s", http_response);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char bytes[256];

		snprintf(bytes, sizeof(bytes),
			"POST /v1/tools/sqrt HTTP/1.1\r\n" HOST JSON
			"Transfer-Encoding: chunked\r\n\r\n%s",
			wrong[i]);
		http_raw(bytes, strlen(bytes));
		cr_expect_null(strstr(http_response, " 200 "), "%s: %s", wrong[i], http_response);
	}
}

Test(refusals, bound_a_line_a_header_and_a_body)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer header = {0};

	serving_start("");
	buffer_append_string(&line, "GET /health?");
	for (size_t i = 0; i < 70000; i++)
		buffer_append_char(&line, 'x');
	buffer_append_string(&line, " HTTP/1.1\r\n" HOST "\r\n");
	expect_refused(buffer_terminate(&line), 414, "headers_too_large");
	buffer_append_string(&header, "GET /health HTTP/1.1\r\n" HOST);
	for (size_t i = 0; i < 3000; i++)
		buffer_printf(&header, "X-Field-%zu: a value of some length\r\n", i);
	buffer_append_string(&header, "\r\n");
	expect_refused(buffer_terminate(&header), 431, "headers_too_large");
	expect_refused("POST /v1/tools/sqrt HTTP/1.1\r\n" HOST JSON
		       "Content-Length: 999999999\r\n\r\n",
		413, "too_large");
}

/* ── pages of browsers ───────────────────────────────────────────────────────────────────────── */

Test(refusals, keep_pages_of_browsers_out)
{
	static const struct {
		const char *fields;
		int status;
	} cases[] = {
		{HOST, 200},
		{"Host: 127.0.0.1\r\n", 200},
		{"Host: 127.9.9.9:1234\r\n", 200},
		{"Host: [::1]:99\r\n", 200},
		{"Host: evil.example\r\n", 403},
		{"Host: localhost.evil.example\r\n", 403},
		{HOST "Origin: http://evil.example\r\n", 403},
		{HOST "Origin: null\r\n", 403},
		{HOST "Origin: https://localhost\r\n", 403},
	};

	serving_start("");
	serving_use_token(OPERATOR_TOKEN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char bytes[512];
		int status = 0;

		snprintf(bytes, sizeof(bytes),
			"GET /v1/tools HTTP/1.1\r\nAuthorization: Bearer " OPERATOR_TOKEN
			"\r\nConnection: close\r\n%s\r\n",
			cases[i].fields);
		http_raw(bytes, strlen(bytes));
		cr_expect_eq(sscanf(http_response, "HTTP/1.1 %d ", &status), 1);
		cr_expect_eq(status, cases[i].status, "%s: %s", cases[i].fields, http_response);
	}
}

Test(refusals, tell_pages_of_our_own_what_they_may_do)
{
	static const char bytes[] =
		"OPTIONS /v1/tools HTTP/1.1\r\n" HOST "Origin: http://page.example\r\n"
		"Connection: close\r\n\r\n";
	static const char *const fields[] = {
		"Access-Control-Allow-Origin: http://page.example",
		"Access-Control-Expose-Headers: *",
		"Vary: Origin",
		"Access-Control-Allow-Methods: GET, POST, DELETE",
		"Access-Control-Allow-Headers: *, Authorization",
	};

	serving_start_http(",'allowed_origins':['http://page.example']", "");
	http_raw(bytes, strlen(bytes));
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		expect_field(fields[i]);
	cr_expect_eq(http_ask("GET /health", "Origin: http://page.example\r\n", ""), 200);
	expect_field("Access-Control-Allow-Origin: http://page.example");
	cr_expect_null(strstr(http_response, "Allow-Methods"), "%s", http_response);
	cr_expect_eq(http_ask("GET /health", "", ""), 200);
	cr_expect_null(strstr(http_response, "Access-Control"), "%s", http_response);
}

Test(refusals, ask_for_the_length_of_a_typed_body)
{
	serving_start("");
	expect_refused("POST /v1/calls HTTP/1.1\r\n" HOST JSON "\r\n", 411, "length_required");
	cr_expect_not_null(
		strstr(http_response, "The request has a Content-Type, but no Content-Length."));
	expect_refused("GET /openapi.json HTTP/1.0\r\n\r\n", 400, "bad_request");
	cr_expect_not_null(strstr(http_response, "The request must have a Host"));
}

/* ── connections ─────────────────────────────────────────────────────────────────────────────── */

Test(refusals, do_not_end_a_connection_that_goes_on)
{
	static const char one[] = "GET /v1/tools/none HTTP/1.1\r\n" HOST "\r\n";
	int fd;

	serving_start("");
	fd = http_begin("GET /health", "", "");
	http_read_until(fd, "{\"status\":\"ok\"}");
	cr_assert_eq(send(fd, one, strlen(one), MSG_NOSIGNAL), (ssize_t)strlen(one));
	http_read_until(fd, "\"code\":\"unknown_tool\"");
	cr_expect_null(strstr(http_response, "Connection: close"));
	close(fd);
}

Test(refusals, serve_a_request_of_http_1_0_and_close)
{
	static const char bytes[] = "GET /health HTTP/1.0\r\n\r\n";

	serving_start("");
	http_raw(bytes, strlen(bytes));
	cr_expect_not_null(strstr(http_response, " 200 OK\r\n"), "%s", http_response);
	cr_expect_not_null(strstr(http_response, "{\"status\":\"ok\"}"));
	cr_expect_null(strstr(http_response, "chunked"));
}

Test(refusals, ask_for_a_body_that_is_expected)
{
	int fd;

	serving_start("");
	fd = http_begin(
		"POST /v1/tools/sqrt", "Expect: 100-continue\r\nContent-Length: 8\r\n" JSON, "");
	http_read_until(fd, "HTTP/1.1 100 Continue\r\n\r\n");
	cr_assert_eq(send(fd, "{\"x\":16}", 8, MSG_NOSIGNAL), 8);
	http_read_until(fd, "\"result\":");
	close(fd);
}

Test(refusals, cancel_the_call_of_a_client_that_goes)
{
	int fd;

	serving_start("");
	fd = http_begin("POST /v1/tools/wait", "", "{'us':20000000}");
	serving_use_token(OPERATOR_TOKEN);
	do
		cr_assert_eq(http_ask("GET /v1/calls?state=running", "", ""), 200);
	while (!strstr(http_body, "\"name\":\"wait\""));
	close(fd);
	do
		cr_assert_eq(http_ask("GET /v1/calls?state=failed", "", ""), 200);
	while (!strstr(http_body, "\"code\":\"cancelled\""));
}
