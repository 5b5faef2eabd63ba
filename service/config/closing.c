/* SPDX-License-Identifier: Apache-2.0 */
#include "config/closing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/* A diagnostic_function. */
static void close_by(void *data, const struct diagnostic *diagnostic)
{
	struct config_closing *closing = data;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!closing->is_closed) {
		diagnostic_write(diagnostic, &text);
		closing->text = buffer_take(&text, NULL);
	}
	closing->is_closed = true;
	if (closing->outer.function)
		closing->outer.function(closing->outer.data, diagnostic);
}

void config_closing_init(struct config_closing *closing, const struct diagnostic_sink *outer)
{
	*closing = (struct config_closing){.sink = {close_by, closing}, .outer = *outer};
}

void config_closing_report(struct config_closing *closing, const char *path, unsigned int line,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diagnostic_vreport(&closing->sink, DIAGNOSTIC_ERROR, path, line, "", format, arguments);
	va_end(arguments);
}

void config_closing_report_unreadable(
	struct config_closing *closing, const char *path, unsigned int bytes_max, int r)
{
	if (r == -EFBIG)
		config_closing_report(
			closing, path, 0, "the file has more than %u bytes", bytes_max);
	else
		config_closing_report(closing, path, 0, "cannot be read: %s", strerror(-r));
}

void config_closing_report_text(struct config_closing *closing, const char *path, const char *text,
	const struct json_error *error)
{
	unsigned int line;
	unsigned int column;

	json_locate(text, error->offset, &line, &column);
	config_closing_report(closing, path, line, "%s (column %u)", error->message, column);
}

void config_closing_deinit(struct config_closing *closing)
{
	free(closing->text);
	closing->text = NULL;
}
