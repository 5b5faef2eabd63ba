/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

TestSuite(nearest);

Test(nearest, counts_letters_that_differ)
{
	cr_expect_eq(nearest_distance("", ""), 0);
	cr_expect_eq(nearest_distance("abc", ""), 3);
	cr_expect_eq(nearest_distance("", "abc"), 3);
	cr_expect_eq(nearest_distance("Tokio", "tokyo"), 1);
	cr_expect_eq(nearest_distance("kitten", "sitting"), 3);
	cr_expect_eq(nearest_distance("metre", "meter"), 2);
}

Test(nearest, knows_no_distance_from_a_long_name)
{
	char name[NEAREST_BYTES + 1];

	memset(name, 'a', NEAREST_BYTES);
	name[NEAREST_BYTES] = '\0';
	cr_expect_eq(nearest_distance(name, "a"), SIZE_MAX);
	cr_expect_eq(nearest_distance("a", name), SIZE_MAX);
	cr_expect_eq(nearest_distance(name + 1, "a"), NEAREST_BYTES - 2);
}

Test(nearest, keeps_the_three_that_are_nearest)
{
	struct nearest nearest = {0};
	char words[256];

	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "");
	nearest_offer(&nearest, "meter", "quart");
	nearest_offer(&nearest, "meter", "metric");
	nearest_offer(&nearest, "meter", "metre");
	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "metre");
	nearest_offer(&nearest, "meter", "meters");
	nearest_offer(&nearest, "meter", "meters");
	nearest_offer(&nearest, "meter", "METER");
	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "METER, meters or metre");
	nearest_offer(&nearest, "meter", "liter");
	nearest_offer(&nearest, "meter", "beter");
	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "METER, meters or beter");
}

Test(nearest, cuts_its_words_at_the_room_for_them)
{
	struct nearest nearest = {0};
	char words[6];

	nearest_offer(&nearest, "meter", "meters");
	nearest_offer(&nearest, "meter", "metres");
	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "meter");
}
