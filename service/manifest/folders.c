/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/log.h"
#include "util/text/text.h"

#define MANIFEST_SUFFIX ".json"

/* The bytes of a script searched for its description. */
#define HEAD_BYTES 4096

void folders_listing_deinit(struct folders_listing *listing)
{
	for (size_t i = 0; i < listing->n_entries; i++)
		free(listing->entries[i].path);
	free(listing->entries);
	for (size_t i = 0; i < listing->n_masks; i++) {
		free(listing->masks[i].path);
		free(listing->masks[i].link);
	}
	free(listing->masks);
	text_list_deinit(&listing->strays);
	text_list_deinit(&listing->links);
	*listing = (struct folders_listing){0};
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t name_size = strlen(name);
	size_t suffix_size = strlen(suffix);

	return name_size > suffix_size && strcmp(name + name_size - suffix_size, suffix) == 0;
}

/* Only a link to /dev/null itself masks; any other device is no registration. */
static bool is_mask(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target));

	return length == (ssize_t)strlen("/dev/null") &&
	       memcmp(target, "/dev/null", (size_t)length) == 0;
}

/* A name in one folder; of equal names the highest rank counts. */
struct candidate {
	struct folders_entry entry;
	size_t rank; /* the rank of its folder */
	bool is_mask;
};

struct candidates {
	struct candidate *items;
	size_t n_items;
	struct text_list strays;
	struct text_list links;
};

static void candidates_deinit(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->n_items; i++)
		free(candidates->items[i].entry.path);
	free(candidates->items);
	text_list_deinit(&candidates->strays);
	text_list_deinit(&candidates->links);
}

/* Takes @candidate's path over. */
static int put(struct candidates *candidates, struct candidate candidate)
{
	cleanup_free char *path = candidate.entry.path;

	if (array_grow(candidates->items, candidates->n_items) < 0)
		return -ENOMEM;
	candidates->items[candidates->n_items++] = candidate;
	path = NULL;
	return 0;
}

/* Return whether the file at @path is a script that describes itself as a tool; in a folder of its
 * own it would be a tool. Most others are programs named by a manifest beside them. */
static bool is_stray(const char *path)
{
	static const char python[] = "# toolbox: python";
	static const char *const comments[] = {
		"\n# description:", "\n// description:", "\n-- description:"};
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[HEAD_BYTES];
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;

	if (n > (ssize_t)strlen(python) && memcmp(head, python, strlen(python)) == 0)
		return true;
	if (n <= 2 || memcmp(head, "#!", 2) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(comments); i++)
		if (memmem(head, (size_t)n, comments[i], strlen(comments[i])))
			return true;
	return false;
}

/* Take @path over, and keep it if it is a stray. 0 or -ENOMEM. */
static int take_stray(struct candidates *candidates, char *path)
{
	cleanup_free char *stray = path;

	if (candidates->strays.n_items == FOLDERS_STRAYS_MAX || !is_stray(path))
		return 0;
	return text_list_take(&candidates->strays, take_ptr(stray));
}

static int take_entry(
	struct candidates *candidates, const char *folder, size_t rank, const struct dirent *dirent)
{
	const char *name = dirent->d_name;
	bool may_be_link = dirent->d_type == DT_LNK || dirent->d_type == DT_UNKNOWN;
	struct candidate candidate = {.rank = rank};
	cleanup_free char *path = NULL;
	struct stat status;

	if (name[0] == '.')
		return 0;
	path = file_path(folder, name);
	if (!path || (may_be_link && text_list_add(&candidates->links, path) < 0))
		return -ENOMEM;
	if (name[0] == '_')
		return 0;
	/* A dangling link is listed: reading it then reports the mistake. */
	candidate.entry.path = path;
	candidate.entry.name = path + strlen(folder) + 1;
	candidate.entry.is_folder = dirent->d_type == DT_DIR;
	if (dirent->d_type != DT_REG && dirent->d_type != DT_DIR) {
		candidate.entry.is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
		candidate.is_mask = is_mask(path);
	}
	if (!candidate.is_mask && !candidate.entry.is_folder && !has_suffix(name, MANIFEST_SUFFIX))
		return take_stray(candidates, take_ptr(path));
	path = NULL;
	return put(candidates, candidate);
}

static int list_one(struct candidates *candidates, const char *path, size_t rank)
{
	cleanup_folder DIR *folder = opendir(path);
	const struct dirent *entry;
	int r = 0;

	if (!folder) {
		/* To take it for empty would take all its toolboxes away. */
		if (file_error_is_shortage(-errno))
			return -errno;
		if (errno != ENOENT)
			log_warning("Cannot list the folder %s: %s", path, strerror(errno));
		return 0;
	}
	while (r == 0 && (entry = readdir(folder)))
		r = take_entry(candidates, path, rank, entry);
	return r;
}

/* By name; of one name the highest folder first. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;
	int order = strcmp(left->entry.name, right->entry.name);

	if (order != 0)
		return order;
	return left->rank > right->rank ? -1 : left->rank < right->rank;
}

/* Note that @above hides @below. 0 or -ENOMEM. */
static int add_mask(struct folders_listing *listing, const struct candidate *above,
	const struct candidate *below)
{
	struct folders_mask mask = {
		.path = strdup(below->entry.path),
		.link = strdup(above->entry.path),
		.is_replaced = !above->is_mask,
	};

	if (mask.path && mask.link && array_grow(listing->masks, listing->n_masks) == 0) {
		listing->masks[listing->n_masks++] = mask;
		return 0;
	}
	free(mask.path);
	free(mask.link);
	return -ENOMEM;
}

/* Move the highest candidate of each name, perhaps a mask, to @listing, which has room for all. The
 * candidate right below is reported. 0 or -ENOMEM. */
static int choose(struct candidates *candidates, struct folders_listing *listing)
{
	const char *last = "";
	int r = 0;

	for (size_t i = 0; r == 0 && i < candidates->n_items; i++) {
		struct candidate *candidate = &candidates->items[i];
		bool is_hiding = i + 1 < candidates->n_items && !candidate[1].is_mask &&
				 strcmp(candidate[1].entry.name, candidate->entry.name) == 0 &&
				 strcmp(candidate[1].entry.path, candidate->entry.path) != 0;

		if (strcmp(candidate->entry.name, last) == 0)
			continue;
		last = candidate->entry.name;
		if (!candidate->is_mask)
			listing->entries[listing->n_entries++] = candidate->entry;
		if (is_hiding)
			r = add_mask(listing, candidate, &candidate[1]);
	}
	return r;
}

/* The listing owns the chosen paths: leave the others to be freed. */
static void disown(struct candidates *candidates, const struct folders_listing *listing)
{
	size_t chosen = 0;

	for (size_t i = 0; i < candidates->n_items && chosen < listing->n_entries; i++)
		if (candidates->items[i].entry.path == listing->entries[chosen].path) {
			candidates->items[i].entry.path = NULL;
			chosen++;
		}
}

int folders_list(const char *const *folders, size_t n_folders, struct folders_listing *ret_listing)
{
	cleanup(candidates_deinit) struct candidates candidates = {0};
	struct folders_listing listing = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_folders; i++)
		r = list_one(&candidates, folders[i], i);
	if (r < 0)
		return r;
	if (candidates.n_items > 0) {
		listing.entries = calloc(candidates.n_items, sizeof(*listing.entries));
		if (!listing.entries)
			return -ENOMEM;
		qsort(candidates.items, candidates.n_items, sizeof(*candidates.items),
			compare_candidates);
		r = choose(&candidates, &listing);
		disown(&candidates, &listing);
	}
	if (r < 0) {
		folders_listing_deinit(&listing);
		return r;
	}
	if (candidates.strays.n_items > 0)
		qsort(candidates.strays.items, candidates.strays.n_items,
			sizeof(*candidates.strays.items), text_compare);
	listing.strays = candidates.strays;
	listing.links = candidates.links;
	candidates.strays = candidates.links = (struct text_list){0};
	*ret_listing = listing;
	return 0;
}

bool folders_is_registration(const char *path)
{
	char resolved[PATH_MAX];
	struct stat status;

	return realpath(path, resolved) && stat(resolved, &status) == 0 &&
	       S_ISDIR(status.st_mode) && strchr(strrchr(resolved, '/'), '.');
}
