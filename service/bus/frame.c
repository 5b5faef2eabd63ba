/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/frame.h"

#include <errno.h>
#include <libwebsockets.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bus/account.h"
#include "bus/endpoint.h"
#include "bus/link.h"
#include "bus/websocket.h"
#include "message/response.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/siphash.h"

#define FRAME_ROOM_BYTES BUS_MESSAGE_ROOM_BYTES
_Static_assert(sizeof(struct frame) + LWS_PRE <= FRAME_ROOM_BYTES, "a frame has its room");
_Static_assert(LWS_PRE >= WEBSOCKET_HEADER_BYTES, "a header has room ahead of the text");

/* The most writes in one turn. */
#define FRAME_WRITES_MAX 512

#define QUEUE_FIRST_CAPACITY 4

/* The most entries with room kept after use. */
#define QUEUE_KEPT_CAPACITY 1024

struct frame *frame_take(struct buffer *message)
{
	struct frame *frame = (struct frame *)(void *)take_ptr(message->data);

	check(frame && message->size >= FRAME_ROOM_BYTES);
	frame->references = 1;
	frame->size = message->size - FRAME_ROOM_BYTES;
	buffer_deinit(message);
	return frame;
}

static char *text_of(struct frame *frame)
{
	return (char *)frame + FRAME_ROOM_BYTES;
}

const char *frame_text(const struct frame *frame)
{
	return (const char *)frame + FRAME_ROOM_BYTES;
}

void frame_charge(struct frame *frame, struct account *account, size_t n_queues)
{
	check(!frame->account && frame->charged == 0);
	frame->charged = frame->size + FRAME_OVERHEAD_BYTES + n_queues * sizeof(struct frame *);
	frame->account = account_ref(account);
	account_queue(account, frame->charged);
}

struct frame *frame_ref(struct frame *frame)
{
	check(frame->references > 0);
	frame->references++;
	return frame;
}

void frame_unref(struct frame *frame)
{
	if (!frame || --frame->references > 0)
		return;
	account_unqueue(frame->account, frame->charged);
	account_unref(frame->account);
	free(frame);
}

void frame_draw(unsigned char *ret_bytes, size_t size)
{
	static uint64_t n_drawn;
	struct siphash_key key = siphash_process_key();

	while (size > 0) {
		struct siphash hash;
		uint64_t drawn;
		size_t part = size < sizeof(drawn) ? size : sizeof(drawn);

		n_drawn++;
		siphash_init(&hash, &key);
		siphash_bytes(&hash, (const char *)&n_drawn, sizeof(n_drawn));
		drawn = siphash_finish(&hash);
		memcpy(ret_bytes, &drawn, part);
		ret_bytes += part;
		size -= part;
	}
}

/* ── the queue of a peer ─────────────────────────────────────────────────────────────────────── */

static struct frame **slot(const struct frame_queue *queue, uint32_t position)
{
	return &queue->frames[(queue->first + position) & (queue->capacity - 1)];
}

static int grow_queue(struct frame_queue *queue)
{
	uint32_t capacity = queue->capacity ? queue->capacity * 2 : QUEUE_FIRST_CAPACITY;
	struct frame **frames = reallocarray(NULL, capacity, sizeof(struct frame *));

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < queue->count; i++)
		frames[i] = *slot(queue, i);
	free(queue->frames);
	queue->frames = frames;
	queue->first = 0;
	queue->capacity = capacity;
	return 0;
}

int frame_queue_push(struct frame_queue *queue, struct frame *frame, size_t bytes_max)
{
	size_t bytes = frame->size + FRAME_OVERHEAD_BYTES;

	if (bytes > bytes_max || queue->bytes > bytes_max - bytes)
		return -ENOBUFS;
	if (queue->count == queue->capacity && grow_queue(queue) != 0)
		return -ENOMEM;
	*slot(queue, queue->count) = frame_ref(frame);
	queue->count++;
	queue->bytes += bytes;
	if (queue->shares)
		queue->shares[frame->share] += bytes;
	return 0;
}

const struct frame *frame_queue_head(const struct frame_queue *queue)
{
	return queue->count > 0 ? *slot(queue, 0) : NULL;
}

struct frame *frame_queue_take(struct frame_queue *queue)
{
	struct frame *frame;

	if (queue->count == 0)
		return NULL;
	frame = *slot(queue, 0);
	queue->first = (queue->first + 1) & (queue->capacity - 1);
	queue->count--;
	check(queue->bytes >= frame->size + FRAME_OVERHEAD_BYTES);
	queue->bytes -= frame->size + FRAME_OVERHEAD_BYTES;
	if (queue->shares)
		queue->shares[frame->share] -= frame->size + FRAME_OVERHEAD_BYTES;
	queue->written = 0;
	return frame;
}

static void pop(struct frame_queue *queue)
{
	frame_unref(frame_queue_take(queue));
}

/* Shrink an empty queue, once long because its peer did not read, and return the memory of its
 * frames to the system. */
static void give_back(struct frame_queue *queue)
{
	bool was_long = queue->capacity > QUEUE_KEPT_CAPACITY;

	free(queue->frames);
	*queue = (struct frame_queue){.shares = queue->shares, .link = queue->link};
	if (was_long)
		malloc_trim(0);
}

/*
 * The header is written into the LWS_PRE bytes ahead of a fragment: for a later fragment these are
 * the end of the fragment before, perhaps still unsent to others. So the bytes are saved and
 * restored. (A client's payload is masked in place too, but a client's frame has one receiver.)
 */
static bool write_by_lws(struct lws *wsi, char *text, size_t size, bool is_first, bool is_last)
{
	int flags = is_first ? LWS_WRITE_TEXT : LWS_WRITE_CONTINUATION;

	if (!is_last)
		flags |= LWS_WRITE_NO_FIN;
	return lws_write(wsi, (unsigned char *)text, size, (enum lws_write_protocol)flags) >=
	       (int)size;
}

static bool write_masked(struct link *link, char *text, size_t size, bool is_first, bool is_last)
{
	unsigned char mask[WEBSOCKET_MASK_BYTES];
	unsigned char header[WEBSOCKET_HEADER_BYTES];
	size_t n;

	frame_draw(mask, sizeof(mask));
	n = websocket_write_header(
		is_first ? WEBSOCKET_TEXT : WEBSOCKET_CONTINUATION, is_last, size, mask, header);
	websocket_mask(text, size, mask);
	memcpy(text - n, header, n);
	return link_write(link, text - n, n + size) == 0;
}

/* Return 1 when the write completes a frame, 0 when more fragments follow. */
static int write_fragment(struct frame_queue *queue, struct lws *wsi)
{
	struct frame *frame = *slot(queue, 0);
	size_t left = frame->size - queue->written;
	size_t size = left < FRAME_FRAGMENT_BYTES ? left : FRAME_FRAGMENT_BYTES;
	char *text = text_of(frame) + queue->written;
	bool is_first = queue->written == 0;
	unsigned char ahead[LWS_PRE];
	bool is_good;

	/* Also after a failure: the text may be masked by then. */
	queue->written += size;
	memcpy(ahead, text - LWS_PRE, LWS_PRE);
	is_good = queue->link ? write_masked(queue->link, text, size, is_first, size == left)
			      : write_by_lws(wsi, text, size, is_first, size == left);
	memcpy(text - LWS_PRE, ahead, LWS_PRE);
	if (!is_good)
		return -EIO;
	if (size < left)
		return 0;
	pop(queue);
	return 1;
}

/* Cork the socket: writes are held until they fill a segment or the cork is released. One write for
 * each of many small frames costs ten times as much, nearly all of it in the kernel and in waking
 * the receiver. */
static void hold_back(const struct frame_queue *queue, struct lws *wsi, int is_held)
{
	int fd = queue->link ? queue->link->fd : lws_get_socket_fd(wsi);

	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &is_held, sizeof(is_held));
}

static bool is_clear(const struct frame_queue *queue, struct lws *wsi)
{
	return queue->link ? link_is_clear(queue->link) : !lws_partial_buffered(wsi);
}

/* A second write is safe only when libwebsockets holds nothing of the first: otherwise it would be
 * sent without its header. */
int frame_queue_write(struct frame_queue *queue, struct lws *wsi, int frames_max, size_t bytes_max)
{
	bool is_batch = queue->count > 1;
	size_t unwritten = queue->bytes - queue->written;
	int done = 0;

	if (is_batch)
		hold_back(queue, wsi, 1);

	for (int i = 0;
		i < FRAME_WRITES_MAX && done < frames_max && queue->count > 0 &&
		unwritten - (queue->bytes - queue->written) < bytes_max && is_clear(queue, wsi);
		i++) {
		int result = write_fragment(queue, wsi);

		if (result < 0)
			return result;
		done += result;
	}
	if (is_batch)
		hold_back(queue, wsi, 0);
	if (queue->count == 0 && queue->capacity > QUEUE_KEPT_CAPACITY)
		give_back(queue);
	return done;
}

/* The peer returns the payload of a ping. libwebsockets 4.1.6 does not report a pong without
 * one. */
int frame_write_ping(struct lws *wsi)
{
	unsigned char ping[LWS_PRE + 1] = {[LWS_PRE] = '.'};

	return lws_write(wsi, ping + LWS_PRE, 1, LWS_WRITE_PING) < 1 ? -1 : 0;
}

uint32_t frame_queue_clear(struct frame_queue *queue)
{
	uint32_t dropped = queue->count;

	while (queue->count > 0)
		pop(queue);
	give_back(queue);
	return dropped;
}

uint32_t frame_queue_restart(struct frame_queue *queue)
{
	if (queue->written == 0)
		return 0;
	pop(queue);
	return 1;
}

/* ── sending ─────────────────────────────────────────────────────────────────────────────────── */

static const char *describe_failure(int r)
{
	switch (r) {
	case -ENOTCONN:
		return "the bus is away";
	case -ENOBUFS:
		return "the output queue is full (limits.output_queue_bytes)";
	case -EMSGSIZE:
		return "it is larger than a frame may be (limits.frame_bytes)";
	default:
		return strerror(-r);
	}
}

/* Return the errno for a message that cannot be sent, or 0. */
static int check_message(const struct bus *bus, const struct buffer *message)
{
	size_t size;

	if (buffer_status(message))
		return buffer_status(message);
	bus_message_text(message, &size);
	if (size > bus->limits.frame_bytes)
		return -EMSGSIZE;
	return bus->is_up || bus->is_kept ? 0 : -ENOTCONN;
}

struct account *bus_sender(const struct bus *bus)
{
	return bus->sender ? bus->sender : (struct account *)&bus->own;
}

struct account *bus_act_for(struct bus *bus, struct account *account)
{
	struct account *before = bus->sender;

	bus->sender = account;
	return before;
}

uint64_t bus_count_answers(struct bus *bus, unsigned int n)
{
	return bus->n_answers += n;
}

int bus_send(struct bus *bus, struct buffer *message, unsigned int share)
{
	int r = check_message(bus, message);

	check(share < BUS_SHARES);
	if (!r) {
		struct frame *frame = frame_take(message);

		frame->share = share;
		frame_charge(frame, bus_sender(bus), bus->counters.clients + 1u);
		r = bus->operations->queue(bus, frame);
		frame_unref(frame);
	}
	if (r) {
		bus->counters.frames_dropped++;
		bus_warn(&bus->rates.messages, "a message was not sent: %s", describe_failure(r));
	}
	buffer_deinit(message);
	return r;
}
