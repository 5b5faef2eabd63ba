/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <time.h>

/* The longest span for span_read(), in seconds: a century. */
#define SPAN_MAX_S 3155760000

/* Read the value of --for: `30s`, `10m`, `2h`, `3d`, in seconds, from 1 to SPAN_MAX_S. Return 0, or
 * CTL_USAGE after a complaint. */
int span_read(const char *text, time_t *ret_seconds);

/* Read the value of --since: `10m`, `2h`, `3d` before now, or a date of ISO 8601, local time
 * without a zone. A time out of range is not taken. Return 0, or CTL_USAGE after a complaint. */
int since_read(const char *text, time_t *ret_time);
