/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/pacing.h"

uint64_t bus_backoff_delay_ms(uint32_t attempt, uint32_t chance)
{
	uint64_t delay_ms = BUS_BACKOFF_FIRST_MS;

	while (attempt-- > 0 && delay_ms < BUS_BACKOFF_MAX_MS)
		delay_ms *= 2;
	if (delay_ms > BUS_BACKOFF_MAX_MS)
		delay_ms = BUS_BACKOFF_MAX_MS;
	return delay_ms - chance % (delay_ms / 4 + 1);
}

void bus_heartbeat_begin(struct bus_heartbeat *heartbeat, uint64_t now_ms)
{
	*heartbeat = (struct bus_heartbeat){.pinged_ms = now_ms};
}

static enum bus_heartbeat_action wait_until(uint64_t due_ms, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	*ret_wait_ms = due_ms - now_ms;
	return BUS_HEARTBEAT_WAIT;
}

enum bus_heartbeat_action bus_heartbeat_step(
	struct bus_heartbeat *heartbeat, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	uint64_t due_ms = heartbeat->pinged_ms +
			  (heartbeat->is_awaited ? BUS_PONG_WAIT_MS : BUS_PING_INTERVAL_MS);

	if (now_ms < due_ms)
		return wait_until(due_ms, now_ms, ret_wait_ms);
	if (heartbeat->is_awaited && !heartbeat->has_received) {
		*ret_wait_ms = 0;
		return BUS_HEARTBEAT_HANG_UP;
	}
	if (heartbeat->is_awaited) {
		heartbeat->is_awaited = false;
		return bus_heartbeat_step(heartbeat, now_ms, ret_wait_ms);
	}
	*heartbeat = (struct bus_heartbeat){.pinged_ms = now_ms, .is_awaited = true};
	*ret_wait_ms = BUS_PONG_WAIT_MS;
	return BUS_HEARTBEAT_PING;
}
