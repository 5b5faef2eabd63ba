/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/trace.h"

#include <string.h>

#include "json/member.h"
#include "json/writer.h"

#define PARENT_KEY "\"traceparent\":\""

/* The parts of a `traceparent`: version-trace-parent-flags, in lower-case hexadecimal digits. */
static const unsigned char parts[] = {2, 32, 16, 2};
#define PARENT_BYTES 55

static bool is_lower_hex(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!strchr("0123456789abcdef", text[i]) || !text[i])
			return false;
	return true;
}

static bool is_zero(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] != '0')
			return false;
	return true;
}

/* Return whether @text has 1 to @most bytes, all of them visible ASCII or spaces. */
static bool is_ascii_text(struct text_view text, size_t most)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.text[i] < ' ' || text.text[i] > '~')
			return false;
	return text.size > 0 && text.size <= most;
}

/* Return whether @text is a `traceparent`; a version above 00 may have more parts. */
static bool is_parent(struct text_view text)
{
	size_t at = 0;

	if (text.size < PARENT_BYTES || !is_ascii_text(text, TRACE_PARENT_BYTES))
		return false;
	for (size_t i = 0; i < sizeof(parts); i++) {
		if (!is_lower_hex(text.text + at, parts[i]) || (i > 0 && text.text[at - 1] != '-'))
			return false;
		if ((i == 1 || i == 2) && is_zero(text.text + at, parts[i]))
			return false;
		at += parts[i] + 1;
	}
	if (memcmp(text.text, "ff", 2) == 0 || memchr(text.text, '"', text.size) ||
		memchr(text.text, '\\', text.size))
		return false;
	if (memcmp(text.text, "00", 2) == 0)
		return text.size == PARENT_BYTES;
	return text.size == PARENT_BYTES || text.text[PARENT_BYTES] == '-';
}

static void write_text(struct buffer *out, const char *key, struct text_view text)
{
	buffer_append_string(out, out->size > 0 ? "," : "");
	json_write_key(out, key);
	json_write_string(out, text.text, text.size);
}

void trace_write(const struct trace_texts *texts, struct buffer *out)
{
	bool has_parent = texts->parent.text && is_parent(texts->parent);

	if (has_parent)
		write_text(out, "traceparent", texts->parent);
	if (has_parent && texts->state.text && is_ascii_text(texts->state, TRACE_STATE_BYTES))
		write_text(out, "tracestate", texts->state);
	if (texts->baggage.text && is_ascii_text(texts->baggage, TRACE_BAGGAGE_BYTES))
		write_text(out, "baggage", texts->baggage);
}

static struct text_view find_text(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find_typed_at(tape, object, key, JSON_STRING);

	if (value == JSON_NONE || (json_at(tape, value)->flags & JSON_ESCAPED))
		return (struct text_view){0};
	return (struct text_view){json_bytes(tape, value), json_at(tape, value)->length};
}

void trace_write_members(const struct json_tape *tape, uint32_t object, struct buffer *out)
{
	const struct trace_texts texts = {
		.parent = find_text(tape, object, "traceparent"),
		.state = find_text(tape, object, "tracestate"),
		.baggage = find_text(tape, object, "baggage"),
	};

	trace_write(&texts, out);
}

struct text_view trace_parent(const struct buffer *trace)
{
	size_t start = strlen(PARENT_KEY);
	const char *end;

	if (trace->size <= start || memcmp(trace->data, PARENT_KEY, start) != 0)
		return (struct text_view){0};
	end = memchr(trace->data + start, '"', trace->size - start);
	return (struct text_view){trace->data + start, (size_t)(end - trace->data) - start};
}
