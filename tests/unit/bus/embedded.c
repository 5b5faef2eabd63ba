/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "seat.h"
#include "util/cleanup.h"
#include "util/log.h"

/* The embedded bus and sockets without a client of ours: closing frames, pongs, pauses. */

static void setup(void)
{
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
}

TestSuite(bus_embedded, .timeout = 120, .init = setup);

/* Read what the bus sends until it closes the connection. */
static void read_to_end(struct endpoint *bus, int fd, struct buffer *ret_stream)
{
	char bytes[1000];
	ssize_t size = -1;

	for (int turn = 0; turn < 500 && size != 0; turn++) {
		loop_run(bus->loop, size > 0 ? 0 : 5);
		size = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (size > 0)
			buffer_append(ret_stream, bytes, (size_t)size);
	}
	cr_assert_eq(size, 0, "the connection is open");
}

/* Check that the bus closes the connection after @last, sent for @request. */
static void expect_last(const char *request, size_t size, const char *last, size_t last_size)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup(buffer_deinit) struct buffer stream = {0};
	struct endpoint bus = {0};
	int fd;

	fd = embed_and_dial(&bus, loop);
	cr_assert_eq(send(fd, request, size, 0), (ssize_t)size);
	read_to_end(&bus, fd, &stream);
	cr_expect_geq(stream.size, last_size);
	cr_expect_eq(
		memcmp(stream.data + stream.size - last_size, last, last_size), 0, "%s", request);
	cr_expect_eq(bus.frames, 0);
	cr_expect_eq(bus_counters(bus.bus)->clients, 0);
	close(fd);
	leave(&bus);
}

#define EXPECT_LAST(request_, last_)                                                               \
	expect_last(request_, sizeof(request_) - 1, last_, sizeof(last_) - 1)

Test(bus_embedded, the_bus_closes_a_connection_that_its_client_closes)
{
	EXPECT_LAST("\x88\x82\0\0\0\0\x03\xe9", "\x88\x02\x03\xe9");
	EXPECT_LAST("\x88\x80\0\0\0\0", "\x88\x00");
	EXPECT_LAST("\x88\x80\0\0\0\0\x81\x81\0\0\0\0x", "\x88\x00");
}

/* RFC 6455 §5.5.1, §7.4 */
Test(bus_embedded, the_bus_answers_a_close_frame_by_a_good_one)
{
	EXPECT_LAST("\x88\x84\0\0\0\0\x03\xf6hi", "\x88\x04\x03\xf6hi");
	EXPECT_LAST("\x88\x82\0\0\0\0\x0b\xb8", "\x88\x02\x0b\xb8");
	EXPECT_LAST("\x88\x82\0\0\0\0\x13\x87", "\x88\x02\x13\x87");
	EXPECT_LAST("\x88\x81\0\0\0\0\x03", "\x88\x02\x03\xea");
	EXPECT_LAST("\x88\x82\0\0\0\0\x03\xe7", "\x88\x02\x03\xea");
	EXPECT_LAST("\x88\x82\0\0\0\0\x03\xed", "\x88\x02\x03\xea");
	EXPECT_LAST("\x88\x82\0\0\0\0\x03\xf7", "\x88\x02\x03\xea");
	EXPECT_LAST("\x88\x82\0\0\0\0\x13\x88", "\x88\x02\x03\xea");
	EXPECT_LAST("\x88\x83\0\0\0\0\x03\xe8\xff", "\x88\x02\x03\xea");
}

/* The client reads on before it leaves, so the socket has room again. */
Test(bus_embedded, the_bus_answers_a_close_frame_after_the_bytes_that_wait)
{
	static const char end[] = "\x88\x82\0\0\0\0\x03\xe8";
	char bytes[1 << 16];
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup(buffer_deinit) struct buffer stream = {0};
	struct endpoint bus = {0};
	int fd;

	fd = embed_and_dial(&bus, loop);
	for (int turn = 0; turn < 50; turn++) {
		if (turn < 5)
			cr_assert_eq(say_bytes(&bus, 5 << 20), 0);
		loop_run(loop, 0);
	}
	cr_assert_gt(bus_queued_bytes(bus.bus), 0);
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
	cr_assert_eq(send(fd, end, sizeof(end) - 1, 0), (ssize_t)sizeof(end) - 1);
	read_to_end(&bus, fd, &stream);
	cr_assert_geq(stream.size, 4);
	cr_expect_eq(memcmp(stream.data + stream.size - 4, "\x88\x02\x03\xe8", 4), 0);
	close(fd);
	leave(&bus);
}

/* RFC 6455 §5.1, §7.4.1 */
Test(bus_embedded, the_bus_leaves_a_client_that_breaks_the_protocol)
{
	EXPECT_LAST("\x81\x01x", "\x88\x02\x03\xea");
	EXPECT_LAST("\xf1\x81\0\0\0\0x", "\x88\x02\x03\xea");
	EXPECT_LAST("\x80\x81\0\0\0\0x\x81\x81\0\0\0\0x", "\x88\x02\x03\xea");
}

/* RFC 6455 §5.5.3 */
Test(bus_embedded, the_bus_answers_the_last_of_many_pings)
{
	static const char pings[] = "\x89\x81\0\0\0\0a\x89\x81\0\0\0\0b";
	static const char end[] = "\x88\x80\0\0\0\0";
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup(buffer_deinit) struct buffer stream = {0};
	struct endpoint bus = {0};
	int fd;

	fd = embed_and_dial(&bus, loop);
	cr_assert_eq(send(fd, pings, sizeof(pings) - 1, 0), (ssize_t)sizeof(pings) - 1);
	loop_run(loop, 20);
	cr_assert_eq(send(fd, end, sizeof(end) - 1, 0), (ssize_t)sizeof(end) - 1);
	read_to_end(&bus, fd, &stream);
	cr_expect_not_null(memmem(buffer_text(&stream), stream.size,
		"\x8a\x01"
		"b",
		3));
	cr_expect_null(memmem(buffer_text(&stream), stream.size,
		"\x8a\x01"
		"a",
		3));
	close(fd);
	leave(&bus);
}

Test(bus_embedded, the_bus_notices_a_client_that_sends_no_more)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	int fd;

	fd = embed_and_dial(&bus, loop);
	cr_assert_eq(shutdown(fd, SHUT_WR), 0);
	run_until_clients(&bus, 0);
	close(fd);
	leave(&bus);
}

static void on_frame_of_a_stranger(void *data, const char *text, size_t size)
{
	struct endpoint *endpoint = data;

	on_frame(data, text, size);
	bus_set_token(endpoint->bus, "another");
}

Test(bus_embedded, a_client_is_dropped_in_the_middle_of_its_frames)
{
	static const char frames[] = "\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b";
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.loop = loop, .stop_at_frames = 1};
	struct bus_handler handler = {.frame = on_frame_of_a_stranger};
	struct bus_address address = bus_address_default;
	int fds[2];

	address.port = 0;
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, &bus, &bus.bus),
		0);
	for (int i = 0; i < 2; i++)
		fds[i] = dial(&bus, upgrade);
	run_until_clients(&bus, 2);
	cr_assert_eq(send(fds[0], frames, sizeof(frames) - 1, 0), (ssize_t)sizeof(frames) - 1);
	run(loop);
	loop_run(loop, 20);
	expect_received(&bus, "a\n");
	cr_expect_eq(bus_counters(bus.bus)->clients, 0);
	for (int i = 0; i < 2; i++)
		close(fds[i]);
	leave(&bus);
}

/* ── a paused client ─────────────────────────────────────────────────────────────────────────── */

/* A sixteenth of the memory is the most that may wait of one sender. */
static const struct bus_limits pausing = {.frame_bytes = BUS_FRAME_BYTES,
	.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
	.peer_bytes = 1 << 20,
	.stall_ms = 20000};

struct watched {
	struct endpoint endpoint;
	size_t most;             /* bytes that waited for the clients when a frame came */
	unsigned int turn_first; /* frames before this turn of the loop */
	unsigned int turn_most;  /* frames of a turn */
};

static void on_watched_frame(void *data, const char *text, size_t size)
{
	struct watched *watched = data;
	size_t bytes = bus_queued_bytes(watched->endpoint.bus);

	if (bytes > watched->most)
		watched->most = bytes;
	on_frame(&watched->endpoint, text, size);
	if (watched->endpoint.frames - watched->turn_first > watched->turn_most)
		watched->turn_most = watched->endpoint.frames - watched->turn_first;
}

static void on_turn(void *data, uint32_t events)
{
	struct watched *watched = data;

	(void)events;
	watched->turn_first = watched->endpoint.frames;
}

static void embed_watched(struct watched *watched, struct loop *loop)
{
	struct bus_handler handler = {.frame = on_watched_frame};
	struct bus_address address = bus_address_default;

	address.port = 0;
	watched->endpoint.loop = loop;
	cr_assert_eq(bus_embed(loop, &address, NULL, 0, &pausing, &handler, watched,
			     &watched->endpoint.bus),
		0);
}

/* The frames of a read after the frame that pauses their sender wait, and others have their turns
 * between them. */
Test(bus_embedded, the_bus_handles_no_frame_of_a_paused_client_until_it_goes_on)
{
	enum { FRAMES = 1100, FRAME_BYTES = 2 + 4 + 5 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched watched = {.endpoint = {.stop_at_frames = FRAMES}};
	struct endpoint *bus = &watched.endpoint;
	char frames[FRAMES * FRAME_BYTES];
	char text[16];
	cleanup_close int always = eventfd(1, EFD_CLOEXEC);
	struct loop_source *turns;
	const char *at;
	int fd;

	cr_assert_eq(loop_add_fd(loop, always, EPOLLIN, on_turn, &watched, &turns), 0);
	embed_watched(&watched, loop);
	fd = dial(bus, upgrade);
	run_until_clients(bus, 1);
	for (unsigned int i = 0; i < FRAMES; i++) {
		memcpy(frames + (size_t)i * FRAME_BYTES, "\x81\x85\0\0\0\0", 6);
		snprintf(text, sizeof(text), "%05u", i);
		memcpy(frames + (size_t)i * FRAME_BYTES + 6, text, 5);
	}
	cr_assert_eq(send(fd, frames, sizeof(frames), 0), (ssize_t)sizeof(frames));
	run(loop);
	at = buffer_terminate(&bus->received);
	for (unsigned int i = 0; i < FRAMES; i++)
		cr_assert_eq(strtoul(at + (size_t)i * 6, NULL, 10), i);
	cr_expect_leq(watched.most, (pausing.peer_bytes >> 4) + 1000);
	cr_expect_lt(watched.turn_most, FRAMES / 2);
	loop_source_free(turns);
	close(fd);
	leave(bus);
}

enum { TEXT_BYTES = 1 << 16, LARGE_BYTES = 14 + TEXT_BYTES };

/* A client that sends, and a client that does not read: the bus stops reading the first. */
struct held_up {
	struct watched watched;
	int fds[2];
	char frame[LARGE_BYTES];
	size_t sent; /* bytes of the frame */
};

/* Let the sender read all, and send on. */
static void take_turn(struct held_up *held_up)
{
	char echo[LARGE_BYTES];

	push_bytes(held_up->fds[0], held_up->frame, LARGE_BYTES, &held_up->sent);
	while (recv(held_up->fds[0], echo, sizeof(echo), MSG_DONTWAIT) > 0)
		continue;
	loop_run(held_up->watched.endpoint.loop, 0);
}

static void hold_up(struct held_up *held_up, struct loop *loop)
{
	struct endpoint *bus = &held_up->watched.endpoint;
	unsigned int quiet_turns = 0;

	memcpy(held_up->frame, (unsigned char[]){0x81, 0xFF, 0, 0, 0, 0, 0, 0x01, 0, 0}, 10);
	memset(held_up->frame + 14, 'x', TEXT_BYTES);
	embed_watched(&held_up->watched, loop);
	for (int i = 0; i < 2; i++)
		held_up->fds[i] = dial(bus, upgrade);
	run_until_clients(bus, 2);
	/* A frame has the size of four reads. */
	while (quiet_turns < 20) {
		unsigned int before = bus->frames;

		take_turn(held_up);
		quiet_turns = bus->frames == before ? quiet_turns + 1 : 0;
	}
	cr_assert_eq(bus_counters(bus->bus)->clients, 2);
}

Test(bus_embedded, the_bus_notices_the_end_of_a_paused_client)
{
	static const struct linger at_once = {.l_onoff = 1};
	struct held_up held_up = {0};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint *bus = &held_up.watched.endpoint;

	hold_up(&held_up, loop);
	setsockopt(held_up.fds[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(held_up.fds[0]);
	loop_run(loop, 20);
	cr_expect_eq(bus_counters(bus->bus)->clients, 1);
	close(held_up.fds[1]);
	leave(bus);
}

/* It does not wait for a look at the clients. */
Test(bus_embedded, a_sender_goes_on_when_the_client_that_held_it_up_leaves)
{
	struct held_up held_up = {0};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint *bus = &held_up.watched.endpoint;
	unsigned int frames;

	hold_up(&held_up, loop);
	frames = bus->frames;
	close(held_up.fds[1]);
	for (int turn = 0; turn < 20 && bus->frames == frames; turn++)
		take_turn(&held_up);
	cr_expect_gt(bus->frames, frames);
	close(held_up.fds[0]);
	leave(bus);
}

/* Our own messages come back to us in a later turn. */
Test(bus_embedded, a_sender_goes_on_when_its_answer_has_come_back_to_us)
{
	enum { ANSWER_BYTES = 100000, ALL = 3 };
	static const char frames[] = "\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b";
	char answer[ANSWER_BYTES + 1] = "";
	char received[ANSWER_BYTES];
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched watched = {.endpoint = {.answer = answer}};
	struct endpoint *bus = &watched.endpoint;
	int fd;

	memset(answer, 'x', ANSWER_BYTES);
	embed_watched(&watched, loop);
	fd = dial(bus, upgrade);
	run_until_clients(bus, 1);
	cr_assert_eq(send(fd, frames, sizeof(frames) - 1, 0), (ssize_t)sizeof(frames) - 1);
	for (int turn = 0; turn < 20 && bus->frames < ALL; turn++) {
		loop_run(loop, 0);
		while (recv(fd, received, sizeof(received), MSG_DONTWAIT) > 0)
			continue;
	}
	cr_expect_eq(bus->frames, ALL);
	expect_received(bus, "a\nb\n");
	close(fd);
	leave(bus);
}
