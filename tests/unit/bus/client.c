/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/bus.h"
#include "bus/connection.h"
#include "bus/pacing.h"
#include "pass.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text/base64.h"

/*
 * A client of a bad bus: a peer with plain sockets that sends what no bus would send, or nothing.
 * The tests do not wait for a watchdog: they advance the time of the loop's timers.
 */

#define PATIENCE_MS 30000
#define TURNS_MAX   1000
#define TURN_MS     5

/* Much less than a watchdog waits, much more than a busy machine needs for a few turns. */
#define MARGIN_MS 10000

static struct loop *loop;
static struct bus *client;
static int listener;
static struct buffer heard; /* every frame, each with a line feed after it */
static char reason_unreachable[64];
static char reason_down[64];
static unsigned int n_unreachable;

static void on_frame(void *data, const char *text, size_t size)
{
	(void)data;
	buffer_append(&heard, text, size);
	buffer_append_char(&heard, '\n');
	loop_stop(loop);
}

static void on_up(void *data)
{
	(void)data;
	loop_stop(loop);
}

static void on_down(void *data, const char *reason)
{
	(void)data;
	snprintf(reason_down, sizeof(reason_down), "%s", reason);
	loop_stop(loop);
}

static void on_unreachable(void *data, const char *reason)
{
	(void)data;
	snprintf(reason_unreachable, sizeof(reason_unreachable), "%s", reason);
	n_unreachable++;
	loop_stop(loop);
}

static void set_up(void)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	cr_assert_eq(loop_new(&loop), 0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(listen(listener, 4), 0);
}

static void tear_down(void)
{
	bus_free(client);
	loop_free(loop);
	close(listener);
	buffer_deinit(&heard);
}

TestSuite(bus_client, .timeout = 120, .init = set_up, .fini = tear_down);

static void connect_to(const char *host)
{
	static const struct bus_handler handler = {
		.frame = on_frame, .up = on_up, .down = on_down, .unreachable = on_unreachable};
	struct bus_address address = bus_address_default;
	struct sockaddr_in name = {0};
	socklen_t size = sizeof(name);

	cr_assert_eq(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	snprintf(address.host, sizeof(address.host), "%s", host);
	address.port = ntohs(name.sin_port);
	cr_assert_eq(bus_connect(loop, &address, &bus_limits_default, &handler, NULL, &client), 0);
}

/* Accept the client's next connection. */
static int accept_client(void)
{
	int fd = -1;

	for (int turn = 0; turn < TURNS_MAX && fd < 0; turn++) {
		loop_run(loop, TURN_MS);
		fd = accept(listener, NULL, NULL);
	}
	cr_assert_geq(fd, 0);
	return fd;
}

/* Read until @end arrives, or, if it is NULL, until the client closes the connection. */
static void read_until(int fd, const char *end, char *ret_text, size_t capacity)
{
	size_t size = 0;

	for (int turn = 0; turn < TURNS_MAX; turn++) {
		ssize_t received = recv(fd, ret_text + size, capacity - 1 - size, MSG_DONTWAIT);

		size += received > 0 ? (size_t)received : 0;
		ret_text[size] = '\0';
		if (end ? strstr(ret_text, end) != NULL : received == 0)
			return;
		loop_run(loop, TURN_MS);
	}
	cr_assert_fail("%s", ret_text);
}

/* RFC 6455 §4.2.2: read the request, and write the response that grants it to @ret_text. */
static void write_grant(int fd, char *ret_text, size_t capacity)
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	static const char field[] = "Sec-WebSocket-Key: ";
	char key[128];
	unsigned char digest[20];
	cleanup(buffer_deinit) struct buffer accepted = {0};
	char *at;

	read_until(fd, "\r\n\r\n", ret_text, capacity);
	at = strstr(ret_text, field);
	cr_assert(at, "%s", ret_text);
	at += strlen(field);
	snprintf(key, sizeof(key), "%.*s%s", (int)strcspn(at, "\r"), at, guid);
	cr_assert(EVP_Digest(key, strlen(key), digest, NULL, EVP_sha1(), NULL));
	base64_encode(digest, sizeof(digest), &accepted);
	snprintf(ret_text, capacity,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\n\r\n",
		buffer_terminate(&accepted));
}

static void upgrade(int fd)
{
	char text[2048];

	write_grant(fd, text, sizeof(text));
	cr_assert_eq(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert(bus_is_up(client));
}

/* Send a bus's frame of less than 126 bytes. */
static void send_frame(int fd, unsigned char first, const char *text)
{
	size_t size = strlen(text);
	char frame[2 + 125] = {(char)first, (char)size};

	memcpy(frame + 2, text, size);
	cr_assert_eq(send(fd, frame, 2 + size, 0), (ssize_t)(2 + size));
}

Test(bus_client, hears_no_frame_that_is_binary)
{
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	send_frame(fd, 0x82, "{\"type\": \"whole\"}");
	send_frame(fd, 0x02, "{\"type\": "); /* binary, not final */
	send_frame(fd, 0x89, "ping");
	send_frame(fd, 0x80, "\"in pieces\"}"); /* continuation, final */
	send_frame(fd, 0x01, "{\"type\": ");
	send_frame(fd, 0x80, "\"text\"}");
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_str_eq(buffer_terminate(&heard), "{\"type\": \"text\"}\n");
	cr_expect_eq(bus_counters(client)->frames_received, 3);
	cr_expect(bus_is_up(client), "it costs the connection nothing");
	close(fd);
}

/* All of the frames have come before the client reads, and more than it reads in a turn. */
Test(bus_client, hears_frames_that_came_while_it_did_not_read)
{
	static const char text[] = "{\"type\": \"one of many\"}";
	const char header[2] = {(char)0x81, sizeof(text) - 1};
	cleanup(buffer_deinit) struct buffer frames = {0};
	unsigned int n = 0;
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	for (; frames.size < 3 * CONNECTION_READ_BYTES; n++) {
		buffer_append(&frames, header, sizeof(header));
		buffer_append(&frames, text, sizeof(text) - 1);
	}
	cr_assert_eq(send(fd, frames.data, frames.size, 0), (ssize_t)frames.size);
	while (bus_counters(client)->frames_received < n)
		cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(bus_counters(client)->frames_received, n);
	close(fd);
}

/* The last frame and the end of the connection have come before the client reads. */
Test(bus_client, sees_the_end_that_came_with_the_last_frame)
{
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	loop_run(loop, 0);
	send_frame(fd, 0x81, "{\"type\": \"the last\"}");
	close(fd);
	for (int turn = 0; turn < TURNS_MAX && bus_is_up(client); turn++)
		loop_run(loop, TURN_MS);
	cr_expect_eq(bus_counters(client)->frames_received, 1);
	cr_expect_not(bus_is_up(client));
}

Test(bus_client, reads_a_response_that_comes_in_pieces)
{
	char text[2048];
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	write_grant(fd, text, sizeof(text));
	cr_assert_eq(send(fd, text, 20, 0), 20);
	loop_run(loop, TURN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_not(bus_is_up(client));
	cr_assert_eq(send(fd, text + 20, strlen(text) - 20, 0), (ssize_t)strlen(text) - 20);
	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect(bus_is_up(client));
	close(fd);
}

static void expect_down(unsigned char first, const char *text, const char *expected)
{
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	send_frame(fd, first, text);
	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_not(bus_is_up(client));
	cr_expect_str_eq(reason_down, expected);
	bus_free(take_ptr(client));
	close(fd);
}

Test(bus_client, knows_reason_a_connection_ended)
{
	expect_down(0x88, "\x03\xe8", "the connection was closed");
	expect_down(0xF1, "{}", "it sent a frame that a server must not send");
}

Test(bus_client, connects_to_the_address_of_a_name)
{
	int fd;

	connect_to("127.1");
	fd = accept_client();
	upgrade(fd);
	close(fd);
}

Test(bus_client, looks_a_name_without_an_address_up_again)
{
	connect_to("no name at all");
	for (unsigned int n = 1; n <= 2; n++) {
		cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
		cr_expect_eq(n_unreachable, n);
		cr_expect(*reason_unreachable);
		pass(loop, 2 * BUS_BACKOFF_FIRST_MS);
	}
}

Test(bus_client, gives_a_silent_peer_up_and_tries_again)
{
	char request[2048];
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	pass(loop, BUS_CONNECT_WAIT_MS - MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_eq(n_unreachable, 0, "there is time left");
	pass(loop, MARGIN_MS);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(n_unreachable, 1);
	cr_expect_str_eq(reason_unreachable, "no answer");
	read_until(fd, NULL, request, sizeof(request));
	close(fd);
	pass(loop, BUS_BACKOFF_FIRST_MS);
	fd = accept_client();
	upgrade(fd);
	close(fd);
}

static void pass_connect_wait(void *data)
{
	(void)data;
	pass(loop, BUS_CONNECT_WAIT_MS);
}

/* Time passes in the turn that begins the lookup, so no answer can have arrived. */
Test(bus_client, gives_a_silent_name_service_up)
{
	struct loop_timer timer;

	connect_to("a-bus.invalid");
	cr_assert_eq(loop_timer_init(&timer, loop, pass_connect_wait, NULL), 0);
	loop_timer_arm(&timer, 0);
	cr_assert_eq(loop_run(loop, -1), 0);
	cr_expect_eq(n_unreachable, 1);
	cr_expect_str_eq(reason_unreachable, "the name service does not answer");
	loop_timer_deinit(&timer);
}

/* Read what the client writes as it is freed, up to the end of the connection, and return the size
 * of it. */
static size_t read_leave(int fd, unsigned char *ret_bytes, size_t capacity)
{
	size_t size = 0;
	ssize_t received;

	bus_free(client);
	client = NULL;
	while ((received = recv(fd, ret_bytes + size, capacity - size, 0)) > 0)
		size += (size_t)received;
	cr_expect_eq(received, 0, "it is closed, not reset: %s", strerror(errno));
	return size;
}

static void expect_close_frame(const unsigned char *bytes, size_t size)
{
	cr_assert_eq(size, 2 + 4 + 2);
	cr_expect_eq(bytes[0], 0x88, "CLOSE, final");
	cr_expect_eq(bytes[1], 0x80 | 2, "masked");
	cr_expect_eq((bytes[6] ^ bytes[2]) << 8 | (bytes[7] ^ bytes[3]), 1000);
}

/* Unread bytes would make the end a reset, by which the server loses the close frame. */
Test(bus_client, leaves_by_the_closing_handshake)
{
	unsigned char bytes[64];
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	for (int i = 0; i < 1000; i++)
		send_frame(fd, 0x81, "{\"type\": \"for.others\"}");
	cr_assert_eq(shutdown(fd, SHUT_WR), 0);
	expect_close_frame(bytes, read_leave(fd, bytes, sizeof(bytes)));
	close(fd);
}

Test(bus_client, does_not_wait_for_long_for_a_bus_that_does_not_close)
{
	uint64_t begin_ms = clock_now_ms();
	unsigned char bytes[64];
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	expect_close_frame(bytes, read_leave(fd, bytes, sizeof(bytes)));
	cr_expect_geq(clock_now_ms() - begin_ms, BUS_LEAVE_MS);
	cr_expect_lt(clock_now_ms() - begin_ms, PATIENCE_MS);
	close(fd);
}

/* The frames that came from the client. */
struct frames {
	struct buffer bytes; /* not yet a whole frame */
	struct buffer order; /* a letter for each frame of over 1,000 bytes: L of over 40,000, S */
	unsigned int n_large;
	unsigned int n_small;
	unsigned int n_marks;
};

static void free_frames(struct frames *frames)
{
	buffer_deinit(&frames->bytes);
	buffer_deinit(&frames->order);
}

/* Take the frame at the front of @frames. Return false when it is not whole. */
static bool take_frame(struct frames *frames)
{
	const unsigned char *at = (const unsigned char *)frames->bytes.data;
	size_t head = 2 + 4;
	size_t size = frames->bytes.size >= 2 ? at[1] & 0x7F : 0;

	if (size == 126)
		head += 2;
	else if (size == 127)
		head += 8;
	if (frames->bytes.size < head)
		return false;
	if (size >= 126) {
		size = 0;
		for (size_t i = 2; i < head - 4; i++)
			size = size << 8 | at[i];
	}
	if (frames->bytes.size < head + size)
		return false;
	if (at[0] == 0x89)
		frames->n_marks += size == 1 && (at[head] ^ at[head - 4]) == '>';
	else if (size > 1000) {
		frames->n_large += (at[0] & 0x80) != 0;
		buffer_append_char(&frames->order, size > 40000 ? 'L' : 'S');
	} else
		frames->n_small++;
	frames->bytes.size -= head + size;
	memmove(frames->bytes.data, frames->bytes.data + head + size, frames->bytes.size);
	return true;
}

/* Read until the client has nothing more to write. */
static void read_frames(int fd, struct frames *frames)
{
	char bytes[65536];
	unsigned int n_quiet = 0;

	while (n_quiet < 3) {
		ssize_t size = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		n_quiet = size > 0 ? 0 : n_quiet + 1;
		if (size > 0)
			buffer_append(&frames->bytes, bytes, (size_t)size);
		while (take_frame(frames)) {
		}
		if (size <= 0)
			loop_run(loop, TURN_MS);
	}
}

#define LARGE_BYTES 50000u /* less than a fragment */
#define N_LARGE     20u
#define N_AT_ONCE   8u /* the first in the first lane, and then those up to 256 KiB and beyond */

static void send_message(size_t size, unsigned int share)
{
	struct buffer message = {0};

	bus_message_begin(&message);
	while (size-- > 0)
		buffer_append_char(&message, '.');
	cr_assert_eq(bus_send(client, &message, share), 0);
}

static int begin_flood(struct frames *frames)
{
	int fd;

	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	for (unsigned int i = 0; i < N_LARGE; i++)
		send_message(LARGE_BYTES, 1);
	read_frames(fd, frames);
	return fd;
}

/* A bus reads a connection in order: what it has yet to read would go ahead of the others. */
Test(bus_client, has_a_bus_read_much_for_one_source_before_it_writes_more)
{
	struct frames frames = {0};
	int fd = begin_flood(&frames);

	cr_expect_leq(frames.n_large, N_AT_ONCE);
	cr_expect_eq(frames.n_marks, 1);
	send_message(100, 2);
	read_frames(fd, &frames);
	cr_expect_eq(frames.n_small, 1);
	cr_expect_leq(frames.n_large, N_AT_ONCE);
	/* A pong that answers another ping. */
	send_frame(fd, 0x8A, "");
	read_frames(fd, &frames);
	cr_expect_leq(frames.n_large, N_AT_ONCE);
	for (unsigned int n = 1; n <= frames.n_marks && n < N_LARGE; n++) {
		send_frame(fd, 0x8A, ">");
		read_frames(fd, &frames);
	}
	cr_expect_eq(frames.n_large, N_LARGE);
	cr_expect_geq(frames.n_marks, 3);
	free_frames(&frames);
	close(fd);
}

/* The source 1 has more than fits into the first lane; each of the others has one message there. */
Test(bus_client, writes_one_frame_of_the_later_lane_after_eight_turns_of_the_first)
{
	struct frames frames = {0};
	int few_bytes = 4096;
	char *order;
	char *last;
	int fd;

	cr_assert_eq(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof(int)), 0);
	connect_to("127.0.0.1");
	fd = accept_client();
	upgrade(fd);
	send_message(LARGE_BYTES, 1);
	for (unsigned int i = 0; i < 6; i++)
		send_message(LARGE_BYTES / 2, 1);
	for (unsigned int source = 2; source < 100; source++)
		send_message(LARGE_BYTES, source);
	read_frames(fd, &frames);
	order = buffer_terminate(&frames.order);
	last = order ? strrchr(order, 'L') : NULL;
	cr_assert(last, "%s", order);
	*last = '\0';
	cr_expect(strchr(order, 'S'), "%s", order);
	cr_expect(!strstr(order, "SS"), "%s", order);
	free_frames(&frames);
	close(fd);
}

Test(bus_client, goes_on_when_a_bus_answers_no_ping)
{
	struct frames frames = {0};
	int fd = begin_flood(&frames);

	cr_expect_lt(frames.n_large, N_LARGE);
	pass(loop, BUS_MARK_MS);
	read_frames(fd, &frames);
	cr_expect_eq(frames.n_large, N_LARGE);
	cr_expect_eq(frames.n_marks, 1);
	free_frames(&frames);
	close(fd);
}

static int send_small(void)
{
	struct buffer message = {0};

	bus_message_begin(&message);
	buffer_append_string(&message, "{\"type\":\"small\"}");
	return bus_send(client, &message, BUS_SHARE_OWN);
}

Test(bus_client, drops_messages_when_the_bus_stays_away)
{
	struct frames frames = {0};
	int fd;

	connect_to("127.0.0.1");
	cr_expect_eq(send_small(), -ENOTCONN);
	cr_expect_eq(bus_counters(client)->frames_dropped, 1);
	fd = accept_client();
	upgrade(fd);
	close(fd);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_not(bus_is_up(client));
	cr_expect_eq(send_small(), 0);
	cr_expect_eq(send_small(), 0);
	pass(loop, BUS_AWAY_MS - MARGIN_MS / 2);
	loop_run(loop, TURN_MS);
	cr_expect_eq(bus_counters(client)->frames_dropped, 1, "there is time left");
	pass(loop, MARGIN_MS / 2);
	loop_run(loop, TURN_MS);
	cr_expect_eq(bus_counters(client)->frames_dropped, 3);
	cr_expect_eq(send_small(), -ENOTCONN);
	cr_expect_eq(bus_counters(client)->frames_dropped, 4);
	fd = accept_client();
	upgrade(fd);
	cr_expect_eq(send_small(), 0);
	read_frames(fd, &frames);
	cr_expect_eq(frames.n_small, 1, "the messages that were dropped are not sent");
	free_frames(&frames);
	close(fd);
}
