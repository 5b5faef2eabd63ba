/* SPDX-License-Identifier: Apache-2.0 */

/*
 * battery: the power supplies in /sys/class/power_supply. A battery reports its charge as a whole
 * percentage (capacity); mains and USB report whether they are plugged in (online).
 */

#include <string.h>

#include "place.h"
#include "system.h"

#define BATTERIES_MAX 8

struct battery {
	char name[64];
	int64_t percent;
	char *state; /* "charging", … or NULL */
};

struct supplies {
	struct battery batteries[BATTERIES_MAX];
	unsigned int n;
	bool has_mains; /* a mains or USB supply is known */
	bool is_online; /* and plugged in */
};

static void free_supplies(struct supplies *supplies)
{
	for (unsigned int i = 0; i < supplies->n; i++)
		place_free(&supplies->batteries[i].state);
}

/* Write "Not charging" as "not charging". */
static void lower(char *text)
{
	for (; text && *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
}

static void add_battery(struct supplies *supplies, const char *name)
{
	PLACE_TEXT scope = place_read("/sys/class/power_supply/%s/scope", name);
	struct battery *battery = &supplies->batteries[supplies->n];
	int64_t percent;

	/* A mouse or a headset has a battery of its own. */
	if ((scope && strcmp(scope, "Device") == 0) || supplies->n == BATTERIES_MAX ||
		strlen(name) >= sizeof(battery->name) ||
		!place_read_number(&percent, "/sys/class/power_supply/%s/capacity", name))
		return;
	strcpy(battery->name, name);
	battery->percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
	battery->state = place_read("/sys/class/power_supply/%s/status", name);
	lower(battery->state);
	supplies->n++;
}

static void add_supply(struct supplies *supplies, const char *name)
{
	PLACE_TEXT type = place_read("/sys/class/power_supply/%s/type", name);
	int64_t online;

	if (!type)
		return;
	if (strcmp(type, "Battery") == 0) {
		add_battery(supplies, name);
		return;
	}
	if (!place_read_number(&online, "/sys/class/power_supply/%s/online", name))
		return;
	supplies->has_mains = true;
	supplies->is_online |= online > 0;
}

static void answer(struct toolbox_call call, const struct supplies *supplies)
{
	int64_t sum = 0;

	for (unsigned int i = 0; i < supplies->n; i++)
		sum += supplies->batteries[i].percent;
	toolbox_put_i64(call, "percent", sum / supplies->n);
	put_lossy(call, "state",
		supplies->batteries[0].state ? supplies->batteries[0].state : "unknown");
	if (supplies->has_mains)
		toolbox_put_bool(call, "on_mains", supplies->is_online);
	toolbox_open_array(call, "batteries");
	for (unsigned int i = 0; i < supplies->n; i++) {
		toolbox_open_object(call, NULL);
		put_lossy(call, "name", supplies->batteries[i].name);
		toolbox_put_i64(call, "percent", supplies->batteries[i].percent);
		put_lossy(call, "state", supplies->batteries[i].state);
		toolbox_close(call);
	}
	toolbox_reply(call);
}

void battery(struct toolbox_call call, void *data)
{
	PLACE_FOLDER folder = place_open_folder("/sys/class/power_supply");
	struct supplies supplies = {.n = 0};
	const char *name;

	(void)data;
	while (folder && (name = place_next(folder)))
		add_supply(&supplies, name);
	if (supplies.n > 0)
		answer(call, &supplies);
	else
		fail(call, "this device has no battery: /sys/class/power_supply lists none. It "
			   "runs on mains power, or its driver does not report the charge");
	free_supplies(&supplies);
}
