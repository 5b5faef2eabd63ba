/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/admission.h"
#include "bus/bus.h"
#include "bus/entry.h"
#include "bus/envelope.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "bus/listener.h"
#include "bus/upgrade.h"
#include "bus/endpoint.h"
#include "util/cleanup.h"
#include "util/list.h"
#include "util/utf8.h"

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
 * The endpoint sends in the middle of its work, so it receives its own messages later, as if over a
 * socket.
 *
 * Like the buses of OVOS it accepts any path and any text, and treats all clients alike. The memory
 * that clients can take is bounded: an unfinished frame, all unfinished frames together, the unread
 * frames of a client (which is then dropped), and the number of clients.
 *
 * A connection is half-made until its request was read (bus/entry) and granted: no web page
 * (bus/admission), a websocket (bus/upgrade), the token where one is needed, a free place.
 * libwebsockets gets the socket only then.
 */

/* The most clients. */
#define BUS_CLIENTS_MAX 1000

/* The most bytes of unfinished frames of all clients. */
#define BUS_GATHER_BYTES (64u << 20)

/* Own messages that are received in one turn of the loop; then it is the clients' turn. */
#define ECHOES_PER_TURN 32

/* The places that only peers on this device can have. */
#define BUS_CLIENTS_NEAR 16

/* An upgrade has no body. */
static const struct http_limits request_limits = {
	.line_bytes = 8192, .header_bytes = 16384, .body_bytes = 0};

/* Bytes of a frame that libwebsockets hands over at once; allocated per client. */
#define CLIENT_RX_BYTES (16u << 10)

/* The greeting of the Python bus to a new client. */
static const char greeting_text[] = "{\"type\": \"connected\", \"data\": {}, "
				    "\"context\": {\"session\": {\"session_id\": \"default\"}}}";

struct embedded {
	struct bus bus;
	struct lws_vhost *vhost;
	const char *vhost_name;
	struct listener *listener;
	struct entries *entries; /* connections that are not yet peers */
	struct loop_timer up_timer;
	struct loop_timer echo_timer;
	struct frame_queue echo; /* own messages that we want to receive */
	struct frame *greeting;
	struct list peers;        /* struct peer */
	unsigned int connections; /* peers, and sockets that libwebsockets still closes */
	bool is_closing;          /* freed by its owner: handler, listener and timer are gone */
	struct intake_rules rules;
	struct admission admission;
};

/* The memory of a connection that libwebsockets keeps for us, zeroed. */
struct peer {
	struct lws *wsi;
	struct list link; /* in embedded->peers, while the peer is a member */
	bool is_member;
	struct frame_queue queue;
	struct intake intake;
};

static void add_peer(struct embedded *embedded, struct peer *peer, struct lws *wsi)
{
	peer->wsi = wsi;
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
	peer->is_member = false;
	list_remove(&peer->link);
	embedded->bus.counters.clients--;
	frame_queue_clear(&peer->queue);
	intake_reset(&peer->intake, &embedded->rules);
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
	int r = frame_queue_push(&peer->queue, frame, embedded->bus.limits.client_queue_bytes);

	if (!r)
		lws_callback_on_writable(peer->wsi);
	else
		drop_peer(embedded, peer,
			r == -ENOBUFS ? "it does not read what it is sent" : strerror(-r));
}

static void broadcast(struct embedded *embedded, struct frame *frame)
{
	list_for_each(link, &embedded->peers)
		queue_for(embedded, container_of(link, struct peer, link), frame);
}

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

	if (!utf8_is_valid(text, size)) {
		bus_warn(&embedded->bus.rates.frames, "dropped a text frame that is not UTF-8");
		intake_reset(&peer->intake, &embedded->rules);
		return;
	}
	frame = intake_frame(&peer->intake, text, size);
	intake_reset(&peer->intake, &embedded->rules);
	if (!frame) {
		bus_warn_refused(&embedded->bus, INTAKE_CROWDED);
		return;
	}
	broadcast(embedded, frame);
	/* The endpoint is last: its response comes after the frame. */
	if (is_wanted(embedded, frame))
		deliver(embedded, frame);
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
	r = frame_queue_push(&embedded->echo, frame, embedded->bus.limits.client_queue_bytes);
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
	if (is_last)
		embedded->bus.counters.frames_received++;
	if (lws_frame_is_binary(peer->wsi))
		return;
	result = intake_take(
		&peer->intake, &embedded->rules, piece, size, is_last, &text, &text_size);
	if (result == INTAKE_WHOLE)
		pass_on(embedded, peer, text, text_size);
	else
		bus_warn_refused(&embedded->bus, result);
}

static int writable(struct embedded *embedded, struct peer *peer)
{
	int result = frame_queue_write(&peer->queue, peer->wsi);

	if (result < 0)
		return -1;
	embedded->bus.counters.frames_sent += (uint64_t)result;
	if (peer->queue.count > 0)
		lws_callback_on_writable(peer->wsi);
	return 0;
}

static int greet(struct embedded *embedded, struct peer *peer, struct lws *wsi)
{
	if (embedded->is_closing)
		return -1;
	bus_socket_setup(lws_get_socket_fd(wsi));
	add_peer(embedded, peer, wsi);
	queue_for(embedded, peer, embedded->greeting);
	return 0;
}

/* ── new connections ─────────────────────────────────────────────────────────────────────────── */

/* Log a client that is most likely a web page that tries to reach the device that shows it. */
static void log_stranger(struct embedded *embedded, enum admission_result result, const char *host,
	const char *origin)
{
	if (result == ADMISSION_ORIGIN)
		bus_warn(&embedded->bus.rates.peers,
			"refused a client whose Origin is '%s': it is not in embedded.origins",
			origin);
	else
		bus_warn(&embedded->bus.rates.peers,
			"refused a client that used the host '%s': it is not an address, not "
			"localhost, and not '%s' (websocket.host)",
			host, embedded->admission.name);
}

/* Return whether the headers that pages cannot choose are those of a client. */
static bool check_stranger(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal)
{
	unsigned int n_origins;
	const char *origin = http_field(request, "Origin", &n_origins);
	const char *host = http_host(request);
	enum admission_result result = admission_check(&embedded->admission, host, origin);

	if (n_origins > 1)
		result = ADMISSION_ORIGIN;
	if (result == ADMISSION_GRANTED)
		return true;
	log_stranger(embedded, result, host, origin);
	*ret_refusal = (struct http_refusal){403, "",
		result == ADMISSION_ORIGIN
			? "This origin is not allowed (embedded.origins)."
			: "This host is not ours: use an address, localhost, or the configured "
			  "name."};
	return false;
}

static bool check_token(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal)
{
	if (admission_has_token(&embedded->admission, http_target(request),
		    http_field(request, "Authorization", NULL)))
		return true;
	bus_warn(&embedded->bus.rates.peers,
		"refused a client without the token of embedded.token_file");
	*ret_refusal = (struct http_refusal){401, "WWW-Authenticate: Bearer\r\n",
		"The token is missing or wrong (embedded.token_file)."};
	return false;
}

static bool check_place(
	const struct embedded *embedded, bool is_near, struct http_refusal *ret_refusal)
{
	unsigned int places = BUS_CLIENTS_MAX - (is_near ? 0 : BUS_CLIENTS_NEAR);

	if (embedded->connections < places)
		return true;
	*ret_refusal = (struct http_refusal){503, "", "The bus has too many clients."};
	return false;
}

static bool judge_request(void *data, const struct http_reader *request, bool is_near,
	struct http_refusal *ret_refusal)
{
	struct embedded *embedded = data;

	return check_stranger(embedded, request, ret_refusal) &&
	       upgrade_check(request, ret_refusal) && check_token(embedded, request, ret_refusal) &&
	       check_place(embedded, is_near, ret_refusal);
}

/* Hand the socket to libwebsockets, with a request that we have written and what came after that of
 * the peer. It upgrades before it returns. */
static void adopt_socket(
	void *data, int fd, const struct http_reader *request, const char *rest, size_t size)
{
	struct embedded *embedded = data;
	cleanup(buffer_deinit) struct buffer bytes = {0};

	upgrade_write(request, embedded->vhost_name, &bytes);
	buffer_append(&bytes, rest, size);
	if (buffer_status(&bytes) < 0)
		close(fd);
	else /* it closes a descriptor that it does not take */
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

/* Return the bus of a connection. Its vhost knows it; a connection that closes may have lost its
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
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return writable(embedded, peer);
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
		/* Else it is the other: what is more than that of a write would be copied, and
		 * wait for a turn of the loop each time. */
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

static const struct bus_operations embedded_operations = {
	.free = embedded_free,
	.queue = embedded_queue,
	.queued_bytes = embedded_queued_bytes,
};

/* A silent client must not wake us up: the kernel finds out whether it is alive. */
static const lws_retry_bo_t no_retry = {0};

/* libwebsockets finds the vhost by its name again, and a vhost may outlive its bus for some turns of
 * the loop. So one bus and the next have different names, which live for ever. */
static struct lws_vhost *create_vhost(struct embedded *embedded)
{
	static const char *const names[] = {"bus-0", "bus-1", "bus-2", "bus-3"};
	static unsigned int n_vhosts;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = embedded_protocols,
		.http_proxy_address = LOOP_NO_PROXY,
		.retry_and_idle_policy = &no_retry,
		.user = embedded,
	};

	embedded->vhost_name = names[n_vhosts++ % (sizeof(names) / sizeof(*names))];
	info.vhost_name = embedded->vhost_name;
	return lws_create_vhost(loop_lws(embedded->bus.loop), &info);
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
	bus_init(&embedded->bus, &embedded_operations, loop, address, limits, handler, data);
	embedded->rules = (struct intake_rules){
		.frame_bytes = limits->frame_bytes,
		.gather_bytes = limits->frame_bytes > BUS_GATHER_BYTES ? limits->frame_bytes
								       : BUS_GATHER_BYTES,
	};
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
