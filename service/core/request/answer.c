/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/answer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/request/address.h"
#include "json/writer.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* The most bytes of a response up to its data whose context is sent more than once. */
#define ASIDE_HEAD_BYTES 4096

/* "}}", which answer_send() appends. */
#define CLOSING_BYTES 2

/* The text of an error without memory for its own. */
static const char no_memory[] = "RuntimeError: Memory is short";

static const char *const code_names[] = {
	[ANSWER_BAD_REQUEST] = "bad_request",
	[ANSWER_MISSING_NAME] = "missing_name",
	[ANSWER_UNKNOWN_TOOL] = "unknown_tool",
	[ANSWER_AMBIGUOUS_TOOL] = "ambiguous_tool",
	[ANSWER_INVALID_ARGUMENTS] = "invalid_arguments",
	[ANSWER_TOOL_FAILED] = "tool_failed",
	[ANSWER_INVALID_OUTPUT] = "invalid_output",
	[ANSWER_TIMEOUT] = "timeout",
	[ANSWER_HOST_CRASHED] = "host_crashed",
	[ANSWER_BUSY] = "busy",
	[ANSWER_COOLDOWN] = "cooldown",
	[ANSWER_DENIED] = "denied",
	[ANSWER_CANCELLED] = "cancelled",
	[ANSWER_UNAVAILABLE] = "unavailable",
	[ANSWER_TOO_LARGE] = "too_large",
	[ANSWER_SKIPPED] = "skipped",
	[ANSWER_UNKNOWN_JOB] = "unknown_job",
};

const char *answer_code_name(enum answer_code code)
{
	return code_names[code];
}

static void open_data(struct answer *answer)
{
	buffer_append_char(&answer->message, '{');
	answer->opened = answer->message.size;
	answer->has_begun = buffer_status(&answer->message) == 0;
	answer_keep(answer);
}

void answer_begin_part(struct answer *answer, const struct bus_envelope *request,
	enum bus_context_part part, unsigned int share)
{
	*answer = (struct answer){.is_open = true, .share = share};
	bus_response_begin_part(&answer->message, request, part);
	open_data(answer);
}

void answer_begin(struct answer *answer, const struct bus_envelope *request, unsigned int share)
{
	answer_begin_part(answer, request, BUS_CONTEXT_WHOLE, share);
}

void answer_begin_at(struct answer *answer, struct address *address)
{
	*answer = (struct answer){.is_open = true, .address = address_ref(address)};
	bus_message_begin(&answer->message);
	open_data(answer);
}

bool answer_begin_aside(struct answer *answer, const struct answer *response, const char *topic)
{
	const struct address *address = response->address;
	size_t head;

	if (address)
		response = address->response;
	if (!response)
		return false;
	head = response->opened - 1;
	if (buffer_status(&response->message) < 0 || response->opened > ASIDE_HEAD_BYTES)
		return false;
	*answer = (struct answer){.is_open = true, .topic = topic};
	bus_aside_begin(&answer->message, topic, &response->message, head);
	open_data(answer);
	return true;
}

void answer_begin_broadcast(struct answer *answer, const char *topic)
{
	*answer = (struct answer){.is_open = true, .topic = topic};
	bus_broadcast_begin(&answer->message, topic, "toolboxd");
	open_data(answer);
}

void answer_deinit(struct answer *answer)
{
	buffer_deinit(&answer->message);
	address_unref(take_ptr(answer->address));
	answer->kept = 0;
	answer->is_open = false;
}

struct answer answer_take(struct answer *answer)
{
	struct answer taken = *answer;

	check(answer->is_open);
	*answer = (struct answer){0};
	return taken;
}

struct buffer *answer_member(struct answer *answer, const char *key)
{
	struct buffer *message = &answer->message;

	json_write_member(message, key);
	return message;
}

void answer_member_text(struct answer *answer, const char *key, const char *text)
{
	json_write_text(answer_member(answer, key), text);
}

void answer_member_number(struct answer *answer, const char *key, uint64_t value)
{
	json_write_u64(answer_member(answer, key), value);
}

void answer_member_boolean(struct answer *answer, const char *key, bool value)
{
	buffer_append_string(answer_member(answer, key), value ? "true" : "false");
}

void answer_error(
	struct answer *answer, enum answer_code code, const char *text, size_t size, uint32_t max)
{
	struct buffer *out = answer_member(answer, "error");

	answer->error_start = out->size;
	json_write_bytes_lossy(out, text ? text : "", text ? answer_cut_text(text, size, max) : 0);
	/* Memory was short for the text: answer_make_fit() has another. */
	if (size == 0 && out->error == 0)
		out->error = -ENOMEM;
	answer->error_end = out->size;
	answer->code = code;
	answer_member_text(answer, "code", code_names[code]);
}

void answer_copy_error(struct answer *answer, const struct answer *from)
{
	struct buffer *out = &answer->message;
	const char *at = from->message.data + from->kept;
	size_t size = from->message.size - from->kept;
	bool has_end = !from->is_open; /* its data is closed */

	check(answer_is_error(from) && size > has_end);
	if (*at != ',' && out->size > answer->opened)
		buffer_append_char(out, ',');
	answer->error_start = out->size + (from->error_start - from->kept);
	answer->error_end = out->size + (from->error_end - from->kept);
	answer->code = from->code;
	answer->is_oversized = from->is_oversized;
	buffer_fail_with(out, &from->message);
	buffer_append(out, at, size - has_end);
}

void answer_error_format(struct answer *answer, enum answer_code code, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	answer_error(answer, code, text.data, text.size, UINT32_MAX);
}

void answer_keep(struct answer *answer)
{
	answer->kept = answer->message.size;
}

const char *answer_error_json(const struct answer *answer, size_t *ret_size)
{
	if (answer->error_start == 0 || buffer_status(&answer->message) < 0)
		return NULL;
	*ret_size = answer->error_end - answer->error_start;
	return answer->message.data + answer->error_start;
}

void answer_rewind(struct answer *answer)
{
	answer->error_start = answer->error_end = 0;
	answer->message.size = answer->kept;
	/* Memory that comes later does not give the message its beginning. */
	if (answer->has_begun)
		answer->message.error = 0;
}

bool answer_fits(const struct answer *answer, size_t frame_bytes)
{
	size_t size;

	if (buffer_status(&answer->message) < 0)
		return false;
	bus_message_text(&answer->message, &size);
	return size + CLOSING_BYTES <= frame_bytes;
}

static void write_too_large(
	struct answer *answer, size_t size, size_t frame_bytes, const char *hint)
{
	answer_rewind(answer);
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: The answer has %zu bytes, %zu fit in a frame; %s", size, frame_bytes,
		hint);
	answer_member_number(answer, "actual", size);
	answer_member_number(answer, "max", frame_bytes);
	answer->is_oversized = true;
}

bool answer_make_fit(struct answer *answer, size_t frame_bytes, const char *hint)
{
	size_t size;

	if (answer_fits(answer, frame_bytes))
		return true;
	if (buffer_status(&answer->message) == -ENOMEM) {
		answer_rewind(answer);
		answer_error(answer, ANSWER_UNAVAILABLE, no_memory, strlen(no_memory), UINT32_MAX);
		return false;
	}
	bus_message_text(&answer->message, &size);
	write_too_large(answer, size, frame_bytes, hint);
	if (!answer_fits(answer, frame_bytes)) {
		answer->kept = answer->opened;
		write_too_large(answer, size, frame_bytes, hint);
	}
	return false;
}

/* The beginning of messages about tools, which core/other_services.h counts. */
#define TOOLS_BEGIN "{\"type\": \"ovos.tools."

/* Hand @answer, which is complete, to its address, unless the caller is gone. */
static void deliver(struct answer *answer)
{
	struct address *address = take_ptr(answer->address);

	if (!address->has_left)
		address->operations->answer(address, answer);
	buffer_deinit(&answer->message);
	address_unref(address);
}

/* Close the data of @answer. */
static void close_data(struct answer *answer)
{
	check(answer->is_open);
	answer->is_open = false;
	buffer_append_char(&answer->message, '}');
}

/* Send @answer, whose data is closed, to the bus. */
static void send_on(struct answer *answer, struct bus *bus)
{
	const char *text;
	size_t size;

	bus_message_end(&answer->message);
	answer->kept = 0;
	text = bus_message_text(&answer->message, &size);
	if (size > strlen(TOOLS_BEGIN) && memcmp(text, TOOLS_BEGIN, strlen(TOOLS_BEGIN)) == 0)
		bus_count_answers(bus, 1);
	bus_send(bus, &answer->message, answer->share);
}

void answer_send(struct answer *answer, struct bus *bus)
{
	close_data(answer);
	if (answer->address)
		deliver(answer);
	else
		send_on(answer, bus);
}

void answer_announce(struct answer *message, const struct audience *audience)
{
	const struct buffer *text = &message->message;
	size_t at = message->opened - 1;

	close_data(message);
	if (audience->heard && buffer_status(text) == 0)
		audience->heard(audience->data, message->topic, text->data + at, text->size - at);
	send_on(message, audience->bus);
}

/* ── the size guard ──────────────────────────────────────────────────────────────────────────── */

/* Append the JSON text @json, or how it begins and the hint for @subject: see
 * answer_write_result(). */
static bool write_cut(struct buffer *out, const char *json, size_t size, uint32_t max,
	const char *subject, const char *advice)
{
	cleanup(buffer_deinit) struct buffer readable = {0};
	struct text_view text;
	size_t points;

	/* No text has more code points than bytes: the usual result is not even counted. */
	if (size <= max) {
		buffer_append(out, json, size);
		return false;
	}
	/* The caller reads characters, and not their escapes. */
	if (memchr(json, '\\', size))
		json_write_readable(&readable, json, size);
	buffer_fail_with(out, &readable);
	text = readable.size > 0 ? (struct text_view){readable.data, readable.size}
				 : (struct text_view){json, size};
	points = utf8_count(text.text, text.size);
	if (points <= max) {
		buffer_append(out, json, size);
		return false;
	}
	buffer_printf(out,
		"{\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":%zu,"
		"\"max_chars\":%u,\"hint\":\"%s %zu characters, %u are allowed: %s "
		"result_max_chars.\",\"head\":",
		points, max, subject, points, max, advice);
	json_write_string(out, text.text, utf8_prefix(text.text, text.size, max));
	buffer_append_char(out, '}');
	return true;
}

bool answer_write_result(struct buffer *out, const char *result, size_t size, uint32_t max)
{
	return write_cut(out, result, size, max, "The result has", "ask for less, or raise");
}

bool answer_write_arguments(struct buffer *out, const char *arguments, size_t size, uint32_t max)
{
	return write_cut(out, arguments, size, max, "The arguments have", "raise");
}

size_t answer_cut_text(const char *text, size_t size, uint32_t max)
{
	return size <= max ? size : utf8_prefix(text, size, max);
}
