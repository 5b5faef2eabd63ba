/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include <toolbox.h>

#include "util/buffer.h"
#include "worker/driver.h"

/*
 * The host's side of toolbox.h: the calls of a plugin, which any of its threads may read and
 * answer. One call at a time is run, and its thread waits for the answer:
 *
 *   worker's thread   run() ─ validate ─ handler ─────── waits while it is kept ─▶ the answer
 *                               │           │                  ▲
 *   any thread                  getters, put, progress         reply, fail, refuse: first counts
 *
 * Several calls (`concurrent` of the manifest) are begun. Handlers run one after the other; a kept
 * call is left to the threads of the plugin, and the thread that answers sends the answer:
 *
 *   worker's thread   begin() ─ validate ─ handler ─▶ begin() ─ validate ─ handler ─▶ …
 *   any thread                  reply, fail, refuse ─▶ the wire
 *
 * A plugin holds a call by its number, never by a pointer. If the call is gone, no open call has
 * its number, and the function returns TOOLBOX_E_GONE. The number 0 is the
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

/* Begin calls from now on, several at a time: the functions below, and not the two above. */
void plugin_call_carry(void);

/* The toolbox was reported as loaded: send what its threads have declared since init(). Return 0 or
 * -ENOMEM. */
int plugin_call_loaded(void);

/* Begin @call by @function: its answer is sent here, or by a thread of the plugin later. Return 0,
 * or a negative errno. */
int plugin_call_begin(const struct driver_call *call, const struct plugin_function *function);

/* Answer @call, for which there is no function, as failed for the reason @text. Return 0, or a
 * negative errno. */
int plugin_call_decline(const struct driver_call *call, const char *text);

/* End the call @id, if it is open: an answer is sent, and the plugin's comes too late. */
void plugin_call_cancel(uint64_t id);
