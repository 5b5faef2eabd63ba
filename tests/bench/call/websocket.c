/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/address.h"
#include "bus/pacing.h"
#include "util/clock.h"

/*
 * A frame:
 *
 *    0          1            2..              then
 *   ┌──────────┬────────────┬────────────────┬──────────┬─────────┐
 *   │FIN opcode│MASK length │ 16 or 64 bits  │ 4 bytes  │ payload │
 *   └──────────┴────────────┴────────────────┴──────────┴─────────┘
 *                126 or 127: the length is there   from a client: the mask
 *
 * A mask of zeros leaves the payload as it is. That is no way to talk through a stranger's proxy,
 * and saves the benches from measuring an XOR.
 */

#define FIN    0x80
#define MASKED 0x80

enum opcode {
	CONTINUATION = 0,
	TEXT = 1,
	CLOSE = 8,
	PING = 9,
	PONG = 10,
};

#define HEADER_BYTES_MAX 14
#define READ_BYTES       (256u << 10)
#define RESPONSE_BYTES   4096

/* The time that the bus may take to close the connection when we leave. */
#define LEAVE_MS 5000

/* As long as toolboxd takes, in the middle, before it comes back (bus/pacing.h). */
#define REOPEN_PAUSE_MS (BUS_BACKOFF_FIRST_MS - BUS_BACKOFF_FIRST_MS / 8)
#define REOPEN_TIMES    20

static const int on = 1;
static const char normal_closure[] = {1000 >> 8, (char)(1000 & 0xFF)};

static int connect_to(const struct bus_address *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	char port[8];
	int fd = -1;

	snprintf(port, sizeof(port), "%u", address->port);
	if (getaddrinfo(address->host, port, &hints, &found) != 0)
		return -1;
	for (struct addrinfo *info = found; info && fd < 0; info = info->ai_next) {
		fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, info->ai_protocol);
		if (fd >= 0 && connect(fd, info->ai_addr, info->ai_addrlen) < 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

static int send_all(struct websocket *websocket, const char *bytes, size_t size)
{
	websocket->is_ack_due = true;
	while (size > 0) {
		ssize_t sent = send(websocket->fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0)
			return -1;
		bytes += sent;
		size -= (size_t)sent;
	}
	return 0;
}

/* Read more input. Positive, or 0 or -1 when the connection is over. After a write, the kernel
 * would delay its acknowledgements, and a bus with Nagle's algorithm waits for them. */
static ssize_t read_more(struct websocket *websocket)
{
	char *place = buffer_reserve(&websocket->input, READ_BYTES);
	ssize_t received;

	if (!place)
		return -1;
	received = recv(websocket->fd, place, READ_BYTES, 0);
	if (websocket->is_ack_due)
		setsockopt(websocket->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	websocket->is_ack_due = false;
	if (received > 0)
		websocket->input.size += (size_t)received;
	return received;
}

/* Ask for the upgrade; what follows the response stays in the input. */
static int upgrade(struct websocket *websocket, const struct bus_address *address)
{
	const char *end = NULL;

	buffer_printf(&websocket->output,
		"GET %s HTTP/1.1\r\nHost: %s:%u\r\nUpgrade: websocket\r\n"
		"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: YSBiZW5jaCdzIGtleSBpcw==\r\n\r\n",
		address->path, address->host, address->port);
	if (send_all(websocket, websocket->output.data, websocket->output.size) < 0)
		return -1;
	while (!end) {
		if (websocket->input.size > RESPONSE_BYTES || read_more(websocket) <= 0)
			return -1;
		end = memmem(websocket->input.data, websocket->input.size, "\r\n\r\n", 4);
	}
	websocket->at = (size_t)(end + 4 - websocket->input.data);
	return memcmp(websocket->input.data, "HTTP/1.1 101", 12) == 0 ? 0 : -1;
}

static int send_frame(
	struct websocket *websocket, enum opcode opcode, const char *text, size_t size)
{
	unsigned char header[HEADER_BYTES_MAX] = {(unsigned char)(FIN | opcode)};
	uint16_t size_16 = htobe16((uint16_t)size);
	uint64_t size_64 = htobe64(size);
	size_t length = 2;

	if (size < 126) {
		header[1] = (unsigned char)(MASKED | size);
	} else if (size <= UINT16_MAX) {
		header[1] = MASKED | 126;
		memcpy(header + 2, &size_16, sizeof(size_16));
		length += sizeof(size_16);
	} else {
		header[1] = MASKED | 127;
		memcpy(header + 2, &size_64, sizeof(size_64));
		length += sizeof(size_64);
	}
	buffer_reset(&websocket->output);
	buffer_append(&websocket->output, header, length + 4);
	buffer_append(&websocket->output, text, size);
	if (buffer_status(&websocket->output))
		return -1;
	return send_all(websocket, websocket->output.data, websocket->output.size);
}

int websocket_send(struct websocket *websocket, const char *text, size_t size)
{
	return send_frame(websocket, TEXT, text, size);
}

struct frame {
	bool is_last;
	enum opcode opcode;
	const char *payload;
	size_t size;
	size_t whole_size; /* with its header */
};

/* The frame at the start of @bytes; false when it is not there in full. */
static bool parse_frame(const unsigned char *bytes, size_t size, struct frame *ret_frame)
{
	size_t header = 2;
	uint64_t length;

	if (size < HEADER_BYTES_MAX && (size < 2 || size < (bytes[1] < 126 ? 2u : 10u)))
		return false;
	length = bytes[1] & 0x7F;
	if (length == 126) {
		length = ((uint64_t)bytes[2] << 8) | bytes[3];
		header += 2;
	} else if (length == 127) {
		memcpy(&length, bytes + 2, sizeof(length));
		length = be64toh(length);
		header += 8;
	}
	*ret_frame = (struct frame){
		.is_last = bytes[0] & FIN,
		.opcode = (enum opcode)(bytes[0] & 0x0F),
		.payload = (const char *)bytes + header,
		.size = (size_t)length,
		.whole_size = header + (size_t)length,
	};
	return size >= header && length <= size - header;
}

/* Return 1 with the message when the frame ends one, -1 when the peer closes, else 0. */
static int take_frame(struct websocket *websocket, const struct frame *frame, const char **ret_text,
	size_t *ret_size)
{
	if (frame->opcode == CLOSE)
		return -1;
	if (frame->opcode == PING)
		return send_frame(websocket, PONG, frame->payload, frame->size);
	if (frame->opcode == PONG)
		return 0;
	*ret_text = frame->payload;
	*ret_size = frame->size;
	if (frame->opcode != CONTINUATION && frame->is_last)
		return 1;
	if (frame->opcode != CONTINUATION)
		buffer_reset(&websocket->message);
	buffer_append(&websocket->message, frame->payload, frame->size);
	*ret_text = websocket->message.data;
	*ret_size = websocket->message.size;
	return frame->is_last ? 1 : 0;
}

/* Make room: the done frames go, what is left of the input moves to its start. */
static void compact(struct websocket *websocket)
{
	struct buffer *input = &websocket->input;

	if (websocket->at == 0)
		return;
	memmove(input->data, input->data + websocket->at, input->size - websocket->at);
	input->size -= websocket->at;
	websocket->at = 0;
}

static int wait_for_input(struct websocket *websocket, int timeout_ms)
{
	struct pollfd entry = {.fd = websocket->fd, .events = POLLIN};

	return poll(&entry, 1, timeout_ms);
}

/* Read until the bus has closed the connection, and drop what comes. Unread bytes would make the
 * end a reset, by which the bus loses the close frame. */
static void await_end(struct websocket *websocket)
{
	uint64_t end_ms = clock_now_ms() + LEAVE_MS;

	do
		buffer_reset(&websocket->input);
	while (clock_now_ms() < end_ms && wait_for_input(websocket, LEAVE_MS) > 0 &&
		read_more(websocket) > 0);
}

void websocket_close(struct websocket *websocket)
{
	if (websocket->fd >= 0) {
		if (send_frame(websocket, CLOSE, normal_closure, 2) == 0)
			await_end(websocket);
		close(websocket->fd);
	}
	websocket->fd = -1;
	buffer_deinit(&websocket->input);
	buffer_deinit(&websocket->message);
	buffer_deinit(&websocket->output);
}

int websocket_open(struct websocket *websocket, const char *url)
{
	struct bus_address address;
	const char *reason;

	*websocket = (struct websocket){.fd = -1};
	if (bus_address_parse(url, &address, &reason) != 0) {
		fprintf(stderr, "%s: %s\n", url, reason);
		return -1;
	}
	websocket->fd = connect_to(&address);
	if (websocket->fd >= 0)
		setsockopt(websocket->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (websocket->fd < 0 || upgrade(websocket, &address) < 0) {
		fprintf(stderr, "%s: no websocket there\n", url);
		websocket_close(websocket);
		return -1;
	}
	return 0;
}

int websocket_reopen(struct websocket *websocket, const char *url)
{
	int result = -1;

	websocket_close(websocket);
	for (int i = 0; i < REOPEN_TIMES && result < 0; i++) {
		usleep(REOPEN_PAUSE_MS * 1000);
		result = websocket_open(websocket, url);
	}
	return result;
}

int websocket_receive(
	struct websocket *websocket, int timeout_ms, const char **ret_text, size_t *ret_size)
{
	for (;;) {
		struct buffer *input = &websocket->input;
		struct frame frame;
		int result;

		if (parse_frame((unsigned char *)input->data + websocket->at,
			    input->size - websocket->at, &frame)) {
			websocket->at += frame.whole_size;
			result = take_frame(websocket, &frame, ret_text, ret_size);
			if (result != 0)
				return result;
			continue;
		}
		compact(websocket);
		result = timeout_ms < 0 ? 1 : wait_for_input(websocket, timeout_ms);
		if (result <= 0)
			return result;
		if (read_more(websocket) <= 0)
			return -1;
	}
}
