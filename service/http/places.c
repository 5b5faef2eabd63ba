/* SPDX-License-Identifier: Apache-2.0 */
#include "http/places.h"

#include <stddef.h>
#include <string.h>

void http_places_init(struct http_places *places, bool (*give_way)(struct http_place *place))
{
	*places = (struct http_places){.give_way = give_way};
	list_init(&places->list);
}

static unsigned int count_address(const struct http_places *places, const char *address)
{
	unsigned int count = 0;

	list_for_each(link, &places->list)
		count += strcmp(container_of(link, struct http_place, link)->address, address) == 0;
	return count;
}

/* Close the connection that is idle longest; of @address, unless that is NULL. Return whether there was
 * one. */
static bool close_idle(struct http_places *places, const char *address)
{
	list_for_each(link, &places->list) {
		struct http_place *place = container_of(link, struct http_place, link);

		if ((!address || strcmp(place->address, address) == 0) && places->give_way(place))
			return true;
	}
	return false;
}

bool http_places_make(
	struct http_places *places, const char *address, unsigned int max, unsigned int per_address)
{
	if (count_address(places, address) >= per_address && !close_idle(places, address))
		return false;
	return places->count < max || close_idle(places, NULL);
}

void http_places_enter(struct http_places *places, struct http_place *place)
{
	list_append(&places->list, &place->link);
	places->count++;
}

void http_places_leave(struct http_places *places, struct http_place *place)
{
	list_remove(&place->link);
	places->count--;
}

void http_places_rest(struct http_places *places, struct http_place *place)
{
	list_remove(&place->link);
	list_append(&places->list, &place->link);
}

void http_places_close_idle(struct http_places *places)
{
	while (close_idle(places, NULL))
		continue;
}
