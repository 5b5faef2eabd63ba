/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/trace.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/cleanup.h"

/* The texts of traces, well formed and not. */

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "00-" TRACE "-b7ad6b7169203331-01"
#define MEMBER "\"traceparent\":\"" PARENT "\""

/* The object @json has the trace @expected. */
static void expect_trace(const char *json, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 4, NULL), 0, "%s", json);
	trace_write_members(&tape, 0, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", json, out.data);
}

Test(trace, passes_well_formed_texts_on)
{
	struct buffer trace = {0};
	struct text_view parent;

	expect_trace("{" MEMBER ",\"tracestate\":\"a=1,b=2\",\"baggage\":\"k=v\"}",
		MEMBER ",\"tracestate\":\"a=1,b=2\",\"baggage\":\"k=v\"");
	expect_trace("{\"baggage\":\"k=v\"}", "\"baggage\":\"k=v\"");
	expect_trace("{\"traceparent\":\"01"
		     "-" TRACE "-b7ad6b7169203331-01-more\"}",
		"\"traceparent\":\"01-" TRACE "-b7ad6b7169203331-01-more\"");
	expect_trace("{}", "");
	cr_expect_null(trace_parent(&trace).text);
	trace_write(&(struct trace_texts){.parent = TEXT_VIEW(PARENT)}, &trace);
	parent = trace_parent(&trace);
	cr_expect(parent.size == strlen(PARENT) && memcmp(parent.text, PARENT, parent.size) == 0);
	buffer_deinit(&trace);
}

Test(trace, drops_malformed_texts)
{
	static const char *const wrong[] = {"", "00", "00-" TRACE "-b7ad6b7169203331-0",
		"00-" TRACE "-b7ad6b7169203331-01-more", "ff-" TRACE "-b7ad6b7169203331-01",
		"00-" TRACE "-0000000000000000-01",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00_" TRACE "-b7ad6b7169203331-01", "01-" TRACE "-b7ad6b7169203331-01more"};
	char json[512];
	char state[700];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(json, sizeof(json), "{\"traceparent\":\"%s\",\"tracestate\":\"a=1\"}",
			wrong[i]);
		expect_trace(json, "");
	}
	expect_trace("{\"traceparent\":5,\"tracestate\":\"a=1\",\"baggage\":[]}", "");
	expect_trace("{\"baggage\":\"caf\xC3\xA9\"}", "");
	memset(state, 'x', sizeof(state));
	state[TRACE_STATE_BYTES + 1] = '\0';
	snprintf(json, sizeof(json), "{" MEMBER ",\"tracestate\":\"a\\u0062\"}");
	expect_trace(json, MEMBER);
}
