/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getaddrinfo, getrandom, strndup in C99 */
#include "toolboxd_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 *   toolboxd_guest_serve ── connect ─ handshake ─ register ─┐
 *          ▲                                                ▼
 *          │ pause          frames ─▶ text ─▶ scan: type, call_id, name, args ─▶ function
 *          └── lost ◀── ping, renew ──────────── ovos.tools.guest.call.response ◀──┘
 *
 * The scan of JSON (RFC 8259) looks for members of objects by their names as they are written, and
 * steps over everything else: toolboxd has checked the messages for us, and writes our names
 * without escapes. Whatever the scan does not understand is not for us.
 */

#define LEASE_S          60
#define RENEW_MS         20000
#define ANSWER_MS        10000
#define BUSY_MS          1000
#define PING_MS          20000
#define SILENCE_MS       30000
#define CONNECT_MS       5000
#define BACKOFF_FIRST_MS 500
#define BACKOFF_LAST_MS  30000
#define HANDSHAKE_BYTES  8192
#define DEPTH_MAX        128
#define NAME_BYTES       64
#define ID_BYTES         128

struct tool {
	char name[NAME_BYTES + 1];
	char *definition;
	toolboxd_guest_function function;
	void *data;
};

/* Bytes that grow. A failed growth is noted, and everything after it is dropped. */
struct bytes {
	char *data;
	size_t size;
	size_t capacity;
	int has_failed;
};

struct toolboxd_guest {
	char *host;
	char *port;
	char *path;
	char *toolbox_id;
	char *source;
	struct tool tools[TOOLBOXD_GUEST_TOOLS_MAX];
	size_t n_tools;
	int wake[2];       /* a pipe */
	int fd;            /* the connection, or -1 */
	struct bytes in;   /* bytes that came, from the begin of a frame */
	struct bytes text; /* the message that its frames make up */
	int is_text;       /* the message that has begun is text */
	int is_registered;
	int is_refused;
	unsigned int
		n_asked; /* registrations so far: the number of the last one is in its context */
	uint64_t renew_ms;
	uint64_t heard_ms;
	uint64_t pinged_ms;
	uint64_t connect_ms; /* when to connect again */
	unsigned int pause_ms;
	char error[512];
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void set_error(struct toolboxd_guest *guest, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(guest->error, sizeof(guest->error), format, arguments);
	va_end(arguments);
}

/* ── bytes ───────────────────────────────────────────────────────────────────────────────────── */

static int grow(struct bytes *bytes, size_t more)
{
	size_t capacity = bytes->capacity ? bytes->capacity : 1024;
	char *data;

	if (bytes->has_failed)
		return -1;
	while (capacity < bytes->size + more)
		capacity *= 2;
	if (capacity == bytes->capacity)
		return 0;
	data = realloc(bytes->data, capacity);
	if (!data) {
		bytes->has_failed = 1;
		return -1;
	}
	bytes->data = data;
	bytes->capacity = capacity;
	return 0;
}

static void append(struct bytes *bytes, const char *data, size_t size)
{
	if (grow(bytes, size + 1) < 0)
		return;
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	bytes->data[bytes->size] = '\0';
}

static void append_text(struct bytes *bytes, const char *text)
{
	append(bytes, text, strlen(text));
}

/* Append @text as a JSON string. */
static void append_string(struct bytes *bytes, const char *text)
{
	append_text(bytes, "\"");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char escape[8];

		if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", c);
		else if (c < 0x20)
			snprintf(escape, sizeof(escape), "\\u%04x", c);
		else
			snprintf(escape, sizeof(escape), "%c", c);
		append_text(bytes, escape);
	}
	append_text(bytes, "\"");
}

/* Drop the first @size bytes. */
static void drop(struct bytes *bytes, size_t size)
{
	memmove(bytes->data, bytes->data + size, bytes->size - size);
	bytes->size -= size;
}

/* ── JSON ────────────────────────────────────────────────────────────────────────────────────── */

/* A part of a text: [at, end). NULL: there is none. */
struct span {
	const char *at;
	const char *end;
};

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

/* Return the end of the string at @at, or NULL. */
static const char *skip_string(const char *at, const char *end)
{
	if (at == end || *at != '"')
		return NULL;
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && ++at == end)
			return NULL;
	return at < end ? at + 1 : NULL;
}

/* Return the end of the value at @at, or NULL. Of an object or array only brackets and strings are
 * looked at. */
static const char *skip_value(const char *at, const char *end)
{
	int depth = 0;

	do {
		at = skip_space(at, end);
		if (at == end)
			return NULL;
		if (*at == '"') {
			at = skip_string(at, end);
			if (!at)
				return NULL;
		} else if (*at == '{' || *at == '[') {
			if (++depth > DEPTH_MAX)
				return NULL;
			at++;
		} else if (*at == '}' || *at == ']') {
			if (--depth < 0)
				return NULL;
			at++;
		} else if (*at == ',' || *at == ':') {
			if (depth == 0)
				return NULL;
			at++;
		} else {
			const char *start = at;

			while (at < end && !strchr(" \t\n\r,:[]{}\"", *at))
				at++;
			if (at == start)
				return NULL;
		}
	} while (depth > 0);
	return at;
}

/* Return the value of the member @key of @object; no span without one. */
static struct span find_member(struct span object, const char *key)
{
	const struct span none = {NULL, NULL};
	size_t key_size = strlen(key);
	const char *at;

	if (!object.at || object.at == object.end || *object.at != '{')
		return none;
	at = skip_space(object.at + 1, object.end);
	while (at < object.end && *at == '"') {
		const char *name = at + 1;
		const char *name_end = skip_string(at, object.end);
		const char *value_end;

		if (!name_end)
			return none;
		at = skip_space(name_end, object.end);
		if (at == object.end || *at != ':')
			return none;
		at = skip_space(at + 1, object.end);
		value_end = skip_value(at, object.end);
		if (!value_end)
			return none;
		if ((size_t)(name_end - 1 - name) == key_size && memcmp(name, key, key_size) == 0) {
			const struct span found = {at, value_end};

			return found;
		}
		at = skip_space(value_end, object.end);
		if (at == object.end || *at != ',')
			return none;
		at = skip_space(at + 1, object.end);
	}
	return none;
}

/* Copy the string @span, which has no escapes, to @ret of @size bytes. Return 0, or -1. */
static int copy_string(struct span span, char *ret, size_t size)
{
	size_t length;

	if (!span.at || span.end - span.at < 2 || *span.at != '"')
		return -1;
	length = (size_t)(span.end - span.at) - 2;
	if (length >= size || memchr(span.at, '\\', (size_t)(span.end - span.at)) ||
		memchr(span.at, '\0', (size_t)(span.end - span.at)))
		return -1;
	memcpy(ret, span.at + 1, length);
	ret[length] = '\0';
	return 0;
}

static int is_string(struct span span, const char *text)
{
	size_t size = strlen(text);

	return span.at && (size_t)(span.end - span.at) == size + 2 && *span.at == '"' &&
	       memcmp(span.at + 1, text, size) == 0;
}

/* Return whether @text is one JSON value, as far as brackets and strings show. */
static int is_value(const char *text)
{
	const char *end = text + strlen(text);
	const char *at = skip_value(text, end);

	return at && skip_space(at, end) == end;
}

/* ── the connection ──────────────────────────────────────────────────────────────────────────── */

static void lose(struct toolboxd_guest *guest, const char *reason)
{
	if (guest->fd >= 0)
		close(guest->fd);
	guest->fd = -1;
	guest->in.size = guest->text.size = 0;
	guest->in.has_failed = guest->text.has_failed = 0;
	guest->is_registered = guest->is_text = 0;
	guest->connect_ms = now_ms() + guest->pause_ms;
	guest->pause_ms =
		guest->pause_ms * 2 > BACKOFF_LAST_MS ? BACKOFF_LAST_MS : guest->pause_ms * 2;
	set_error(guest, "the bus at ws://%s:%s%s is away: %s", guest->host, guest->port,
		guest->path, reason);
}

/* Wait until the connection has @events, or @end_ms. Return 0 or -1. */
static int wait_for(int fd, short events, uint64_t end_ms)
{
	uint64_t now = now_ms();
	struct pollfd one = {.fd = fd, .events = events};

	return now < end_ms && poll(&one, 1, (int)(end_ms - now)) == 1 ? 0 : -1;
}

/* Write all bytes within CONNECT_MS. Return 0 or -1. */
static int write_all(int fd, const char *data, size_t size)
{
	uint64_t end_ms = now_ms() + CONNECT_MS;

	while (size > 0) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (n < 0 && wait_for(fd, POLLOUT, end_ms) < 0)
			return -1;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* Send a frame of the kind @opcode, masked (RFC 6455 §5.3). Return 0 or -1. */
static int send_frame(struct toolboxd_guest *guest, int opcode, const char *data, size_t size)
{
	struct bytes frame = {0};
	unsigned char head[14] = {(unsigned char)(0x80 | opcode)};
	unsigned char *mask;
	size_t head_size = 2;
	int r;

	if (size < 126) {
		head[1] = (unsigned char)size;
	} else if (size < 65536) {
		head[1] = 126;
		head[2] = (unsigned char)(size >> 8);
		head[3] = (unsigned char)size;
		head_size = 4;
	} else {
		head[1] = 127;
		for (int i = 0; i < 8; i++)
			head[2 + i] = (unsigned char)((uint64_t)size >> (56 - 8 * i));
		head_size = 10;
	}
	head[1] |= 0x80;
	mask = head + head_size;
	if (getrandom(mask, 4, 0) != 4)
		return -1;
	append(&frame, (char *)head, head_size + 4);
	append(&frame, data, size);
	for (size_t i = 0; !frame.has_failed && i < size; i++)
		frame.data[head_size + 4 + i] ^= (char)mask[i % 4];
	r = frame.has_failed ? -1 : write_all(guest->fd, frame.data, frame.size);
	free(frame.data);
	return r;
}

/* Send a message. @data: the JSON text of an object; @more: further members of the context, each
 * after a comma. */
static void send_message(
	struct toolboxd_guest *guest, const char *topic, const struct bytes *data, const char *more)
{
	struct bytes message = {0};

	append_text(&message, "{\"type\": ");
	append_string(&message, topic);
	append_text(&message, ", \"data\": ");
	append(&message, data->data ? data->data : "{}", data->data ? data->size : 2);
	append_text(&message, ", \"context\": {\"source\": ");
	append_string(&message, guest->source);
	append_text(&message, ", \"session\": {\"session_id\": \"default\"}");
	append_text(&message, more);
	append_text(&message, "}}");
	if (guest->fd >= 0 && (message.has_failed || data->has_failed ||
				      send_frame(guest, 1, message.data, message.size) < 0))
		lose(guest, message.has_failed ? strerror(ENOMEM) : "it takes no message");
	free(message.data);
}

/* Connect to @address. Return the descriptor, or -1. */
static int connect_to(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error = 0;
	socklen_t size = sizeof(error);
	int on = 1;

	if (fd < 0)
		return -1;
	if (connect(fd, address->ai_addr, address->ai_addrlen) == 0 ||
		(errno == EINPROGRESS && wait_for(fd, POLLOUT, now_ms() + CONNECT_MS) == 0 &&
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		return fd;
	}
	close(fd);
	errno = error ? error : ETIMEDOUT;
	return -1;
}

/* Read the response to the handshake, up to its empty line. Return 0 or -1. */
static int read_handshake(struct toolboxd_guest *guest)
{
	uint64_t end_ms = now_ms() + CONNECT_MS;
	char answer[HANDSHAKE_BYTES + 1];
	size_t size = 0;

	while (size < HANDSHAKE_BYTES) {
		char *end;
		ssize_t n;

		if (wait_for(guest->fd, POLLIN, end_ms) < 0)
			return -1;
		n = recv(guest->fd, answer + size, HANDSHAKE_BYTES - size, MSG_DONTWAIT);
		if (n <= 0)
			return -1;
		size += (size_t)n;
		answer[size] = '\0';
		end = strstr(answer, "\r\n\r\n");
		if (!end)
			continue;
		append(&guest->in, end + 4, size - (size_t)(end + 4 - answer));
		return strncmp(answer, "HTTP/1.1 101", 12) == 0 ? 0 : -1;
	}
	return -1;
}

/* Ask for a websocket (RFC 6455 §4.1). Return 0 or -1. */
static int shake_hands(struct toolboxd_guest *guest)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char chance[22];
	char key[25];
	struct bytes request = {0};
	int r;

	if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -1;
	for (size_t i = 0; i < 22; i++)
		key[i] = digits[chance[i] % 64];
	/* Of the last digit only two bits are in the 16 bytes. */
	key[21] = digits[chance[21] % 4 * 16];
	strcpy(key + 22, "==");
	append_text(&request, "GET ");
	append_text(&request, guest->path);
	append_text(&request, " HTTP/1.1\r\nHost: ");
	append_text(&request, guest->host);
	append_text(&request, ":");
	append_text(&request, guest->port);
	append_text(&request, "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
			      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ");
	append_text(&request, key);
	append_text(&request, "\r\n\r\n");
	r = request.has_failed ? -1 : write_all(guest->fd, request.data, request.size);
	free(request.data);
	return r < 0 ? r : read_handshake(guest);
}

static void connect_again(struct toolboxd_guest *guest)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses = NULL;
	int r = getaddrinfo(guest->host, guest->port, &hints, &addresses);

	if (r != 0) {
		lose(guest, gai_strerror(r));
		return;
	}
	for (struct addrinfo *one = addresses; one && guest->fd < 0; one = one->ai_next)
		guest->fd = connect_to(one);
	freeaddrinfo(addresses);
	if (guest->fd < 0) {
		lose(guest, strerror(errno));
	} else if (shake_hands(guest) < 0) {
		lose(guest, "it is no websocket");
	} else {
		guest->pause_ms = BACKOFF_FIRST_MS;
		guest->heard_ms = guest->pinged_ms = now_ms();
		guest->renew_ms = 0;
		guest->error[0] = '\0';
	}
}

/* ── the registration ────────────────────────────────────────────────────────────────────────── */

static void send_registration(struct toolboxd_guest *guest)
{
	struct bytes data = {0};
	char number[64];

	append_text(&data, "{\"toolbox_id\": ");
	append_string(&data, guest->toolbox_id);
	snprintf(number, sizeof(number), ", \"lease_s\": %d, \"tools\": [", LEASE_S);
	append_text(&data, number);
	for (size_t i = 0; i < guest->n_tools; i++) {
		append_text(&data, i > 0 ? "," : "");
		append_text(&data, guest->tools[i].definition);
	}
	append_text(&data, "]}");
	snprintf(number, sizeof(number), ", \"toolboxd_guest\": \"c-%u\"", ++guest->n_asked);
	send_message(guest, "ovos.tools.register", &data, number);
	free(data.data);
	guest->renew_ms = now_ms() + ANSWER_MS;
}

static void take_registration(struct toolboxd_guest *guest, struct span data, struct span context)
{
	struct span error = find_member(data, "error");
	struct span code = find_member(data, "code");
	char number[32];

	snprintf(number, sizeof(number), "c-%u", guest->n_asked);
	if (!is_string(find_member(context, "toolboxd_guest"), number) ||
		!is_string(find_member(context, "destination"), guest->source))
		return;
	guest->is_registered = !error.at;
	if (!error.at) {
		guest->renew_ms = now_ms() + RENEW_MS;
	} else if (is_string(code, "busy") || is_string(code, "unavailable")) {
		guest->renew_ms = now_ms() + BUSY_MS;
	} else {
		guest->is_refused = 1;
		set_error(guest, "toolboxd does not take the tools: %.*s",
			(int)(error.end - error.at > 400 ? 400 : error.end - error.at), error.at);
	}
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

static void respond(
	struct toolboxd_guest *guest, const char *call_id, const char *result, const char *error)
{
	struct bytes data = {0};

	append_text(&data, "{\"call_id\": ");
	append_string(&data, call_id);
	if (result && is_value(result)) {
		append_text(&data, ", \"result\": ");
		append_text(&data, result);
	} else {
		append_text(&data, ", \"error\": ");
		append_string(&data, result  ? "The result is not JSON"
				     : error ? error
					     : "It gives no reason");
	}
	append_text(&data, "}");
	send_message(guest, "ovos.tools.guest.call.response", &data, "");
	free(data.data);
}

static void take_call(struct toolboxd_guest *guest, struct span data)
{
	struct span args = find_member(data, "args");
	const struct tool *tool = NULL;
	char call_id[ID_BYTES + 1];
	char name[NAME_BYTES + 1];
	char *text, *result, *error = NULL;

	if (!is_string(find_member(data, "toolbox_id"), guest->toolbox_id) ||
		copy_string(find_member(data, "call_id"), call_id, sizeof(call_id)) < 0)
		return;
	if (copy_string(find_member(data, "name"), name, sizeof(name)) == 0)
		for (size_t i = 0; i < guest->n_tools; i++)
			if (strcmp(guest->tools[i].name, name) == 0)
				tool = &guest->tools[i];
	text = tool && args.at && *args.at == '{' ? strndup(args.at, (size_t)(args.end - args.at))
						  : NULL;
	if (!text) {
		respond(guest, call_id, NULL, "There is no such tool here");
		return;
	}
	result = tool->function(tool->data, text, &error);
	guest->heard_ms = now_ms(); /* nobody has listened meanwhile */
	respond(guest, call_id, result, error);
	free(result);
	free(error);
	free(text);
}

static void take_message(struct toolboxd_guest *guest)
{
	const struct span message = {
		skip_space(guest->text.data, guest->text.data + guest->text.size),
		guest->text.data + guest->text.size};
	struct span type = find_member(message, "type");
	struct span data = find_member(message, "data");
	struct span context = find_member(message, "context");

	if (is_string(type, "ovos.tools.register.response"))
		take_registration(guest, data, context);
	else if (is_string(type, "ovos.tools.guest.call") &&
		 is_string(find_member(context, "source"), "toolboxd") &&
		 is_string(find_member(context, "destination"), guest->source))
		take_call(guest, data);
}

/* ── frames ──────────────────────────────────────────────────────────────────────────────────── */

/* One frame at the begin of the bytes that came. */
struct frame {
	int is_final;
	int opcode;
	size_t head_size;
	size_t size;
};

/* Read the head of a frame. Return 1, 0 when more bytes have to come, or -1: it is no frame of a
 * server, or too large. */
static int read_head(const struct bytes *in, struct frame *ret_frame)
{
	const unsigned char *head = (const unsigned char *)in->data;
	uint64_t size;
	size_t more = 0;

	if (in->size < 2)
		return 0;
	/* No extension was agreed on, and a server does not mask. */
	if (head[0] & 0x70 || head[1] & 0x80)
		return -1;
	size = head[1];
	if (size >= 126)
		more = size == 126 ? 2 : 8;
	if (in->size < 2 + more)
		return 0;
	for (size_t i = 0; i < more; i++)
		size = (i == 0 ? 0 : size << 8) | head[2 + i];
	if (size > TOOLBOXD_GUEST_FRAME_BYTES)
		return -1;
	ret_frame->is_final = head[0] >> 7;
	ret_frame->opcode = head[0] & 0x0f;
	ret_frame->head_size = 2 + more;
	ret_frame->size = (size_t)size;
	return 1;
}

/* Take the frame at the begin of the bytes. Return 0, or -1: the connection cannot go on. */
static int take_frame(struct toolboxd_guest *guest, const struct frame *frame)
{
	const char *payload = guest->in.data + frame->head_size;

	if (frame->opcode >= 8) {
		if (!frame->is_final || frame->size > 125 || frame->opcode > 10 ||
			frame->opcode == 8)
			return -1;
		return frame->opcode == 9 ? send_frame(guest, 10, payload, frame->size) : 0;
	}
	if (frame->opcode > 2 || (frame->opcode == 0) != (guest->is_text != 0) ||
		guest->text.size + frame->size > TOOLBOXD_GUEST_FRAME_BYTES)
		return -1;
	/* A binary message is read, and not looked at. */
	if (frame->opcode > 0)
		guest->is_text = frame->opcode;
	append(&guest->text, payload, frame->size);
	if (guest->text.has_failed)
		return -1;
	if (!frame->is_final)
		return 0;
	if (guest->is_text == 1)
		take_message(guest);
	guest->is_text = 0;
	guest->text.size = 0;
	return 0;
}

/* Take all whole frames. */
static void take_frames(struct toolboxd_guest *guest)
{
	struct frame frame;
	int r;

	while (guest->fd >= 0 && (r = read_head(&guest->in, &frame)) != 0) {
		if (r > 0 && guest->in.size < frame.head_size + frame.size)
			return;
		if (r < 0 || take_frame(guest, &frame) < 0) {
			lose(guest, "it broke the protocol, or closed the connection");
			return;
		}
		if (guest->fd >= 0)
			drop(&guest->in, frame.head_size + frame.size);
	}
}

static void read_more(struct toolboxd_guest *guest)
{
	ssize_t n;

	if (grow(&guest->in, 65536) < 0) {
		lose(guest, strerror(ENOMEM));
		return;
	}
	n = recv(guest->fd, guest->in.data + guest->in.size, 65536, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lose(guest, n < 0 ? strerror(errno) : "it closed the connection");
		return;
	}
	guest->in.size += (size_t)n;
	guest->heard_ms = now_ms();
	take_frames(guest);
}

/* ── serving ─────────────────────────────────────────────────────────────────────────────────── */

/* Do what is due, and return when something is due again. */
static uint64_t act(struct toolboxd_guest *guest, uint64_t now)
{
	uint64_t next;

	if (guest->fd < 0 && now >= guest->connect_ms)
		connect_again(guest);
	take_frames(guest);
	if (guest->fd >= 0 && now - guest->heard_ms > SILENCE_MS && now > guest->heard_ms)
		lose(guest, "it is silent");
	if (guest->fd >= 0 && now >= guest->pinged_ms + PING_MS) {
		guest->pinged_ms = now;
		if (send_frame(guest, 9, "", 0) < 0)
			lose(guest, "it takes no message");
	}
	if (guest->fd >= 0 && now >= guest->renew_ms)
		send_registration(guest);
	if (guest->fd < 0)
		return guest->connect_ms;
	next = guest->pinged_ms + PING_MS;
	return guest->renew_ms < next ? guest->renew_ms : next;
}

int toolboxd_guest_serve(struct toolboxd_guest *guest, int timeout_ms)
{
	uint64_t end_ms = timeout_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout_ms;

	while (!guest->is_refused) {
		uint64_t now = now_ms();
		uint64_t next = act(guest, now);
		struct pollfd ready[2] = {{.fd = guest->wake[0], .events = POLLIN},
			{.fd = guest->fd, .events = POLLIN}};
		char byte;

		if (guest->is_refused)
			break;
		now = now_ms();
		if (now >= end_ms)
			return 0;
		next = next < end_ms ? next : end_ms;
		next = next > now ? next - now : 0;
		if (poll(ready, guest->fd < 0 ? 1 : 2, (int)(next > 60000 ? 60000 : next)) < 0 &&
			errno != EINTR) {
			set_error(guest, "%s", strerror(errno));
			return -1;
		}
		if (ready[0].revents && read(guest->wake[0], &byte, 1) == 1)
			return 0;
		if (guest->fd >= 0 && ready[1].revents)
			read_more(guest);
	}
	return -1;
}

void toolboxd_guest_wake(struct toolboxd_guest *guest)
{
	int before = errno;

	/* A full pipe wakes, too. */
	if (write(guest->wake[1], "", 1) < 0)
		errno = before;
}

int toolboxd_guest_is_registered(const struct toolboxd_guest *guest)
{
	return guest->is_registered;
}

const char *toolboxd_guest_error(const struct toolboxd_guest *guest)
{
	return guest->error;
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

/* Read ws://HOST[:PORT][/PATH]; HOST may be an IPv6 address in brackets. Return 0, or -1. */
static int read_url(struct toolboxd_guest *guest, const char *url)
{
	const char *host = url + 5;
	const char *end;
	const char *path;

	if (strncmp(url, "ws://", 5) != 0 || strpbrk(url, " \r\n"))
		return -1;
	end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":/");
	if (!end || end == host)
		return -1;
	guest->host = *host == '[' ? strndup(host + 1, (size_t)(end - host - 1))
				   : strndup(host, (size_t)(end - host));
	end += *host == '[';
	path = end + strcspn(end, "/");
	guest->port = *end == ':' && path > end + 1 ? strndup(end + 1, (size_t)(path - end - 1))
						    : strdup("80");
	guest->path = strdup(*path ? path : "/");
	return *end && *end != ':' && *end != '/' ? -1 : 0;
}

struct toolboxd_guest *toolboxd_guest_open(const char *url, const char *toolbox_id)
{
	static const char prefix[] = "guest:";
	struct toolboxd_guest *guest = calloc(1, sizeof(*guest));
	const char *variable = getenv("TOOLBOXD_BUS");

	if (!guest)
		return NULL;
	if (!url)
		url = variable && *variable ? variable : "ws://127.0.0.1:8181/core";
	guest->fd = guest->wake[0] = guest->wake[1] = -1;
	guest->pause_ms = BACKOFF_FIRST_MS;
	if (read_url(guest, url) < 0) {
		toolboxd_guest_close(guest);
		errno = EINVAL;
		return NULL;
	}
	guest->toolbox_id = strdup(toolbox_id);
	guest->source = malloc(sizeof(prefix) + strlen(toolbox_id));
	if (!guest->host || !guest->port || !guest->path || !guest->toolbox_id || !guest->source ||
		pipe2(guest->wake, O_CLOEXEC | O_NONBLOCK) < 0) {
		toolboxd_guest_close(guest);
		return NULL;
	}
	/* A program that starts again is the same guest. */
	strcpy(guest->source, prefix);
	strcat(guest->source, toolbox_id);
	return guest;
}

int toolboxd_guest_add(struct toolboxd_guest *guest, const char *definition,
	toolboxd_guest_function function, void *data)
{
	const char *end = definition + strlen(definition);
	const struct span object = {skip_space(definition, end), end};
	struct tool *tool = &guest->tools[guest->n_tools];

	if (guest->n_tools == TOOLBOXD_GUEST_TOOLS_MAX) {
		errno = ENOSPC;
		return -1;
	}
	if (!is_value(definition) ||
		copy_string(find_member(object, "name"), tool->name, sizeof(tool->name)) < 0) {
		errno = EINVAL;
		return -1;
	}
	tool->definition = strdup(definition);
	if (!tool->definition)
		return -1;
	tool->function = function;
	tool->data = data;
	guest->n_tools++;
	return 0;
}

void toolboxd_guest_close(struct toolboxd_guest *guest)
{
	struct bytes data = {0};

	if (!guest)
		return;
	if (guest->fd >= 0) {
		append_text(&data, "{\"toolbox_id\": ");
		append_string(&data, guest->toolbox_id);
		append_text(&data, "}");
		send_message(guest, "ovos.tools.unregister", &data, "");
		free(data.data);
	}
	/* A client gone without the closing handshake costs others of a bus their messages. */
	if (guest->fd >= 0) {
		send_frame(guest, 8, "\x03\xe8", 2);
		shutdown(guest->fd, SHUT_WR);
		close(guest->fd);
	}
	for (int i = 0; i < 2; i++)
		if (guest->wake[i] >= 0)
			close(guest->wake[i]);
	for (size_t i = 0; i < guest->n_tools; i++)
		free(guest->tools[i].definition);
	free(guest->in.data);
	free(guest->text.data);
	free(guest->host);
	free(guest->port);
	free(guest->path);
	free(guest->toolbox_id);
	free(guest->source);
	free(guest);
}
