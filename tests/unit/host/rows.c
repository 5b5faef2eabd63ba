/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <criterion/criterion.h>

#include "guest.h"

void rows_expect(const char *toolbox, const struct row *rows, size_t count, bool are_failures)
{
	struct guest guest = {0};

	guest_start(&guest, toolbox, NULL);
	for (size_t i = 0; i < count; i++) {
		const char *answer = guest_call(&guest, rows[i].tool, rows[i].arguments);

		cr_expect_str_eq(answer, rows[i].answer, "%s %s: got %s, expected %s", rows[i].tool,
			rows[i].arguments, answer, rows[i].answer);
		cr_expect_eq(
			guest.is_failure, are_failures, "%s %s", rows[i].tool, rows[i].arguments);
	}
	cr_expect_eq(guest.n_answers, count);
	cr_expect_eq(guest.n_ends, 0);
	guest_stop(&guest);
}
