/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "util/buffer.h"

/* Append an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.0) of the tools of @view, called below
 * the URL @base: a POST for each, whose operationId is the name in listings for models.
 * @needs_token: calls need a token. */
void openapi_write(
	const struct catalogue *view, const char *base, bool needs_token, struct buffer *out);
