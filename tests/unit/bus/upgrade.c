/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/upgrade.h"
#include "util/cleanup.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct http_limits limits = {
	.line_bytes = 512, .header_bytes = 2048, .body_bytes = 100};

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define GOOD                                                                                       \
	"GET /core HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, "          \
	"Upgrade\r\n"

/* Return the status of the refusal of @text, or 0. */
static unsigned int judge(const char *text, struct http_refusal *refusal)
{
	struct http_reader reader = {0};
	unsigned int status = 0;

	http_reader_begin(&reader, &limits);
	http_reader_feed(&reader, text, strlen(text));
	cr_assert_eq(reader.state, HTTP_DONE, "%s: %s", text, reader.reason);
	if (!upgrade_check(&reader, refusal))
		status = refusal->status;
	http_reader_deinit(&reader);
	return status;
}

static void expect_judged(const char *text, unsigned int status)
{
	struct http_refusal refusal;
	unsigned int found = judge(text, &refusal);

	cr_expect_eq(found, status, "%s: %u", text, found);
}

Test(upgrade, takes_the_handshake_of_a_websocket)
{
	expect_judged(GOOD "Sec-WebSocket-Version: 13\r\n" KEY "\r\n", 0);
	expect_judged(
		"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c, WebSocket\r\nConnection: upgrade\r\n"
		"Sec-WebSocket-Version: 13\r\n" KEY "\r\n",
		0);
}

Test(upgrade, asks_for_version_13)
{
	static const char *const versions[] = {"8", "99", "13, 8", "", "013", "13.0"};
	struct http_refusal refusal = {0};
	char text[512];

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		snprintf(text, sizeof(text), GOOD KEY "Sec-WebSocket-Version: %s\r\n\r\n",
			versions[i]);
		cr_expect_eq(judge(text, &refusal), 426, "%s", versions[i]);
		cr_expect_not_null(strstr(refusal.fields, "Sec-WebSocket-Version: 13\r\n"));
	}
	expect_judged(GOOD KEY "\r\n", 426);
	expect_judged(
		GOOD KEY "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 13\r\n\r\n", 426);
}

Test(upgrade, refuses_a_key_that_is_none)
{
	static const char *const keys[] = {"", "x",
		"dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSE=",
		"dGhlIHNhbXBsZSBub25jZ!==", "dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ=="};
	char text[512];

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		snprintf(text, sizeof(text),
			GOOD "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", keys[i]);
		expect_judged(text, 400);
	}
	expect_judged(GOOD "Sec-WebSocket-Version: 13\r\n\r\n", 400);
	expect_judged(GOOD "Sec-WebSocket-Version: 13\r\n" KEY KEY "\r\n", 400);
}

Test(upgrade, refuses_other_requests)
{
	expect_judged("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 426);
	expect_judged("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", 426);
	expect_judged(
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websockets\r\n\r\n",
		426);
	expect_judged("POST / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
		      "Sec-WebSocket-Version: 13\r\n" KEY "\r\n",
		400);
	expect_judged(GOOD "Sec-WebSocket-Version: 13\r\n" KEY "Content-Length: 1\r\n\r\nx", 400);
}

/* RFC 6455 §1.3 */
Test(upgrade, grants_with_nothing_of_the_client_but_a_digest_of_its_key)
{
	static const char text[] =
		GOOD "Sec-WebSocket-Version: 13\r\n" KEY
		     "Sec-WebSocket-Extensions: permessage-deflate\r\nX: y\r\n\r\n";
	struct http_reader reader = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	http_reader_begin(&reader, &limits);
	http_reader_feed(&reader, text, strlen(text));
	upgrade_grant(&reader, &out);
	cr_assert_str_eq(buffer_terminate(&out),
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
	http_reader_deinit(&reader);
}
