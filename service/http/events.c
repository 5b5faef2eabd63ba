/* SPDX-License-Identifier: Apache-2.0 */
#include "http/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/assert.h"

struct event_stream {
	struct stream stream;
	struct list link;
	struct event_streams *events;
	unsigned int lag; /* events since its reader had read all */
	uint64_t lost;    /* events that it did not get since the last `lost` */
};

static void free_stream(struct stream *base)
{
	struct event_stream *stream = container_of(base, struct event_stream, stream);

	list_remove(&stream->link);
	if (base->rights.is_admin && --stream->events->n_admins == 0)
		stream->events->service->audience.wants_calls = false;
	free(stream);
}

void event_streams_init(
	struct event_streams *events, struct streams *streams, struct service *service)
{
	*events = (struct event_streams){.streams = streams, .service = service};
	list_init(&events->list);
}

void event_streams_open(struct event_streams *events, const struct http_request *request)
{
	struct event_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->stream.free = free_stream;
		stream->events = events;
		list_init(&stream->link);
	}
	if (!streams_open(events->streams, stream ? &stream->stream : NULL, request))
		return;
	check(stream);
	list_append(&events->list, &stream->link);
	if (stream->stream.rights.is_admin && events->n_admins++ == 0)
		events->service->audience.wants_calls = true;
}

static void send_event(
	struct event_stream *stream, const char *event, const char *text, size_t size)
{
	char lost[64];

	if (stream_queued(&stream->stream) == 0) {
		stream->lag = 0;
		if (stream->lost > 0) {
			snprintf(lost, sizeof(lost), "{\"lost\":%" PRIu64 "}", stream->lost);
			stream->lost = 0;
			stream_send(&stream->stream, "lost", lost, strlen(lost));
		}
	}
	if (stream->lag >= EVENTS_LAG) {
		stream->lost++;
		return;
	}
	stream->lag++;
	stream_send(&stream->stream, event, text, size);
}

void event_streams_hear(
	struct event_streams *events, const char *topic, const char *text, size_t size)
{
	static const char changed[] = "changed";
	static const char beginning[] = "ovos.tools.";
	const char *event = topic + sizeof(beginning) - 1;

	list_each(struct event_stream, stream, &events->list, link) {
		if (stream->stream.rights.is_admin)
			send_event(stream, event, text, size);
		else if (strcmp(event, changed) == 0)
			send_event(stream, event, "{}", 2);
	}
}
