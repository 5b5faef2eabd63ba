/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

/*
 * The topics that calls of kind bus are interested in, while they are: a hash table of topics, each
 * with its interested calls, first come first served.
 *
 *   mycroft.volume.get.response ─▶ run 1 (default) ─▶ run 2 (satellite) ─▶ run 3 (default)
 *                                  waits for it       waits for it         is not sent yet
 *
 * Of the runs with one session only the first one is on the bus: a reply has no other sign of the
 * message that it answers. All frames of the bus are looked up here by their scanned topic, so
 * nothing is interested in a topic for longer than necessary.
 */

enum interest_role {
	INTEREST_REPLY,   /* ends the run */
	INTEREST_COLLECT, /* is kept until the reply */
	INTEREST_STOP,    /* the person, or the assistant, ends the question */
	INTEREST_ABORT,   /* likewise, if its skill_id is ours */
	INTEREST_PAUSE,   /* somebody speaks: the time for an answer is stopped */
	INTEREST_RESUME,  /* silence again */
};

struct bus_run;
struct interest_topic;

struct interest {
	struct list link; /* among the interests of its topic */
	struct interest_topic *topic;
	struct bus_run *run;
	enum interest_role role;
};

/* One topic. Its memory is kept for the next calls, up to INTERESTS_TOPICS_KEPT topics. */
struct interest_topic {
	struct list link; /* in its bucket */
	struct list interests;
	uint64_t hash;
	size_t size;
	char text[]; /* NUL-terminated */
};

#define INTERESTS_BUCKETS     64
#define INTERESTS_TOPICS_KEPT 256

struct interests {
	struct list buckets[INTERESTS_BUCKETS];
	size_t n_topics;
	size_t n_interests;
};

void interests_init(struct interests *interests);

/* Free the topics. Takes a zeroed one. */
void interests_deinit(struct interests *interests);

/* Append @interest, whose run and role are set, to @topic. 0 or -ENOMEM. */
int interests_add(struct interests *interests, struct interest *interest, const char *topic);

/* Remove @interest, if it was added. */
void interests_remove(struct interests *interests, struct interest *interest);

/* Return the topic @text of @size bytes if a run is interested in it, else NULL. */
struct interest_topic *interests_find(
	const struct interests *interests, const char *text, size_t size);

/* Return whether a run is interested in the topic: the question for every frame of the bus. */
static inline bool interests_want(const struct interests *interests, const char *text, size_t size)
{
	return interests->n_interests > 0 && interests_find(interests, text, size) != NULL;
}
