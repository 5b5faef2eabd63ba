/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/connection.h"

#include <string.h>

#include "bus/frame.h"
#include "util/text/utf8.h"

void connection_begin(struct connection *connection)
{
	connection->reader = (struct websocket_reader){.is_server = !connection->link.is_client};
	connection->is_ping_due = connection->is_pong_due = false;
}

int connection_write(struct connection *connection, enum websocket_opcode opcode,
	const void *payload, size_t size)
{
	unsigned char bytes[WEBSOCKET_HEADER_BYTES + WEBSOCKET_CONTROL_BYTES];
	unsigned char mask[WEBSOCKET_MASK_BYTES] = {0};
	bool is_masked = connection->link.is_client;
	size_t n;

	if (is_masked)
		frame_draw(mask, sizeof(mask));
	n = websocket_write_header(opcode, true, size, is_masked ? mask : NULL, bytes);
	if (size > 0)
		memcpy(bytes + n, payload, size);
	websocket_mask((char *)bytes + n, size, mask);
	return link_write(&connection->link, bytes, n + size);
}

/* Write a close frame, unless bytes wait after the socket has taken what it has room for. Return
 * whether it was written. */
static bool write_close(struct connection *connection, const unsigned char *payload, size_t size)
{
	return link_flush(&connection->link) == 0 && link_is_clear(&connection->link) &&
	       connection_write(connection, WEBSOCKET_CLOSE, payload, size) == 0;
}

bool connection_close(struct connection *connection, unsigned int status)
{
	const unsigned char payload[] = {(unsigned char)(status >> 8), (unsigned char)status};

	return write_close(connection, payload, sizeof(payload));
}

static bool is_status_good(unsigned int status)
{
	return (status >= 1000 && status <= 1003) || (status >= 1007 && status <= 1014) ||
	       (status >= 3000 && status <= 4999);
}

/* Return whether the payload of a close frame is empty, or a status that a peer may send, with a
 * reason in UTF-8 (§5.5.1, §7.4). */
static bool is_close_good(const unsigned char *payload, size_t size)
{
	if (size < 2)
		return size == 0;
	return is_status_good((unsigned int)payload[0] << 8 | payload[1]) &&
	       utf8_is_valid((const char *)payload + 2, size - 2);
}

enum connection_event connection_take_control(
	struct connection *connection, enum websocket_opcode opcode)
{
	const struct websocket_reader *reader = &connection->reader;

	if (opcode == WEBSOCKET_PONG)
		return CONNECTION_E_PONG;
	if (opcode == WEBSOCKET_PING) {
		memcpy(connection->ping, reader->control, reader->control_size);
		connection->ping_size = reader->control_size;
		connection->is_pong_due = true;
		return CONNECTION_E_MORE;
	}
	if (is_close_good(reader->control, reader->control_size))
		write_close(connection, reader->control, reader->control_size);
	else
		connection_close(connection, CONNECTION_BROKEN);
	return CONNECTION_E_CLOSED;
}

int connection_write_due(struct connection *connection)
{
	const struct link *link = &connection->link;
	int r = 0;

	if (connection->is_pong_due && link_is_clear(link)) {
		connection->is_pong_due = false;
		r = connection_write(
			connection, WEBSOCKET_PONG, connection->ping, connection->ping_size);
	}
	if (r == 0 && connection->is_ping_due && link_is_clear(link)) {
		connection->is_ping_due = false;
		r = connection_write(connection, WEBSOCKET_PING, NULL, 0);
	}
	return r;
}
