/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "schema/schema.h"
#include "schema/source.h"

/* Fill @error with the place of @token of @source and the formatted message, which names a source
 * other than the schema itself. Returns SCHEMA_E_REFUSED, or -ENOMEM. */
int schema_refuse(struct schema_error *error, const struct source *source, uint32_t token,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
