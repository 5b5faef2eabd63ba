/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/answerers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop_answerer(struct answerers *answerers, size_t index)
{
	free(answerers->list[index].source);
	answerers->list[index] = answerers->list[--answerers->n];
}

static void drop_expired(struct answerers *answerers, uint64_t now_ms)
{
	for (size_t i = answerers->n; i-- > 0;)
		if (answerers->list[i].until_ms <= now_ms)
			drop_answerer(answerers, i);
}

static struct answerer *find_answerer(struct answerers *answerers, const char *source, size_t size)
{
	for (size_t i = 0; i < answerers->n; i++)
		if (answerers->list[i].size == size &&
			(size == 0 || memcmp(answerers->list[i].source, source, size) == 0))
			return &answerers->list[i];
	return NULL;
}

int answerers_attach(struct answerers *answerers, const char *source, size_t size, uint64_t now_ms,
	uint64_t until_ms)
{
	struct answerer *found = find_answerer(answerers, source, size);
	char *copy;

	if (found) {
		found->until_ms = until_ms;
		drop_expired(answerers, now_ms);
		return 0;
	}
	drop_expired(answerers, now_ms);
	if (until_ms <= now_ms)
		return 0;
	if (answerers->n == ANSWERERS_MAX)
		return ANSWERERS_E_FULL;
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	if (size > 0)
		memcpy(copy, source, size);
	answerers->list[answerers->n++] = (struct answerer){copy, size, until_ms};
	return 0;
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
