/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/catalogue.h"
#include "ctl/response.h"

/* A list of some tools only. */

/* Leave in the member `tools` of @response the tools meant by the @n_names (policy/names.h). Return
 * 0, or an enum ctl_status after a complaint about a name without a tool. */
int narrow_to_names(struct ctl_response *response, const char *const *names, size_t n_names);

/* Complain unless @catalogue has a toolbox called @id, offered or not. Return 0 or an enum
 * ctl_status. */
int narrow_expect_toolbox(const struct catalogue *catalogue, const char *id);
