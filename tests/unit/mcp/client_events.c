/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/events.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "util/cleanup.h"

static int record_event(void *context, const char *data, size_t size)
{
	struct buffer *record = context;

	buffer_append_char(record, '[');
	buffer_append(record, data, size);
	buffer_append_char(record, ']');
	return 0;
}

/* Check that @text is the events @wanted, in one piece and in pieces of each size. */
static void expect_events(const char *text, const char *wanted)
{
	size_t size = strlen(text);

	for (size_t piece = 1; piece <= size; piece++) {
		cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 100};
		cleanup(buffer_deinit) struct buffer record = {0};

		for (size_t at = 0; at < size; at += piece)
			cr_assert_eq(mcp_events_take(&events, text + at,
					     size - at < piece ? size - at : piece, record_event,
					     &record),
				0);
		cr_assert_not_null(buffer_terminate(&record));
		cr_expect_str_eq(record.data, wanted, "%s in %zu: %s", text, piece, record.data);
	}
}

Test(mcp_events, are_received)
{
	expect_events("data: a\n\n", "[a]");
	expect_events("data:a\n\ndata:  b\r\rdata: c\r\n\r\n", "[a][ b][c]");
	expect_events("data: a\r\ndata: b\r\n\r\n", "[a\nb]");
	expect_events("data: a\ndata\ndata: c\n\n", "[a\n\nc]");
	expect_events(": x\nid: 1\nretry: 5\nevent: message\ndata: a:b\n\n", "[a:b]");
	expect_events("event:\ndata: a\n\nevent: x\nevent: message\ndata: b\n\n", "[a][b]");
	expect_events("\xEF\xBB\xBF"
		      "data: a\n\n",
		"[a]");
	expect_events("\xEF\xBB\xBF\r\n\xEF\xBB\xBF"
		      "data: a\n\n",
		"");
}

Test(mcp_events, without_a_message_are_not)
{
	expect_events("data:\n\nid: 7\ndata\n\n", "");
	expect_events("event: ping\ndata: a\n\ndata: b\n\n", "[b]");
	expect_events("data: a\n", "");
	expect_events("Data: a\ndatas: b\n:data: c\n data: d\n\n", "");
	expect_events("\n\r\n\r\r\n", "");
}

static void take_text(struct mcp_events *events, const char *text)
{
	cleanup(buffer_deinit) struct buffer record = {0};

	cr_expect_eq(mcp_events_take(events, text, strlen(text), record_event, &record), 0);
}

static void expect_id(const struct mcp_events *events, const char *id)
{
	cr_expect_eq(events->id.size, strlen(id), "%zu", events->id.size);
	cr_expect(events->id.size == 0 || memcmp(events->id.data, id, strlen(id)) == 0);
}

struct typed {
	struct mcp_events events;
	struct buffer record;
};

static int record_type(void *context, const char *data, size_t size)
{
	struct typed *typed = context;

	buffer_printf(&typed->record, "%s=%.*s;", typed->events.type, (int)size, data);
	return 0;
}

Test(mcp_events, of_every_type_are_received_where_they_are_wanted)
{
	static const char longest[] =
		"event: 012345678901234567890123456789012345678901234567890123456789012\ndata: "
		"e\n\n"
		"event: 0123456789012345678901234567890123456789012345678901234567890123\ndata: "
		"f\n\n";
	struct typed typed = {.events = {.bytes_max = 1000, .takes_all = true}};
	static const char text[] = "event: ping\ndata: a\n\ndata: b\n\nevent: message\ndata: "
				   "c\n\nevent: x\n\ndata: d\n\n";

	cr_assert_eq(mcp_events_take(&typed.events, text, strlen(text), record_type, &typed), 0);
	cr_assert_eq(
		mcp_events_take(&typed.events, longest, strlen(longest), record_type, &typed), 0);
	cr_expect_str_eq(buffer_terminate(&typed.record),
		"ping=a;=b;message=c;=d;"
		"012345678901234567890123456789012345678901234567890123456789012=e;");
	mcp_events_deinit(&typed.events);
	buffer_deinit(&typed.record);
}

Test(mcp_events, have_the_last_id)
{
	cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 4096};
	cleanup(buffer_deinit) struct buffer longer = {0};

	take_text(&events, "id: a b\n\n");
	cr_expect_eq(mcp_events_take(&events, "id: x\0y\n", 8, record_event, NULL), 0);
	buffer_printf(&longer, "id:%01025d\n", 0);
	cr_assert_not_null(buffer_terminate(&longer));
	take_text(&events, longer.data);
	expect_id(&events, "a b");
	mcp_events_restart(&events);
	expect_id(&events, "a b");
	take_text(&events, "id\n");
	expect_id(&events, "");
}

Test(mcp_events, have_a_wait_that_is_bounded)
{
	cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 4096};

	take_text(&events, "retry: 1500\nretry: 1e3\nretry: -1\nretry:\n");
	cr_expect_eq(events.retry_ms, 1500);
	take_text(&events, "retry: 18446744073709551617\n");
	cr_expect_eq(events.retry_ms, MCP_RETRY_MAX_MS);
	take_text(&events, "retry: 0\n");
	cr_expect_eq(events.retry_ms, 0);
}

Test(mcp_events, are_bounded)
{
	static const char *const texts[] = {
		"data: 78901", ":2345678901", "data: 7890a\n", "data:6789\ndata:1\ndata:abc\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (size_t piece = 1; piece < 30; piece += 28) {
			cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 10};
			size_t size = strlen(texts[i]);
			int r = 0;

			for (size_t at = 0; r == 0 && at < size; at += piece)
				r = mcp_events_take(&events, texts[i] + at,
					size - at < piece ? size - at : piece, record_event, NULL);
			cr_expect_eq(
				r, i == 3 ? 0 : -EMSGSIZE, "%s in %zu: %d", texts[i], piece, r);
		}
}

Test(mcp_events, of_many_lines_are_bounded)
{
	cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 10};
	int r = 0;
	unsigned int i;

	for (i = 0; r == 0 && i < 100; i++)
		r = mcp_events_take(&events, "data:ab\n", 8, record_event, NULL);
	cr_expect_eq(r, -EMSGSIZE);
	cr_expect_eq(i, 4);
}

Test(mcp_events, after_a_restart_begin_anew)
{
	cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 100};
	cleanup(buffer_deinit) struct buffer record = {0};

	take_text(&events, "event: x\ndata: a\ndata: b");
	mcp_events_restart(&events);
	cr_expect_eq(mcp_events_take(&events, "data: c\n\n", 9, record_event, &record), 0);
	cr_assert_not_null(buffer_terminate(&record));
	cr_expect_str_eq(record.data, "[c]");
}

static int refuse_event(void *context, const char *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return -EPROTO;
}

Test(mcp_events, end_with_the_error_of_the_receiver)
{
	cleanup(mcp_events_deinit) struct mcp_events events = {.bytes_max = 100};

	cr_expect_eq(mcp_events_take(&events, "data: a\n\n", 9, refuse_event, NULL), -EPROTO);
}
