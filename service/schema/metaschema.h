/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/reader.h"
#include "schema/keyword.h"
#include "schema/schema.h"

/* Whether the schema at the root of @tape is one of @draft: 0, SCHEMA_E_INVALID with @ret_report
 * filled, or -ENOMEM. */
int metaschema_check(
	enum keyword_draft draft, const struct json_tape *tape, struct schema_report *ret_report);
