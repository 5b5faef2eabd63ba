/* SPDX-License-Identifier: Apache-2.0 */

/*
 * time: the time here, or in another time zone. The names of zones come from tzdata, and so do
 * their rules.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place.h"
#include "system.h"
#include "zones.h"

#define FOLDER "/usr/share/zoneinfo"

/* Put the offset from UTC, and the whole time as RFC 3339 has it. */
static void put_offset(struct toolbox_call call, const struct tm *local)
{
	unsigned int minutes = (unsigned int)labs(local->tm_gmtoff) / 60 % 6000;
	char offset[16];
	char iso[64];

	snprintf(offset, sizeof(offset), "%c%02u:%02u", local->tm_gmtoff < 0 ? '-' : '+',
		minutes / 60, minutes % 60);
	toolbox_put_string(call, "utc_offset", offset);
	if (strftime(iso, sizeof(iso) - sizeof(offset), "%Y-%m-%dT%H:%M:%S", local) > 0) {
		strcat(iso, offset);
		toolbox_put_string(call, "iso", iso);
	}
}

/* Answer with the time in @zone, or of this device (NULL). */
static void answer(struct toolbox_call call, const char *zone)
{
	time_t now = time(NULL);
	char clock[16];
	char date[32];
	char weekday[32];
	struct tm local;

	if (!localtime_r(&now, &local) || strftime(clock, sizeof(clock), "%H:%M", &local) == 0 ||
		strftime(date, sizeof(date), "%Y-%m-%d", &local) == 0 ||
		strftime(weekday, sizeof(weekday), "%A", &local) == 0) {
		fail(call, "the clock of this device is out of all calendars");
		return;
	}
	toolbox_put_string(call, "time", clock);
	toolbox_put_string(call, "date", date);
	toolbox_put_string(call, "weekday", weekday);
	put_lossy(call, "timezone", zone ? zone : local.tm_zone);
	put_offset(call, &local);
	toolbox_put_i64(call, "unix", now);
	toolbox_reply(call);
}

/* Answer that no zone is called @wanted. */
static void fail_unknown(
	struct toolbox_call call, const char *wanted, const struct nearest *nearest)
{
	char words[NEAREST_MAX * NEAREST_BYTES + 16];

	nearest_write(nearest, words, sizeof(words));
	if (*words)
		fail(call, "no time zone is called '%s'; did you mean %s?", wanted, words);
	else
		fail(call,
			"no time zone is called '%s'. Use a name as Europe/Berlin, or the city "
			"of one, as Tokyo",
			wanted);
}

/* Without the file of a zone localtime_r() would return the time of UTC. */
static void answer_in(struct toolbox_call call, const struct zone *zone)
{
	PLACE_TEXT rules = place_read(FOLDER "/%s", zone->file);
	char path[PLACE_BYTES];

	if (!rules || !place_path(path, FOLDER "/%s", zone->file)) {
		fail(call, FOLDER "/%s cannot be read: install the package tzdata", zone->file);
	} else if (setenv("TZ", path, 1) < 0) {
		fail(call, "out of memory");
	} else {
		tzset();
		answer(call, zone->name);
	}
}

/* Answer with the time in the zone called @wanted. */
static void answer_elsewhere(struct toolbox_call call, const char *wanted)
{
	PLACE_TEXT tzdata = place_read(FOLDER "/tzdata.zi");
	char *own = getenv("TZ");
	char *kept = own ? strdup(own) : NULL;
	struct zone zone;
	struct nearest nearest;

	if (!tzdata)
		fail(call, FOLDER "/tzdata.zi cannot be read: install the package tzdata");
	else if (!zones_find(tzdata, wanted, &zone, &nearest))
		fail_unknown(call, wanted, &nearest);
	else
		answer_in(call, &zone);
	if (kept)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
	free(kept);
}

void show_time(struct toolbox_call call, void *data)
{
	const char *wanted = NULL;
	size_t size = 0;

	(void)data;
	toolbox_get_string(call, "timezone", &wanted, &size);
	/* localtime_r() need not look at TZ itself. */
	tzset();
	if (!wanted)
		answer(call, NULL);
	else if (strlen(wanted) != size || size >= ZONE_BYTES)
		fail_unknown(call, "…", &(struct nearest){.n = 0});
	else
		answer_elsewhere(call, wanted);
}
