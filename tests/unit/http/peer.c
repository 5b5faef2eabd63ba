/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/peer.h"

#include <criterion/criterion.h>
#include <string.h>

/* Return the peer at @address. */
static struct http_peer peer_at(const char *address)
{
	struct in6_addr number;
	struct http_peer peer;

	cr_assert(network_read_address(address, &number));
	http_peer_make(&number, &peer);
	return peer;
}

Test(peer, counts_with_the_others_of_its_network)
{
	static const char *const cases[][3] = {
		{"127.0.0.1", "127.0.0.0/8", "127.0.0.1"},
		{"127.0.0.2", "127.0.0.0/8", "127.0.0.2"},
		{"::1", "127.0.0.0/8", "::1"},
		{"192.168.1.2", "192.168.1.2", "192.168.1.2"},
		{"2001:db8::1:2", "2001:db8::/64", "2001:db8::/64"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct http_peer peer = peer_at(cases[i][0]);

		cr_expect_str_eq(peer.address, cases[i][0]);
		cr_expect_str_eq(peer.holder, cases[i][1]);
		cr_expect_str_eq(http_peer_place(&peer), cases[i][2]);
	}
}
