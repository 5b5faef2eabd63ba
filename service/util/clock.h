/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Time that never jumps (CLOCK_MONOTONIC), in nanoseconds or milliseconds since some start. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);
