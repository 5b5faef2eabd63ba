/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/response.h"

/* Print the response to a call as the command line wants it (--json, --raw, --get), its error on
 * stderr with what the program of a failed call has printed. @definition: that of the tool, or
 * empty. Return an enum ctl_status. */
int print_response(const struct ctl_options *options, const struct ctl_response *response,
	const struct ctl_response *definition);

/* Print on stderr the lines that the processes of a toolbox have printed, of @status, a response to
 * ovos.tools.status about it. */
void print_output(const struct ctl_response *status);
