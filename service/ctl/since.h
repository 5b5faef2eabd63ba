/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <time.h>

/* Read the value of --since: `10m`, `2h`, `3d` before now, or a date of ISO 8601, which is local time
 * without a zone. A time that is out of range is not taken. Return 0, or CTL_USAGE after a complaint. */
int since_read(const char *text, time_t *ret_time);
