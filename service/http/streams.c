/* SPDX-License-Identifier: Apache-2.0 */
#include "http/streams.h"

#include <stdio.h>
#include <string.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/share.h"

static struct stream *stream_of(struct list *link)
{
	return container_of(link, struct stream, link);
}

void streams_init(struct streams *streams)
{
	list_init(&streams->list);
}

/* The connection is gone, or ends. */
static void drop_stream(void *data)
{
	struct stream *stream = data;

	check(stream->streams->n > 0);
	list_remove(&stream->link);
	stream->streams->n--;
	stream->free(stream);
}

void streams_deinit(struct streams *streams)
{
	while (streams->n > 0)
		drop_stream(stream_of(streams->list.next));
}

void stream_end(struct stream *stream)
{
	struct http_connection *connection = stream->connection;

	if (stream->finish)
		stream->finish(stream);
	drop_stream(stream);
	http_stream_end(connection);
}

void streams_end(struct streams *streams)
{
	while (streams->n > 0)
		stream_end(stream_of(streams->list.next));
}

static size_t count_streams(const struct streams *streams, const char *holder)
{
	size_t count = 0;

	list_each(struct stream, stream, &streams->list, link)
		count += strcmp(stream->holder, holder) == 0;
	return count;
}

bool streams_have_room(const struct streams *streams, const struct http_request *request)
{
	size_t max = request->service->config.http.limits.streams;
	size_t own = count_streams(streams, request->identity->holder);

	if (!request->identity->is_admin)
		max -= max / STREAMS_ADMIN_SHARE;
	return streams->n < max && own < share_of(max, streams->n - own);
}

bool streams_open(
	struct streams *streams, struct stream *stream, const struct http_request *request)
{
	check(!stream || (stream->free && !stream->streams));
	if (!stream || !streams_have_room(streams, request)) {
		if (stream)
			stream->free(stream);
		http_respond_error(
			request->connection, 503, "There are too many streams: try again later.");
		return false;
	}
	if (strcmp(http_method(http_connection_request(request->connection)), "HEAD") == 0) {
		stream->free(stream);
		http_stream_begin(request->connection);
		http_stream_end(request->connection);
		return false;
	}
	stream->streams = streams;
	stream->connection = request->connection;
	stream->rights =
		identity_rights(request->identity, http_connection_peer(request->connection));
	snprintf(stream->holder, sizeof(stream->holder), "%s", request->identity->holder);
	list_init(&stream->link);
	list_append(&streams->list, &stream->link);
	streams->n++;
	http_wait(request->connection, &(struct http_waiter){drop_stream, stream});
	http_stream_begin(request->connection);
	return true;
}

void stream_send(struct stream *stream, const char *event, const char *text, size_t size)
{
	exchange_send_event(stream->connection, event, text, size);
}

size_t stream_queued(const struct stream *stream)
{
	return http_stream_queued(stream->connection);
}

void streams_recheck(struct streams *streams, const struct config_http *http)
{
	struct list *next;

	for (struct list *link = streams->list.next; link != &streams->list; link = next) {
		next = link->next;
		if (!identity_rights_hold(http, &stream_of(link)->rights))
			stream_end(stream_of(link));
	}
}
