/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include "json/diagnose.h"

int driver_refuse_with(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *format, va_list arguments)
{
	diagnose_with(problems, DIAGNOSTIC_ERROR, tape, token, format, arguments);
	return DRIVER_E_REFUSED;
}

int driver_refuse(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = driver_refuse_with(problems, tape, token, format, arguments);
	va_end(arguments);
	return r;
}
