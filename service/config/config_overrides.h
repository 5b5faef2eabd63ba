/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/address.h"
#include "config/config_report.h"
#include "json/document.h"

/*
 * What the environment and the flags say on top of the files. Each is made JSON and set in the
 * merged document, so that it is checked like any other value; what is wrong with it is then told
 * by the name of its variable or flag.
 */

/* One for every variable and flag. */
#define CONFIG_OVERRIDES_MAX 16

struct config_override {
	const char *path; /* keys joined by '.', as document_set() takes them */
	const char *name; /* of the variable or flag */
};

struct config_overrides {
	struct config_override items[CONFIG_OVERRIDES_MAX];
	size_t n_items;
	bool has_bus; /* @bus beats the `websocket` section */
	struct bus_address bus;
};

/* Set in @merged what the environment, then what @flags say. 0 or -ENOMEM. */
int config_overrides_apply(const struct config_flags *flags, struct config_reporter *reporter,
	struct document *merged, struct config_overrides *ret_overrides);

/* The name of the variable or flag that the merged value at @pointer comes from, or NULL. */
const char *config_overrides_locate(const struct config_overrides *overrides, const char *pointer);
