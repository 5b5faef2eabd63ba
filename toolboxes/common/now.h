/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_NOW_H
#define COMMON_NOW_H

#include <stdint.h>
#include <time.h>

/* Return a time without jumps, in milliseconds since some start. */
static inline uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
