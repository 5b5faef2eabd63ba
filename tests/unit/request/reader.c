/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request/reader.h"
#include "request/response.h"
#include "util/cleanup.h"

static const struct http_limits limits = {
	.line_bytes = 256, .header_bytes = 1024, .body_bytes = 100};

/* Feed @text in pieces of @step bytes. Return how many bytes were consumed. */
static size_t feed(struct http_reader *reader, const char *text, size_t size, size_t step)
{
	size_t at = 0;

	http_reader_begin(reader, &limits);
	while (at < size && !http_reader_is_over(reader)) {
		size_t piece = size - at < step ? size - at : step;

		at += http_reader_feed(reader, text + at, piece);
	}
	return at;
}

static void expect_status(const char *text, size_t size, unsigned int status)
{
	for (size_t step = size; step > 0; step = step > 7 ? step / 7 : step - 1) {
		struct http_reader reader = {0};

		feed(&reader, text, size, step);
		cr_assert_eq(reader.state, HTTP_REFUSED, "in pieces of %zu: %s", step, text);
		cr_assert_eq(reader.status, status, "in pieces of %zu: %s: %u %s", step, text,
			reader.status, reader.reason);
		http_reader_deinit(&reader);
	}
}

static void expect_refused(const char *text, unsigned int status)
{
	expect_status(text, strlen(text), status);
}

/* Check that the request @text is done and its body is @body, however it is cut; what follows it is
 * not consumed. */
static void expect_done(const char *text, const char *body)
{
	char more[2048];
	size_t size = strlen(text);

	snprintf(more, sizeof(more), "%sGET", text);
	for (size_t step = size + 3; step > 0; step--) {
		struct http_reader reader = {0};

		cr_assert_eq(feed(&reader, more, size + 3, step), size, "in pieces of %zu: %s",
			step, text);
		cr_assert_eq(reader.state, HTTP_DONE);
		cr_assert_eq(reader.body.size, strlen(body));
		cr_assert_eq(memcmp(reader.body.size ? reader.body.data : "", body, strlen(body)),
			0, "in pieces of %zu: %s", step, text);
		http_reader_deinit(&reader);
	}
}

Test(http_reader, reads_the_parts_of_a_request)
{
	static const char text[] = "GET /core?x=1 HTTP/1.1\r\nHost: a.example:8181\r\n"
				   "Connection: keep-alive , Upgrade\r\nConnection:close\r\n"
				   "X-Empty:\r\nX-Odd:\t caf\xC3\xA9  \r\n\r\n";
	struct http_reader reader = {0};
	unsigned int count;

	cr_assert_eq(feed(&reader, text, strlen(text), 5), strlen(text));
	cr_assert_eq(reader.state, HTTP_DONE);
	cr_assert_str_eq(http_method(&reader), "GET");
	cr_assert_str_eq(http_target(&reader), "/core?x=1");
	cr_assert_str_eq(http_host(&reader), "a.example:8181");
	cr_assert_str_eq(http_field(&reader, "x-odd", &count), "caf\xC3\xA9");
	cr_assert_eq(count, 1);
	cr_assert_str_eq(http_field(&reader, "X-Empty", NULL), "");
	cr_assert_str_eq(http_field(&reader, "connection", &count), "keep-alive , Upgrade");
	cr_assert_eq(count, 2);
	cr_assert(http_field_has(&reader, "Connection", "upgrade"));
	cr_assert(http_field_has(&reader, "Connection", "Close"));
	cr_assert_not(http_field_has(&reader, "Connection", "keep"));
	cr_assert_null(http_field(&reader, "X-Odder", &count));
	cr_assert_eq(count, 0);
	http_reader_deinit(&reader);
}

Test(http_reader, is_ready_for_the_next_request)
{
	static const char text[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
	struct http_reader reader = {0};

	feed(&reader, text, strlen(text), 9);
	cr_assert_eq(feed(&reader, text, strlen(text), 9), strlen(text));
	cr_assert_eq(reader.state, HTTP_DONE);
	cr_assert_eq(reader.body.size, 2);
	http_reader_deinit(&reader);
}

Test(http_reader, reads_bodies_of_a_length_and_in_chunks)
{
	expect_done("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "");
	expect_done("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "");
	expect_done("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "");
	expect_done(
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na\r\n\r\n", "a\r\n\r\n");
	expect_done("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "3\r\nabc\r\n00A;x=\"y\";z\r\n0123456789\r\n0\r\n\r\n",
		"abc0123456789");
	expect_done("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
		    "0\r\nX-Trailer: 1\r\nContent-Length: 7\r\n\r\n",
		"");
}

Test(http_reader, reads_a_request_of_version_1_0)
{
	struct http_reader reader = {0};
	const char *text = "GET /health HTTP/1.0\r\n\r\n";

	expect_done("GET / HTTP/1.0\r\nHost: a\r\n\r\n", "");
	expect_done("POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", "ab");
	expect_refused("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400);
	feed(&reader, text, strlen(text), 7);
	cr_assert_eq(reader.state, HTTP_DONE);
	cr_assert(reader.is_old);
	cr_assert_str_eq(http_host(&reader), "");
	text = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
	feed(&reader, text, strlen(text), 7);
	cr_assert_not(reader.is_old);
	http_reader_deinit(&reader);
}

Test(http_reader, finds_a_media_type_that_is_accepted)
{
	static const struct {
		const char *accept;
		bool is_accepted;
	} cases[] = {{"a/b", true}, {"x/y , A/B;v=1.0.0;q=0.5", true}, {"a/b;q=1", true},
		{"a/b ; q=0.001", true}, {"a/b;q=0", false}, {"a/b; Q=0.000", false},
		{"a/bc", false}, {"*/*", false}, {"x/y;z=a/b", false}, {"", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct http_reader reader = {0};
		char text[256];

		snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\nAccept: %s\r\n\r\n",
			cases[i].accept);
		feed(&reader, text, strlen(text), 100);
		cr_expect_eq(http_accepts(&reader, "a/b"), cases[i].is_accepted, "%s", text);
		http_reader_deinit(&reader);
	}
}

Test(http_reader, takes_the_host_of_an_absolute_target)
{
	static const char text[] =
		"GET http://b.example:80/p?q HTTP/1.1\r\nHost: a.example\r\n\r\n";
	struct http_reader reader = {0};

	feed(&reader, text, strlen(text), 3);
	cr_assert_eq(reader.state, HTTP_DONE);
	cr_assert_str_eq(http_host(&reader), "b.example:80");
	cr_assert_str_eq(http_target(&reader), "/p?q");
	http_reader_deinit(&reader);
	expect_done("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "");
}

Test(http_reader, refuses_a_first_line_that_is_none)
{
	static const char *const lines[] = {"GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ",
		" GET / HTTP/1.1", "GET / HTTP/11", "GET / http/1.1", "GET /\tHTTP/1.1",
		"G@T / HTTP/1.1", "GET /a b HTTP/1.1", "GET /\xFF HTTP/1.1", "GET /#x HTTP/1.1",
		"GET * HTTP/1.1", "CONNECT a:1 HTTP/1.1", "GET a.example/ HTTP/1.1",
		"GET ftp://a/ HTTP/1.1", "GET http:///x HTTP/1.1", "GET http://a HTTP/1.1",
		"GET http://u@a/ HTTP/1.1", "GET http://a?x/ HTTP/1.1", "\r\n\r\nGET / HTTP/1.1"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s\r\nHost: a\r\n\r\n", lines[i]);
		expect_refused(text, 400);
	}
	expect_refused("GET / HTTP/0.9\r\n", 505);
	expect_refused("GET / HTTP/1.2\r\n", 505);
	expect_refused("PRI * HTTP/2.0\r\n", 505);
}

Test(http_reader, refuses_headers_that_can_be_read_in_two_ways)
{
	static const char *const lines[] = {" folded: x", "X: y\r\n folded", "\tX: y", "X : y",
		"X\t: y", "X y", ": y", "X\x01: y", "X: \x01", "X: \x7F", "X: a\rb", "X: a\nb",
		"X: a\n", "Host: b", "Host: a", "Content-Length: 1\r\nContent-Length: 1",
		"Content-Length: 1, 1", "Content-Length: +1", "Content-Length: -1",
		"Content-Length: 0x1", "Content-Length:", "Content-Length: 1 1",
		"Content-Length: 1\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked\r\nContent-Length: 1",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[256];

		snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", lines[i]);
		expect_refused(text, 400);
	}
	expect_refused("GET / HTTP/1.1\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n", 400);
	expect_done("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "");
	expect_done("GET / HTTP/1.1\r\nHost: [::1]:8181\r\n\r\n", "");
	expect_refused("GET / HTTP/1.1\r\nHost: a:x\r\n\r\n", 400);
	expect_refused("GET / HTTP/1.1\nHost: a\n\n", 400);
	expect_status("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 38, 400);
	expect_status("\x16\x03\x01\x02\0\x01\0\x01", 8, 400);
}

Test(http_reader, refuses_codings_that_it_does_not_know)
{
	expect_refused(
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 501);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", 501);
}

/* Feed @text with @room for its body. Return the status of the refusal, or 0, and check that no
 * more was kept. */
static unsigned int status_in_room(const char *text, size_t room)
{
	struct http_reader reader = {0};
	unsigned int status;

	http_reader_begin(&reader, &limits);
	reader.room = room;
	http_reader_feed(&reader, text, strlen(text));
	status = reader.state == HTTP_REFUSED ? reader.status : 0;
	cr_expect_leq(reader.body.size, room);
	http_reader_deinit(&reader);
	return status;
}

Test(http_reader, refuses_a_body_without_room_when_it_is_announced)
{
	static const char sized[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n";
	static const char chunked[] =
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n30\r\n";

	cr_expect_eq(status_in_room(sized, 50), 0);
	cr_expect_eq(status_in_room(sized, 49), 503);
	cr_expect_eq(status_in_room(chunked, 50), 0);
	cr_expect_eq(status_in_room(chunked, 49), 503);
	cr_expect_eq(status_in_room(chunked, 1), 503);
	cr_expect_eq(status_in_room("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0), 0);
}

Test(http_reader, refuses_a_body_whose_room_is_taken_meanwhile)
{
	static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nabc";
	struct http_reader reader = {0};

	http_reader_begin(&reader, &limits);
	http_reader_feed(&reader, head, strlen(head));
	cr_expect_eq(reader.state, HTTP_SIZED);
	reader.room = 5;
	http_reader_feed(&reader, "de", 2);
	cr_expect_eq(reader.state, HTTP_SIZED);
	reader.room = 2;
	http_reader_feed(&reader, "f", 1);
	cr_expect_eq(reader.status, 503);
	cr_expect_eq(reader.body.size, 5);
	http_reader_deinit(&reader);
}

Test(http_reader, refuses_chunks_that_do_not_end_where_they_should)
{
	static const char *const bodies[] = {"\r\n", "g\r\n", "-1\r\n", "0x1\r\n", " 1\r\n",
		"1 \r\n", "1 ;x\r\n", "1\na", "1\r\nab", "1\r\na\n", "1\r\naX\r\n",
		"0\r\nX\r\n\r\n", "0\r\n folded\r\n\r\n"};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s",
			bodies[i]);
		expect_refused(text, 400);
	}
}

/* Write @count times @unit between @head and @tail. The caller frees the text. */
static char *repeat(const char *head, const char *unit, size_t count, const char *tail)
{
	struct buffer text = {0};

	buffer_append_string(&text, head);
	for (size_t i = 0; i < count; i++)
		buffer_append_string(&text, unit);
	buffer_append_string(&text, tail);
	return buffer_take(&text, NULL);
}

static void expect_limit(
	const char *head, const char *unit, size_t most, const char *tail, unsigned int status)
{
	cleanup_free char *fits = repeat(head, unit, most, tail);
	cleanup_free char *exceeds = repeat(head, unit, most + 1, tail);
	struct http_reader reader = {0};

	feed(&reader, fits, strlen(fits), 11);
	cr_assert_neq(reader.state, HTTP_REFUSED, "%zu times %s: %u %s", most, unit, reader.status,
		reader.reason);
	http_reader_deinit(&reader);
	expect_refused(exceeds, status);
}

Test(http_reader, bounds_lines_headers_and_bodies)
{
	static const char begin[] = "POST / HTTP/1.1\r\nHost: a\r\n";
	static const char chunks[] =
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

	expect_limit("GET /", "a", 256 - 14, " HTTP/1.1\r\nHost: a\r\n\r\n", 414);
	expect_limit("GET / HTTP/1.1\r\nHost: a\r\nX:", "a", 254, "\r\n\r\n", 431);
	expect_limit(begin, "a:123456789\r\n", HTTP_FIELDS_MAX - 1, "\r\n", 431);
	expect_limit(begin, "a:12345678901234567890123456789\r\n", (1024 - 7) / 31, "\r\n", 431);
	expect_limit(chunks, "1;456789012345678901234567890\r\na\r\n", (1024 - 33) / 28,
		"0\r\n\r\n", 431);
	expect_limit(chunks, "2\r\nab\r\n", 50, "0\r\n\r\n", 413);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", 413);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\n"
		       "Content-Length: 18446744073709551617\r\n\r\n",
		413);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\n"
		       "Content-Length: 99999999999999999999999\r\n\r\n",
		413);
	expect_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "fffffffffffffffffffffffff\r\n",
		413);
}

Test(http_response, is_a_small_object_and_closes)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	http_write_refusal(&out,
		&(struct http_refusal){426, "Upgrade: websocket\r\n", "This is a websocket."});
	cr_assert_str_eq(buffer_terminate(&out),
		"HTTP/1.1 426 Upgrade Required\r\n"
		"Content-Type: application/json; charset=utf-8\r\n"
		"Content-Length: 59\r\n"
		"Cache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Connection: close\r\n"
		"Upgrade: websocket\r\n"
		"\r\n"
		"{\"error\":\"This is a websocket.\",\"code\":\"upgrade_required\"}\n");
}
