/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include <toolbox.h>

#include "util/buffer.h"
#include "worker/driver.h"

/*
 * The host's side of toolbox.h: the one call that a plugin has at a time, which any of its threads
 * may read and answer.
 *
 *   worker's thread   run() ─ validate ─ handler ─────── waits while it is kept ─▶ what was
 * answered │            │              ▲ any thread          getters, put, progress       reply,
 * fail, refuse: the first one counts
 *
 * A plugin holds a call by its number, never by a pointer: whatever it does with one that is gone
 * finds another number, or none, and is told so. The number 0 is the initialisation; its arguments
 * are the configuration, and they stay.
 *
 * A process hosts one toolbox: all of this is there once, guarded by one lock, and is never freed,
 * since a thread of the plugin may look at it until the process ends.
 */

/* Longer words of a tool are cut. */
#define PLUGIN_TEXT_BYTES (64u << 10)

/* What a tool is called by. */
struct plugin_function {
	char *name;
	toolbox_handler handler;
	toolbox_handler validate; /* or NULL */
	void *data;
};

/* Begin the initialisation with the configuration @config, JSON text (copied); progress goes to
 * @wire. 0 with the call to give init(), -EPROTO when it is no JSON, or -ENOMEM. */
int plugin_call_configure(int wire, const char *config, size_t size, struct toolbox_call *ret_call);

/* The initialisation is over. The reason why it failed, as toolbox_fail was told it, or NULL; a
 * text that stays. */
const char *plugin_call_configured(void);

/* Run @call by @function, and append what it comes to: as a driver's invoke() does. */
int plugin_call_run(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out);
