/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "scarce.h"

Test(driver, refuses_with_a_place_and_a_reason_or_reports_that_memory_is_short)
{
	static const char text[] = "{\"library\":1}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t n = 0;

	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	for (; scarce_once_after(n); n++) {
		struct driver_refusal refusal = {0};
		int r = driver_refuse(
			&refusal, &tape, json_find(&tape, 0, "library"), "must be %s", "a string");

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : DRIVER_E_REFUSED, "%zu: %d", n, r);
		buffer_deinit(&refusal.pointer);
		buffer_deinit(&refusal.message);
	}
	cr_expect_gt(n, 1);
}
