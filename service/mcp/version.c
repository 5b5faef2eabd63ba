/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/version.h"

#include <string.h>

#include "util/array.h"
#include "util/text/text_view.h"

/* The latest first. */
static const char *const legacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

const char *mcp_version_legacy(const char *text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(legacy); i++)
		if (text_is(text, size, legacy[i]))
			return legacy[i];
	return NULL;
}

const char *mcp_version_legacy_latest(void)
{
	return legacy[0];
}
