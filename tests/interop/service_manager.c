/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Plays the service manager of systemd on a bus of D-Bus (DBUS_SYSTEM_BUS_ADDRESS), for the toolbox
 * system. Its units: good.service, bad.service (jobs fail), slow.service (jobs do not end),
 * locked.service (refuses changes) and mute.service (has no properties). Each change is a line on
 * stdout.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define OBJECT  "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"

static const char *const units[] = {"good", "bad", "slow", "locked", "mute"};
static bool is_active;

/* Return the index of the unit in the name or the path @text; -1: it is not there. */
static int find(const char *text)
{
	for (int i = 0; i < 5; i++)
		if (strstr(text, units[i]))
			return i;
	return -1;
}

static int load(sd_bus_message *message, void *data, sd_bus_error *error)
{
	const char *name;
	char path[64];
	int unit;

	sd_bus_message_read(message, "s", &name);
	unit = find(name);
	snprintf(path, sizeof(path), OBJECT "/unit/%s", unit < 0 ? "none" : units[unit]);
	return sd_bus_reply_method_return(message, "o", path);
}

static int change(sd_bus_message *message, void *data, sd_bus_error *error)
{
	sd_bus *bus = sd_bus_message_get_bus(message);
	const char *method = sd_bus_message_get_member(message);
	const char *name;
	int unit;

	sd_bus_message_read(message, "ss", &name, NULL);
	printf("%s %s\n", method, name);
	fflush(stdout);
	unit = find(name);
	if (unit == 3)
		return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "Access denied");
	is_active = strcmp(method, "StopUnit") != 0;
	/* As the real one does, before the reply or after it. */
	if (unit != 2)
		sd_bus_emit_signal(bus, OBJECT, MANAGER, "JobRemoved", "uoss", 7, OBJECT "/job/7",
			name, unit == 1 ? "failed" : "done");
	return sd_bus_reply_method_return(message, "o", OBJECT "/job/7");
}

static int files(sd_bus_message *message, void *data, sd_bus_error *error)
{
	const char *method = sd_bus_message_get_member(message);
	const char *name = "";

	sd_bus_message_enter_container(message, 'a', "s");
	sd_bus_message_read(message, "s", &name);
	printf("%s %s\n", method, name);
	fflush(stdout);
	if (strcmp(method, "EnableUnitFiles") == 0)
		return sd_bus_reply_method_return(message, "ba(sss)", false, 0);
	return sd_bus_reply_method_return(message, "a(sss)", 0);
}

static int nothing(sd_bus_message *message, void *data, sd_bus_error *error)
{
	return sd_bus_reply_method_return(message, NULL);
}

static int list(sd_bus_message *message, void *data, sd_bus_error *error)
{
	return sd_bus_reply_method_return(message, "a(ss)", 2, "/lib/systemd/system/good.service",
		"enabled", "/lib/systemd/system/ssh.service", "disabled");
}

static int property(sd_bus *bus, const char *path, const char *interface, const char *name,
	sd_bus_message *reply, void *data, sd_bus_error *error)
{
	bool is_there = find(path) >= 0;

	if (find(path) == 4)
		return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "no properties today");
	if (strcmp(name, "StateChangeTimestamp") == 0)
		return sd_bus_message_append(reply, "t", UINT64_C(1700000000000000));
	if (strcmp(name, "MainPID") == 0)
		return sd_bus_message_append(reply, "u", is_active ? 42 : 0);
	return sd_bus_message_append(reply, "s",
		strcmp(name, "LoadState") == 0       ? is_there ? "loaded" : "not-found"
		: strcmp(name, "ActiveState") == 0   ? is_active ? "active" : "inactive"
		: strcmp(name, "UnitFileState") == 0 ? "enabled"
		: strcmp(name, "SubState") == 0      ? is_active ? "running" : "dead"
						     : "A unit that is played");
}

static const sd_bus_vtable manager[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("LoadUnit", "s", "o", load, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("StartUnit", "ss", "o", change, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("StopUnit", "ss", "o", change, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("RestartUnit", "ss", "o", change, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("EnableUnitFiles", "asbb", "ba(sss)", files, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DisableUnitFiles", "asb", "a(sss)", files, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reload", "", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Subscribe", "", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("ListUnitFiles", "", "a(ss)", list, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL("JobRemoved", "uoss", 0),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable unit[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("LoadState", "s", property, 0, 0),
	SD_BUS_PROPERTY("ActiveState", "s", property, 0, 0),
	SD_BUS_PROPERTY("SubState", "s", property, 0, 0),
	SD_BUS_PROPERTY("UnitFileState", "s", property, 0, 0),
	SD_BUS_PROPERTY("Description", "s", property, 0, 0),
	SD_BUS_PROPERTY("StateChangeTimestamp", "t", property, 0, 0),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable service[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("MainPID", "u", property, 0, 0),
	SD_BUS_VTABLE_END,
};

static int any(sd_bus *bus, const char *path, const char *interface, void *data, void **ret_found,
	sd_bus_error *error)
{
	*ret_found = data;
	return 1;
}

int main(void)
{
	sd_bus *bus = NULL;
	int r = sd_bus_open_system(&bus);

	r = r < 0 ? r : sd_bus_add_object_vtable(bus, NULL, OBJECT, MANAGER, manager, NULL);
	r = r < 0 ? r
		  : sd_bus_add_fallback_vtable(bus, NULL, OBJECT "/unit",
			    "org.freedesktop.systemd1.Unit", unit, any, NULL);
	r = r < 0 ? r
		  : sd_bus_add_fallback_vtable(bus, NULL, OBJECT "/unit",
			    "org.freedesktop.systemd1.Service", service, any, NULL);
	r = r < 0 ? r : sd_bus_request_name(bus, "org.freedesktop.systemd1", 0);
	if (r >= 0)
		puts("ready");
	fflush(stdout);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	fprintf(stderr, "%s\n", strerror(-r));
	return 1;
}
