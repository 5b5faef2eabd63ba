/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_ZONES_H
#define SYSTEM_ZONES_H

#include <stdbool.h>
#include <stddef.h>

#include "nearest.h"

/* The longest name of a time zone here, with its NUL. */
#define ZONE_BYTES 64

/* Find the time zone meant by @wanted: its name ("Asia/Tokyo") or only its city ("new york"), in
 * any case. @tzdata is the text of tzdata.zi (zic(8)). Write its name to @ret_zone. Otherwise
 * return false with the nearest names in @ret_nearest. */
bool zones_find(const char *tzdata, const char *wanted, char ret_zone[ZONE_BYTES],
	struct nearest *ret_nearest);

#endif
