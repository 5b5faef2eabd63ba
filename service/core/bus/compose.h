/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/bus/run.h"

/* The messages of a call of kind bus. */

/* Write the messages of @run for the JSON text @arguments into it, with its session and mark.
 * Returns 0; -EMSGSIZE if one is larger than limits.frame_bytes; or -ENOMEM. */
int compose_messages(struct bus_run *run, const char *arguments, size_t size);

/* Write the message number @step (from 0) that closes a question into the empty @message. Return
 * false without such a message. */
bool compose_close(size_t step, struct buffer *message);

/* The same for the messages that open a question once more, each to be sent some time after the
 * one before. */
bool compose_reopen(size_t step, struct buffer *message);

/* Return whether a question in the session of @run can be opened from here. */
bool compose_may_ask(const struct bus_run *run);
