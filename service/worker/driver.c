/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <errno.h>

#include "json/pointer.h"

int driver_refuse_with(struct driver_refusal *refusal, const struct json_tape *tape, uint32_t token,
	const char *format, va_list arguments)
{
	json_pointer_write(tape, token, &refusal->pointer);
	buffer_vprintf(&refusal->message, format, arguments);
	if (buffer_status(&refusal->pointer) || buffer_status(&refusal->message))
		return -ENOMEM;
	return DRIVER_E_REFUSED;
}

int driver_refuse(struct driver_refusal *refusal, const struct json_tape *tape, uint32_t token,
	const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = driver_refuse_with(refusal, tape, token, format, arguments);
	va_end(arguments);
	return r;
}
