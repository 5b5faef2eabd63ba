/* SPDX-License-Identifier: Apache-2.0 */
#include "http/places.h"

#include <criterion/criterion.h>

#define MAX         3
#define PER_ADDRESS 2

struct visitor {
	struct http_place place;
	bool is_idle;
	bool is_closed;
};

static struct http_places places;

static bool give_way(struct http_place *place)
{
	struct visitor *visitor = container_of(place, struct visitor, place);

	if (!visitor->is_idle)
		return false;
	http_places_leave(&places, place);
	visitor->is_closed = true;
	return true;
}

static bool come(struct visitor *visitor, const char *address, bool is_idle)
{
	bool has_place = http_places_make(&places, address, MAX, PER_ADDRESS);

	*visitor = (struct visitor){.place.address = address, .is_idle = is_idle};
	if (has_place)
		http_places_enter(&places, &visitor->place);
	return has_place;
}

static void begin(void)
{
	http_places_init(&places, give_way);
}

TestSuite(places, .init = begin);

Test(places, refuse_a_newcomer_when_all_are_busy)
{
	struct visitor a, b, c, late;

	cr_expect(come(&a, "1", false) && come(&b, "2", false) && come(&c, "3", false));
	cr_expect_not(come(&late, "4", false));
	http_places_leave(&places, &b.place);
	cr_expect(come(&late, "4", false));
	cr_expect_eq(places.count, MAX);
}

Test(places, are_taken_from_the_one_that_is_idle_longest)
{
	struct visitor a, b, c, late;

	cr_expect(come(&a, "1", true) && come(&b, "2", true) && come(&c, "3", false));
	http_places_rest(&places, &a.place);
	cr_expect(come(&late, "4", false));
	cr_expect(b.is_closed && !a.is_closed && !c.is_closed);
	cr_expect(come(&late, "5", false));
	cr_expect(a.is_closed && !c.is_closed);
}

Test(places, of_one_address_are_taken_from_that_alone)
{
	struct visitor other, a, b, late;

	cr_expect(come(&other, "2", true) && come(&a, "1", false) && come(&b, "1", true));
	cr_expect(come(&late, "1", false));
	cr_expect(b.is_closed && !other.is_closed);
	cr_expect_not(come(&b, "1", false));
	cr_expect_not(other.is_closed);
	cr_expect_eq(places.count, MAX);
}

Test(places, of_all_that_are_idle_are_given_up_at_the_end)
{
	struct visitor a, b, c;

	cr_expect(come(&a, "1", true) && come(&b, "2", false) && come(&c, "3", true));
	http_places_close_idle(&places);
	cr_expect(a.is_closed && !b.is_closed && c.is_closed);
	cr_expect_eq(places.count, 1);
}
