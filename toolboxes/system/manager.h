/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_MANAGER_H
#define SYSTEM_MANAGER_H

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "nearest.h"

/*
 * The service managers of a device (org.freedesktop.systemd1), over D-Bus: the manager of the user
 * that runs toolboxd, and the manager of the system.
 */

/* The longest name of a unit, with its NUL (UNIT_NAME_MAX of systemd). */
#define UNIT_BYTES 256

#define MANAGER_WORDS_BYTES 768

struct manager {
	sd_bus *bus;
	bool is_user;
};

/* A unit of a manager. */
struct unit {
	struct manager manager;
	char name[UNIT_BYTES];
	char *path;                      /* its object */
	char words[MANAGER_WORDS_BYTES]; /* why the last function has failed */
};

/* Close the connection of @unit. Takes a zeroed struct. */
void unit_deinit(struct unit *unit);

/* Write the name of the unit meant by @wanted to @ret_name: a name without a suffix is a service.
 * Return whether @wanted can be the name of a unit. */
bool unit_name(const char *wanted, char ret_name[UNIT_BYTES]);

/* Find the unit called @name: of the user, else of the system. Otherwise return false, with
 * @ret_unit->words. */
bool unit_find(const char *name, struct unit *ret_unit);

/* Return the property @property, a string, of the unit, which the caller frees; NULL: it has none.
 * @interface: "Unit" or "Service". */
char *unit_string(struct unit *unit, const char *property);

/* Return a number of the unit: of type 'u' (uint32_t) or 't' (uint64_t); 0: it has none. */
uint64_t unit_number(struct unit *unit, const char *interface, const char *property, char type);

/* Start, stop or restart the unit (@method: StartUnit, …), and wait for the end of that for
 * @wait_ms. Return whether it was done; else with @unit->words. */
bool unit_run(struct unit *unit, const char *method, uint64_t wait_ms);

/* Enable or disable the unit: whether it is started with the device. */
bool unit_enable(struct unit *unit, bool is_enabled);

#endif
