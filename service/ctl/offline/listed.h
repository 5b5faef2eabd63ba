/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "catalogue/definition.h"
#include "ctl/response.h"
#include "loader/offline.h"

/* The list of tools, as a daemon would give it, read without a daemon. */

/* Load what the folder @toolbox_dir (NULL: the folders of the configuration) has, or only @file
 * unless that is NULL. Return CTL_DONE with *ret_catalogue owned by the caller, or an enum
 * ctl_status after a complaint. */
int listed_load(const char *toolbox_dir, const char *file, enum offline_asking asking,
	struct catalogue **ret_catalogue);

/* Fill @ret_response (zeroed) as the response of ovos.tools.list, of the toolbox @toolbox_id or of
 * all (NULL). @has_reasons: with `failed` and `not_offered` of ovos.tools.status, too. Return 0, a
 * negative errno, or a positive number when a definition is not JSON. */
int listed_write(const struct catalogue *catalogue, const char *toolbox_id,
	enum definition_format format, bool has_reasons, struct ctl_response *ret_response);
