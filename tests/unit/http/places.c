/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/places.h"

#include <criterion/criterion.h>

#define MAX        3
#define PER_HOLDER 2

struct visitor {
	struct http_place place;
	bool is_quiet;
	bool is_closed;
};

static struct http_places places;

static bool give_way(struct http_place *place)
{
	struct visitor *visitor = container_of(place, struct visitor, place);

	if (!visitor->is_quiet)
		return false;
	http_places_leave(&places, place);
	visitor->is_closed = true;
	return true;
}

/* Let @visitor enter. Return whether its place is no spare one. */
static bool come(struct visitor *visitor, const char *holder, bool is_quiet)
{
	*visitor = (struct visitor){.is_quiet = is_quiet};
	return http_places_enter(&places, &visitor->place, holder) && !visitor->place.is_spare;
}

static void begin(void)
{
	http_places_init(&places, give_way);
	places.max = MAX;
	places.per_holder = PER_HOLDER;
}

TestSuite(places, .init = begin);

Test(places, are_spare_for_a_newcomer_when_all_are_busy)
{
	struct visitor a, b, c, late;

	cr_assert(come(&a, "1", false) && come(&b, "2", false) && come(&c, "3", false));
	cr_expect_not(come(&late, "4", false));
	cr_expect(late.place.is_spare);
	cr_expect_not(http_places_claim(&places, &late.place, "http:me"));
	http_places_leave(&places, &b.place);
	cr_expect(http_places_claim(&places, &late.place, "http:me"));
	cr_expect_eq(places.count, MAX);
	cr_expect_eq(places.n_spare, 0);
}

Test(places, are_taken_from_the_one_that_is_quiet_longest)
{
	struct visitor a, b, c, late, later;

	cr_assert(come(&a, "1", true) && come(&b, "2", true) && come(&c, "3", false));
	http_places_rest(&places, &a.place);
	cr_expect(come(&late, "4", false));
	cr_expect(b.is_closed && !a.is_closed && !c.is_closed);
	cr_expect(come(&later, "5", false));
	cr_expect(a.is_closed && !c.is_closed);
}

Test(places, of_one_holder_are_taken_from_that_alone)
{
	struct visitor other, a, b, late, later;

	cr_assert(come(&other, "2", true) && come(&a, "1", false) && come(&b, "1", true));
	cr_expect(come(&late, "1", false));
	cr_expect(b.is_closed && !other.is_closed);
	cr_expect_not(come(&later, "1", false));
	cr_expect_not(other.is_closed);
	cr_expect_eq(places.count, MAX);
}

/* Two tokens from one address do not take each other's. */
Test(places, are_those_of_who_is_proved)
{
	struct visitor visitors[4];

	for (int i = 0; i < 2; i++) {
		cr_expect(come(&visitors[i], "address", false));
		cr_expect(http_places_claim(&places, &visitors[i].place, "http:a"));
	}
	cr_expect(come(&visitors[2], "address", false));
	cr_expect_not(http_places_claim(&places, &visitors[2].place, "http:a"));
	cr_expect(http_places_claim(&places, &visitors[2].place, "http:b"));
	cr_expect(http_places_claim(&places, &visitors[2].place, "http:b"), "as it was");
	cr_expect_not(come(&visitors[3], "address", false));
}

Test(places, that_are_spare_are_bounded)
{
	static struct visitor busy[MAX], spare[PLACES_SPARE], quiet, late;

	for (int i = 0; i < MAX; i++)
		cr_expect(come(&busy[i], (const char[]){(char)('a' + i), '\0'}, false));
	for (int i = 0; i < PLACES_SPARE; i++) {
		cr_expect_not(come(&spare[i], "1", i == 7));
		cr_expect_not(http_places_claim(
			&places, &spare[i].place, i < PLACES_SPARE / 2 + 1 ? "http:me" : "uid:0"));
	}
	cr_expect_not(http_places_may_spare(&places, "http:me"));
	cr_expect(http_places_may_spare(&places, "uid:0"));
	cr_expect_not(come(&quiet, "1", true));
	cr_expect(quiet.place.is_spare && spare[7].is_closed);
	cr_expect_not(come(&late, "1", true));
	cr_expect(quiet.is_closed);
	late.is_quiet = false;
	cr_expect_not(http_places_enter(&places, &quiet.place, "1"));
	cr_expect_eq(places.n_spare, PLACES_SPARE);
}
