/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <criterion/criterion.h>

#include "scarce.h"

Test(driver, refuses_with_a_place_and_a_reason_unless_memory_is_short)
{
	static const char text[] = "{\"library\":1}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t n = 0;

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	for (; scarce_once_after(n); n++) {
		cleanup(diagnostics_deinit) struct diagnostics problems = {0};
		int r = driver_refuse(
			&problems, &tape, json_find(&tape, 0, "library"), "must be %s", "a string");

		cr_expect_eq(r, DRIVER_E_REFUSED);
		if (scarce_has_failed()) {
			cr_expect_eq(problems.n_items, 0, "%zu", n);
		} else {
			cr_assert_eq(problems.n_items, 1);
			cr_expect_str_eq(problems.items[0].pointer, "/library");
			cr_expect_str_eq(problems.items[0].text, "must be a string");
		}
	}
	cr_expect_gt(n, 1);
}
