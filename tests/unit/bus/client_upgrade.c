/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/upgrade.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

/* RFC 6455 §1.3 */
#define KEY    "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

#define FIELDS "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT "\r\n"

static void expect_granted(const char *head)
{
	cleanup_free char *text = NULL;
	size_t size = strlen(head);
	char reason[UPGRADE_REASON_BYTES];
	size_t head_size;

	cr_assert_geq(asprintf(&text, "%s\x81\x01x", head), 0);
	for (size_t n = 0; n < size; n++) {
		cr_expect_eq(upgrade_read(text, n, false, KEY, &head_size, reason), UPGRADE_MORE,
			"%zu", n);
		cr_expect_eq(head_size, 0);
	}
	cr_expect_eq(upgrade_read(text, size + 3, false, KEY, &head_size, reason), UPGRADE_GRANTED,
		"%s", head);
	cr_expect_eq(head_size, size);
}

static void expect_refused(const char *head, const char *words)
{
	char reason[UPGRADE_REASON_BYTES];
	size_t head_size;

	cr_assert_eq(upgrade_read(head, strlen(head), false, KEY, &head_size, reason),
		UPGRADE_REFUSED, "%s", head);
	cr_expect_not_null(strstr(reason, words), "%s: %s", head, reason);
	cr_expect_eq(head_size, 0);
}

Test(client_upgrade, asks_for_the_upgrade)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	upgrade_ask("/core", "h:1", KEY, "", &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, "GET /core HTTP/1.1\r\nHost: h:1\r\nUpgrade: websocket\r\n"
				   "Connection: Upgrade\r\nSec-WebSocket-Key: " KEY "\r\n"
				   "Sec-WebSocket-Version: 13\r\n\r\n");
	buffer_reset(&out);
	upgrade_ask("/", "h", KEY, "secret", &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_not_null(strstr(out.data, "\r\nAuthorization: Bearer secret\r\n\r\n"));
}

Test(client_upgrade, writes_a_key_as_base64)
{
	char text[UPGRADE_KEY_TEXT_BYTES];

	upgrade_encode_key((const unsigned char *)"the sample nonce", text);
	cr_expect_str_eq(text, KEY);
}

Test(client_upgrade, takes_a_response_that_grants_the_upgrade)
{
	expect_granted("HTTP/1.1 101 Switching Protocols\r\n" FIELDS "\r\n");
	expect_granted("HTTP/1.1 101\r\nserver:  x \r\nUPGRADE:WebSocket\r\n"
		       "connection: keep-alive , upgrade\r\n"
		       "sec-websocket-accept: \t" ACCEPT " \r\n\r\n");
	expect_granted("HTTP/1.1 101 x\r\nConnection: x\r\n" FIELDS "\r\n");
}

#define UNAUTHORIZED "HTTP/1.1 401 x\r\nContent-Length: 28\r\n\r\n"

Test(client_upgrade, says_what_the_server_says_that_refuses)
{
	char reason[UPGRADE_REASON_BYTES];
	size_t head_size;
	static const char part[] = UNAUTHORIZED "{\"error\":\"wrong";

	expect_refused(UNAUTHORIZED "{\"error\":\"wrong\\u0020token\"}",
		"the status 401 there, not with a websocket: wrong token");
	expect_refused("HTTP/1.1 502 x\r\nContent-Length: 6\r\n\r\n<html>",
		"the status 502 there, not with a websocket");
	cr_expect_eq(
		upgrade_read(part, sizeof(part) - 1, false, KEY, &head_size, reason), UPGRADE_MORE);
	cr_expect_eq(upgrade_read(part, sizeof(part) - 1, true, KEY, &head_size, reason),
		UPGRADE_REFUSED);
	cr_expect_str_eq(
		reason, "the server answers with the status 401 there, not with a websocket");
}

Test(client_upgrade, refuses_every_other_response)
{
	expect_refused("HTTP/1.1 200 OK\r\n" FIELDS "\r\n", "the status 200 there, not");
	expect_refused("HTTP/1.1 1010\r\n" FIELDS "\r\n", "HTTP/1.1");
	expect_refused("HTTP/1.1 301 x\r\nLocation: http://h/\r\n\r\n", "the status 301 there");
	expect_refused("HTTP/1.0 101 x\r\n" FIELDS "\r\n", "HTTP/1.1");
	expect_refused("\r\n", "HTTP/1.1");
	expect_refused("HTTP/1.1 101 x\r\n\r\n", "does not upgrade");
	expect_refused("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n",
		"does not upgrade");
	expect_refused("HTTP/1.1 101 x\r\nUpgrade: websocket2\r\nConnection: upgrade\r\n\r\n",
		"does not upgrade");
	expect_refused(
		"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", "key");
	expect_refused("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
		       "Sec-WebSocket-Accept: " KEY "\r\n\r\n",
		"key");
	expect_refused(
		"HTTP/1.1 101 x\r\n" FIELDS "Sec-WebSocket-Accept: " ACCEPT "\r\n\r\n", "key");
	expect_refused("HTTP/1.1 101 x\r\n" FIELDS "Sec-WebSocket-Protocol: x\r\n\r\n", "offered");
	expect_refused(
		"HTTP/1.1 101 x\r\n" FIELDS "Sec-WebSocket-Extensions: x\r\n\r\n", "offered");
	expect_refused("HTTP/1.1 101 x\n" FIELDS "\r\n", "in HTTP/1.1");
	expect_refused("\n", "in HTTP/1.1");
}

Test(client_upgrade, reads_no_head_without_an_end)
{
	cleanup_free char *text = malloc(UPGRADE_HEAD_BYTES);
	char reason[UPGRADE_REASON_BYTES];
	size_t size;

	cr_assert_not_null(text);
	memset(text, 'x', UPGRADE_HEAD_BYTES);
	cr_expect_eq(upgrade_read(text, UPGRADE_HEAD_BYTES - 1, false, KEY, &size, reason),
		UPGRADE_MORE);
	cr_expect_eq(
		upgrade_read(text, UPGRADE_HEAD_BYTES, false, KEY, &size, reason), UPGRADE_REFUSED);
	text[7] = '\0';
	cr_expect_eq(upgrade_read(text, 8, false, KEY, &size, reason), UPGRADE_REFUSED);
}
