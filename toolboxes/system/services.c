/* SPDX-License-Identifier: Apache-2.0 */

/*
 * service_status, service_logs, service: units of systemd. Any unit may be looked at. Its lines of
 * the journal are shown, and it is started or stopped, only if the operator names it in `units`:
 * lines may have secrets.
 *
 *   service {action}   status ─────────────▶ manager.c
 *                      start stop restart ──▶ units? ─▶ manager.c, waits for the end of the job
 *                      enable disable ──────▶ units? ─▶ manager.c
 *                      logs ────────────────▶ units? ─▶ journal.c
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal.h"
#include "manager.h"
#include "system.h"

/* The time that is left for an answer after a job was waited for. */
#define ANSWER_MS 1000

static struct toolbox_call configuration;

void services_init(struct toolbox_call call)
{
	configuration = call;
}

/* Return whether the operator names the unit @name in `units`. */
static bool is_named(const char *name)
{
	uint32_t n = 0;

	toolbox_get_count(configuration, "units", &n);
	for (uint32_t i = 0; i < n; i++) {
		const char *text = NULL;
		char pointer[32];
		char unit[UNIT_BYTES];

		snprintf(pointer, sizeof(pointer), "/units/%u", i);
		if (toolbox_get_string(configuration, pointer, &text, NULL) == TOOLBOX_OK &&
			unit_name(text, unit) && strcmp(unit, name) == 0)
			return true;
	}
	return false;
}

/* Read the unit's name in the argument @key. Otherwise answer the call. */
static bool read_unit(struct toolbox_call call, const char *key, char ret_name[UNIT_BYTES])
{
	const char *wanted = "";
	char path[16];
	size_t size = 0;

	if (toolbox_get_string(call, key, &wanted, &size) == TOOLBOX_OK && strlen(wanted) == size &&
		unit_name(wanted, ret_name))
		return true;
	snprintf(path, sizeof(path), "/%s", key);
	toolbox_refuse(call, path, "must be the name of a unit of systemd, such as ssh.service");
	return false;
}

/* Answer that the operator has to name the unit first. */
static bool is_permitted(struct toolbox_call call, const char *name)
{
	if (is_named(name))
		return true;
	fail(call,
		"%s is not in `toolboxes.system.units` of the configuration: add it there, and "
		"its lines are shown, and it may be started and stopped",
		name);
	return false;
}

/* ── status ──────────────────────────────────────────────────────────────────────────────────── */

static void put_property(
	struct toolbox_call call, const char *key, struct unit *unit, const char *property)
{
	char *text = unit_string(unit, property);

	if (text && *text)
		put_lossy(call, key, text);
	free(text);
}

/* Put the time @usec after 1970 as RFC 3339, in UTC. */
static void put_moment(struct toolbox_call call, const char *key, uint64_t usec)
{
	time_t seconds = (time_t)(usec / 1000000);
	char text[32];
	struct tm utc;

	if (usec > 0 && gmtime_r(&seconds, &utc) &&
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
		toolbox_put_string(call, key, text);
}

static void put_status(struct toolbox_call call, struct unit *unit)
{
	char *active = unit_string(unit, "ActiveState");
	uint64_t pid = unit_number(unit, "Service", "MainPID", 'u');

	put_lossy(call, "unit", unit->name);
	toolbox_put_string(call, "manager", unit->manager.is_user ? "user" : "system");
	put_property(call, "description", unit, "Description");
	put_property(call, "load_state", unit, "LoadState");
	put_lossy(call, "active_state", active ? active : "unknown");
	toolbox_put_bool(call, "is_active", active && strcmp(active, "active") == 0);
	put_property(call, "sub_state", unit, "SubState");
	put_property(call, "unit_file_state", unit, "UnitFileState");
	put_moment(call, "since", unit_number(unit, "Unit", "StateChangeTimestamp", 't'));
	if (pid > 0)
		toolbox_put_u64(call, "main_pid", pid);
	free(active);
}

static void answer_status(struct toolbox_call call, const char *name)
{
	struct unit unit;

	if (unit_find(name, &unit)) {
		put_status(call, &unit);
		toolbox_reply(call);
	} else {
		fail(call, "%s", unit.words);
	}
	unit_deinit(&unit);
}

void service_status(struct toolbox_call call, void *data)
{
	char name[UNIT_BYTES];

	(void)data;
	if (read_unit(call, "unit", name))
		answer_status(call, name);
}

/* ── logs ────────────────────────────────────────────────────────────────────────────────────── */

static void answer_logs(struct toolbox_call call, const char *name)
{
	uint64_t n = LOG_LINES_SHOWN;

	toolbox_get_u64(call, "lines", &n);
	if (is_permitted(call, name))
		journal_answer(call, configuration, name, (unsigned int)n);
}

void service_logs(struct toolbox_call call, void *data)
{
	char name[UNIT_BYTES];

	(void)data;
	if (read_unit(call, "unit", name))
		answer_logs(call, name);
}

/* ── service ─────────────────────────────────────────────────────────────────────────────────── */

static const struct {
	const char *action;
	const char *method; /* NULL: it changes files */
} changes[] = {
	{"start", "StartUnit"},
	{"stop", "StopUnit"},
	{"restart", "RestartUnit"},
	{"enable", NULL},
	{"disable", NULL},
};

static bool change(struct toolbox_call call, struct unit *unit, const char *action)
{
	uint32_t left_ms = toolbox_ms_left(call);

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		if (strcmp(changes[i].action, action) != 0)
			continue;
		if (!changes[i].method)
			return unit_enable(unit, strcmp(action, "enable") == 0);
		return unit_run(
			unit, changes[i].method, left_ms > ANSWER_MS ? left_ms - ANSWER_MS : 1);
	}
	snprintf(unit->words, sizeof(unit->words), "there is no action %s", action);
	return false;
}

static void answer_change(struct toolbox_call call, const char *name, const char *action)
{
	struct unit unit;

	if (!unit_find(name, &unit)) {
		fail(call, "%s", unit.words);
	} else if (!change(call, &unit, action)) {
		fail(call, "%s of %s: %s", action, name, unit.words);
	} else {
		put_lossy(call, "action", action);
		put_status(call, &unit);
		toolbox_reply(call);
	}
	unit_deinit(&unit);
}

void service(struct toolbox_call call, void *data)
{
	const char *action = "status";
	char name[UNIT_BYTES];

	(void)data;
	toolbox_get_string(call, "action", &action, NULL);
	if (!read_unit(call, "name", name))
		return;
	if (strcmp(action, "status") == 0)
		answer_status(call, name);
	else if (strcmp(action, "logs") == 0)
		answer_logs(call, name);
	else if (is_permitted(call, name))
		answer_change(call, name, action);
}
