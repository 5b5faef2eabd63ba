/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/connection.h"

#include "http/connection/fields.h"

/* The parts of a connection that its users see. */

const struct http_reader *http_connection_request(const struct http_connection *connection)
{
	return &connection->reader;
}

void http_connection_take_body(struct http_connection *connection, struct buffer *out)
{
	*out = connection->reader.body;
	connection->reader.body = (struct buffer){0};
}

const struct http_peer *http_connection_peer(const struct http_connection *connection)
{
	return &connection->client;
}

void http_connection_set_client(struct http_connection *connection, const struct http_peer *client)
{
	connection->client = *client;
}

bool http_connection_is_tls(const struct http_connection *connection)
{
	return connection->tls != NULL;
}

struct account *http_connection_account(const struct http_connection *connection)
{
	return connection->account;
}
