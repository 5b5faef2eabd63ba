/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "host/parts.h"
#include "wire/wire.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Frames of a host besides its one answer: progress, facts of a failure, messages for the bus. */

#define LIMIT 60

/* The tool of tests/toolboxes/misbehave that sends a frame and then returns. */
static void send_frame(struct guest *guest, enum wire_kind kind, uint64_t id, const char *payload)
{
	char arguments[512];
	char escaped[256];
	size_t size = 0;

	for (const char *at = payload; *at; at++) {
		if (*at == '"')
			escaped[size++] = '\\';
		escaped[size++] = *at;
	}
	snprintf(arguments, sizeof(arguments),
		"{\"size\":%zu,\"kind\":%d,\"id\":%llu,\"payload\":\"%.*s\"}", strlen(payload),
		(int)kind, (unsigned long long)id, (int)size, escaped);
	guest_call(guest, "send_frame", arguments);
}

static void expect_malformed(bool has_bus, enum wire_kind kind, uint64_t id, const char *payload)
{
	const struct guest_options options = {.has_bus = has_bus};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	send_frame(&guest, kind, id, payload);
	cr_expect_eq(guest.n_answers, 0, "kind %d: %s", (int)kind, payload);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED, "kind %d: %s", (int)kind, payload);
	cr_expect_eq(guest.n_progress + guest.n_bus_messages, 0, "kind %d: %s", (int)kind, payload);
	guest_stop(&guest);
}

Test(host_news, has_the_progress_of_the_call_that_runs, .timeout = LIMIT)
{
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	send_frame(&guest, WIRE_PROGRESS, 1, "{\"progress\":0.5,\"text\":\"half\"}");
	cr_expect_eq(guest.n_progress, 1);
	cr_expect_str_eq(guest.progress.data, "half");
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_str_eq(guest.answer.data, "{}");
	guest_stop(&guest);
}

Test(host_news, is_believed_of_the_call_that_runs_only, .timeout = LIMIT)
{
	expect_malformed(false, WIRE_PROGRESS, 2, "{\"progress\":0.5}");
	expect_malformed(false, WIRE_PROGRESS, 0, "{\"progress\":0.5}");
	expect_malformed(false, WIRE_PROGRESS, 1, "0.5");
	expect_malformed(false, WIRE_PROGRESS, 1, "{");
}

Test(host_news, has_the_facts_of_a_failure, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {0};

	/* After an answer a host that has the bus may send more messages, but no other answer. */
	guest_start(&guest, "misbehave", &options);
	send_frame(&guest, WIRE_ERROR, 1, "{\"code\":\"tool_failed\",\"exit_code\":3}");
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(guest.kind, HOST_ANSWER_ERROR);
	cr_expect_str_eq(guest.answer.data, "{\"code\":\"tool_failed\",\"exit_code\":3}");
	guest_stop(&guest);
	expect_malformed(false, WIRE_ERROR, 1, "[]");
}

Test(host_news, goes_to_the_bus_when_the_host_has_it, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	send_frame(&guest, WIRE_EMIT, 0, "{\"type\":\"speak\"}");
	cr_expect_eq(guest.n_bus_messages, 1);
	cr_expect_str_eq(guest.said.data, "{\"type\":\"speak\"}");
	cr_expect_eq(guest.n_answers, 1);
	guest_stop(&guest);
}

Test(host_news, for_the_bus_is_refused_of_others, .timeout = LIMIT)
{
	expect_malformed(false, WIRE_EMIT, 0, "{\"type\":\"speak\"}");
	expect_malformed(true, WIRE_EMIT, 1, "{\"type\":\"speak\"}");
}

/* The tool sent the message, not the host: no reason to end the host. */
Test(host_news, for_the_bus_that_is_no_object_is_marked, .timeout = LIMIT)
{
	static const char *const junk[] = {"\"speak\"", "{", "", "{\"a\":NaN}"};
	const struct guest_options options = {.has_bus = true};
	const unsigned int n_junk = sizeof(junk) / sizeof(*junk);
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	for (unsigned int i = 0; i < n_junk; i++)
		send_frame(&guest, WIRE_EMIT, 0, junk[i]);
	cr_expect_eq(guest.n_bus_messages, n_junk);
	cr_expect_eq(guest.n_junk, n_junk);
	cr_expect_eq(guest.n_answers, n_junk);
	guest_stop(&guest);
}

/* Each frame is read in the loop, and its values take memory there. */
Test(host_news, has_no_more_values_than_a_message, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true, .values_max = 9};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	send_frame(&guest, WIRE_EMIT, 0, "{\"a\":[1,2,3,4,5,6,7]}");
	send_frame(&guest, WIRE_EMIT, 0, "{\"a\":[1,2,3,4,5,6]}");
	cr_expect_eq(guest.n_bus_messages, 2);
	cr_expect_eq(guest.n_junk, 1);
	send_frame(&guest, WIRE_PROGRESS, 3, "{\"a\":[1,2,3,4,5,6,7]}");
	cr_expect_eq(guest.n_progress, 0);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

Test(host_news, of_too_many_values_is_an_error_of_its_call, .timeout = LIMIT)
{
	const struct guest_options options = {.values_max = 9, .carries = true};
	struct guest guest = {0};

	guest_start(&guest, "misbehave", &options);
	send_frame(&guest, WIRE_RESULT, 1, "[1,2,3,4,5,6,7,8,9]");
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(guest.answered_id, 1);
	cr_expect_eq(guest.kind, HOST_ANSWER_ERROR);
	cr_expect_str_eq(guest.answer.data, "{\"code\":\"too_large\",\"values\":9}");
	guest_stop(&guest);
}

Test(host_news, waits_while_the_host_is_held, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {.hold_ms = 10};
	uint64_t start_ms = clock_now_ms();

	guest_start(&guest, "speak", &options);
	guest_call(&guest, "repeat", "{\"said\":\"{}\",\"times\":20}");
	cr_expect_eq(guest.n_bus_messages, 20);
	cr_expect_str_eq(guest.answer.data, "{\"result\":20}");
	cr_expect_geq(clock_now_ms() - start_ms, 20 * guest.hold_ms);
	guest_stop(&guest);
}

/* Its earlier messages are still in the socket, unread; the host does not outlive that. */
Test(host_news, keeps_no_host_that_hangs_up_while_it_is_held, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {.hold_ms = LIMIT * UINT64_C(2000)};

	guest_start(&guest, "misbehave", &options);
	guest_send(&guest, "send_frame", "{\"size\":2,\"kind\":9,\"id\":0,\"payload\":\"{}\"}");
	guest_send(&guest, "close_wire", "{\"hangs\":true}");
	guest_wait(&guest);
	cr_expect_eq(guest.n_bus_messages, 1);
	cr_expect_eq(guest.end.reason, HOST_MALFORMED);
	guest_stop(&guest);
}

/* Not even through the ring of its answers. */
Test(host_news, waits_of_a_host_that_has_hung_up, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {.hold_ms = 20};
	uint64_t start_ms = clock_now_ms();

	guest_start(&guest, "misbehave", &options);
	guest_send(&guest, "speak_without_wire", "{\"times\":20}");
	while (guest.n_bus_messages < 20 && guest.n_ends == 0)
		loop_run(guest.loop, 1);
	cr_expect_eq(guest.n_bus_messages, 20);
	cr_expect_geq(clock_now_ms() - start_ms, 19 * guest.hold_ms);
	guest_stop(&guest);
}

/* Its end of file is not put off, and what waits does not grow. */
Test(host_news, of_a_host_that_has_hung_up_and_fills_its_ring_ends, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {.hold_ms = LIMIT * UINT64_C(2000)};
	struct ring_memory *memory;

	guest_start(&guest, "misbehave", &options);
	memory = guest.host->ring.memory;
	guest_send(&guest, "send_frame", "{\"size\":2,\"kind\":9,\"id\":0,\"payload\":\"{}\"}");
	guest_send(&guest, "close_wire", "{\"hangs\":true}");
	while (guest.n_bus_messages == 0)
		loop_run(guest.loop, 0);
	while (guest.host->source && guest.host->answers.bytes.size < 8 * RING_BYTES) {
		atomic_store(&memory->written, atomic_load(&memory->read) + RING_BYTES);
		loop_run(guest.loop, 0);
	}
	cr_expect_null(guest.host->source);
	cr_expect_eq(guest.n_ends, 0);
	guest_stop(&guest);
}

Test(host_news, of_a_host_that_is_gone_waits_no_longer, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	struct guest guest = {.hold_ms = LIMIT * UINT64_C(2000)};

	guest_start(&guest, "speak", &options);
	guest_call(&guest, "leave", "{\"said\":\"{}\",\"times\":20}");
	cr_expect_eq(guest.n_bus_messages, 20);
	cr_expect_eq(guest.end.reason, HOST_EXITED);
	guest_stop(&guest);
}

Test(host_news, of_the_bus_goes_to_hosts_that_have_it, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	cleanup_free char *large = calloc(1, HOST_UNREAD_BYTES + 2);
	struct guest guest = {0};

	guest_start(&guest, "misbehave", NULL);
	cr_expect_eq(host_send_bus_message(guest.host, "{}", 2), -EPIPE);
	guest_stop(&guest);
	guest_start(&guest, "misbehave", &options);
	cr_expect_eq(host_send_bus_message(guest.host, large, HOST_UNREAD_BYTES + 1), -ENOBUFS);
	guest_stop(&guest);
}

#define SENT 20

Test(host_news, has_as_much_room_after_a_host_was_slow_to_read, .timeout = LIMIT)
{
	const struct guest_options options = {.has_bus = true};
	cleanup_free char *text = calloc(1, HOST_UNREAD_BYTES + 2);
	struct guest guest = {0};

	memset(text, ' ', HOST_UNREAD_BYTES + 1);
	guest_start(&guest, "speak", &options);
	guest_send(&guest, "converse", "{\"said\":\"{}\",\"n_answers\":20}");
	/* In the call the library reads the socket, not the host. */
	while (guest.n_bus_messages == 0)
		loop_run(guest.loop, 1);
	/* More than a socket takes at once. */
	kill(host_pid(guest.host), SIGSTOP);
	for (int i = 0; i < SENT; i++)
		cr_expect_eq(host_send_bus_message(guest.host, text, HOST_UNREAD_BYTES / SENT), 0);
	kill(host_pid(guest.host), SIGCONT);
	guest_wait(&guest);
	cr_expect_eq(guest.n_answers, 1);
	cr_expect_eq(host_send_bus_message(guest.host, text, HOST_UNREAD_BYTES + 1), -ENOBUFS);
	guest_stop(&guest);
}
