/* SPDX-License-Identifier: Apache-2.0 */
#include "config/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* Bytes of a wrong value that a report shows, with its NUL. */
#define SHOWN_BYTES 64

/* Note that the key or value at @token is not used. */
static void mark_refused(struct config_reader *reader, uint32_t token)
{
	buffer_append(&reader->refused, &token, sizeof(token));
	if (buffer_status(&reader->refused) < 0)
		reader->error = buffer_status(&reader->refused);
}

/* Send the formatted text about the value at @token to @sink. A wrong one is not used. */
__attribute__((format(printf, 5, 0))) static void report_to(struct config_reader *reader,
	const struct diagnostic_sink *sink, enum diagnostic_severity severity, uint32_t token,
	const char *format, va_list arguments)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *file = NULL;
	const char *name;
	unsigned int line = 0;

	if (severity == DIAGNOSTIC_ERROR)
		mark_refused(reader, token);
	buffer_vprintf(&text, format, arguments);
	json_pointer_write(&reader->tape, token, &pointer);
	if (!buffer_terminate(&pointer) || !buffer_terminate(&text)) {
		reader->error = -ENOMEM;
		return;
	}
	name = config_environment_locate(&reader->environment, pointer.data);
	if (!name) {
		file = config_stack_locate(&reader->stack, pointer.data, &line);
		name = pointer.data;
	}
	diagnostic_report(sink, severity, file, line, name, "%s", text.data);
}

void config_reader_report(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report_to(reader, &reader->sink, severity, token, format, arguments);
	va_end(arguments);
}

void config_reader_close(struct config_reader *reader, uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	report_to(reader, &reader->closing.sink, DIAGNOSTIC_ERROR, token, format, arguments);
	va_end(arguments);
}

/* Return whether the value at @token comes from a flag. */
static bool is_flag(const struct config_reader *reader, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	const char *name = NULL;

	json_pointer_write(&reader->tape, token, &pointer);
	if (buffer_terminate(&pointer))
		name = config_environment_locate(&reader->environment, pointer.data);
	return name && name[0] == '-';
}

/* Return the value at @token as compact JSON, cut to SHOWN_BYTES. */
static const char *show_value(
	const struct config_reader *reader, uint32_t token, char ret_text[SHOWN_BYTES])
{
	static const char more[] = "…";
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	json_write_compact(&text, &reader->tape, token);
	if (!buffer_terminate(&text))
		return "that";
	if (text.size < SHOWN_BYTES) {
		memcpy(ret_text, text.data, text.size + 1);
		return ret_text;
	}
	size = utf8_prefix(text.data, SHOWN_BYTES - sizeof(more), SHOWN_BYTES);
	memcpy(ret_text, text.data, size);
	memcpy(ret_text + size, more, sizeof(more));
	return ret_text;
}

void config_reader_report_wrong(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *expected, const char *consequence)
{
	char text[SHOWN_BYTES];
	const char *shown = show_value(reader, token, text);

	mark_refused(reader, token);
	if (is_flag(reader, token)) {
		config_reader_report(reader, severity, token, "%s, not %s", expected, shown);
		reader->is_misused = true;
	} else {
		config_reader_report(
			reader, severity, token, "%s, not %s; %s", expected, shown, consequence);
	}
}

void config_reader_close_wrong(struct config_reader *reader, uint32_t token, const char *expected)
{
	char text[SHOWN_BYTES];

	if (is_flag(reader, token))
		config_reader_report_wrong(reader, DIAGNOSTIC_ERROR, token, expected, "");
	else
		config_reader_close(reader, token,
			"%s, not %s; it decides which calls are allowed, so no default is used",
			expected, show_value(reader, token, text));
}

static bool is_in(const struct config_range *range, uint64_t number)
{
	return number >= range->min && number <= range->max;
}

/* Room for "must be a whole number from A to B". */
#define EXPECTED_BYTES 96

static void describe_range(
	const char *verb, const struct config_range *range, char ret_expected[EXPECTED_BYTES])
{
	snprintf(ret_expected, EXPECTED_BYTES, "%s be a whole number from %" PRIu64 " to %" PRIu64,
		verb, range->min, range->max);
}

/* Read the number at @token, or the default for JSON_NONE. Return whether it is right. */
static bool find_number(const struct config_reader *reader, uint32_t token,
	const struct config_range *range, uint64_t *ret_number)
{
	*ret_number = range->fallback;
	return token == JSON_NONE ||
	       (json_type_at(&reader->tape, token) == JSON_NUMBER &&
		       json_number_u64(&reader->tape, token, ret_number) == 0 &&
		       is_in(range, *ret_number));
}

uint64_t config_reader_number_or_closes(
	struct config_reader *reader, uint32_t token, const struct config_range *range)
{
	char expected[EXPECTED_BYTES];
	uint64_t number;

	if (find_number(reader, token, range, &number))
		return number;
	describe_range("must", range, expected);
	config_reader_close_wrong(reader, token, expected);
	return range->fallback;
}

uint64_t config_reader_number(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const struct config_range *range)
{
	char expected[EXPECTED_BYTES];
	char consequence[48] = "it is not used";
	uint64_t number;

	if (find_number(reader, token, range, &number))
		return number;
	describe_range(severity == DIAGNOSTIC_ERROR ? "must" : "should", range, expected);
	if (is_in(range, range->fallback))
		snprintf(consequence, sizeof(consequence), "%" PRIu64 " is used", range->fallback);
	config_reader_report_wrong(reader, severity, token, expected, consequence);
	return range->fallback;
}

char *config_reader_string(struct config_reader *reader, uint32_t token)
{
	size_t size;
	cleanup_free char *text = json_string_dup(&reader->tape, token, &size);

	if (!text) {
		reader->error = -ENOMEM;
		return NULL;
	}
	if (strlen(text) == size)
		return take_ptr(text);
	config_reader_report(
		reader, DIAGNOSTIC_ERROR, token, "must not contain the character U+0000");
	return NULL;
}

char *config_reader_text_or_closes(struct config_reader *reader, uint32_t token)
{
	char *text;

	if (json_type_at(&reader->tape, token) != JSON_STRING) {
		config_reader_close_wrong(reader, token, "must be a string");
		return NULL;
	}
	text = config_reader_string(reader, token);
	if (!text && reader->error == 0)
		config_reader_close_wrong(reader, token, "must be a string without U+0000");
	return text;
}

uint32_t config_reader_find(const struct config_reader *reader, uint32_t object, const char *key)
{
	uint32_t value = json_find(&reader->tape, object, key);

	if (value == JSON_NONE || json_type_at(&reader->tape, value) == JSON_NULL)
		return JSON_NONE;
	return value;
}

bool config_reader_is_object(struct config_reader *reader, uint32_t token, const char *consequence)
{
	if (token == JSON_NONE || json_type_at(&reader->tape, token) == JSON_OBJECT)
		return token != JSON_NONE;
	config_reader_report_wrong(
		reader, DIAGNOSTIC_ERROR, token, "must be an object", consequence);
	return false;
}

bool config_reader_is_object_or_closes(struct config_reader *reader, uint32_t token)
{
	if (token == JSON_NONE || json_type_at(&reader->tape, token) == JSON_OBJECT)
		return token != JSON_NONE;
	config_reader_close_wrong(reader, token, "must be an object");
	return false;
}
