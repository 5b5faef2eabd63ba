/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/frame.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "bus/endpoint.h"
#include "bus/link.h"
#include "bus/websocket.h"
#include "message/response.h"
#include "message/spares.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/siphash.h"

#define FRAME_ROOM_BYTES BUS_MESSAGE_ROOM_BYTES
_Static_assert(
	sizeof(struct frame) + WEBSOCKET_HEADER_BYTES <= FRAME_ROOM_BYTES, "a frame has its room");
_Static_assert(BUS_SHARES <= UINT16_MAX, "a frame has room for its share");

/* The most writes in one turn. */
#define FRAME_WRITES_MAX 512

/* A page: in a larger memory, pages after the text are not touched, and take no room. */
#define SMALL_BYTES 4096

/* The bytes that malloc() adds to each memory. */
#define MALLOC_BYTES 16

#define QUEUE_FIRST_CAPACITY 4

/* The most entries with room kept after use. */
#define QUEUE_KEPT_CAPACITY 1024

struct frame *frame_take(struct buffer *message)
{
	struct frame *frame = (struct frame *)(void *)take_ptr(message->data);

	check(frame && message->size >= FRAME_ROOM_BYTES);
	frame->references = 1;
	frame->small_bytes = message->capacity <= SMALL_BYTES ? (uint16_t)message->capacity : 0;
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
	size_t bytes = frame->size + FRAME_OVERHEAD_BYTES;
	size_t small_bytes = frame->small_bytes + MALLOC_BYTES;

	check(!frame->account && frame->charged == 0);
	/* A message has more memory than text, a tiny one many times more. */
	if (bytes < small_bytes)
		bytes = small_bytes;
	frame->charged = bytes + n_queues * sizeof(struct frame *);
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
	if (frame->small_bytes == SPARES_BYTES)
		spares_keep((char *)frame);
	else
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

/* Write the header of @size bytes at @text to @ret_header, and mask a client's text in place: its
 * frame has one receiver. Return the size of the header. */
static size_t begin_text(const struct frame_queue *queue, enum websocket_opcode opcode,
	bool is_last, char *text, size_t size, unsigned char ret_header[WEBSOCKET_HEADER_BYTES])
{
	unsigned char mask[WEBSOCKET_MASK_BYTES];

	if (!queue->link->is_client)
		return websocket_write_header(opcode, is_last, size, NULL, ret_header);
	frame_draw(mask, sizeof(mask));
	websocket_mask(text, size, mask);
	return websocket_write_header(opcode, is_last, size, mask, ret_header);
}

/*
 * The header is written into the bytes ahead of a fragment: for a later fragment these are the end
 * of the fragment before, perhaps still unsent to others. So the bytes are saved and restored.
 * Return 1 when the write completes a frame, 0 when more fragments follow.
 */
static int write_fragment(struct frame_queue *queue)
{
	struct frame *frame = *slot(queue, 0);
	size_t left = frame->size - queue->written;
	size_t size = left < FRAME_FRAGMENT_BYTES ? left : FRAME_FRAGMENT_BYTES;
	char *text = text_of(frame) + queue->written;
	enum websocket_opcode opcode =
		queue->written == 0 ? WEBSOCKET_TEXT : WEBSOCKET_CONTINUATION;
	unsigned char header[WEBSOCKET_HEADER_BYTES];
	unsigned char ahead[WEBSOCKET_HEADER_BYTES];
	size_t n = begin_text(queue, opcode, size == left, text, size, header);
	int r;

	/* Also after a failure: the text may be masked by then. */
	queue->written += size;
	memcpy(ahead, text - n, n);
	memcpy(text - n, header, n);
	r = link_write(queue->link, text - n, n + size);
	memcpy(text - n, ahead, n);
	if (r < 0)
		return r;
	if (size < left)
		return 0;
	pop(queue);
	return 1;
}

/* ── several frames in one send ──────────────────────────────────────────────────────────────── */

/*
 * One send for each of many small frames costs ten times as much as one for all, nearly all of it
 * in the kernel and in waking the receiver. So the short frames at the head of a queue leave in one
 * send:
 *
 *   header ─ text ─ header ─ text ─ …  ──▶ sendmsg ──┬─ taken whole: dropped from the queue
 *                                                    ├─ cut: its rest is buffered
 *                                                    └─ after the cut: they stay
 *
 * The link keeps the rest of a cut frame, and nothing else is written before it.
 */

#define BATCH_FRAMES 64

struct batch {
	struct iovec parts[2 * BATCH_FRAMES]; /* two for a frame: its header, its text */
	unsigned char headers[BATCH_FRAMES][WEBSOCKET_HEADER_BYTES];
	unsigned int count;
	size_t bytes;
};

/* Return whether the frame at @position goes by a batch. TLS would make a record of each part. */
static bool is_for_batch(const struct frame_queue *queue, uint32_t position)
{
	return position < queue->count && (position > 0 || queue->written == 0) &&
	       (*slot(queue, position))->size <= FRAME_FRAGMENT_BYTES && !queue->link->tls;
}

static void add_to_batch(struct batch *batch, const struct frame_queue *queue, struct frame *frame)
{
	struct iovec *parts = &batch->parts[(size_t)2 * batch->count];
	unsigned char *header = batch->headers[batch->count++];

	parts[0] = (struct iovec){header,
		begin_text(queue, WEBSOCKET_TEXT, true, text_of(frame), frame->size, header)};
	parts[1] = (struct iovec){text_of(frame), frame->size};
	batch->bytes += frame->size;
}

/* Have the link send the rest of the two @parts after the first @sent bytes. */
static int finish_cut(struct link *link, const struct iovec parts[2], size_t sent)
{
	int r = 0;

	for (size_t i = 0; i < 2; i++) {
		size_t done = sent < parts[i].iov_len ? sent : parts[i].iov_len;

		sent -= done;
		if (r == 0 && done < parts[i].iov_len)
			r = link_keep(
				link, (char *)parts[i].iov_base + done, parts[i].iov_len - done);
	}
	return r;
}

/* Drop the frames of which the socket took the first @sent bytes; *ret_done is their number. Return
 * false when the connection is lost. */
static bool drop_sent(
	struct frame_queue *queue, const struct batch *batch, size_t sent, unsigned int *ret_done)
{
	bool is_good = true;

	for (*ret_done = 0; is_good && sent > 0; (*ret_done)++) {
		const struct iovec *parts = &batch->parts[(size_t)2 * *ret_done];
		size_t size = parts[0].iov_len + parts[1].iov_len;

		if (sent < size)
			is_good = finish_cut(queue->link, parts, sent) == 0;
		sent -= sent < size ? sent : size;
		pop(queue);
	}
	return is_good;
}

/* The frames from @first on stay in the queue, as they were. */
static void unmask(struct batch *batch, unsigned int first)
{
	for (unsigned int i = first; i < batch->count; i++) {
		const struct iovec *parts = &batch->parts[(size_t)2 * i];

		websocket_mask(parts[1].iov_base, parts[1].iov_len,
			batch->headers[i] + parts[0].iov_len - WEBSOCKET_MASK_BYTES);
	}
}

/* Write frames at the head that go by a batch. Return how many left the queue, 0 when the socket
 * takes none, or a negative number. */
static int write_batch(struct frame_queue *queue, unsigned int frames_max, size_t bytes_max)
{
	struct batch batch;
	unsigned int done = 0;
	bool is_good;
	ssize_t sent;

	batch.count = 0;
	batch.bytes = 0;
	while (batch.count < frames_max && batch.count < BATCH_FRAMES && batch.bytes < bytes_max &&
		batch.bytes < FRAME_FRAGMENT_BYTES && is_for_batch(queue, batch.count))
		add_to_batch(&batch, queue, *slot(queue, batch.count));
	sent = link_send(queue->link, batch.parts, 2 * (size_t)batch.count);
	is_good = sent >= 0;
	if (sent > 0)
		is_good = drop_sent(queue, &batch, (size_t)sent, &done);
	if (queue->link->is_client)
		unmask(&batch, done);
	return is_good ? (int)done : -EIO;
}

/* A second write is safe only when nothing is buffered of the first. */
int frame_queue_write(struct frame_queue *queue, int frames_max, size_t bytes_max)
{
	size_t unwritten = queue->bytes - queue->written;
	int done = 0;

	for (int i = 0; i < FRAME_WRITES_MAX && done < frames_max && queue->count > 0; i++) {
		size_t written = unwritten - (queue->bytes - queue->written);
		bool is_batch = is_for_batch(queue, 0);
		int result;

		if (written >= bytes_max || !link_is_clear(queue->link))
			break;
		result = is_batch ? write_batch(queue, (unsigned int)(frames_max - done),
					    bytes_max - written)
				  : write_fragment(queue);
		if (result < 0)
			return result;
		if (result == 0 && is_batch)
			break;
		done += result;
	}
	if (queue->count == 0 && queue->capacity > QUEUE_KEPT_CAPACITY)
		give_back(queue);
	return done;
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

unsigned int bus_share(const struct bus *bus, const struct bus_envelope *envelope)
{
	return bus->operations->has_shares ? bus_response_share(envelope) : BUS_SHARE_OWN;
}

int bus_send(struct bus *bus, struct buffer *message, unsigned int share)
{
	int r = check_message(bus, message);

	check(share < BUS_SHARES);
	if (!r) {
		struct frame *frame = frame_take(message);

		frame->share = (uint16_t)share;
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
