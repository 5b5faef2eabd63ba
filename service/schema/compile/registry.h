/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "schema/schema.h"

/*
 * The documents outside a schema to which it may refer: the ones registered by the caller of
 * schema_compile(), and the built-in metaschemas.
 */

/* Return the document registered in @options under the @size bytes at @uri (without a fragment), or
 * NULL. */
const struct schema_resource *registry_find(
	const struct schema_options *options, const char *uri, size_t size);

/* Return the text of the built-in metaschema called the @size bytes at @uri (without a fragment),
 * NUL-terminated, or NULL. */
const char *registry_metaschema(const char *uri, size_t size);
