/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/failure.h"

#include <string.h>

#include "host/host.h"
#include "json/member.h"

#define EXIT_BYTES 512

/* Append the member `message` of a failure that a host has reported (core/request/errors.h). */
static void append_message(const struct json_tape *reported, struct buffer *out)
{
	uint32_t message = json_find_typed_at(reported, 0, "message", JSON_STRING);

	if (message != JSON_NONE)
		json_string_decode(reported, message, out);
}

/* Append how the host of a call has died, and the last line that it has printed. */
static void append_crash(const struct host_exit *exit, struct buffer *out)
{
	if (exit->reason == HOST_SIGNALED)
		buffer_append_string(out, host_signal_name(exit->signal));
	else if (exit->reason == HOST_EXITED)
		buffer_printf(out, "exit %d", exit->exit_code);
	else
		buffer_append_string(out, "a malformed frame");
	if (exit->refused)
		buffer_printf(out, HOST_REFUSED_FORMAT, exit->refused);
	if (exit->printed)
		buffer_printf(out, "; stderr: \"%s\"", exit->printed);
}

void failure_write(const struct call_result *result, struct buffer *out)
{
	char text[EXIT_BYTES];

	switch (result->outcome) {
	case CALL_FAILED:
	case CALL_UNAVAILABLE:
	case CALL_DENIED:
		buffer_append(out, result->text, result->size);
		break;
	case CALL_ERROR:
		append_message(result->tape, out);
		break;
	case CALL_CRASHED:
		append_crash(result->exit, out);
		break;
	case CALL_TOO_LARGE:
		host_describe_exit(result->exit, text, sizeof(text));
		buffer_append_string(out, text);
		break;
	case CALL_RESULT:
	case CALL_TIMED_OUT:
	case CALL_CANCELLED:
	case CALL_COOLING:
		break;
	}
}
