/* SPDX-License-Identifier: Apache-2.0 */

/*
 * cpu_temperature: the sensors of the kernel, and the most likely one of the processor.
 *
 *   /sys/class/hwmon/hwmonN     name, tempM_input (1/1000 °C), tempM_label
 *   /sys/class/thermal/thermal_zoneN     type, temp (1/1000 °C)
 */

#include <stdio.h>
#include <string.h>

#include "place.h"
#include "system.h"

#define SENSORS_MAX 64
#define NAME_BYTES  96

/* Sensors beyond these are broken: no processor works there. */
#define LOWEST  (-60000)
#define HIGHEST 150000

struct sensor {
	char name[NAME_BYTES];
	int64_t millidegrees;
	unsigned int rank; /* 0: the most likely */
	bool is_other;     /* it is known to be no processor's */
};

struct sensors {
	struct sensor items[SENSORS_MAX];
	unsigned int n;
};

/* Parts of names of sensors of a processor, the whole processor first. */
static const char *const processors[] = {"x86_pkg_temp", "coretemp Package", "k10temp Tctl",
	"k10temp", "zenpower", "cpu-thermal", "cpu_thermal", "soc_thermal", "soc-thermal",
	"bcm2835_thermal", "coretemp", "cpu", "soc", "pkg", NULL};

/* Parts of names of sensors of other parts: disks, radios, graphics, memory, batteries. */
static const char *const others[] = {"nvme", "drivetemp", "iwlwifi", "ath10k", "ath11k", "gpu",
	"nouveau", "radeon", "jc42", "spd5118", "battery", NULL};

/* Return the index of the first part in @list that @name has, in any case; the end: none. */
static unsigned int find_part(const char *const *list, const char *name)
{
	unsigned int index = 0;

	while (list[index] && !strcasestr(name, list[index]))
		index++;
	return index;
}

static void add(struct sensors *sensors, const char *chip, const char *label, int64_t millidegrees)
{
	struct sensor *sensor = &sensors->items[sensors->n];

	if (sensors->n == SENSORS_MAX || millidegrees < LOWEST || millidegrees > HIGHEST)
		return;
	snprintf(sensor->name, sizeof(sensor->name), "%s%s%s", chip, *label ? " " : "", label);
	sensor->millidegrees = millidegrees;
	sensor->rank = find_part(processors, sensor->name);
	sensor->is_other =
		processors[sensor->rank] == NULL && others[find_part(others, sensor->name)];
	sensors->n++;
}

/* Add the sensors of one chip. */
static void add_chip(struct sensors *sensors, const char *folder)
{
	PLACE_FOLDER entries = place_open_folder("/sys/class/hwmon/%s", folder);
	PLACE_TEXT chip = place_read("/sys/class/hwmon/%s/name", folder);
	const char *name;

	while (entries && (name = place_next(entries))) {
		PLACE_TEXT label = NULL;
		int64_t millidegrees;
		unsigned int number;
		int end = 0;

		if (sscanf(name, "temp%3u_input%n", &number, &end) != 1 || !end || name[end])
			continue;
		label = place_read("/sys/class/hwmon/%s/temp%u_label", folder, number);
		if (place_read_number(&millidegrees, "/sys/class/hwmon/%s/%s", folder, name))
			add(sensors, chip ? chip : folder, label ? label : "", millidegrees);
	}
}

static void add_zone(struct sensors *sensors, const char *folder)
{
	PLACE_TEXT type = place_read("/sys/class/thermal/%s/type", folder);
	int64_t millidegrees;

	if (strncmp(folder, "thermal_zone", 12) == 0 &&
		place_read_number(&millidegrees, "/sys/class/thermal/%s/temp", folder))
		add(sensors, type ? type : folder, "", millidegrees);
}

static void find_sensors(struct sensors *sensors)
{
	PLACE_FOLDER zones = place_open_folder("/sys/class/thermal");
	PLACE_FOLDER chips = place_open_folder("/sys/class/hwmon");
	const char *name;

	while (zones && (name = place_next(zones)))
		add_zone(sensors, name);
	while (chips && (name = place_next(chips)))
		add_chip(sensors, name);
}

/* Return the most likely sensor of the processor, the warmest one of several; NULL without one. */
static const struct sensor *choose(const struct sensors *sensors)
{
	const struct sensor *best = NULL;

	for (unsigned int i = 0; i < sensors->n; i++) {
		const struct sensor *one = &sensors->items[i];

		if (one->is_other)
			continue;
		if (!best || one->rank < best->rank ||
			(one->rank == best->rank && one->millidegrees > best->millidegrees))
			best = one;
	}
	return best;
}

void cpu_temperature(struct toolbox_call call, void *data)
{
	struct sensors sensors = {.n = 0};
	const struct sensor *best;

	(void)data;
	find_sensors(&sensors);
	best = choose(&sensors);
	if (!best) {
		fail(call, "this device has no sensor of the processor's temperature in "
			   "/sys/class/thermal or /sys/class/hwmon; a virtual machine has none, "
			   "other devices may need a kernel module");
		return;
	}
	put_tenths(call, "celsius", (double)best->millidegrees / 1000);
	put_lossy(call, "sensor", best->name);
	toolbox_open_array(call, "sensors");
	for (unsigned int i = 0; i < sensors.n; i++) {
		toolbox_open_object(call, NULL);
		put_lossy(call, "name", sensors.items[i].name);
		put_tenths(call, "celsius", (double)sensors.items[i].millidegrees / 1000);
		toolbox_close(call);
	}
	toolbox_reply(call);
}
