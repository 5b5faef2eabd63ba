/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/address.h"
#include "config/closing.h"
#include "config/config.h"
#include "json/document.h"

/*
 * The values of environment variables and flags, which override the files.
 *
 * Each is made JSON and set in the merged document, so that it is checked like any other value. A
 * wrong one is reported by the name of its variable or flag.
 */

/* One for every variable and flag. */
#define CONFIG_OVERRIDES_MAX 16

struct config_override {
	const char *path; /* keys joined by '.', as document_set() takes them */
	const char *name; /* name of the variable or flag */
};

struct config_environment {
	struct config_override items[CONFIG_OVERRIDES_MAX];
	size_t n_items;
	bool has_bus;    /* @bus takes the place of the `websocket` section */
	bool is_misused; /* a flag has a value that cannot be used */
	struct bus_address bus;
};

/* Set in @merged the values of the environment, then of @flags. An unknown variable with almost the
 * name of a variable that decides on the permission of calls is reported to @closing. Return 0 or
 * -ENOMEM. */
int config_environment_apply(const struct config_flags *flags, struct config_closing *closing,
	struct document *merged, struct config_environment *ret_environment);

/* Return the name of the variable or flag with the merged value at @pointer, or NULL. */
const char *config_environment_locate(
	const struct config_environment *environment, const char *pointer);
