/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>

union any {
	struct sockaddr address;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static union any address_of(const char *text)
{
	union any any = {0};

	if (strchr(text, ':')) {
		any.v6.sin6_family = AF_INET6;
		cr_assert_eq(inet_pton(AF_INET6, text, &any.v6.sin6_addr), 1, "%s", text);
	} else {
		any.v4.sin_family = AF_INET;
		cr_assert_eq(inet_pton(AF_INET, text, &any.v4.sin_addr), 1, "%s", text);
	}
	return any;
}

static void expect_kind(const char *text, const char *kind)
{
	union any any = address_of(text);
	const char *found = address_kind(&any.address);

	cr_expect(kind ? found && strcmp(found, kind) == 0 : !found, "%s: %s", text,
		found ? found : "public");
}

Test(web_address, lets_public_addresses_pass)
{
	static const char *const publics[] = {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
		"192.169.0.0", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1",
		"64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1"};

	for (size_t i = 0; i < sizeof(publics) / sizeof(publics[0]); i++)
		expect_kind(publics[i], NULL);
}

Test(web_address, names_the_kind_of_others)
{
	expect_kind("0.1.2.3", "unspecified");
	expect_kind("10.255.255.255", "private");
	expect_kind("100.64.0.1", "shared (carrier-grade NAT)");
	expect_kind("100.127.255.255", "shared (carrier-grade NAT)");
	expect_kind("127.255.255.254", "loopback");
	expect_kind("168.63.129.16", "cloud metadata");
	expect_kind("169.254.169.254", "cloud metadata");
	expect_kind("169.254.0.1", "link-local");
	expect_kind("172.31.0.1", "private");
	expect_kind("192.0.0.192", "reserved");
	expect_kind("192.168.0.1", "private");
	expect_kind("198.19.255.255", "benchmarking");
	expect_kind("203.0.113.7", "documentation");
	expect_kind("224.0.0.251", "multicast");
	expect_kind("255.255.255.255", "reserved");
	expect_kind("::", "unspecified");
	expect_kind("::1", "loopback");
	expect_kind("fd00:ec2::254", "cloud metadata");
	expect_kind("fd12::1", "unique-local");
	expect_kind("fe80::1", "link-local");
	expect_kind("fec0::1", "site-local");
	expect_kind("ff02::1", "multicast");
	expect_kind("2001:0:1::1", "reserved");
	expect_kind("2001:db8::1", "documentation");
	expect_kind("100::1", "reserved");
	expect_kind("4000::1", "reserved");
}

Test(web_address, looks_into_addresses_that_hold_another)
{
	expect_kind("::ffff:127.0.0.1", "loopback");
	expect_kind("::ffff:10.0.0.1", "private");
	expect_kind("64:ff9b::a9fe:a9fe", "cloud metadata");
	expect_kind("64:ff9b:1::808:808", "reserved");
	expect_kind("2002:7f00:1::", "loopback");
	expect_kind("::127.0.0.1", "reserved");
}

Test(web_address, refuses_other_families)
{
	struct sockaddr address = {.sa_family = AF_UNIX};
	struct allow_list list = {0};
	struct text text = {0};

	cr_expect_str_eq(address_kind(&address), "unknown");
	cr_expect_not(allow_has(&list, "a", 80, &address));
	address_write(&address, &text);
	cr_expect_str_eq(text_string(&text), "?");
	text_free(&text);
}

/* Whether the one exception @entry opens @address for @host at @port. */
static bool opens(const char *entry, const char *host, unsigned int port, const char *address)
{
	struct allow_list list = {0};
	union any any = address_of(address);
	struct text why = {0};
	bool is_open;

	cr_assert(allow_add(&list, entry, &why), "%s: %s", entry, text_string(&why));
	is_open = allow_has(&list, host, port, &any.address);
	allow_deinit(&list);
	text_free(&why);
	return is_open;
}

Test(web_allow, opens_an_address_and_a_prefix)
{
	cr_expect(opens("10.0.0.1", "any", 80, "10.0.0.1"));
	cr_expect_not(opens("10.0.0.1", "any", 80, "10.0.0.2"));
	cr_expect(opens("10.0.0.0/8", "any", 80, "10.255.0.2"));
	cr_expect_not(opens("10.0.0.0/8", "any", 80, "11.0.0.2"));
	cr_expect(opens("10.1.1.0/23", "any", 80, "10.1.0.9"));
	cr_expect_not(opens("10.1.1.0/23", "any", 80, "10.1.2.9"));
	cr_expect(opens("0.0.0.0/0", "any", 80, "127.0.0.1"));
	cr_expect_not(opens("0.0.0.0/0", "any", 80, "::1"));
	cr_expect(opens("::/0", "any", 80, "::1"));
	cr_expect_not(opens("::/0", "any", 80, "127.0.0.1"));
	cr_expect(opens("fd00::/8", "any", 80, "fd12::1"));
	cr_expect(opens("[fd00::/8]", "any", 80, "fd12::1"));
	cr_expect(opens("127.0.0.1", "any", 80, "::ffff:127.0.0.1"));
	cr_expect(opens("127.0.0.1", "any", 80, "64:ff9b::7f00:1"));
}

Test(web_allow, heeds_a_port)
{
	cr_expect(opens("10.0.0.1:8080", "any", 8080, "10.0.0.1"));
	cr_expect_not(opens("10.0.0.1:8080", "any", 80, "10.0.0.1"));
	cr_expect(opens("10.0.0.0/8:443", "any", 443, "10.0.0.1"));
	cr_expect(opens("[fd00::/8]:443", "any", 443, "fd00::1"));
	cr_expect_not(opens("[fd00::1]:443", "any", 80, "fd00::1"));
	cr_expect(opens("wiki.lan:81", "wiki.lan", 81, "10.0.0.1"));
	cr_expect_not(opens("wiki.lan:81", "wiki.lan", 80, "10.0.0.1"));
}

Test(web_allow, opens_a_host_for_its_name_only)
{
	cr_expect(opens("wiki.lan", "WIKI.lan", 80, "10.0.0.1"));
	cr_expect(opens("wiki.lan", "wiki.lan.", 80, "::1"));
	cr_expect_not(opens("wiki.lan", "a.wiki.lan", 80, "10.0.0.1"));
	cr_expect_not(opens("wiki.lan", "wiki.lan.org", 80, "10.0.0.1"));
	cr_expect_not(opens("wiki.lan", "10.0.0.1", 80, "10.0.0.1"));
}

Test(web_allow, refuses_what_is_no_exception)
{
	static const char *const wrong[] = {"", "*", "a b", "10.0.0.0/33", "10.0.0.0/",
		"10.0.0.0/-1", "10.0.0.0/8x", "10.0.0", "10.0.0.1:0", "10.0.0.1:65536",
		"10.0.0.1:", "[fd00::1", "[fd00::1]x", "fd00::/129", "wiki.lan/8",
		"http://wiki.lan", "-a", ".a", "a.", "1.2.3.4.5", "[]", ":80", "é"};
	struct allow_list list = {0};
	struct text why = {0};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(allow_add(&list, wrong[i], &why), "%s", wrong[i]);
	cr_expect_eq(list.n, 0);
	cr_expect(strstr(text_string(&why), "is not ADDRESS, CIDR or HOST"));
	allow_deinit(&list);
	text_free(&why);
}
