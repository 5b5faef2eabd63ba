/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_report.h"

#include <stdarg.h>

#include "util/buffer.h"
#include "util/cleanup.h"

void config_report(struct config_reporter *reporter, enum config_severity severity,
	const char *file, unsigned int line, const char *path, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	/* Without memory for the words, the place is still worth telling. */
	if (!buffer_terminate(&text))
		reporter->function(reporter->data, severity, file, line, path, "out of memory");
	else
		reporter->function(reporter->data, severity, file, line, path, text.data);
}
