/* SPDX-License-Identifier: Apache-2.0 */
#include "http/forwarded.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct http_limits limits = {.line_bytes = 512, .header_bytes = 1024, .body_bytes = 0};

static struct network proxies[2];
static struct config_http http = {.proxies = proxies, .n_proxies = 2};
static struct http_reader reader;

static void begin(void)
{
	cr_assert(
		network_read("127.0.0.1", &proxies[0]) && network_read("10.0.0.0/8", &proxies[1]));
}

static void end(void)
{
	http_reader_deinit(&reader);
}

TestSuite(forwarded, .init = begin, .fini = end);

/* Read a request with @fields from @address, and return its peer. */
static struct http_peer come_from(const char *address, const char *fields)
{
	char text[512];
	struct in6_addr number;
	struct http_peer peer;

	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", fields);
	http_reader_begin(&reader, &limits);
	http_reader_feed(&reader, text, strlen(text));
	cr_assert_eq(reader.state, HTTP_DONE, "%s", fields);
	cr_assert(network_read_address(address, &number));
	http_peer_make(&number, &peer);
	return peer;
}

static void expect_client(const char *address, const char *fields, const char *expected)
{
	struct http_peer peer = come_from(address, fields);
	struct http_peer client;

	forwarded_read_client(&http, &reader, &peer, &client);
	cr_expect_str_eq(
		client.address, expected, "%s from %s: %s", fields, address, client.address);
	cr_expect_not(client.is_unix || client.is_operator);
}

Test(forwarded, client_is_the_last_that_is_no_trusted_proxy)
{
	static const char *const cases[][3] = {
		{"127.0.0.1", "", "127.0.0.1"},
		{"127.0.0.1", "X-Forwarded-For: 203.0.113.9\r\n", "203.0.113.9"},
		{"127.0.0.1", "x-forwarded-for: 203.0.113.9 ,\t10.1.2.3\r\n", "203.0.113.9"},
		{"127.0.0.1", "X-Forwarded-For: 203.0.113.9:4711\r\n", "203.0.113.9"},
		{"127.0.0.1", "X-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1"},
		{"127.0.0.1", "X-Forwarded-For: [2001:db8::1]:4711\r\n", "2001:db8::1"},
		{"127.0.0.1", "X-Forwarded-For: ::ffff:203.0.113.9\r\n", "203.0.113.9"},
		{"127.0.0.1", "X-Forwarded-For: 10.0.0.7\r\n", "10.0.0.7"},
		{"127.0.0.1",
			"X-Forwarded-For: 203.0.113.9\r\nA: b\r\nX-Forwarded-For: 10.0.0.7\r\n",
			"203.0.113.9"},
		/* Its client has sent more than the proxy added. */
		{"127.0.0.1", "X-Forwarded-For: 127.0.0.1, 203.0.113.9\r\n", "203.0.113.9"},
		{"127.0.0.1", "X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 203.0.113.9\r\n",
			"203.0.113.9"},
		/* Lines of others are ignored. */
		{"203.0.113.5", "X-Forwarded-For: 127.0.0.1\r\n", "203.0.113.5"},
		{"127.0.0.2", "X-Forwarded-For: 203.0.113.9\r\n", "127.0.0.2"},
		{"127.0.0.1", "Forwarded: for=203.0.113.9\r\n", "127.0.0.1"},
		/* An element that is no address ends the list. */
		{"127.0.0.1", "X-Forwarded-For: unknown\r\n", "127.0.0.1"},
		{"127.0.0.1", "X-Forwarded-For: 203.0.113.9, _hidden, 10.0.0.7\r\n", "10.0.0.7"},
		{"127.0.0.1", "X-Forwarded-For: 203.0.113.9,\r\n", "127.0.0.1"},
		{"127.0.0.1", "X-Forwarded-For:\r\n", "127.0.0.1"},
		{"127.0.0.1", "X-Forwarded-For: uid:0\r\n", "127.0.0.1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_client(cases[i][0], cases[i][1], cases[i][2]);
}

Test(forwarded, name_and_scheme_are_those_of_a_trusted_proxy)
{
	static const char lines[] =
		"X-Forwarded-Host: home.example:8443\r\nX-Forwarded-Proto: https\r\n";
	struct http_peer peer = come_from("127.0.0.1", lines);

	cr_expect_str_eq(forwarded_host(&http, &reader, &peer), "home.example:8443");
	cr_expect(forwarded_is_tls(&http, &reader, &peer));
	peer = come_from("192.168.1.2", lines);
	cr_expect_null(forwarded_host(&http, &reader, &peer));
	cr_expect_not(forwarded_is_tls(&http, &reader, &peer));
	peer = come_from("127.0.0.1", "X-Forwarded-Host: a\r\nX-Forwarded-Host: b\r\n"
				      "X-Forwarded-Proto: http\r\n");
	cr_expect_str_eq(forwarded_host(&http, &reader, &peer), "");
	cr_expect_not(forwarded_is_tls(&http, &reader, &peer));
	peer = come_from("127.0.0.1", "X-Forwarded-Host: a/b\r\n");
	cr_expect_str_eq(forwarded_host(&http, &reader, &peer), "");
}

Test(forwarded, is_ignored_on_a_unix_socket)
{
	struct http_peer peer = come_from("127.0.0.1", "X-Forwarded-For: 203.0.113.9\r\n");
	struct http_peer client;

	peer.is_unix = true;
	forwarded_read_client(&http, &reader, &peer, &client);
	cr_expect(client.is_unix);
}
