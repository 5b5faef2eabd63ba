/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "host/host.h"

/* How a host ended, in words. */

void host_describe_end(const struct host_end *end, char *ret_text, size_t size)
{
	switch (end->reason) {
	case HOST_EXITED:
		snprintf(ret_text, size, "its host ended with exit status %d", end->exit_code);
		break;
	case HOST_SIGNALED:
		snprintf(ret_text, size, "its host died (%s)", host_signal_name(end->signal));
		break;
	case HOST_MALFORMED:
		snprintf(ret_text, size, "its host sent a malformed frame: %s",
			end->message ? end->message : "not said");
		break;
	case HOST_TOO_LARGE:
		snprintf(ret_text, size, "its host sent %zu bytes, %zu are allowed", end->actual,
			end->max);
		break;
	case HOST_REFUSED:
		snprintf(ret_text, size, "it cannot be loaded: %s", end->message);
		break;
	case HOST_TOO_SLOW:
		snprintf(ret_text, size, "its host did not start in time");
		break;
	case HOST_LINGERED:
		snprintf(ret_text, size, "its host was killed, since it took more than %d ms",
			HOST_LEAVE_MS);
		break;
	}
}
