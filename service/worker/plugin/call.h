/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include <toolbox.h>

#include "util/buffer.h"
#include "worker/driver.h"

/*
 * The host's side of toolbox.h: the only call of a plugin at a time. Any of its threads may read
 * and answer it.
 *
 *   worker's thread   run() ─ validate ─ handler ─────── waits while it is kept ─▶ the answer
 *                               │           │                  ▲
 *   any thread                  getters, put, progress         reply, fail, refuse: first counts
 *
 * A plugin holds a call by its number, never by a pointer. If the call is gone, its number does not
 * match the current one, and the function returns TOOLBOX_E_GONE. The number 0 is the
 * initialisation: its arguments are the configuration, and they stay readable.
 *
 * A process hosts one toolbox, so this state exists once. A lock guards it, and it is never freed,
 * because a thread of the plugin may use it until the process ends.
 */

/* Texts of a tool are cut to this. */
#define PLUGIN_TEXT_BYTES (64u << 10)

/* The functions of a tool. */
struct plugin_function {
	char *name;
	toolbox_handler handler;
	toolbox_handler validate; /* or NULL */
	void *data;
};

/* Begin the initialisation with @config, the JSON text of the configuration (copied). Progress is
 * sent to @wire. Return 0 with the call to pass to init(), -EPROTO if @config is not JSON, or
 * -ENOMEM. */
int plugin_call_configure(int wire, const char *config, size_t size, struct toolbox_call *ret_call);

/* End the initialisation. Return the reason passed by the plugin to toolbox_fail, or NULL; the text
 * stays valid. */
const char *plugin_call_configured(void);

/* Run @call by @function, and append its outcome as a driver's invoke() does. */
int plugin_call_run(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out);

/* Ask the validate function of @function about the arguments of @call, as a driver's check()
 * does. */
int plugin_call_check(
	const struct driver_call *call, const struct plugin_function *function, struct buffer *out);
