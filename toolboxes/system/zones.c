/* SPDX-License-Identifier: Apache-2.0 */
#include "zones.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fields.h"

/* Write the name in a line of tzdata.zi to @ret_name: `Z NAME …` is a zone, `L TARGET NAME` a link
 * to one. Other lines have rules. */
static bool read_name(const char *line, char ret_name[ZONE_BYTES])
{
	return sscanf(line, "Z %63s", ret_name) == 1 || sscanf(line, "L %*s %63s", ret_name) == 1;
}

/* Return the city of a zone: "Sao_Paulo" of "America/Sao_Paulo". */
static const char *city_of(const char *zone)
{
	const char *slash = strrchr(zone, '/');

	return slash ? slash + 1 : zone;
}

bool zones_find(const char *tzdata, const char *wanted, char ret_zone[ZONE_BYTES],
	struct nearest *ret_nearest)
{
	char name[ZONE_BYTES];
	char city[ZONE_BYTES] = "";
	char key[ZONE_BYTES];

	*ret_nearest = (struct nearest){.n = 0};
	snprintf(key, sizeof(key), "%s", wanted);
	for (char *at = key; *at; at++)
		if (*at == ' ')
			*at = '_';
	for (const char *line = tzdata; line; line = next_line(line)) {
		if (!read_name(line, name))
			continue;
		if (strcasecmp(name, key) == 0) {
			strcpy(ret_zone, name);
			return true;
		}
		if (!*city && strcasecmp(city_of(name), key) == 0)
			strcpy(city, name);
		nearest_offer(ret_nearest, key, name);
		nearest_offer(ret_nearest, key, city_of(name));
	}
	if (!*city)
		return false;
	strcpy(ret_zone, city);
	return true;
}
