/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/admission.h"

#include <criterion/criterion.h>

static struct admission admission;

static void set_up(void)
{
	static const char *const origins[] = {
		"https://panel.example:8443", "http://localhost:3000"};

	cr_assert_eq(admission_init(&admission, origins, 2, "kitchen.local", ""), 0);
}

static void tear_down(void)
{
	admission_deinit(&admission);
}

TestSuite(admission, .init = set_up, .fini = tear_down);

static void expect_host(const char *host, enum admission_result result)
{
	cr_expect_eq(admission_check(&admission, host, NULL), result, "%s", host);
}

Test(admission, takes_addresses_localhost_and_the_configured_name_with_any_port)
{
	expect_host("127.0.0.1", ADMISSION_GRANTED);
	expect_host("192.168.1.17:8181", ADMISSION_GRANTED);
	expect_host("[::1]:8181", ADMISSION_GRANTED);
	expect_host("[fe80::1]", ADMISSION_GRANTED);
	expect_host("localhost", ADMISSION_GRANTED);
	expect_host("LOCALHOST:1", ADMISSION_GRANTED);
	expect_host("kitchen.local:8181", ADMISSION_GRANTED);
	expect_host("Kitchen.Local", ADMISSION_GRANTED);
}

Test(admission, takes_no_other_name)
{
	expect_host("", ADMISSION_HOST);
	expect_host(":8181", ADMISSION_HOST);
	expect_host("evil.example", ADMISSION_HOST);
	expect_host("evil.example:8181", ADMISSION_HOST);
	expect_host("localhost.evil.example", ADMISSION_HOST);
	expect_host("127.0.0.1.evil.example", ADMISSION_HOST);
	expect_host("127.0.0.1:8181.evil.example", ADMISSION_HOST);
	expect_host("kitchen.local@evil.example", ADMISSION_HOST);
	expect_host("[::1", ADMISSION_HOST);
	expect_host("[::1]evil.example", ADMISSION_HOST);
	expect_host("::1", ADMISSION_HOST);
	expect_host("2130706433", ADMISSION_HOST);
	expect_host("0x7f.1", ADMISSION_HOST);
}

Test(admission, takes_no_name_of_any_length)
{
	char host[1000];

	for (size_t i = 0; i < sizeof(host) - 1; i++)
		host[i] = 'a';
	host[sizeof(host) - 1] = '\0';
	expect_host(host, ADMISSION_HOST);
}

static void expect_origin(const char *origin, enum admission_result result)
{
	cr_expect_eq(admission_check(&admission, "127.0.0.1", origin), result, "%s", origin);
}

Test(admission, takes_the_origins_that_are_allowed_and_no_other)
{
	expect_origin("https://panel.example:8443", ADMISSION_GRANTED);
	expect_origin("HTTPS://Panel.example:8443", ADMISSION_GRANTED);
	expect_origin("http://localhost:3000", ADMISSION_GRANTED);
	expect_origin("https://panel.example", ADMISSION_ORIGIN);
	expect_origin("http://panel.example:8443", ADMISSION_ORIGIN);
	expect_origin("https://panel.example:8443.evil.example", ADMISSION_ORIGIN);
	expect_origin("http://localhost", ADMISSION_ORIGIN);
	expect_origin("http://127.0.0.1:8181", ADMISSION_ORIGIN);
	expect_origin("null", ADMISSION_ORIGIN);
	expect_origin("", ADMISSION_ORIGIN);
}

/* ovos-bus-client sends the address that it connects to: websocket-client for Python does so by
 * default. */
Test(admission, takes_the_origin_of_who_takes_us_for_a_page)
{
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "http://127.0.0.1:8181"),
		ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&admission, "localhost:8181", "https://localhost:8181"),
		ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "ws://127.0.0.1:8181"),
		ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&admission, "localhost:8181", "WSS://localhost:8181/"),
		ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&admission, "localhost:8181", "http://localhost:8181/"),
		ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "ws://127.0.0.1:8181/x"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "ws://127.0.0.1:81812"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "s://127.0.0.1:8181"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "http://127.0.0.1:3000"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "http://127.0.0.1"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "127.0.0.1:8181", "httpx://127.0.0.1:8181"),
		ADMISSION_ORIGIN);
	cr_expect_eq(admission_check(&admission, "evil.example:8181", "http://evil.example:8181"),
		ADMISSION_HOST);
}

Test(admission, takes_no_page_where_no_origin_is_allowed)
{
	struct admission none;

	cr_assert_eq(admission_init(&none, NULL, 0, "127.0.0.1", ""), 0);
	cr_expect_eq(admission_check(&none, "127.0.0.1", NULL), ADMISSION_GRANTED);
	cr_expect_eq(admission_check(&none, "127.0.0.1", "http://10.0.0.1"), ADMISSION_ORIGIN);
	admission_deinit(&none);
}

Test(admission, needs_no_token_where_none_is_configured)
{
	cr_expect(admission_has_token(&admission, "/core", NULL));
	cr_expect(admission_has_token(&admission, "/core?token=any", "Bearer any"));
}

Test(admission, takes_the_token_in_the_query_or_the_header_and_nothing_like_it)
{
	static const char *const targets[] = {"/core?token=secret-1", "/?x=1&token=secret-1&y"};
	static const char *const wrong_targets[] = {"/core", "/core?token=", "/core?token=secret-",
		"/core?token=secret-11", "/core?token=Secret-1", "/core?xtoken=secret-1",
		"/core?x&token", "/token=secret-1", "/core?token=x&token=secret-1"};
	static const char *const wrong_headers[] = {"", "secret-1", "Bearer", "Bearer ",
		"Bearer secret-2", "Basic secret-1", "Digest secret-1", "Bearer secret-1 x",
		"Bearer secret-1,"};

	admission.token = "secret-1";
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		cr_expect(admission_has_token(&admission, targets[i], NULL), "%s", targets[i]);
	cr_expect(admission_has_token(&admission, "/core", "Bearer secret-1"));
	cr_expect(admission_has_token(&admission, "/core", "bearer  secret-1"));
	for (size_t i = 0; i < sizeof(wrong_targets) / sizeof(*wrong_targets); i++)
		cr_expect_not(admission_has_token(&admission, wrong_targets[i], NULL), "%s",
			wrong_targets[i]);
	for (size_t i = 0; i < sizeof(wrong_headers) / sizeof(*wrong_headers); i++)
		cr_expect_not(admission_has_token(&admission, "/core", wrong_headers[i]), "%s",
			wrong_headers[i]);
}
