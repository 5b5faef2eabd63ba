/* SPDX-License-Identifier: Apache-2.0 */
#include "http/identity.h"

#include <criterion/criterion.h>
#include <string.h>

Test(identity, knows_the_names_of_this_device)
{
	static const char *const ours[] = {"localhost", "LOCALHOST:8090", "127.0.0.1",
		"127.0.0.1:80", "127.1.2.3", "[::1]", "[::1]:8090", "[::ffff:7f00:1]:1"};
	static const char *const others[] = {"", ":80", "evil.example", "localhost.evil.example",
		"localhost:", "127.0.0.1.evil.example", "192.168.1.2", "10.0.0.1:8090", "[::2]",
		"[::1", "::1", "[::1]x", "127.0.0.1@evil.example", "0.0.0.0"};

	for (size_t i = 0; i + 1 < sizeof(ours) / sizeof(*ours); i++)
		cr_expect(identity_host_is_local(ours[i]), "%s", ours[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(identity_host_is_local(others[i]), "%s", others[i]);
}

Test(identity, allows_pages_of_our_own_alone)
{
	cr_expect(identity_origin_is_ours("http://localhost:8090", 8090, false));
	cr_expect(identity_origin_is_ours("http://127.0.0.1:8090", 8090, false));
	cr_expect(identity_origin_is_ours("http://[::1]:8090", 8090, false));
	cr_expect(identity_origin_is_ours("http://localhost", 80, false));
	cr_expect_not(identity_origin_is_ours("http://localhost", 8090, false));
	cr_expect_not(identity_origin_is_ours("http://localhost:8091", 8090, false));
	cr_expect_not(identity_origin_is_ours("https://localhost:8090", 8090, false));
	cr_expect_not(identity_origin_is_ours("http://evil.example:8090", 8090, false));
	cr_expect_not(identity_origin_is_ours("http://localhost:8090/", 8090, false));
	cr_expect_not(identity_origin_is_ours("http://localhost:8090.evil.example", 8090, false));
	cr_expect_not(identity_origin_is_ours("null", 8090, false));
	cr_expect_not(identity_origin_is_ours("", 8090, false));
}

static void add_token(struct config_http *http, const char *name, const char *secret, char *profile)
{
	struct http_token *token = &http->tokens.items[http->tokens.n_items++];

	token->name = (char *)name;
	token->profile = profile;
	http_token_digest(secret, strlen(secret), token->digest);
}

static const struct http_peer ipv4 = {.address = "127.0.0.1", .holder = "127.0.0.0/8"};
static const struct http_peer ipv6 = {.address = "2001:db8::1", .holder = "2001:db8::/64"};

Test(identity, is_that_of_the_token)
{
	static char standard[] = "default";
	static char kids[] = "kids";
	struct http_token tokens[2] = {0};
	struct config_http http = {
		.tokens.items = tokens, .needs_token = true, .profile = standard};
	static const char *const wrong[] = {NULL, "", "Bearer", "Bearer ", "Bearer 0123456789abcde",
		"Bearer 0123456789abcdefg", "Basic 0123456789abcdef", "0123456789abcdef",
		"Bearer 0123456789ABCDEF"};
	struct http_identity identity;

	add_token(&http, "a", "0123456789abcdef", kids);
	add_token(&http, "b", "fedcba9876543210", NULL);
	tokens[1].is_admin = true;
	cr_expect(identity_read(&http, "Bearer 0123456789abcdef", &ipv4, &identity));
	cr_expect_str_eq(identity.source, "http:a");
	cr_expect_str_eq(identity.holder, "http:a");
	cr_expect_str_eq(identity.profile, "kids");
	cr_expect_not(identity.is_admin);
	cr_expect(identity_read(&http, "bearer  fedcba9876543210", &ipv4, &identity));
	cr_expect_str_eq(identity.source, "http:b");
	cr_expect_null(identity.profile);
	cr_expect(identity.is_admin);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_not(identity_read(&http, wrong[i], &ipv4, &identity), "%zu", i);
		cr_expect_not(identity.is_admin, "%zu", i);
	}
	http.tokens.n_items = 0;
	cr_expect_not(identity_read(&http, "Bearer 0123456789abcdef", &ipv6, &identity));
	http.needs_token = false;
	cr_expect(identity_read(&http, "Bearer 0123456789abcdef", &ipv6, &identity));
	cr_expect_str_eq(identity.source, "http:2001:db8::1");
	cr_expect_str_eq(identity.holder, "2001:db8::/64");
	cr_expect_str_eq(identity.profile, "default");
}

Test(identity, knows_the_users_of_a_unix_socket)
{
	struct config_http http = {.needs_token = true, .profile = (char[]){"default"}};
	struct http_peer peer = {.address = "uid:1000", .is_unix = true};
	struct http_token tokens[1] = {0};
	struct http_identity identity;

	http.tokens.items = tokens;
	add_token(&http, "a", "0123456789abcdef", NULL);
	tokens[0].is_admin = true;
	cr_expect(identity_read(&http, "Bearer 0123456789abcdef", &peer, &identity));
	cr_expect_str_eq(identity.source, "uid:1000", "a token makes no difference");
	cr_expect_str_eq(identity.profile, "default");
	cr_expect_not(identity.is_admin);
	peer.is_operator = true;
	cr_expect(identity_read(&http, NULL, &peer, &identity));
	cr_expect(identity.is_admin);
}

Test(identity, allows_the_names_of_the_configuration)
{
	char *names[] = {(char[]){"tools.lan"}, (char[]){"::2"}};
	char *pages[] = {(char[]){"https://panel.lan"}};
	static const uint16_t ports[] = {80, 8090};
	struct config_http_address address = {.host = "192.168.1.2"};
	struct config_http http = {.addresses = &address, .n_addresses = 1};

	cr_expect(identity_host_is_allowed(&http, "192.168.1.2:8090"));
	cr_expect(identity_host_is_allowed(&http, "localhost"));
	cr_expect_not(identity_host_is_allowed(&http, "192.168.1.3"));
	cr_expect_not(identity_host_is_allowed(&http, ""));
	cr_expect(identity_origin_is_allowed(&http, "http://localhost:8090", ports, 2));
	cr_expect(identity_origin_is_allowed(&http, "http://localhost", ports, 2));
	cr_expect_not(identity_origin_is_allowed(&http, "http://localhost:8091", ports, 2));
	http.has_hosts = true;
	http.has_origins = true;
	cr_expect_not(identity_host_is_allowed(&http, "localhost"));
	cr_expect_not(identity_origin_is_allowed(&http, "http://localhost:8090", ports, 2));
	http.hosts = (struct text_list){names, 2};
	http.origins = (struct text_list){pages, 1};
	cr_expect(identity_host_is_allowed(&http, "Tools.lan:1"));
	cr_expect(identity_host_is_allowed(&http, "[::2]:1"));
	cr_expect_not(identity_host_is_allowed(&http, "evil.tools.lan"));
	cr_expect(identity_origin_is_allowed(&http, "https://panel.lan", ports, 2));
	cr_expect_not(identity_origin_is_allowed(&http, "https://panel.lan:8443", ports, 2));
}

Test(identity, allows_the_host_and_the_pages_of_the_public_url)
{
	static const uint16_t ports[] = {8090};
	struct config_http http = {.public_url = (char[]){"https://Home.example:8443/tools"},
		.origin_size = strlen("https://home.example:8443"),
		.public_host = "Home.example"};

	for (int has_lists = 0; has_lists < 2; has_lists++) {
		http.has_hosts = http.has_origins = has_lists;
		cr_expect(identity_host_is_allowed(&http, "home.example:8443"));
		cr_expect(identity_host_is_allowed(&http, "home.example"));
		cr_expect_not(identity_host_is_allowed(&http, "tools.home.example"));
		cr_expect(identity_origin_is_allowed(&http, "https://home.example:8443", ports, 1));
		cr_expect_not(identity_origin_is_allowed(&http, "https://home.example", ports, 1));
		cr_expect_not(
			identity_origin_is_allowed(&http, "http://home.example:8443", ports, 1));
		cr_expect_not(identity_origin_is_allowed(
			&http, "https://home.example:8443/tools", ports, 1));
		cr_expect_eq(identity_host_is_allowed(&http, "localhost"), !has_lists);
	}
}
