/* SPDX-License-Identifier: Apache-2.0 */
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "now.h"

#define SERVICE   "org.freedesktop.systemd1"
#define OBJECT    "/org/freedesktop/systemd1"
#define INTERFACE SERVICE ".Manager"

/* The time for a reply of a manager, in microseconds. */
#define REPLY_USEC 5000000u

/* The most files of units that are compared with an unknown name. */
#define NAMES_MAX 10000

/* ── connections ─────────────────────────────────────────────────────────────────────────────── */

/* The session bus of this user: by its variable, which the configuration may set, or at the place
 * where systemd has it. */
static int connect_user(sd_bus **ret_bus)
{
	const char *given = getenv("DBUS_SESSION_BUS_ADDRESS");
	char address[64];
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	snprintf(address, sizeof(address), "unix:path=/run/user/%u/bus", (unsigned int)getuid());
	r = r < 0 ? r : sd_bus_set_address(bus, given ? given : address);
	r = r < 0 ? r : sd_bus_set_bus_client(bus, true);
	r = r < 0 ? r : sd_bus_start(bus);
	if (r < 0)
		sd_bus_unref(bus);
	else
		*ret_bus = bus;
	return r;
}

static int open_manager(bool is_user, struct manager *ret_manager)
{
	sd_bus *bus = NULL;
	int r = is_user ? connect_user(&bus) : sd_bus_open_system(&bus);

	if (r < 0)
		return r;
	sd_bus_set_method_call_timeout(bus, REPLY_USEC);
	*ret_manager = (struct manager){.bus = bus, .is_user = is_user};
	return 0;
}

static void close_manager(struct manager *manager)
{
	sd_bus_flush_close_unref(manager->bus);
	manager->bus = NULL;
}

void unit_deinit(struct unit *unit)
{
	close_manager(&unit->manager);
	free(unit->path);
	unit->path = NULL;
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_denial(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);
}

/* Write why a request failed: the manager's words, or those of the errno @r. */
static void write_failure(struct unit *unit, const sd_bus_error *error, int r)
{
	const char *text = error->message ? error->message : strerror(-r);

	if (is_denial(error))
		snprintf(unit->words, sizeof(unit->words),
			"the service manager refuses it to the user of toolboxd (%s): allow it by "
			"a rule of polkit for org.freedesktop.systemd1, or make it a unit of the "
			"user",
			text);
	else
		snprintf(unit->words, sizeof(unit->words), "the service manager has failed: %s",
			text);
}

/* ── finding a unit ──────────────────────────────────────────────────────────────────────────── */

bool unit_name(const char *wanted, char ret_name[UNIT_BYTES])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789:_.\\@-";
	int size = snprintf(
		ret_name, UNIT_BYTES, "%s%s", wanted, strchr(wanted, '.') ? "" : ".service");

	return *wanted && size < UNIT_BYTES && wanted[strspn(wanted, allowed)] == '\0';
}

/* Load the unit. Return whether the manager has it; *ret_error (a negative errno): it was not
 * asked. */
static bool load_unit(struct unit *unit, int *ret_error)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	const char *path = NULL;
	char *state = NULL;
	bool is_there;
	int r = sd_bus_call_method(unit->manager.bus, SERVICE, OBJECT, INTERFACE, "LoadUnit",
		&error, &reply, "s", unit->name);

	r = r < 0 ? r : sd_bus_message_read(reply, "o", &path);
	if (r >= 0)
		unit->path = strdup(path);
	if (r < 0)
		write_failure(unit, &error, r);
	state = unit->path ? unit_string(unit, "LoadState") : NULL;
	if (r >= 0 && !state)
		write_failure(unit, &error, r = -EIO);
	*ret_error = r < 0 ? r : 0;
	sd_bus_message_unref(reply);
	sd_bus_error_free(&error);
	is_there = state && strcmp(state, "not-found") != 0;
	free(state);
	return is_there;
}

/* Copy @name without the suffix of services, which is long and would make all names near. */
static void copy_stem(const char *name, char ret_stem[UNIT_BYTES])
{
	char *suffix;

	snprintf(ret_stem, UNIT_BYTES, "%s", name);
	suffix = strrchr(ret_stem, '.');
	if (suffix && strcmp(suffix, ".service") == 0)
		*suffix = '\0';
}

/* Offer the names of the unit files of @manager to @nearest. */
static void offer_names(struct manager *manager, const char *wanted, struct nearest *nearest)
{
	sd_bus_message *reply = NULL;
	const char *path;
	const char *state;
	char wanted_stem[UNIT_BYTES];
	char stem[UNIT_BYTES];
	unsigned int n = 0;

	copy_stem(wanted, wanted_stem);
	if (sd_bus_call_method(manager->bus, SERVICE, OBJECT, INTERFACE, "ListUnitFiles", NULL,
		    &reply, NULL) >= 0 &&
		sd_bus_message_enter_container(reply, 'a', "(ss)") >= 0)
		while (n++ < NAMES_MAX && sd_bus_message_read(reply, "(ss)", &path, &state) > 0) {
			const char *slash = strrchr(path, '/');

			copy_stem(slash ? slash + 1 : path, stem);
			nearest_offer(nearest, wanted_stem, stem);
		}
	sd_bus_message_unref(reply);
}

static void write_unknown(struct unit *unit, bool is_asked, const struct nearest *nearest)
{
	char names[NEAREST_MAX * NEAREST_BYTES + 16];

	nearest_write(nearest, names, sizeof(names));
	if (!is_asked && !*unit->words)
		snprintf(unit->words, sizeof(unit->words),
			"no service manager can be reached: neither the user's, at "
			"/run/user/%u/bus, nor the system's, at /run/dbus/system_bus_socket. Is "
			"this a container, or a device without systemd?",
			(unsigned int)getuid());
	else if (is_asked && *names)
		snprintf(unit->words, sizeof(unit->words), "there is no unit %s; did you mean %s?",
			unit->name, names);
	else if (is_asked)
		snprintf(unit->words, sizeof(unit->words),
			"there is no unit %s; `systemctl list-unit-files` shows all names",
			unit->name);
}

bool unit_find(const char *name, struct unit *ret_unit)
{
	struct nearest nearest = {.n = 0};
	bool is_asked = false;

	*ret_unit = (struct unit){.path = NULL};
	snprintf(ret_unit->name, sizeof(ret_unit->name), "%s", name);
	for (int is_user = 1; is_user >= 0; is_user--) {
		int r;

		if (open_manager(is_user, &ret_unit->manager) < 0)
			continue;
		if (load_unit(ret_unit, &r))
			return true;
		is_asked |= r == 0;
		if (r == 0)
			offer_names(&ret_unit->manager, name, &nearest);
		unit_deinit(ret_unit);
	}
	write_unknown(ret_unit, is_asked, &nearest);
	return false;
}

char *unit_string(struct unit *unit, const char *property)
{
	char *text = NULL;

	if (sd_bus_get_property_string(unit->manager.bus, SERVICE, unit->path, SERVICE ".Unit",
		    property, NULL, &text) < 0)
		return NULL;
	return text;
}

uint64_t unit_number(struct unit *unit, const char *interface, const char *property, char type)
{
	char name[64];
	uint32_t small = 0;
	uint64_t large = 0;

	snprintf(name, sizeof(name), "%s.%s", SERVICE, interface);
	if (sd_bus_get_property_trivial(unit->manager.bus, SERVICE, unit->path, name, property,
		    NULL, type, type == 'u' ? (void *)&small : (void *)&large) < 0)
		return 0;
	return type == 'u' ? small : large;
}

/* ── changing a unit ─────────────────────────────────────────────────────────────────────────── */

/* A job of the manager, waited for. */
struct job {
	char path[128];
	char result[32]; /* "": it has not ended */
};

/* JobRemoved(u id, o job, s unit, s result) */
static int on_job(sd_bus_message *message, void *data, sd_bus_error *error)
{
	struct job *job = data;
	const char *path;
	const char *result;

	(void)error;
	if (sd_bus_message_read(message, "uoss", NULL, &path, NULL, &result) >= 0 &&
		strcmp(path, job->path) == 0)
		snprintf(job->result, sizeof(job->result), "%s", result);
	return 0;
}

/* Wait until @job has ended, or the time is over. Signals that came with the reply wait already. */
static int await_job(sd_bus *bus, struct job *job, uint64_t wait_ms)
{
	uint64_t at_ms = now_ms();
	uint64_t end_ms = at_ms + wait_ms;
	int r = 0;

	for (; r >= 0 && !*job->result && at_ms < end_ms; at_ms = now_ms()) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, (end_ms - at_ms) * 1000);
	}
	return r;
}

static int begin_job(struct unit *unit, const char *method, struct job *job, sd_bus_error *error)
{
	sd_bus_message *reply = NULL;
	const char *path = "";
	int r = sd_bus_call_method(unit->manager.bus, SERVICE, OBJECT, INTERFACE, method, error,
		&reply, "ss", unit->name, "replace");

	r = r < 0 ? r : sd_bus_message_read(reply, "o", &path);
	if (r >= 0)
		snprintf(job->path, sizeof(job->path), "%s", path);
	sd_bus_message_unref(reply);
	return r;
}

bool unit_run(struct unit *unit, const char *method, uint64_t wait_ms)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	struct job job = {.path = ""};
	sd_bus_slot *slot = NULL;
	sd_bus *bus = unit->manager.bus;
	int r = sd_bus_match_signal(
		bus, &slot, SERVICE, OBJECT, INTERFACE, "JobRemoved", on_job, &job);

	r = r < 0 ? r
		  : sd_bus_call_method(
			    bus, SERVICE, OBJECT, INTERFACE, "Subscribe", &error, NULL, NULL);
	r = r < 0 ? r : begin_job(unit, method, &job, &error);
	r = r < 0 ? r : await_job(bus, &job, wait_ms);
	if (r < 0)
		write_failure(unit, &error, r);
	else if (!*job.result)
		snprintf(unit->words, sizeof(unit->words),
			"it was begun, and has not ended yet; service_status shows how it goes on");
	else if (strcmp(job.result, "done") != 0)
		snprintf(unit->words, sizeof(unit->words),
			"the unit has not done it: %s. service_logs may show why", job.result);
	sd_bus_slot_unref(slot);
	sd_bus_error_free(&error);
	return r >= 0 && strcmp(job.result, "done") == 0;
}

bool unit_enable(struct unit *unit, bool is_enabled)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus = unit->manager.bus;
	int r = is_enabled ? sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "EnableUnitFiles",
				     &error, NULL, "asbb", 1, unit->name, false, false)
			   : sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "DisableUnitFiles",
				     &error, NULL, "asb", 1, unit->name, false);

	r = r < 0 ? r
		  : sd_bus_call_method(
			    bus, SERVICE, OBJECT, INTERFACE, "Reload", &error, NULL, NULL);
	if (r < 0)
		write_failure(unit, &error, r);
	sd_bus_error_free(&error);
	return r >= 0;
}
