/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Return how many of @max things one holder may have while others have @others of them: half of the
 * rest, but at least one: a newcomer finds some. */
static inline size_t share_of(size_t max, size_t others)
{
	size_t half = others < max ? (max - others) / 2 : 0;

	return half > 0 ? half : 1;
}
