/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/interests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/digest.h"

/* The topics in the table come from manifests, so no peer can choose them to collide. */

void interests_init(struct interests *interests)
{
	*interests = (struct interests){0};
	for (size_t i = 0; i < INTERESTS_BUCKETS; i++)
		list_init(&interests->buckets[i]);
}

static void drop_topic(struct interests *interests, struct interest_topic *topic)
{
	list_remove(&topic->link);
	interests->n_topics--;
	free(topic);
}

void interests_deinit(struct interests *interests)
{
	for (size_t i = 0; interests->n_topics > 0 && i < INTERESTS_BUCKETS; i++)
		list_each(struct interest_topic, topic, &interests->buckets[i], link)
			drop_topic(interests, topic);
}

/* Return the topic @text, whether or not a run is interested in it; or NULL. */
static struct interest_topic *find_topic(
	const struct interests *interests, const char *text, size_t size, uint64_t hash)
{
	const struct list *bucket = &interests->buckets[hash % INTERESTS_BUCKETS];

	list_each(struct interest_topic, topic, bucket, link) {
		if (topic->hash == hash && topic->size == size &&
			memcmp(topic->text, text, size) == 0)
			return topic;
	}
	return NULL;
}

static struct interest_topic *make_topic(
	struct interests *interests, const char *text, size_t size, uint64_t hash)
{
	struct interest_topic *topic = malloc(sizeof(*topic) + size + 1);

	if (!topic)
		return NULL;
	topic->hash = hash;
	topic->size = size;
	memcpy(topic->text, text, size + 1);
	list_init(&topic->interests);
	list_init(&topic->link);
	list_append(&interests->buckets[hash % INTERESTS_BUCKETS], &topic->link);
	interests->n_topics++;
	return topic;
}

int interests_add(struct interests *interests, struct interest *interest, const char *topic)
{
	size_t size = strlen(topic);
	uint64_t hash = digest_bytes(DIGEST_SEED, topic, size);

	interest->topic = find_topic(interests, topic, size, hash);
	if (!interest->topic)
		interest->topic = make_topic(interests, topic, size, hash);
	if (!interest->topic)
		return -ENOMEM;
	list_init(&interest->link);
	list_append(&interest->topic->interests, &interest->link);
	interests->n_interests++;
	return 0;
}

void interests_remove(struct interests *interests, struct interest *interest)
{
	struct interest_topic *topic = interest->topic;

	if (!topic)
		return;
	list_remove(&interest->link);
	interests->n_interests--;
	interest->topic = NULL;
	if (list_is_empty(&topic->interests) && interests->n_topics > INTERESTS_TOPICS_KEPT)
		drop_topic(interests, topic);
}

struct interest_topic *interests_find(
	const struct interests *interests, const char *text, size_t size)
{
	struct interest_topic *topic =
		find_topic(interests, text, size, digest_bytes(DIGEST_SEED, text, size));

	return topic && !list_is_empty(&topic->interests) ? topic : NULL;
}
