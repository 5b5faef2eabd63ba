/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/streams.h"

#include <stdlib.h>
#include <string.h>

#include "http/exchange.h"
#include "mcp/notification.h"
#include "util/cleanup.h"

/* Bytes that wait for a reader, beyond which it gets no further notification: it has an unread one. */
#define QUEUED_BYTES 4096

struct mcp_stream {
	struct list link;
	struct mcp_streams *streams;
	struct http_connection *connection;
	bool wants_changes;
	size_t size; /* bytes of the subscription; 0: there is none */
	char subscription[];
};

static struct mcp_stream *stream_of(struct list *link)
{
	return container_of(link, struct mcp_stream, link);
}

static void keep_alive(void *data)
{
	struct mcp_streams *streams = data;

	list_for_each(link, &streams->list) {
		struct http_connection *connection = stream_of(link)->connection;

		if (http_stream_write(connection, "", 0) < QUEUED_BYTES)
			http_stream_write(connection, ":\n\n", 3);
	}
	if (streams->n > 0)
		loop_timer_arm(&streams->alive, MCP_STREAM_ALIVE_MS);
}

int mcp_streams_init(struct mcp_streams *streams, struct loop *loop)
{
	list_init(&streams->list);
	return loop_timer_init(&streams->alive, loop, keep_alive, streams);
}

static void drop_stream(void *data)
{
	struct mcp_stream *stream = data;

	list_remove(&stream->link);
	stream->streams->n--;
	free(stream);
}

void mcp_streams_deinit(struct mcp_streams *streams)
{
	while (streams->n > 0)
		drop_stream(stream_of(streams->list.next));
	loop_timer_deinit(&streams->alive);
}

void mcp_stream_send(struct http_connection *connection, const struct buffer *message)
{
	cleanup(buffer_deinit) struct buffer event = {0};

	buffer_fail_with(&event, message);
	exchange_write_event(&event, "message", message->data, message->size);
	if (buffer_status(&event) == 0)
		http_stream_write(connection, event.data, event.size);
}

void mcp_streams_open(struct mcp_streams *streams, struct http_connection *connection,
	const struct text_view *subscription, bool wants_changes, size_t max)
{
	cleanup(buffer_deinit) struct buffer first = {0};
	struct mcp_stream *stream = NULL;

	if (streams->n < max)
		stream = malloc(sizeof(*stream) + subscription->size + 1);
	if (!stream) {
		http_respond_error(connection, 503, "There are too many streams: try again later.");
		return;
	}
	*stream = (struct mcp_stream){.streams = streams,
		.connection = connection,
		.wants_changes = wants_changes,
		.size = subscription->size};
	if (subscription->text)
		memcpy(stream->subscription, subscription->text, subscription->size);
	list_init(&stream->link);
	list_append(&streams->list, &stream->link);
	if (streams->n++ == 0)
		loop_timer_arm(&streams->alive, MCP_STREAM_ALIVE_MS);
	http_wait(connection, &(struct http_waiter){drop_stream, stream});
	http_stream_begin(connection, "text/event-stream");
	if (subscription->text) {
		mcp_write_acknowledged(&first, *subscription, wants_changes);
		mcp_stream_send(connection, &first);
	}
}

void mcp_streams_report_changed(struct mcp_streams *streams)
{
	list_for_each(link, &streams->list) {
		struct mcp_stream *stream = stream_of(link);
		cleanup(buffer_deinit) struct buffer message = {0};
		struct text_view subscription = {
			stream->size > 0 ? stream->subscription : NULL, stream->size};

		if (!stream->wants_changes ||
			http_stream_write(stream->connection, "", 0) >= QUEUED_BYTES)
			continue;
		mcp_write_list_changed(&message, subscription);
		mcp_stream_send(stream->connection, &message);
	}
}
