/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libwebsockets.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/embedded_parts.h"
#include "bus/upgrade.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/debt.h"
#include "util/list.h"
#include "util/text/utf8.h"

/*
 * The embedded bus: every text frame of a client goes to every client, its sender included, then to
 * our own endpoint. A message of the endpoint goes to every client, and to itself.
 *
 *                     ┌──▶ queue ──▶ client A      (its sender receives it, too)
 *   A ──▶ intake ──▶ frame ──▶ queue ──▶ client B  (one copy, counted references)
 *                     └──▶ wants? ──▶ endpoint ──▶ bus_send() ──▶ the queues, after the frame
 *                                       ▲                         │
 *                                       └── from the loop ◀── wants? echo
 *
 * The endpoint sends in the middle of its work, so its own messages come back later, as if over a
 * socket.
 *
 * Like the buses of OVOS it accepts any path and any text, and treats all clients alike. The memory
 * of clients is bounded: an unfinished frame, all unfinished frames together, the unread frames of
 * a client (which is then dropped), and the number of clients.
 *
 * A connection is half-made until its request was read (bus/entry) and granted: no web page
 * (bus/admission), a websocket (bus/upgrade), the token where one is needed, a free place.
 * libwebsockets gets the socket only then.
 */

/* The most clients. */
#define BUS_CLIENTS_MAX 1000

/* The places reserved for peers on this device. */
#define BUS_CLIENTS_NEAR 16

/* The share of limits.peer_bytes for the unfinished frames of all clients; a frame has room in any
 * case. */
#define GATHER_SHARE(peer_bytes_) ((peer_bytes_) / 8 * 3)

/* The share for our own messages on their way back to us. */
#define ECHO_SHARE(peer_bytes_) ((peer_bytes_) / 4)

/* An unfinished frame without a further piece for so long is dropped. */
#define BUS_UNFINISHED_MS 10000

/* The longest time between two looks at the clients. */
#define TICK_MS 2500

/* A client that reads nothing is disconnected after so long when half of limits.peer_bytes is used,
 * or half of one sender's bound: others are to be read on. */
#define BUS_STALL_SHORT_MS 1000

/* The time of a frame of this size is measured. */
#define FRAME_LONG_BYTES (64u << 10)

/* The bytes written to clients in a nanosecond: the kernel copies each at least once. */
#define WRITTEN_PER_NS 4

/* The price of a request beyond a limit of its caller. With its credit, a client has a hundred at
 * once, and a thousand a second. */
#define REFUSED_NS NS_PER_MS

/* Own messages received in one turn of the loop; then comes the clients' turn. */
#define ECHOES_PER_TURN 32

/* An upgrade has no body. */
static const struct http_limits request_limits = {
	.line_bytes = 8192, .header_bytes = 16384, .body_bytes = 0};

/* Bytes read by libwebsockets of a client in one turn of the loop, and passed on at once; allocated
 * per client. */
#define CLIENT_RX_BYTES (4u << 10)

/* The greeting of the Python bus to a new client. */
static const char greeting_text[] = "{\"type\": \"connected\", \"data\": {}, "
				    "\"context\": {\"session\": {\"session_id\": \"default\"}}}";

/* Return the time until a client is disconnected for reading nothing. */
static uint64_t stall_ms(const struct embedded *embedded)
{
	uint64_t ms = embedded->bus.limits.stall_ms;

	return embedded->short_ms && ms > BUS_STALL_SHORT_MS ? BUS_STALL_SHORT_MS : ms;
}

static uint64_t tick_ms(const struct embedded *embedded)
{
	uint64_t quarter_ms = stall_ms(embedded) / 4 + 1;

	return quarter_ms < TICK_MS ? quarter_ms : TICK_MS;
}

static void add_peer(
	struct embedded *embedded, struct peer *peer, struct account *account, struct lws *wsi)
{
	peer->wsi = wsi;
	peer->account = account;
	bus_heartbeat_begin(&peer->heartbeat, clock_now_ms());
	if (list_is_empty(&embedded->peers)) {
		embedded->looked_ms = clock_now_ms();
		loop_timer_arm(&embedded->tick_timer, tick_ms(embedded));
	}
	check(!peer->is_member && !peer->account->is_closed);
	peer->is_member = true;
	list_append(&embedded->peers, &peer->link);
	embedded->bus.counters.clients++;
	embedded->bus.counters.connects++;
}

/* Drop a client. Its connection may live a moment longer, but nothing is queued for it or read from
 * it. */
static void remove_peer(struct embedded *embedded, struct peer *peer)
{
	if (!peer->is_member)
		return;
	/* A walk over the peers goes on from the link after the one removed here. */
	check(!embedded->is_reporting);
	peer->is_member = false;
	list_remove(&peer->link);
	crowd_leave(&peer->member);
	check(embedded->bus.counters.clients > 0);
	embedded->bus.counters.clients--;
	check(embedded->n_paused >= peer->is_paused);
	embedded->n_paused -= peer->is_paused;
	frame_queue_clear(&peer->queue);
	intake_reset(&peer->intake, &embedded->rules);
	embedded->is_reporting = true;
	if (embedded->bus.handler.peer_gone && !embedded->is_closing)
		embedded->bus.handler.peer_gone(embedded->bus.data, peer->account);
	embedded->is_reporting = false;
	account_close(take_ptr(peer->account));
}

static void hang_up_peer(struct embedded *embedded, struct peer *peer)
{
	lws_set_timeout(peer->wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_ASYNC);
	remove_peer(embedded, peer);
}

static void drop_peer(struct embedded *embedded, struct peer *peer, const char *reason)
{
	bus_warn(&embedded->bus.rates.peers, "dropped a client: %s", reason);
	hang_up_peer(embedded, peer);
}

static void queue_for(struct embedded *embedded, struct peer *peer, struct frame *frame)
{
	int r = frame_queue_push(&peer->queue, frame, SIZE_MAX);

	if (r) {
		drop_peer(embedded, peer, strerror(-r));
		return;
	}
	if (peer->queue.count == 1)
		peer->write_ms = peer->pace_ms = embedded->looked_ms;
	loop_task_post(&embedded->writing);
}

/* ── bounds ──────────────────────────────────────────────────────────────────────────────────── */

/*
 * A sender is not read while too much of what it sent, or caused, waits for any client. So a burst
 * costs its sender time, and a client that does not read holds up the busiest senders, until it is
 * disconnected:
 *
 *   nothing was written to it for stall_ms (BUS_STALL_SHORT_MS when room is short), or
 *   less than account_book_pace() was, while more waited
 *
 * Nor is a sender read while it owes for the time of its large frames (util/debt.h), with all work
 * for them, or for requests beyond its limits. Until it has read a frame, the loop can refuse
 * nothing of it.
 */

static void resume_peers(struct embedded *embedded)
{
	uint64_t now_ns;

	if (embedded->n_paused == 0)
		return;
	now_ns = clock_now_ns();
	list_for_each(link, &embedded->peers) {
		struct peer *peer = container_of(link, struct peer, link);

		if (!peer->is_paused || !account_is_eased(peer->account) ||
			debt_wait_ns(&peer->debt, now_ns, DEBT_CREDIT_NS) > 0)
			continue;
		peer->is_paused = false;
		embedded->n_paused--;
		lws_rx_flow_control(peer->wsi, 1);
	}
}

static void pause_peer(struct embedded *embedded, struct peer *peer)
{
	if (peer->is_paused)
		return;
	peer->is_paused = true;
	embedded->n_paused++;
	lws_rx_flow_control(peer->wsi, 0);
}

/* Look after the clients sooner from now on. */
static void note_shortage(struct embedded *embedded)
{
	if (embedded->short_ms)
		return;
	embedded->short_ms = clock_now_ms();
	loop_timer_arm(&embedded->tick_timer, tick_ms(embedded));
}

/* Return whether half of limits.peer_bytes is used, or half of what a sender may let wait. */
static bool is_short(const struct embedded *embedded)
{
	if (account_book_is_short(&embedded->bus.book))
		return true;
	list_for_each(link, &embedded->peers)
		if (!account_is_eased(container_of(link, struct peer, link)->account))
			return true;
	return false;
}

static void pause_if_full(struct embedded *embedded, struct peer *peer)
{
	if (!peer->is_member || account_is_eased(peer->account))
		return;
	note_shortage(embedded);
	if (account_is_full(peer->account))
		pause_peer(embedded, peer);
}

/* Arm the timer for the moment when the first peer has paid. */
static void arm_rest(struct embedded *embedded)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t least_ns = UINT64_MAX;

	list_for_each(link, &embedded->peers) {
		uint64_t ns = debt_wait_ns(
			&container_of(link, struct peer, link)->debt, now_ns, DEBT_CREDIT_NS);

		if (ns > 0 && ns < least_ns)
			least_ns = ns;
	}
	if (least_ns < UINT64_MAX)
		loop_timer_arm(&embedded->rest_timer, least_ns / NS_PER_MS + 1);
}

static void on_rest(void *data)
{
	struct embedded *embedded = data;

	resume_peers(embedded);
	arm_rest(embedded);
}

/* Return the least time for writing to all clients the bytes queued for @account beyond
 * @before_bytes. */
static uint64_t writing_ns(
	const struct embedded *embedded, const struct account *account, size_t before_bytes)
{
	if (account->queued <= before_bytes) /* disconnected clients had more waiting */
		return 0;
	return (account->queued - before_bytes) * embedded->bus.counters.clients / WRITTEN_PER_NS;
}

/* Charge @peer with a frame and its consequences, of @spent_ns of the thread's time; @is_refused:
 * beyond a limit of its sender. */
static void charge_frame(
	struct embedded *embedded, struct peer *peer, uint64_t spent_ns, bool is_refused)
{
	uint64_t now_ns;

	if (!peer->is_member || (!debt_is_due(spent_ns) && !is_refused))
		return;
	now_ns = clock_now_ns();
	debt_charge(&peer->debt, now_ns, spent_ns, TIME_FACTOR_SOURCE);
	if (is_refused)
		debt_charge_plain(&peer->debt, now_ns, REFUSED_NS, 1);
	if (debt_wait_ns(&peer->debt, now_ns, DEBT_CREDIT_NS) == 0)
		return;
	pause_peer(embedded, peer);
	arm_rest(embedded);
}

/* Disconnect the client with the most waiting bytes. Return false when too little waits for each to
 * help. A client for which a single frame waits, however large, reads fast enough. */
static bool drop_fullest(struct embedded *embedded)
{
	struct peer *fullest = NULL;

	list_for_each(link, &embedded->peers) {
		struct peer *peer = container_of(link, struct peer, link);

		if (peer->queue.count > 1 && (!fullest || peer->queue.bytes > fullest->queue.bytes))
			fullest = peer;
	}
	if (!fullest || fullest->queue.bytes <= account_book_mark(&embedded->bus.book))
		return false;
	drop_peer(embedded, fullest, "the clients hold limits.peer_bytes, and it reads least");
	return true;
}

static void broadcast(struct embedded *embedded, struct frame *frame)
{
	const struct account_book *book = &embedded->bus.book;

	list_for_each(link, &embedded->peers)
		queue_for(embedded, container_of(link, struct peer, link), frame);
	while (account_book_used(book) > book->bytes_max && drop_fullest(embedded))
		continue;
	if (account_book_is_short(book))
		note_shortage(embedded);
}

/* Drop larger unfinished frames of others until there is room for @size more bytes of @intake. */
static void make_frame_room(void *data, const struct intake *intake, size_t size)
{
	struct embedded *embedded = data;
	struct intake_rules *rules = &embedded->rules;

	while (size > rules->gather_bytes - rules->gathered) {
		struct intake *largest = NULL;

		list_for_each(link, &embedded->peers) {
			struct intake *other = &container_of(link, struct peer, link)->intake;

			if (other->charged > (largest ? largest->charged : intake->charged + size))
				largest = other;
		}
		if (!largest)
			return;
		intake_abandon(largest, rules);
		bus_warn(&embedded->bus.rates.frames,
			"dropped an unfinished frame: it is the largest, and others have no room");
	}
}

static uint64_t latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Return the reason to disconnect a client for not reading its waiting bytes, or NULL. */
static const char *find_stall(const struct embedded *embedded, struct peer *peer, uint64_t now_ms)
{
	size_t pace = account_book_pace(&embedded->bus.book, embedded->short_ms > 0);
	const char *reason = NULL;

	if (peer->queue.count == 0)
		return NULL;
	/* A noted time may be one look old. */
	if (now_ms - latest(peer->write_ms, embedded->short_ms) >=
		stall_ms(embedded) + tick_ms(embedded))
		return "it does not read what it is sent (embedded.stall_s)";
	if (now_ms - latest(peer->pace_ms, embedded->short_ms) < stall_ms(embedded))
		return NULL;
	if (peer->written < pace && peer->queue.bytes > pace)
		reason = "it reads too slowly what it is sent (embedded.stall_s)";
	peer->pace_ms = now_ms;
	peer->written = 0;
	return reason;
}

/* Ping a client from time to time. Return whether it is alive. */
static bool beat(struct peer *peer, uint64_t now_ms)
{
	uint64_t wait_ms;

	switch (bus_heartbeat_step(&peer->heartbeat, now_ms, &wait_ms)) {
	case BUS_HEARTBEAT_HANG_UP:
		return false;
	case BUS_HEARTBEAT_PING:
		peer->is_ping_due = true;
		lws_callback_on_writable(peer->wsi);
		return true;
	case BUS_HEARTBEAT_WAIT:
		break;
	}
	return true;
}

static void look_after(struct embedded *embedded, struct peer *peer, uint64_t now_ms)
{
	const char *stall = find_stall(embedded, peer, now_ms);

	if (peer->intake.state == INTAKE_GATHERING &&
		now_ms - peer->piece_ms >= BUS_UNFINISHED_MS + tick_ms(embedded)) {
		intake_abandon(&peer->intake, &embedded->rules);
		bus_warn(&embedded->bus.rates.frames,
			"dropped an unfinished frame: nothing more of it came");
	}
	/* An unread client may have answered. */
	if (peer->is_paused)
		bus_heartbeat_receive(&peer->heartbeat);
	if (!stall && !beat(peer, now_ms))
		stall = "it did not answer a ping";
	if (stall)
		drop_peer(embedded, peer, stall);
}

static void on_tick(void *data)
{
	struct embedded *embedded = data;
	uint64_t now_ms = clock_now_ms();

	embedded->looked_ms = now_ms;
	if (!is_short(embedded))
		embedded->short_ms = 0;
	list_for_each(link, &embedded->peers)
		look_after(embedded, container_of(link, struct peer, link), now_ms);
	resume_peers(embedded);
	if (!list_is_empty(&embedded->peers))
		loop_timer_arm(&embedded->tick_timer, tick_ms(embedded));
}

/* ── frames ──────────────────────────────────────────────────────────────────────────────────── */

/* Return whether our own endpoint wants the frame. */
static bool is_wanted(struct embedded *embedded, const struct frame *frame)
{
	const struct bus_handler *handler = &embedded->bus.handler;
	char topic[BUS_TOPIC_BYTES];
	size_t size;

	if (!handler->wants)
		return true;
	if (bus_topic_scan(frame_text(frame), frame->size, topic, &size) == 0)
		return handler->wants(embedded->bus.data, topic, size);
	bus_warn_refused(&embedded->bus, INTAKE_NO_TOPIC);
	return false;
}

static void deliver(struct embedded *embedded, const struct frame *frame)
{
	embedded->bus.handler.frame(embedded->bus.data, frame_text(frame), frame->size);
}

CLEANUP_DEFINE(frame, struct frame *, frame_unref)

/* Broadcast a whole text frame. It need not be JSON, but it must be UTF-8 (RFC 6455 §8.1): many
 * clients hang up on any other frame, and one sender must not be able to cause that. */
static void pass_on(struct embedded *embedded, struct peer *peer, const char *text, size_t size)
{
	cleanup(frame_cleanup) struct frame *frame = NULL;
	/* The peer may be disconnected while its frame is handled. */
	cleanup(account_cleanup) struct account *account = account_ref(peer->account);
	size_t before_bytes = account->queued;
	uint64_t before_refused = account->n_refused;
	bool is_long = size >= FRAME_LONG_BYTES;
	uint64_t start_ns = is_long ? clock_thread_ns() : 0;
	uint64_t spent_ns;

	if (!utf8_is_valid(text, size)) {
		bus_warn(&embedded->bus.rates.frames, "dropped a text frame that is not UTF-8");
		intake_reset(&peer->intake, &embedded->rules);
		return;
	}
	frame = intake_frame(&peer->intake, text, size);
	intake_reset(&peer->intake, &embedded->rules);
	if (!frame) {
		drop_peer(embedded, peer, strerror(ENOMEM));
		return;
	}
	peer->member.heard_ms = embedded->looked_ms;
	frame_charge(frame, account, embedded->bus.counters.clients + 1u);
	broadcast(embedded, frame);
	/* The endpoint is last: its response comes after the frame. */
	if (is_wanted(embedded, frame)) {
		struct account *before = bus_act_for(&embedded->bus, account);

		deliver(embedded, frame);
		bus_act_for(&embedded->bus, before);
	}
	pause_if_full(embedded, peer);
	spent_ns = writing_ns(embedded, account, before_bytes);
	if (is_long)
		spent_ns += clock_thread_ns() - start_ns;
	charge_frame(embedded, peer, spent_ns, account->n_refused > before_refused);
}

static void on_echo(void *data)
{
	struct embedded *embedded = data;

	for (int i = 0; i < ECHOES_PER_TURN && embedded->echo.count > 0; i++) {
		cleanup(frame_cleanup) struct frame *frame = frame_queue_take(&embedded->echo);

		deliver(embedded, frame);
	}
	if (embedded->echo.count > 0)
		loop_timer_arm(&embedded->echo_timer, 0);
}

/* Queue our own message until it is our turn to receive it, as for any client. */
static void echo(struct embedded *embedded, struct frame *frame)
{
	int r;

	if (!is_wanted(embedded, frame))
		return;
	r = frame_queue_push(&embedded->echo, frame, ECHO_SHARE(embedded->bus.limits.peer_bytes));
	if (r)
		bus_warn(&embedded->bus.rates.messages, "our own messages are dropped: %s",
			r == -ENOBUFS ? "too many of them wait" : strerror(-r));
	else if (!loop_timer_is_armed(&embedded->echo_timer))
		loop_timer_arm(&embedded->echo_timer, 0);
}

static void received(struct embedded *embedded, struct peer *peer, const char *piece, size_t size)
{
	bool is_last =
		lws_is_final_fragment(peer->wsi) && lws_remaining_packet_payload(peer->wsi) == 0;
	enum intake_result result;
	const char *text;
	size_t text_size;

	if (!peer->is_member)
		return;
	bus_heartbeat_receive(&peer->heartbeat);
	if (is_last)
		embedded->bus.counters.frames_received++;
	if (lws_frame_is_binary(peer->wsi)) {
		if (is_last)
			bus_warn_binary(&embedded->bus);
		return;
	}
	result = intake_take(
		&peer->intake, &embedded->rules, piece, size, is_last, &text, &text_size);
	if (result == INTAKE_WHOLE)
		pass_on(embedded, peer, text, text_size);
	else if (result == INTAKE_SHORT)
		drop_peer(embedded, peer, strerror(ENOMEM));
	else
		bus_warn_refused(&embedded->bus, result);
	if (peer->intake.state == INTAKE_GATHERING)
		peer->piece_ms = embedded->looked_ms;
}

/* Return 1 when a ping was written instead of a frame, 0 when none was due, or a negative
 * number. */
static int write_ping(struct peer *peer)
{
	if (!peer->is_ping_due || peer->queue.written > 0)
		return 0;
	peer->is_ping_due = false;
	return frame_write_ping(peer->wsi) < 0 ? -1 : 1;
}

/* Write frames, and the others when the socket has room. Return 0, or -1 when the connection is
 * lost. */
static int write_on(struct embedded *embedded, struct peer *peer)
{
	size_t before = peer->queue.bytes - peer->queue.written;
	int result = frame_queue_write(&peer->queue, peer->wsi, INT_MAX, FRAME_TURN_BYTES);

	if (result < 0)
		return -1;
	embedded->bus.counters.frames_sent += (uint64_t)result;
	if (before != peer->queue.bytes - peer->queue.written) {
		peer->written += before - (peer->queue.bytes - peer->queue.written);
		peer->write_ms = embedded->looked_ms;
		resume_peers(embedded);
	}
	peer->awaits_room = peer->queue.count > 0;
	if (peer->awaits_room)
		lws_callback_on_writable(peer->wsi);
	return 0;
}

static int writable(struct embedded *embedded, struct peer *peer)
{
	int result = write_ping(peer);

	if (!peer->is_member || result < 0)
		return result;
	if (result == 0)
		return write_on(embedded, peer);
	if (peer->awaits_room)
		lws_callback_on_writable(peer->wsi);
	return 0;
}

/* The end of the turn: what was queued in it leaves in one write for each client. */
static void on_writing(void *data)
{
	struct embedded *embedded = data;

	list_for_each(link, &embedded->peers) {
		struct peer *peer = container_of(link, struct peer, link);

		if (peer->queue.count == 0 || peer->awaits_room)
			continue;
		if (write_on(embedded, peer) < 0) {
			peer->awaits_room = true;
			lws_set_timeout(peer->wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_ASYNC);
		}
	}
}

static int greet(struct embedded *embedded, struct peer *peer, struct lws *wsi)
{
	struct account *account = embedded->is_closing ? NULL : account_new(&embedded->bus.book);

	if (!account)
		return -1;
	crowd_enter(&embedded->crowd, &peer->member, account, lws_get_socket_fd(wsi));
	bus_socket_setup(lws_get_socket_fd(wsi));
	add_peer(embedded, peer, account, wsi);
	queue_for(embedded, peer, embedded->greeting);
	return 0;
}

/* ── new connections ─────────────────────────────────────────────────────────────────────────── */

/* Return whether there is a place; a client may give way, whose socket closes in the next turn of
 * the loop. */
static bool check_place(struct embedded *embedded, bool is_near, struct http_refusal *ret_refusal)
{
	unsigned int places = BUS_CLIENTS_MAX - (is_near ? 0 : BUS_CLIENTS_NEAR);
	struct crowd_member *least;

	if (embedded->bus.counters.clients < places)
		return true;
	least = embedded->connections < CROWD_MAX ? crowd_find_least(&embedded->crowd) : NULL;
	if (least) {
		drop_peer(embedded, container_of(least, struct peer, member),
			"another client needs its place");
		return true;
	}
	*ret_refusal = (struct http_refusal){503, "", "The bus has too many clients."};
	return false;
}

static bool judge_request(void *data, const struct http_reader *request, bool is_near,
	struct http_refusal *ret_refusal)
{
	return embedded_admits(data, request, ret_refusal) &&
	       check_place(data, is_near, ret_refusal);
}

/* Pass the socket to libwebsockets, with a request written by us and the bytes after the peer's. It
 * upgrades before it returns. */
static void adopt_socket(
	void *data, int fd, const struct http_reader *request, const char *rest, size_t size)
{
	struct embedded *embedded = data;
	cleanup(buffer_deinit) struct buffer bytes = {0};

	upgrade_write(request, embedded->vhost_name, &bytes);
	buffer_append(&bytes, rest, size);
	if (buffer_status(&bytes) < 0)
		close(fd);
	else /* it closes a refused descriptor */
		loop_adopt_socket(embedded->vhost, fd, bytes.data, bytes.size);
}

/* ── the end of connections ──────────────────────────────────────────────────────────────────── */

/* Connections end after the endpoint is freed; the last one frees the struct. */
static void release(struct embedded *embedded)
{
	if (embedded->connections > 0)
		return;
	frame_unref(embedded->greeting);
	admission_deinit(&embedded->admission);
	free(embedded);
}

static void disconnected(struct embedded *embedded)
{
	embedded->connections--;
	if (embedded->is_closing)
		release(embedded);
}

/* Return the bus of a connection. The vhost knows the bus; a closing connection may have lost its
 * vhost. */
static struct embedded *find_embedded(struct lws *wsi)
{
	struct embedded *embedded = lws_get_opaque_user_data(wsi);
	struct lws_vhost *vhost = embedded ? NULL : lws_get_vhost(wsi);

	return vhost ? lws_vhost_user(vhost) : embedded;
}

static void connected(struct embedded *embedded, struct lws *wsi)
{
	lws_set_opaque_user_data(wsi, embedded);
	embedded->connections++;
}

static int on_peer_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	struct embedded *embedded = wsi ? find_embedded(wsi) : NULL;
	struct peer *peer = user;

	if (!embedded)
		return 0;
	switch (reason) {
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
		connected(embedded, wsi);
		return 0;
	case LWS_CALLBACK_ESTABLISHED:
		return greet(embedded, peer, wsi);
	case LWS_CALLBACK_RECEIVE:
		received(embedded, peer, in, size);
		return 0;
	case LWS_CALLBACK_RECEIVE_PONG:
		bus_heartbeat_receive(&peer->heartbeat);
		return 0;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return writable(embedded, peer);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: /* nothing may follow our close frame */
	case LWS_CALLBACK_CLOSED:
		remove_peer(embedded, peer);
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		if (lws_get_opaque_user_data(wsi))
			disconnected(embedded);
		return 0;
	case LWS_CALLBACK_RAW_ADOPT:
	case LWS_CALLBACK_RAW_RX:
	case LWS_CALLBACK_RAW_WRITEABLE:
		return -1;
	default:
		return 0;
	}
}

static const struct lws_protocols embedded_protocols[] = {
	{
		.name = "bus",
		.callback = on_peer_event,
		.per_session_data_size = sizeof(struct peer),
		.rx_buffer_size = CLIENT_RX_BYTES,
		/* Else rx_buffer_size bounds a write: the rest of each larger write would be
		 * copied, and wait for a turn of the loop. */
		.tx_packet_size = FRAME_FRAGMENT_BYTES,
	},
	{0},
};

static void on_connection(void *data, int fd)
{
	struct embedded *embedded = data;

	entries_accept(embedded->entries, fd);
}

static void on_up(void *data)
{
	struct embedded *embedded = data;

	embedded->bus.is_up = true;
	if (embedded->bus.handler.up)
		embedded->bus.handler.up(embedded->bus.data);
}

static void embedded_free(struct bus *bus)
{
	struct embedded *embedded = container_of(bus, struct embedded, bus);

	embedded->is_closing = true;
	listener_free(embedded->listener);
	entries_free(embedded->entries);
	loop_timer_deinit(&embedded->up_timer);
	loop_timer_deinit(&embedded->echo_timer);
	loop_timer_deinit(&embedded->tick_timer);
	loop_timer_deinit(&embedded->rest_timer);
	loop_task_cancel(&embedded->writing);
	frame_queue_clear(&embedded->echo);
	list_for_each(link, &embedded->peers)
		hang_up_peer(embedded, container_of(link, struct peer, link));
	if (embedded->vhost)
		lws_vhost_destroy(embedded->vhost);
	release(embedded);
}

static int embedded_queue(struct bus *bus, struct frame *frame)
{
	struct embedded *embedded = container_of(bus, struct embedded, bus);

	broadcast(embedded, frame);
	echo(embedded, frame);
	return 0;
}

static size_t embedded_queued_bytes(const struct bus *bus)
{
	const struct embedded *embedded = container_of(bus, struct embedded, bus);
	size_t bytes = 0;

	list_for_each(link, &embedded->peers)
		bytes += container_of(link, struct peer, link)->queue.bytes;
	return bytes;
}

/* Whoever connected without a token, or with the one before, has to show the new one. */
static void embedded_set_token(struct bus *bus, const char *token)
{
	struct embedded *embedded = container_of(bus, struct embedded, bus);

	snprintf(bus->address.token, sizeof(bus->address.token), "%s", token);
	if (!*token)
		return;
	list_for_each(link, &embedded->peers)
		drop_peer(embedded, container_of(link, struct peer, link),
			"the token of the embedded bus has changed");
}

static const struct bus_operations embedded_operations = {
	.free = embedded_free,
	.queue = embedded_queue,
	.queued_bytes = embedded_queued_bytes,
	.set_token = embedded_set_token,
};

/* Use our own heartbeat: a timer of libwebsockets 4.1.6 spins until it expires. */
static const lws_retry_bo_t no_retry = {0};

/* libwebsockets finds the vhost by its name again, and a vhost may outlive its bus for some turns
 * of the loop. So successive buses have different names, which live for ever. */
static struct lws_vhost *create_vhost(struct embedded *embedded)
{
	static const char *const names[] = {"bus-0", "bus-1", "bus-2", "bus-3"};
	static unsigned int n_vhosts;
	struct lws_context *context = loop_lws(embedded->bus.loop);
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = embedded_protocols,
		.http_proxy_address = LOOP_NO_PROXY,
		.retry_and_idle_policy = &no_retry,
		.user = embedded,
	};

	if (!context)
		return NULL;
	embedded->vhost_name = names[n_vhosts++ % ARRAY_SIZE(names)];
	info.vhost_name = embedded->vhost_name;
	return lws_create_vhost(context, &info);
}

static struct frame *create_greeting(void)
{
	struct intake intake = {0};

	return intake_frame(&intake, greeting_text, sizeof(greeting_text) - 1);
}

static int begin_embedded(struct embedded *embedded)
{
	static const struct entry_handler handler = {.judge = judge_request, .take = adopt_socket};
	struct loop *loop = embedded->bus.loop;
	int r = entries_new(loop, &request_limits, &handler, embedded, &embedded->entries);

	if (!r)
		r = listener_new(
			loop, &embedded->bus.address, on_connection, embedded, &embedded->listener);
	if (!r)
		r = loop_timer_init(&embedded->up_timer, loop, on_up, embedded);
	if (!r)
		r = loop_timer_init(&embedded->echo_timer, loop, on_echo, embedded);
	if (!r)
		r = loop_timer_init(&embedded->tick_timer, loop, on_tick, embedded);
	if (!r)
		r = loop_timer_init(&embedded->rest_timer, loop, on_rest, embedded);
	if (r)
		return r;
	embedded->greeting = create_greeting();
	embedded->vhost = create_vhost(embedded);
	if (!embedded->greeting || !embedded->vhost)
		return -ENOMEM;
	loop_timer_arm(&embedded->up_timer, 0);
	return 0;
}

int bus_embed(struct loop *loop, const struct bus_address *address, const char *const *origins,
	size_t n_origins, const struct bus_limits *limits, const struct bus_handler *handler,
	void *data, struct bus **ret_bus)
{
	struct embedded *embedded;
	int r;

	if (address->is_tls)
		return -EPROTONOSUPPORT;
	embedded = calloc(1, sizeof(*embedded));
	if (!embedded)
		return -ENOMEM;
	list_init(&embedded->peers);
	crowd_init(&embedded->crowd);
	loop_task_init(&embedded->writing, loop, on_writing, embedded);
	bus_init(&embedded->bus, &embedded_operations, loop, address, limits, handler, data);
	embedded->rules = (struct intake_rules){
		.frame_bytes = limits->frame_bytes,
		.gather_bytes = GATHER_SHARE(limits->peer_bytes),
		.make_room = make_frame_room,
		.data = embedded,
	};
	if (embedded->rules.gather_bytes < limits->frame_bytes)
		embedded->rules.gather_bytes = limits->frame_bytes;
	embedded->bus.book.gathered = &embedded->rules.gathered;
	r = admission_init(&embedded->admission, origins, n_origins, embedded->bus.address.host,
		embedded->bus.address.token);
	if (!r)
		r = begin_embedded(embedded);
	if (r) {
		bus_free(&embedded->bus);
		return r;
	}
	*ret_bus = &embedded->bus;
	return 0;
}
