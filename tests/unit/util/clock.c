/* SPDX-License-Identifier: Apache-2.0 */
#include "util/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

Test(clock, rounds_up_to_whole_units)
{
	cr_expect_eq(clock_round_up(0), 0);
	cr_expect_eq(clock_round_up(1e-9), 1);
	cr_expect_eq(clock_round_up(1), 1);
	cr_expect_eq(clock_round_up(1.5), 2);
	cr_expect_eq(clock_round_up(86400000), 86400000);
	cr_expect_eq(clock_round_up(1e18), UINT64_C(1000000000000000000));
	cr_expect_eq(clock_round_up(9.3e18), CLOCK_UNITS_MAX);
	cr_expect_eq(clock_round_up(5e102), CLOCK_UNITS_MAX);
}

Test(clock, tells_when_the_time_of_the_thread_is_up)
{
	uint64_t end_ns = 0;
	uint64_t never_ns = 0;

	cr_expect_not(clock_is_up(&end_ns, UINT64_C(1000000)));
	cr_expect_gt(end_ns, 0);
	cr_expect_not(clock_is_up(&never_ns, CLOCK_UNITS_MAX));
	while (clock_thread_ns() <= end_ns)
		;
	cr_expect(clock_is_up(&end_ns, UINT64_C(1000000)));
	cr_expect_not(clock_is_up(&never_ns, CLOCK_UNITS_MAX));
}

Test(clock, reads_the_processor_time_of_a_process)
{
	uint64_t used_ns = 0;
	uint64_t end_ns = 0;

	while (!clock_is_up(&end_ns, UINT64_C(1000000)))
		;
	cr_assert_eq(clock_process_ns(getpid(), &used_ns), 0);
	cr_expect_geq(used_ns, UINT64_C(1000000));
	cr_expect_eq(clock_process_ns(-2, &used_ns), -ESRCH);
}
