/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/header/plan.h"

/* Append the tool of @plan as an entry of a manifest, with a description from the comments of
 * @header. */
void plan_write_tool(const struct header *header, const struct plan *plan, struct buffer *out);

/* Append the members of the manifest's `enums` that @plan uses, with a comma before each but the
 * first; the names in @written, each with its NUL, are left out, and new names are added to it. */
void plan_write_enums(const struct plan *plan, struct buffer *written, struct buffer *out);
