/* SPDX-License-Identifier: Apache-2.0 */
#include "config/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "json/pointer.h"
#include "json/writer.h"
#include "util/buffer.h"
#include "util/digest.h"
#include "util/text/utf8.h"

/* The most code points of a wrong value that a report shows. */
#define SHOWN_POINTS 60

/* The origin of a value. */
struct origin {
	const char *file; /* NULL: @name is a variable or flag */
	unsigned int line;
	const char *name; /* else the pointer */
};

/* Find the origin of the value at @token of the merged text, or of @layer (may be NULL), whose
 * pointer is written to @pointer. Return false without memory. */
static bool locate_value(struct config_reader *reader, const struct config_layer *layer,
	uint32_t token, struct buffer *pointer, struct origin *ret_origin)
{
	const char *name = NULL;

	*ret_origin = (struct origin){0};
	json_pointer_write(layer ? &layer->tape : &reader->tape, token, pointer);
	if (!buffer_terminate(pointer)) {
		reader->error = -ENOMEM;
		return false;
	}
	if (!layer || !layer->path)
		name = config_environment_locate(&reader->environment, pointer->data);
	ret_origin->name = name ? name : pointer->data;
	if (layer && layer->path) {
		ret_origin->file = layer->path;
		ret_origin->line = config_layer_line(layer, token);
	} else if (!name) {
		ret_origin->file =
			config_stack_locate(&reader->stack, pointer->data, &ret_origin->line);
	}
	return true;
}

/* ── reports about the merged text ───────────────────────────────────────────────────────────── */

__attribute__((format(printf, 5, 0))) static void send_report(struct config_reader *reader,
	const struct diagnostic_sink *sink, enum diagnostic_severity severity, uint32_t token,
	const char *format, va_list arguments)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	struct origin origin;

	if (severity == DIAGNOSTIC_ERROR)
		config_unused_add(&reader->unused, token);
	if (locate_value(reader, NULL, token, &pointer, &origin))
		diagnostic_vreport(
			sink, severity, origin.file, origin.line, origin.name, format, arguments);
}

void config_reader_report(struct config_reader *reader, enum diagnostic_severity severity,
	uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_report(reader, &reader->sink, severity, token, format, arguments);
	va_end(arguments);
}

void config_reader_close(struct config_reader *reader, uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_report(reader, &reader->closing.sink, DIAGNOSTIC_ERROR, token, format, arguments);
	va_end(arguments);
}

/* ── mistakes, by their effect ───────────────────────────────────────────────────────────────── */

/* Append the hint of @place, and the consequence of a mistake there. A mistake in a flag has
 * none: a person who can correct it is present. */
static void append_consequence(const struct config_reader *reader, const struct config_place *place,
	bool is_flag, struct buffer *out)
{
	uint32_t hint = config_shape_hint(&reader->shape, place);
	bool is_question = out->size > 0 && out->data[out->size - 1] == '?';

	if (hint != JSON_NONE) {
		buffer_append_string(out, "; ");
		json_string_decode(&reader->shape.tape, hint, out);
	}
	if (is_flag || place->effect == CONFIG_NO_START)
		return;
	if (place->is_unknown)
		buffer_append_string(out, place->effect != CONFIG_CLOSES ? ""
					  : is_question ? " It may be meant to restrict calls"
							: ". It may be meant to restrict calls");
	else
		buffer_append_string(
			out, place->effect == CONFIG_CLOSES
				     ? "; it decides which calls are allowed, so no default is used"
				     : "; it is not used");
}

/* Return whether the embedded bus must not open, because a mistake at @pointer may hide its
 * token. */
static bool may_hide_token(const char *pointer, const struct config_place *place)
{
	static const char section[] = "/toolboxd/embedded";
	size_t size = sizeof(section) - 1;

	if (strcmp(pointer, "/toolboxd") == 0 || strcmp(pointer, section) == 0)
		return true;
	return strncmp(pointer, section, size) == 0 &&
	       (place->is_unknown || strcmp(pointer + size, "/token_file") == 0);
}

void config_reader_mistake(struct config_reader *reader, struct config_layer *layer, uint32_t token,
	const struct config_place *place, const char *text)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	struct origin origin;
	bool is_flag;
	bool closes;

	config_unused_add(layer ? &layer->unused : &reader->unused, token);
	if (!locate_value(reader, layer, token, &pointer, &origin))
		return;
	is_flag = !origin.file && origin.name[0] == '-';
	closes = place->effect == CONFIG_CLOSES && !is_flag;
	reader->is_misused |= is_flag;
	reader->is_refused |= place->effect == CONFIG_NO_START;
	reader->is_token_hidden |= may_hide_token(pointer.data, place);
	buffer_append_string(&message, text);
	append_consequence(reader, place, is_flag, &message);
	diagnostic_report(closes ? &reader->closing.sink : &reader->sink,
		place->effect == CONFIG_WARNING && !is_flag ? DIAGNOSTIC_WARNING : DIAGNOSTIC_ERROR,
		origin.file, origin.line, origin.name, "%s",
		buffer_terminate(&message) ? message.data : "out of memory");
}

/* Append the value at @token as compact JSON, cut to SHOWN_POINTS. */
static void append_shown(const struct config_reader *reader, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	json_write_compact(&text, &reader->tape, token);
	size = buffer_status(&text) < 0 ? 0 : utf8_prefix(text.data, text.size, SHOWN_POINTS);
	buffer_append(out, text.data, size);
	buffer_append_string(out, size < text.size ? "…" : "");
}

void config_reader_wrong(struct config_reader *reader, uint32_t token, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct config_place place;
	int r = config_shape_open(&reader->shape, configuration_schema_json);

	buffer_printf(&text, "%s, not ", expected);
	append_shown(reader, token, &text);
	if (r < 0 || !buffer_terminate(&text)) {
		reader->error = -ENOMEM;
		return;
	}
	place = config_shape_find(&reader->shape, &reader->tape, token);
	config_reader_mistake(reader, NULL, token, &place, text.data);
}

char *config_reader_json(struct config_reader *reader, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *json;

	if (value == JSON_NONE)
		return NULL;
	json_write_compact(&text, &reader->tape, value);
	json = buffer_take(&text, NULL);
	if (!json)
		reader->error = -ENOMEM;
	return json;
}

void config_reader_digest(struct config_reader *reader, const struct buffer *text, uint64_t *digest)
{
	if (buffer_status(text) < 0)
		reader->error = buffer_status(text);
	*digest = digest_bytes(*digest ? *digest : DIGEST_SEED, text->data, text->size) | 1;
}

void config_reader_deinit(struct config_reader *reader)
{
	json_tape_deinit(&reader->tape);
	config_unused_deinit(&reader->unused);
	config_shape_deinit(&reader->shape);
	config_stack_deinit(&reader->stack);
	config_environment_deinit(&reader->environment);
	config_closing_deinit(&reader->closing);
}
