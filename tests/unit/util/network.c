/* SPDX-License-Identifier: Apache-2.0 */
#include "util/network.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

Test(network, writes_an_address_as_it_is_usually_written)
{
	static const char *const cases[][2] = {
		{"127.0.0.1", "127.0.0.1"},
		{"::ffff:1.2.3.4", "1.2.3.4"},
		{"0:0:0:0:0:0:0:1", "::1"},
		{"2001:DB8::0:A", "2001:db8::a"},
		{"::", "::"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
			"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct in6_addr address;
		char text[INET6_ADDRSTRLEN];

		cr_assert(network_read_address(cases[i][0], &address), "%s", cases[i][0]);
		network_write_address(&address, text);
		cr_expect_str_eq(text, cases[i][1]);
	}
}

Test(network, has_no_address_of_another_writing)
{
	static const char *const wrong[] = {"", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4.",
		"1.2.3.4 ", " 1.2.3.4", "0x7f.0.0.1", "[::1]", "::1%lo", ":::", "1:2:3:4:5:6:7:8:9",
		"localhost", "10.0.0.0/8", "::g"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct in6_addr address;

		cr_expect_not(network_read_address(wrong[i], &address), "%s", wrong[i]);
	}
}

Test(network, is_compared_bit_by_bit_at_every_length)
{
	struct network network;
	struct in6_addr address;

	cr_assert(network_read("5555:aaaa:5555:aaaa:5555:aaaa:5555:aaaa", &network));
	cr_expect_eq(network.bits, 128);
	for (unsigned int bits = 0; bits <= 128; bits++) {
		network.bits = bits;
		for (unsigned int changed = 0; changed < 128; changed++) {
			address = network.address;
			address.s6_addr[changed / 8] ^= (unsigned char)(0x80u >> changed % 8);
			cr_assert_eq(network_has(&network, &address), changed >= bits,
				"bit %u of /%u", changed, bits);
		}
	}
}

Test(network, of_the_loopback_is_local_and_no_other)
{
	static const struct {
		const char *address;
		bool is_local;
	} cases[] = {
		{"127.0.0.1", true},
		{"127.255.255.255", true},
		{"126.255.255.255", false},
		{"128.0.0.0", false},
		{"::1", true},
		{"::2", false},
		{"::", false},
		{"0.0.0.0", false},
		{"::ffff:127.0.0.1", true},
		{"::127.0.0.1", false},
		{"fe80::1", false},
		{"192.168.0.1", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct in6_addr address;

		cr_assert(network_read_address(cases[i].address, &address));
		cr_expect_eq(network_is_local(&address), cases[i].is_local, "%s", cases[i].address);
	}
}

/* Connect to a listener at @address, and return the accepted end; its other end is *ret_client. */
static int accept_from(const struct sockaddr *address, socklen_t size, int *ret_client)
{
	struct sockaddr_storage bound;
	socklen_t bound_size = sizeof(bound);
	int listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int accepted;

	if (listener < 0 || bind(listener, address, size) < 0) {
		close(listener);
		return -1;
	}
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&bound, &bound_size), 0);
	*ret_client = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(*ret_client, (struct sockaddr *)&bound, bound_size), 0);
	accepted = accept(listener, NULL, NULL);
	cr_assert_geq(accepted, 0);
	close(listener);
	return accepted;
}

static void expect_peer(int fd, const char *expected)
{
	struct in6_addr address;
	char text[INET6_ADDRSTRLEN] = "none";

	if (network_read_peer(fd, &address))
		network_write_address(&address, text);
	cr_expect_str_eq(text, expected);
}

Test(network, reads_the_address_of_a_peer_of_either_family)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in6 both = {.sin6_family = AF_INET6};
	int client;
	int fd = accept_from((struct sockaddr *)&v4, sizeof(v4), &client);

	cr_assert_geq(fd, 0);
	expect_peer(fd, "127.0.0.1");
	cr_expect(network_peer_is_local(fd));
	close(client);
	close(fd);
	both.sin6_addr.s6_addr[10] = both.sin6_addr.s6_addr[11] = 0xFF;
	memcpy(&both.sin6_addr.s6_addr[12], &v4.sin_addr, sizeof(v4.sin_addr));
	fd = accept_from((struct sockaddr *)&both, sizeof(both), &client);
	if (fd >= 0) {
		expect_peer(fd, "127.0.0.1");
		close(client);
		close(fd);
	}
	fd = accept_from((struct sockaddr *)&v6, sizeof(v6), &client);
	if (fd >= 0) {
		expect_peer(fd, "::1");
		cr_expect(network_peer_is_local(fd));
		close(client);
		close(fd);
	}
}

Test(network, of_a_unix_socket_is_local_without_an_address)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	expect_peer(pair[0], "none");
	cr_expect(network_peer_is_local(pair[0]));
	close(pair[1]);
	close(pair[0]);
}

Test(network, of_a_descriptor_without_a_peer_is_not_local)
{
	int ends[2];
	int unconnected = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(pipe(ends), 0);
	expect_peer(ends[0], "none");
	expect_peer(unconnected, "none");
	expect_peer(-1, "none");
	cr_expect_not(network_peer_is_local(ends[0]));
	cr_expect_not(network_peer_is_local(unconnected));
	cr_expect_not(network_peer_is_local(-1));
	close(unconnected);
	close(ends[0]);
	close(ends[1]);
}
