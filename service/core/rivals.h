/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/envelope.h"
#include "core/answer.h"
#include "loop/loop.h"

/*
 * Other tool services on the bus: each request would get two answers, and one of them is wrong.
 *
 *   connected ─────────────────┐                          ┌─▶ an answer with a code: another toolboxd
 *   an answer that is not ours ─▶ a probe, a request that ─┼─▶ one without: the plugin in Python
 *   another toolboxd's probe ──┘   we do not answer        └─▶ none: no rival
 *
 * A probe is `ovos.tools.get` with a key of ours in its context, by which its answers are known,
 * and with our process, by which another toolboxd names us. Between probes no answer is read.
 * Messages about tools that are no requests are counted as they are scanned: when there are more of
 * them than we have sent, another service answers. One probe is sent in RIVALS_PAUSE_MS; the first
 * one of another toolboxd is answered with one of ours after RIVALS_RETURN_MS. A finding is logged
 * when it is new.
 */
#define RIVALS_PAUSE_MS   15000
#define RIVALS_RETURN_MS  500
#define RIVALS_HOST_BYTES 65
#define RIVALS_KEY_BYTES  17
#define RIVALS_KEYS       8

/* Another toolboxd, as its own probe describes it. */
struct rival_process {
	char host[RIVALS_HOST_BYTES]; /* the name of its machine; "": it sent no probe */
	uint64_t pid;
};

struct rivals {
	struct bus *bus;           /* borrowed; set once it is open */
	struct loop_timer timer;   /* armed for the next probe */
	struct loop_timer verdict; /* armed while probes wait for their answers */
	char key[RIVALS_KEY_BYTES];
	struct rival_process self;
	uint64_t
		/* messages about tools that are no requests, since the bus is connected */
		received;
	uint64_t sent;      /* the answers that we had sent by then */
	uint64_t strange;   /* how many more were received than sent, so far */
	uint64_t probed_ms; /* when the last probe was sent; 0: none was */
	uint64_t next_ms;   /* when the next one is, if the timer is armed */
	char keys[RIVALS_KEYS][RIVALS_KEY_BYTES]; /* other probes, the last ones */
	unsigned int n_keys;                      /* so far */

	/* The result of the open probes, and the findings in force. */
	struct rival_findings {
		bool has_toolboxd;
		bool has_plugin;
		struct rival_process process;
	} found, known;
};

/* Make @rivals ready; rivals_deinit() accepts a zeroed one. Return 0 or a negative errno. */
int rivals_init(struct rivals *rivals, struct loop *loop);
void rivals_deinit(struct rivals *rivals);

/* The bus is connected: send a probe. */
void rivals_begin(struct rivals *rivals);

/* Return whether a probe waits for its answers. */
static inline bool rivals_is_open(const struct rivals *rivals)
{
	return loop_timer_is_armed(&rivals->verdict);
}

/* The topics of a probe and of its answers, and the beginning of every topic about tools. */
#define RIVALS_PREFIX   "ovos.tools."
#define RIVALS_TOPIC    RIVALS_PREFIX "get"
#define RIVALS_RESPONSE RIVALS_TOPIC ".response"

/* The rest of the two functions below. */
bool rivals_hear_more(struct rivals *rivals, const char *topic, size_t size);
bool rivals_take_get(struct rivals *rivals, const struct bus_envelope *envelope);

/* Count a message whose topic is no request of ours. Return whether it is to be read. */
static inline bool rivals_hear(struct rivals *rivals, const char *topic, size_t size)
{
	if (size < sizeof(RIVALS_PREFIX) ||
		memcmp(topic, RIVALS_PREFIX, sizeof(RIVALS_PREFIX) - 1) != 0)
		return false;
	rivals->received++;
	return (rivals->received >
			       bus_count_answers(rivals->bus, 0) - rivals->sent + rivals->strange ||
		       rivals_is_open(rivals)) &&
	       rivals_hear_more(rivals, topic, size);
}

/* Look at a message that was read. Return whether it is a probe of ours, which is not served. */
static inline bool rivals_take(struct rivals *rivals, const struct bus_envelope *envelope)
{
	return (envelope->topic_size == sizeof(RIVALS_TOPIC) - 1 ||
		       envelope->topic_size == sizeof(RIVALS_RESPONSE) - 1) &&
	       rivals_take_get(rivals, envelope);
}

/* Write the member `other_services`, if there are any. */
void rivals_write(const struct rivals *rivals, struct answer *answer);
