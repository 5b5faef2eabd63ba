/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "manifest/manifest.h"
#include "search/rank.h"
#include "util/clock.h"

/*
 * The time of searches: usage bench-search CHANGED MANIFEST… < QUERIES
 *
 * Prints lines `NAME NUMBER`: the tools, the bytes of the index, nanoseconds of this thread for the
 * index, for an update by the manifest CHANGED, and then for each query, a line each.
 */

#define ROUNDS     20
#define LINE_BYTES 4096

struct boxes {
	struct toolbox **items;
	size_t n_items;
};

static void fail(const char *what, int status)
{
	fprintf(stderr, "%s: %d\n", what, status);
	exit(1);
}

/* Add the toolbox of the manifest at @path, which is in place of the last one for @replaces. */
static void add_manifest(struct boxes *boxes, const char *path, bool replaces)
{
	struct manifest_reader *reader = manifest_reader_new(NULL);
	struct diagnostics problems = {0};
	struct package *package = NULL;
	int r = reader ? manifest_read(reader, path, &package, &problems) : -ENOMEM;

	if (r != 0)
		fail(path, r);
	manifest_reader_free(reader);
	diagnostics_deinit(&problems);
	boxes->n_items -= replaces;
	boxes->items[boxes->n_items++] = package->toolboxes[0];
}

/* Bring @index up to date with @boxes. Return the time of this thread. */
static uint64_t update(
	struct search_index *index, const struct boxes *boxes, struct catalogue **ret_catalogue)
{
	struct catalogue *catalogue = catalogue_new(boxes->items, boxes->n_items, NULL, NULL, 1);
	uint64_t start_ns = clock_thread_ns();
	int r = catalogue ? search_index_begin(index, catalogue) : -ENOMEM;

	if (r == 0)
		search_index_run(index);
	r = r ? r : search_index_end(index);
	if (r != 0)
		fail("update", r);
	*ret_catalogue = catalogue;
	return clock_thread_ns() - start_ns;
}

static void rank_query(struct search_index *index, const struct catalogue *catalogue, char *line)
{
	struct ranking ranking;
	uint64_t start_ns;
	int r = 0;

	line[strcspn(line, "\n")] = '\0';
	for (unsigned int i = 0; i < ROUNDS && r == 0; i++) {
		start_ns = clock_thread_ns();
		r = rank_tools(
			index, catalogue, TEXT_VIEW(line), (struct text_view){0}, 8, &ranking);
		printf("query %llu\n", (unsigned long long)(clock_thread_ns() - start_ns));
	}
	if (r != 0)
		fail("query", r);
}

int main(int argc, char **argv)
{
	struct boxes boxes = {calloc((size_t)argc + 1, sizeof(struct toolbox *)), 0};
	struct search_index *index = NULL;
	struct catalogue *catalogue;
	const char *reason = "";
	char line[LINE_BYTES];
	int r;

	for (int i = 2; i < argc; i++)
		add_manifest(&boxes, argv[i], false);
	r = search_index_new("english", &index, &reason);
	if (r != 0)
		fail(reason, r);
	printf("index %llu\n", (unsigned long long)update(index, &boxes, &catalogue));
	printf("tools %zu\n", catalogue_n_tools(catalogue));
	printf("bytes %zu\n", search_index_bytes(index));
	add_manifest(&boxes, argv[1], true);
	printf("changed %llu\n", (unsigned long long)update(index, &boxes, &catalogue));
	while (fgets(line, sizeof(line), stdin))
		rank_query(index, catalogue, line);
	return 0;
}
