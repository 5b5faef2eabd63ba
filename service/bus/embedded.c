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
#include "bus/envelope.h"
#include "bus/frame.h"
#include "bus/intake.h"
#include "bus/listener.h"
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
 * Web pages are refused (bus/admission). Only websockets are served. A peer that uses plain HTTP
 * gets an error response; CONNECT (which would make the connection a raw one) and an upgrade to
 * HTTP/2 are cut off.
 */

/* The most connections, with those that have not asked for an upgrade yet. */
#define BUS_CLIENTS_MAX 1000

/* The most bytes of unfinished frames of all clients. */
#define BUS_GATHER_BYTES (64u << 20)

/* Own messages that are received in one turn of the loop; then it is the clients' turn. */
#define ECHOES_PER_TURN 32

/* RFC 9110 §15.5.22; libwebsockets does not name it. */
#define HTTP_UPGRADE_REQUIRED 426

/* The longest header that is compared; no allowed host or origin is longer. */
#define HEADER_BYTES 512

/* Bytes of a frame that libwebsockets hands over at once; allocated per client. */
#define CLIENT_RX_BYTES (16u << 10)

/* The greeting of the Python bus to a new client. */
static const char greeting_text[] = "{\"type\": \"connected\", \"data\": {}, "
				    "\"context\": {\"session\": {\"session_id\": \"default\"}}}";

struct embedded {
	struct bus bus;
	struct lws_vhost *vhost;
	struct listener *listener;
	struct loop_timer up_timer;
	struct loop_timer echo_timer;
	struct frame_queue echo; /* own messages that we want to receive */
	struct frame *greeting;
	struct list peers;        /* struct peer */
	unsigned int connections; /* peers, and connections that are not yet peers */
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

/* Send the reason, and hang up. */
static int refuse_http(struct lws *wsi, unsigned int status, const char *reason)
{
	lws_return_http_status(wsi, status, reason);
	return -1;
}

/* This is most likely a web page that tries to reach the device that shows it. */
static int refuse_entry(struct embedded *embedded, struct lws *wsi, enum admission_result result,
	const char *host, const char *origin)
{
	if (result == ADMISSION_ORIGIN) {
		bus_warn(&embedded->bus.rates.peers,
			"refused a client whose Origin is '%s': it is not in embedded.origins",
			origin);
		return refuse_http(wsi, HTTP_STATUS_FORBIDDEN,
			"This origin is not allowed (embedded.origins).");
	}
	bus_warn(&embedded->bus.rates.peers,
		"refused a client that used the host '%s': it is not an address, not localhost, "
		"and not '%s' (websocket.host)",
		host, embedded->admission.name);
	return refuse_http(wsi, HTTP_STATUS_FORBIDDEN,
		"This host is not ours: use an address, localhost, or the configured name.");
}

/* Copy a header's value, NUL-terminated; empty when it is absent or too long. */
static void copy_header(struct lws *wsi, enum lws_token_indexes header, char ret[HEADER_BYTES])
{
	if (lws_hdr_copy(wsi, ret, HEADER_BYTES, header) < 0)
		ret[0] = '\0';
}

/* Allow an upgrade only to a websocket, and not for any page. The header is read again, because
 * libwebsockets 4.1.6 has freed `in` for an unknown protocol. */
static int check_upgrade(struct embedded *embedded, struct lws *wsi)
{
	bool has_origin = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0;
	char upgrade[HEADER_BYTES];
	char origin[HEADER_BYTES];
	char host[HEADER_BYTES];
	enum admission_result result;

	copy_header(wsi, WSI_TOKEN_UPGRADE, upgrade);
	if (strcasecmp(upgrade, "websocket") != 0)
		return -1;
	copy_header(wsi, WSI_TOKEN_ORIGIN, origin);
	copy_header(wsi, WSI_TOKEN_HOST, host);
	result = admission_check(&embedded->admission, host, has_origin ? origin : NULL);
	return result == ADMISSION_GRANTED ? 0 : refuse_entry(embedded, wsi, result, host, origin);
}

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
	else if (embedded->connections == BUS_CLIENTS_MAX - 1)
		listener_resume(embedded->listener);
}

static int on_peer_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
	struct embedded *embedded = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	struct peer *peer = user;

	if (!embedded)
		return 0;
	switch (reason) {
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
		return check_upgrade(embedded, wsi);
	case LWS_CALLBACK_HTTP:
		/* A browser or a health check: send the reason. */
		return refuse_http(wsi, HTTP_UPGRADE_REQUIRED, "This is a websocket.");
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
	struct lws *wsi = lws_adopt_socket_vhost(embedded->vhost, fd);

	if (!wsi)
		return; /* libwebsockets has closed the descriptor */
	/* The vhost is not usable here: its Host header may move a connection to another one. */
	lws_set_opaque_user_data(wsi, embedded);
	embedded->connections++;
	if (embedded->connections == BUS_CLIENTS_MAX)
		listener_pause(embedded->listener);
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

static struct lws_vhost *create_vhost(struct loop *loop)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.vhost_name = "bus",
		.protocols = embedded_protocols,
		.http_proxy_address = LOOP_NO_PROXY,
		.retry_and_idle_policy = &no_retry,
	};

	return lws_create_vhost(loop_lws(loop), &info);
}

static struct frame *create_greeting(void)
{
	struct intake intake = {0};

	return intake_frame(&intake, greeting_text, sizeof(greeting_text) - 1);
}

static int begin_embedded(struct embedded *embedded)
{
	struct loop *loop = embedded->bus.loop;
	int r = listener_new(
		loop, &embedded->bus.address, on_connection, embedded, &embedded->listener);

	if (!r)
		r = loop_timer_init(&embedded->up_timer, loop, on_up, embedded);
	if (!r)
		r = loop_timer_init(&embedded->echo_timer, loop, on_echo, embedded);
	if (r)
		return r;
	embedded->greeting = create_greeting();
	embedded->vhost = create_vhost(loop);
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
	r = admission_init(&embedded->admission, origins, n_origins, embedded->bus.address.host);
	if (!r)
		r = begin_embedded(embedded);
	if (r) {
		bus_free(&embedded->bus);
		return r;
	}
	*ret_bus = &embedded->bus;
	return 0;
}
