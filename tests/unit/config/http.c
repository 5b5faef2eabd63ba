/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config_fixture.h"

TestSuite(config_http, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

#define TOKENS_FILE "home/.config/toolboxd/tokens.json"

/* The SHA-256 of "0123456789abcdef", and another one. */
#define DIGEST "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"
#define OTHER  "0f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"

/* Write the user's configuration with @http as that section, and read it. */
static int read_http(const char *http)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"toolboxd\": {\"http\": %s}}", http);
	write_user_file(text);
	return read_all();
}

static void expect_closed_by(const char *http, const char *words)
{
	cr_expect_eq(read_http(http), 0, "%s", http);
	cr_expect(config.closed, "%s", http);
	cr_expect_eq(config.http.n_addresses, 0, "%s", http);
	expect_told(words);
}

Test(config_http, listens_nowhere_by_default)
{
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_eq(config.http.n_addresses, 0);
	cr_expect_not(config.http.needs_token);
	cr_expect_str_eq(config.http.profile, "default");
	cr_expect_eq(config.http.limits.connections, 256);
	cr_expect_eq(config.http.limits.per_address, 64);
	cr_expect_eq(config.http.limits.streams, 64);
	cr_expect_eq(config.http.limits.header_bytes, 16384);
	cr_expect_eq(config.http.limits.body_bytes, (4u << 20) + (64u << 10));
	cr_expect_eq(config.http.limits.first_byte_s, 10);
	cr_expect_eq(config.http.limits.request_s, 30);
	cr_expect_eq(config.http.limits.idle_s, 75);
}

Test(config_http, reads_addresses)
{
	cr_assert_eq(read_http("{\"listen\": [\"127.0.0.1:8090\", \"[::1]:0\", \"localhost:9\"],"
			       " \"limits\": {\"body_bytes\": 2048}}"),
		0);
	expect_silence();
	cr_assert_eq(config.http.n_addresses, 3);
	cr_assert_not_null(config.http.addresses);
	cr_expect_str_eq(config.http.addresses[0].host, "127.0.0.1");
	cr_expect_eq(config.http.addresses[0].port, 8090);
	cr_expect_str_eq(config.http.addresses[1].host, "::1");
	cr_expect_eq(config.http.addresses[1].port, 0);
	cr_expect_eq(config.http.limits.body_bytes, 2048);
}

Test(config_http, reads_paths_of_unix_sockets)
{
	char path[CONFIG_HTTP_PATH_BYTES] = "/";
	char http[256];

	memset(path + 1, 'x', sizeof(path) - 2);
	snprintf(http, sizeof(http), "{\"listen\": [\"unix:/run/a b\", \"unix:%s\"]}", path);
	cr_assert_eq(read_http(http), 0);
	expect_silence();
	cr_expect_str_eq(config.http.addresses[0].path, "/run/a b");
	cr_expect_str_eq(config.http.addresses[1].path, path);
	expect_closed_by("{\"listen\": [\"unix:\"]}", "/toolboxd/http/listen/0: must be unix: and");
	expect_closed_by(
		"{\"listen\": [\"unix:a\"]}", "/toolboxd/http/listen/0: must be unix: and");
	expect_closed_by(
		"{\"listen\": [\"unix:/a\\n\"]}", "/toolboxd/http/listen/0: must be unix:");
	snprintf(http, sizeof(http), "{\"listen\": [\"unix:%sx\"]}", path);
	expect_closed_by(http, "of 107 bytes at most");
}

Test(config_http, refuses_what_is_no_address)
{
	static const char *const texts[] = {"", "8090", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "::1:8090", "[::1]", "[::1:8090",
		"[]:80", "http://127.0.0.1:8090", "127.0.0.1:8090/", "a b:80", "unix", ":8090"};
	char http[256];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(http, sizeof(http), "{\"listen\": [\"127.0.0.1:1\", \"%s\"]}", texts[i]);
		expect_closed_by(http, "/toolboxd/http/listen/1: must be ADDRESS:PORT");
	}
}

#define TOKENS  " \"tokens\": [{\"name\": \"a\", \"token_sha256\": \"" DIGEST "\"}]"
#define TLS     " \"tls\": {\"cert\": \"/a/cert\", \"key\": \"/a/key\"}"
#define EXPOSED "{\"listen\": [\"0.0.0.0:1\"]"

Test(config_http, is_not_served_to_other_devices_without_tls_and_tokens)
{
	static const char *const exposed[] = {
		"0.0.0.0:1", "[::]:1", "192.168.1.2:1", "device.lan:1"};
	char http[512];

	for (size_t i = 0; i < sizeof(exposed) / sizeof(*exposed); i++) {
		snprintf(http, sizeof(http), "{\"listen\": [\"127.0.0.1:1\", \"%s\"]}", exposed[i]);
		cr_expect_eq(read_http(http), CONFIG_E_REFUSED, "%s", http);
		expect_told(exposed[i]);
		expect_told(
			", which needs http.tokens and http.tls: set them, listen on 127.0.0.1");
	}
	cr_expect_eq(read_http(EXPOSED "," TOKENS "}"), CONFIG_E_REFUSED);
	expect_told(", which needs http.tls: set");
	cr_expect_eq(read_http(EXPOSED "," TLS "}"), CONFIG_E_REFUSED);
	expect_told("other devices reach https://0.0.0.0:1, which needs http.tokens: set");
	cr_expect_eq(read_http(EXPOSED ", \"insecure\": true}"), 0);
	expect_told("warning mycroft.conf:1 /toolboxd/http: other devices reach http://0.0.0.0:1"
		    " without http.tokens and http.tls");
	cr_expect_eq(read_http(EXPOSED "," TLS ", \"insecure\": true}"), 0);
	expect_told("https://0.0.0.0:1 without http.tokens, since");
	cr_expect_eq(config.http.n_addresses, 1);
}

Test(config_http, is_served_to_other_devices_with_tls_and_tokens)
{
	cr_assert_eq(read_http(EXPOSED "," TOKENS "," TLS "}"), 0);
	expect_silence();
	cr_expect_str_eq(config.http.tls_cert, "/a/cert");
	cr_expect_str_eq(config.http.tls_key, "/a/key");
}

Test(config_http, needs_both_files_of_tls)
{
	expect_closed_by(
		"{\"tls\": {\"cert\": \"/a\"}}", "http.tls needs both \"cert\" and \"key\"");
	expect_closed_by(
		"{\"tls\": {\"key\": \"/a\"}}", "http.tls needs both \"cert\" and \"key\"");
	expect_closed_by("{\"tls\": {\"cert\": \"a\", \"key\": \"/a\"}}",
		"/toolboxd/http/tls/cert: must be a string that matches ^/: \"The absolute path of "
		"a");
	expect_closed_by("{\"tls\": {\"certificate\": \"/a\"}}", "/toolboxd/http/tls");
	expect_closed_by("{\"tls\": []}", "/toolboxd/http/tls");
}

Test(config_http, reads_tokens)
{
	unsigned char digest[HTTP_TOKEN_DIGEST_BYTES];
	char http[512];

	write_file("token", "0123456789abcdef\n");
	snprintf(http, sizeof(http),
		"{\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"" OTHER "\", \"profile\":"
		" \"kids\"}, {\"name\": \"b-1\", \"token_file\": \"%s\", \"admin\": true,"
		" \"profile\": null}]}",
		in_folder("token"));
	cr_assert_eq(read_http(http), 0);
	expect_silence();
	cr_assert_eq(config.http.tokens.n_items, 2);
	cr_expect(config.http.needs_token);
	cr_expect_str_eq(config.http.tokens.items[0].profile, "kids");
	cr_expect_not(config.http.tokens.items[0].is_admin);
	cr_expect_eq(config.http.tokens.items[0].digest[0], 0x0f);
	cr_expect_null(config.http.tokens.items[1].profile);
	cr_expect(config.http.tokens.items[1].is_admin);
	http_token_digest("0123456789abcdef", 16, digest);
	cr_expect_arr_eq(config.http.tokens.items[1].digest, digest, sizeof(digest));
}

Test(config_http, closes_for_a_wrong_token)
{
	char http[512];

	expect_closed_by("{\"tokens\": [{\"name\": \"127.0.0.1\", \"token_sha256\": \"" DIGEST
			 "\"}]}",
		"/tokens/0/name: must be a string that matches ^[A-Za-z0-9_-]{1,64}$: \"letters");
	expect_closed_by("{\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"00\"}]}",
		"/tokens/0/token_sha256: must be a string that matches ^[0-9A-Fa-f]{64}$: \"The "
		"SHA-256 of the"
		" token.\" or null; printf");
	expect_closed_by("{\"tokens\": [{\"name\": \"a\"}]}",
		"/tokens/0: must be an object with 'token_sha256' or an object with 'token_file'; "
		"it");
	expect_closed_by("{\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"" DIGEST
			 "\", \"scope\": 1}]}",
		"/tokens/0/scope: unexpected property 'scope'");
	expect_closed_by("{\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"" DIGEST
			 "\"}, {\"name\": \"a\", \"token_sha256\": \"" OTHER "\"}]}",
		"/tokens/1: has the \"name\" of");
	expect_closed_by("{\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"" DIGEST
			 "\"}, {\"name\": \"b\", \"token_sha256\": \"" DIGEST "\"}]}",
		"/tokens/1: is the same token");
	write_file("token", "0123456789abcdef\n");
	cr_assert_eq(chmod(in_folder("token"), 0644), 0);
	snprintf(http, sizeof(http), "{\"tokens\": [{\"name\": \"a\", \"token_file\": \"%s\"}]}",
		in_folder("token"));
	expect_closed_by(http, "must name a file that only its owner");
}

Test(config_http, closes_for_a_section_that_is_none_whatever_a_flag_says)
{
	const char *const addresses[] = {"127.0.0.1:0"};

	write_user_file("{\"toolboxd\": {\"http\": []}}");
	cr_assert_eq(read_with(&(struct config_flags){.http = addresses, .n_http = 1}), 0);
	cr_expect(strstr(told.data, "/http: must be an object or null"), "%s", told.data);
	cr_expect_not_null(config.closed);
	cr_expect_eq(config.http.n_addresses, 0);
}

Test(config_http, closes_for_what_may_restrict)
{
	static const char *const origins[] = {
		"*", "http://a/", "http://", "://a", "http://*", "http://*.a", "http://a?b"};

	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"], \"token\": []}",
		"/http/token: unexpected property 'token'; did you mean 'tokens'?");
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"], \"limits\": {\"conections\": 1}}",
		"/http/limits/conections: unexpected property 'conections'; did you mean "
		"'connections'?");
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"], \"limits\": []}",
		"/http/limits: must be an object or null");
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"], \"allowed_hosts\": [\"a:1\"]}",
		"/allowed_hosts/0: must be a name or an address");
	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
		char section[128];

		snprintf(section, sizeof(section),
			"{\"listen\": [\"127.0.0.1:1\"], \"allowed_origins\": [\"%s\"]}",
			origins[i]);
		expect_closed_by(section, "/allowed_origins/0: must be an origin");
	}
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"], \"tls\": {\"cert\": \"/c\"}}",
		"http.tls needs both");
}

Test(config_http, reads_names)
{
	cr_assert_eq(
		read_http("{\"allowed_hosts\": [\"tools.lan\", \"[::1]\", \"::2\", \"10.0.0.1\"],"
			  " \"allowed_origins\": [\"https://panel.lan:8443\", \"http://a\"], "
			  "\"profile\":"
			  " \"kids\"}"),
		0);
	expect_silence();
	cr_expect(config.http.has_hosts);
	expect_list(&config.http.hosts, "tools.lan,::1,::2,10.0.0.1");
	expect_list(&config.http.origins, "https://panel.lan:8443,http://a");
	cr_expect_str_eq(config.http.profile, "kids");
}

Test(config_http, adds_the_tokens_of_a_file)
{
	static const char file[] = "[{\"name\": \"b\", \"token_sha256\": \"" OTHER
				   "\", \"since\": \"2026-01-01T00:00:00Z\", \"admin\": true}]";
	static const char http[] = "{\"listen\": [\"127.0.0.1:1\"], \"tokens\": [{\"name\": \"a\","
				   " \"token_sha256\": \"" DIGEST "\"}]}";

	write_file(TOKENS_FILE, file);
	cr_assert_eq(read_http(http), 0);
	expect_silence();
	cr_assert_eq(config.http.tokens.n_items, 2);
	cr_expect_str_eq(config.http.tokens.items[1].name, "b");
	cr_expect_str_eq(config.http.tokens.items[1].since, "2026-01-01T00:00:00Z");
	cr_expect(config.http.tokens.items[1].is_admin);
	/* An empty list counts: no caller gets in, rather than every caller. */
	write_file(TOKENS_FILE, "[]");
	cr_assert_eq(read_http("{\"listen\": [\"127.0.0.1:1\"]}"), 0);
	cr_expect(config.http.needs_token);
	cr_expect_eq(config.http.tokens.n_items, 0);
}

Test(config_http, closes_for_a_file_of_tokens_that_others_may_read_or_write)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0602, 0660, 0644};

	write_file(TOKENS_FILE, "[]");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		cr_assert_eq(chmod(in_folder(TOKENS_FILE), modes[i]), 0);
		expect_closed_by("{\"listen\": [\"127.0.0.1:1\"]}",
			"tokens.json:0 : may be read and written only by its owner");
	}
	/* It is not read while nothing listens. */
	cr_expect_eq(read_http("{}"), 0);
	expect_silence();
	cr_assert_eq(chmod(in_folder(TOKENS_FILE), 0600), 0);
	write_file(TOKENS_FILE, "[{\"name\": \"b\", \"token_file\": \"/x\"}]");
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"]}",
		"tokens.json:1 /0: missing required property 'token_sha256'");
	write_file(TOKENS_FILE, "[{\"name\": \"b\"");
	expect_closed_by("{\"listen\": [\"127.0.0.1:1\"]}", "tokens.json:1");
}

Test(config_http, listens_where_a_flag_says)
{
	static const char *const addresses[] = {"127.0.0.1:7", "[::1]:8"};
	static const char *const wrong[] = {"127.0.0.1"};

	write_user_file("{\"toolboxd\": {\"http\": {\"listen\": [\"127.0.0.1:1\"]}}}");
	cr_assert_eq(read_with(&(struct config_flags){.http = addresses, .n_http = 2}), 0);
	expect_silence();
	cr_assert_eq(config.http.n_addresses, 2);
	cr_expect_eq(config.http.addresses[0].port, 7);
	cr_expect_eq(read_with(&(struct config_flags){.http = wrong, .n_http = 1}), CONFIG_E_USAGE);
	expect_told("--http: must be ADDRESS:PORT");
	cr_expect_eq(read_with(&(struct config_flags){.is_second = true}), 0);
	cr_expect_eq(config.http.n_addresses, 0);
	cr_expect(strstr(buffer_terminate(&config.merged), "\"listen\""),
		"and the text has the files that stay closed to tools");
}

Test(config_http, listens_nowhere_while_it_is_closed_and_anew_afterwards)
{
	uint64_t digest;

	write_user_file(
		"{\"toolboxd\": {\"http\": {\"listen\": [\"127.0.0.1:1\"]}, \"access\": 1}}");
	cr_assert_eq(read_all(), 0);
	cr_assert(config.closed);
	cr_expect_eq(config.http.n_addresses, 0);
	digest = config.start_digest;
	write_user_file("{\"toolboxd\": {\"http\": {\"listen\": [\"127.0.0.1:1\"]}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_neq(config.start_digest, digest);
	digest = config.start_digest;
	write_user_file("{\"toolboxd\": {\"http\": {\"listen\": [\"127.0.0.1:1\"],"
			" \"profile\": \"a\"}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.start_digest, digest);
}

Test(config_http, reads_the_url_and_the_proxies_in_front_of_it)
{
	cr_assert_eq(read_http("{\"public_url\": \"https://Home.example:8443/tools/\","
			       " \"trusted_proxies\": [\"127.0.0.1\", \"fd00::/8\"]}"),
		0);
	expect_silence();
	cr_expect_str_eq(config.http.public_url, "https://Home.example:8443/tools");
	cr_expect_eq(config.http.origin_size, strlen("https://Home.example:8443"));
	cr_expect_str_eq(config.http.public_host, "Home.example");
	cr_expect_eq(config.http.n_proxies, 2);
	cr_assert_eq(read_http("{\"public_url\": \"http://[::1]//\", \"trusted_proxies\": []}"), 0);
	cr_expect_str_eq(config.http.public_url, "http://[::1]");
	cr_expect_str_eq(config.http.public_host, "::1");
}

Test(config_http, closes_for_a_wrong_url_or_proxy)
{
	static const char *const urls[] = {"home.example", "ws://home.example", "https://",
		"https:///tools", "https://a@b/", "https://a?b", "https://a/#b", "https://a b",
		"https://a:99999/", "https://a/\xc3\xb6", "https://a\\\\b"};
	static const char *const proxies[] = {
		"proxy.example", "10.0.0.0/33", "[::1]", "*", "unix:/a"};
	char http[256];

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		snprintf(http, sizeof(http), "{\"public_url\": \"%s\"}", urls[i]);
		expect_closed_by(http, "/http/public_url: must be a URL of at most 1024 bytes");
	}
	for (size_t i = 0; i < sizeof(proxies) / sizeof(*proxies); i++) {
		snprintf(http, sizeof(http), "{\"trusted_proxies\": [\"%s\"]}", proxies[i]);
		expect_closed_by(http, "/http/trusted_proxies/0: must be an address or a network");
	}
}

Test(config_http, needs_tokens_and_https_for_a_url_that_others_reach)
{
	cr_expect_eq(read_http("{\"listen\": [\"127.0.0.1:1\"], \"public_url\": \"http://a.lan\"}"),
		CONFIG_E_REFUSED);
	expect_told("other devices reach http://a.lan, which needs http.tokens and https");
	cr_expect_eq(
		read_http("{\"listen\": [\"127.0.0.1:1\"], \"public_url\": \"https://a.lan/x\"}"),
		CONFIG_E_REFUSED);
	expect_told("other devices reach https://a.lan/x, which needs http.tokens: set");
	cr_expect_eq(read_http("{\"listen\": [\"127.0.0.1:1\"], " TOKENS ", \"public_url\":"
			       " \"http://a.lan\"}"),
		CONFIG_E_REFUSED);
	expect_told("other devices reach http://a.lan, which needs https: set");
	cr_expect_eq(read_http("{\"listen\": [\"127.0.0.1:1\"], " TOKENS ", \"public_url\":"
			       " \"https://a.lan\"}"),
		0);
	expect_silence();
	cr_expect_eq(
		read_http(
			"{\"listen\": [\"127.0.0.1:1\"], \"public_url\": \"http://localhost:9\"}"),
		0);
	expect_silence();
	cr_expect_eq(read_http("{\"public_url\": \"http://a.lan\"}"), 0);
	expect_silence();
}

Test(config_http, keeps_its_addresses_and_whether_they_have_tls)
{
	static char old_cert[] = "old.pem", old_key[] = "old.key";
	static char new_cert[] = "new.pem", new_key[] = "new.key";
	struct config_http_address old_address = {0}, new_address = {0};

	for (int i = 0; i < 4; i++) {
		bool had_tls = i & 1, has_tls = i & 2;
		struct config_http in_force = {
			.addresses = &old_address,
			.n_addresses = 1,
			.limits = {.connections = 7},
			.tls_cert = had_tls ? old_cert : NULL,
			.tls_key = had_tls ? old_key : NULL,
		};
		struct config_http http = {
			.addresses = &new_address,
			.n_addresses = 2,
			.limits = {.connections = 8},
			.tls_cert = has_tls ? new_cert : NULL,
			.tls_key = has_tls ? new_key : NULL,
		};

		config_http_keep(&http, &in_force);
		cr_expect_eq(http.addresses, &old_address);
		cr_expect_eq(http.n_addresses, 1);
		cr_expect_eq(http.limits.connections, 7);
		cr_expect_eq(http.tls_cert, had_tls ? has_tls ? new_cert : old_cert : NULL);
		cr_expect_eq(http.tls_key, had_tls ? has_tls ? new_key : old_key : NULL);
		cr_expect_eq(in_force.addresses, &new_address, "which is freed with it");
		cr_expect_eq(in_force.n_addresses, 2);
		cr_expect_eq(in_force.tls_cert, has_tls ? had_tls ? old_cert : new_cert : NULL);
	}
}

/* ── a configuration read again ──────────────────────────────────────────────────────────── */

Test(config_http, may_replace_one_in_reach_of_others_only_with_tokens_and_tls)
{
#define SINCE "error -:0 : since the start other devices reach "
#define AGAIN ": set them, or start again\n"
	static char file[] = "/a";
	static const struct {
		const char *listen;
		bool has_tls;
		bool needs_token;
		bool is_insecure;
		const char *told; /* NULL: it may */
	} rows[] = {
		{"127.0.0.1:1", false, false, false, NULL},
		{"unix:/a", false, false, false, NULL},
		{"10.0.0.1:1", true, true, false, NULL},
		{"10.0.0.1:1", false, false, true, NULL},
		{"10.0.0.1:1", false, true, false,
			SINCE "http://10.0.0.1:1, which needs http.tls" AGAIN},
		{"10.0.0.1:1", true, false, false,
			SINCE "https://10.0.0.1:1, which needs http.tokens" AGAIN},
		{"[fd00::1]:2", false, false, false,
			SINCE "http://[fd00::1]:2, which needs http.tokens and http.tls" AGAIN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct config_http_address addresses[2] = {{.host = "localhost"}};
		struct config_http in_force = {.addresses = addresses,
			.n_addresses = 2,
			.tls_cert = rows[i].has_tls ? file : NULL};
		struct config_http http = {
			.needs_token = rows[i].needs_token, .is_insecure = rows[i].is_insecure};

		const char *reason;

		cr_assert_eq(config_http_address_parse(rows[i].listen, &addresses[1], &reason), 0);
		buffer_reset(&told);
		cr_expect_eq(config_http_may_replace(&http, &in_force, &told_sink), !rows[i].told);
		cr_expect_str_eq(
			buffer_terminate(&told), rows[i].told ? rows[i].told : "", "%s", told.data);
	}
}

Test(config_http, trusts_the_proxies_that_are_named_and_no_other)
{
	static const struct {
		const char *address;
		bool is_trusted;
	} rows[] = {{"::ffff:127.0.0.1", true}, {"::ffff:127.0.0.2", false}, {"fd00::1", true},
		{"fdff::1", true}, {"fe00::1", false}, {"::1", false}};

	cr_assert_eq(read_http("{\"trusted_proxies\": [\"127.0.0.1\", \"fd00::/8\"]}"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct in6_addr address;

		cr_assert_eq(inet_pton(AF_INET6, rows[i].address, &address), 1);
		cr_expect_eq(config_http_trusts(&config.http, &address), rows[i].is_trusted, "%s",
			rows[i].address);
	}
}

Test(config_http, has_lazy_lists_where_it_says_so)
{
	static const struct {
		const char *http;
		size_t over;
	} rows[] = {
		{"{}", SIZE_MAX},
		{"{\"mcp_lazy\": false}", SIZE_MAX},
		{"{\"mcp_lazy\": null, \"lazy_over\": 3}", SIZE_MAX},
		{"{\"mcp_lazy\": true, \"lazy_over\": 3}", 0},
		{"{\"mcp_lazy\": \"auto\"}", 64},
		{"{\"mcp_lazy\": \"auto\", \"lazy_over\": 3}", 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_assert_eq(read_http(rows[i].http), 0);
		expect_silence();
		cr_expect_eq(config.http.lazy_over, rows[i].over, "%s", rows[i].http);
	}
}

Test(config_http, knows_its_loopback)
{
	static const struct {
		const char *host;
		bool is_loopback;
	} rows[] = {{"127.0.0.1", true}, {"127.255.255.255", true}, {"126.255.255.255", false},
		{"128.0.0.0", false}, {"::1", true}, {"::2", false}, {"LocalHost", true},
		{"localhost.lan", false}, {"", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_eq(config_http_host_is_loopback(rows[i].host), rows[i].is_loopback, "%s",
			rows[i].host);
}

Test(config_http, has_a_url_of_as_many_bytes_as_it_may)
{
	char http[CONFIG_HTTP_URL_BYTES_MAX + 64] = "{\"public_url\": \"https://a/";
	size_t begin = strlen(http) - strlen("https://a/");

	memset(http + begin + 10, 'x', CONFIG_HTTP_URL_BYTES_MAX - 10);
	strcpy(http + begin + CONFIG_HTTP_URL_BYTES_MAX, "\"}");
	cr_assert_eq(read_http(http), 0);
	expect_silence();
	cr_expect_eq(strlen(config.http.public_url), CONFIG_HTTP_URL_BYTES_MAX);
	strcpy(http + begin + CONFIG_HTTP_URL_BYTES_MAX, "x\"}");
	expect_closed_by(http, "/http/public_url: must be a string of at most 1024");
}

Test(config_http, has_tokens_by_names_of_1_to_64_characters)
{
	char name[HTTP_TOKEN_NAME_CHARS + 2];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	cr_expect_not(http_tokens_is_name(name));
	name[sizeof(name) - 2] = '\0';
	cr_expect(http_tokens_is_name(name));
	cr_expect(http_tokens_is_name("a"));
	cr_expect_not(http_tokens_is_name(""));
	cr_expect_not(http_tokens_is_name("a b"));
	cr_expect_not(http_tokens_is_name("a."));
}
