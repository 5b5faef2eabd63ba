/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "seat.h"
#include "util/cleanup.h"
#include "util/log.h"

/* The embedded bus, its clients, and other peers, on one loop and over real sockets. */

static void setup(void)
{
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
}

TestSuite(bus_seat, .timeout = 120, .init = setup);

static void run_until_received(struct endpoint *endpoint, unsigned int frames)
{
	endpoint->stop_at_frames = frames;
	while (endpoint->frames < frames)
		run(endpoint->loop);
}

static const char greeting[] = "{\"type\": \"connected\", \"data\": {}, \"context\": "
			       "{\"session\": {\"session_id\": \"default\"}}}\n";

Test(bus_seat, a_client_is_greeted_and_hears_itself)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.stop_at_frames = 2};
	char expected[256];

	embed(&bus, loop);
	join(&client, &bus, &bus_limits_default);
	cr_assert_eq(say(&client, "any text"), 0);
	run(loop);
	snprintf(expected, sizeof(expected), "%sany text\n", greeting);
	expect_received(&client, expected);
	expect_received(&bus, "any text\n");
	cr_assert_eq(bus_counters(bus.bus)->clients, 1);
	cr_assert_eq(bus_counters(client.bus)->frames_sent, 1);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, our_own_says_to_all_and_after_what_it_answers)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.answer = "answer"};
	struct endpoint a = {.stop_at_frames = 3};
	struct endpoint b = {0};
	char expected[256];

	embed(&bus, loop);
	join(&b, &bus, &bus_limits_default);
	join(&a, &bus, &bus_limits_default);
	cr_assert_eq(say(&a, "question"), 0);
	run(loop);
	snprintf(expected, sizeof(expected), "%squestion\nanswer\n", greeting);
	expect_received(&a, expected);
	run_until_received(&b, 3);
	run_until_received(&bus, 2);
	expect_received(&b, expected);
	expect_received(&bus, "question\nanswer\n");
	leave(&a);
	leave(&b);
	leave(&bus);
}

Test(bus_seat, hears_frames_in_the_order_of_their_arrival)
{
	enum { COUNT = 2000 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.stop_at_frames = COUNT + 1};
	const char *at;

	embed(&bus, loop);
	join(&client, &bus, &bus_limits_default);
	for (int i = 0; i < COUNT; i++) {
		char text[16];

		snprintf(text, sizeof(text), "n%d", i);
		cr_assert_eq(say(&client, text), 0);
	}
	run(loop);
	at = buffer_terminate(&client.received) + sizeof(greeting) - 1;
	for (int i = 0; i < COUNT; i++) {
		char line[16];
		int length = snprintf(line, sizeof(line), "n%d\n", i);

		cr_assert_eq(strncmp(at, line, (size_t)length), 0, "at %d", i);
		at += length;
	}
	leave(&client);
	leave(&bus);
}

static bool wants_ours(void *data, const char *topic, size_t size)
{
	(void)data;
	return size == 4 && memcmp(topic, "ours", 4) == 0;
}

Test(bus_seat, hears_only_the_topics_it_wants)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.wants = wants_ours};
	struct endpoint client = {.wants = wants_ours, .stop_at_frames = 1};

	embed(&bus, loop);
	join(&client, &bus, &bus_limits_default);
	cr_assert_eq(say(&client, "{\"type\": \"theirs\"}"), 0);
	cr_assert_eq(say(&client, "42"), 0);
	cr_assert_eq(say(&bus, "{\"type\": \"theirs\"}"), 0);
	cr_assert_eq(say(&client, "{\"type\": \"ours\"}"), 0);
	run(loop);
	expect_received(&client, "{\"type\": \"ours\"}\n");
	expect_received(&bus, "{\"type\": \"ours\"}\n");
	cr_assert_eq(bus_counters(client.bus)->frames_received, 5);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, passes_large_frames_on_whole)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint a = {.stop_at_frames = 4};
	struct endpoint b = {0};

	embed(&bus, loop);
	join(&b, &bus, &bus_limits_default);
	join(&a, &bus, &bus_limits_default);
	cr_assert_eq(say_bytes(&a, 3000001), 0);
	cr_assert_eq(say_bytes(&a, 64 << 10), 0);
	cr_assert_eq(say(&a, "last"), 0);
	run(loop);
	cr_assert_eq(a.bytes, sizeof(greeting) - 2 + 3000001 + (64 << 10) + 4);
	cr_assert_eq(bus.bytes, 3000001 + (64 << 10) + 4);
	run_until_received(&b, 4);
	cr_assert_eq(b.bytes, a.bytes);
	cr_expect_eq(bus_counters(a.bus)->frames_sent, 3);
	leave(&a);
	leave(&b);
	leave(&bus);
}

Test(bus_seat, discards_a_frame_over_the_limit_and_keeps_the_link)
{
	static const struct bus_limits small = {.frame_bytes = 100000,
		.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
		.peer_bytes = BUS_PEER_BYTES,
		.stall_ms = BUS_STALL_MS};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint large = {.stop_at_frames = 3};
	struct endpoint client = {0};

	embed(&bus, loop);
	join(&client, &bus, &small);
	join(&large, &bus, &bus_limits_default);
	cr_assert_eq(say_bytes(&large, 100001), 0);
	cr_assert_eq(say(&large, "after"), 0);
	run(loop);
	run_until_received(&client, 2);
	cr_assert_eq(bus_counters(client.bus)->frames_oversized, 1);
	cr_assert_eq(bus_counters(client.bus)->connects, 1);
	cr_assert_eq(client.frames, 2, "the greeting, and what came after");
	cr_assert_eq(say_bytes(&client, 100001), -EMSGSIZE);
	cr_assert_eq(bus_counters(client.bus)->frames_dropped, 1);
	leave(&client);
	leave(&large);
	leave(&bus);
}

Test(bus_seat, refuses_the_newest_message_when_the_output_queue_is_full)
{
	static const struct bus_limits small = {.frame_bytes = BUS_FRAME_BYTES,
		.output_queue_bytes = 10000,
		.peer_bytes = BUS_PEER_BYTES,
		.stall_ms = BUS_STALL_MS};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.stop_at_frames = 3};

	embed(&bus, loop);
	join(&client, &bus, &small);
	cr_assert_eq(say_bytes(&client, 4000), 0);
	cr_assert_eq(say_bytes(&client, 5000), 0);
	cr_assert_eq(say_bytes(&client, 1000), -ENOBUFS);
	cr_assert_geq(bus_queued_bytes(client.bus), 9000);
	run(loop);
	cr_assert_eq(bus_queued_bytes(client.bus), 0);
	cr_assert_eq(bus_counters(client.bus)->frames_dropped, 1);
	cr_assert_eq(bus.bytes, 9000);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, lets_a_message_larger_than_the_output_queue_through_an_empty_one)
{
	static const struct bus_limits small = {.frame_bytes = BUS_FRAME_BYTES,
		.output_queue_bytes = 10000,
		.peer_bytes = BUS_PEER_BYTES,
		.stall_ms = BUS_STALL_MS};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.stop_at_frames = 2};

	embed(&bus, loop);
	join(&client, &bus, &small);
	cr_assert_eq(say_bytes(&client, 50000), 0);
	cr_assert_eq(say(&client, "no room beside it"), -ENOBUFS);
	run(loop);
	cr_assert_eq(bus.bytes, 50000);
	leave(&client);
	leave(&bus);
}

/* A list of all tools may be such a message. */
Test(bus_seat, the_bus_lets_a_message_larger_than_all_its_memory_through_an_empty_queue)
{
	static const struct bus_limits narrow = {.frame_bytes = BUS_FRAME_BYTES,
		.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
		.peer_bytes = 1 << 20,
		.stall_ms = BUS_STALL_MS};
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {0};

	embed_at(&bus, loop, 0, &narrow);
	join(&client, &bus, &bus_limits_default);
	run_until_received(&client, 1);
	cr_assert_eq(say_bytes(&bus, 5 << 20), 0);
	cr_assert_eq(bus_counters(bus.bus)->clients, 1);
	run_until_received(&client, 2);
	cr_assert_eq(client.bytes, sizeof(greeting) - 2 + (5 << 20));
	leave(&client);
	leave(&bus);
}

Test(bus_seat, keeps_what_is_said_while_the_bus_is_away_and_finds_back)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.stops_when_down = true, .stops_when_unreachable = true};
	uint16_t port;

	embed(&bus, loop);
	port = bus_address(bus.bus)->port;
	join(&client, &bus, &bus_limits_default);
	leave(&bus);
	run(loop);
	cr_assert_not(bus_is_up(client.bus));
	cr_assert_eq(say(&client, "kept"), 0);
	run(loop); /* unreachable */
	client.stops_when_unreachable = false;
	embed_at(&bus, loop, port, &bus_limits_default);
	run(loop);
	cr_assert(bus_is_up(client.bus));
	cr_assert_eq(bus_counters(client.bus)->connects, 2);
	run_until_received(&bus, 1);
	cr_assert_eq(bus_counters(client.bus)->frames_dropped, 0);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, finds_a_bus_by_the_name_localhost)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {.loop = loop, .stops_when_up = true};
	struct bus_handler handler = handler_of(&client);
	struct bus_address address;

	embed(&bus, loop);
	address = *bus_address(bus.bus);
	snprintf(address.host, sizeof(address.host), "localhost");
	cr_assert_eq(
		bus_connect(loop, &address, &bus_limits_default, &handler, &client, &client.bus),
		0);
	run(loop);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, can_be_left_while_a_name_is_looked_up)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint client = {.loop = loop, .stops_when_unreachable = true};
	struct bus_handler handler = handler_of(&client);
	struct bus_address address = bus_address_default;

	snprintf(address.host, sizeof(address.host), "no-such-name.invalid");
	cr_assert_eq(
		bus_connect(loop, &address, &bus_limits_default, &handler, &client, &client.bus),
		0);
	loop_run(loop, 0);
	leave(&client);
}

Test(bus_seat, can_be_left_at_any_moment)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();

	for (int turns = 0; turns < 6; turns++) {
		struct endpoint bus = {.loop = loop};
		struct endpoint client = {.loop = loop};
		struct bus_handler handler = handler_of(&client);

		embed(&bus, loop);
		cr_assert_eq(bus_connect(loop, bus_address(bus.bus), &bus_limits_default, &handler,
				     &client, &client.bus),
			0);
		for (int turn = 0; turn < turns; turn++)
			loop_run(loop, 0);
		leave(turns % 2 ? &client : &bus);
		leave(turns % 2 ? &bus : &client);
	}
	bus_free(NULL);
}

static void expect_no_seat(struct loop *loop, const struct bus_address *address, int error)
{
	static const struct bus_handler none;
	struct bus *bus;
	int r = bus_embed(loop, address, NULL, 0, &bus_limits_default, &none, NULL, &bus);

	cr_assert_eq(r, error);
}

Test(bus_seat, says_reason_a_port_cannot_be_used)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct bus_address address;
	struct endpoint bus = {0};

	embed(&bus, loop);
	address = *bus_address(bus.bus);
	expect_no_seat(loop, &address, -EADDRINUSE);
	snprintf(address.host, sizeof(address.host), "192.0.2.1");
	expect_no_seat(loop, &address, -EADDRNOTAVAIL);
	address.is_tls = true;
	expect_no_seat(loop, &address, -EPROTONOSUPPORT);
	leave(&bus);
}

/* Check what the bus answers to @request before it closes the connection. */
static void expect_refused(struct endpoint *bus, const char *request, const char *first_line)
{
	char response[512] = "";
	size_t size = 0;
	int fd = dial(bus, request);

	for (int turn = 0; turn < 200; turn++) {
		ssize_t received =
			recv(fd, response + size, sizeof(response) - 1 - size, MSG_DONTWAIT);

		if (received == 0)
			break;
		if (received > 0)
			size += (size_t)received;
		cr_assert_lt(turn, 199, "%s: still open", request);
		loop_run(bus->loop, 5);
	}
	cr_assert_eq(
		strncmp(response, first_line, strlen(first_line)), 0, "%s: %s", request, response);
	close(fd);
}

Test(bus_seat, the_bus_speaks_nothing_but_websocket)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};

	embed(&bus, loop);
	expect_refused(&bus, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 426");
	expect_refused(&bus, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403");
	expect_refused(&bus, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", "HTTP/1.1 505");
	expect_refused(&bus, "CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\nraw", "HTTP/1.1 400");
	expect_refused(&bus,
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
		"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
		"HTTP/1.1 426");
	expect_refused(&bus,
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 426");
	cr_assert_eq(bus_counters(bus.bus)->clients, 0);
	leave(&bus);
}

static const struct bus_limits small = {.frame_bytes = BUS_FRAME_BYTES,
	.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
	.peer_bytes = 16 << 20,
	.stall_ms = 200};

Test(bus_seat, the_bus_drops_a_client_that_does_not_read)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {0};
	int fd;

	embed_at(&bus, loop, 0, &small);
	join(&client, &bus, &bus_limits_default);
	fd = dial(&bus, upgrade);
	run_until_clients(&bus, 2);
	for (unsigned int i = 0; i < 30; i++) {
		client.stop_at_frames = client.frames + 1;
		cr_assert_eq(say_bytes(&client, 1 << 20), 0);
		run(loop);
	}
	run_until_clients(&bus, 1);
	cr_assert_eq(say(&client, "still here"), 0);
	client.stop_at_frames = client.frames + 1;
	run(loop);
	close(fd);
	leave(&client);
	leave(&bus);
}

/* A sender must not be called back from within bus_send(). */
Test(bus_seat, our_own_hears_what_it_says_later_and_no_more_than_a_client_would)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.stop_at_frames = 3};

	embed_at(&bus, loop, 0, &small);
	for (int i = 0; i < 30; i++)
		cr_assert_eq(say_bytes(&bus, 1 << 20), 0);
	cr_assert_eq(bus.frames, 0);
	run(loop);
	loop_run(loop, 20);
	cr_assert_eq(bus.frames, 3);
	cr_assert_eq(say(&bus, "forgotten when it leaves"), 0);
	leave(&bus);
}

/* Send a client's frame of less than 126 bytes with a mask of zeros. */
static void send_frame(int fd, unsigned char first, const char *text)
{
	size_t size = strlen(text);
	char frame[2 + 4 + 125] = {(char)first, (char)(0x80 | size)};

	memcpy(frame + 6, text, size);
	cr_assert_eq(send(fd, frame, 6 + size, 0), (ssize_t)(6 + size));
}

Test(bus_seat, the_bus_gathers_fragments_and_drops_what_is_no_text)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.stop_at_frames = 2};
	int fd;

	fd = embed_and_dial(&bus, loop);
	send_frame(fd, 0x01, "one "); /* text, not final */
	send_frame(fd, 0x89, "ping");
	send_frame(fd, 0x00, ""); /* continuation */
	send_frame(fd, 0x80, "frame");
	send_frame(fd, 0x82, "binary");
	send_frame(fd, 0x81, "\xFF\xFE");
	send_frame(fd, 0x81, "text");
	run(loop);
	expect_received(&bus, "one frame\ntext\n");
	close(fd);
	run_until_clients(&bus, 0);
	leave(&bus);
}

Test(bus_seat, the_bus_takes_a_handshake_in_any_pieces_and_frames_right_after_it)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.stop_at_frames = 1};
	char text[512];
	int size = snprintf(
		text, sizeof(text), "%s%c%c%c%c%c%cat once", upgrade, 0x81, 0x80 | 7, 0, 0, 0, 0);
	int fd;

	embed(&bus, loop);
	for (int cut = 1; cut < size; cut += 19) {
		fd = dial(&bus, "");
		cr_assert_eq(send(fd, text, (size_t)cut, 0), cut);
		loop_run(loop, 5);
		bus.stop_at_frames = bus.frames + 1;
		cr_assert_eq(send(fd, text + cut, (size_t)(size - cut), 0), size - cut);
		run(loop);
		close(fd);
	}
	run_until_clients(&bus, 0);
	leave(&bus);
}

/* Return whether the bus has closed @fd. */
static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

Test(bus_seat, a_new_connection_takes_the_place_of_the_longest_half_made_one)
{
	enum { SILENT = 200 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint client = {0};
	int fds[SILENT];

	embed(&bus, loop);
	for (int i = 0; i < SILENT; i++) {
		fds[i] = dial(&bus, i % 2 ? "" : "GET / HTTP/1.1\r\nHost:");
		loop_run(loop, 0);
	}
	join(&client, &bus, &bus_limits_default);
	cr_assert(is_closed(fds[0]));
	cr_assert(is_closed(fds[SILENT - 100]));
	cr_assert_not(is_closed(fds[SILENT - 1]));
	for (int i = 0; i < SILENT; i++)
		close(fds[i]);
	leave(&client);
	leave(&bus);
}

Test(bus_seat, the_bus_wants_the_token_that_it_was_given)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {.loop = loop, .stops_when_up = true};
	struct endpoint client = {
		.loop = loop, .stops_when_up = true, .stops_when_unreachable = true};
	struct bus_handler handler = handler_of(&bus);
	struct bus_address address = bus_address_default;

	address.port = 0;
	snprintf(address.token, sizeof(address.token), "a-token");
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, &bus_limits_default, &handler, &bus, &bus.bus),
		0);
	run(loop);
	expect_refused(&bus, upgrade, "HTTP/1.1 401 Unauthorized\r\n");
	address = *bus_address(bus.bus);
	snprintf(address.token, sizeof(address.token), "another");
	cr_assert_eq(
		bus_connect(loop, &address, &bus_limits_default, &handler, &client, &client.bus),
		0);
	loop_run(loop, 300);
	cr_assert_not(bus_is_up(client.bus));
	leave(&client);
	join(&client, &bus, &bus_limits_default);
	leave(&client);
	leave(&bus);
}

/* Clients that all send and do not read hold each other up, but not for ever. */
Test(bus_seat, the_bus_ends_a_deadlock_of_clients_that_do_not_read)
{
	enum { CLIENTS = 4, BYTES = 14 + (1 << 20) };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup_free char *frame = calloc(1, BYTES);
	struct endpoint bus = {0};
	int fds[CLIENTS];
	size_t sent[CLIENTS] = {0};

	memcpy(frame, (unsigned char[]){0x81, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 0}, 10);
	memset(frame + 14, 'x', 1 << 20);
	embed_at(&bus, loop, 0, &small);
	for (int i = 0; i < CLIENTS; i++)
		fds[i] = dial(&bus, upgrade);
	run_until_clients(&bus, CLIENTS);
	for (int turn = 0; turn < 2000 && bus_counters(bus.bus)->clients > 0; turn++) {
		for (int i = 0; i < CLIENTS; i++)
			push_bytes(fds[i], frame, BYTES, &sent[i]);
		loop_run(loop, 5);
		cr_assert_leq(bus_queued_bytes(bus.bus), CLIENTS * small.peer_bytes);
	}
	cr_assert_eq(bus_counters(bus.bus)->clients, 0, "all were disconnected");
	for (int i = 0; i < CLIENTS; i++)
		close(fds[i]);
	leave(&bus);
}

/* A client that reads is not disconnected for what another one sends in a burst. */
Test(bus_seat, the_bus_lets_the_sender_of_a_burst_wait)
{
	static const struct bus_limits narrow = {.frame_bytes = BUS_FRAME_BYTES,
		.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
		.peer_bytes = 16 << 20,
		.stall_ms = BUS_STALL_MS};
	enum { FRAMES = 200 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct endpoint bus = {0};
	struct endpoint sender = {0};
	struct endpoint reader = {0};

	embed_at(&bus, loop, 0, &narrow);
	join(&reader, &bus, &bus_limits_default);
	join(&sender, &bus, &bus_limits_default);
	for (int i = 0; i < FRAMES; i++)
		cr_assert_eq(say_bytes(&sender, 300000), 0);
	run_until_received(&reader, FRAMES + 1);
	run_until_received(&sender, FRAMES + 1);
	cr_assert_eq(bus_counters(bus.bus)->clients, 2);
	leave(&reader);
	leave(&sender);
	leave(&bus);
}

/* Else the frames of others wait in line after all that one client has sent. */
Test(bus_seat, the_bus_writes_as_many_frames_in_a_turn_as_it_reads)
{
	enum { FRAMES = 4000, FRAME_BYTES = 6 + 8, LATE_MAX = 1000 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup_free char *frames = calloc(FRAMES, FRAME_BYTES);
	struct endpoint bus = {.stop_at_frames = FRAMES / 4 * 3};
	const struct bus_counters *counters;
	int fds[2];

	for (int i = 0; i < FRAMES; i++)
		memcpy(frames + i * FRAME_BYTES, "\x81\x88\0\0\0\0a sender", FRAME_BYTES);
	embed(&bus, loop);
	for (int i = 0; i < 2; i++)
		fds[i] = dial(&bus, upgrade);
	run_until_clients(&bus, 2);
	cr_assert_eq(send(fds[0], frames, FRAMES * FRAME_BYTES, 0), FRAMES * FRAME_BYTES);
	run(loop);
	counters = bus_counters(bus.bus);
	/* Each was greeted, too. */
	cr_expect_lt(2 * (counters->frames_received + 1) - counters->frames_sent, 2 * LATE_MAX,
		"%llu were read, and %llu written to two clients",
		(unsigned long long)counters->frames_received,
		(unsigned long long)counters->frames_sent);
	close(fds[0]);
	close(fds[1]);
	run_until_clients(&bus, 0);
	leave(&bus);
}

/* Return the bus's end of the connection with the other end @fd. */
static int find_other_end(int fd)
{
	struct sockaddr_in own = {0};
	struct sockaddr_in peer = {0};
	socklen_t size = sizeof(own);

	cr_assert_eq(getsockname(fd, (struct sockaddr *)&own, &size), 0);
	for (int other = 3; other < 256; other++) {
		size = sizeof(peer);
		if (other != fd && getpeername(other, (struct sockaddr *)&peer, &size) == 0 &&
			peer.sin_family == AF_INET && peer.sin_port == own.sin_port)
			return other;
	}
	cr_assert_fail("no socket of the bus");
	return -1;
}

/* Count the frames with numbers from 0 on, and the pongs, in what the bus has written. */
static void read_stream(
	const struct buffer *stream, unsigned int *ret_numbers, unsigned int *ret_pongs)
{
	const char *end = stream->data + stream->size;
	const char *at = memmem(stream->data, stream->size, "\r\n\r\n", 4);
	char expected[16];

	*ret_numbers = *ret_pongs = 0;
	for (at = at ? at + 4 : end; at + 2 <= end && at + 2 + at[1] <= end; at += 2 + at[1]) {
		snprintf(expected, sizeof(expected), "%07u", *ret_numbers);
		if (memcmp(at, "\x8A\x01p", 3) == 0)
			++*ret_pongs;
		else if (memcmp(at, "\x81\x07", 2) == 0 && memcmp(at + 2, expected, 7) == 0)
			++*ret_numbers;
		else
			cr_assert(memcmp(at, "\x81", 1) == 0 && *ret_numbers == 0,
				"a frame is broken after %u", *ret_numbers);
	}
}

/* Wherever the socket cuts a frame, in its header too, the rest comes before anything else. */
Test(bus_seat, a_client_that_reads_in_bits_gets_whole_frames)
{
	enum { FRAMES = 3000, PINGS = 20, TURNS_MAX = 200000 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	cleanup(buffer_deinit) struct buffer stream = {0};
	struct endpoint bus = {0};
	unsigned int n_numbers = 0;
	unsigned int n_pongs = 0;
	int little = 1; /* the least that the kernel has */
	char text[16];
	int fd;

	fd = embed_and_dial(&bus, loop);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	setsockopt(find_other_end(fd), SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
	for (unsigned int turn = 0; turn < TURNS_MAX; turn++) {
		char bits[100];
		ssize_t size = turn < FRAMES
				       ? 0
				       : recv(fd, bits, 1 + turn * 37 % sizeof(bits), MSG_DONTWAIT);

		if (size > 0)
			buffer_append(&stream, bits, (size_t)size);
		if (turn < FRAMES) {
			snprintf(text, sizeof(text), "%07u", turn);
			cr_assert_eq(say(&bus, text), 0);
		}
		if (turn % (FRAMES / PINGS) == 0 && turn < FRAMES)
			cr_assert_eq(send(fd, "\x89\x81\0\0\0\0p", 7, 0), 7);
		loop_run(loop, 0);
		if (turn > FRAMES && turn % 500 == 0)
			read_stream(&stream, &n_numbers, &n_pongs);
		if (n_numbers == FRAMES)
			break;
	}
	cr_expect_eq(n_numbers, FRAMES);
	cr_expect_gt(n_pongs, 0); /* a pong answers all pings before it (RFC 6455 §5.5.3) */
	close(fd);
	leave(&bus);
}
