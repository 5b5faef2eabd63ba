/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/call.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "scarce.h"
#include "wire/wire.h"

static struct buffer out;
static uint64_t last_id;

static void tear_down(void)
{
	buffer_deinit(&out);
}

TestSuite(plugin_call, .fini = tear_down, .timeout = 60);

/* Run a call and return its answer. */
static int run(toolbox_handler handler, void *data, const char *arguments)
{
	struct plugin_function function = {.name = "f", .handler = handler, .data = data};
	struct driver_call call = {
		.id = ++last_id,
		.timeout_ms = 60000,
		.output_max = 1000,
		.arguments = arguments,
		.size = strlen(arguments),
	};
	int r;

	buffer_reset(&out);
	r = plugin_call_run(&call, &function, &out);
	cr_assert(buffer_terminate(&out));
	return r;
}

static void nest(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_open_array(call, "list");
	toolbox_put_i64(call, NULL, INT64_MIN);
	toolbox_open_object(call, NULL);
	toolbox_close(call);
	toolbox_open_object(call, NULL);
	toolbox_put_null(call, "null\"");
	toolbox_put_bool(call, "false", false);
	toolbox_close(call);
	toolbox_put_string(call, NULL, NULL);
	toolbox_close(call);
	toolbox_put_double(call, "double", 1);
	toolbox_put_json(call, "json", "[ 1 ]");
	toolbox_open_array(call, "left open");
	toolbox_reply(call);
}

Test(plugin_call, puts_a_result_together)
{
	cr_expect_eq(run(nest, NULL, "{}"), 0);
	cr_expect_str_eq(out.data,
		"{\"list\":[-9223372036854775808,{},{\"null\\\"\":null,\"false\":false},null],"
		"\"double\":1.0,\"json\":[ 1 ],\"left open\":[]}");
}

/* Answer with what is given, and with what is not. */
static void show_given(struct toolbox_call call, void *data)
{
	struct toolbox_call given = toolbox_given(call);
	const char *name = "";
	uint64_t calls = 0;
	uint32_t n = 0;

	(void)data;
	toolbox_get_count(given, "tools", &n);
	toolbox_get_u64(given, "/tools/1/calls", &calls);
	toolbox_get_string(given, "/tools/0/name", &name, NULL);
	toolbox_put_u64(call, "n", n);
	toolbox_put_u64(call, "calls", calls);
	toolbox_put_string(call, "name", name);
	toolbox_put_bool(call, "has_argument", toolbox_has(given, "x"));
	toolbox_put_bool(call, "is_answered", toolbox_reply(given) == TOOLBOX_OK);
	toolbox_reply(call);
}

Test(plugin_call, reads_what_the_daemon_gives_with_it)
{
	static const char caller[] = "{\"call_id\": \"1\", \"given\": {\"tools\": [{\"name\": "
				     "\"add\"}, {\"calls\": 7}]}}";
	struct plugin_function function = {.name = "f", .handler = show_given};
	struct driver_call call = {
		.id = ++last_id,
		.timeout_ms = 60000,
		.output_max = 1000,
		.caller = caller,
		.caller_size = strlen(caller),
		.arguments = "{\"x\": 1}",
		.size = 8,
	};

	buffer_reset(&out);
	cr_assert_eq(plugin_call_run(&call, &function, &out), 0);
	cr_expect_str_eq(buffer_terminate(&out), "{\"n\":2,\"calls\":7,\"name\":\"add\",\"has_"
						 "argument\":false,\"is_answered\":false}");
	cr_expect_eq(run(show_given, NULL, "{\"x\": 1}"), 0);
	cr_expect_str_eq(out.data,
		"{\"n\":0,\"calls\":0,\"name\":\"\",\"has_argument\":false,\"is_answered\":false}");
}

static void open_top(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_open_array(call, NULL);
	toolbox_put_u64(call, NULL, UINT64_MAX);
	toolbox_reply(call);
}

Test(plugin_call, puts_what_is_no_object)
{
	cr_expect_eq(run(open_top, NULL, "{}"), 0);
	cr_expect_str_eq(out.data, "[18446744073709551615]");
}

static void point(struct toolbox_call call, void *data)
{
	static const char *const keys[] = {
		"", "/a/1/b", "/a/2", "/a/01", "/a/-", "/~1", "/", "a/1", "\xc3\xa9", NULL};
	(void)data;
	toolbox_open_array(call, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		toolbox_put_i64(call, NULL, toolbox_get_type(call, keys[i]));
	toolbox_reply(call);
}

Test(plugin_call, finds_what_a_key_names)
{
	cr_expect_eq(
		run(point, NULL, "{\"a\":[1,{\"b\":[]}],\"/\":true,\"\\u00e9\":\"\",\"\":null}"),
		0);
	cr_expect_str_eq(out.data, "[6,5,0,0,0,2,1,0,4,0]");
}

static void read_twice(struct toolbox_call call, void *data)
{
	const char *first = NULL;
	const char *second = NULL;
	const char *json = NULL;
	size_t size = 0;

	(void)data;
	cr_expect_eq(toolbox_get_string(call, "a", &first, &size), TOOLBOX_OK);
	cr_expect_eq(toolbox_get_string(call, "/a", &second, NULL), TOOLBOX_OK);
	cr_expect_eq(toolbox_get_json(call, "a", &json, NULL), TOOLBOX_OK);
	cr_expect_eq(first, second, "a text is copied once");
	cr_expect_eq(size, 3);
	cr_expect_str_eq(json, "\"\\u0041\\u0000b\"");
	toolbox_reply(call);
	cr_expect_eq(memcmp(first, "A\0b", 4), 0, "texts outlive the answer in the handler");
	cr_expect_eq(toolbox_get_string(call, "a", &first, NULL), TOOLBOX_E_GONE);
}

Test(plugin_call, gives_texts_that_stay)
{
	cr_expect_eq(run(read_twice, NULL, "{\"a\":\"\\u0041\\u0000b\"}"), 0);
}

static void *answer(void *data)
{
	struct toolbox_call *call = data;

	toolbox_reply(*call);
	return NULL;
}

#define N_RACERS 8

static void race(struct toolbox_call call, void *data)
{
	pthread_t threads[N_RACERS];

	(void)data;
	toolbox_keep(call);
	for (size_t i = 0; i < N_RACERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, answer, &call), 0);
	for (size_t i = 0; i < N_RACERS; i++)
		pthread_join(threads[i], NULL);
}

Test(plugin_call, is_answered_once_whoever_wants_to)
{
	for (int i = 0; i < 50; i++) {
		cr_expect_eq(run(race, NULL, "{}"), 0);
		cr_expect_str_eq(out.data, "{}");
	}
}

static struct toolbox_call kept;

static void keep_call(struct toolbox_call call, void *data)
{
	(void)data;
	kept = call;
	toolbox_put_bool(call, "old", true);
	toolbox_reply(call);
}

static void use_kept(struct toolbox_call call, void *data)
{
	(void)data;
	cr_expect_eq(toolbox_fail(kept, "for another"), TOOLBOX_E_GONE);
	cr_expect_eq(toolbox_put_i64(kept, "a", 1), TOOLBOX_E_GONE);
	toolbox_reply(call);
}

Test(plugin_call, knows_a_call_that_is_gone_from_the_one_that_runs)
{
	cr_expect_eq(run(keep_call, NULL, "{}"), 0);
	cr_expect_eq(toolbox_reply(kept), TOOLBOX_E_GONE);
	cr_expect_eq(run(use_kept, NULL, "{}"), 0);
	cr_expect_str_eq(out.data, "{}");
}

static void fill(struct toolbox_call call, void *data)
{
	const char *text = data;

	toolbox_put_string_sized(call, "x", text, 2000);
	toolbox_reply(call);
}

Test(plugin_call, tells_a_result_beyond_the_limit)
{
	char text[2000];

	memset(text, 'x', sizeof(text));
	cr_expect_eq(run(fill, text, "{}"), DRIVER_E_ERROR);
	cr_expect_str_eq(out.data, "{\"code\":\"too_large\",\"actual\":2008,\"max\":1000}");
}

static void complain(struct toolbox_call call, void *data)
{
	toolbox_fail(call, data);
}

Test(plugin_call, repairs_and_cuts_the_words_of_a_failure)
{
	static char words[PLUGIN_TEXT_BYTES + 100];

	cr_expect_eq(run(complain, "a\xff\"", "{}"), DRIVER_E_ERROR);
	cr_expect_str_eq(out.data, "{\"code\":\"tool_failed\",\"message\":\"a\xef\xbf\xbd\\\"\"}");
	memset(words, 'w', sizeof(words) - 1);
	run(complain, words, "{}");
	cr_expect_eq(out.size - strlen("{\"code\":\"tool_failed\",\"message\":\"\"}"),
		PLUGIN_TEXT_BYTES);
}

static void be_silent(struct toolbox_call call, void *data)
{
	(void)data;
	kept = call;
}

Test(plugin_call, fails_where_its_handler_gives_no_answer)
{
	uint64_t value;

	cr_expect_eq(run(be_silent, NULL, "{\"x\":1}"), DRIVER_E_ERROR);
	cr_expect(strstr(out.data, "its handler returned without an answer"), "%s", out.data);
	cr_expect_null(strstr(out.data, "not JSON"));
	cr_expect_eq(toolbox_get_u64(kept, "x", &value), TOOLBOX_E_GONE);
	cr_expect_eq(toolbox_reply(kept), TOOLBOX_E_GONE);
}

Test(plugin_call, takes_no_arguments_that_are_no_json)
{
	cr_expect_lt(run(nest, NULL, "{"), 0);
}

Test(plugin_call, keeps_every_reason_for_which_an_initialisation_failed)
{
	struct toolbox_call configuration;

	cr_assert_eq(plugin_call_configure(-1, "{}", 2, &configuration), 0);
	cr_expect_eq(toolbox_fail(configuration, "?"), TOOLBOX_OK);
	cr_expect_str_eq(plugin_call_configured(), "?");
}

Test(plugin_call, has_failed_even_without_memory_for_the_reason)
{
	struct toolbox_call configuration;

	cr_assert_eq(plugin_call_configure(-1, "{}", 2, &configuration), 0);
	scarce_once_after(0);
	cr_expect_eq(toolbox_fail(configuration, "there is no antenna"), TOOLBOX_OK);
	cr_expect(scarce_has_failed());
	cr_expect_str_eq(plugin_call_configured(), "it gave no reason");
}

Test(plugin_call, is_not_configured_without_memory_for_a_value)
{
	struct toolbox_call configuration;
	const char *path = "usual";

	cr_assert_eq(plugin_call_configure(-1, "{\"path\":\"x\"}", 12, &configuration), 0);
	scarce_once_after(0);
	cr_expect_eq(toolbox_get_string(configuration, "path", &path, NULL), TOOLBOX_E_MEMORY);
	cr_expect(scarce_has_failed());
	cr_expect_str_eq(plugin_call_configured(), "there was no memory for its values");
}

/* Take a value without memory for an absent value. */
static void take_usual(struct toolbox_call call, void *data)
{
	const char *text = "usual";

	(void)data;
	toolbox_get_string(call, "text", &text, NULL);
	if (*text == 'x')
		toolbox_fail(call, "no x");
	toolbox_put_string(call, "text", text);
	toolbox_reply(call);
}

static void expect_no_memory(const char *arguments, const char *answer)
{
	cr_expect(run(take_usual, NULL, arguments) <= DRIVER_E_ERROR);
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = run(take_usual, NULL, arguments);

		if (!scarce_has_failed())
			cr_expect_str_eq(out.data, answer);
		else if (r >= 0)
			cr_expect(strcmp(out.data, answer) == 0 || strstr(out.data, "no memory"),
				"%zu: %s", n, out.data);
	}
}

Test(plugin_call, has_failed_when_a_value_had_no_memory)
{
	expect_no_memory("{\"text\":\"mine\"}", "{\"text\":\"mine\"}");
	expect_no_memory("{\"text\":\"x\"}", "{\"code\":\"tool_failed\",\"message\":\"no x\"}");
}

Test(plugin_call, has_failed_even_for_an_empty_reason)
{
	struct toolbox_call configuration;

	cr_assert_eq(plugin_call_configure(-1, "{}", 2, &configuration), 0);
	cr_expect_eq(toolbox_fail(configuration, ""), TOOLBOX_OK);
	cr_expect_str_eq(plugin_call_configured(), "it gave no reason");
	cr_expect_eq(run(complain, "", "{}"), DRIVER_E_ERROR);
	cr_expect_str_eq(out.data, "{\"code\":\"tool_failed\",\"message\":\"it gave no reason\"}");
}

/* ── several calls ───────────────────────────────────────────────────────────────────────────── */

/* The two ends of the wire, of which the daemon has the first. */
static int wire[2];

/* Return the call of init(), before the toolbox is reported as loaded. */
static struct toolbox_call begin_carrying(void)
{
	struct toolbox_call call;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, wire), 0);
	cr_assert_eq(plugin_call_configure(wire[1], "{}", 2, &call), 0);
	plugin_call_configured();
	plugin_call_carry();
	return call;
}

static void carry(void)
{
	begin_carrying();
	cr_assert_eq(plugin_call_loaded(), 0);
}

static int begin(uint64_t id, toolbox_handler handler, toolbox_handler validate, bool is_check)
{
	struct plugin_function function = {.name = "f", .handler = handler, .validate = validate};
	char arguments[] = "{\"word\":\"first\"}";
	struct driver_call call = {
		.id = id,
		.is_check = is_check,
		.timeout_ms = 60000,
		.output_max = 1000,
		.arguments = arguments,
		.size = strlen(arguments),
	};
	int r = plugin_call_begin(&call, &function);

	/* Another frame takes the place of this one. */
	memset(arguments, 'x', sizeof(arguments) - 1);
	return r;
}

/* Expect the next frame on the wire. */
static void expect_frame(uint64_t id, enum wire_kind kind, const char *payload)
{
	struct wire_header header;
	char text[1024] = "";

	cr_assert_eq(recv(wire[0], &header, sizeof(header), MSG_WAITALL), sizeof(header));
	cr_assert_lt(header.size, sizeof(text));
	if (header.size > 0)
		cr_assert_eq(recv(wire[0], text, header.size, MSG_WAITALL), header.size);
	cr_expect_eq(header.id, id);
	cr_expect_eq(header.kind, kind);
	cr_expect_str_eq(text, payload);
}

static void expect_silence(void)
{
	char byte;

	cr_expect_eq(recv(wire[0], &byte, 1, MSG_DONTWAIT), -1);
}

static struct toolbox_call kept_calls[WIRE_CALLS_MAX];
static unsigned int n_kept;

static void keep_one(struct toolbox_call call, void *data)
{
	(void)data;
	cr_expect_eq(toolbox_keep(call), TOOLBOX_OK);
	kept_calls[n_kept++] = call;
}

static void reply_word(struct toolbox_call call, void *data)
{
	const char *word = "";

	(void)data;
	toolbox_get_string(call, "word", &word, NULL);
	toolbox_put_string(call, "word", word);
	toolbox_reply(call);
}

Test(plugin_call, has_several_calls_in_any_order)
{
	carry();
	cr_expect_eq(begin(1, keep_one, NULL, false), 0);
	cr_expect_eq(begin(2, keep_one, NULL, false), 0);
	cr_expect_eq(begin(3, reply_word, NULL, false), 0);
	expect_frame(3, WIRE_RESULT, "{\"word\":\"first\"}");
	reply_word(kept_calls[1], NULL);
	expect_frame(2, WIRE_RESULT, "{\"word\":\"first\"}");
	reply_word(kept_calls[0], NULL);
	expect_frame(1, WIRE_RESULT, "{\"word\":\"first\"}");
	cr_expect_eq(toolbox_reply(kept_calls[0]), TOOLBOX_E_GONE);
	expect_silence();
}

Test(plugin_call, has_room_for_as_many_calls_as_the_wire)
{
	carry();
	for (uint64_t id = 1; id <= WIRE_CALLS_MAX; id++)
		cr_assert_eq(begin(id, keep_one, NULL, false), 0);
	cr_expect_eq(begin(WIRE_CALLS_MAX + 1, keep_one, NULL, false), -EPROTO);
	toolbox_reply(kept_calls[7]);
	expect_frame(8, WIRE_RESULT, "{}");
	n_kept = 0;
	cr_expect_eq(begin(WIRE_CALLS_MAX + 2, keep_one, NULL, false), 0);
}

Test(plugin_call, answers_a_cancelled_call_once)
{
	carry();
	begin(1, keep_one, NULL, false);
	begin(2, keep_one, NULL, false);
	plugin_call_cancel(1);
	plugin_call_cancel(1);
	expect_frame(
		1, WIRE_ERROR, "{\"code\":\"tool_failed\",\"message\":\"the call was cancelled\"}");
	cr_expect(toolbox_is_cancelled(kept_calls[0]));
	cr_expect_not(toolbox_is_cancelled(kept_calls[1]));
	cr_expect_eq(toolbox_reply(kept_calls[0]), TOOLBOX_E_GONE);
	expect_silence();
}

static void describe_first(struct toolbox_call call, void *data)
{
	(void)data;
	cr_expect_eq(toolbox_keep(call), TOOLBOX_E_MISUSE);
	toolbox_describe(call, "a \"word\"");
}

static void fail_first(struct toolbox_call call, void *data)
{
	describe_first(call, data);
	toolbox_fail(call, "never");
}

Test(plugin_call, sends_what_validate_says_of_a_call)
{
	carry();
	begin(1, be_silent, describe_first, true);
	expect_frame(1, WIRE_RESULT, "{\"about\":\"a \\\"word\\\"\"}");
	begin(2, be_silent, be_silent, true);
	expect_frame(2, WIRE_RESULT, "null");
	begin(3, be_silent, fail_first, true);
	expect_frame(3, WIRE_ERROR, "{\"code\":\"tool_failed\",\"message\":\"never\"}");
	begin(4, reply_word, fail_first, false);
	expect_frame(4, WIRE_ERROR, "{\"code\":\"tool_failed\",\"message\":\"never\"}");
	begin(5, be_silent, describe_first, false);
	expect_frame(5, WIRE_ERROR,
		"{\"code\":\"tool_failed\",\"message\":\"its handler returned without an "
		"answer\"}");
	cr_expect_eq(plugin_call_decline(&(struct driver_call){.id = 6}, "no such tool"), 0);
	expect_frame(6, WIRE_FAILED, "no such tool");
}

Test(plugin_call, says_whether_it_is_in_use)
{
	carry();
	begin(1, keep_one, NULL, false);
	cr_expect_eq(toolbox_use(kept_calls[0], true), TOOLBOX_OK);
	expect_frame(0, WIRE_USE, "{\"is_in_use\":true}");
	toolbox_reply(kept_calls[0]);
	expect_frame(1, WIRE_RESULT, "{}");
	cr_expect_eq(toolbox_use(kept_calls[0], false), TOOLBOX_OK);
	expect_frame(0, WIRE_USE, "{\"is_in_use\":false}");
}

/* A thread of init() may be early. */
Test(plugin_call, says_that_it_is_in_use_once_it_is_loaded)
{
	struct toolbox_call none = begin_carrying();

	cr_expect_eq(toolbox_use(none, true), TOOLBOX_OK);
	cr_expect_eq(toolbox_use(none, false), TOOLBOX_OK);
	cr_expect_eq(toolbox_use(none, true), TOOLBOX_OK);
	expect_silence();
	cr_expect_eq(plugin_call_loaded(), 0);
	expect_frame(0, WIRE_USE, "{\"is_in_use\":true}");
	cr_expect_eq(toolbox_use(none, false), TOOLBOX_OK);
	expect_frame(0, WIRE_USE, "{\"is_in_use\":false}");
}

static void use_alone(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_put_i64(call, "status", toolbox_use(call, true));
	toolbox_reply(call);
}

Test(plugin_call, is_never_in_use_with_one_call_at_a_time)
{
	cr_expect_eq(run(use_alone, NULL, "{}"), 0);
	cr_expect_str_eq(out.data, "{\"status\":5}");
}

/* ── progress ────────────────────────────────────────────────────────────────────────────────── */

/* Report 100 times. */
static void report(struct toolbox_call call, void *data)
{
	(void)data;
	for (int i = 0; i < 100; i++)
		cr_expect_eq(toolbox_progress(call, 0.5, "half"), TOOLBOX_OK);
	toolbox_reply(call);
	cr_expect_eq(toolbox_progress(call, 0.5, "half"), TOOLBOX_E_GONE);
}

Test(plugin_call, sends_its_progress_in_the_pace_of_a_call)
{
	struct toolbox_call configuration;
	struct wire_header header;
	unsigned int n = 0;
	int ends[2];
	char bytes[256];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert_eq(plugin_call_configure(ends[1], "{}", 2, &configuration), 0);
	cr_assert_null(plugin_call_configured());
	cr_expect_eq(run(report, NULL, "{}"), 0);
	for (; recv(ends[0], &header, sizeof(header), MSG_DONTWAIT) == sizeof(header); n++) {
		cr_assert_lt(header.size, sizeof(bytes));
		cr_assert_eq(recv(ends[0], bytes, header.size, MSG_WAITALL), header.size);
		bytes[header.size] = '\0';
		cr_expect_eq(header.kind, WIRE_PROGRESS);
		cr_expect_eq(header.id, last_id);
		cr_expect_str_eq(bytes, "{\"progress\":0.5,\"text\":\"half\"}");
	}
	cr_expect(n >= 4 && n < 100, "%u", n);
	close(ends[0]);
	close(ends[1]);
}

/* Fail with a text of @data bytes. */
static void fail_long(struct toolbox_call call, void *data)
{
	static char text[65538];
	const size_t *size = data;

	memset(text, 'x', *size);
	toolbox_fail(call, text);
}

Test(plugin_call, has_texts_of_up_to_65536_bytes)
{
	const size_t around = strlen("{\"code\":\"tool_failed\",\"message\":\"\"}");

	cr_expect_eq(run(fail_long, &(size_t){65536}, "{}"), DRIVER_E_ERROR);
	cr_expect_eq(out.size, around + 65536);
	cr_expect_eq(run(fail_long, &(size_t){65537}, "{}"), DRIVER_E_ERROR);
	cr_expect_eq(out.size, around + 65536);
}
