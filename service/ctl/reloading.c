/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/reloading.h"

#define RELOAD_MS 60000

int ctl_reloading_ask(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response)
{
	if (!options->has_timeout)
		ctl_session_set_patience(session, RELOAD_MS);
	return ctl_session_ask(session, "ovos.tools.reload", NULL, ret_response);
}
