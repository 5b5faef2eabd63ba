/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The answerers: the sources at which a person can answer questions now, each for a
 * time of its own.
 *
 *   phone    ├──────────────┤
 *   console       ├────────────────────┤
 *            now ─────▶
 *
 * A client may have half of the places left by the others. When it attaches more sources, its first
 * source to end gives way: no client keeps others out, and the questions are asked as long as
 * anyone is there.
 */

/* The most attached sources at once. */
#define ANSWERERS_MAX 64

struct answerer {
	uint64_t client;
	char *source;
	size_t size;
	uint64_t until_ms;
};

struct answerers {
	struct answerer list[ANSWERERS_MAX];
	size_t n;
};

enum answerers_status {
	ANSWERERS_E_FULL = 1, /* other clients have attached ANSWERERS_MAX */
};

/* Attach the source (the @size bytes at @source) of @client, the number of its account, until
 * @until_ms, in place of its end before; detach it when @until_ms is not after @now_ms. Return 0,
 * ANSWERERS_E_FULL or -ENOMEM. */
int answerers_attach(struct answerers *answerers, uint64_t client, const char *source, size_t size,
	uint64_t now_ms, uint64_t until_ms);

/* Detach all sources of @client, which has gone. */
void answerers_leave(struct answerers *answerers, uint64_t client);

/* Return how many are attached. */
size_t answerers_count(const struct answerers *answerers, uint64_t now_ms);

void answerers_deinit(struct answerers *answerers);
