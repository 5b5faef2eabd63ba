/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <toolbox.h>

#include "util/buffer.h"
#include "worker/driver.h"
#include "worker/plugin/plugin_call.h"

/*
 * What a plugin exports, read with care for its age: its structs may be shorter than ours (built
 * for an earlier version: the rest is zero), or longer (the rest must be zero).
 *
 *   struct toolbox_plugin ─ version, sizes ─▶ init() ─▶ struct toolbox_tool, … ─▶ functions, JSON
 */

/* More tools than any daemon offers. */
#define PLUGIN_TOOLS_MAX 100000u

struct plugin_table {
	struct plugin_function *functions;
	uint32_t n_functions;
	struct buffer
		described; /* the JSON text of an array: tool entries as a manifest has them */
	void (*deinit)(void);
};

/* Read what is exported at @symbol, of which @size bytes may be read, and let it initialise itself
 * with the member `config` of the LOAD frame. 0, DRIVER_E_REFUSED, or a negative errno; then, too,
 * the table is to be given back. */
int plugin_table_read(const struct driver_load *load, const void *symbol, size_t size,
	struct plugin_table *ret_table, struct driver_refusal *refusal);

void plugin_table_deinit(struct plugin_table *table);
