/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libwebsockets.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "bus/bus.h"
#include "bus/frame.h"
#include "bus/client_upgrade.h"
#include "bus/intake.h"
#include "bus/pacing.h"
#include "bus/resolve.h"
#include "bus/endpoint.h"
#include "bus/websocket.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/log.h"

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
 * What waits for the bus takes one of two lanes. So responses to one source, however many and large, do not keep
 * those to others waiting, and the order of each share (bus_send) is kept:
 *
 *   share has little waiting ──▶ FIRST ──▶ socket
 *   it has much, or more of it ─▶ LATER ──▶ one frame between turns of FIRST
 *   is in LATER
 *
 * What was queued when the connection was lost, and what is sent in the BUS_AWAY_MS after it, waits for
 * the next one. A frame of which a part was written is given up.
 *
 * One timer serves all states: it ends a pause, is the watchdog of an attempt, and the heartbeat of
 * a connection. Every attempt starts from it, never from a callback of libwebsockets.
 *
 * libwebsockets connects and moves bytes; the websocket in them is ours (bus/websocket.h). By TLS, which 4.1.6 does not
 * have for bytes alone, the websocket is its own, and reading takes longer.
 *
 * A connection of libwebsockets belongs to this endpoint while it is `client->wsi`. A connection
 * that is given up is disowned at once and closed later, from the loop; its later callbacks are
 * ignored.
 */

/* The bytes of a share that take the first lane, and the turns of that lane before it is the other's turn. */
#define LANE_FIRST_BYTES (64u << 10)
#define LANE_FIRST_TURNS 8

/* Bytes of a frame that libwebsockets hands over at once. */
#define TLS_RX_BYTES (64u << 10)

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

struct bus_client {
	struct bus bus;
	enum client_state state;
	struct loop_timer timer;
	struct lws_vhost *vhost;
	struct lws *wsi;
	struct bus_lookup *lookup;
	struct bus_addresses addresses;
	unsigned int next_address;
	uint32_t attempt;
	struct bus_heartbeat heartbeat;
	char key[CLIENT_UPGRADE_KEY_TEXT_BYTES]; /* the key of the upgrade */
	bool is_asked;                           /* the request for the upgrade was sent */
	struct buffer head;                      /* the response to it, as far as it has come */
	struct websocket_reader reader;
	struct outlet outlet;
	bool is_ping_due;
	bool is_pong_due;
	struct buffer ping; /* the payload of the ping that is answered */
	struct intake_rules rules;
	struct intake intake;
	struct frame_queue lanes[N_LANES];
	size_t queued[N_LANES][BUS_SHARES]; /* bytes of each share in each lane */
	unsigned int first_turns;           /* the first lane had them in a row */
	struct loop_timer away;             /* armed while messages wait for a bus that was lost */
	uint64_t reported_dropped; /* the part of counters.frames_dropped that was logged */
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

static uint32_t clear_lanes(struct bus_client *client)
{
	return frame_queue_clear(&client->lanes[LANE_FIRST]) +
	       frame_queue_clear(&client->lanes[LANE_LATER]);
}

/* Queue @frame. Return 0, -ENOMEM, or -ENOBUFS when there is no room, or its share would have more than half of
 * what the others leave; a share may have one frame in any case. */
static int push_frame(struct bus_client *client, struct frame *frame)
{
	size_t most = client->bus.limits.output_queue_bytes;
	size_t waiting = waiting_bytes(client);
	size_t later = client->queued[LANE_LATER][frame->share];
	size_t used = later + client->queued[LANE_FIRST][frame->share];
	size_t size = frame->size + FRAME_OVERHEAD_BYTES;
	bool is_first = later == 0 && used + size <= LANE_FIRST_BYTES;

	if (size > most || waiting > most - size)
		return -ENOBUFS;
	if (frame->share != BUS_SHARE_OWN && used > 0 &&
		used + size > (most - (waiting - used)) / 2)
		return -ENOBUFS;
	return frame_queue_push(
		&client->lanes[is_first ? LANE_FIRST : LANE_LATER], frame, SIZE_MAX);
}

/* Return whether a frame of the later lane is to be written now. Its share must have nothing in the first. */
static bool is_turn_of_later(const struct bus_client *client)
{
	const struct frame_queue *first = &client->lanes[LANE_FIRST];
	const struct frame *head = frame_queue_head(&client->lanes[LANE_LATER]);

	if (!head || client->queued[LANE_FIRST][head->share] > 0)
		return false;
	return first->count == 0 || client->first_turns >= LANE_FIRST_TURNS;
}

/* Write frames of one lane. Return how many were completed, or a negative number. */
static int write_frames(struct bus_client *client)
{
	struct frame_queue *first = &client->lanes[LANE_FIRST];
	struct frame_queue *later = &client->lanes[LANE_LATER];

	/* A frame that was begun has to be completed. */
	if (first->written > 0 || (later->written == 0 && !is_turn_of_later(client))) {
		client->first_turns++;
		return frame_queue_write(first, client->wsi, INT_MAX);
	}
	client->first_turns = 0;
	return frame_queue_write(later, client->wsi, first->count > 0 ? 1 : INT_MAX);
}

/* ── the connection ──────────────────────────────────────────────────────────────────────────── */

static void disown(struct bus_client *client)
{
	struct lws *wsi = take_ptr(client->wsi);

	if (!wsi)
		return;
	lws_set_opaque_user_data(wsi, NULL);
	lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_ASYNC);
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

/* End the attempt or the connection; the caller has disowned it. */
static void lost(struct bus_client *client, const char *reason)
{
	bool was_up = client->state == CLIENT_UP;
	uint64_t delay_ms;

	if (client->state == CLIENT_WAITING)
		return;
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
		report_unreachable(client, reason, delay_ms);
	if (was_up && client->bus.handler.down)
		client->bus.handler.down(client->bus.data, reason);
}

static void give_up(struct bus_client *client, const char *reason)
{
	disown(client);
	lost(client, reason);
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

static void connect_next(struct bus_client *client)
{
	const struct bus_address *address = &client->bus.address;
	char host[HOST_HEADER_BYTES];
	struct lws_client_connect_info info = {
		.context = loop_lws(client->bus.loop),
		.vhost = client->vhost,
		.address = client->addresses.texts[client->next_address++],
		.port = address->port,
		.path = address->path,
		.host = host,
		.ssl_connection = address->is_tls ? LCCSCF_USE_SSL : 0,
		.alpn = "http/1.1",
		.method = address->is_tls ? NULL : "RAW",
		.local_protocol_name = "bus-client",
		.opaque_user_data = client,
		.pwsi = &client->wsi,
		.ietf_version_or_minus_one = -1,
	};

	format_host_header(address, host);
	client->is_asked = false;
	client->reader = (struct websocket_reader){0};
	client->state = CLIENT_CONNECTING;
	loop_timer_arm(&client->timer, BUS_CONNECT_WAIT_MS);
	if (lws_client_connect_via_info(&info))
		return;
	client->wsi = NULL;
	lost(client, "the connection could not be started");
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

static void resolve(struct bus_client *client)
{
	int r;

	client->next_address = 0;
	client->state = CLIENT_RESOLVING;
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
		give_up(client, "it did not answer a ping");
		return;
	case BUS_HEARTBEAT_PING:
		client->is_ping_due = true;
		lws_callback_on_writable(client->wsi);
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
		give_up(client, "no answer");
		break;
	case CLIENT_UP:
		beat(client);
		break;
	}
}

/* Few of those that were asked for would still be waited for. */
static void on_away_for_long(void *data)
{
	struct bus_client *client = data;
	uint32_t dropped = clear_lanes(client);

	client->bus.is_kept = false;
	client->bus.counters.frames_dropped += dropped;
	client->reported_dropped += dropped;
	if (dropped > 0)
		bus_warn(&client->bus.rates.peers, "it is still away: %u messages are dropped",
			dropped);
}

static void opened(struct bus_client *client)
{
	uint64_t now_ms = clock_now_ms();

	bus_socket_setup(lws_get_socket_fd(client->wsi));
	client->state = CLIENT_UP;
	client->attempt = 0;
	client->next_address = client->addresses.count;
	client->is_ping_due = client->is_pong_due = false;
	bus_heartbeat_begin(&client->heartbeat, now_ms);
	loop_timer_arm(&client->timer, BUS_PING_INTERVAL_MS);
	client->bus.counters.connects++;
	client->bus.is_up = true;
	client->bus.is_kept = false;
	loop_timer_disarm(&client->away);
	if (is_any_waiting(client))
		lws_callback_on_writable(client->wsi);
	if (client->bus.handler.up)
		client->bus.handler.up(client->bus.data);
}

/* The kernel clears this option after a while, so every read sets it again. Without it, a bus with
 * Nagle's algorithm holds its next frame until our delayed ACK: 40 ms a call. */
static void acknowledge_at_once(struct lws *wsi)
{
	static const int on = 1;

	setsockopt(lws_get_socket_fd(wsi), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

static void take_piece(struct bus_client *client, const struct websocket_piece *piece)
{
	enum intake_result result;
	const char *text;
	size_t text_size;

	if (piece->is_last)
		client->bus.counters.frames_received++;
	if (!piece->is_text)
		return;
	result = intake_take(&client->intake, &client->rules, piece->bytes, piece->size,
		piece->is_last, &text, &text_size);
	if (result == INTAKE_WHOLE) {
		client->bus.handler.frame(client->bus.data, text, text_size);
		intake_reset(&client->intake, &client->rules);
	} else {
		bus_warn_refused(&client->bus, result);
	}
}

/* Write a control frame. Return 0, or a negative errno when the connection is lost. */
static int write_control(
	struct bus_client *client, enum websocket_opcode opcode, const void *payload, size_t size)
{
	unsigned char bytes[WEBSOCKET_HEADER_BYTES + WEBSOCKET_CONTROL_BYTES];
	unsigned char mask[WEBSOCKET_MASK_BYTES];
	size_t n;

	outlet_draw(mask, sizeof(mask));
	n = websocket_write_header(opcode, true, size, mask, bytes);
	if (size > 0)
		memcpy(bytes + n, payload, size);
	websocket_mask((char *)bytes + n, size, mask);
	return outlet_write(&client->outlet, bytes, n + size);
}

/* Take a control frame. Return whether the connection goes on. */
static bool take_control(struct bus_client *client, enum websocket_opcode opcode)
{
	const struct websocket_reader *reader = &client->reader;

	switch (opcode) {
	case WEBSOCKET_PING:
		buffer_reset(&client->ping);
		buffer_append(&client->ping, reader->control, reader->control_size);
		client->is_pong_due = buffer_status(&client->ping) == 0;
		lws_callback_on_writable(client->wsi);
		return true;
	case WEBSOCKET_CLOSE:
		/* The answer is a courtesy: where the socket is full, the server does without. */
		if (outlet_is_clear(&client->outlet))
			write_control(
				client, WEBSOCKET_CLOSE, reader->control, reader->control_size);
		give_up(client, "the connection was closed");
		return false;
	default:
		return true;
	}
}

static void read_frames(struct bus_client *client, const char *bytes, size_t size)
{
	struct websocket_piece piece;
	enum websocket_opcode opcode;
	size_t used = 0;

	while (used < size) {
		switch (websocket_read(&client->reader, bytes, size, &used, &piece, &opcode)) {
		case WEBSOCKET_E_MORE:
			break;
		case WEBSOCKET_E_PIECE:
			take_piece(client, &piece);
			break;
		case WEBSOCKET_E_CONTROL:
			if (!take_control(client, opcode))
				return;
			break;
		case WEBSOCKET_E_BROKEN:
			give_up(client, "it sent a frame that a server must not send");
			return;
		}
	}
}

/* Read on in the response to the upgrade. Frames may follow it at once. */
static void read_head(struct bus_client *client, const char *bytes, size_t size)
{
	cleanup(buffer_deinit) struct buffer head = {0};
	const char *reason;
	size_t head_size;

	buffer_append(&client->head, bytes, size);
	if (buffer_status(&client->head) < 0) {
		give_up(client, strerror(ENOMEM));
		return;
	}
	reason = client_upgrade_read(client->head.data, client->head.size, client->key, &head_size);
	if (reason) {
		give_up(client, reason);
		return;
	}
	if (head_size == 0)
		return;
	head = client->head;
	client->head = (struct buffer){0};
	opened(client);
	read_frames(client, head.data + head_size, head.size - head_size);
}

static void received(struct bus_client *client, const char *bytes, size_t size)
{
	if (client->state == CLIENT_CONNECTING) {
		read_head(client, bytes, size);
		return;
	}
	acknowledge_at_once(client->wsi);
	bus_heartbeat_receive(&client->heartbeat);
	read_frames(client, bytes, size);
}

static int write_ping(struct bus_client *client)
{
	client->is_ping_due = false;
	if (client->bus.address.is_tls)
		return frame_write_ping(client->wsi);
	return write_control(client, WEBSOCKET_PING, NULL, 0);
}

static int write_pong(struct bus_client *client)
{
	client->is_pong_due = false;
	return write_control(client, WEBSOCKET_PONG, client->ping.data, client->ping.size);
}

/* Ask for the upgrade. Return 0, or a negative errno when the connection is lost. */
static int ask_for_upgrade(struct bus_client *client)
{
	cleanup(buffer_deinit) struct buffer request = {0};
	unsigned char key[CLIENT_UPGRADE_KEY_BYTES];
	char host[HOST_HEADER_BYTES];

	if (client->is_asked)
		return 0;
	client->is_asked = true;
	outlet_draw(key, sizeof(key));
	client_upgrade_encode_key(key, client->key);
	format_host_header(&client->bus.address, host);
	client_upgrade_write(
		client->bus.address.path, host, client->key, client->bus.address.token, &request);
	if (buffer_status(&request) < 0)
		return buffer_status(&request);
	return outlet_write(&client->outlet, request.data, request.size);
}

/* The queue is empty: log the number of messages that were dropped meanwhile. */
static void report_dropped(struct bus_client *client)
{
	uint64_t dropped = client->bus.counters.frames_dropped - client->reported_dropped;

	if (dropped == 0)
		return;
	client->reported_dropped += dropped;
	bus_warn(&client->bus.rates.peers, "it takes messages again; %llu were dropped meanwhile",
		(unsigned long long)dropped);
}

/* Write what is due next: an answer to a ping, a ping, or frames. Return how many frames were completed, or a
 * negative number. */
static int write_next(struct bus_client *client)
{
	if (client->is_pong_due)
		return write_pong(client);
	if (client->is_ping_due)
		return write_ping(client);
	return is_any_waiting(client) ? write_frames(client) : 0;
}

static int writable(struct bus_client *client)
{
	int result = outlet_flush(&client->outlet);

	if (result == 0 && client->state == CLIENT_CONNECTING)
		result = ask_for_upgrade(client);
	else if (result == 0 && outlet_is_clear(&client->outlet))
		result = write_next(client);
	if (result < 0)
		return -1;
	client->bus.counters.frames_sent += (uint64_t)result;
	if (!outlet_is_clear(&client->outlet) || client->is_ping_due || client->is_pong_due ||
		is_any_waiting(client))
		lws_callback_on_writable(client->wsi);
	else
		report_dropped(client);
	return 0;
}

static void closed(struct bus_client *client, const char *reason)
{
	lws_set_opaque_user_data(client->wsi, NULL);
	client->wsi = NULL;
	lost(client, reason);
}

/* ── by TLS ──────────────────────────────────────────────────────────────────────────────────── */

/* Write the header with our token to *place, which has @size bytes. */
static int append_token(const struct bus_client *client, unsigned char **place, size_t size)
{
	char value[BUS_TOKEN_BYTES + sizeof("Bearer ")];
	int length = snprintf(value, sizeof(value), "Bearer %s", client->bus.address.token);

	if (!*client->bus.address.token)
		return 0;
	return lws_add_http_header_by_name(client->wsi,
		(const unsigned char *)"authorization:", (const unsigned char *)value, length,
		place, *place + size);
}

static void received_by_tls(struct bus_client *client, const char *bytes, size_t size)
{
	struct websocket_piece piece = {
		.bytes = bytes,
		.size = size,
		.is_last = lws_is_final_fragment(client->wsi) &&
			   lws_remaining_packet_payload(client->wsi) == 0,
		.is_text = !lws_frame_is_binary(client->wsi),
	};

	acknowledge_at_once(client->wsi);
	bus_heartbeat_receive(&client->heartbeat);
	take_piece(client, &piece);
}

/* Handle an event that only a connection by TLS has. Return a negative value to close it. */
static int serve_tls_client(
	struct bus_client *client, enum lws_callback_reasons reason, void *in, size_t size)
{
	switch (reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		return append_token(client, in, size);
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		opened(client);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		received_by_tls(client, in, size);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
		bus_heartbeat_receive(&client->heartbeat);
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return writable(client);
	case LWS_CALLBACK_CLIENT_CLOSED:
	case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
		closed(client, "the connection was closed");
		return 0;
	case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
		/* A redirect could lead to a name, and its lookup would block. */
		return -1;
	default:
		return 0;
	}
}

/* ── events ──────────────────────────────────────────────────────────────────────────────────── */

/* Handle an event of our connection. Return a negative value to close it. */
static int serve_client(
	struct bus_client *client, enum lws_callback_reasons reason, void *in, size_t size)
{
	switch (reason) {
	case LWS_CALLBACK_RAW_CONNECTED:
		/* The watchdog is ours. */
		lws_set_timeout(client->wsi, NO_PENDING_TIMEOUT, 0);
		outlet_begin(&client->outlet, client->wsi);
		lws_callback_on_writable(client->wsi);
		return 0;
	case LWS_CALLBACK_RAW_RX:
		received(client, in, size);
		return 0;
	case LWS_CALLBACK_RAW_WRITEABLE:
		return writable(client);
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		closed(client, in ? in : "the connection failed");
		return 0;
	case LWS_CALLBACK_RAW_CLOSE:
	case LWS_CALLBACK_WSI_DESTROY:
		closed(client, "the connection was closed");
		return 0;
	default:
		return serve_tls_client(client, reason, in, size);
	}
}

static int on_client_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	struct bus_client *client = wsi ? lws_get_opaque_user_data(wsi) : NULL;

	(void)user;
	if (!client || client->wsi != wsi)
		return 0;
	return serve_client(client, reason, in, size);
}

static const struct lws_protocols client_protocols[] = {
	{.name = "bus-client", .callback = on_client_event, .rx_buffer_size = TLS_RX_BYTES},
	{0},
};

/* Use our own heartbeat: that of libwebsockets closes a bus that only sends. */
static const lws_retry_bo_t no_retry = {0};

static struct lws_vhost *create_vhost(struct loop *loop, bool is_tls)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.vhost_name = "bus-client",
		.protocols = client_protocols,
		.options = is_tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
		.http_proxy_address = LOOP_NO_PROXY,
		.retry_and_idle_policy = &no_retry,
	};

	return lws_create_vhost(loop_lws(loop), &info);
}

static void client_free(struct bus *bus)
{
	struct bus_client *client = container_of(bus, struct bus_client, bus);

	disown(client);
	bus_lookup_cancel(client->lookup);
	loop_timer_deinit(&client->timer);
	loop_timer_deinit(&client->away);
	intake_reset(&client->intake, &client->rules);
	buffer_deinit(&client->head);
	buffer_deinit(&client->ping);
	outlet_deinit(&client->outlet);
	clear_lanes(client);
	if (client->vhost)
		lws_vhost_destroy(client->vhost);
	free(client);
}

static int client_queue(struct bus *bus, struct frame *frame)
{
	struct bus_client *client = container_of(bus, struct bus_client, bus);
	int r = push_frame(client, frame);

	if (!r && client->state == CLIENT_UP)
		lws_callback_on_writable(client->wsi);
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
};

static int begin_client(struct bus_client *client)
{
	int r = loop_timer_init(&client->timer, client->bus.loop, on_client_timer, client);

	if (r == 0)
		r = loop_timer_init(&client->away, client->bus.loop, on_away_for_long, client);
	if (r)
		return r;
	client->vhost = create_vhost(client->bus.loop, client->bus.address.is_tls);
	if (!client->vhost)
		return -ENOMEM;
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
	for (size_t i = 0; i < N_LANES; i++) {
		client->lanes[i].shares = client->queued[i];
		if (!address->is_tls)
			client->lanes[i].outlet = &client->outlet;
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
