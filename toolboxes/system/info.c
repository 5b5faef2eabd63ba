/* SPDX-License-Identifier: Apache-2.0 */

/*
 * system_info: the names of the device and of its parts, its load, and how long it is on. A part
 * that the device does not know is left out.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "fields.h"
#include "place.h"
#include "system.h"

static void put_os(struct toolbox_call call)
{
	PLACE_TEXT release = place_read("/etc/os-release");
	char name[256];

	if (!release)
		release = place_read("/usr/lib/os-release");
	if (!release || !field_find(release, "PRETTY_NAME", '=', name, sizeof(name)))
		return;
	if ((*name == '"' || *name == '\'') && strlen(name) > 1 &&
		name[strlen(name) - 1] == *name) {
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

	put_lossy(call, "model", board ? board : product);
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

	if (loadavg && sscanf(loadavg, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3 &&
		isfinite(load[0] + load[1] + load[2])) {
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
