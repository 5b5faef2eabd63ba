/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "boxes.h"
#include "catalogue/package.h"

static unsigned int n_filled;

static void count_filled(void *data)
{
	cr_expect_null(data);
	n_filled++;
}

Test(package_bin, takes_packages_with_their_last_reference)
{
	struct package_bin bin = {.filled = count_filled};
	struct package *first = make_box("a", BOX_TOOL("x", ""))->package;
	struct package *second = make_box("b", BOX_TOOL("x", ""))->package;

	first->bin = second->bin = &bin;
	package_unref(package_ref(first));
	cr_expect(package_bin_is_empty(&bin));
	package_unref(first);
	package_unref(second);
	cr_expect_not(package_bin_is_empty(&bin));
	cr_expect_str_eq(first->id, "a", "it is not freed yet");
	cr_expect_eq(n_filled, 1, "only the first is news");
	package_bin_empty(&bin);
	cr_expect(package_bin_is_empty(&bin));
}
