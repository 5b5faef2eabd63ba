/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"
#include "host/parts.h"
#include "util/clock.h"
#include "util/process/send_fd.h"

/* The daemon's side of a host alone: the test writes what a process would send. */

#define PAYLOAD_MAX 1000

static struct loop *loop;
static struct host *host;
static int peer;

/* The calls of the handler since begin(), and the last ones. */
static unsigned int n_loaded, n_answers, n_progress, n_bus, n_stale, n_used, n_ends;
static struct host_answer answer;
static uint64_t answered_id;
static char answered_text[128];
static char refused[REFUSAL_TEXT_BYTES];
static bool has_bus_object;
static struct host_exit end;
static char end_text[128]; /* the message of the end; of a refusal, its place and its message */

static void take_loaded(void *data, const char *loaded, size_t size)
{
	(void)data;
	cr_expect_arr_eq(loaded, "{}", size);
	n_loaded++;
}

static void take_answered(void *data, uint64_t id, const struct host_answer *got)
{
	(void)data;
	n_answers++;
	answered_id = id;
	answer = *got;
	snprintf(answered_text, sizeof(answered_text), "%.*s", (int)got->size, got->text);
	snprintf(refused, sizeof(refused), "%s", got->refused ? got->refused : "");
}

static void take_progress(void *data, uint64_t id, const struct json_tape *progress)
{
	(void)data;
	(void)progress;
	answered_id = id;
	n_progress++;
}

static void take_stale(void *data)
{
	(void)data;
	n_stale++;
}

static void take_used(void *data)
{
	(void)data;
	n_used++;
}

static void take_bus_message(
	void *data, const struct json_tape *object, const char *text, size_t size)
{
	(void)data;
	(void)text;
	(void)size;
	has_bus_object = object != NULL;
	n_bus++;
}

static void take_end(void *data, const struct host_exit *got)
{
	(void)data;
	n_ends++;
	end = *got;
	snprintf(end_text, sizeof(end_text), "%s%s%s", got->pointer ? got->pointer : "",
		got->pointer ? " " : "", got->message ? got->message : "");
}

static void do_nothing(void *data)
{
	(void)data;
}

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
}

/* Begin with a host in @state, whose first frame has come. Its calls: from 7 on. */
static void begin(enum host_state state, unsigned int n_calls)
{
	static const struct host_handler handler = {
		.loaded = take_loaded,
		.answered = take_answered,
		.progressed = take_progress,
		.stale = take_stale,
		.used = take_used,
		.bus_message = take_bus_message,
		.ended = take_end,
	};
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	peer = ends[1];
	host = calloc(1, sizeof(*host));
	host->loop = loop;
	host->handler = handler;
	host->wire = ends[0];
	host->listener = -1;
	host->output.fd = -1;
	host->state = state;
	host->has_begun = true;
	host->reader.payload_max = host->answers.payload_max = PAYLOAD_MAX;
	for (host->n_calls = 0; host->n_calls < n_calls; host->n_calls++)
		host->calls[host->n_calls] = 7 + host->n_calls;
	loop_task_init(&host->sending, loop, host_send_gathered, host);
	cr_assert_eq(loop_timer_init(&host->timer, loop, do_nothing, host), 0);
	cr_assert_eq(loop_timer_init(&host->hold, loop, do_nothing, host), 0);
	cr_assert_eq(host_watch(host), 0);
	n_loaded = n_answers = n_progress = n_bus = n_stale = n_used = n_ends = 0;
	answered_id = 0;
	end_text[0] = '\0';
}

static void finish(void)
{
	host_free(host);
	host = NULL;
	close(peer);
}

static void tear_down(void)
{
	if (host)
		finish();
	loop_free(loop);
}

TestSuite(receive, .init = set_up, .fini = tear_down, .timeout = 60);

/* Append a frame to @bytes. */
static void append(struct buffer *bytes, enum wire_kind kind, uint64_t id, const char *payload)
{
	wire_write(bytes, kind, id, payload, strlen(payload), NULL, 0);
}

/* Send @bytes, and let the daemon read them. */
static void put_bytes(const struct buffer *bytes)
{
	cr_assert_eq(send(peer, bytes->data, bytes->size, MSG_NOSIGNAL), (ssize_t)bytes->size);
	for (int i = 0; i < 4; i++)
		loop_run(loop, 0);
}

static void put(enum wire_kind kind, uint64_t id, const char *payload)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	append(&bytes, kind, id, payload);
	put_bytes(&bytes);
}

static void expect_malformed(const char *text)
{
	cr_expect_eq(n_ends, 1, "%s", text);
	cr_expect_eq(end.reason, HOST_MALFORMED, "%s", text);
	cr_expect_str_eq(end_text, text);
}

/* ── the place of each frame ─────────────────────────────────────────────────────────────────── */

/* A host of one call, 7, or of two, and maybe with the bus, or carrying its calls. */
static bool may_come(enum host_state state, bool has_bus, bool carries, unsigned int n_calls,
	enum wire_kind kind, uint64_t id)
{
	switch (kind) {
	case WIRE_LOADED:
	case WIRE_REFUSED:
		return state == HOST_STARTING && id == 0;
	case WIRE_EMIT:
		return has_bus && id == 0;
	case WIRE_STALE:
	case WIRE_NOTE:
	case WIRE_USE:
		return carries && state != HOST_STARTING && id == 0;
	case WIRE_RESULT:
	case WIRE_FAILED:
	case WIRE_ERROR:
	case WIRE_PROGRESS:
		return state == HOST_RUNNING && (id == 7 || (carries && n_calls == 2 && id == 8));
	default:
		return false;
	}
}

/* A frame of @kind for @id comes to a host: it has its effect, or ends the host. */
static void expect_frame(
	enum host_state state, bool has_bus, bool carries, enum wire_kind kind, uint64_t id)
{
	unsigned int n_calls = state != HOST_RUNNING ? 0 : id % 2 + 1;
	bool is_taken = may_come(state, has_bus, carries, n_calls, kind, id);
	unsigned int n_effects;

	begin(state, n_calls);
	host->has_bus = has_bus;
	host->carries = carries;
	put(kind, id, "{}");
	n_effects = n_loaded + n_answers + n_progress + n_bus + n_stale + n_used;
	if (kind == WIRE_NOTE && is_taken)
		n_effects += host->note[0] != '\0';
	if (kind == WIRE_REFUSED && is_taken)
		n_effects += strstr(end_text, "without a place") != NULL;
	else
		cr_expect_eq(n_ends, !is_taken, "state %d, bus %d, carries %d: kind %d, id %d",
			(int)state, has_bus, carries, (int)kind, (int)id);
	cr_expect_eq(n_effects, is_taken, "state %d, bus %d, carries %d: kind %d, id %d",
		(int)state, has_bus, carries, (int)kind, (int)id);
	if (n_answers + n_progress > 0)
		cr_expect_eq(answered_id, id);
	finish();
}

Test(receive, takes_each_frame_in_its_place_alone)
{
	static const enum host_state states[] = {HOST_STARTING, HOST_READY, HOST_RUNNING};

	for (size_t state = 0; state < 3; state++)
		for (int options = 0; options < 4; options++)
			for (int kind = WIRE_LOAD; kind <= WIRE_LAST; kind++)
				for (uint64_t id = 0; id <= 9; id += id ? 1 : 7)
					expect_frame(states[state], options & 1, options & 2,
						(enum wire_kind)kind, id);
}

Test(receive, hands_on_what_a_frame_has)
{
	static const struct {
		enum wire_kind kind;
		enum host_answer_kind answer;
	} rows[] = {
		{WIRE_RESULT, HOST_ANSWER_RESULT},
		{WIRE_FAILED, HOST_ANSWER_FAILED},
		{WIRE_ERROR, HOST_ANSWER_ERROR},
	};

	for (size_t i = 0; i < 3; i++) {
		begin(HOST_RUNNING, 1);
		put(rows[i].kind, 7, "{\"a\":1}");
		cr_expect_eq(n_answers, 1);
		cr_expect_eq(answer.kind, rows[i].answer);
		cr_expect_str_eq(answered_text, "{\"a\":1}");
		cr_expect_eq(answer.tape != NULL, rows[i].kind != WIRE_FAILED);
		cr_expect_eq(answer.reading_ns, 0, "it is short");
		cr_expect_eq(host->state, HOST_READY);
		finish();
	}
	begin(HOST_STARTING, 0);
	loop_timer_arm(&host->timer, 60000);
	put(WIRE_LOADED, 0, "{}");
	cr_expect_eq(n_loaded, 1);
	cr_expect_eq(host->state, HOST_READY);
	cr_expect_not(loop_timer_is_armed(&host->timer));
}

Test(receive, checks_what_a_frame_has)
{
	static const char text[] =
		"sent text that is not JSON, or not UTF-8, or has too many values";
	static const struct {
		enum wire_kind kind;
		const char *payload;
		bool is_good;
	} rows[] = {
		{WIRE_RESULT, "5", true},
		{WIRE_RESULT, "{", false},
		{WIRE_RESULT, "\"\xff\"", false},
		{WIRE_ERROR, "{}", true},
		{WIRE_ERROR, "5", false},
		{WIRE_PROGRESS, "{}", true},
		{WIRE_PROGRESS, "[]", false},
		{WIRE_FAILED, "{ \xc3\xa9", true},
		{WIRE_FAILED, "\xff", false},
		{WIRE_NOTE, "{ \xc3\xa9", true},
		{WIRE_NOTE, "\xff", false},
		{WIRE_USE, "[]", false},
		{WIRE_STALE, "5", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(HOST_RUNNING, 1);
		host->carries = true;
		put(rows[i].kind, rows[i].kind < WIRE_EMIT ? 7 : 0, rows[i].payload);
		if (rows[i].is_good)
			cr_expect_eq(n_ends, 0, "%s", rows[i].payload);
		else
			expect_malformed(text);
		finish();
	}
}

Test(receive, lets_a_tool_lose_a_message_that_is_no_object)
{
	static const char *const payloads[] = {"{}", "[]", "{", "\xff", "{\"a\":[1,2]}"};

	begin(HOST_READY, 0);
	host->has_bus = true;
	host->values_max = 4;
	for (unsigned int i = 0; i < 5; i++) {
		put(WIRE_EMIT, 0, payloads[i]);
		cr_expect_eq(n_bus, i + 1);
		cr_expect_eq(has_bus_object, i == 0, "%s", payloads[i]);
	}
	cr_expect_eq(n_ends, 0);
}

Test(receive, bounds_the_values_of_an_answer)
{
	static const enum wire_kind kinds[] = {WIRE_RESULT, WIRE_ERROR};

	for (size_t i = 0; i < 2; i++) {
		begin(HOST_RUNNING, 1);
		host->values_max = 5;
		put(kinds[i], 7, "{\"a\":[1,2]}");
		cr_expect_str_eq(answered_text, "{\"a\":[1,2]}");
		finish();
		begin(HOST_RUNNING, 1);
		host->values_max = 5;
		put(kinds[i], 7, "{\"a\":[1,2,3]}");
		cr_expect_eq(n_ends, 0);
		cr_expect_eq(answer.kind, HOST_ANSWER_ERROR);
		cr_expect_eq(answered_id, 7);
		cr_expect_str_eq(answered_text, "{\"code\":\"too_large\",\"values\":5}");
		finish();
	}
	begin(HOST_RUNNING, 1);
	host->values_max = 5;
	put(WIRE_PROGRESS, 7, "{\"a\":[1,2,3]}");
	cr_expect_eq(n_ends, 1);
	finish();
	begin(HOST_STARTING, 0);
	host->values_max = 1;
	put(WIRE_LOADED, 0, "{}");
	cr_expect_eq(n_ends, 0, "it may describe many tools");
}

/* ── sizes ───────────────────────────────────────────────────────────────────────────────────── */

/* Send the header of a frame of @size bytes. */
static void put_size(enum wire_kind kind, uint64_t id, uint32_t size)
{
	const struct wire_header header = {.size = size, .kind = kind, .id = id};
	cleanup(buffer_deinit) struct buffer bytes = {0};

	buffer_append(&bytes, &header, sizeof(header));
	put_bytes(&bytes);
}

Test(receive, ends_for_an_answer_over_the_limit)
{
	static const struct {
		enum wire_kind kind;
		uint64_t id;
		enum host_reason reason;
	} rows[] = {
		{WIRE_RESULT, 7, HOST_TOO_LARGE},
		{WIRE_FAILED, 7, HOST_TOO_LARGE},
		{WIRE_ERROR, 7, HOST_TOO_LARGE},
		{WIRE_RESULT, 8, HOST_MALFORMED},
		{WIRE_PROGRESS, 7, HOST_MALFORMED},
		{WIRE_LOADED, 0, HOST_MALFORMED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(HOST_RUNNING, 1);
		put_size(rows[i].kind, rows[i].id, UINT32_MAX);
		cr_expect_eq(n_ends, 1);
		cr_expect_eq(end.reason, rows[i].reason, "row %zu", i);
		if (end.reason == HOST_TOO_LARGE) {
			cr_expect_eq(end.actual, UINT32_MAX);
			cr_expect_eq(end.max, PAYLOAD_MAX);
		} else
			cr_expect_str_eq(end_text, "sent a frame over the limit");
		finish();
	}
	begin(HOST_RUNNING, 1);
	put_size(WIRE_RESULT, 7, PAYLOAD_MAX + 1);
	cr_expect_eq(end.actual, PAYLOAD_MAX + 1);
	finish();
	begin(HOST_RUNNING, 1);
	put_size(WIRE_RESULT, 7, PAYLOAD_MAX);
	cr_expect_eq(n_ends, 0);
}

Test(receive, ends_for_bytes_that_are_no_frame)
{
	static const uint32_t kinds[] = {0, WIRE_LAST + 1, UINT32_MAX};

	for (size_t i = 0; i < 3; i++) {
		begin(HOST_RUNNING, 1);
		put_size((enum wire_kind)kinds[i], 7, 0);
		expect_malformed("sent bytes that are not a frame");
		finish();
	}
}

/* ── frames in a row ─────────────────────────────────────────────────────────────────────────── */

/* Send frames of @first and @second for these calls together. */
static void put_both(enum wire_kind first, uint64_t id, enum wire_kind second, uint64_t next_id)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	append(&bytes, first, id, "{}");
	append(&bytes, second, next_id, "{}");
	put_bytes(&bytes);
}

Test(receive, ends_for_what_follows_the_last_answer)
{
	static const char text[] = "sent more than one answer";

	begin(HOST_RUNNING, 1);
	put_both(WIRE_RESULT, 7, WIRE_RESULT, 7);
	expect_malformed(text);
	cr_expect_eq(n_answers, 0);
	finish();
	begin(HOST_STARTING, 0);
	put_both(WIRE_LOADED, 0, WIRE_LOADED, 0);
	expect_malformed(text);
	finish();
	begin(HOST_RUNNING, 1);
	put_both(WIRE_PROGRESS, 7, WIRE_RESULT, 7);
	cr_expect_eq(n_ends, 0);
	cr_expect_eq(n_progress, 1);
	cr_expect_eq(n_answers, 1);
	finish();
	begin(HOST_RUNNING, 2);
	put_both(WIRE_RESULT, 7, WIRE_RESULT, 8);
	cr_expect_eq(n_ends, 0);
	cr_expect_eq(n_answers, 2);
	cr_expect_eq(host->state, HOST_READY);
	finish();
	begin(HOST_RUNNING, 1);
	host->has_bus = true;
	put_both(WIRE_RESULT, 7, WIRE_EMIT, 0);
	cr_expect_eq(n_ends, 0);
	cr_expect_eq(n_bus, 1);
	finish();
	begin(HOST_RUNNING, 1);
	host->carries = true;
	put_both(WIRE_RESULT, 7, WIRE_STALE, 0);
	cr_expect_eq(n_ends, 0);
	cr_expect_eq(n_stale, 1);
}

Test(receive, advances_to_the_next_call)
{
	begin(HOST_RUNNING, 3);
	put(WIRE_RESULT, 7, "1");
	cr_expect_eq(host->n_calls, 2);
	put(WIRE_RESULT, 8, "2");
	cr_expect_eq(host->state, HOST_RUNNING);
	put(WIRE_RESULT, 9, "3");
	cr_expect_eq(n_answers, 3);
	cr_expect_eq(host->n_calls, 0);
	cr_expect_eq(host->state, HOST_READY);
}

Test(receive, drops_what_comes_for_cancelled_calls)
{
	begin(HOST_RUNNING, 1);
	host->carries = true;
	host->n_cancelled = 2;
	loop_timer_arm(&host->timer, 60000);
	put(WIRE_PROGRESS, 3, "{}");
	cr_expect_eq(host->n_cancelled, 2);
	put(WIRE_RESULT, 3, "{}");
	cr_expect_eq(host->n_cancelled, 1);
	cr_expect(loop_timer_is_armed(&host->timer), "for the other one");
	put(WIRE_FAILED, 4, "x");
	cr_expect_eq(host->n_cancelled, 0);
	cr_expect_not(loop_timer_is_armed(&host->timer));
	cr_expect_eq(n_ends, 0);
	cr_expect_eq(n_answers + n_progress, 0);
	put(WIRE_RESULT, 5, "{}");
	expect_malformed("sent a frame that was not expected");
	finish();
	begin(HOST_RUNNING, 1);
	host->carries = true;
	host->n_cancelled = 1;
	put(WIRE_RESULT, 0, "{}");
	expect_malformed("sent a frame that was not expected");
	finish();
	begin(HOST_RUNNING, 1);
	host->carries = true;
	host->n_cancelled = 1;
	put(WIRE_LOADED, 3, "{}");
	expect_malformed("sent a frame that was not expected");
}

Test(receive, leaves_the_timer_of_a_failed_host_alone)
{
	begin(HOST_RUNNING, 1);
	host->carries = host->is_failed = true;
	host->n_cancelled = 1;
	loop_timer_arm(&host->timer, 60000);
	put(WIRE_RESULT, 3, "{}");
	cr_expect_eq(host->n_cancelled, 0);
	cr_expect(loop_timer_is_armed(&host->timer));
}

/* ── facts beside answers ────────────────────────────────────────────────────────────────────── */

Test(receive, ends_with_the_reason_of_a_refusal)
{
	static const char none[] = "refused its toolbox without a place and a reason";
	static const struct {
		const char *payload;
		const char *expected;
	} rows[] = {
		{"{\"pointer\":\"/a\",\"message\":\"is bad\"}", "/a is bad"},
		{"{\"pointer\":\"\",\"message\":\"\"}", " "},
		{"{\"pointer\":\"/a\"}", none},
		{"{\"message\":\"is bad\"}", none},
		{"{\"pointer\":1,\"message\":\"is bad\"}", none},
		{"{\"pointer\":\"/a\",\"message\":[]}", none},
		{"{\"pointer\":\"/a\",\"message\":\"is\\u0000bad\"}", none},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(HOST_STARTING, 0);
		put(WIRE_REFUSED, 0, rows[i].payload);
		cr_expect_eq(n_ends, 1);
		cr_expect_str_eq(end_text, rows[i].expected);
		cr_expect_eq(end.reason, rows[i].expected == none ? HOST_MALFORMED : HOST_REFUSED,
			"%s", rows[i].payload);
		finish();
	}
}

/* The refused call may be any of several. */
Test(receive, names_a_refused_system_call_with_the_answer_of_its_call)
{
	for (int carries = 0; carries < 2; carries++) {
		begin(HOST_RUNNING, 2);
		host->carries = carries;
		strcpy(host->refused, "fork");
		put(WIRE_FAILED, 7, "no");
		cr_expect_str_eq(refused, carries ? "" : "fork");
		cr_expect_str_eq(host->refused, carries ? "fork" : "");
		put(WIRE_FAILED, 8, "no");
		cr_expect_str_eq(refused, carries ? "fork" : "");
		cr_expect_str_eq(host->refused, "");
		finish();
	}
}

Test(receive, keeps_the_last_note)
{
	char text[300] = "";

	memset(text, 'n', sizeof(text) - 1);
	begin(HOST_RUNNING, 1);
	host->carries = true;
	cr_expect_null(host_note(host, 0));
	put(WIRE_NOTE, 0, "first");
	cr_expect_str_eq(host_note(host, 0), "first");
	cr_expect_str_eq(host_note(host, host->noted_ns), "first");
	cr_expect_null(host_note(host, host->noted_ns + 1), "of an earlier call");
	put(WIRE_NOTE, 0, text);
	cr_expect_eq(strlen(host_note(host, 0)), HOST_NOTE_BYTES / 4 - 1, "code points");
	put(WIRE_NOTE, 0, "");
	cr_expect_null(host_note(host, 0));
}

Test(receive, knows_whether_its_toolbox_is_in_use)
{
	begin(HOST_READY, 0);
	host->carries = true;
	cr_expect_not(host_is_in_use(host));
	put(WIRE_USE, 0, "{\"is_in_use\":true}");
	cr_expect(host_is_in_use(host));
	put(WIRE_USE, 0, "{\"is_in_use\":false}");
	cr_expect_not(host_is_in_use(host));
	cr_expect_eq(n_used, 2);
}

/* ── the first frame, and descriptors ────────────────────────────────────────────────────────── */

/* Send a header with a descriptor beside it. */
static void put_descriptor(enum wire_kind kind, uint32_t size)
{
	const struct wire_header header = {.size = size, .kind = kind};
	int pipes[2];

	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	cr_assert_eq(pass_send(peer, &header, sizeof(header), pipes[0]), 0);
	for (int i = 0; i < 4; i++)
		loop_run(loop, 0);
	close(pipes[0]);
	close(pipes[1]);
}

Test(receive, takes_the_listener_with_the_first_frame)
{
	begin(HOST_STARTING, 0);
	host->has_begun = false;
	put_descriptor(WIRE_LISTENER, 0);
	cr_expect_eq(n_ends, 0);
	cr_expect(host->listener >= 0 || !host->refusals, "its end was closed at once");
	put(WIRE_LOADED, 0, "{}");
	cr_expect_eq(n_loaded, 1);
	finish();
	/* There may be no sandbox. */
	begin(HOST_STARTING, 0);
	host->has_begun = false;
	put(WIRE_LISTENER, 0, "");
	cr_expect_eq(host->listener, -1);
	put(WIRE_LOADED, 0, "{}");
	cr_expect_eq(n_loaded, 1);
}

Test(receive, takes_no_other_descriptor)
{
	size_t before = descriptors_count();

	begin(HOST_STARTING, 0);
	host->has_begun = false;
	put_descriptor(WIRE_LOADED, 0);
	expect_malformed("sent a descriptor");
	finish();
	begin(HOST_STARTING, 0);
	host->has_begun = false;
	put_descriptor(WIRE_LISTENER, 1);
	expect_malformed("sent a descriptor");
	finish();
	begin(HOST_RUNNING, 1);
	put_descriptor(WIRE_LISTENER, 0);
	expect_malformed("sent a descriptor");
	finish();
	descriptors_expect(before);
}

Test(receive, goes_on_with_a_first_frame_that_comes_in_pieces)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct buffer piece = {0};

	begin(HOST_STARTING, 0);
	host->has_begun = false;
	append(&bytes, WIRE_LOADED, 0, "{}");
	for (size_t i = 0; i < bytes.size; i++) {
		cr_expect_eq(n_loaded, 0);
		piece.data = bytes.data + i;
		piece.size = 1;
		put_bytes(&piece);
	}
	cr_expect_eq(n_loaded, 1);
	cr_expect_eq(n_ends, 0);
}

/* The end of the process follows, and gives the reason. */
Test(receive, waits_for_the_end_of_the_process_behind_the_end_of_the_socket)
{
	for (int has_begun = 0; has_begun < 2; has_begun++) {
		begin(HOST_STARTING, 0);
		host->has_begun = has_begun;
		shutdown(peer, SHUT_WR);
		loop_run(loop, 0);
		cr_expect_null(host->source);
		cr_expect(loop_timer_is_armed(&host->timer));
		cr_expect_eq(n_ends, 0);
		finish();
	}
}

/* ── refused system calls ────────────────────────────────────────────────────────────────────── */

/* Let @host listen at a pipe with a byte in it, as if a refused call were waiting. */
static int begin_refusals(void)
{
	int pipes[2];

	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	cr_assert_eq(write(pipes[1], "x", 1), 1);
	cr_assert_eq(host_take_listener(host, pipes[0]), 0);
	return pipes[1];
}

Test(receive, gives_up_the_listener_of_a_host_that_loops_over_refused_calls)
{
	uint32_t most = 0;
	int fd;

	begin(HOST_RUNNING, 1);
	fd = begin_refusals();
	loop_source_free(host->source);
	host->source = NULL;
	while (host->listener >= 0) {
		most = host->n_refusals;
		host->refusals_ms = clock_now_ms();
		loop_run(loop, 0);
	}
	cr_expect_eq(most, HOST_REFUSALS_MAX);
	cr_expect_null(host_refused(host));
	close(fd);
}

Test(receive, counts_refused_calls_anew_in_each_window)
{
	int fd;

	begin(HOST_RUNNING, 1);
	fd = begin_refusals();
	host->n_refusals = 50;
	host->refusals_ms = clock_now_ms() - HOST_REFUSAL_WINDOW_MS;
	loop_run(loop, 0);
	cr_expect_eq(host->n_refusals, 1);
	close(fd);
}

Test(receive, closes_the_listener_of_a_host_without_threads)
{
	int fd;

	begin(HOST_RUNNING, 1);
	fd = begin_refusals();
	cr_assert_eq(read(host->listener, &(char){0}, 1), 1);
	loop_run(loop, 0);
	cr_expect_geq(host->listener, 0);
	close(fd);
	loop_run(loop, 0);
	cr_expect_eq(host->listener, -1);
	cr_expect_null(host->refusals);
}

/* Its call may be over: the refused call is one of a later call of a tool. */
Test(receive, takes_answers_before_a_refused_call)
{
	int fd;

	begin(HOST_RUNNING, 2);
	fd = begin_refusals();
	cr_assert_eq(send(peer, "x", 1, 0), 1);
	loop_source_set_events(host->source, 0);
	loop_run(loop, 0);
	cr_expect_eq(host->n_refusals, 0, "something is unread");
	host->n_calls = 1;
	loop_run(loop, 0);
	cr_expect_eq(host->n_refusals, 1, "there is no later call");
	close(fd);
}
