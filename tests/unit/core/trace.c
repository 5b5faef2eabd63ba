/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/trace.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "util/array.h"

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
	cleanup(buffer_deinit) struct buffer trace = {0};
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

/* ── bounds ──────────────────────────────────────────────────────────────────────────────────── */

/* Return a text of @size bytes with @start at its beginning, good until the next call. */
static struct text_view text_of(const char *start, size_t size)
{
	static char text[TRACE_BAGGAGE_BYTES + 2];

	memset(text, 'x', sizeof(text));
	memcpy(text, start, strlen(start));
	return (struct text_view){text, size};
}

/* Return whether the trace of @texts has the member @key. */
static bool has_member(const struct trace_texts *texts, const char *key)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	bool has;

	trace_write(texts, &out);
	has = strstr(buffer_terminate(&out), key) != NULL;
	return has;
}

Test(trace, drops_texts_that_are_longer_than_they_may_be)
{
	static const char later[] = "01-" TRACE "-b7ad6b7169203331-01-";
	struct trace_texts texts = {0};

	for (size_t more = 0; more < 2; more++) {
		texts = (struct trace_texts){.parent = text_of(later, TRACE_PARENT_BYTES + more)};
		cr_expect_eq(has_member(&texts, "traceparent"), more == 0);
		texts = (struct trace_texts){.parent = TEXT_VIEW(PARENT),
			.state = text_of("a=", TRACE_STATE_BYTES + more)};
		cr_expect_eq(has_member(&texts, "tracestate"), more == 0);
		cr_expect(has_member(&texts, "traceparent"), "a bad state leaves the parent");
		texts = (struct trace_texts){.baggage = text_of("a=", TRACE_BAGGAGE_BYTES + more)};
		cr_expect_eq(has_member(&texts, "baggage"), more == 0);
	}
	texts = (struct trace_texts){.parent = TEXT_VIEW(PARENT), .state = {"", 0}};
	cr_expect_not(has_member(&texts, "tracestate"), "an empty one");
	texts = (struct trace_texts){.baggage = {"", 0}};
	cr_expect_not(has_member(&texts, "baggage"));
}

/* A line break would be another header, or another line of a log. */
Test(trace, drops_texts_with_characters_that_are_not_visible)
{
	for (int c = 0; c < 256; c++) {
		const char text[] = {'a', '=', (char)c, 'b'};
		const struct trace_texts texts = {.parent = TEXT_VIEW(PARENT),
			.state = {text, sizeof(text)},
			.baggage = {text, sizeof(text)}};
		bool is_good = c >= ' ' && c <= '~';

		cr_expect_eq(has_member(&texts, "tracestate"), is_good, "character %d", c);
		cr_expect_eq(has_member(&texts, "baggage"), is_good, "character %d", c);
	}
}

/* A quotation mark would end the text in JSON. */
Test(trace, takes_a_parent_of_its_alphabet_alone)
{
	for (size_t at = 0; at < strlen(PARENT); at++) {
		for (int c = 0; c < 256; c++) {
			char text[] = PARENT;
			bool is_dash = text[at] == '-';
			bool is_hex = c != 0 && strchr("0123456789abcdef", c);
			struct trace_texts texts = {.parent = {text, strlen(PARENT)}};

			text[at] = (char)c;
			cr_expect_eq(has_member(&texts, "traceparent"), is_dash ? c == '-' : is_hex,
				"character %d at %zu", c, at);
		}
	}
}

Test(trace, takes_later_versions_without_quotes)
{
	static const struct {
		const char *parent;
		bool is_good;
	} cases[] = {
		{"01-" TRACE "-b7ad6b7169203331-01", true},
		{"fe-" TRACE "-b7ad6b7169203331-01", true},
		{"f0-" TRACE "-b7ad6b7169203331-01-", true},
		{"01-" TRACE "-b7ad6b7169203331-01-a b", true},
		{"01-" TRACE "-b7ad6b7169203331-01 a", false},
		{"01-" TRACE "-b7ad6b7169203331-01-\"", false},
		{"01-" TRACE "-b7ad6b7169203331-01-\\", false},
		{"ff-" TRACE "-b7ad6b7169203331-01-more", false},
		{"01-" TRACE "-b7ad6b7169203331", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct trace_texts texts = {
			.parent = {cases[i].parent, strlen(cases[i].parent)}};

		cr_expect_eq(
			has_member(&texts, "traceparent"), cases[i].is_good, "%s", cases[i].parent);
	}
}

Test(trace, has_no_state_without_a_parent)
{
	expect_trace("{\"tracestate\":\"a=1\"}", "");
	expect_trace("{\"tracestate\":\"a=1\",\"baggage\":\"k=v\"}", "\"baggage\":\"k=v\"");
}

Test(trace, is_written_after_other_members_with_a_comma_and_escapes)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const struct trace_texts texts = {.parent = TEXT_VIEW(PARENT),
		.state = TEXT_VIEW("a=\"1\""),
		.baggage = TEXT_VIEW("k=\\")};

	buffer_append_string(&out, "\"id\":1");
	trace_write(&texts, &out);
	cr_expect_str_eq(buffer_terminate(&out),
		"\"id\":1," MEMBER ",\"tracestate\":\"a=\\\"1\\\"\""
		",\"baggage\":\"k=\\\\\"");
}

Test(trace, has_a_parent_only_if_one_was_written)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	trace_write(&(struct trace_texts){.baggage = TEXT_VIEW("traceparent=00-0000000000000000")},
		&out);
	cr_expect_gt(out.size, 0);
	cr_expect_null(trace_parent(&out).text);
}
