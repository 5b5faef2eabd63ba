/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "core/request/answer.h"
#include "loop/loop.h"

/*
 * Other tool services on the bus: each request would get two answers, a right and a wrong one.
 *
 *   connected ──────────────────┐                        ┌─▶ answer with a code: another toolboxd
 *   an answer that is not ours ─┼▶ a probe, a request ───┼─▶ answer without: the plugin in Python
 *   another toolboxd's probe ───┘  that we do not answer └─▶ no answer: no rival
 *
 * A probe is `ovos.tools.get` with a key of ours in its context, by which its answers are known,
 * and with our process, by which another toolboxd names us. Between probes no answer is read.
 * Messages about tools that are no requests are counted as they are scanned: when there are more of
 * them than we have sent, another service answers. One probe is sent in OTHER_SERVICES_PAUSE_MS;
 * the first one of another toolboxd is answered with one of ours after OTHER_SERVICES_RETURN_MS. A
 * finding is logged when it is new.
 */
#define OTHER_SERVICES_PAUSE_MS   15000
#define OTHER_SERVICES_RETURN_MS  500
#define OTHER_SERVICES_HOST_BYTES 65
#define OTHER_SERVICES_KEY_BYTES  17
#define OTHER_SERVICES_KEYS       8

/* Another toolboxd, as its own probe describes it. */
struct other_service_process {
	char host[OTHER_SERVICES_HOST_BYTES]; /* the name of its machine; "": it sent no probe */
	uint64_t pid;
};

struct other_services {
	struct bus *bus;           /* borrowed; set once it is open */
	struct loop_timer timer;   /* armed for the next probe */
	struct loop_timer verdict; /* armed while probes wait for their answers */
	char key[OTHER_SERVICES_KEY_BYTES];
	struct other_service_process self;
	uint64_t
		/* messages about tools other than requests, since the bus is connected */
		received;
	uint64_t sent;      /* our answers sent by then */
	uint64_t strange;   /* how many more were received than sent, so far */
	uint64_t probed_ms; /* when the last probe was sent; 0: none was */
	uint64_t next_ms;   /* when the next one is, if the timer is armed */
	char keys[OTHER_SERVICES_KEYS][OTHER_SERVICES_KEY_BYTES]; /* other probes, the last ones */
	unsigned int n_keys;                                      /* so far */

	/* The result of the open probes, and the findings in force. */
	struct other_service_findings {
		bool has_toolboxd;
		bool has_plugin;
		struct other_service_process process;
	} found, known;
};

/* Make @rivals ready; other_services_deinit() accepts a zeroed one. Return 0 or a negative errno.
 * */
int other_services_init(struct other_services *rivals, struct loop *loop);
void other_services_deinit(struct other_services *rivals);

/* The bus is connected: send a probe. */
void other_services_begin(struct other_services *rivals);

/* Return whether a probe waits for its answers. */
static inline bool other_services_is_open(const struct other_services *rivals)
{
	return loop_timer_is_armed(&rivals->verdict);
}

/* The topics of a probe and of its answers, and the beginning of every topic about tools. */
#define OTHER_SERVICES_PREFIX   "ovos.tools."
#define OTHER_SERVICES_TOPIC    OTHER_SERVICES_PREFIX "get"
#define OTHER_SERVICES_RESPONSE OTHER_SERVICES_TOPIC ".response"

/* The rest of the two functions below. */
bool other_services_hear_more(struct other_services *rivals, const char *topic, size_t size);
bool other_services_take_get(struct other_services *rivals, const struct bus_envelope *envelope);

/* Count a message whose topic is no request of ours. Return whether it is to be read. */
static inline bool other_services_hear(
	struct other_services *rivals, const char *topic, size_t size)
{
	if (size < sizeof(OTHER_SERVICES_PREFIX) ||
		memcmp(topic, OTHER_SERVICES_PREFIX, sizeof(OTHER_SERVICES_PREFIX) - 1) != 0)
		return false;
	rivals->received++;
	return (rivals->received >
			       bus_count_answers(rivals->bus, 0) - rivals->sent + rivals->strange ||
		       other_services_is_open(rivals)) &&
	       other_services_hear_more(rivals, topic, size);
}

/* Look at a message that was read. Return whether it is a probe of ours, which is not served. */
static inline bool other_services_take(
	struct other_services *rivals, const struct bus_envelope *envelope)
{
	return (envelope->topic_size == sizeof(OTHER_SERVICES_TOPIC) - 1 ||
		       envelope->topic_size == sizeof(OTHER_SERVICES_RESPONSE) - 1) &&
	       other_services_take_get(rivals, envelope);
}

/* Write the member `other_services`, if there are any. */
void other_services_write(const struct other_services *rivals, struct answer *answer);
