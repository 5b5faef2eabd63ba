/* SPDX-License-Identifier: Apache-2.0 */

/*
 * memory_usage: /proc/meminfo. Memory is in use where the kernel cannot give it to a program
 * without swapping (MemAvailable), so files that it keeps for later do not count.
 *
 * system_info: names and figures that change seldom, and the load.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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

/* ── system_info ─────────────────────────────────────────────────────────────────────────────── */

static void put_os(struct toolbox_call call)
{
	PLACE_TEXT release = place_read("/etc/os-release");
	char name[256];

	if (!release)
		release = place_read("/usr/lib/os-release");
	if (!release || !field_find(release, "PRETTY_NAME", '=', name, sizeof(name)))
		return;
	if (*name == '"' && strlen(name) > 1 && name[strlen(name) - 1] == '"') {
		name[strlen(name) - 1] = '\0';
		put_lossy(call, "os", name + 1);
	} else {
		put_lossy(call, "os", name);
	}
}

/* Put the model of the device: a board's from its device tree, a computer's from its firmware. */
static void put_model(struct toolbox_call call)
{
	PLACE_TEXT board = place_read("/sys/firmware/devicetree/base/model");
	PLACE_TEXT product = place_read("/sys/class/dmi/id/product_name");
	const char *model = board && *board ? board : product;

	if (model && *model)
		put_lossy(call, "model", model);
}

/* Put the model of the processor, and the number of its threads. */
static void put_processor(struct toolbox_call call)
{
	PLACE_TEXT cpuinfo = place_read("/proc/cpuinfo");
	char model[256];
	unsigned int n = 0;

	if (!cpuinfo)
		return;
	for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		n += strncmp(line, "processor", 9) == 0;
	}
	if (field_find(cpuinfo, "model name", ':', model, sizeof(model)))
		put_lossy(call, "processor", model);
	if (n > 0)
		toolbox_put_u64(call, "processors", n);
}

static void put_load(struct toolbox_call call)
{
	PLACE_TEXT loadavg = place_read("/proc/loadavg");
	PLACE_TEXT uptime = place_read("/proc/uptime");
	double load[3];
	double seconds;

	if (loadavg && sscanf(loadavg, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3) {
		toolbox_put_double(call, "load_1m", load[0]);
		toolbox_put_double(call, "load_5m", load[1]);
		toolbox_put_double(call, "load_15m", load[2]);
	}
	if (uptime && sscanf(uptime, "%lf", &seconds) == 1 && seconds >= 0 && seconds < 1e12) {
		toolbox_put_u64(call, "uptime_seconds", (uint64_t)seconds);
		toolbox_put_u64(call, "uptime_days", (uint64_t)(seconds / 86400));
	}
}

void system_info(struct toolbox_call call, void *data)
{
	PLACE_TEXT host = place_read("/proc/sys/kernel/hostname");
	PLACE_TEXT kernel = place_read("/proc/sys/kernel/osrelease");
	struct utsname names;

	(void)data;
	if (uname(&names) < 0) {
		fail(call, "uname() failed");
		return;
	}
	put_lossy(call, "hostname", host ? host : names.nodename);
	put_os(call);
	put_lossy(call, "kernel", kernel ? kernel : names.release);
	put_lossy(call, "architecture", names.machine);
	put_model(call);
	put_processor(call);
	put_load(call);
	toolbox_reply(call);
}
