/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/link.h"
#include "util/cleanup.h"

/*
 * The acknowledgements of a client. The kernel counts the segments that a socket sends, so no test
 * measures a time: an acknowledgement is late if it is missing when a read returns.
 */

/* More reads than the kernel acknowledges at once anyway, in the beginning of a connection. */
#define ROUNDS 40

/* More than the sockets take while the server does not read. */
#define MUCH_BYTES (8u << 20)

static struct loop *loop;
static struct link way;
static int server = -1;

static void on_event(void *data, uint32_t events)
{
	(void)data;
	(void)events;
}

static void await(int fd, short events)
{
	struct pollfd entry = {.fd = fd, .events = events};

	cr_assert_eq(poll(&entry, 1, 30000), 1);
}

static void set_up(void)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(name);
	cleanup_close int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reason[TLS_REASON_BYTES];

	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	cr_assert_eq(link_open(&way, loop, "127.0.0.1", ntohs(name.sin_port), on_event, NULL), 0);
	server = accept(listener, NULL, NULL);
	cr_assert_geq(server, 0);
	await(way.fd, POLLOUT);
	cr_assert_eq(link_advance(&way, NULL, "127.0.0.1", reason), 0, "%s", reason);
	cr_assert_eq(way.state, LINK_READY);
}

static void tear_down(void)
{
	link_close(&way);
	close(server);
	loop_free(loop);
}

TestSuite(bus_link, .timeout = 120, .init = set_up, .fini = tear_down);

static unsigned int n_sent_segments(void)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	cr_assert_eq(getsockopt(way.fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
	return info.tcpi_segs_out;
}

/* Send a byte to the link and have it read there. */
static void expect_acknowledged_at_once(void)
{
	unsigned int before = n_sent_segments();
	char bytes[TLS_RECORD_BYTES];

	cr_assert_eq(send(server, "s", 1, 0), 1);
	await(way.fd, POLLIN);
	cr_assert_eq(link_read(&way, bytes, sizeof(bytes)), 1);
	cr_assert_gt(n_sent_segments(), before);
}

static void receive(size_t size)
{
	char bytes[65536];

	while (size > 0) {
		ssize_t received =
			recv(server, bytes, size < sizeof(bytes) ? size : sizeof(bytes), 0);

		cr_assert_gt(received, 0);
		size -= (size_t)received;
	}
}

static void write_byte(void)
{
	cr_assert_eq(link_write(&way, "c", 1), 0);
}

static void send_part(void)
{
	struct iovec part = {.iov_base = "c", .iov_len = 1};

	cr_assert_eq(link_send(&way, &part, 1), 1);
}

static void expect_acknowledged_after(void (*send_byte)(void))
{
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < 3; j++)
			expect_acknowledged_at_once();
		send_byte();
		receive(1);
	}
}

Test(bus_link, acknowledges_each_read_after_a_write)
{
	expect_acknowledged_after(write_byte);
}

Test(bus_link, acknowledges_each_read_after_a_send)
{
	expect_acknowledged_after(send_part);
}

/* The kernel sends the last bytes of a write when the server has read the first, after another
 * read. */
Test(bus_link, acknowledges_each_read_after_bytes_that_were_sent_late)
{
	cleanup_free char *much = calloc(1, MUCH_BYTES);
	struct iovec part = {.iov_base = much, .iov_len = MUCH_BYTES};
	int unsent = 0;
	ssize_t sent;

	cr_assert(much);
	for (int i = 0; i < ROUNDS; i++)
		expect_acknowledged_at_once();
	sent = link_send(&way, &part, 1);
	cr_assert_gt(sent, 0);
	cr_assert_eq(ioctl(way.fd, SIOCOUTQNSD, &unsent), 0);
	cr_assert_gt(unsent, 0);
	expect_acknowledged_at_once();
	receive((size_t)sent);
	for (int i = 0; i < 3; i++)
		expect_acknowledged_at_once();
}
