/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"
#include "json/writer.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

void config_reader_report(struct config_reader *reader, enum config_severity severity,
	uint32_t token, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *file = NULL;
	const char *name;
	unsigned int line = 0;
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	json_pointer_write(&reader->tape, token, &pointer);
	if (!buffer_terminate(&pointer) || !buffer_terminate(&text)) {
		reader->error = -ENOMEM;
		return;
	}
	name = config_overrides_locate(&reader->overrides, pointer.data);
	if (!name) {
		file = config_layers_locate(&reader->layers, pointer.data, &line);
		name = pointer.data;
	}
	config_report(&reader->reporter, severity, file, line, name, "%s", text.data);
}

bool config_reader_is_flag(const struct config_reader *reader, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	const char *name = NULL;

	json_pointer_write(&reader->tape, token, &pointer);
	if (buffer_terminate(&pointer))
		name = config_overrides_locate(&reader->overrides, pointer.data);
	return name && name[0] == '-';
}

const char *config_reader_show(
	const struct config_reader *reader, uint32_t token, char ret_text[CONFIG_SHOWN_BYTES])
{
	static const char more[] = "…";
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	json_write_compact(&text, &reader->tape, token);
	if (!buffer_terminate(&text))
		return "what is there";
	if (text.size < CONFIG_SHOWN_BYTES) {
		memcpy(ret_text, text.data, text.size + 1);
		return ret_text;
	}
	size = utf8_prefix(text.data, CONFIG_SHOWN_BYTES - sizeof(more), CONFIG_SHOWN_BYTES);
	memcpy(ret_text, text.data, size);
	memcpy(ret_text + size, more, sizeof(more));
	return ret_text;
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
	config_reader_report(reader, CONFIG_ERROR, token, "must not hold the character U+0000");
	return NULL;
}

uint32_t config_reader_find(const struct config_reader *reader, uint32_t object, const char *key)
{
	uint32_t value = json_find(&reader->tape, object, key);

	if (value == JSON_NONE || json_type_at(&reader->tape, value) == JSON_NULL)
		return JSON_NONE;
	return value;
}
