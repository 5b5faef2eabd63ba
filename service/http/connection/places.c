/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/places.h"

#include "util/assert.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void http_places_init(struct http_places *places, bool (*give_way)(struct http_place *place))
{
	check(give_way);
	*places = (struct http_places){.give_way = give_way};
	list_init(&places->list);
}

/* Return how many places, spare ones or the others, @holder has. */
static unsigned int count_holder(
	const struct http_places *places, const char *holder, bool is_spare)
{
	unsigned int count = 0;

	list_each(struct http_place, place, &places->list, link)
		count += place->is_spare == is_spare && strcmp(place->holder, holder) == 0;
	return count;
}

/* Close the connection that has been quiet longest; of @holder, unless that is NULL. Return whether
 * there was one. */
static bool close_quiet(struct http_places *places, const char *holder, bool is_spare)
{
	list_each(struct http_place, place, &places->list, link) {
		if (place->is_spare == is_spare &&
			(!holder || strcmp(place->holder, holder) == 0) && places->give_way(place))
			return true;
	}
	return false;
}

/* Return whether there is a place for one more connection of @holder, for which a quiet one may
 * give way. */
static bool make_room(struct http_places *places, const char *holder)
{
	if (count_holder(places, holder, false) >= places->per_holder &&
		!close_quiet(places, holder, false))
		return false;
	return places->count < places->max || close_quiet(places, NULL, false);
}

static void count_place(struct http_places *places, const struct http_place *place, int n)
{
	check(n > 0 || (place->is_spare ? places->n_spare : places->count) > 0);
	if (place->is_spare)
		places->n_spare += (unsigned int)n;
	else
		places->count += (unsigned int)n;
}

bool http_places_enter(struct http_places *places, struct http_place *place, const char *holder)
{
	bool is_spare = !make_room(places, holder);

	if (is_spare && places->n_spare >= PLACES_SPARE && !close_quiet(places, NULL, true))
		return false;
	snprintf(place->holder, sizeof(place->holder), "%s", holder);
	place->is_spare = is_spare;
	list_init(&place->link);
	list_append(&places->list, &place->link);
	count_place(places, place, 1);
	return true;
}

bool http_places_claim(struct http_places *places, struct http_place *place, const char *holder)
{
	bool is_spare;

	if (!place->is_spare && strcmp(place->holder, holder) == 0)
		return true;
	http_places_leave(places, place);
	is_spare = !make_room(places, holder);
	snprintf(place->holder, sizeof(place->holder), "%s", holder);
	place->is_spare = is_spare;
	list_append(&places->list, &place->link);
	count_place(places, place, 1);
	return !is_spare;
}

bool http_places_may_spare(const struct http_places *places, const char *holder)
{
	return count_holder(places, holder, true) <= PLACES_SPARE_SHARE;
}

void http_places_leave(struct http_places *places, struct http_place *place)
{
	list_remove(&place->link);
	count_place(places, place, -1);
}

void http_places_rest(struct http_places *places, struct http_place *place)
{
	list_remove(&place->link);
	list_append(&places->list, &place->link);
}
