/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "util/file/stamp.h"
#include "websocket.h"

/*
 * bus-echo URL: the least service. Answers every bench.echo with its own data, at once, in a loop
 * that does nothing else: what a call over the bus takes when the service takes nothing. When the
 * bus closes the connection, it comes back, and prints from when to when it was away: "away FROM
 * TO", in ms since 1970.
 */

#define DEPTH_MAX 128

static const char topic[] = "bench.echo";

static bool is_ours(const char *text, size_t size)
{
	char found[BUS_TOPIC_BYTES];
	size_t found_size;

	return bus_topic_scan(text, size, found, &found_size) == 0 &&
	       found_size == sizeof(topic) - 1 && memcmp(found, topic, found_size) == 0;
}

static int answer(struct websocket *websocket, const struct bus_envelope *envelope)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	size_t size;
	const char *text = json_value_text(&envelope->data, 0, &size);

	bus_response_begin(&message, envelope);
	buffer_append(&message, text, size);
	bus_message_end(&message);
	if (buffer_status(&message))
		return -1;
	text = bus_message_text(&message, &size);
	return websocket_send(websocket, text, size);
}

/* Answer until the connection is over. */
static void serve(struct websocket *websocket)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};
	const char *text;
	size_t size;

	while (websocket_receive(websocket, -1, &text, &size) > 0) {
		if (!is_ours(text, size))
			continue;
		if (bus_envelope_read(&envelope, text, size, DEPTH_MAX) != 0)
			continue;
		if (answer(websocket, &envelope) < 0)
			break;
	}
}

int main(int count, char **arguments)
{
	cleanup(websocket_close) struct websocket websocket = {.fd = -1};

	if (count != 2) {
		fprintf(stderr, "usage: bus-echo URL\n");
		return 2;
	}
	if (websocket_open(&websocket, arguments[1]) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		int64_t from_ns;

		serve(&websocket);
		from_ns = stamp_now_ns();
		if (websocket_reopen(&websocket, arguments[1]) < 0)
			return 1;
		printf("away %" PRId64 " %" PRId64 "\n", from_ns / 1000000,
			stamp_now_ns() / 1000000);
		fflush(stdout);
	}
}
