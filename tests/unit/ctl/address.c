/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/http/address.h"

#include <criterion/criterion.h>

#include "../scratch.h"
#include "answering.h"

TestSuite(ctl_address, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = 60);

static struct http_address address;

static int read_address(const char *text, const char *token_file)
{
	int r;

	capture_begin();
	r = http_address_read("--http", text, token_file, &address);
	capture_end();
	return r;
}

Test(ctl_address, is_a_url_without_a_slash_at_its_end)
{
	static const struct {
		const char *text;
		const char *url;
		bool is_exposed;
	} cases[] = {
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", false},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080", false},
		{"http://localhost/tools//", "http://localhost/tools", false},
		{"HTTP://Example.org/A", "http://Example.org/A", true},
		{"http://[::1]:80/", "http://[::1]:80", false},
		{"http://[2001:db8::1]/", "http://[2001:db8::1]", true},
		{"https://example.org", "https://example.org", false},
		{"http://192.168.1.4:1234", "http://192.168.1.4:1234", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[HTTP_URL_BYTES];

		cr_expect_eq(read_address(cases[i].text, NULL), 0, "%s: %s", cases[i].text,
			command_complaints);
		cr_expect_str_eq(address.url, cases[i].url, "%s: %s", cases[i].text, address.url);
		cr_expect_eq(address.is_exposed, cases[i].is_exposed, "%s", cases[i].text);
		cr_expect_str_empty(address.path);
		cr_expect_str_eq(http_address_text(&address, text), cases[i].url);
	}
}

Test(ctl_address, may_be_a_unix_socket)
{
	char text[HTTP_URL_BYTES];

	cr_assert_eq(read_address("unix:/run/toolboxd/http", NULL), 0);
	cr_expect_str_eq(address.path, "/run/toolboxd/http");
	cr_expect_str_eq(address.url, "http://localhost");
	cr_expect_str_eq(http_address_text(&address, text), "unix:/run/toolboxd/http");
	cr_expect_not(address.is_exposed);
}

Test(ctl_address, has_no_user_query_fragment_or_other_scheme)
{
	static const char *const wrong[] = {"", "host", "ftp://host", "http://", "http://a b",
		"http://me@host", "http://me:pw@host", "http://host?x=1", "http://host#x",
		"http://host:99999", "http://host:x", "file:///etc/passwd", "unix:relative",
		"unix:", "ws://host"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_eq(read_address(wrong[i], NULL), CTL_USAGE, "%s", wrong[i]);
		expect_complaint("toolboxctl: --http must be ");
	}
}

Test(ctl_address, is_complained_of_without_its_password)
{
	cr_expect_eq(read_address("http://me:secret@host/?token=hidden", NULL), CTL_USAGE);
	cr_expect_null(strstr(command_complaints, "secret"), "%s", command_complaints);
	cr_expect_null(strstr(command_complaints, "hidden"));
	expect_complaint("'http://***@host/?token=***'");
}

Test(ctl_address, is_not_longer_than_it_may_be)
{
	char text[HTTP_URL_BYTES + 32] = "http://127.0.0.1/";

	memset(text + strlen(text), 'x', HTTP_URL_BYTES - strlen(text) - 1);
	cr_expect_eq(read_address(text, NULL), 0);
	cr_expect_str_eq(address.url, text);
	strcat(text, "x");
	cr_expect_eq(read_address(text, NULL), CTL_USAGE);
}

Test(ctl_address, has_the_token_of_a_file_and_warns_where_it_can_be_read)
{
	scratch_write("token", "abcdefgh.12345678\n");
	cr_assert_eq(chmod(scratch_path("token"), 0600), 0);
	cr_expect_eq(read_address("https://example.org", scratch_path("token")), 0, "%s",
		command_complaints);
	cr_expect_str_eq(address.token, "abcdefgh.12345678");
	cr_expect_str_empty(command_complaints);
	cr_expect_eq(read_address("http://example.org/a", scratch_path("token")), 0);
	cr_expect_str_eq(command_complaints,
		"toolboxctl: warning: the token can be read on its way to http://example.org/a: "
		"use https://\n");
	cr_expect_eq(read_address("https://example.org", scratch_path("none")), CTL_USAGE);
	expect_complaint("toolboxctl: --token-file ");
	expect_complaint("none'");
}
