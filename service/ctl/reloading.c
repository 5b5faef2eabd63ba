/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/reloading.h"

#include "ctl/request.h"

#define RELOAD_MS 60000

int ctl_reloading_ask(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_begin(&data);
	ctl_request_end(&data);
	if (!options->has_timeout)
		ctl_session_set_patience(session, RELOAD_MS);
	return ctl_session_ask(session, "ovos.tools.reload", &data, ret_response);
}
