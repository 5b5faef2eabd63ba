/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status/ask.h"
#include "ctl/status/status.h"

bool status_append(
	const struct ctl_options *options, const struct ctl_response *response, struct buffer *out)
{
	const char *id = status_toolbox(options);

	if (id)
		return describe_append(response, id, out);
	overview_append(response, out);
	return true;
}
