/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/bus/run.h"

/* The executor of kind bus: calls are messages on the bus (core/bus/run.h). */

/* Make @calls empty; @config is borrowed. 0 or -ENOMEM. */
int bus_calls_init(struct bus_calls *calls, struct loop *loop, const struct config *config);

/* Free the runs, whose calls are not reported. Takes a zeroed one. */
void bus_calls_deinit(struct bus_calls *calls);

/* The bus is connected: close the question that an earlier process may have left open. */
void bus_calls_begin(struct bus_calls *calls);

/* The bus is lost: end the calls. */
void bus_calls_lose(struct bus_calls *calls);

/* Return whether a question to a person is open. */
static inline bool bus_calls_are_asking(const struct bus_calls *calls)
{
	return calls->asking != NULL;
}

/* Cancel the open question. Return whether there was one. (In replies.c.) */
bool bus_calls_stop_question(struct bus_calls *calls);

/* Return whether nothing is to be sent later without a call. */
static inline bool bus_calls_are_settled(const struct bus_calls *calls)
{
	return !loop_timer_is_armed(&calls->again);
}

/* Return whether a call waits for messages with @topic. */
static inline bool bus_calls_want(const struct bus_calls *calls, const char *topic, size_t size)
{
	return interests_want(&calls->interests, topic, size);
}

/* Take the message in @envelope, @size bytes, with a wanted topic. (In replies.c.) */
void bus_calls_take(struct bus_calls *calls, const struct bus_envelope *envelope, size_t size);
