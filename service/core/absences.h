/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "util/buffer.h"

/* What was found and is not offered, as the arrays of status and reload (contract.md, Requests). */

/* Append `failed`: [{"toolbox_id": …, "error": …}, …]. */
void absences_write_failed(const struct catalogue *catalogue, struct buffer *out);

/* Append `not_offered`: [{"toolbox_id": …, "name": …, "why": …}, …]; a name that is null means the
 * whole toolbox. */
void absences_write_not_offered(const struct catalogue *catalogue, struct buffer *out);
