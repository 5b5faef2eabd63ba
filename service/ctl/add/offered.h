/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/add/added.h"
#include "ctl/options.h"

/*
 * The effect of a changed registration on the service, which is asked to reload:
 *
 *   reload ─▶ status: whose file is it? ─▶ list: the tools of these toolboxes
 *                └─ no match: the service does not look in the folder
 */

/* Reload, and print the tools of the registrations @names in the folder. Return an enum ctl_status
 * after complaints: CTL_NO_BUS without a service. */
int offered_report(const struct ctl_options *options, const struct added *added,
	const struct text_list *names);

/* Reload, and print which toolbox @id is offered, after the registration of `add` was removed. */
int offered_report_rest(const struct ctl_options *options, const char *id);
