/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/send.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/ring.h"
#include "wire/wire.h"
#include "worker/driver.h"

/* The memory of an answer larger than this is freed. */
#define KEEP_BYTES (256u << 10)

static struct ring_writer ring;
static uint32_t n_sent; /* frames, through the wire */

bool send_has_ring(void)
{
	return fcntl(WIRE_RING_FD, F_GET_SEALS) >= 0;
}

int send_join_ring(void)
{
	return send_has_ring() ? ring_join(&ring, WIRE_RING_FD, WIRE_WAKE_FD) : 0;
}

/* LOADED, the first one, goes through the wire, as LISTENER before it. */
static int put_frame(const struct buffer *out)
{
	return n_sent > 0 ? ring_put(&ring, n_sent, out->data, out->size) : 0;
}

static int write_frame(int wire, const struct buffer *out)
{
	int r = 0;

	n_sent++;
	for (size_t sent = 0; r == 0 && sent < out->size;) {
		ssize_t n = send(wire, out->data + sent, out->size - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			r = -errno;
		sent += n > 0 ? (size_t)n : 0;
	}
	return r;
}

int send_frame(int wire, struct buffer *out)
{
	int r = buffer_status(out);

	r = r ? r : put_frame(out);
	if (r == 0)
		r = write_frame(wire, out);
	buffer_recycle(out, KEEP_BYTES);
	return r < 0 ? r : 0;
}

/* Report an unbuildable or unsendable result. */
static int send_unable(int wire, struct buffer *out, uint64_t id, int error)
{
	size_t start;

	buffer_deinit(out);
	start = wire_begin(out);
	buffer_printf(out, "the result cannot be sent: %s", strerrordesc_np(-error));
	wire_finish(out, start, WIRE_FAILED, id);
	return send_frame(wire, out);
}

static enum wire_kind answer_kind(int status)
{
	if (status == DRIVER_E_ERROR)
		return WIRE_ERROR;
	return status == 0 ? WIRE_RESULT : WIRE_FAILED;
}

int send_answer(int wire, struct buffer *out, size_t start, uint64_t id, int status)
{
	int r;

	wire_finish(out, start, answer_kind(status), id);
	r = status < 0 ? status : buffer_status(out);
	return r ? send_unable(wire, out, id, r) : send_frame(wire, out);
}
