/* SPDX-License-Identifier: Apache-2.0 */
#include "util/network.h"

#include <criterion/criterion.h>

Test(network, has_the_addresses_of_its_bits)
{
	static const struct {
		const char *network, *address;
		bool has;
	} cases[] = {
		{"10.0.0.0/8", "10.255.1.2", true},
		{"10.0.0.0/8", "11.0.0.1", false},
		{"10.0.0.0/8", "::ffff:10.1.1.1", true},
		{"10.0.0.0/8", "a00::", false},
		{"192.168.1.4", "192.168.1.4", true},
		{"192.168.1.4", "192.168.1.5", false},
		{"192.168.1.0/26", "192.168.1.63", true},
		{"192.168.1.0/26", "192.168.1.64", false},
		{"0.0.0.0/0", "203.0.113.9", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "203.0.113.9", true},
		{"fd00::/8", "fdff::1", true},
		{"fd00::/8", "fe00::1", false},
		{"::1", "::1", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct network network;
		struct in6_addr address;

		cr_assert(network_read(cases[i].network, &network), "%s", cases[i].network);
		cr_assert(network_read_address(cases[i].address, &address));
		cr_expect_eq(network_has(&network, &address), cases[i].has, "%s in %s",
			cases[i].address, cases[i].network);
	}
}

Test(network, is_an_address_and_a_number_of_bits)
{
	static const char *const wrong[] = {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8 ",
		"10.0.0.0/-1", "10.0.0/8", "::/129", "::/99999999999999", "[::1]", "proxy.example",
		"10.0.0.1:80", "10.0.0.0/8/8"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct network network;

		cr_expect_not(network_read(wrong[i], &network), "%s", wrong[i]);
	}
}

Test(network, of_a_holder_has_all_addresses_that_it_can_choose)
{
	static const char *const cases[][2] = {{"127.0.0.1", "127.0.0.0/8"},
		{"127.9.9.9", "127.0.0.0/8"}, {"192.168.1.4", "192.168.1.4"},
		{"::1", "127.0.0.0/8"}, {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct in6_addr address;
		char text[NETWORK_BYTES];

		cr_assert(network_read_address(cases[i][0], &address));
		network_write_holder(&address, text);
		cr_expect_str_eq(text, cases[i][1]);
	}
}
