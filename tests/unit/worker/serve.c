/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/serve.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "quotes.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "wire/wire.h"

/* A host that is sent written frames, and its answers. JSON is written with ' in place of ". */

static struct buffer frames;
static struct wire_reader answers = {.payload_max = 65536};

static void tear_down(void)
{
	buffer_deinit(&frames);
	wire_reader_deinit(&answers);
}

TestSuite(serve, .fini = tear_down, .timeout = 60);

static void add(enum wire_kind kind, uint64_t id, const char *json)
{
	cleanup_free char *text = quoted(json);

	wire_write(&frames, kind, id, text, strlen(text), NULL, 0);
}

/* Add a call of @tool with these arguments, and a caller of @caller_size bytes that are "". */
static void add_call(enum wire_kind kind, uint64_t id, uint32_t tool, const char *json)
{
	const struct wire_invoke invoke = {
		.tool = tool, .timeout_ms = 60000, .output_max = 1000, .stderr_max = 1000};
	cleanup_free char *text = quoted(json);

	wire_write(&frames, kind, id, &invoke, sizeof(invoke), text, strlen(text));
}

/* Serve the frames, up to their end, and forget them. Return the result. */
static int serve(void)
{
	char bytes[65536];
	int ends[2];
	ssize_t n;
	int r;

	wire_reader_deinit(&answers);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	cr_assert_eq(send(ends[0], frames.data, frames.size, 0), (ssize_t)frames.size);
	shutdown(ends[0], SHUT_WR);
	r = serve_daemon(ends[1]);
	close(ends[1]);
	while ((n = recv(ends[0], bytes, sizeof(bytes), 0)) > 0) {
		size_t room;
		char *space = wire_reader_space(&answers, &room);

		cr_assert_leq((size_t)n, room);
		memcpy(space, bytes, (size_t)n);
		wire_reader_received(&answers, (size_t)n);
	}
	close(ends[0]);
	buffer_reset(&frames);
	return r;
}

/* Expect the next answer, with the bytes @payload. */
static void expect_bytes(enum wire_kind kind, uint64_t id, const char *payload)
{
	struct wire_frame frame;

	cr_assert_eq(wire_reader_next(&answers, &frame), 0, "no frame for %s", payload);
	cr_expect_eq(frame.kind, kind, "%u: %.*s", frame.kind, (int)frame.size, frame.payload);
	cr_expect_eq(frame.id, id);
	cr_expect(frame.size == strlen(payload) && memcmp(frame.payload, payload, frame.size) == 0,
		"%.*s, not: %s", (int)frame.size, frame.payload, payload);
}

static void expect_answer(enum wire_kind kind, uint64_t id, const char *json)
{
	cleanup_free char *payload = quoted(json);

	expect_bytes(kind, id, payload);
}

static void expect_end(void)
{
	cr_expect_not(wire_reader_has_more(&answers));
}

#define COMMANDS                                                                                   \
	"{'kind':'command','toolbox_id':'t','tools':[{'name':'f','shell':'cat','output':'json'},"  \
	"{'name':'g','shell':'echo $UNIT_A'}]}"

Test(serve, ends_with_the_daemon)
{
	cr_expect_eq(serve(), 0);
	expect_end();
	add(WIRE_LOAD, 0, COMMANDS);
	cr_expect_eq(serve(), 0);
	expect_answer(WIRE_LISTENER, 0, "");
	expect_answer(WIRE_LOADED, 0, "{'missing':''}");
	expect_end();
}

Test(serve, runs_calls_one_after_the_other)
{
	wire_write(&frames, WIRE_ENVIRONMENT, 0, "UNIT_A=1\0", 10, NULL, 0);
	add(WIRE_LOAD, 0, COMMANDS);
	add_call(WIRE_INVOKE, 7, 0, "{'a':1}");
	add(WIRE_REPLACED, 0, "");
	add_call(WIRE_INVOKE, 8, 1, "{}");
	cr_expect_eq(serve(), 0);
	expect_answer(WIRE_LISTENER, 0, "");
	expect_answer(WIRE_LOADED, 0, "{'missing':''}");
	expect_answer(WIRE_RESULT, 7, "{'a':1}");
	expect_answer(WIRE_RESULT, 8, "{'output':'1'}");
	expect_end();
}

Test(serve, takes_no_call_that_is_none)
{
	static const enum wire_kind kinds[] = {
		WIRE_CHECK, WIRE_CANCEL, WIRE_RESULT, WIRE_LOAD, WIRE_ENVIRONMENT, WIRE_MESSAGE};
	struct wire_invoke invoke = {.caller_size = 3};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		add(WIRE_LOAD, 0, COMMANDS);
		add_call(kinds[i], 7, 0, "{}");
		cr_expect_eq(serve(), -EPROTO, "%u", kinds[i]);
	}
	add(WIRE_LOAD, 0, COMMANDS);
	add_call(WIRE_INVOKE, 7, 2, "{}");
	cr_expect_eq(serve(), -EPROTO, "there is no such tool");
	add(WIRE_LOAD, 0, COMMANDS);
	wire_write(&frames, WIRE_INVOKE, 7, &invoke, sizeof(invoke) - 1, NULL, 0);
	cr_expect_eq(serve(), -EPROTO, "a part of a call");
	add(WIRE_LOAD, 0, COMMANDS);
	wire_write(&frames, WIRE_INVOKE, 7, &invoke, sizeof(invoke), "{}", 2);
	cr_expect_eq(serve(), -EPROTO, "its caller is larger than the frame");
	add(WIRE_LOAD, 0, COMMANDS);
	invoke.caller_size = 2;
	invoke.output_max = 100;
	wire_write(&frames, WIRE_INVOKE, 7, &invoke, sizeof(invoke), "{}{}", 4);
	cr_expect_eq(serve(), 0);
	expect_answer(WIRE_LISTENER, 0, "");
	expect_answer(WIRE_LOADED, 0, "{'missing':''}");
	expect_answer(WIRE_RESULT, 7, "{}");
}

Test(serve, loads_nothing_before_its_frame)
{
	static const enum wire_kind kinds[] = {
		WIRE_INVOKE, WIRE_CANCEL, WIRE_LOADED, WIRE_REPLACED};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		add(kinds[i], 0, COMMANDS);
		cr_expect_eq(serve(), -EPROTO, "%u", kinds[i]);
		expect_end();
	}
	add(WIRE_ENVIRONMENT, 0, "x");
	add(WIRE_LOAD, 0, COMMANDS);
	cr_expect_eq(serve(), -EPROTO, "no environment");
	expect_end();
	wire_write(&frames, WIRE_ENVIRONMENT, 0, "\0", 1, NULL, 0);
	wire_write(&frames, WIRE_ENVIRONMENT, 0, "\0", 1, NULL, 0);
	cr_expect_eq(serve(), -EPROTO, "two environments");
	expect_end();
}

Test(serve, takes_no_load_frame_that_is_none)
{
	static const char *const texts[] = {
		"{",
		"{'kind':'command','tools':[],'sandbox':5}",
		"{'kind':'command','tools':[],'sandbox':{'class':'x'}}",
		"{'kind':'command','tools':[],'memory_mb':-1}",
		"{'kind':'command','tools':[],'libraries':[5]}",
		"{'kind':'command','tools':[],'libraries':['1','2','3','4','5','6','7','8','9']}",
		"{'kind':'command','tools':[],'library':'0','libraries':['1','2','3','4','5','6',"
		"'7','8']}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		add(WIRE_LOAD, 0, texts[i]);
		cr_expect_eq(serve(), -EPROTO, "%s", texts[i]);
		expect_end();
	}
}

Test(serve, knows_no_other_kind)
{
	static const char *const texts[] = {"{}", "{'kind':'x'}", "{'kind':''}", "{'kind':5}"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		add(WIRE_LOAD, 0, texts[i]);
		cr_expect_eq(serve(), -EPROTO, "%s", texts[i]);
		expect_answer(WIRE_LISTENER, 0, "");
		expect_end();
	}
}

Test(serve, tells_why_it_does_not_load)
{
	add(WIRE_LOAD, 0, "{'kind':'native','toolbox_id':'t','tools':[]}");
	cr_expect_eq(serve(), 0);
	expect_answer(WIRE_LISTENER, 0, "");
	expect_bytes(WIRE_REFUSED, 0,
		"{\"pointer\":\"\",\"message\":\"'library' must be a path or a name\"}");
	expect_end();
	add(WIRE_LOAD, 0, "{'kind':'native','toolbox_id':'t','library':'/none/x','tools':[]}");
	add_call(WIRE_INVOKE, 7, 0, "{}");
	cr_expect_eq(serve(), -EPROTO, "nothing can be called");
	expect_answer(WIRE_LISTENER, 0, "");
	expect_bytes(WIRE_REFUSED, 0,
		"{\"pointer\":\"/library\",\"message\":\"cannot load the library: /none/x: cannot "
		"open shared object file: No such file or directory (a relative path starts at "
		"the manifest's folder)\"}");
	expect_end();
}

/* Expect the reason against the library @name. */
static void expect_no_library(const char *name, const char *message)
{
	cleanup(buffer_deinit) struct buffer load = {0};
	cleanup(buffer_deinit) struct buffer refused = {0};

	buffer_printf(&load, "{'kind':'native','toolbox_id':'t','library':'%s','tools':[]}", name);
	buffer_printf(&refused,
		"{\"pointer\":\"/library\",\"message\":\"cannot load the library: %s\"}", message);
	add(WIRE_LOAD, 0, buffer_terminate(&load));
	cr_expect_eq(serve(), 0, "%s", name);
	expect_answer(WIRE_LISTENER, 0, "");
	expect_bytes(WIRE_REFUSED, 0, buffer_terminate(&refused));
	expect_end();
}

Test(serve, advises_on_a_library_that_cannot_be_loaded)
{
	expect_no_library("libno-such.so",
		"libno-such.so: cannot open shared object file: No such file or directory (build "
		"it beside its manifest, or give its path, or a name that the dynamic linker "
		"finds: ldconfig -p)");
	expect_no_library("/etc/passwd", "/etc/passwd: invalid ELF header (is it a shared library "
					 "for this machine? Ask file(1))");
	expect_no_library("/dev/null", "/dev/null is not a regular file");
	expect_no_library("/", "/ is not a regular file");
}
