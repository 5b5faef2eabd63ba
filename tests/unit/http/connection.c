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

/* The connections of clients over real sockets, with a handler that chooses when to respond. */

#define TURN_MS 50

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
		.connections = 8,
		.per_holder = 8,
		.first_byte_ms = 60000,
		.request_ms = 60000,
		.idle_ms = 60000};
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

Test(connection, serves_a_request_once_when_more_comes_while_its_response_is_written)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
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
