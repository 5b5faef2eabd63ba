/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"
#include "schema/format/check.h"

TestSuite(schema_format_host, .timeout = 60);

Test(schema_format_host, takes_an_ipv4_address_of_four_numbers)
{
	static const char *const good[] = {
		"0.0.0.0", "255.255.255.255", "1.2.3.4", "192.168.10.99", "100.20.3.0"};
	static const char *const bad[] = {"", "1", "1.2.3", "1.2.3.", ".1.2.3", "1..2.3",
		"1.2.3.4.5", "256.1.1.1", "1.256.1.1", "1.1.1.256", "01.1.1.1", "1.1.1.00",
		"1.1.1.1a", "a.1.1.1", "1.1.1.-1", "1.1.1.1/8", " 1.1.1.1", "1000.1.1.1",
		"0x1.1.1.1", "1,1.1.1"};

	EXPECT_FORMAT(format_is_ipv4, good, bad);
}

Test(schema_format_host, takes_an_ipv6_address_with_one_gap)
{
	static const char *const good[] = {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8",
		"1:2::7:8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "abcd:EF01::", "::ffff:1.2.3.4",
		"::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1::5:1.2.3.4", "0000::", "fe80::1"};
	static const char *const bad[] = {"", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
		"1::2::3", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
		"12345::", "g::", "1:2:3:4:5:6:7:", ":2:3:4:5:6:7:8", "::1.2.3", "::1.2.3.256",
		"1.2.3.4::", "1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "::1%eth0", "[::1]",
		"::1/128", "1::2:", "::-1"};

	EXPECT_FORMAT(format_is_ipv6, good, bad);
}

#define LABEL_63 "a12345678901234567890123456789012345678901234567890123456789012"

Test(schema_format_host, takes_a_host_name_of_labels)
{
	static const char *const good[] = {"a", "localhost", "example.org", "a-b.c--d.e", "1.2",
		"0", "A.Z.09", LABEL_63, (LABEL_63 "." LABEL_63), "xn--mnchen-3ya.de", "x-n--a"};
	static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "a.b-.c",
		"a_b", "a b", "a@b", "a:1", (LABEL_63 "3"), "\xC3\xA4", "a.\xC3\xA4", "xn--",
		"xn--a.b", "a/b", "*.a"};

	EXPECT_FORMAT(format_is_hostname, good, bad);
}

Test(schema_format_host, takes_a_host_name_of_253_bytes_and_no_longer_one)
{
	char name[256] = "";

	for (int i = 0; i < 3; i++)
		strcat(strcat(name, LABEL_63), ".");
	strncat(name, LABEL_63, 253 - strlen(name));
	cr_assert_eq(strlen(name), 253);
	cr_expect(judge_format(format_is_hostname, name, strlen(name)));
	strcat(name, "x");
	cr_expect_not(judge_format(format_is_hostname, name, strlen(name)));
}

Test(schema_format_host, takes_an_email_address_with_one_at_sign_between_its_parts)
{
	static const char *const good[] = {"a@b", "joe.bloggs@example.com", "a+b@c.d",
		"!#$%&'*+-/=?^_`{|}~@x", "\"joe bloggs\"@example.com", "\"a\\\"b\"@c", "\"\\\\\"@c",
		"\"a@b\"@c", "\"\"@c", "a@[127.0.0.1]", "a@[IPv6:::1]", "a@[ipv6:1::2]", "a.b.c@d"};
	static const char *const bad[] = {"", "a", "@", "a@", "@b", "a@b@c", ".a@b", "a.@b",
		"a..b@c", "a b@c", "a@b c", "\"a@b", "\"a\"b@c", "\"a\x01\"@c", "\"\xC3\xA4\"@c",
		"\"a\\\"@b", "\"", "\"\\", "a@-b", "a@b..c", "a@[1.2.3]", "a@[127.0.0.1",
		"a@127.0.0.1]", "a@[]", "a@[IPv6:]", "a@[IPv6:1]", "a@[::1]", "a@[IPv61::2]",
		"(c)a@b", "a,b@c", "a@b,c"};

	EXPECT_FORMAT(format_is_email, good, bad);
}
