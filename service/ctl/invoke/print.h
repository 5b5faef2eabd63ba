/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/response.h"

/* Print the response to a call as the command line wants it (--json, --raw, --get), its error on
 * stderr with the output of a failed call's program. @definition: the tool's, or empty. Return an
 * enum ctl_status. */
int print_response(const struct ctl_options *options, const struct ctl_response *response,
	const struct ctl_response *definition);

/* Print the last lines of a toolbox's processes on stderr, from @status, a response to
 * ovos.tools.status about the toolbox. */
void print_output(const struct ctl_response *status);
