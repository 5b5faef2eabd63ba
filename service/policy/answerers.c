/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/answerers.h"

#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop_answerer(struct answerers *answerers, size_t index)
{
	check(index < answerers->n);
	free(answerers->list[index].source);
	answerers->list[index] = answerers->list[--answerers->n];
}

static void drop_expired(struct answerers *answerers, uint64_t now_ms)
{
	for (size_t i = answerers->n; i-- > 0;)
		if (answerers->list[i].until_ms <= now_ms)
			drop_answerer(answerers, i);
}

static struct answerer *find_answerer(
	struct answerers *answerers, uint64_t client, const char *source, size_t size)
{
	for (size_t i = 0; i < answerers->n; i++)
		if (answerers->list[i].client == client && answerers->list[i].size == size &&
			(size == 0 || memcmp(answerers->list[i].source, source, size) == 0))
			return &answerers->list[i];
	return NULL;
}

/* Make room for one more of @client. Return false when the others have all places. */
static bool make_room(struct answerers *answerers, uint64_t client)
{
	size_t n = 0;
	size_t first = 0;
	size_t left;

	for (size_t i = 0; i < answerers->n; i++) {
		if (answerers->list[i].client != client)
			continue;
		if (n++ == 0 || answerers->list[i].until_ms < answerers->list[first].until_ms)
			first = i;
	}
	left = ANSWERERS_MAX - (answerers->n - n);
	if (n > 0 && n >= left - left / 2)
		drop_answerer(answerers, first);
	return answerers->n < ANSWERERS_MAX;
}

int answerers_attach(struct answerers *answerers, uint64_t client, const char *source, size_t size,
	uint64_t now_ms, uint64_t until_ms)
{
	struct answerer *found = find_answerer(answerers, client, source, size);
	char *copy;

	if (found) {
		found->until_ms = until_ms;
		drop_expired(answerers, now_ms);
		return 0;
	}
	drop_expired(answerers, now_ms);
	if (until_ms <= now_ms)
		return 0;
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	if (!make_room(answerers, client)) {
		free(copy);
		return ANSWERERS_E_FULL;
	}
	if (size > 0)
		memcpy(copy, source, size);
	check(answerers->n < ANSWERERS_MAX);
	answerers->list[answerers->n++] = (struct answerer){client, copy, size, until_ms};
	return 0;
}

void answerers_leave(struct answerers *answerers, uint64_t client)
{
	for (size_t i = answerers->n; i-- > 0;)
		if (answerers->list[i].client == client)
			drop_answerer(answerers, i);
}

size_t answerers_count(const struct answerers *answerers, uint64_t now_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < answerers->n; i++)
		n += answerers->list[i].until_ms > now_ms;
	return n;
}

void answerers_deinit(struct answerers *answerers)
{
	while (answerers->n > 0)
		drop_answerer(answerers, answerers->n - 1);
}
