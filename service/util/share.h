/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Return how many of @max things one holder may have while others have @others of them: half of
 * what they leave, so that a newcomer finds some, but at least one. */
static inline size_t share_of(size_t max, size_t others)
{
	size_t half = others < max ? (max - others) / 2 : 0;

	return half > 0 ? half : 1;
}
