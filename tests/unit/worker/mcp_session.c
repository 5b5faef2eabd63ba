/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/session.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/client/pin.h"
#include "quotes.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/*
 * A session with a server that is only the messages of these tests, and the daemon's end of the
 * wire. JSON is written with ' in place of ".
 */

static struct mcp_session session;
static struct diagnostics problems;
static struct buffer carried; /* the messages to the server, a line each */
static int daemon_end;
static bool has_no_room;
static unsigned int n_lost;
static char secret_file[64];

static bool has_room(const struct mcp_session *asked, size_t size)
{
	(void)asked;
	(void)size;
	return !has_no_room;
}

static int lose(struct mcp_session *losing, struct mcp_flight *flight)
{
	n_lost++;
	return mcp_session_miss(losing, flight, TEXT_VIEW("it is gone"));
}

static int carry(struct mcp_session *carrying, const struct mcp_action *action)
{
	(void)carrying;
	if (action->kind == MCP_ACT_CLOSE)
		buffer_printf(&carried, "close %" PRIu64 "\n", action->request_id);
	else
		buffer_printf(&carried, "%.*s\n", (int)action->text.size, action->text.text);
	return buffer_status(&carried);
}

static const struct mcp_transport transport = {.has_room = has_room, .lose = lose, .carry = carry};

static void set_up(void)
{
	int fd;

	snprintf(secret_file, sizeof(secret_file), "/tmp/unit-secret-XXXXXX");
	fd = mkstemp(secret_file);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "s3cret-value\n", 13), 13);
	close(fd);
}

static void tear_down(void)
{
	unlink(secret_file);
	mcp_session_deinit(&session);
	diagnostics_deinit(&problems);
	buffer_deinit(&carried);
}

TestSuite(mcp_session, .init = set_up, .fini = tear_down, .timeout = 60);

/* Read the LOAD frame with these members beside the server. */
static int init(const char *members)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	char text[2048];
	char *json;
	int ends[2];
	int r;

	snprintf(text, sizeof(text),
		"{'start_timeout_ms':60000,"
		"'mcp':{'argv':['x'],'cwd':'/','env':{'A':'${file:%s}'}}%s}",
		secret_file, members);
	json = quoted(text);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	daemon_end = ends[0];
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	r = mcp_session_init(&session, &transport,
		&(struct driver_load){
			.tape = &tape, .wire = ends[1], .text = json, .text_size = strlen(json)},
		&problems);
	free(json);
	return r;
}

/* Pass a message of the server. */
static int take(const char *text)
{
	char *json = quoted(text);
	int r = mcp_session_take(&session, 0, json, strlen(json));

	free(json);
	return r;
}

/* Expect a message to the server with @part since the last time. */
static void expect_carried(const char *part)
{
	cleanup_free char *json = quoted(part);

	cr_expect(strstr(buffer_terminate(&carried), json), "%s\nis not in %s", json, carried.data);
	buffer_reset(&carried);
}

#define TOOL_ADD "{'name':'add','inputSchema':{'type':'object'}}"
#define TOOL_SUB "{'name':'sub','inputSchema':{'type':'object'}}"

/* Write the pin of the tool @element, and return the digest of the list of @elements. */
static uint64_t pin_of(const char *element, char ret_pin[2 * MCP_PIN_BYTES + 1])
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	unsigned char pin[MCP_PIN_BYTES];
	uint64_t digest = 0;
	char text[512];
	char *json;

	snprintf(text, sizeof(text), "[%s]", element);
	json = quoted(text);
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(mcp_pin(&tape, json_first(&tape, 0), pin), 0);
	text_write_hex(pin, sizeof(pin), ret_pin);
	cr_assert_eq(mcp_list_digest(&tape, 0, &digest), 0);
	free(json);
	return digest;
}

/* Be ready with a legacy server that lists @elements, of which callers see `add`, and, of another
 * shape than it has, `sub`. */
static void begin_with(const char *elements)
{
	char pin[2 * MCP_PIN_BYTES + 1];
	char members[512];
	char list[512];
	uint64_t digest = pin_of(TOOL_ADD, pin);

	snprintf(members, sizeof(members),
		",'legacy':true,'digest':%" PRIu64
		",'tools':[{'name':'add','pin':'%s','reads':true},{'name':'sub','pin':'00'}]",
		digest, pin);
	cr_assert_eq(init(members), 0);
	cr_assert_eq(mcp_session_begin(&session), 0);
	expect_carried("'method':'initialize'");
	cr_assert_eq(take("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-06-18',"
			  "'capabilities':{'tools':{}},'serverInfo':{'name':'x','version':'1'}}}"),
		0);
	expect_carried("'method':'tools/list'");
	snprintf(list, sizeof(list), "{'jsonrpc':'2.0','id':2,'result':{'tools':[%s]}}", elements);
	cr_assert_eq(take(list), 0);
}

static int invoke(uint64_t id, uint32_t tool, uint32_t output_max)
{
	static const char arguments[] = "{\"a\":1}";

	return mcp_session_invoke(&session, &(struct driver_call){.id = id,
						    .tool = tool,
						    .output_max = output_max,
						    .arguments = arguments,
						    .size = strlen(arguments)});
}

/* Expect the next frame of the wire. */
static void expect_frame(enum wire_kind kind, uint64_t id, const char *payload)
{
	struct wire_header header = {0};
	char bytes[4096];
	cleanup_free char *json = quoted(payload);

	cr_assert_eq(recv(daemon_end, &header, sizeof(header), MSG_WAITALL | MSG_DONTWAIT),
		sizeof(header), "no frame for %s", payload);
	cr_assert_lt(header.size, sizeof(bytes));
	cr_assert_eq(recv(daemon_end, bytes, header.size, MSG_WAITALL), header.size);
	bytes[header.size] = '\0';
	cr_expect_eq(header.kind, kind, "%u: %s", header.kind, bytes);
	cr_expect_eq(header.id, id, "%s", bytes);
	cr_expect_str_eq(bytes, json, "%s", bytes);
}

static void expect_no_frame(void)
{
	char byte;

	cr_expect_eq(recv(daemon_end, &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_session, answers_each_call_once_with_its_result)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	expect_carried("'method':'tools/call'");
	cr_expect(mcp_session_has_calls(&session));
	expect_no_frame();
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[{'type':'text',"
			  "'text':'two'}]}}"),
		0);
	expect_frame(WIRE_RESULT, 7, "{'content':[{'type':'text','text':'two'}]}");
	cr_expect_not(mcp_session_has_calls(&session));
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[]}}"), 0);
	expect_no_frame();
}

Test(mcp_session, answers_calls_in_the_order_of_their_responses)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(invoke(8, 0, 1000), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':4,'result':{'content':[]}}"), 0);
	expect_frame(WIRE_RESULT, 8, "{'content':[]}");
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'error':{'code':-1,'message':'no'}}"), 0);
	expect_frame(WIRE_FAILED, 7, "no");
}

Test(mcp_session, refuses_a_result_that_is_too_large)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 14), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[]}}"), 0);
	expect_frame(WIRE_RESULT, 7, "{'content':[]}");
	cr_assert_eq(invoke(8, 0, 13), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':4,'result':{'content':[]}}"), 0);
	expect_frame(WIRE_ERROR, 8, "{'code':'too_large','actual':14,'max':13}");
}

Test(mcp_session, calls_no_tool_that_is_not_as_callers_see_it)
{
	begin_with(TOOL_SUB);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	expect_frame(WIRE_FAILED, 7, "the server does not list this tool any more");
	cr_assert_eq(invoke(8, 1, 1000), 0);
	expect_frame(WIRE_FAILED, 8,
		"the server has changed this tool since it was described; its list is read again");
	buffer_terminate(&carried);
	cr_expect_null(strstr(carried.data, "tools/call"));
	cr_expect_not(mcp_session_has_calls(&session));
}

Test(mcp_session, refuses_a_call_that_the_server_cannot_be_sent)
{
	begin_with(TOOL_ADD);
	has_no_room = true;
	cr_assert_eq(invoke(7, 0, 1000), 0);
	expect_frame(
		WIRE_FAILED, 7, "the server cannot be sent so much now, since it does not read it");
}

Test(mcp_session, takes_no_call_of_a_tool_that_it_does_not_know_or_twice)
{
	begin_with(TOOL_ADD);
	cr_expect_eq(invoke(7, 2, 1000), -EINVAL);
	cr_expect_eq(invoke(7, 0, 1000), 0);
	cr_expect_eq(invoke(7, 0, 1000), -EPROTO);
}

Test(mcp_session, carries_as_many_calls_as_it_may)
{
	begin_with(TOOL_ADD);
	for (uint64_t i = 0; i < WIRE_CALLS_MAX; i++)
		cr_assert_eq(invoke(100 + i, 0, 1000), 0);
	cr_expect_eq(invoke(99, 0, 1000), -EPROTO);
}

Test(mcp_session, ends_a_call_that_is_cancelled_and_tells_the_server)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(mcp_session_cancel(&session, 8, false), 0);
	expect_no_frame();
	cr_assert_eq(mcp_session_cancel(&session, 7, false), 0);
	expect_frame(WIRE_FAILED, 7, "cancelled");
	expect_carried("'method':'notifications/cancelled'");
	cr_assert_eq(mcp_session_cancel(&session, 7, false), 0);
	expect_no_frame();
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[]}}"), 0);
	expect_no_frame();
}

Test(mcp_session, passes_progress_on)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','method':'notifications/progress','params':"
			  "{'progressToken':3,'progress':1,'total':4,'message':'begun'}}"),
		0);
	expect_frame(WIRE_PROGRESS, 7, "{'progress':0.25,'text':'begun'}");
	for (unsigned int i = 0; i < 20; i++)
		cr_assert_eq(take("{'jsonrpc':'2.0','method':'notifications/progress','params':"
				  "{'progressToken':3,'progress':2,'total':4}}"),
			0);
	cr_assert_eq(take("{'jsonrpc':'2.0','method':'notifications/progress','params':"
			  "{'progressToken':99,'progress':1}}"),
		0);
	cr_assert_eq(mcp_session_cancel(&session, 7, true), 0);
}

/* ── a list that has changed ─────────────────────────────────────────────────────────────────── */

Test(mcp_session, reports_once_that_callers_see_another_list)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(mcp_session_report(&session), 0);
	expect_no_frame();
	mcp_session_deinit(&session);
	session = (struct mcp_session){0};
	begin_with(TOOL_ADD "," TOOL_SUB);
	cr_assert_eq(mcp_session_report(&session), 0);
	expect_frame(WIRE_STALE, 0, "{}");
	cr_assert_eq(mcp_session_report(&session), 0);
	expect_no_frame();
}

Test(mcp_session, describes_the_list_that_it_was_asked_for)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *expected = quoted(",'list':[" TOOL_ADD "],'legacy':true");

	cr_assert_eq(init(",'legacy':true"), 0);
	cr_assert_eq(mcp_session_begin(&session), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-06-18',"
			  "'capabilities':{'tools':{}}}}"),
		0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':2,'result':{'tools':[" TOOL_ADD "]}}"), 0);
	mcp_session_describe(&session, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s", out.data);
	cr_expect_not(mcp_session_has_failed(&session));
}

Test(mcp_session, has_failed_when_the_server_lists_no_tools)
{
	cr_assert_eq(init(",'legacy':true"), 0);
	cr_assert_eq(mcp_session_begin(&session), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-06-18',"
			  "'capabilities':{'tools':{}}}}"),
		0);
	cr_expect_not(mcp_session_has_failed(&session));
	cr_assert_eq(take("{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'broken "
			  "s3cret-value'}}"),
		0);
	cr_expect(mcp_session_has_failed(&session));
	cr_expect_null(strstr(buffer_terminate(&session.failure), "s3cret-value"), "%s",
		session.failure.data);
}

/* ── secrets ─────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_session, lets_no_secret_of_its_server_out)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[{'type':'text',"
			  "'text':'it is s3cret-value.'}]}}"),
		0);
	expect_frame(WIRE_RESULT, 7, "{'content':[{'type':'text','text':'it is ***.'}]}");
	cr_assert_eq(invoke(8, 0, 1000), 0);
	cr_assert_eq(
		take("{'jsonrpc':'2.0','id':4,'error':{'code':-1,'message':'bad s3cret-value'}}"),
		0);
	expect_frame(WIRE_FAILED, 8, "bad ***");
	cr_assert_eq(invoke(9, 0, 1000), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','method':'notifications/progress','params':"
			  "{'progressToken':5,'progress':1,'total':2,'message':'s3cret-value'}}"),
		0);
	expect_frame(WIRE_PROGRESS, 9, "{'progress':0.5,'text':'***'}");
}

Test(mcp_session, notes_a_rule_that_is_broken_while_a_call_may_wait_for_it)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(take("nonsense"), 0);
	expect_no_frame();
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(take("nonsense s3cret-value"), 0);
	cr_expect_eq(recv(daemon_end, (char[8]){0}, 8, MSG_PEEK | MSG_DONTWAIT), 8);
	cr_expect_eq(session.n_notes, 2);
	cr_expect_null(strstr(buffer_terminate(&session.last_note), "s3cret-value"));
}

/* Two keys would be the same if the secret in the second key were masked. */
#define TWO_KEYS "{'***':1,'s3cret-value':2}"

Test(mcp_session, shows_nothing_whose_secrets_cannot_be_masked)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_assert_eq(
		take("{'jsonrpc':'2.0','id':3,'result':{'content':[],'structuredContent':" TWO_KEYS
		     "}}"),
		0);
	expect_frame(
		WIRE_FAILED, 7, "the result has a secret of this toolbox, which cannot be masked");
	mcp_session_deinit(&session);
	session = (struct mcp_session){0};
	cr_assert_eq(init(",'legacy':true"), 0);
	cr_assert_eq(mcp_session_begin(&session), 0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-06-18',"
			  "'capabilities':{'tools':{}}}}"),
		0);
	cr_assert_eq(take("{'jsonrpc':'2.0','id':2,'result':{'tools':[{'name':'a','inputSchema':{"
			  "'type':'object','default':" TWO_KEYS "}}]}}"),
		0);
	cr_expect(mcp_session_has_failed(&session));
	cr_expect_str_eq(buffer_terminate(&session.failure),
		"its list of tools has a secret that cannot be masked");
}

Test(mcp_session, logs_20_notes_and_counts_the_rest)
{
	int log = memfd_create("log", MFD_CLOEXEC);
	int before = dup(STDERR_FILENO);
	char bytes[8192];
	ssize_t n;
	size_t lines = 0;

	begin_with(TOOL_ADD);
	dup2(log, STDERR_FILENO);
	for (int i = 0; i < 25; i++)
		cr_assert_eq(take("x s3cret-value"), 0);
	dup2(before, STDERR_FILENO);
	close(before);
	n = pread(log, bytes, sizeof(bytes) - 1, 0);
	cr_assert_gt(n, 0);
	bytes[n] = '\0';
	for (char *at = bytes; (at = strchr(at, '\n')); at++)
		lines++;
	cr_expect_eq(lines, 20, "%zu", lines);
	cr_expect_eq(session.n_notes, 25);
	cr_expect_eq(
		strncmp(bytes, "the server breaks a rule: it has sent what is no message: ", 58), 0,
		"%.80s", bytes);
	cr_expect_null(strstr(bytes, "s3cret"));
	close(log);
}

/* Return the payload of the next frame, of @kind, to be freed; NULL: there is none. */
static char *next_payload(enum wire_kind kind)
{
	struct wire_header header = {0};
	char *payload;

	if (recv(daemon_end, &header, sizeof(header), MSG_DONTWAIT) != sizeof(header))
		return NULL;
	cr_expect_eq(header.kind, kind);
	payload = calloc(1, header.size + 1u);
	cr_assert_eq(recv(daemon_end, payload, header.size, MSG_WAITALL), header.size);
	return payload;
}

Test(mcp_session, sends_notes_of_up_to_200_characters_in_the_pace_of_a_call)
{
	static const char head[] = "the server breaks a rule: ";
	char text[1024];
	unsigned int n = 0;
	char *payload;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(take(text), 0);
	for (; (payload = next_payload(WIRE_NOTE)); free(payload), n++) {
		cr_expect_eq(strncmp(payload, head, strlen(head)), 0, "%s", payload);
		cr_expect_leq(strlen(payload), strlen(head) + 200, "%s", payload);
	}
	cr_expect(n >= 4 && n < 100, "%u", n);
	cr_expect_eq(session.error, 0);
}

/* ── what a call brings ──────────────────────────────────────────────────────────────────────── */

Test(mcp_session, passes_the_trace_of_a_caller_on)
{
	static const char caller[] = "{\"call_id\":\"1\",\"tracestate\":\"a=b\",\"traceparent\":"
				     "\"00-1\",\"baggage\":7,\"lang\":\"en\"}";
	static const char arguments[] = "{\"a\":1}";
	struct driver_call call = {.id = 7,
		.output_max = 1000,
		.caller = caller,
		.caller_size = strlen(caller),
		.arguments = arguments,
		.size = strlen(arguments)};

	begin_with(TOOL_ADD);
	cr_assert_eq(mcp_session_invoke(&session, &call), 0);
	expect_carried("'traceparent':'00-1','tracestate':'a=b'");
	call.id = 8;
	cr_assert_eq(mcp_session_invoke(&session, &call), 0);
	cr_assert_not_null(buffer_terminate(&carried));
	cr_expect_null(strstr(carried.data, "baggage"), "it is no text");
	cr_expect_null(strstr(carried.data, "call_id"));
	buffer_reset(&carried);
	cr_assert_eq(invoke(9, 0, 1000), 0);
	cr_assert_not_null(buffer_terminate(&carried));
	cr_expect_null(strstr(carried.data, "trace"), "the trace of another call");
	call.id = 10;
	call.caller_size = 5;
	cr_expect_eq(mcp_session_invoke(&session, &call), -EPROTO);
	call.is_check = true;
	cr_expect_eq(mcp_session_invoke(&session, &call), -EINVAL);
}

Test(mcp_session, passes_up_to_1024_bytes_of_a_text_of_progress_on)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *payload = NULL;

	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	buffer_append_string(&text, "{'jsonrpc':'2.0','method':'notifications/progress','params':{"
				    "'progressToken':3,'progress':1,'message':'");
	for (int i = 0; i < 1025; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, "'}}");
	cr_assert_eq(take(buffer_terminate(&text)), 0);
	payload = next_payload(WIRE_PROGRESS);
	cr_assert_not_null(payload);
	cr_expect_eq(strlen(payload), strlen("{\"progress\":null,\"text\":\"\"}") + 1024);
}

/* ── its end ─────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_session, refuses_a_load_frame_that_it_cannot_use)
{
	static const char *const wrong[] = {",'tools':[{}]", ",'tools':[{'name':'a'}]",
		",'tools':[{'pin':'a'}]", ",'digest':-1"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_lt(init(wrong[i]), 0, "%s", wrong[i]);
		mcp_session_deinit(&session);
		session = (struct mcp_session){0};
	}
	unlink(secret_file);
	cr_expect_eq(init(""), DRIVER_E_REFUSED, "the file of a secret is gone");
	cr_expect_gt(problems.n_errors, 0);
}

Test(mcp_session, says_when_it_has_to_act)
{
	begin_with(TOOL_ADD);
	cr_expect_eq(mcp_session_timeout(&session, 0), 0);
	cr_expect_geq(mcp_session_timeout(&session, UINT64_MAX), -1);
	cr_expect_eq(mcp_session_tick(&session), 0);
}

Test(mcp_session, ends_with_its_daemon)
{
	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	close(daemon_end);
	cr_expect_eq(take("{'jsonrpc':'2.0','id':3,'result':{'content':[]}}"), -EPIPE);
}

Test(mcp_session, ends_a_call_whose_line_is_too_long)
{
	static const char line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\"";
	static const char other[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{";

	begin_with(TOOL_ADD);
	cr_assert_eq(invoke(7, 0, 1000), 0);
	cr_expect_eq(mcp_session_take_large(&session, other, strlen(other)), -EMSGSIZE);
	expect_no_frame();
	cr_expect_eq(mcp_session_take_large(&session, line, strlen(line)), 0);
	expect_frame(
		WIRE_NOTE, 0, "the server breaks a rule: it has sent a line of more than 64 MiB");
	expect_frame(WIRE_ERROR, 7, "{'code':'too_large','actual':52,'max':1000}");
	expect_carried("'method':'notifications/cancelled'");
	cr_expect_not(mcp_session_has_calls(&session));
}
