/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/connections.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/account.h"
#include "bus/endpoint.h"
#include "http/connection/respond.h"
#include "loop/loop.h"
#include "pass.h"
#include "util/array.h"

/* The connections of clients over real sockets, with a handler that chooses when to respond. */

#define TURN_MS 50

/* The time for the first byte of a request, for a request, and between requests; and more than a
 * busy machine needs for a few turns. */
#define FIRST_BYTE_MS 60000
#define REQUEST_MS    90000
#define IDLE_MS       120000
#define MARGIN_MS     10000

/* The time of a response that is not read. */
#define STALL_MS 30000

#define N_MAX 8

/* Larger than what a socket takes of a peer that does not read. */
#define LARGE_BYTES ((size_t)8 << 20)

static struct bus bus = {.book.bytes_max = (size_t)64 << 20};
static struct loop *loop;
static struct http_connections *connections;
static struct http_connection *waiting;
static unsigned int n_requests;

static void respond_large(struct http_connection *connection)
{
	struct buffer body = {0};

	char *bytes = buffer_reserve(&body, LARGE_BYTES);

	cr_assert_not_null(bytes);
	memset(bytes, 'x', LARGE_BYTES);
	body.size = LARGE_BYTES;
	http_respond(connection, &(struct http_response){.status = 200}, &body, 0);
}

static void forget(void *data)
{
	(void)data;
	waiting = NULL;
}

/* Let the first request wait; the second one has the first answered. */
static void on_request(void *data, struct http_connection *connection)
{
	(void)data;
	n_requests++;
	if (waiting)
		respond_large(waiting);
	else
		waiting = connection;
	http_wait(connection, &(struct http_waiter){.gone = forget});
}

static void set_up(void)
{
	const struct http_bounds bounds = {
		.request = {.line_bytes = 8192, .header_bytes = 16384, .body_bytes = 4096},
		.connections = N_MAX,
		.per_holder = N_MAX,
		.first_byte_ms = FIRST_BYTE_MS,
		.request_ms = REQUEST_MS,
		.idle_ms = IDLE_MS};
	const struct http_connection_handler handler = {.request = on_request};

	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(http_connections_new(loop, &bus, &bounds, &handler, NULL, &connections), 0);
}

static void tear_down(void)
{
	http_connections_free(connections);
	loop_free(loop);
}

TestSuite(connection, .timeout = 120, .init = set_up, .fini = tear_down);

/* Return the client's end of a new connection. */
static int connect_client(void)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	http_connections_accept(connections, ends[0], NULL);
	return ends[1];
}

static void say(int fd, const char *text)
{
	cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* Return whether the connection was closed, after at most @size bytes that are discarded. */
static bool is_closed(int fd, size_t size)
{
	char bytes[4096];
	ssize_t n;

	do {
		n = recv(fd, bytes, sizeof(bytes), 0);
		size -= n > 0 && (size_t)n <= size ? (size_t)n : 0;
	} while (n > 0 && size > 0);
	return n == 0;
}

/* Read the response of respond_large(), and return the bytes of its body. */
static size_t read_large(int fd)
{
	static char bytes[LARGE_BYTES + 1024];
	size_t size = 0;
	char *body = NULL;

	for (int turn = 0; turn < 100000; turn++) {
		ssize_t n = recv(fd, bytes + size, sizeof(bytes) - 1 - size, 0);

		size += n > 0 ? (size_t)n : 0;
		bytes[size] = '\0';
		body = body ? body : strstr(bytes, "\r\n\r\n");
		if (body && size >= (size_t)(body - bytes) + 4 + LARGE_BYTES)
			break;
		loop_run(loop, 1);
	}
	cr_assert_not_null(body);
	return strspn(body + 4, "x");
}

/* Let the request of @fd wait, and then be answered by a request of another client. */
static void answer_large(int fd)
{
	say(connect_client(), request);
	loop_run(loop, TURN_MS);
	cr_assert_eq(n_requests, 2, "%d", fd);
}

Test(connection, writes_a_large_response_as_its_client_reads)
{
	int first = connect_client();

	say(first, request);
	loop_run(loop, TURN_MS);
	answer_large(first);
	cr_expect_eq(read_large(first), LARGE_BYTES);
	cr_expect_not(is_closed(first, 1), "it is kept");
	pass(loop, IDLE_MS - MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_not(is_closed(first, 1), "there is time left");
	pass(loop, MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(first, 0));
}

Test(connection, gives_a_client_up_that_does_not_read)
{
	int first = connect_client();

	say(first, request);
	loop_run(loop, TURN_MS);
	answer_large(first);
	pass(loop, STALL_MS - MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_not_null(waiting, "there is time left");
	pass(loop, MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(first, LARGE_BYTES));
}

Test(connection, waits_so_long_for_a_request)
{
	int silent = connect_client();
	int slow = connect_client();
	char response[1024] = "";

	say(slow, "GET / HT");
	loop_run(loop, TURN_MS);
	pass(loop, FIRST_BYTE_MS - MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_not(is_closed(silent, 1));
	pass(loop, MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(silent, 0));
	cr_expect_lt(recv(slow, response, sizeof(response) - 1, 0), 0, "there is time left");
	pass(loop, REQUEST_MS - FIRST_BYTE_MS);
	loop_run(loop, TURN_MS);
	cr_expect_gt(recv(slow, response, sizeof(response) - 1, 0), 0);
	cr_expect_eq(strncmp(response, "HTTP/1.1 408 ", 13), 0, "%s", response);
}

/* The connection that was quiet longest gives way: not one whose request is served. */
Test(connection, gives_its_place_to_a_newcomer_while_it_is_quiet)
{
	int fds[N_MAX];
	int newcomer;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = connect_client();
	say(fds[0], request);
	loop_run(loop, TURN_MS);
	newcomer = connect_client();
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(fds[1], 0));
	cr_expect_not(is_closed(fds[0], 1));
	cr_expect_not(is_closed(fds[2], 1));
	cr_expect_not(is_closed(newcomer, 1));
}

Test(connection, ends_with_its_response_when_more_was_sent)
{
	int first = connect_client();

	say(first, request);
	loop_run(loop, TURN_MS);
	say(first, request);
	loop_run(loop, TURN_MS);
	cr_expect_eq(n_requests, 1);
	answer_large(first);
	cr_expect_eq(read_large(first), LARGE_BYTES);
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(first, 0));
	cr_expect_eq(n_requests, 2, "the request that came too early is not served");
}

Test(connection, forgets_a_request_whose_client_has_gone)
{
	int first = connect_client();

	say(first, request);
	loop_run(loop, TURN_MS);
	cr_expect_not_null(waiting);
	close(first);
	loop_run(loop, TURN_MS);
	cr_expect_null(waiting);
}

Test(connection, reads_only_so_much_of_a_client_that_was_refused)
{
	static const char junk[65536];
	char response[1024] = "";
	int fd = connect_client();

	say(fd, "GET /\r\n\r\n");
	loop_run(loop, TURN_MS);
	cr_expect_gt(recv(fd, response, sizeof(response) - 1, 0), 0);
	cr_expect_eq(strncmp(response, "HTTP/1.1 400 ", 13), 0, "%s", response);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(
			send(fd, junk, sizeof(junk), MSG_NOSIGNAL), (ssize_t)sizeof(junk), "%d", i);
		loop_run(loop, TURN_MS);
	}
	cr_expect_eq(send(fd, junk, 1, MSG_NOSIGNAL), 1, "it is open");
	loop_run(loop, TURN_MS);
	cr_expect_lt(send(fd, junk, 1, MSG_NOSIGNAL), 0);
}

Test(connection, ends_when_the_service_stops_unless_a_request_is_served)
{
	int served = connect_client();
	int idle = connect_client();

	say(served, request);
	loop_run(loop, TURN_MS);
	http_connections_stop(connections);
	cr_expect(is_closed(idle, 0));
	cr_expect_not(is_closed(served, 1));
	answer_large(served);
	cr_expect_eq(read_large(served), LARGE_BYTES);
	loop_run(loop, TURN_MS);
	cr_expect(is_closed(served, 0));
}

Test(connection, serves_a_request_once_when_more_comes_while_its_response_is_written)
{
	int first = connect_client();
	int second = connect_client();

	say(first, request);
	loop_run(loop, TURN_MS);
	cr_assert_eq(n_requests, 1);
	/* Both are ready in the same turn of the loop, the second one earlier. */
	say(second, request);
	say(first, request);
	loop_run(loop, TURN_MS);
	cr_expect_eq(n_requests, 2);
	close(first);
	close(second);
}
