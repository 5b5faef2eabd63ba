/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/account.h"
#include "http/connection_state.h"
#include "http/outgoing.h"
#include "http/places.h"
#include "json/writer.h"
#include "request/response.h"
#include "tls/server.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/debt.h"
#include "util/list.h"
#include "util/log.h"

/* Bytes of one read. */
#define READ_BYTES (64u << 10)

/* After the last response: the time and the bytes that are still read. A socket that is closed with
 * unread bytes resets the connection, and the peer may lose the response (RFC 9112 §9.6). */
#define LINGER_MS    1000
#define LINGER_BYTES (256u << 10)

/* The time without any progress after which a peer that does not read its response is given up. */
#define STALL_MS 30000

/* A stream that sends nothing has a comment in this time: proxies close one that is silent for
 * longer. */
#define STREAM_ALIVE_MS 15000

/* The head of a stream that answers a body waits for the first event, or so long: Caddy 2.6 drops a
 * response whose head comes before Caddy has seen the end of the body. */
#define STREAM_HEAD_MS 20

/* The first byte of a connection that begins TLS: a handshake record (RFC 8446 §5.1). */
#define TLS_HANDSHAKE 22

/* Handshakes of TLS have this part of the loop: a quarter. */
#define HANDSHAKES_FACTOR 4

/* Kinds of refusals: a flood of one must not hide the lines about another. */
enum refusal_kind {
	REFUSAL_MALFORMED,
	REFUSAL_LATE,
	REFUSAL_LARGE,
	REFUSAL_CROWDED,
	REFUSAL_TLS,
	REFUSAL_KINDS,
};

struct http_connections {
	struct loop *loop;
	struct bus *bus;
	struct http_bounds bounds;
	struct http_connection_handler handler;
	void *data;
	struct http_places places;
	unsigned int n_pending;
	bool is_stopping;
	struct log_rate refusals[REFUSAL_KINDS];
	struct debt handshakes;
	struct loop_timer alive; /* armed while there are streams */
};

struct http_connection {
	struct http_place place;
	struct http_connections *connections;
	int fd;
	struct tls_session *tls; /* or NULL */
	struct loop_source *source;
	uint32_t events; /* that the source watches for */
	struct loop_timer timer;
	enum connection_state state;
	struct http_reader reader;
	struct account *account;
	size_t held;   /* bytes of the body that are charged */
	size_t queued; /* bytes of the response that are charged */
	struct http_waiter waiter;
	void (*late)(
		struct http_connection *connection); /* goes on when the timer is due; or NULL */
	struct buffer fields;                        /* header lines for the next response */
	struct http_outgoing outgoing;
	size_t discarded;        /* bytes that were read while lingering */
	bool is_kept;            /* kept alive after the response */
	bool has_continued;      /* 100 Continue was sent */
	bool is_ended;           /* the stream has its end */
	bool is_pending;         /* counted in n_pending */
	struct http_peer peer;   /* the other end */
	struct http_peer client; /* the sender of the request */
};

/* Change the state, the only place where that is done. */
static void connection_move(struct http_connection *connection, enum connection_state to)
{
	connection->state = connection_state_move(connection->state, to);
}

static void watch(struct http_connection *connection, uint32_t events)
{
	if (connection->events == events)
		return;
	connection->events = events;
	loop_source_set_events(connection->source, events);
}

static void set_pending(struct http_connection *connection, bool is_pending)
{
	if (connection->is_pending == is_pending)
		return;
	connection->is_pending = is_pending;
	check(is_pending || connection->connections->n_pending > 0);
	connection->connections->n_pending += is_pending ? 1 : -1u;
}

static void charge_held(struct http_connection *connection)
{
	check(connection->held == 0 || connection->account);
	account_release(connection->account, connection->held);
	connection->held = 0;
}

static void charge_sent(struct http_connection *connection)
{
	account_unqueue(connection->account, connection->queued);
	connection->queued = 0;
}

/* Free what the request and its response hold. */
static void drop_exchange(struct http_connection *connection)
{
	charge_held(connection);
	charge_sent(connection);
	set_pending(connection, false);
	buffer_reset(&connection->fields);
	http_outgoing_reset(&connection->outgoing);
	connection->waiter = (struct http_waiter){0};
}

static void free_connection(struct http_connection *connection)
{
	struct http_waiter waiter = connection->waiter;

	connection->waiter = (struct http_waiter){0};
	if (waiter.gone)
		waiter.gone(waiter.data);
	drop_exchange(connection);
	http_places_leave(&connection->connections->places, &connection->place);
	loop_source_free(connection->source);
	loop_timer_deinit(&connection->timer);
	http_reader_deinit(&connection->reader);
	buffer_deinit(&connection->fields);
	http_outgoing_deinit(&connection->outgoing);
	account_close(connection->account);
	tls_session_free(connection->tls);
	close(connection->fd);
	free(connection);
}

/* Free @connection in the next turn of the loop: its callers may look at it until then. */
static void doom(struct http_connection *connection)
{
	if (connection->state == CONNECTION_DOOMED)
		return;
	connection_move(connection, CONNECTION_DOOMED);
	watch(connection, 0);
	loop_timer_arm(&connection->timer, 0);
}

/* ── the next request ────────────────────────────────────────────────────────────────────────── */

/* Wait for the first byte of a request, for @wait_ms. */
static void await_request(struct http_connection *connection, uint64_t wait_ms)
{
	struct http_connections *connections = connection->connections;
	struct http_limits limits;

	drop_exchange(connection);
	limits = connections->bounds.request;
	if (limits.body_bytes > account_book_held_max(connection->account->book))
		limits.body_bytes = account_book_held_max(connection->account->book);
	http_reader_begin(&connection->reader, &limits);
	connection->client = connection->peer;
	connection->is_kept = connection->has_continued = connection->is_ended = false;
	http_places_rest(&connections->places, &connection->place);
	watch(connection, EPOLLIN | EPOLLRDHUP);
	loop_timer_arm(&connection->timer, wait_ms);
}

static void become_idle(struct http_connection *connection)
{
	connection_move(connection, CONNECTION_IDLE);
	await_request(connection, connection->connections->bounds.idle_ms);
}

static void begin_lingering(struct http_connection *connection)
{
	if (connection->tls)
		tls_finish(connection->tls);
	if (shutdown(connection->fd, SHUT_WR) < 0) {
		doom(connection);
		return;
	}
	drop_exchange(connection);
	connection_move(connection, CONNECTION_LINGERING);
	http_places_rest(&connection->connections->places, &connection->place);
	watch(connection, EPOLLIN);
	loop_timer_arm(&connection->timer, LINGER_MS);
}

static void end_response(struct http_connection *connection)
{
	if (connection->is_kept && !connection->connections->is_stopping)
		become_idle(connection);
	else
		begin_lingering(connection);
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether all of the response that is there was sent; else more follows, or the connection
 * is doomed. */
static bool write_on(struct http_connection *connection)
{
	while (http_outgoing_left(&connection->outgoing) > 0) {
		ssize_t size =
			http_outgoing_send(&connection->outgoing, connection->fd, connection->tls);

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN) {
			if (!loop_timer_is_armed(&connection->timer))
				loop_timer_arm(&connection->timer, STALL_MS);
			watch(connection, EPOLLOUT | EPOLLRDHUP);
			return false;
		}
		if (size < 0) {
			doom(connection);
			return false;
		}
		loop_timer_arm(&connection->timer, STALL_MS);
	}
	return true;
}

/* Send what is there of a stream. */
static void stream_on(struct http_connection *connection)
{
	connection->late = NULL;
	if (!write_on(connection))
		return;
	charge_sent(connection);
	http_outgoing_reset(&connection->outgoing);
	loop_timer_disarm(&connection->timer);
	if (connection->is_ended)
		end_response(connection);
	else
		watch(connection, EPOLLRDHUP | (connection->is_kept ? EPOLLIN : 0));
}

static void send_on(struct http_connection *connection)
{
	if (connection->state == CONNECTION_STREAMING)
		stream_on(connection);
	else if (write_on(connection))
		end_response(connection);
}

/* Charge @size more bytes to be sent. When peers hold too much, the one with most of it that does
 * not read is given up. */
static void charge_queued(struct http_connection *connection, size_t size)
{
	const struct account_book *book = connection->account->book;
	struct http_connection *most = connection;

	account_queue(connection->account, size);
	connection->queued += size;
	if (account_book_used(book) <= book->bytes_max)
		return;
	list_for_each(link, &connection->connections->places.list) {
		struct http_connection *other =
			container_of(link, struct http_connection, place.link);

		if (other->queued > most->queued)
			most = other;
	}
	if (most->state != CONNECTION_DOOMED)
		doom(most);
}

/* ── responses ───────────────────────────────────────────────────────────────────────────────── */

/* Write the head of @response up to its own lines. */
static void begin_head(
	struct http_connection *connection, const struct http_response *response, bool has_body)
{
	struct buffer *head = &connection->outgoing.head;

	connection->is_kept = connection->is_kept && !connection->connections->is_stopping;
	http_head_begin(head, response, has_body, connection->is_kept);
	buffer_append_buffer(head, &connection->fields);
	if (response->fields)
		buffer_append_buffer(head, response->fields);
}

static bool is_head(const struct http_connection *connection)
{
	return connection->reader.state == HTTP_DONE &&
	       strcmp(http_method(&connection->reader), "HEAD") == 0;
}

/* Send the head of @response and its body of @size bytes, of which @charged are charged. */
static void send_response(struct http_connection *connection, const struct http_response *response,
	size_t size, size_t charged)
{
	struct buffer *head = &connection->outgoing.head;
	bool has_body = response->status != 204 && response->status != 304;

	begin_head(connection, response, has_body && size > 0);
	if (has_body)
		buffer_printf(head, "Content-Length: %zu\r\n", size);
	buffer_append_string(head, "\r\n");
	if (buffer_status(head) < 0) {
		doom(connection);
		return;
	}
	if (!has_body || is_head(connection))
		http_outgoing_omit_body(&connection->outgoing);
	connection_move(connection, CONNECTION_WRITING);
	set_pending(connection, true);
	if (charged > 0)
		charge_queued(connection, charged);
	if (connection->state != CONNECTION_DOOMED && write_on(connection))
		end_response(connection);
}

void http_respond(struct http_connection *connection, const struct http_response *response,
	struct buffer *body, size_t at)
{
	size_t size = body->size - at;

	check(connection->state == CONNECTION_WAITING);
	connection->waiter = (struct http_waiter){0};
	if (buffer_status(body) < 0) {
		buffer_deinit(body);
		doom(connection);
		return;
	}
	http_outgoing_take(&connection->outgoing, body, at);
	send_response(connection, response, size, size);
}

void http_respond_bytes(struct http_connection *connection, const struct http_response *response,
	struct http_bytes *bytes)
{
	check(connection->state == CONNECTION_WAITING);
	connection->waiter = (struct http_waiter){0};
	http_outgoing_share(&connection->outgoing, bytes);
	send_response(connection, response, bytes->size, 0);
}

void http_respond_error(
	struct http_connection *connection, unsigned int status, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer body = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	buffer_append_string(&body, "{\"error\":");
	json_write_bytes_lossy(&body, text.data ? text.data : "", text.size);
	buffer_printf(&body, ",\"code\":\"%s\"}", http_status_code(status));
	if (status == 503)
		http_connection_add_field(connection, "Retry-After: 1\r\n");
	http_respond(connection, &(struct http_response){.status = status}, &body, 0);
}

void http_connection_add_field(struct http_connection *connection, const char *line)
{
	buffer_append_string(&connection->fields, line);
}

void http_delay(struct http_connection *connection, uint64_t delay_ms,
	void (*respond)(struct http_connection *connection))
{
	check(connection->state == CONNECTION_WAITING);
	check(respond && !connection->late);
	connection->late = respond;
	loop_timer_arm(&connection->timer, delay_ms);
}

void http_wait(struct http_connection *connection, const struct http_waiter *waiter)
{
	check(connection->state == CONNECTION_WAITING);
	check(!connection->waiter.gone);
	connection->waiter = *waiter;
}

/* ── streams: chunks (RFC 9112 §7.1), in HTTP/1.0 all bytes until the close
 * ───────────────────── */

static bool has_chunks(const struct http_connection *connection)
{
	return !connection->reader.is_old;
}

void http_stream_begin(struct http_connection *connection)
{
	static const struct http_response response = {.status = 200, .type = "text/event-stream"};

	check(connection->state == CONNECTION_WAITING);
	begin_head(connection, &response, true);
	/* A proxy that gathers the stream would keep its events back. */
	buffer_append_string(&connection->outgoing.head, "X-Accel-Buffering: no\r\n");
	if (has_chunks(connection))
		buffer_append_string(&connection->outgoing.head, "Transfer-Encoding: chunked\r\n");
	buffer_append_string(&connection->outgoing.head, "\r\n");
	connection_move(connection, CONNECTION_STREAMING);
	if (!loop_timer_is_armed(&connection->connections->alive))
		loop_timer_arm(&connection->connections->alive, STREAM_ALIVE_MS);
	if (connection->held > 0) {
		connection->late = stream_on;
		loop_timer_arm(&connection->timer, STREAM_HEAD_MS);
	} else {
		stream_on(connection);
	}
}

size_t http_stream_write(struct http_connection *connection, const char *text, size_t size)
{
	struct buffer *queue = &connection->outgoing.head;
	size_t before = queue->size;

	if (connection->state != CONNECTION_STREAMING || connection->is_ended || size == 0)
		return 0;
	if (has_chunks(connection))
		buffer_printf(queue, "%zx\r\n", size);
	buffer_append(queue, text, size);
	if (has_chunks(connection))
		buffer_append_string(queue, "\r\n");
	if (buffer_status(queue) < 0) {
		doom(connection);
		return 0;
	}
	charge_queued(connection, queue->size - before);
	if (connection->state != CONNECTION_STREAMING)
		return 0;
	if (!(connection->events & EPOLLOUT))
		stream_on(connection);
	return http_outgoing_left(&connection->outgoing);
}

size_t http_stream_queued(const struct http_connection *connection)
{
	return http_outgoing_left(&connection->outgoing);
}

void http_stream_end(struct http_connection *connection)
{
	connection->waiter = (struct http_waiter){0};
	if (connection->state != CONNECTION_STREAMING || connection->is_ended)
		return;
	connection->is_ended = true;
	if (!is_head(connection) && has_chunks(connection))
		buffer_append_string(&connection->outgoing.head, "0\r\n\r\n");
	if (buffer_status(&connection->outgoing.head) < 0)
		doom(connection);
	else if (!(connection->events & EPOLLOUT))
		stream_on(connection);
}

/* Write a comment to each stream; a reader with unread bytes needs none. */
static void keep_alive(void *data)
{
	static const char comment[] = ":\n\n";
	struct http_connections *connections = data;
	bool has_stream = false;

	list_for_each(link, &connections->places.list) {
		struct http_connection *connection =
			container_of(link, struct http_connection, place.link);

		if (connection->state != CONNECTION_STREAMING)
			continue;
		has_stream = true;
		if (http_stream_queued(connection) == 0)
			http_stream_write(connection, comment, sizeof(comment) - 1);
	}
	if (has_stream)
		loop_timer_arm(&connections->alive, STREAM_ALIVE_MS);
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static enum refusal_kind refusal_of(unsigned int status)
{
	switch (status) {
	case 408:
		return REFUSAL_LATE;
	case 413:
	case 414:
	case 431:
		return REFUSAL_LARGE;
	case 503:
		return REFUSAL_CROWDED;
	default:
		return REFUSAL_MALFORMED;
	}
}

/* Refuse the request that is being read, and close. */
static void refuse_reading(
	struct http_connection *connection, unsigned int status, const char *reason)
{
	log_limited(&connection->connections->refusals[refusal_of(status)], LOG_LEVEL_WARNING,
		"HTTP: refused a request from %s (%u): %s", connection->client.address, status,
		reason);
	connection_move(connection, CONNECTION_WAITING);
	connection->is_kept = false;
	http_respond_error(connection, status, "%s", reason);
}

/* Charge the bytes of the body that have come, for which there was room. */
static void charge_body(struct http_connection *connection)
{
	size_t size = connection->reader.body.size;
	bool has_room;

	if (size <= connection->held)
		return;
	has_room = account_hold(connection->account, size - connection->held);
	check(has_room);
	connection->held = size;
}

static bool is_in_body(const struct http_reader *reader)
{
	return reader->state == HTTP_SIZED || reader->state == HTTP_CHUNK_SIZE;
}

/* Answer `Expect: 100-continue` (RFC 9110 §10.1.1) once, before the body; in HTTP/1.0 it is
 * ignored. Return false after a refusal. */
static bool heed_expectation(struct http_connection *connection)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const struct http_reader *reader = &connection->reader;

	if (connection->has_continued || reader->is_old || !is_in_body(reader) ||
		reader->body.size > 0 || !http_field(reader, "Expect", NULL))
		return true;
	if (!http_field_has(reader, "Expect", "100-continue")) {
		refuse_reading(
			connection, 417, "The only expectation that is known is 100-continue.");
		return false;
	}
	connection->has_continued = true;
	/* The socket's buffer is empty. A peer whose network fails gets no answer anyway. */
	if ((connection->tls ? tls_write(connection->tls, line, sizeof(line) - 1)
			     : send(connection->fd, line, sizeof(line) - 1, MSG_NOSIGNAL)) < 0) {
		doom(connection);
		return false;
	}
	return true;
}

static void finish_request(struct http_connection *connection, bool has_more)
{
	const struct http_reader *reader = &connection->reader;

	if (reader->state == HTTP_REFUSED) {
		refuse_reading(connection, reader->status, reader->reason);
		return;
	}
	connection_move(connection, CONNECTION_WAITING);
	loop_timer_disarm(&connection->timer);
	connection->is_kept =
		!has_more && !reader->is_old && !http_field_has(reader, "Connection", "close");
	connection->connections->handler.request(connection->connections->data, connection);
}

static void feed_request(struct http_connection *connection, const char *bytes, size_t size)
{
	struct http_reader *reader = &connection->reader;
	size_t used;

	reader->room = connection->held + account_room(connection->account);
	used = http_reader_feed(reader, bytes, size);

	if (connection->state == CONNECTION_IDLE) {
		connection_move(connection, CONNECTION_READING);
		loop_timer_arm(&connection->timer, connection->connections->bounds.request_ms);
	}
	http_places_rest(&connection->connections->places, &connection->place);
	charge_body(connection);
	if (http_reader_is_over(reader))
		finish_request(connection, used < size);
	else
		heed_expectation(connection);
}

/* The peer has sent more than its request: it is not read, and the connection ends with the
 * response. */
static void take_pipelined(struct http_connection *connection)
{
	connection->is_kept = false;
	watch(connection, connection->events & ~(uint32_t)EPOLLIN);
}

/* ── TLS ─────────────────────────────────────────────────────────────────────────────────────── */

static void go_on_with_handshake(struct http_connection *connection)
{
	watch(connection, EPOLLIN | EPOLLRDHUP);
	loop_timer_arm(&connection->timer, connection->connections->bounds.first_byte_ms);
}

/* Return whether the handshake has to wait, since those before it took more than their part of the
 * loop. */
static bool delay_handshake(struct http_connection *connection)
{
	uint64_t wait_ns =
		debt_wait_ns(&connection->connections->handshakes, clock_now_ns(), DEBT_CREDIT_NS);

	if (wait_ns == 0)
		return false;
	watch(connection, EPOLLRDHUP);
	connection->late = go_on_with_handshake;
	loop_timer_arm(&connection->timer, wait_ns / NS_PER_MS + 1);
	return true;
}

/* Return whether the peer begins with something else than TLS; then it has its response, in
 * clear. */
static bool refuse_clear(struct http_connection *connection)
{
	unsigned char first;

	if (tls_has_begun(connection->tls) || recv(connection->fd, &first, 1, MSG_PEEK) != 1 ||
		first == TLS_HANDSHAKE)
		return false;
	tls_session_free(take_ptr(connection->tls));
	refuse_reading(connection, 400, "This address speaks TLS: use https://.");
	return true;
}

/* Receive from TLS. Before the handshake is complete, this goes on with it. */
static ssize_t receive_tls(struct http_connection *connection, char *bytes, size_t size)
{
	bool was_ready = tls_is_ready(connection->tls);
	uint64_t start_ns = was_ready ? 0 : clock_thread_ns();
	ssize_t n = tls_read(connection->tls, bytes, size);
	int error = errno;
	char reason[TLS_REASON_BYTES];

	if (!was_ready)
		debt_charge_plain(&connection->connections->handshakes, clock_now_ns(),
			clock_thread_ns() - start_ns, HANDSHAKES_FACTOR);
	if (n < 0 && error == EPROTO) {
		tls_describe_failure(connection->tls, reason);
		log_limited(&connection->connections->refusals[REFUSAL_TLS], LOG_LEVEL_WARNING,
			"HTTP: TLS with %s failed: %s", connection->client.address, reason);
	}
	watch(connection, (tls_wants_write(connection->tls) ? EPOLLOUT : EPOLLIN) | EPOLLRDHUP);
	errno = error;
	return n;
}

/* Return whether there is a request's byte to read while the response is due. In TLS the event may
 * be about something else; a peer that has ended TLS is gone. */
static bool has_byte(struct http_connection *connection)
{
	int r = connection->tls ? tls_peek(connection->tls) : 1;

	if (r == 0 || (r < 0 && errno != EAGAIN))
		doom(connection);
	return r == 1;
}

/* ── events ──────────────────────────────────────────────────────────────────────────────────── */

static void linger_on(struct http_connection *connection)
{
	char bytes[READ_BYTES];
	ssize_t size = recv(connection->fd, bytes, sizeof(bytes), 0);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	connection->discarded += size > 0 ? (size_t)size : 0;
	if (size <= 0 || connection->discarded > LINGER_BYTES)
		doom(connection);
}

static void read_on(struct http_connection *connection)
{
	char bytes[READ_BYTES];
	ssize_t size;

	if (connection->tls && !tls_is_ready(connection->tls) &&
		(delay_handshake(connection) || refuse_clear(connection)))
		return;
	size = connection->tls ? receive_tls(connection, bytes, sizeof(bytes))
			       : recv(connection->fd, bytes, sizeof(bytes), 0);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0)
		doom(connection);
	else
		feed_request(connection, bytes, (size_t)size);
}

static bool is_sending(const struct http_connection *connection)
{
	return connection->state == CONNECTION_WRITING || connection->state == CONNECTION_STREAMING;
}

static void on_readable(struct http_connection *connection)
{
	switch (connection->state) {
	case CONNECTION_WAITING:
	case CONNECTION_STREAMING:
		if (has_byte(connection))
			take_pipelined(connection);
		break;
	case CONNECTION_WRITING:
		/* An event that was fetched before the response began. The bytes are read after the
		 * response. */
		break;
	case CONNECTION_LINGERING:
		linger_on(connection);
		break;
	default:
		read_on(connection);
	}
}

static void on_events(void *data, uint32_t events)
{
	struct http_connection *connection = data;

	if (connection->state == CONNECTION_DOOMED)
		return;
	if ((events & EPOLLOUT) && is_sending(connection))
		send_on(connection);
	else if (events & (EPOLLIN | EPOLLOUT))
		on_readable(connection);
	/* A peer that closes its half has gone: it may have been served by what it sent before. */
	if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) &&
		(connection->state == CONNECTION_WAITING ||
			connection->state == CONNECTION_STREAMING || !(events & EPOLLIN)))
		doom(connection);
	if (connection->state == CONNECTION_DOOMED)
		free_connection(connection);
}

static void on_time(void *data)
{
	struct http_connection *connection = data;
	void (*go_on)(struct http_connection * connection) = connection->late;

	connection->late = NULL;
	if (connection->state != CONNECTION_DOOMED && go_on) {
		go_on(connection);
		return;
	}
	if (connection->state == CONNECTION_READING) {
		refuse_reading(connection, 408, "The request did not arrive in time.");
		return;
	}
	free_connection(connection);
}

/* ── the set ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the next move is the peer's, or only a refusal is due that is delayed. */
static bool is_quiet(const struct http_connection *connection)
{
	switch (connection->state) {
	case CONNECTION_IDLE:
	case CONNECTION_READING:
	case CONNECTION_LINGERING:
		return true;
	default:
		return connection->state == CONNECTION_WAITING && connection->late;
	}
}

/* Close the connection with @place if it is quiet. */
static bool give_way(struct http_place *place)
{
	struct http_connection *connection = container_of(place, struct http_connection, place);

	if (!is_quiet(connection))
		return false;
	free_connection(connection);
	return true;
}

static void log_crowded(struct http_connections *connections, const char *address)
{
	log_limited(&connections->refusals[REFUSAL_CROWDED], LOG_LEVEL_WARNING,
		"HTTP: refused a request from %s: there are too many connections", address);
}

static int begin_connection(struct http_connection *connection)
{
	struct loop *loop = connection->connections->loop;
	int r = loop_timer_init(&connection->timer, loop, on_time, connection);

	if (r == 0)
		r = loop_add_fd(loop, connection->fd, EPOLLIN | EPOLLRDHUP, on_events, connection,
			&connection->source);
	connection->events = EPOLLIN | EPOLLRDHUP;
	connection->account = bus_account_new(connection->connections->bus);
	return r == 0 && !connection->account ? -ENOMEM : r;
}

void http_connections_accept(struct http_connections *connections, int fd, struct tls_server *tls)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->connections = connections;
	http_peer_read(fd, &connection->peer);
	if (!http_places_enter(
		    &connections->places, &connection->place, http_peer_place(&connection->peer))) {
		log_crowded(connections, connection->peer.address);
		free(connection);
		close(fd);
		return;
	}
	bus_socket_setup(fd);
	if (tls)
		connection->tls = tls_accept(tls, fd);
	if ((tls && !connection->tls) || begin_connection(connection) < 0) {
		free_connection(connection);
		return;
	}
	await_request(connection, connections->bounds.first_byte_ms);
	/* The request is often there already, and then the connection is no longer quiet. */
	if (!tls)
		read_on(connection);
}

bool http_connection_claim(struct http_connection *connection, const char *token, bool is_let_pass)
{
	const char *holder = token ? token : http_peer_place(&connection->client);
	struct http_connections *connections = connection->connections;

	if (http_places_claim(&connections->places, &connection->place, holder))
		return true;
	connection->is_kept = false;
	if (is_let_pass && http_places_may_spare(&connections->places, holder))
		return true;
	log_crowded(connections, connection->client.address);
	http_respond_error(connection, 503, "There are too many connections: try again later.");
	return false;
}

void http_connections_stop(struct http_connections *connections)
{
	connections->is_stopping = true;
	list_for_each(link, &connections->places.list) {
		struct http_connection *connection =
			container_of(link, struct http_connection, place.link);

		if (connection->state == CONNECTION_IDLE)
			free_connection(connection);
	}
}

unsigned int http_connections_pending(const struct http_connections *connections)
{
	return connections->n_pending;
}

void http_connections_set_bounds(
	struct http_connections *connections, const struct http_bounds *bounds)
{
	connections->bounds = *bounds;
	connections->places.max = bounds->connections;
	connections->places.per_holder = bounds->per_holder;
}

int http_connections_new(struct loop *loop, struct bus *bus, const struct http_bounds *bounds,
	const struct http_connection_handler *handler, void *data,
	struct http_connections **ret_connections)
{
	struct http_connections *connections = calloc(1, sizeof(*connections));
	int r;

	check(handler->request);
	if (!connections)
		return -ENOMEM;
	*connections = (struct http_connections){
		.loop = loop,
		.bus = bus,
		.handler = *handler,
		.data = data,
	};
	http_places_init(&connections->places, give_way);
	http_connections_set_bounds(connections, bounds);
	r = loop_timer_init(&connections->alive, loop, keep_alive, connections);
	if (r < 0)
		free(connections);
	else
		*ret_connections = connections;
	return r;
}

void http_connections_free(struct http_connections *connections)
{
	if (!connections)
		return;
	while (!list_is_empty(&connections->places.list))
		free_connection(container_of(
			connections->places.list.next, struct http_connection, place.link));
	loop_timer_deinit(&connections->alive);
	free(connections);
}

/* ── parts ───────────────────────────────────────────────────────────────────────────────────── */

const struct http_reader *http_connection_request(const struct http_connection *connection)
{
	return &connection->reader;
}

void http_connection_take_body(struct http_connection *connection, struct buffer *out)
{
	*out = connection->reader.body;
	connection->reader.body = (struct buffer){0};
}

const struct http_peer *http_connection_peer(const struct http_connection *connection)
{
	return &connection->client;
}

void http_connection_set_client(struct http_connection *connection, const struct http_peer *client)
{
	connection->client = *client;
}

bool http_connection_is_tls(const struct http_connection *connection)
{
	return connection->tls != NULL;
}

struct account *http_connection_account(const struct http_connection *connection)
{
	return connection->account;
}
