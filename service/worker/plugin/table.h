/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <toolbox.h>

#include "util/buffer.h"
#include "worker/driver.h"
#include "worker/plugin/call.h"

/*
 * The table of tools exported by a plugin. Its structs may be shorter than ours if it was built for
 * an earlier version (the rest is zero), or longer (the rest must be zero).
 *
 *   struct toolbox_plugin ─ version, sizes ─▶ init() ─▶ struct toolbox_tool, … ─▶ functions, JSON
 */

/* More tools than any daemon offers. */
#define PLUGIN_TOOLS_MAX 100000u

struct plugin_table {
	struct plugin_function *functions;
	uint32_t n_functions;
	struct buffer described; /* JSON text of an array: the tools as entries of a manifest */
	void (*deinit)(void);
	void (*replaced)(void);
};

/* Read the struct at @symbol, with @size readable bytes, and initialise the plugin with the member
 * `config` of the LOAD frame. Return 0, DRIVER_E_REFUSED, or a negative errno; the caller calls
 * plugin_table_deinit() in all cases. */
int plugin_table_read(const struct driver_load *load, const void *symbol, size_t size,
	struct plugin_table *ret_table, struct diagnostics *problems);

void plugin_table_deinit(struct plugin_table *table);
