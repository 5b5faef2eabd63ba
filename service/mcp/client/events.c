/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/events.h"

#include <errno.h>
#include <string.h>

#include "util/text/text.h"

/* The memory that is kept for the next line and the next event. */
#define KEPT_BYTES ((size_t)64 << 10)

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* ── fields ──────────────────────────────────────────────────────────────────────────────────── */

static void take_data(struct mcp_events *events, const char *value, size_t size)
{
	events->data.limit = events->bytes_max;
	if (events->has_data)
		buffer_append_char(&events->data, '\n');
	buffer_append(&events->data, value, size);
	events->has_data = true;
}

static void take_type(struct mcp_events *events, const char *value, size_t size)
{
	bool fits = size < sizeof(events->type);

	memcpy(events->type, value, fits ? size : 0);
	events->type[fits ? size : 0] = '\0';
	events->is_other = events->takes_all ? !fits : size > 0 && !text_is(value, size, "message");
}

static void take_id(struct mcp_events *events, const char *value, size_t size)
{
	if (size > MCP_EVENT_ID_BYTES || (size > 0 && memchr(value, '\0', size)))
		return;
	buffer_reset(&events->id);
	buffer_append(&events->id, value, size);
}

static void take_retry(struct mcp_events *events, const char *value, size_t size)
{
	uint64_t retry_ms = 0;

	for (size_t i = 0; i < size; i++) {
		if (!text_is_digit(value[i]))
			return;
		if (retry_ms < MCP_RETRY_MAX_MS)
			retry_ms = 10 * retry_ms + (uint64_t)(value[i] - '0');
	}
	if (size > 0)
		events->retry_ms = retry_ms < MCP_RETRY_MAX_MS ? retry_ms : MCP_RETRY_MAX_MS;
}

/* Take the field with the name and the value; a name that is not known is ignored. */
static void take_field(struct mcp_events *events, const char *line, size_t name_size,
	const char *value, size_t size)
{
	if (text_is(line, name_size, "data"))
		take_data(events, value, size);
	else if (text_is(line, name_size, "event"))
		take_type(events, value, size);
	else if (text_is(line, name_size, "id"))
		take_id(events, value, size);
	else if (text_is(line, name_size, "retry"))
		take_retry(events, value, size);
}

/* ── lines ───────────────────────────────────────────────────────────────────────────────────── */

static int end_event(struct mcp_events *events, mcp_event_function receive, void *context)
{
	bool is_received = events->data.size > 0 && !events->is_other;
	int r = is_received ? receive(context, events->data.data, events->data.size) : 0;

	buffer_recycle(&events->data, KEPT_BYTES);
	events->has_data = false;
	events->is_other = false;
	*events->type = '\0';
	return r;
}

static int take_event_line(struct mcp_events *events, const char *line, size_t size,
	mcp_event_function receive, void *context)
{
	const char *colon;
	const char *value;

	if (!events->has_begun && size >= strlen(BYTE_ORDER_MARK) &&
		memcmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
		line += strlen(BYTE_ORDER_MARK);
		size -= strlen(BYTE_ORDER_MARK);
	}
	events->has_begun = true;
	if (size == 0)
		return end_event(events, receive, context);
	colon = memchr(line, ':', size);
	value = colon ? colon + 1 : line + size;
	if (colon && value < line + size && *value == ' ')
		value++;
	if (colon != line)
		take_field(events, line, colon ? (size_t)(colon - line) : size, value,
			size - (size_t)(value - line));
	return buffer_status(&events->data) < 0 ? buffer_status(&events->data)
						: buffer_status(&events->id);
}

/* Return the first CR or LF of the @size bytes at @bytes, or their end. */
static const char *find_line_end(const char *bytes, size_t size)
{
	const char *lf = memchr(bytes, '\n', size);
	const char *end = lf ? lf : bytes + size;
	const char *cr = memchr(bytes, '\r', (size_t)(end - bytes));

	return cr ? cr : end;
}

/* Take the bytes up to @end, the end of a line whose beginning may be kept. */
static int end_line(struct mcp_events *events, const char *bytes, size_t size,
	mcp_event_function receive, void *context)
{
	int r;

	if (events->line.size == 0)
		return size > events->bytes_max
			       ? -EMSGSIZE
			       : take_event_line(events, bytes, size, receive, context);
	buffer_append(&events->line, bytes, size);
	r = buffer_status(&events->line);
	if (r == 0)
		r = take_event_line(events, events->line.data, events->line.size, receive, context);
	buffer_recycle(&events->line, KEPT_BYTES);
	return r;
}

int mcp_events_take(struct mcp_events *events, const char *bytes, size_t size,
	mcp_event_function receive, void *context)
{
	const char *end = bytes + size;
	int r = 0;

	events->line.limit = events->bytes_max;
	while (r == 0 && bytes < end) {
		const char *line_end;

		if (events->was_cr && *bytes == '\n') {
			events->was_cr = false;
			bytes++;
			continue;
		}
		events->was_cr = false;
		line_end = find_line_end(bytes, (size_t)(end - bytes));
		if (line_end == end) {
			buffer_append(&events->line, bytes, (size_t)(end - bytes));
			return buffer_status(&events->line);
		}
		r = end_line(events, bytes, (size_t)(line_end - bytes), receive, context);
		events->was_cr = *line_end == '\r';
		bytes = line_end + 1;
	}
	return r;
}

void mcp_events_restart(struct mcp_events *events)
{
	buffer_recycle(&events->line, KEPT_BYTES);
	buffer_recycle(&events->data, KEPT_BYTES);
	events->has_data = false;
	events->is_other = false;
	*events->type = '\0';
	events->was_cr = false;
	events->has_begun = false;
}

void mcp_events_deinit(struct mcp_events *events)
{
	buffer_deinit(&events->line);
	buffer_deinit(&events->data);
	buffer_deinit(&events->id);
	mcp_events_restart(events);
}
