/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "bus/pacing.h"

Test(bus_backoff, doubles_from_half_a_second_to_thirty)
{
	static const uint64_t full_ms[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};

	for (uint32_t attempt = 0; attempt < 8; attempt++)
		cr_assert_eq(bus_backoff_delay_ms(attempt, 0), full_ms[attempt]);
	cr_assert_eq(bus_backoff_delay_ms(UINT32_MAX, 0), 30000);
}

Test(bus_backoff, is_shortened_by_up_to_a_quarter)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t chance = 0; chance < 1000; chance++) {
		uint64_t delay_ms = bus_backoff_delay_ms(0, chance * 7919);

		cr_assert_leq(delay_ms, 500);
		least = delay_ms < least ? delay_ms : least;
	}
	cr_assert_eq(least, 375);
	cr_assert_geq(bus_backoff_delay_ms(9, UINT32_MAX), 22500);
}

static void expect_step(struct bus_heartbeat *heartbeat, uint64_t now_ms,
	enum bus_heartbeat_action action, uint64_t wait_ms)
{
	uint64_t wait;

	cr_assert_eq(bus_heartbeat_step(heartbeat, now_ms, &wait), action, "at %lu",
		(unsigned long)now_ms);
	cr_assert_eq(wait, wait_ms, "at %lu: %lu", (unsigned long)now_ms, (unsigned long)wait);
}

Test(bus_heartbeat, pings_every_twenty_seconds_while_it_is_answered)
{
	struct bus_heartbeat heartbeat;

	bus_heartbeat_begin(&heartbeat, 1000);
	expect_step(&heartbeat, 1000, BUS_HEARTBEAT_WAIT, 20000);
	expect_step(&heartbeat, 20999, BUS_HEARTBEAT_WAIT, 1);
	expect_step(&heartbeat, 21000, BUS_HEARTBEAT_PING, 10000);
	expect_step(&heartbeat, 25000, BUS_HEARTBEAT_WAIT, 6000);
	bus_heartbeat_receive(&heartbeat);
	expect_step(&heartbeat, 31000, BUS_HEARTBEAT_WAIT, 10000);
	expect_step(&heartbeat, 41000, BUS_HEARTBEAT_PING, 10000);
}

Test(bus_heartbeat, hangs_up_ten_seconds_after_a_ping_that_nothing_followed)
{
	struct bus_heartbeat heartbeat;

	bus_heartbeat_begin(&heartbeat, 0);
	bus_heartbeat_receive(&heartbeat);
	expect_step(&heartbeat, 20000, BUS_HEARTBEAT_PING, 10000);
	expect_step(&heartbeat, 29999, BUS_HEARTBEAT_WAIT, 1);
	expect_step(&heartbeat, 30000, BUS_HEARTBEAT_HANG_UP, 0);
}

Test(bus_heartbeat, what_was_heard_before_a_ping_does_not_answer_it)
{
	struct bus_heartbeat heartbeat;

	bus_heartbeat_begin(&heartbeat, 0);
	expect_step(&heartbeat, 20000, BUS_HEARTBEAT_PING, 10000);
	bus_heartbeat_receive(&heartbeat);
	expect_step(&heartbeat, 30000, BUS_HEARTBEAT_WAIT, 10000);
	expect_step(&heartbeat, 40000, BUS_HEARTBEAT_PING, 10000);
	expect_step(&heartbeat, 50000, BUS_HEARTBEAT_HANG_UP, 0);
}

Test(bus_heartbeat, pings_at_once_when_it_is_late)
{
	struct bus_heartbeat heartbeat;

	bus_heartbeat_begin(&heartbeat, 0);
	expect_step(&heartbeat, 20000, BUS_HEARTBEAT_PING, 10000);
	bus_heartbeat_receive(&heartbeat);
	expect_step(&heartbeat, 90000, BUS_HEARTBEAT_PING, 10000);
}
