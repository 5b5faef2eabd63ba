/* SPDX-License-Identifier: Apache-2.0 */
#include "zones.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fields.h"

/* Read the names in a line of tzdata.zi: `Z NAME …` is a zone, `L TARGET NAME` a link to one.
 * Other lines have rules. */
static bool read_names(const char *line, struct zone *ret_zone)
{
	if (*line == 'L')
		return sscanf(line, "L %63s %63s", ret_zone->file, ret_zone->name) == 2;
	if (*line != 'Z' || sscanf(line, "Z %63s", ret_zone->name) != 1)
		return false;
	strcpy(ret_zone->file, ret_zone->name);
	return true;
}

/* Return the city of a zone: "Sao_Paulo" of "America/Sao_Paulo". */
static const char *city_of(const char *zone)
{
	const char *slash = strrchr(zone, '/');

	return slash ? slash + 1 : zone;
}

bool zones_find(
	const char *tzdata, const char *wanted, struct zone *ret_zone, struct nearest *ret_nearest)
{
	struct zone city = {.name = ""};
	struct zone zone;
	char key[ZONE_BYTES];

	*ret_nearest = (struct nearest){.n = 0};
	snprintf(key, sizeof(key), "%s", wanted);
	for (char *at = key; *at; at++)
		if (*at == ' ')
			*at = '_';
	for (const char *line = tzdata; line; line = next_line(line)) {
		if (!read_names(line, &zone))
			continue;
		if (strcasecmp(zone.name, key) == 0) {
			*ret_zone = zone;
			return true;
		}
		if (!*city.name && strcasecmp(city_of(zone.name), key) == 0)
			city = zone;
		nearest_offer(ret_nearest, key, zone.name);
		nearest_offer(ret_nearest, key, city_of(zone.name));
	}
	if (!*city.name)
		return false;
	*ret_zone = city;
	return true;
}
