/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/parts.h"
#include "util/cleanup.h"

/* The daemon's side of a host alone: the test reads what a process would read. */

static struct loop *loop;
static struct host *host;
static int peer;
static unsigned int n_relieved;

static void count_relieved(void *data)
{
	(void)data;
	n_relieved++;
}

static void do_nothing(void *data)
{
	(void)data;
}

/* A host with a loaded toolbox, and room for two calls. */
static void set_up(void)
{
	int ends[2];

	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	peer = ends[1];
	host = calloc(1, sizeof(*host));
	host->loop = loop;
	host->handler.relieved = count_relieved;
	host->wire = ends[0];
	host->listener = -1;
	host->output.fd = -1;
	host->state = HOST_READY;
	host->has_begun = true;
	host->calls_max = 2;
	host->reader.payload_max = 1000;
	host->output.bytes_max = 500;
	host->child = (struct loop_child *)host; /* it is only looked for */
	loop_task_init(&host->sending, loop, host_send_gathered, host);
	cr_assert_eq(loop_timer_init(&host->timer, loop, do_nothing, host), 0);
	cr_assert_eq(loop_timer_init(&host->hold, loop, do_nothing, host), 0);
	cr_assert_eq(host_watch(host), 0);
}

static void tear_down(void)
{
	host->child = NULL;
	host_free(host);
	close(peer);
	loop_free(loop);
}

TestSuite(send, .init = set_up, .fini = tear_down, .timeout = 60);

static const struct host_call call = {.tool = 3,
	.timeout_ms = 50,
	.program = 9,
	.caller = "{\"lang\":\"de\"}",
	.caller_size = 13,
	.arguments = "{\"a\":1}",
	.size = 7};

/* Read a header of @kind and @id, and its payload to @ret_payload. */
static size_t take(enum wire_kind kind, uint64_t id, char ret_payload[256])
{
	struct wire_header header;

	cr_assert_eq(recv(peer, &header, sizeof(header), MSG_DONTWAIT), sizeof(header));
	cr_expect_eq(header.kind, kind);
	cr_expect_eq(header.id, id);
	cr_assert_lt(header.size, 256);
	if (header.size > 0)
		cr_assert_eq(recv(peer, ret_payload, header.size, MSG_DONTWAIT), header.size);
	return header.size;
}

static void expect_nothing(void)
{
	int size = 0;

	cr_assert_eq(ioctl(peer, FIONREAD, &size), 0);
	cr_expect_eq(size, 0);
}

Test(send, tells_all_about_a_call)
{
	char payload[256];
	struct wire_invoke invoke;

	cr_assert_eq(host_invoke(host, 5, &call), 0);
	cr_expect_eq(host->state, HOST_RUNNING);
	cr_assert_eq(take(WIRE_INVOKE, 5, payload), sizeof(invoke) + 20);
	memcpy(&invoke, payload, sizeof(invoke));
	cr_expect_eq(invoke.program, 9);
	cr_expect_eq(invoke.tool, 3);
	cr_expect_eq(invoke.timeout_ms, 50);
	cr_expect_eq(invoke.output_max, 1000);
	cr_expect_eq(invoke.stderr_max, 500);
	cr_expect_eq(invoke.caller_size, 13);
	cr_expect_arr_eq(payload + sizeof(invoke), "{\"lang\":\"de\"}{\"a\":1}", 20);
}

Test(send, asks_for_a_check_by_its_own_frame)
{
	struct host_call check = call;
	char payload[256];

	check.is_check = true;
	cr_assert_eq(host_invoke(host, 5, &check), 0);
	take(WIRE_CHECK, 5, payload);
}

Test(send, forgets_what_the_sandbox_refused_to_the_call_before)
{
	strcpy(host->refused, "fork");
	cr_assert_eq(host_invoke(host, 5, &call), 0);
	cr_expect_null(host_refused(host));
	strcpy(host->refused, "fork");
	cr_assert_eq(host_invoke(host, 6, &call), 0);
	cr_expect_str_eq(host_refused(host), "fork", "the first call still runs");
}

Test(send, takes_as_many_calls_as_there_is_room)
{
	char payload[256];

	cr_expect(host_has_room(host));
	cr_assert_eq(host_invoke(host, 5, &call), 0);
	cr_expect(host_has_room(host));
	cr_assert_eq(host_invoke(host, 6, &call), 0);
	cr_expect_not(host_has_room(host));
	cr_expect_eq(host_invoke(host, 7, &call), -EBUSY);
	cr_expect_eq(host_find_call(host, 5), 0);
	cr_expect_eq(host_find_call(host, 6), 1);
	cr_expect_eq(host_find_call(host, 7), 2, "it has none");
	take(WIRE_INVOKE, 5, payload);
	expect_nothing();
	loop_run(loop, 0);
	take(WIRE_INVOKE, 6, payload);
	expect_nothing();
}

Test(send, takes_no_call_where_none_can_run)
{
	host->state = HOST_STARTING;
	cr_expect_not(host_has_room(host));
	cr_expect_eq(host_invoke(host, 5, &call), -EBUSY);
	host->state = HOST_READY;
	host->is_blocked = true;
	cr_expect_not(host_has_room(host));
	cr_expect_eq(host_invoke(host, 5, &call), -EBUSY);
	host->is_blocked = false;
	host->child = NULL;
	cr_expect_eq(host_invoke(host, 5, &call), -EPIPE);
	host->child = (struct loop_child *)host;
	loop_source_free(host->source);
	host->source = NULL;
	cr_expect_eq(host_invoke(host, 5, &call), -EPIPE);
	expect_nothing();
}

Test(send, reports_a_process_that_reads_no_more)
{
	shutdown(peer, SHUT_RDWR);
	cr_expect_eq(host_invoke(host, 5, &call), -EPIPE);
	cr_expect_eq(host->n_calls, 0);
	cr_expect_not(host->is_failed);
}

Test(send, cancels_a_call_that_is_carried)
{
	struct wire_cancel cancel;
	char payload[256];
	uint64_t due_ns;

	host->carries = true;
	cr_assert_eq(host_invoke(host, 5, &call), 0);
	cr_assert_eq(host_invoke(host, 6, &call), 0);
	take(WIRE_INVOKE, 5, payload);
	take(WIRE_INVOKE, 6, payload);
	host_cancel(host, 5, false);
	cr_assert_eq(take(WIRE_CANCEL, 5, payload), sizeof(cancel));
	memcpy(&cancel, payload, sizeof(cancel));
	cr_expect_eq(cancel.is_late, 0);
	cr_expect_eq(host->n_cancelled, 1);
	cr_expect_eq(host->n_calls, 1);
	cr_expect(loop_timer_is_armed(&host->timer));
	due_ns = host->timer.due_ns;
	host_cancel(host, 6, true);
	take(WIRE_CANCEL, 6, payload);
	memcpy(&cancel, payload, sizeof(cancel));
	cr_expect_eq(cancel.is_late, 1);
	cr_expect_eq(host->state, HOST_READY);
	cr_expect_eq(host->timer.due_ns, due_ns, "the first one still has its time");
}

Test(send, announces_a_replacement_to_a_host_that_can_hear_it)
{
	char payload[256];

	host_replace(host);
	cr_expect_eq(take(WIRE_REPLACED, 0, payload), 0);
	host->state = HOST_STARTING;
	host_replace(host);
	host->state = HOST_DISMISSED;
	host_replace(host);
	host->state = HOST_READY;
	host->is_failed = true;
	host_replace(host);
	expect_nothing();
}

/* ── messages of the bus ─────────────────────────────────────────────────────────────────────── */

/* Read all that was sent, until nothing comes any more. Return its bytes. */
static size_t drain(void)
{
	static char bytes[1 << 16];
	size_t all = 0;

	for (;;) {
		ssize_t n = recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n <= 0 && host->unsent.size == 0)
			return all;
		all += n > 0 ? (size_t)n : 0;
		loop_run(loop, 0);
	}
}

Test(send, keeps_messages_up_to_a_limit)
{
	cleanup_free char *text = malloc(HOST_UNREAD_BYTES + 1);

	memset(text, 'x', HOST_UNREAD_BYTES + 1);
	cr_expect_eq(host_send_bus_message(host, "{}", 2), -EPIPE, "it has no bus");
	host->has_bus = true;
	cr_expect_eq(host_send_bus_message(host, text, HOST_UNREAD_BYTES + 1), -ENOBUFS);
	cr_assert_eq(host_send_bus_message(host, text, HOST_UNREAD_BYTES), 0);
	cr_assert(host->is_blocked);
	cr_expect_eq(
		host_send_bus_message(host, text, host->sent), -ENOBUFS, "a header waits, too");
	cr_expect_eq(host_send_bus_message(host, text, host->sent - sizeof(struct wire_header)), 0);
	cr_expect_gt(drain(), HOST_UNREAD_BYTES);
	cr_expect_not(host->is_blocked);
	cr_expect_eq(host->sent, 0);
	cr_expect_eq(n_relieved, 0);
}

Test(send, tells_when_a_host_has_read_what_was_too_much)
{
	cleanup_free char *text = malloc(2 * HOST_FULL_BYTES);
	struct host_call large = call;

	memset(text, ' ', 2 * HOST_FULL_BYTES);
	large.arguments = text;
	large.size = 2 * HOST_FULL_BYTES;
	host->carries = true;
	host->calls_max = 9;
	cr_assert_eq(host_invoke(host, 5, &large), 0);
	cr_assert(host->is_blocked);
	host->sent = host->unsent.size - HOST_FULL_BYTES - 1;
	cr_expect_eq(host_invoke(host, 6, &call), -EBUSY);
	host->sent++;
	cr_expect_eq(host_invoke(host, 6, &call), 0);
	cr_expect_eq(host_invoke(host, 7, &call), -EBUSY);
	drain();
	cr_expect_eq(n_relieved, 1);
	cr_expect_eq(host_invoke(host, 7, &call), 0);
	drain();
	cr_expect_eq(n_relieved, 1);
}

/* ── ends ────────────────────────────────────────────────────────────────────────────────────── */

Test(end, is_described_as_a_part_of_a_sentence)
{
	static const struct {
		struct host_exit exit;
		const char *expected;
	} rows[] = {
		{{.reason = HOST_EXITED, .exit_code = 3}, "its host ended with exit status 3"},
		{{.reason = HOST_SIGNALED, .signal = 11}, "its host died (SIGSEGV)"},
		{{.reason = HOST_MALFORMED, .message = "lied"},
			"its host sent a malformed frame: lied"},
		{{.reason = HOST_MALFORMED}, "its host sent a malformed frame: no reason given"},
		{{.reason = HOST_TOO_LARGE, .actual = 11, .max = 10},
			"its host sent 11 bytes, 10 are allowed"},
		{{.reason = HOST_REFUSED, .message = "no symbol"},
			"it cannot be loaded: no symbol"},
		{{.reason = HOST_TOO_SLOW, .refused = "fork"},
			"its host did not start in time (the sandbox refused: fork)"},
		{{.reason = HOST_LINGERED}, "its host was killed because it took more than 500 ms"},
	};
	char text[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		host_describe_exit(&rows[i].exit, text, sizeof(text));
		cr_expect_str_eq(text, rows[i].expected);
	}
	/* It is cut to its room. */
	host_describe_exit(&rows[6].exit, text, 16);
	cr_expect_str_eq(text, "its host did no");
}
