/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
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
 *
 * Each client is read once in a turn of the loop. When a frame pauses its sender, later frames of
 * the same read are kept, and come first in the turn after the sender is resumed: at most
 * CONNECTION_READ_BYTES for each paused client.
 *
 *   socket ─▶ read ─▶ frame ─▶ frame that pauses │ kept ─▶ resumed ─▶ the next turn ─▶ frame ─▶ …
 *
 * A client may be removed while its frame is handled, or in a walk over the clients. The connection
 * is closed at once. At the end of the turn its memory is freed, and senders held up by it are
 * resumed, as after a write.
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

static void add_peer(struct embedded *embedded, struct peer *peer)
{
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

/* Close the connection of a client. Its memory lives until the end of the turn. */
static void remove_peer(struct embedded *embedded, struct peer *peer)
{
	if (!peer->is_member)
		return;
	/* A walk over the peers goes on from the link after the one removed here. */
	check(!embedded->is_reporting);
	peer->is_member = false;
	list_remove(&peer->link);
	list_append(&embedded->gone, &peer->link);
	list_remove(&peer->resumed);
	loop_task_post(&embedded->settling);
	crowd_leave(&peer->member);
	check(embedded->bus.counters.clients > 0);
	embedded->bus.counters.clients--;
	check(embedded->n_paused >= peer->is_paused);
	embedded->n_paused -= peer->is_paused;
	link_close(&peer->connection.link);
	buffer_deinit(&peer->kept);
	frame_queue_clear(&peer->queue);
	intake_reset(&peer->intake, &embedded->rules);
	embedded->is_reporting = true;
	if (embedded->bus.handler.peer_gone && !embedded->is_closing)
		embedded->bus.handler.peer_gone(embedded->bus.data, peer->account);
	embedded->is_reporting = false;
	account_close(take_ptr(peer->account));
}

static void drop_peer(struct embedded *embedded, struct peer *peer, const char *reason)
{
	bus_warn(&embedded->bus.rates.peers, "dropped a client: %s", reason);
	remove_peer(embedded, peer);
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

/* Watch for bytes to read unless the peer is paused, and if @is_writing for room to write. */
static void watch(struct peer *peer, bool is_writing)
{
	link_watch(&peer->connection.link,
		(peer->is_paused ? 0 : (uint32_t)EPOLLIN) | (is_writing ? (uint32_t)EPOLLOUT : 0));
}

static void set_paused(struct embedded *embedded, struct peer *peer, bool is_paused)
{
	embedded->n_paused = embedded->n_paused - peer->is_paused + is_paused;
	peer->is_paused = is_paused;
	watch(peer, link_awaits_room(&peer->connection.link));
}

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
		set_paused(embedded, peer, false);
		if (peer->kept.size > 0) {
			list_append(&embedded->resumed, &peer->resumed);
			loop_timer_arm(&embedded->kept_timer, 0);
		}
	}
}

/* The end of a turn in which frames were written or received by us, or peers removed. */
static void on_settling(void *data)
{
	struct embedded *embedded = data;
	struct list *link;

	while ((link = list_take_first(&embedded->gone)))
		free(container_of(link, struct peer, link));
	resume_peers(embedded);
}

static void pause_peer(struct embedded *embedded, struct peer *peer)
{
	if (!peer->is_paused)
		set_paused(embedded, peer, true);
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

/* Disconnect the client with the most waiting bytes. Return false when at most @spared_bytes wait
 * for each. A client for which a single frame waits, however large, reads fast enough. */
static bool drop_fullest(struct embedded *embedded, size_t spared_bytes)
{
	struct peer *fullest = NULL;

	list_for_each(link, &embedded->peers) {
		struct peer *peer = container_of(link, struct peer, link);

		if (peer->queue.count > 1 && (!fullest || peer->queue.bytes > fullest->queue.bytes))
			fullest = peer;
	}
	if (!fullest || fullest->queue.bytes <= spared_bytes)
		return false;
	drop_peer(embedded, fullest, "the clients hold limits.peer_bytes, and it reads least");
	return true;
}

/* Drop the largest unfinished frame. Return false when none has more than @spared_bytes. */
static bool drop_unfinished(struct embedded *embedded, size_t spared_bytes)
{
	struct intake *largest = NULL;

	list_for_each(link, &embedded->peers) {
		struct intake *intake = &container_of(link, struct peer, link)->intake;

		if (intake->charged > (largest ? largest->charged : spared_bytes))
			largest = intake;
	}
	if (!largest)
		return false;
	intake_abandon(largest, &embedded->rules);
	bus_warn(&embedded->bus.rates.frames,
		"dropped an unfinished frame: it is the largest, and others have no room");
	return true;
}

/* Drop larger unfinished frames of others until there is room for @size more bytes of @intake. */
static void make_frame_room(void *data, const struct intake *intake, size_t size)
{
	struct embedded *embedded = data;
	struct intake_rules *rules = &embedded->rules;

	while (size > rules->gather_bytes - rules->gathered &&
		drop_unfinished(embedded, intake->charged + size))
		continue;
}

/* Return whether @more bytes would exceed limits.peer_bytes. */
static bool is_beyond(const struct embedded *embedded, size_t more)
{
	const struct account_book *book = &embedded->bus.book;

	return account_book_taken(book) + more > book->bytes_max;
}

/*
 * Make room for @more bytes within limits.peer_bytes: disconnect the clients with the most waiting
 * bytes. Tokens, and @more bytes, stay for a moment only. To make room for them, spare a client
 * with less than a sixteenth of the cap waiting, and drop large unfinished frames. A cap without
 * room for two such frames spares them, too.
 */
static void make_peer_room(struct embedded *embedded, size_t more)
{
	const struct account_book *book = &embedded->bus.book;
	bool may_drop_unfinished = embedded->rules.gather_bytes > embedded->rules.frame_bytes;

	while (account_book_used(book) > book->bytes_max &&
		drop_fullest(embedded, account_book_mark(book)))
		continue;
	while (is_beyond(embedded, more) &&
		(drop_fullest(embedded, account_book_pace(book, false)) ||
			(may_drop_unfinished &&
				drop_unfinished(embedded, account_book_pace(book, true)))))
		continue;
}

/* Queue @frame for all clients. An answer to it may have @more bytes. */
static void broadcast(struct embedded *embedded, struct frame *frame, size_t more)
{
	list_for_each(link, &embedded->peers)
		queue_for(embedded, container_of(link, struct peer, link), frame);
	if (is_beyond(embedded, more))
		make_peer_room(embedded, more);
	if (account_book_is_short(&embedded->bus.book))
		note_shortage(embedded);
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
static bool beat(struct embedded *embedded, struct peer *peer, uint64_t now_ms)
{
	uint64_t wait_ms;

	switch (bus_heartbeat_step(&peer->heartbeat, now_ms, &wait_ms)) {
	case BUS_HEARTBEAT_HANG_UP:
		return false;
	case BUS_HEARTBEAT_PING:
		peer->connection.is_ping_due = true;
		loop_task_post(&embedded->writing);
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
	if (!stall && !beat(embedded, peer, now_ms))
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
	bool is_ours;

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
	is_ours = is_wanted(embedded, frame);
	broadcast(embedded, frame, is_ours ? size : 0);
	/* The endpoint is last: its response comes after the frame. */
	if (is_ours) {
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
	loop_task_post(&embedded->settling);
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

/* Take the next bytes of a frame of a client. */
static void take_piece(
	struct embedded *embedded, struct peer *peer, const struct websocket_piece *piece)
{
	enum intake_result result;
	const char *text;
	size_t text_size;

	if (piece->is_last)
		embedded->bus.counters.frames_received++;
	if (!piece->is_text) {
		if (piece->is_last)
			bus_warn_binary(&embedded->bus);
		return;
	}
	result = intake_take(&peer->intake, &embedded->rules, piece->bytes, piece->size,
		piece->is_last, &text, &text_size);
	if (result == INTAKE_WHOLE)
		pass_on(embedded, peer, text, text_size);
	else if (result == INTAKE_SHORT)
		drop_peer(embedded, peer, strerror(ENOMEM));
	else
		bus_warn_refused(&embedded->bus, result);
	if (peer->intake.state != INTAKE_GATHERING)
		return;
	peer->piece_ms = embedded->looked_ms;
	if (is_beyond(embedded, 0))
		make_peer_room(embedded, 0);
}

/* Read the next event in the received bytes, and handle it. */
static void handle_next(
	struct embedded *embedded, struct peer *peer, char *bytes, size_t size, size_t *used)
{
	struct websocket_piece piece = {0};

	switch (connection_take(&peer->connection, bytes, size, used, &piece)) {
	case CONNECTION_E_MORE:
	case CONNECTION_E_PONG:
		break;
	case CONNECTION_E_PIECE:
		take_piece(embedded, peer, &piece);
		break;
	case CONNECTION_E_CLOSED:
		remove_peer(embedded, peer);
		break;
	case CONNECTION_E_BROKEN:
		drop_peer(embedded, peer, "it sent a frame that a client must not send");
		break;
	}
}

/* Handle the frames in the received bytes, and keep those after a pause. */
static void received(struct embedded *embedded, struct peer *peer, char *bytes, size_t size)
{
	size_t used = 0;

	bus_heartbeat_receive(&peer->heartbeat);
	while (used < size && peer->is_member && !peer->is_paused)
		handle_next(embedded, peer, bytes, size, &used);
	if (!peer->is_member)
		return;
	if (used < size)
		buffer_append(&peer->kept, bytes + used, size - used);
	if (buffer_status(&peer->kept) < 0)
		drop_peer(embedded, peer, strerror(ENOMEM));
	else if (connection_is_due(&peer->connection))
		loop_task_post(&embedded->writing);
}

/* Go on with the kept bytes of peers that are read again. */
static void on_kept(void *data)
{
	struct embedded *embedded = data;
	struct list *link;

	while ((link = list_take_first(&embedded->resumed))) {
		struct peer *peer = container_of(link, struct peer, resumed);
		cleanup(buffer_deinit) struct buffer kept = peer->kept;

		peer->kept = (struct buffer){0};
		received(embedded, peer, kept.data, kept.size);
	}
}

/* Read once. */
static void read_on(struct embedded *embedded, struct peer *peer)
{
	char bytes[CONNECTION_READ_BYTES];
	ssize_t size = link_read(&peer->connection.link, bytes, sizeof(bytes));

	if (size > 0)
		received(embedded, peer, bytes, (size_t)size);
	else if (size != -EAGAIN)
		remove_peer(embedded, peer);
}

/* Write what is due, and the rest when the socket has room. */
static void write_on(struct embedded *embedded, struct peer *peer)
{
	struct link *link = &peer->connection.link;
	size_t before = peer->queue.bytes - peer->queue.written;
	int result = connection_flush(&peer->connection);

	if (result == 0)
		result = frame_queue_write(&peer->queue, INT_MAX, FRAME_TURN_BYTES);
	if (result < 0) {
		remove_peer(embedded, peer);
		return;
	}
	embedded->bus.counters.frames_sent += (uint64_t)result;
	watch(peer, peer->queue.count > 0 || !link_is_clear(link) ||
			    connection_is_due(&peer->connection));
	if (before == peer->queue.bytes - peer->queue.written)
		return;
	peer->written += before - (peer->queue.bytes - peer->queue.written);
	peer->write_ms = embedded->looked_ms;
	loop_task_post(&embedded->settling);
}

/* The end of the turn: what was queued in it leaves in one write for each client. */
static void on_writing(void *data)
{
	struct embedded *embedded = data;

	list_for_each(link, &embedded->peers) {
		struct peer *peer = container_of(link, struct peer, link);

		if ((peer->queue.count > 0 || connection_is_due(&peer->connection)) &&
			!link_awaits_room(&peer->connection.link))
			write_on(embedded, peer);
	}
}

/* An end of the connection is reported for a paused peer, too. Kept bytes are handled before more
 * are read. */
static void on_peer(void *data, uint32_t events)
{
	struct peer *peer = data;

	if (peer->is_paused && (events & (EPOLLHUP | EPOLLERR)))
		remove_peer(peer->embedded, peer);
	else if (!peer->is_paused && peer->kept.size == 0 && (events & ~(uint32_t)EPOLLOUT))
		read_on(peer->embedded, peer);
	if (peer->is_member && (events & EPOLLOUT))
		write_on(peer->embedded, peer);
}

/* ── new connections ─────────────────────────────────────────────────────────────────────────── */

/* Return whether there is a place; a client may give way. */
static bool check_place(struct embedded *embedded, bool is_near, struct http_refusal *ret_refusal)
{
	unsigned int places = BUS_CLIENTS_MAX - (is_near ? 0 : BUS_CLIENTS_NEAR);
	struct crowd_member *least;

	if (embedded->bus.counters.clients < places)
		return true;
	least = crowd_find_least(&embedded->crowd);
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

/* Create a peer that owns the socket @fd. Return NULL, with @fd closed, when that fails. */
static struct peer *create_peer(struct embedded *embedded, int fd)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	struct account *account = peer ? account_new(&embedded->bus.book) : NULL;

	if (!account) {
		close(fd);
	} else if (link_adopt(&peer->connection.link, embedded->bus.loop, fd, on_peer, peer) == 0) {
		peer->embedded = embedded;
		peer->account = account;
		peer->queue.link = &peer->connection.link;
		list_init(&peer->link);
		list_init(&peer->resumed);
		connection_begin(&peer->connection);
		return peer;
	}
	account_unref(account);
	free(peer);
	return NULL;
}

/* Let the client of a granted request join. Its first frames may have come with the request. */
static void adopt_socket(
	void *data, int fd, const struct http_reader *request, const char *rest, size_t size)
{
	struct embedded *embedded = data;
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct peer *peer = create_peer(embedded, fd);
	size_t head_size;

	if (!peer)
		return;
	crowd_enter(&embedded->crowd, &peer->member, peer->account, fd);
	bus_socket_setup(fd);
	add_peer(embedded, peer);
	upgrade_grant(request, &bytes);
	head_size = bytes.size;
	buffer_append(&bytes, rest, size);
	if (buffer_status(&bytes) < 0 ||
		link_write(&peer->connection.link, bytes.data, head_size) < 0) {
		remove_peer(embedded, peer);
		return;
	}
	queue_for(embedded, peer, embedded->greeting);
	if (peer->is_member)
		received(embedded, peer, bytes.data + head_size, size);
}

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
	loop_timer_deinit(&embedded->kept_timer);
	loop_task_cancel(&embedded->writing);
	frame_queue_clear(&embedded->echo);
	list_for_each(link, &embedded->peers)
		remove_peer(embedded, container_of(link, struct peer, link));
	loop_task_cancel(&embedded->settling);
	on_settling(embedded);
	frame_unref(embedded->greeting);
	admission_deinit(&embedded->admission);
	free(embedded);
}

static int embedded_queue(struct bus *bus, struct frame *frame)
{
	struct embedded *embedded = container_of(bus, struct embedded, bus);

	broadcast(embedded, frame, 0);
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

static void embedded_make_room(struct bus *bus)
{
	struct embedded *embedded = container_of(bus, struct embedded, bus);

	if (is_beyond(embedded, 0))
		make_peer_room(embedded, 0);
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
	.make_room = embedded_make_room,
	.set_token = embedded_set_token,
};

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
	if (!r)
		r = loop_timer_init(&embedded->kept_timer, loop, on_kept, embedded);
	if (r)
		return r;
	embedded->greeting = create_greeting();
	if (!embedded->greeting)
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
	list_init(&embedded->gone);
	list_init(&embedded->resumed);
	crowd_init(&embedded->crowd);
	loop_task_init(&embedded->writing, loop, on_writing, embedded);
	loop_task_init(&embedded->settling, loop, on_settling, embedded);
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
