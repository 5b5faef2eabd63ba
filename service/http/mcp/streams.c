/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/streams.h"

#include <stdlib.h>
#include <string.h>

#include "http/exchange.h"
#include "mcp/notification.h"
#include "mcp/response.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Bytes that wait for a reader, from which on it gets no further notification: it has an unread
 * one. */
#define QUEUED_BYTES 4096

struct mcp_stream {
	struct stream stream;
	struct list link;
	struct mcp_streams *mcp;
	char session[HEX_ID_CHARS + 1]; /* the name of its session, legacy; "": none */
	bool wants_changes;
	size_t size; /* bytes of the subscription; 0: there is none */
	char subscription[];
};

static void free_stream(struct stream *base)
{
	struct mcp_stream *stream = container_of(base, struct mcp_stream, stream);

	list_remove(&stream->link);
	if (*stream->session)
		mcp_sessions_end_stream(stream->mcp->sessions, stream->session, clock_now_ms());
	free(stream);
}

void mcp_streams_init(
	struct mcp_streams *mcp, struct streams *streams, struct mcp_sessions *sessions)
{
	mcp->streams = streams;
	mcp->sessions = sessions;
	list_init(&mcp->list);
}

void mcp_stream_send(struct http_connection *connection, const struct buffer *message)
{
	cleanup(buffer_deinit) struct buffer event = {0};

	buffer_fail_with(&event, message);
	exchange_write_event(&event, "message", message->data, message->size);
	if (buffer_status(&event) == 0)
		http_stream_write(connection, event.data, event.size);
}

/* Send the result of a subscriptions/listen. */
static void finish_listen(struct stream *base)
{
	static const struct mcp_server server = {.version = TOOLBOXD_VERSION};
	const struct mcp_stream *stream = container_of(base, struct mcp_stream, stream);
	const struct mcp_message message = {.era = MCP_MODERN,
		.method = MCP_LISTEN,
		.id = {stream->subscription, stream->size}};
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_pong(&out, &message, &server);
	mcp_stream_send(base->connection, &out);
}

/* Return a stream with room for a subscription of @size bytes; NULL without memory. */
static struct mcp_stream *make_stream(struct mcp_streams *mcp, size_t size)
{
	struct mcp_stream *stream = calloc(1, sizeof(*stream) + size + 1);

	if (!stream)
		return NULL;
	stream->stream.free = free_stream;
	stream->mcp = mcp;
	stream->size = size;
	list_init(&stream->link);
	return stream;
}

/* Respond to @request with @stream, which may be NULL. Return whether it is open. */
static bool open_stream(
	struct mcp_streams *mcp, struct mcp_stream *stream, const struct http_request *request)
{
	if (!streams_open(mcp->streams, stream ? &stream->stream : NULL, request))
		return false;
	list_append(&mcp->list, &stream->link);
	return true;
}

void mcp_streams_open(
	struct mcp_streams *mcp, const struct http_request *request, struct mcp_session *session)
{
	struct mcp_stream *stream = make_stream(mcp, 0);

	if (stream) {
		stream->wants_changes = true;
		memcpy(stream->session, session->name, sizeof(stream->session));
		mcp_sessions_open_stream(session);
	}
	open_stream(mcp, stream, request);
}

void mcp_streams_listen(struct mcp_streams *mcp, const struct http_request *request,
	const struct text_view *subscription, bool wants_changes)
{
	cleanup(buffer_deinit) struct buffer first = {0};
	struct mcp_stream *stream = make_stream(mcp, subscription->size);

	if (stream) {
		stream->stream.finish = finish_listen;
		stream->wants_changes = wants_changes;
		memcpy(stream->subscription, subscription->text, subscription->size);
	}
	if (!open_stream(mcp, stream, request))
		return;
	mcp_write_acknowledged(&first, *subscription, wants_changes);
	mcp_stream_send(request->connection, &first);
}

void mcp_streams_end(struct mcp_streams *mcp, const struct mcp_session *session)
{
	struct list *next;

	for (struct list *link = mcp->list.next; link != &mcp->list; link = next) {
		struct mcp_stream *stream = container_of(link, struct mcp_stream, link);

		next = link->next;
		if (strcmp(stream->session, session->name) == 0)
			stream_end(&stream->stream);
	}
}

void mcp_streams_report_changed(struct mcp_streams *mcp)
{
	list_for_each(link, &mcp->list) {
		struct mcp_stream *stream = container_of(link, struct mcp_stream, link);
		cleanup(buffer_deinit) struct buffer message = {0};
		struct text_view subscription = {
			stream->size > 0 ? stream->subscription : NULL, stream->size};

		if (!stream->wants_changes || stream_queued(&stream->stream) >= QUEUED_BYTES)
			continue;
		mcp_write_list_changed(&message, subscription);
		mcp_stream_send(stream->stream.connection, &message);
	}
}
