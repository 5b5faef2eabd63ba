/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/names/near_names.h"
#include "util/text/text.h"

#define NAME_BYTES 65

/* The names of a test, and how many were looked at. */
struct names {
	char (*items)[NAME_BYTES];
	size_t n_items;
	size_t n_looks;
};

static struct names names;
static struct near_names near;

static const char *name_of(const void *data, size_t index)
{
	cr_assert(data == &names && index < names.n_items);
	names.n_looks++;
	return names.items[index];
}

/* Make @n_names names "tool_0", "tool_1", … of @width digits, the last replaced by @last. */
static void make(size_t n_names, int width, const char *last)
{
	names.items = calloc(n_names, sizeof(*names.items));
	names.n_items = n_names;
	cr_assert(names.items);
	for (size_t i = 0; i < n_names; i++)
		snprintf(names.items[i], NAME_BYTES, "tool_%0*zu", width, i);
	snprintf(names.items[n_names - 1], NAME_BYTES, "%s", last);
	cr_assert_eq(near_names_init(&near, name_of, &names, n_names), 0);
	names.n_looks = 0;
}

static size_t find_in(size_t first, size_t n_names, const char *name, const char **ret_names)
{
	return near_names_find(
		&near, name_of, &names, first, n_names, name, strlen(name), ret_names);
}

static size_t find(const char *name, const char **ret_names)
{
	return find_in(0, names.n_items, name, ret_names);
}

static void give_back(void)
{
	near_names_deinit(&near);
	free(names.items);
}

TestSuite(near_names, .fini = give_back);

Test(near_names, looks_at_a_few_names_as_they_are)
{
	const char *found[NEAR_NAMES_MAX];

	make(NEAR_NAMES_FEW, 1, "wipe_the_disk");
	cr_expect_null(near.order);
	cr_assert_eq(find("tool_17", found), NEAR_NAMES_MAX);
	cr_expect_str_eq(found[0], "tool_17");
	cr_expect_str_eq(found[1], "tool_1", "the first of equally near names");
	cr_expect_eq(find("wipe_the_disc", found), 1);
	cr_expect_str_eq(found[0], "wipe_the_disk");
}

Test(near_names, finds_a_name_of_the_same_letter_among_very_many)
{
	const char *found[NEAR_NAMES_MAX];

	make(100000, 1, "wipe_the_disk");
	cr_assert_eq(find("Wipe_disk", found), 1);
	cr_expect_str_eq(found[0], "wipe_the_disk");
	cr_assert_eq(find("wipe_the_disk_1", found), 1, "a longer one");
	cr_expect_str_eq(found[0], "wipe_the_disk");
	names.n_looks = 0;
	cr_assert_eq(find("wipe_the_disc", found), 1);
	cr_expect_str_eq(found[0], "wipe_the_disk");
	cr_expect_lt(names.n_looks, 5000);
}

Test(near_names, finds_a_name_of_another_letter_or_with_the_other_inside)
{
	const char *found[NEAR_NAMES_MAX];

	make(NEAR_NAMES_FEW + 1, 1, "wipe_the_disk");
	cr_expect_not_null(near.order);
	cr_assert_eq(find("xipe_the_disk", found), 1);
	cr_expect_str_eq(found[0], "wipe_the_disk");
	cr_assert_eq(find("disk", found), 1);
	cr_expect_str_eq(found[0], "wipe_the_disk");
	cr_expect_eq(find("something_else_altogether", found), 0);
	cr_expect_eq(find("", found), 0);
}

Test(near_names, finds_only_names_of_the_part_that_is_given)
{
	const char *found[NEAR_NAMES_MAX];

	make(20000, 5, "wipe_the_disk");
	cr_assert_eq(find_in(500, 1, "tool_00511", found), 1);
	cr_expect_str_eq(found[0], "tool_00500");
	cr_expect_eq(find_in(500, 0, "tool_00500", found), 0);
	cr_assert_geq(find_in(19000, 1000, "tool_19017", found), 1);
	cr_expect_str_eq(found[0], "tool_19017");
	cr_expect_eq(find_in(0, 19999, "wipe_the_disk", found), 0);
}

/* Long names of the same bytes are the dearest. */
Test(near_names, does_a_bounded_work_however_alike_the_names_are)
{
	const char *found[NEAR_NAMES_MAX];
	char wanted[NAME_BYTES];

	make(100000, 59, "wipe_the_disk");
	snprintf(wanted, sizeof(wanted), "tool_%059d", 98765);
	memmove(wanted, wanted + 1, 63);
	wanted[63] = 't';
	cr_expect_eq(find(wanted, found), NEAR_NAMES_MAX);
	cr_expect_leq(names.n_looks, NEAR_NAMES_WORK / 64);
}

Test(near_names, has_no_near_name_beyond_the_bound_of_a_name)
{
	static char name[TEXT_NAME_BYTES + 2];
	const char *found[NEAR_NAMES_MAX];

	make(1000, 1, "wipe_the_disk");
	memset(name, 't', TEXT_NAME_BYTES + 1);
	cr_expect_eq(find(name, found), 0);
}
