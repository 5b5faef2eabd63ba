/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message/envelope.h"
#include "util/clock.h"
#include "util/file/stamp.h"
#include "websocket.h"

/*
 * bus-load URL TOPIC DATA CALLS IN_FLIGHT [INTERVAL_US]: a caller that never waits longer than it
 * must.
 *
 * Sends CALLS messages with TOPIC and DATA (the text of an object), IN_FLIGHT of them at a time,
 * and checks every response: each call has an id of its own in its context, twice, so a response
 * with the context of another call is seen. One more call is sent last: calls are answered in
 * order, so a second response to an earlier call arrives before the response to the last one.
 * Messages of others, in any number, change nothing. With an interval, IN_FLIGHT does not
 * count: each call is sent so long after the last, answered or not, so a service that stops for a
 * second delays all calls of this second. Prints one line of JSON:
 *
 *   {"calls": …, "in_flight": …, "answered": …, "refused": …, "lost": …, "duplicate": …,
 *    "wrong_context": …, "p50_us": …, "p99_us": …, "max_us": …, "calls_per_s": …, "closed": …,
 *    "each": […]}
 *
 * Refused are the answered calls whose response is an error, lost are the calls that were not
 * answered. With an interval, the caller comes back when the bus closes the connection, as often as
 * it is "closed". So that others can judge what a closed connection took, "each" has [SENT, TOOK,
 * CONNECTION] for every call: ms since 1970, µs or 0 when it was not answered, and the number of
 * the connection from 1, or 0 when the call was due while the caller was away, and was not sent.
 */

/* No response to a call of ours for so long: what is still out is lost, since calls are answered in
 * order. */
#define SILENCE_MS 5000
#define SILENCE_NS ((uint64_t)SILENCE_MS * 1000000)

/* The last call is sent again after so long, as either end may have been away; and no more after
 * GIVE_UP_NS. */
#define ASK_NS     ((uint64_t)1000 * 1000000)
#define GIVE_UP_NS ((uint64_t)30000 * 1000000)

#define TURN_MS 100

#define DEPTH_MAX 128
#define ID_BYTES  48

struct load {
	struct websocket websocket;
	struct bus_envelope envelope;
	const char *url;
	const char *topic;
	const char *data;
	uint32_t calls;
	uint32_t in_flight;
	uint32_t interval_us; /* 0: none */

	char run[ID_BYTES / 2]; /* the beginning of all ids of this run, as long in each one */
	uint64_t *sent_ns;      /* per call, and of the one that comes last */
	uint64_t *taken_ns;     /* the same; 0: not answered */
	uint32_t *connections;  /* the connection over which it was sent; 0: not sent */
	uint32_t connection;    /* the number of this one, from 1 */
	uint64_t start_ns;
	uint64_t heard_ns; /* the last response of ours */
	uint32_t sent;
	uint32_t out; /* sent over this connection and not answered, without the last one */
	uint32_t answered;
	uint32_t refused;
	uint32_t duplicate;
	uint32_t wrong_context;
};

static int send_call(struct load *load)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	uint32_t call = load->sent++;

	buffer_printf(&message,
		"{\"type\": \"%s\", \"data\": %s, \"context\": {\"source\": \"bus-load\", "
		"\"bench_id\": \"%s%" PRIu32 "\", \"session\": {\"session_id\": \"%s%" PRIu32
		"\"}}}",
		load->topic, load->data, load->run, call, load->run, call);
	if (buffer_status(&message))
		return -1;
	load->sent_ns[call] = clock_now_ns();
	load->connections[call] = load->connection;
	load->out += call < load->calls;
	return websocket_send(&load->websocket, message.data, message.size);
}

static bool is_response(const struct load *load, const char *text, size_t size)
{
	static const char suffix[] = ".response";
	size_t topic_size = strlen(load->topic);
	char topic[BUS_TOPIC_BYTES];
	size_t found;

	return bus_topic_scan(text, size, topic, &found) == 0 &&
	       found == topic_size + sizeof(suffix) - 1 &&
	       memcmp(topic, load->topic, topic_size) == 0 &&
	       memcmp(topic + topic_size, suffix, sizeof(suffix) - 1) == 0;
}

/* The call named by the string at @index; false for a call of another run. */
static bool read_id(const struct load *load, uint32_t index, uint32_t *ret_call)
{
	const struct json_tape *context = &load->envelope.context;
	size_t run_size = strlen(load->run);
	char id[ID_BYTES] = {0};
	size_t size;

	if (index == JSON_NONE || json_type_at(context, index) != JSON_STRING)
		return false;
	size = json_at(context, index)->length;
	if (size >= sizeof(id) || size <= run_size)
		return false;
	memcpy(id, json_bytes(context, index), size);
	*ret_call = (uint32_t)strtoul(id + run_size, NULL, 10);
	return memcmp(id, load->run, run_size) == 0 && *ret_call < load->sent;
}

static bool is_context_whole(const struct load *load, uint32_t call)
{
	const struct json_tape *context = &load->envelope.context;
	uint32_t session = json_find(context, 0, "session");
	uint32_t other;

	if (session == JSON_NONE || json_type_at(context, session) != JSON_OBJECT)
		return false;
	return read_id(load, json_find(context, session, "session_id"), &other) && other == call;
}

static bool is_error(const struct load *load)
{
	const struct json_tape *data = &load->envelope.data;

	return load->envelope.data_status == 0 && json_type_at(data, 0) == JSON_OBJECT &&
	       json_find(data, 0, "error") != JSON_NONE;
}

/* Whether the message was the first response to a call of ours. */
static bool take(struct load *load, const char *text, size_t size)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t call;

	if (!is_response(load, text, size) ||
		bus_envelope_read(&load->envelope, text, size, DEPTH_MAX) != 0 ||
		!read_id(load, json_find(&load->envelope.context, 0, "bench_id"), &call))
		return false;
	if (load->taken_ns[call] != 0) {
		load->duplicate += call < load->calls; /* the last one is asked again */
		return false;
	}
	load->wrong_context += !is_context_whole(load, call);
	load->refused += is_error(load);
	load->taken_ns[call] = now_ns - load->sent_ns[call];
	load->heard_ns = now_ns;
	load->answered += call < load->calls;
	load->out -= call < load->calls && load->connections[call] == load->connection;
	return true;
}

/* The next message, as long as a response of ours is due. As websocket_receive(). */
static int receive(struct load *load, const char **ret_text, size_t *ret_size)
{
	uint64_t silent_ms = (clock_now_ns() - load->heard_ns) / 1000000;

	if (silent_ms >= SILENCE_MS)
		return 0;
	return websocket_receive(
		&load->websocket, (int)(SILENCE_MS - silent_ms), ret_text, ret_size);
}

/* Send the calls that are due; 0 or -1. @ret_wait_ms is the time until the next one. */
static int send_due(struct load *load, int *ret_wait_ms)
{
	uint64_t now_ns = clock_now_ns();

	*ret_wait_ms = SILENCE_MS;
	while (load->sent < load->calls) {
		uint64_t next_ns = load->start_ns + (uint64_t)load->sent * load->interval_us * 1000;

		if (next_ns > now_ns) {
			*ret_wait_ms = (int)((next_ns - now_ns) / 1000000) + 1;
			return 0;
		}
		if (send_call(load) < 0)
			return -1;
	}
	return 0;
}

/* Connect again; the calls that are due meanwhile are not sent. 0 or -1. */
static int come_back(struct load *load)
{
	uint64_t now_ns;

	if (websocket_reopen(&load->websocket, load->url) < 0)
		return -1;
	load->connection++;
	load->out = 0;
	now_ns = clock_now_ns();
	while (load->sent < load->calls &&
		load->start_ns + (uint64_t)load->sent * load->interval_us * 1000 < now_ns)
		load->sent++;
	return 0;
}

/* Take the next message, when one comes within @wait_ms. 0, or -1 when the connection is over. */
static int take_next(struct load *load, int wait_ms)
{
	const char *text;
	size_t size;
	int result = websocket_receive(&load->websocket, wait_ms, &text, &size);

	if (result > 0)
		take(load, text, size);
	return result < 0 ? -1 : 0;
}

/* As drive(), with calls that are sent when they are due, answered or not. */
static int drive_paced(struct load *load)
{
	int wait_ms;

	while (load->sent < load->calls)
		if ((send_due(load, &wait_ms) < 0 || take_next(load, wait_ms) < 0) &&
			come_back(load) < 0)
			return -1;
	return 0;
}

/* 0 when all calls are answered or given up, -1 when the connection broke. */
static int drive(struct load *load)
{
	const char *text;
	size_t size;
	int result = 1;

	load->heard_ns = clock_now_ns();
	while (load->sent < load->in_flight && load->sent < load->calls)
		if (send_call(load) < 0)
			return -1;
	while (load->answered < load->calls && result > 0) {
		result = receive(load, &text, &size);
		if (result > 0 && take(load, text, size) && load->sent < load->calls &&
			send_call(load) < 0)
			return -1;
	}
	return result < 0 ? -1 : 0;
}

static bool is_settled(const struct load *load, uint64_t silent_ns)
{
	if (silent_ns >= GIVE_UP_NS)
		return true;
	return load->taken_ns[load->calls] != 0 && (load->out == 0 || silent_ns >= SILENCE_NS);
}

/* Ask one question more, and take what comes before its answer; what is still out then has a while
 * left. 0 or -1, as above. */
static int settle(struct load *load)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t asked_ns = 0;
	int result;

	load->heard_ns = now_ns;
	while (!is_settled(load, now_ns - load->heard_ns)) {
		result = 0;
		if (load->taken_ns[load->calls] == 0 && now_ns - asked_ns >= ASK_NS) {
			load->sent = load->calls;
			result = send_call(load);
			asked_ns = now_ns;
		}
		if (result == 0)
			result = take_next(load, TURN_MS);
		if (result < 0 && (load->interval_us == 0 || come_back(load) < 0))
			return -1;
		now_ns = clock_now_ns();
	}
	return 0;
}

/* ── the report ──────────────────────────────────────────────────────────────────────────────── */

static void report_each(const struct load *load)
{
	uint64_t since_1970_ms = (uint64_t)stamp_now_ns() / 1000000 - clock_now_ms();

	printf("\"closed\": %" PRIu32 ", \"each\": [", load->connection - 1);
	for (uint32_t i = 0; i < load->calls; i++)
		printf("%s[%" PRIu64 ", %" PRIu64 ", %" PRIu32 "]", i > 0 ? ", " : "",
			since_1970_ms + load->sent_ns[i] / 1000000, load->taken_ns[i] / 1000,
			load->connections[i]);
	printf("], ");
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

/* The time below which @per_mille of the answered calls are; the unanswered, 0, come first. */
static double quantile_us(const struct load *load, uint32_t per_mille)
{
	uint64_t rank = (uint64_t)load->answered * per_mille / 1000;

	if (load->answered == 0)
		return 0;
	if (rank >= load->answered)
		rank = load->answered - 1;
	return (double)load->taken_ns[load->calls - load->answered + rank] / 1000;
}

static void report(struct load *load, uint64_t duration_ns)
{
	putchar('{');
	if (load->interval_us > 0)
		report_each(load);
	qsort(load->taken_ns, load->calls, sizeof(*load->taken_ns), compare);
	printf("\"calls\": %" PRIu32 ", \"in_flight\": %" PRIu32 ", \"answered\": %" PRIu32
	       ", \"refused\": %" PRIu32 ", \"lost\": %" PRIu32 ", \"duplicate\": %" PRIu32
	       ", \"wrong_context\": %" PRIu32 ", \"p50_us\": %.1f, \"p99_us\": %.1f"
	       ", \"max_us\": %.1f, \"calls_per_s\": %.0f}\n",
		load->calls, load->in_flight, load->answered, load->refused,
		load->calls - load->answered, load->duplicate, load->wrong_context,
		quantile_us(load, 500), quantile_us(load, 990), quantile_us(load, 1000),
		(double)load->answered * 1e9 / (double)duration_ns);
}

static int run(struct load *load)
{
	uint64_t start_ns = clock_now_ns();
	uint64_t end_ns;

	load->start_ns = start_ns;
	if ((load->interval_us > 0 ? drive_paced(load) : drive(load)) < 0) {
		fprintf(stderr, "bus-load: the bus is gone\n");
		return 1;
	}
	end_ns = clock_now_ns();
	if (settle(load) < 0) {
		fprintf(stderr, "bus-load: the bus is gone before its last answer\n");
		return 1;
	}
	report(load, end_ns - start_ns);
	return 0;
}

static bool read_count(const char *text, uint32_t *ret_count)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	*ret_count = (uint32_t)count;
	return *end == '\0' && count > 0 && count < UINT32_MAX;
}

static bool prepare(struct load *load, char **arguments)
{
	load->url = arguments[1];
	load->topic = arguments[2];
	load->data = arguments[3];
	if (!read_count(arguments[4], &load->calls) ||
		!read_count(arguments[5], &load->in_flight) ||
		(arguments[6] && !read_count(arguments[6], &load->interval_us)))
		return false;
	snprintf(load->run, sizeof(load->run), "%07d.%08" PRIx32 ".", (int)getpid(),
		(uint32_t)clock_now_ns());
	load->sent_ns = calloc(load->calls + 1, sizeof(*load->sent_ns));
	load->taken_ns = calloc(load->calls + 1, sizeof(*load->taken_ns));
	load->connections = calloc(load->calls + 1, sizeof(*load->connections));
	load->connection = 1;
	return load->sent_ns && load->taken_ns && load->connections;
}

static void load_deinit(struct load *load)
{
	websocket_close(&load->websocket);
	bus_envelope_deinit(&load->envelope);
	free(load->sent_ns);
	free(load->taken_ns);
	free(load->connections);
}

int main(int count, char **arguments)
{
	cleanup(load_deinit) struct load load = {.websocket.fd = -1};

	if (count < 6 || count > 7 || !prepare(&load, arguments)) {
		fprintf(stderr, "usage: bus-load URL TOPIC DATA CALLS IN_FLIGHT [INTERVAL_US]\n");
		return 2;
	}
	if (websocket_open(&load.websocket, load.url) < 0)
		return 1;
	return run(&load);
}
