/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "bus/bus.h"
#include "bus/connection.h"
#include "bus/endpoint.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "bus/pacing.h"
#include "bus/resolve.h"
#include "bus/upgrade.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/list.h"

/*
 * A client of somebody's bus.
 *
 *        ┌──────────────── back-off, or at once for the next address ───────────────┐
 *        ▼                                                                          │
 *     WAITING ──timer──▶ RESOLVING ──address──▶ CONNECTING ──upgraded──▶ UP         │
 *                           │                       │                     │         │
 *                           └── no such name, 20 s ─┴── refused, 20 s ────┴─ closed,│
 *                                                                            silent │
 *                                                     lost() ───────────────────────┘
 *
 * Frames for the bus take one of two lanes. So responses to one source, however many and large, do
 * not keep responses to others waiting, and the order of each share (bus_send) is kept:
 *
 *   share has little waiting ───▶ FIRST ──▶ socket
 *   it has much, or more of it ─▶ LATER ──▶ one frame between turns of FIRST,
 *   is in LATER                             BUS_MARK_BYTES up to a mark
 *
 * A bus reads a connection in order, and megabytes may lie in its socket, ahead of any other
 * response. So a ping, the mark, follows those bytes of the later lane, which goes on when the pong
 * has come: the bus has read them.
 *
 * Messages queued when the connection was lost, and messages sent in the BUS_AWAY_MS after the
 * loss, wait for the next connection. A partly written frame is given up.
 *
 * One timer serves all states: it ends a pause, is the watchdog of an attempt, and the heartbeat of
 * a connection. Another bounds the wait for a mark. Every attempt starts from it, never from an
 * event of a connection.
 *
 * Frames queued in a turn of the loop are written at its end (loop_task), as far as the socket
 * takes them; the others when it has room again.
 */

/* The bytes of a share in the first lane, and the turns of this lane before the other's. */
#define LANE_FIRST_BYTES (64u << 10)
#define LANE_FIRST_TURNS 8

/* The most reads in a turn of the loop. */
#define READS_MAX 2

/* The payload of a mark's ping; the ping of the heartbeat has no payload. */
static const unsigned char mark_payload[] = {'>'};

/* "HOST:PORT", with brackets around an IPv6 address. */
#define HOST_HEADER_BYTES (BUS_HOST_BYTES + 16)

enum client_lane {
	LANE_FIRST,
	LANE_LATER,
	N_LANES,
};

enum client_state {
	CLIENT_WAITING,
	CLIENT_RESOLVING,
	CLIENT_CONNECTING,
	CLIENT_UP,
};

enum client_mark {
	MARK_NONE,
	MARK_DUE,     /* to be written */
	MARK_AWAITED, /* its pong is to come */
	MARK_OFF,     /* the server does not answer pings: the lane waits for no pong */
};

struct bus_client {
	struct bus bus;
	enum client_state state;
	struct loop_timer timer;
	struct tls_client *tls; /* or NULL */
	struct connection connection;
	struct loop_task writing; /* posted when something is to be written */
	struct bus_lookup *lookup;
	struct bus_addresses addresses;
	unsigned int next_address;
	uint32_t attempt;
	char reason
		/* why the first reached address failed, or "" */
		[UPGRADE_REASON_BYTES];
	struct bus_heartbeat heartbeat;
	char key[UPGRADE_KEY_TEXT_BYTES]; /* the key of the upgrade */
	struct buffer head;               /* the response to it, as far as it has come */
	struct intake_rules rules;
	struct intake intake;
	struct frame_queue lanes[N_LANES];
	size_t queued[N_LANES][BUS_SHARES]; /* bytes of each share in each lane */
	unsigned int first_turns;           /* the first lane had them in a row */
	size_t later_written;               /* bytes of the later lane since its last mark */
	enum client_mark mark;
	bool has_marked; /* the server has answered one on this connection */
	struct loop_timer mark_wait;
	struct loop_timer away;    /* armed while messages wait for a lost bus */
	uint64_t reported_dropped; /* the logged part of counters.frames_dropped */
};

/* ── the lanes ───────────────────────────────────────────────────────────────────────────────── */

static size_t waiting_bytes(const struct bus_client *client)
{
	return client->lanes[LANE_FIRST].bytes + client->lanes[LANE_LATER].bytes;
}

static bool is_any_waiting(const struct bus_client *client)
{
	return client->lanes[LANE_FIRST].count > 0 || client->lanes[LANE_LATER].count > 0;
}

/* Return whether the later lane waits for a pong. A begun frame is written on. */
static bool is_later_held(const struct bus_client *client)
{
	return (client->mark == MARK_DUE || client->mark == MARK_AWAITED) &&
	       client->lanes[LANE_LATER].written == 0;
}

/* Return whether a frame may be written now. */
static bool is_any_due(const struct bus_client *client)
{
	return client->lanes[LANE_FIRST].count > 0 ||
	       (client->lanes[LANE_LATER].count > 0 && !is_later_held(client));
}

static uint32_t clear_lanes(struct bus_client *client)
{
	return frame_queue_clear(&client->lanes[LANE_FIRST]) +
	       frame_queue_clear(&client->lanes[LANE_LATER]);
}

/* Queue @frame. Return 0, -ENOMEM, or -ENOBUFS when there is no room, or its share would have more
 * than half of what the others leave. A share may have one frame in any case, and an empty queue
 * takes a frame of any size. */
static int push_frame(struct bus_client *client, struct frame *frame)
{
	size_t most = client->bus.limits.output_queue_bytes;
	size_t waiting = waiting_bytes(client);
	size_t later = client->queued[LANE_LATER][frame->share];
	size_t used = later + client->queued[LANE_FIRST][frame->share];
	size_t size = frame->size + FRAME_OVERHEAD_BYTES;
	bool is_first = later == 0 && used + size <= LANE_FIRST_BYTES;

	if (waiting > 0 && (size > most || waiting > most - size))
		return -ENOBUFS;
	if (frame->share != BUS_SHARE_OWN && used > 0 &&
		used + size > (most - (waiting - used)) / 2)
		return -ENOBUFS;
	return frame_queue_push(
		&client->lanes[is_first ? LANE_FIRST : LANE_LATER], frame, SIZE_MAX);
}

/* Return whether a frame of the later lane is to be written now. Its share must have nothing in the
 * first. */
static bool is_turn_of_later(const struct bus_client *client)
{
	const struct frame_queue *first = &client->lanes[LANE_FIRST];
	const struct frame *head = frame_queue_head(&client->lanes[LANE_LATER]);

	if (!head || is_later_held(client) || client->queued[LANE_FIRST][head->share] > 0)
		return false;
	return first->count == 0 || client->first_turns >= LANE_FIRST_TURNS;
}

static size_t unwritten_bytes(const struct frame_queue *queue)
{
	return queue->bytes - queue->written;
}

/* Write frames of the later lane, up to the next mark. As write_frames(). */
static int write_later(struct bus_client *client, int frames_max)
{
	struct frame_queue *later = &client->lanes[LANE_LATER];
	size_t before = unwritten_bytes(later);
	size_t left =
		BUS_MARK_BYTES > client->later_written ? BUS_MARK_BYTES - client->later_written : 1;
	int result = frame_queue_write(
		later, frames_max, client->mark == MARK_NONE ? left : FRAME_TURN_BYTES);

	client->later_written += before - unwritten_bytes(later);
	if (client->mark == MARK_NONE && client->later_written >= BUS_MARK_BYTES)
		client->mark = MARK_DUE;
	return result;
}

/* Write frames of one lane. Return how many were completed, or a negative number. */
static int write_frames(struct bus_client *client)
{
	struct frame_queue *first = &client->lanes[LANE_FIRST];
	struct frame_queue *later = &client->lanes[LANE_LATER];

	/* A begun frame has to be completed. */
	if (first->written > 0 || (later->written == 0 && !is_turn_of_later(client))) {
		client->first_turns++;
		return frame_queue_write(first, INT_MAX, FRAME_TURN_BYTES);
	}
	client->first_turns = 0;
	return write_later(client, first->count > 0 ? 1 : INT_MAX);
}

/* ── the connection ──────────────────────────────────────────────────────────────────────────── */

/* Have what is due written at the end of the turn, or when the socket has room again. */
static void want_writing(struct bus_client *client)
{
	if (!link_awaits_room(&client->connection.link))
		loop_task_post(&client->writing);
}

/* Try the other addresses at once (0); back off after the last one. */
static uint64_t next_attempt_ms(struct bus_client *client)
{
	uint32_t chance = 0;

	if (client->next_address < client->addresses.count)
		return 0;
	/* Without a random number the delay is not shortened. */
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = 0;
	return bus_backoff_delay_ms(client->attempt++, chance);
}

static void report_unreachable(struct bus_client *client, const char *reason, uint64_t delay_ms)
{
	char url[BUS_URL_BYTES];

	if (client->bus.handler.unreachable) {
		client->bus.handler.unreachable(client->bus.data, reason);
		return;
	}
	bus_address_format(&client->bus.address, url);
	bus_warn(&client->bus.rates.peers, "cannot reach %s: %s; the next attempt is in %llu ms",
		url, reason, (unsigned long long)delay_ms);
}

static const char closed[] = "the connection was closed";

/* Keep @reason, unless the server has begun to refuse the upgrade: it has a better one. */
static void keep_reason(struct bus_client *client, const char *reason)
{
	size_t head_size;

	if (client->state != CLIENT_CONNECTING || client->head.size == 0 ||
		upgrade_read(client->head.data, client->head.size, true, client->key, &head_size,
			client->reason) != UPGRADE_REFUSED)
		snprintf(client->reason, sizeof(client->reason), "%s", reason);
	bus_address_mask(&client->bus.address, client->reason);
}

/* End the attempt or the connection. */
static void lost(struct bus_client *client, const char *reason)
{
	bool was_up = client->state == CLIENT_UP;
	uint64_t delay_ms;

	if (client->state == CLIENT_WAITING)
		return;
	/* A refusal by another address of the same name is no help to the reader of the log. */
	if (client->connection.link.state > LINK_CONNECTING && !*client->reason)
		keep_reason(client, reason);
	link_close(&client->connection.link);
	loop_timer_disarm(&client->mark_wait);
	loop_task_cancel(&client->writing);
	bus_lookup_cancel(take_ptr(client->lookup));
	intake_reset(&client->intake, &client->rules);
	buffer_deinit(&client->head);
	for (size_t i = 0; i < N_LANES; i++)
		client->bus.counters.frames_dropped += frame_queue_restart(&client->lanes[i]);
	client->bus.is_up = false;
	if (was_up) {
		client->bus.is_kept = true;
		loop_timer_arm(&client->away, BUS_AWAY_MS);
	}
	client->state = CLIENT_WAITING;
	delay_ms = next_attempt_ms(client);
	loop_timer_arm(&client->timer, delay_ms);
	if (!was_up && delay_ms > 0)
		report_unreachable(client, *client->reason ? client->reason : reason, delay_ms);
	if (was_up && client->bus.handler.down)
		client->bus.handler.down(client->bus.data, reason);
}

/* A server may have several names. The default port is left out (RFC 6455 §4.1). */
static void format_host_header(const struct bus_address *address, char *ret_host)
{
	bool is_bracketed = strchr(address->host, ':') != NULL;
	unsigned int default_port = address->is_tls ? 443 : 80;
	int length = snprintf(ret_host, HOST_HEADER_BYTES, "%s%s%s", is_bracketed ? "[" : "",
		address->host, is_bracketed ? "]" : "");

	if (address->port != default_port)
		snprintf(ret_host + length, HOST_HEADER_BYTES - (size_t)length, ":%u",
			address->port);
}

static void on_link(void *data, uint32_t events);

static void connect_next(struct bus_client *client)
{
	const char *address = client->addresses.texts[client->next_address++];
	int r;

	client->state = CLIENT_CONNECTING;
	loop_timer_arm(&client->timer, BUS_CONNECT_WAIT_MS);
	r = link_open(&client->connection.link, client->bus.loop, address, client->bus.address.port,
		on_link, client);
	if (r < 0)
		lost(client, strerror(-r));
	else
		connection_begin(&client->connection);
}

static void on_lookup(void *data, const struct bus_addresses *addresses, const char *reason)
{
	struct bus_client *client = data;

	client->lookup = NULL;
	if (!addresses) {
		lost(client, reason);
		return;
	}
	client->addresses = *addresses;
	connect_next(client);
}

/* Load TLS with the first attempt that needs it. Return false without it: the attempt is over. */
static bool prepare_tls(struct bus_client *client)
{
	char reason[TLS_REASON_BYTES];

	if (!client->bus.address.is_tls || client->tls)
		return true;
	client->tls = tls_client_new(reason);
	if (!client->tls)
		lost(client, reason);
	return client->tls != NULL;
}

static void resolve(struct bus_client *client)
{
	int r;

	client->next_address = 0;
	*client->reason = '\0';
	client->state = CLIENT_RESOLVING;
	if (!prepare_tls(client))
		return;
	if (bus_resolve_at_once(client->bus.address.host, &client->addresses)) {
		connect_next(client);
		return;
	}
	loop_timer_arm(&client->timer, BUS_CONNECT_WAIT_MS);
	r = bus_lookup_begin(
		client->bus.loop, client->bus.address.host, on_lookup, client, &client->lookup);
	if (r)
		lost(client, strerror(-r));
}

static void beat(struct bus_client *client)
{
	uint64_t wait_ms;

	switch (bus_heartbeat_step(&client->heartbeat, clock_now_ms(), &wait_ms)) {
	case BUS_HEARTBEAT_HANG_UP:
		lost(client, "it did not answer a ping");
		return;
	case BUS_HEARTBEAT_PING:
		client->connection.is_ping_due = true;
		want_writing(client);
		break;
	case BUS_HEARTBEAT_WAIT:
		break;
	}
	loop_timer_arm(&client->timer, wait_ms);
}

static void on_client_timer(void *data)
{
	struct bus_client *client = data;

	switch (client->state) {
	case CLIENT_WAITING:
		if (client->next_address < client->addresses.count)
			connect_next(client);
		else
			resolve(client);
		break;
	case CLIENT_RESOLVING:
		lost(client, "the name service does not answer");
		break;
	case CLIENT_CONNECTING:
		lost(client, "no answer");
		break;
	case CLIENT_UP:
		beat(client);
		break;
	}
}

/* By then few requesters would still wait for the answers. */
static void on_away_for_long(void *data)
{
	struct bus_client *client = data;
	uint32_t dropped = clear_lanes(client);

	client->bus.is_kept = false;
	client->bus.counters.frames_dropped += dropped;
	client->reported_dropped += dropped;
	if (dropped > 0)
		bus_warn(&client->bus.rates.peers, "it is still away: %u message%s dropped",
			dropped, dropped == 1 ? " is" : "s are");
}

static void opened(struct bus_client *client)
{
	uint64_t now_ms = clock_now_ms();

	bus_socket_setup(client->connection.link.fd);
	client->state = CLIENT_UP;
	client->attempt = 0;
	client->next_address = client->addresses.count;
	client->has_marked = false;
	client->later_written = 0;
	client->mark = MARK_NONE;
	bus_heartbeat_begin(&client->heartbeat, now_ms);
	loop_timer_arm(&client->timer, BUS_PING_INTERVAL_MS);
	client->bus.counters.connects++;
	client->bus.is_up = true;
	client->bus.is_kept = false;
	loop_timer_disarm(&client->away);
	if (is_any_waiting(client))
		want_writing(client);
	if (client->bus.handler.up)
		client->bus.handler.up(client->bus.data);
}

/* Let the later lane go on. */
static void pass_mark(struct bus_client *client, enum client_mark mark)
{
	client->mark = mark;
	client->later_written = 0;
	loop_timer_disarm(&client->mark_wait);
	if (is_any_waiting(client))
		want_writing(client);
}

/* The server takes long. Without an answer so far it may never answer, though it has to (RFC 6455
 * §5.5.3). */
static void on_mark_wait(void *data)
{
	struct bus_client *client = data;

	pass_mark(client, client->has_marked ? MARK_NONE : MARK_OFF);
}

static void take_piece(struct bus_client *client, const struct websocket_piece *piece)
{
	enum intake_result result;
	const char *text;
	size_t text_size;

	if (piece->is_last)
		client->bus.counters.frames_received++;
	if (!piece->is_text) {
		if (piece->is_last)
			bus_warn_binary(&client->bus);
		return;
	}
	result = intake_take(&client->intake, &client->rules, piece->bytes, piece->size,
		piece->is_last, &text, &text_size);
	if (result == INTAKE_WHOLE) {
		client->bus.handler.frame(client->bus.data, text, text_size);
		intake_reset(&client->intake, &client->rules);
	} else {
		bus_warn_refused(&client->bus, result);
	}
}

/* A pong ends the wait for a mark, if it has its payload. */
static void take_pong(struct bus_client *client)
{
	const struct websocket_reader *reader = &client->connection.reader;

	if (client->mark != MARK_AWAITED || reader->control_size != sizeof(mark_payload) ||
		memcmp(reader->control, mark_payload, sizeof(mark_payload)) != 0)
		return;
	client->has_marked = true;
	pass_mark(client, MARK_NONE);
}

/* Read frames. Return whether the connection goes on. */
static bool read_frames(struct bus_client *client, char *bytes, size_t size)
{
	struct websocket_piece piece = {0};
	size_t used = 0;

	while (used < size) {
		switch (connection_take(&client->connection, bytes, size, &used, &piece)) {
		case CONNECTION_E_MORE:
			break;
		case CONNECTION_E_PIECE:
			take_piece(client, &piece);
			break;
		case CONNECTION_E_PONG:
			take_pong(client);
			break;
		case CONNECTION_E_CLOSED:
			lost(client, closed);
			return false;
		case CONNECTION_E_BROKEN:
			lost(client, "it sent a frame that a server must not send");
			return false;
		}
	}
	if (connection_is_due(&client->connection))
		want_writing(client);
	return true;
}

/* Read on in the response to the upgrade. Frames may follow it at once. Return whether the
 * connection goes on. */
static bool read_head(struct bus_client *client, char *bytes, size_t size)
{
	cleanup(buffer_deinit) struct buffer head = {0};
	char reason[UPGRADE_REASON_BYTES];
	enum upgrade_status status;
	size_t head_size;

	buffer_append(&client->head, bytes, size);
	if (buffer_status(&client->head) < 0) {
		lost(client, strerror(ENOMEM));
		return false;
	}
	status = upgrade_read(
		client->head.data, client->head.size, false, client->key, &head_size, reason);
	if (status == UPGRADE_MORE)
		return true;
	if (status == UPGRADE_REFUSED) {
		lost(client, reason);
		return false;
	}
	head = client->head;
	client->head = (struct buffer){0};
	opened(client);
	return read_frames(client, head.data + head_size, head.size - head_size);
}

/* Take bytes of the server. Return whether the connection goes on. */
static bool received(struct bus_client *client, char *bytes, size_t size)
{
	if (client->state == CLIENT_CONNECTING)
		return read_head(client, bytes, size);
	bus_heartbeat_receive(&client->heartbeat);
	return read_frames(client, bytes, size);
}

static int write_mark(struct bus_client *client)
{
	client->mark = MARK_AWAITED;
	loop_timer_arm(&client->mark_wait, BUS_MARK_MS);
	return connection_write(
		&client->connection, WEBSOCKET_PING, mark_payload, sizeof(mark_payload));
}

/* Watch for bytes, and for room. A read that does not fill its room has taken all bytes, so only
 * new bytes are reported (EPOLLET): the kernel need not look again before it waits. With TLS, a
 * read takes one record and may leave others; and a write may end before the room does. */
static void watch(struct bus_client *client, bool is_writing)
{
	static const uint32_t new_bytes = EPOLLIN | EPOLLRDHUP | EPOLLET;
	struct link *link = &client->connection.link;

	link_watch(link, is_writing ? EPOLLIN | EPOLLOUT : link->tls ? EPOLLIN : new_bytes);
}

/* Ask for the upgrade. Return 0, or a negative errno when the connection is lost. */
static int ask_for_upgrade(struct bus_client *client)
{
	cleanup(buffer_deinit) struct buffer request = {0};
	unsigned char key[UPGRADE_KEY_BYTES];
	char host[HOST_HEADER_BYTES];

	frame_draw(key, sizeof(key));
	upgrade_encode_key(key, client->key);
	format_host_header(&client->bus.address, host);
	upgrade_ask(
		client->bus.address.path, host, client->key, client->bus.address.token, &request);
	if (buffer_status(&request) < 0)
		return buffer_status(&request);
	return link_write(&client->connection.link, request.data, request.size);
}

/* The queue is empty: log the number of messages dropped meanwhile. */
static void report_dropped(struct bus_client *client)
{
	uint64_t dropped = client->bus.counters.frames_dropped - client->reported_dropped;

	if (dropped == 0)
		return;
	client->reported_dropped += dropped;
	bus_warn(&client->bus.rates.peers, "it takes messages again; %llu were dropped meanwhile",
		(unsigned long long)dropped);
}

/* Write what is due next: a mark, or frames. Return how many frames were completed, or a negative
 * number. */
static int write_next(struct bus_client *client)
{
	if (client->mark == MARK_DUE)
		return write_mark(client);
	return is_any_due(client) ? write_frames(client) : 0;
}

/* Write what is due, as far as the socket takes it. */
static void write_on(struct bus_client *client)
{
	struct connection *connection = &client->connection;
	int result = connection_flush(connection);
	bool is_more;

	if (result == 0 && client->state == CLIENT_UP && link_is_clear(&connection->link))
		result = write_next(client);
	if (result < 0) {
		lost(client, closed);
		return;
	}
	client->bus.counters.frames_sent += (uint64_t)result;
	is_more = !link_is_clear(&connection->link) || connection_is_due(connection) ||
		  client->mark == MARK_DUE || is_any_due(client);
	watch(client, is_more);
	if (!is_more && !is_any_waiting(client))
		report_dropped(client);
}

static void on_writing_due(void *data)
{
	write_on(data);
}

/* ── events ──────────────────────────────────────────────────────────────────────────────────── */

/* Go on with the attempt, up to the request for the upgrade. */
static void advance(struct bus_client *client)
{
	char reason[TLS_REASON_BYTES];
	int r;

	check(client->tls || !client->bus.address.is_tls);
	r = link_advance(&client->connection.link, client->tls, client->bus.address.host, reason);

	if (r == 0 && client->connection.link.state == LINK_READY) {
		r = ask_for_upgrade(client);
		snprintf(reason, sizeof(reason), "%s", strerror(-r));
		watch(client, !link_is_clear(&client->connection.link));
	}
	if (r < 0)
		lost(client, reason);
}

/* Read on after @events, while reads fill their room. An end that came with the last bytes is for
 * another read. Return whether the connection goes on. */
static bool read_on(struct bus_client *client, uint32_t events)
{
	char bytes[CONNECTION_READ_BYTES];
	ssize_t size = sizeof(bytes);

	for (int i = 0; i < READS_MAX && size == sizeof(bytes); i++) {
		size = link_read(&client->connection.link, bytes, sizeof(bytes));
		if (size == 0 || (size < 0 && size != -EAGAIN)) {
			lost(client, size == -EPROTO ? "it broke TLS" : closed);
			return false;
		}
		if (size > 0 && !received(client, bytes, (size_t)size))
			return false;
	}
	if (size == sizeof(bytes) || (events & ~(uint32_t)(EPOLLIN | EPOLLOUT)))
		link_watch_again(&client->connection.link);
	return true;
}

static void on_link(void *data, uint32_t events)
{
	struct bus_client *client = data;

	if (client->connection.link.state != LINK_READY) {
		advance(client);
		return;
	}
	if ((events & ~(uint32_t)EPOLLOUT) && !read_on(client, events))
		return;
	if (events & EPOLLOUT)
		write_on(client);
}

/* ── the endpoint ────────────────────────────────────────────────────────────────────────────── */

/* Close the connection by the handshake (RFC 6455 §7.1.2), and read until the server has closed it.
 * When a client is gone without it, ovos-messagebus disconnects whoever sends next. */
static void leave(struct bus_client *client)
{
	if (client->state == CLIENT_UP && connection_close(&client->connection, CONNECTION_LEAVES))
		link_await_end(&client->connection.link, BUS_LEAVE_MS);
}

static void client_free(struct bus *bus)
{
	struct bus_client *client = container_of(bus, struct bus_client, bus);

	leave(client);
	link_close(&client->connection.link);
	loop_task_cancel(&client->writing);
	bus_lookup_cancel(client->lookup);
	loop_timer_deinit(&client->timer);
	loop_timer_deinit(&client->away);
	loop_timer_deinit(&client->mark_wait);
	intake_reset(&client->intake, &client->rules);
	buffer_deinit(&client->head);
	clear_lanes(client);
	tls_client_free(client->tls);
	free(client);
}

static int client_queue(struct bus *bus, struct frame *frame)
{
	struct bus_client *client = container_of(bus, struct bus_client, bus);
	int r = push_frame(client, frame);

	if (!r && client->state == CLIENT_UP)
		want_writing(client);
	return r;
}

static size_t client_queued_bytes(const struct bus *bus)
{
	return waiting_bytes(container_of(bus, struct bus_client, bus));
}

static const struct bus_operations client_operations = {
	.free = client_free,
	.queue = client_queue,
	.queued_bytes = client_queued_bytes,
	.has_shares = true,
};

static int begin_client(struct bus_client *client)
{
	int r = loop_timer_init(&client->timer, client->bus.loop, on_client_timer, client);

	if (r == 0)
		r = loop_timer_init(&client->away, client->bus.loop, on_away_for_long, client);
	if (r == 0)
		r = loop_timer_init(&client->mark_wait, client->bus.loop, on_mark_wait, client);
	if (r)
		return r;
	loop_timer_arm(&client->timer, 0);
	return 0;
}

int bus_connect(struct loop *loop, const struct bus_address *address,
	const struct bus_limits *limits, const struct bus_handler *handler, void *data,
	struct bus **ret_bus)
{
	struct bus_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return -ENOMEM;
	bus_init(&client->bus, &client_operations, loop, address, limits, handler, data);
	loop_task_init(&client->writing, loop, on_writing_due, client);
	for (size_t i = 0; i < N_LANES; i++) {
		client->lanes[i].shares = client->queued[i];
		client->lanes[i].link = &client->connection.link;
	}
	client->rules = (struct intake_rules){
		.wants = handler->wants,
		.data = data,
		.frame_bytes = limits->frame_bytes,
		.gather_bytes = limits->frame_bytes,
	};
	r = begin_client(client);
	if (r) {
		bus_free(&client->bus);
		return r;
	}
	*ret_bus = &client->bus;
	return 0;
}
