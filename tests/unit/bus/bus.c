/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/bus.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static int option_of(int fd, int level, int option)
{
	int value = -1;
	socklen_t size = sizeof(value);

	cr_assert_eq(getsockopt(fd, level, option, &value, &size), 0);
	return value;
}

Test(bus, sends_small_messages_at_once_and_notices_a_peer_that_is_gone)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	bus_socket_setup(fd);
	cr_expect_eq(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	cr_expect_eq(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	cr_expect_eq(option_of(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), BUS_UNSENT_BYTES);
	close(fd);
}
