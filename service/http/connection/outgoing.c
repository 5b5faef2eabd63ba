/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/outgoing.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "util/assert.h"
#include "util/cleanup.h"

/* The first bytes of the head that are kept for the next response. */
#define HEAD_KEPT_BYTES 1024

void http_outgoing_take(struct http_outgoing *outgoing, struct buffer *body, size_t at)
{
	check(at <= body->size);
	check(!outgoing->bytes && !outgoing->body.data);
	outgoing->body = *body;
	*body = (struct buffer){0};
	outgoing->body_at = at;
	outgoing->body_end = outgoing->body.size;
}

void http_outgoing_share(struct http_outgoing *outgoing, struct http_bytes *bytes)
{
	check(!outgoing->bytes && !outgoing->body.data);
	outgoing->bytes = http_bytes_ref(bytes);
	outgoing->body_at = 0;
	outgoing->body_end = bytes->size;
}

void http_outgoing_omit_body(struct http_outgoing *outgoing)
{
	outgoing->body_end = outgoing->body_at;
}

/* Send what @parts have, as far as one record of TLS takes it. */
static ssize_t send_record(struct tls_session *tls, const struct iovec parts[2])
{
	static char record[TLS_RECORD_BYTES];
	size_t size = 0;

	for (size_t i = 0; i < 2; i++) {
		size_t room = sizeof(record) - size;
		size_t part = parts[i].iov_len < room ? parts[i].iov_len : room;

		if (part > 0)
			memcpy(record + size, parts[i].iov_base, part);
		size += part;
	}
	return tls_write(tls, record, size);
}

/* Count @size bytes as sent. */
static void take_sent(struct http_outgoing *outgoing, size_t size)
{
	size_t head = outgoing->head.size - outgoing->head_at;

	head = size < head ? size : head;
	outgoing->head_at += head;
	outgoing->body_at += size - head;
	check(outgoing->body_at <= outgoing->body_end);
}

ssize_t http_outgoing_send(struct http_outgoing *outgoing, int fd, struct tls_session *tls)
{
	const char *body = outgoing->bytes ? outgoing->bytes->bytes : outgoing->body.data;
	struct iovec parts[2] = {
		{outgoing->head.data + outgoing->head_at, outgoing->head.size - outgoing->head_at},
		{NULL, outgoing->body_end - outgoing->body_at},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t size;

	if (parts[1].iov_len > 0)
		parts[1].iov_base = (char *)body + outgoing->body_at;
	else
		message.msg_iovlen = 1;
	size = tls ? send_record(tls, parts) : sendmsg(fd, &message, MSG_NOSIGNAL);
	if (size > 0)
		take_sent(outgoing, (size_t)size);
	return size;
}

void http_outgoing_reset(struct http_outgoing *outgoing)
{
	buffer_recycle(&outgoing->head, HEAD_KEPT_BYTES);
	buffer_deinit(&outgoing->body);
	http_bytes_unref(take_ptr(outgoing->bytes));
	outgoing->head_at = outgoing->body_at = outgoing->body_end = 0;
}

void http_outgoing_deinit(struct http_outgoing *outgoing)
{
	http_outgoing_reset(outgoing);
	buffer_deinit(&outgoing->head);
}
