/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/refuse.h"

#include <errno.h>
#include <stdarg.h>

#include "json/pointer.h"

int schema_refuse(struct schema_error *error, const struct source *source, uint32_t token,
	const char *format, ...)
{
	bool is_main = source->uri[0] == '\0';
	va_list arguments;

	buffer_reset(&error->pointer);
	buffer_reset(&error->message);
	json_pointer_write(&source->tape, token, &error->pointer);
	error->offset = is_main ? source->offset + json_at(&source->tape, token)->offset : 0;
	if (!is_main)
		buffer_printf(&error->message, "in %s: ", source->uri);
	va_start(arguments, format);
	buffer_vprintf(&error->message, format, arguments);
	va_end(arguments);
	if (!buffer_terminate(&error->pointer) || !buffer_terminate(&error->message))
		return -ENOMEM;
	return SCHEMA_E_REFUSED;
}
