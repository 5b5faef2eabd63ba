/* SPDX-License-Identifier: Apache-2.0 */
#include "http/identity.h"

#include <criterion/criterion.h>

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
	cr_expect(identity_origin_is_ours("http://localhost:8090", 8090));
	cr_expect(identity_origin_is_ours("http://127.0.0.1:8090", 8090));
	cr_expect(identity_origin_is_ours("http://[::1]:8090", 8090));
	cr_expect(identity_origin_is_ours("http://localhost", 80));
	cr_expect_not(identity_origin_is_ours("http://localhost", 8090));
	cr_expect_not(identity_origin_is_ours("http://localhost:8091", 8090));
	cr_expect_not(identity_origin_is_ours("https://localhost:8090", 8090));
	cr_expect_not(identity_origin_is_ours("http://evil.example:8090", 8090));
	cr_expect_not(identity_origin_is_ours("http://localhost:8090/", 8090));
	cr_expect_not(identity_origin_is_ours("http://localhost:8090.evil.example", 8090));
	cr_expect_not(identity_origin_is_ours("null", 8090));
	cr_expect_not(identity_origin_is_ours("", 8090));
}
