/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/account.h"
#include "seat.h"
#include "util/log.h"

/* The embedded bus and the memory of its peers: the clients and the frames that give way. */

#define MIB         ((size_t)1 << 20)
#define HOLDERS_MAX 3

static const struct bus_limits narrow = {.frame_bytes = 2 * MIB,
	.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
	.peer_bytes = 16 * MIB,
	.stall_ms = 60000};

static void setup(void)
{
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
}

TestSuite(bus_room, .timeout = 120, .init = setup);

static int embed_narrow(struct endpoint *bus, struct loop *loop)
{
	int fd;

	embed_at(bus, loop, 0, &narrow);
	fd = dial(bus, upgrade);
	run_until_clients(bus, 1);
	return fd;
}

/* Let @n messages of a MiB wait for the client, which does not read. */
static void let_wait(struct endpoint *bus, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(say_bytes(bus, MIB), 0);
	loop_run(bus->loop, 0);
}

Test(bus_room, a_client_that_does_not_read_gives_way_to_a_message_that_is_read)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	int fd = embed_narrow(&bus, loop);

	let_wait(&bus, 9);
	bus_end_reading(bus.bus, bus_begin_reading(bus.bus, 4 * MIB));
	cr_expect_eq(bus_counters(bus.bus)->clients, 1, "there was room");
	bus_end_reading(bus.bus, bus_begin_reading(bus.bus, 8 * MIB));
	cr_expect_eq(bus_counters(bus.bus)->clients, 0);
	close(fd);
	leave(&bus);
}

Test(bus_room, messages_that_are_read_count_up_to_half_of_the_cap)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	int fd = embed_narrow(&bus, loop);

	let_wait(&bus, 7);
	cr_expect_eq(bus_begin_reading(bus.bus, 5 * MIB), 5 * MIB);
	cr_expect_eq(bus_begin_reading(bus.bus, 100 * MIB), 3 * MIB);
	cr_expect_eq(bus_counters(bus.bus)->clients, 1);
	bus_end_reading(bus.bus, 8 * MIB);
	close(fd);
	leave(&bus);
}

/* Send the header of a frame of two MiB less a KiB, and its text but for the last byte. */
static void send_unfinished(struct endpoint *bus, int fd)
{
	static char bytes[2 * MIB - 1024 + 14];
	size_t sent = 0;

	memcpy(bytes, (unsigned char[]){0x81, 0xFF, 0, 0, 0, 0, 0, 0x1F, 0xFC, 0}, 10);
	memset(bytes + 14, 'x', sizeof(bytes) - 14);
	for (int turn = 0; turn < 5000 && sent < sizeof(bytes) - 1; turn++) {
		ssize_t n = send(fd, bytes + sent, sizeof(bytes) - 1 - sent, MSG_DONTWAIT);

		sent += n > 0 ? (size_t)n : 0;
		loop_run(bus->loop, 0);
	}
	for (int turn = 0; turn < 200; turn++)
		loop_run(bus->loop, 0);
	cr_assert_eq(sent, sizeof(bytes) - 1);
}

/* Return whether a frame is received that is unfinished while a message is read, and requests of
 * @n_holders peers hold as much as they may. @is_first: it comes before the message. */
static bool is_finished_beside(size_t n_holders, bool is_first)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct account *holders[HOLDERS_MAX];
	struct endpoint bus = {0};
	int fd = embed_narrow(&bus, loop);
	size_t counted;

	if (is_first)
		send_unfinished(&bus, fd);
	for (size_t i = 0; i < n_holders; i++) {
		holders[i] = bus_account_new(bus.bus);
		cr_assert(account_hold(holders[i], account_room(holders[i])));
	}
	counted = bus_begin_reading(bus.bus, 8 * MIB);
	if (!is_first)
		send_unfinished(&bus, fd);
	bus_end_reading(bus.bus, counted);
	cr_assert_eq(send(fd, "x", 1, 0), 1);
	for (int turn = 0; turn < 200 && bus.frames == 0; turn++)
		loop_run(loop, 1);
	for (size_t i = 0; i < n_holders; i++) {
		account_release(holders[i], holders[i]->held);
		account_unref(holders[i]);
	}
	close(fd);
	leave(&bus);
	return bus.frames == 1;
}

Test(bus_room, an_unfinished_frame_gives_way_to_a_message_that_is_read)
{
	cr_expect(is_finished_beside(1, true));
	cr_expect_not(is_finished_beside(3, true));
}

Test(bus_room, an_unfinished_frame_gives_way_as_it_grows)
{
	cr_expect(is_finished_beside(1, false));
	cr_expect_not(is_finished_beside(3, false));
}

/* Return how many clients there are when a frame has come from one, while @n_waiting MiB wait for
 * another, which does not read. */
static uint32_t clients_beside(unsigned int n_waiting)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	int fds[2] = {embed_narrow(&bus, loop)};
	uint32_t clients;

	let_wait(&bus, n_waiting);
	fds[1] = dial(&bus, upgrade);
	run_until_clients(&bus, 2);
	loop_run(loop, 20);
	bus.frames = 0;
	send_unfinished(&bus, fds[1]);
	cr_assert_eq(send(fds[1], "x", 1, 0), 1);
	for (int turn = 0; turn < 500 && bus.frames == 0; turn++)
		loop_run(loop, 1);
	cr_assert_eq(bus.frames, 1);
	clients = bus_counters(bus.bus)->clients;
	close(fds[0]);
	close(fds[1]);
	leave(&bus);
	return clients;
}

Test(bus_room, a_client_that_does_not_read_gives_way_to_an_answer)
{
	cr_expect_eq(clients_beside(10), 2);
	cr_expect_eq(clients_beside(13), 1);
}
