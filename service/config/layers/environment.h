/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/address.h"
#include "config/closing.h"
#include "config/layers/flags.h"
#include "json/document.h"
#include "util/buffer.h"

/*
 * The values of environment variables and flags, which override the files.
 *
 * Each is made JSON: together they are one more layer, above the files, which is checked like the
 * others. A wrong one is reported by the name of its variable or flag.
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
	bool is_misused; /* a flag or a variable has a value that cannot be used */
	struct bus_address bus;
	struct buffer text; /* all of them, as JSON */
};

/* Read the variables, then @flags over them. An unknown variable whose name is almost the name of a
 * deciding variable is reported to @closing. Return 0 or -ENOMEM. The caller
 * deinits @ret_environment in either case. */
int config_environment_read(const struct config_flags *flags, struct config_closing *closing,
	struct config_environment *ret_environment);

void config_environment_deinit(struct config_environment *environment);

/* Return the name of the variable or flag with the merged value at @pointer, or NULL. */
const char *config_environment_locate(
	const struct config_environment *environment, const char *pointer);
