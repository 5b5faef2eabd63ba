/* SPDX-License-Identifier: Apache-2.0 */

/*
 * memory_usage: /proc/meminfo. Memory is in use where the kernel cannot give it to a program
 * without swapping (MemAvailable), so files that it keeps for later do not count.
 */

#include <math.h>
#include <stdlib.h>

#include "fields.h"
#include "place.h"
#include "system.h"

/* Return the bytes of the line @name of /proc/meminfo; 0: there is no such line. */
static uint64_t find_bytes(const char *meminfo, const char *name)
{
	char kilobytes[32];

	if (!field_find(meminfo, name, ':', kilobytes, sizeof(kilobytes)))
		return 0;
	return strtoull(kilobytes, NULL, 10) * 1024;
}

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole > 0 ? round(100.0 * (double)part / (double)whole) : 0;
}

void memory_usage(struct toolbox_call call, void *data)
{
	PLACE_TEXT meminfo = place_read("/proc/meminfo");
	uint64_t total = meminfo ? find_bytes(meminfo, "MemTotal") : 0;
	uint64_t available = meminfo ? find_bytes(meminfo, "MemAvailable") : 0;
	uint64_t swap = meminfo ? find_bytes(meminfo, "SwapTotal") : 0;
	uint64_t swap_free = meminfo ? find_bytes(meminfo, "SwapFree") : 0;

	(void)data;
	if (total == 0 || available > total || swap_free > swap) {
		fail(call, "/proc/meminfo has no figures that go together: is /proc mounted, and "
			   "Linux 3.14 or later?");
		return;
	}
	toolbox_put_u64(call, "total_bytes", total);
	toolbox_put_u64(call, "available_bytes", available);
	toolbox_put_u64(call, "used_bytes", total - available);
	toolbox_put_i64(call, "used_percent", (int64_t)percent_of(total - available, total));
	toolbox_put_u64(call, "swap_total_bytes", swap);
	toolbox_put_u64(call, "swap_used_bytes", swap - swap_free);
	toolbox_reply(call);
}
