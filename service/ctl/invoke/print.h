/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/response.h"

/* Print the response to a call as the command line wants it (--json, --raw, --get), its error on stderr with what
 * the program of a failed call has printed. @definition: that of the tool, or empty. Return an enum
 * ctl_status. */
int print_response(const struct ctl_options *options, const struct ctl_response *response,
	const struct ctl_response *definition);
