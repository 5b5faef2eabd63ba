/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/names/near_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/text.h"

/* Letters are distinguished by their last five bits, which ignores their case. */
#define LETTERS 32

/* All longer names count as this long. */
#define SIZES 64

#define KEYS ((size_t)LETTERS * SIZES)

static size_t letter_of(const char *name, size_t size)
{
	return size > 0 ? (unsigned char)name[0] % LETTERS : 0;
}

static size_t size_of(size_t size)
{
	return size < SIZES ? size : SIZES - 1;
}

static size_t key_of(const char *name)
{
	size_t size = strlen(name);

	return letter_of(name, size) * SIZES + size_of(size);
}

int near_names_init(
	struct near_names *near, near_names_function name_of, const void *data, size_t n_names)
{
	*near = (struct near_names){0};
	if (n_names <= NEAR_NAMES_FEW)
		return 0;
	near->order = calloc(n_names, sizeof(*near->order));
	near->starts = calloc(KEYS + 1, sizeof(*near->starts));
	if (!near->order || !near->starts) {
		near_names_deinit(near);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_names; i++)
		near->starts[key_of(name_of(data, i))]++;
	/* The end of each key, which moves down to its start as its names take their places. */
	for (size_t key = 1; key <= KEYS; key++)
		near->starts[key] += near->starts[key - 1];
	for (size_t i = n_names; i-- > 0;)
		near->order[--near->starts[key_of(name_of(data, i))]] = (uint32_t)i;
	return 0;
}

void near_names_deinit(struct near_names *near)
{
	free(near->order);
	free(near->starts);
	*near = (struct near_names){0};
}

/* ── a search ────────────────────────────────────────────────────────────────────────────────── */

struct found {
	const char *name;
	unsigned int distance;
};

struct search {
	const struct near_names *near;
	near_names_function name_of;
	const void *data;
	size_t first; /* the numbers to look at, and their end */
	size_t end;
	const char *name;
	size_t name_size;
	struct found best[NEAR_NAMES_MAX];
	size_t n_best;
	size_t work;
};

/* Put a near name in its place among the best so far, each name once. */
static void put_found(struct search *search, struct found found)
{
	struct found *best = search->best;
	size_t at = search->n_best;

	for (size_t i = 0; i < search->n_best; i++)
		if (strcmp(best[i].name, found.name) == 0)
			return;
	while (at > 0 && best[at - 1].distance > found.distance)
		at--;
	if (at == NEAR_NAMES_MAX)
		return;
	if (search->n_best < NEAR_NAMES_MAX)
		search->n_best++;
	memmove(best + at + 1, best + at, (search->n_best - at - 1) * sizeof(*best));
	best[at] = found;
}

/* Look at the name with the number @index. Return whether the search goes on. */
static bool look_at(struct search *search, size_t index)
{
	struct found found = {.name = search->name_of(search->data, index)};
	/* the distance of the farthest, once there is no room for more */
	unsigned int than = search->n_best == NEAR_NAMES_MAX
				    ? search->best[NEAR_NAMES_MAX - 1].distance
				    : UINT_MAX;

	if (text_is_nearer(search->name, search->name_size, found.name, strlen(found.name), than,
		    &found.distance, &search->work))
		put_found(search, found);
	return search->work < NEAR_NAMES_WORK;
}

/* Return the first place from @low on, before @high, with a number of at least @index. */
static size_t first_place(const struct near_names *near, size_t low, size_t high, size_t index)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (near->order[middle] < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Look at the names of one letter and size. Return whether the search goes on. */
static bool look_at_key(struct search *search, size_t letter, size_t size)
{
	const struct near_names *near = search->near;
	size_t place = near->starts[letter * SIZES + size];
	size_t end = near->starts[letter * SIZES + size + 1];

	search->work++;
	for (place = first_place(near, place, end, search->first);
		place < end && near->order[place] < search->end; place++)
		if (!look_at(search, near->order[place]))
			return false;
	return true;
}

/* Look at the names of one letter, by the difference of their sizes. Return whether the search goes
 * on. */
static bool look_at_letter(struct search *search, size_t letter)
{
	size_t size = size_of(search->name_size);
	bool goes_on = look_at_key(search, letter, size);

	for (size_t more = 1; goes_on && more < SIZES; more++) {
		if (more <= size)
			goes_on = look_at_key(search, letter, size - more);
		if (goes_on && size + more < SIZES)
			goes_on = look_at_key(search, letter, size + more);
	}
	return goes_on;
}

size_t near_names_find(const struct near_names *near, near_names_function name_of, const void *data,
	size_t first, size_t n_names, const char *name, size_t name_size,
	const char *ret_names[NEAR_NAMES_MAX])
{
	struct search search = {
		.near = near,
		.name_of = name_of,
		.data = data,
		.first = first,
		.end = first + n_names,
		.name = name,
		.name_size = name_size,
	};
	size_t letter = letter_of(name, name_size);
	bool goes_on = true;

	if (!near->order)
		for (size_t i = first; goes_on && i < search.end; i++)
			goes_on = look_at(&search, i);
	for (size_t i = 0; near->order && goes_on && i < LETTERS; i++)
		goes_on = look_at_letter(&search, (letter + i) % LETTERS);
	for (size_t i = 0; i < search.n_best; i++)
		ret_names[i] = search.best[i].name;
	return search.n_best;
}
