/* SPDX-License-Identifier: Apache-2.0 */
#include "util/pace.h"

#include <criterion/criterion.h>

Test(pace, lets_a_burst_pass_and_then_one_in_its_time)
{
	struct pace pace = {0};
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++)
		n += pace_take(&pace, 1000);
	cr_expect_eq(n, PACE_BURST);
	for (unsigned int ms = 1; ms <= 1000; ms++)
		n += pace_take(&pace, 1000 + ms);
	cr_expect_eq(n, PACE_BURST + 1000 / PACE_MS);
}

Test(pace, loses_none_that_came_late_and_close_together)
{
	struct pace pace = {0};

	cr_expect(pace_take(&pace, 1000));
	cr_expect(pace_take(&pace, 1090));
	cr_expect(pace_take(&pace, 1091));
	cr_expect(pace_take(&pace, 1150));
}
