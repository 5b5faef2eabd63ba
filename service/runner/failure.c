/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/failure.h"

#include <string.h>

#include "host/host.h"
#include "json/member.h"

#define EXIT_BYTES 512

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
		/* core/request/errors.h has the members of a failure. */
		json_read_text(result->tape, json_find(result->tape, 0, "message"), out);
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
