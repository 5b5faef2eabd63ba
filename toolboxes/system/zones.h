/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_ZONES_H
#define SYSTEM_ZONES_H

#include <stdbool.h>
#include <stddef.h>

#include "nearest.h"

/* The longest name of a time zone here, with its NUL. */
#define ZONE_BYTES 64

/* A time zone. Not every system has files by old names, which are links (Debian: tzdata-legacy). */
struct zone {
	char name[ZONE_BYTES];
	char file[ZONE_BYTES]; /* the zone that a link means; else the name */
};

/* Find the time zone meant by @wanted: its name ("Asia/Tokyo") or only its city ("new york"), in
 * any case. @tzdata is the text of tzdata.zi (zic(8)). Return false, with the nearest names in
 * @ret_nearest, when there is no such zone. */
bool zones_find(
	const char *tzdata, const char *wanted, struct zone *ret_zone, struct nearest *ret_nearest);

#endif
