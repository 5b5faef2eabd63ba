/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/watcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/log.h"

#define INTERESTING                                                                                \
	(IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB |        \
		IN_DELETE_SELF | IN_MOVE_SELF)

/* Room for the events of one read. */
#define EVENT_BYTES 16384

/* One reason to watch a folder: a name in it, or everything in it. */
struct interest {
	int watch;  /* inotify's number of the folder */
	char *name; /* NULL: everything */
};

struct watcher {
	struct loop *loop;
	watcher_function changed;
	void *data;
	int fd;
	struct loop_source *source;
	struct loop_timer quiet;
	uint64_t unrest_ms;         /* quiet is armed: since when there has been no quiet */
	struct interest *interests; /* by watch */
	size_t n_interests;
	uint64_t digest;        /* digest of the paths that are watched; 0: not all are */
	struct interest *early; /* the ones for the next watcher_set() */
	size_t n_early;
};

static void forget_interests(struct interest *interests, size_t n_interests)
{
	for (size_t i = 0; i < n_interests; i++)
		free(interests[i].name);
	free(interests);
}

static bool is_of_interest(const struct watcher *watcher, const struct inotify_event *event)
{
	if (event->mask & (IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
		return true;
	for (size_t i = 0; i < watcher->n_interests; i++) {
		const struct interest *interest = &watcher->interests[i];

		if (interest->watch != event->wd)
			continue;
		if (!interest->name || (event->len > 0 && strcmp(interest->name, event->name) == 0))
			return true;
	}
	return false;
}

void watcher_poke(struct watcher *watcher)
{
	uint64_t now_ms = clock_now_ms();

	if (!loop_timer_is_armed(&watcher->quiet))
		watcher->unrest_ms = now_ms;
	if (now_ms - watcher->unrest_ms < WATCHER_UNREST_MS)
		loop_timer_arm(&watcher->quiet, WATCHER_QUIET_MS);
}

static void take_events(void *data, uint32_t events)
{
	struct watcher *watcher = data;
	_Alignas(struct inotify_event) char bytes[EVENT_BYTES];
	ssize_t size;

	(void)events;
	while ((size = read(watcher->fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct inotify_event *event = (const void *)(bytes + at);

			if (is_of_interest(watcher, event))
				watcher_poke(watcher);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
}

bool watcher_is_pending(struct watcher *watcher)
{
	if (!loop_timer_is_armed(&watcher->quiet))
		take_events(watcher, 0);
	return loop_timer_is_armed(&watcher->quiet);
}

static void is_quiet(void *data)
{
	struct watcher *watcher = data;

	watcher->changed(watcher->data);
}

int watcher_new(
	struct loop *loop, watcher_function changed, void *data, struct watcher **ret_watcher)
{
	cleanup(watcher_cleanup) struct watcher *watcher = calloc(1, sizeof(*watcher));
	int r;

	if (!watcher)
		return -ENOMEM;
	watcher->loop = loop;
	watcher->changed = changed;
	watcher->data = data;
	watcher->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watcher->fd < 0)
		return -errno;
	r = loop_timer_init(&watcher->quiet, loop, is_quiet, watcher);
	if (r == 0)
		r = loop_add_fd(loop, watcher->fd, EPOLLIN, take_events, watcher, &watcher->source);
	if (r < 0)
		return r;
	*ret_watcher = take_ptr(watcher);
	return 0;
}

void watcher_free(struct watcher *watcher)
{
	if (!watcher)
		return;
	loop_source_free(watcher->source);
	loop_timer_deinit(&watcher->quiet);
	if (watcher->fd >= 0)
		close(watcher->fd);
	forget_interests(watcher->interests, watcher->n_interests);
	forget_interests(watcher->early, watcher->n_early);
	free(watcher);
}

/* Add an interest in @name (NULL: everything) of the folder @path; for a missing folder, an
 * interest in the first missing part. */
static int add_interest(
	struct watcher *watcher, const char *path, const char *name, struct interest *ret_interest)
{
	char folder[PATH_MAX];
	char *slash;

	if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	for (;;) {
		int watch = inotify_add_watch(watcher->fd, *folder ? folder : "/", INTERESTING);

		if (watch >= 0) {
			ret_interest->watch = watch;
			ret_interest->name = name ? strdup(name) : NULL;
			return name && !ret_interest->name ? -ENOMEM : 0;
		}
		slash = strrchr(folder, '/');
		if ((errno != ENOENT && errno != ENOTDIR) || !slash)
			return -errno;
		*slash = '\0';
		name = path + (slash - folder) + 1;
		/* Only its first part can come here. */
		if (strchr(name, '/'))
			name = strndupa(name, (size_t)(strchr(name, '/') - name));
	}
}

struct interests {
	struct interest *items;
	size_t n_items;
	const char *folder; /* the last watched folder of a file; its size, and its watch */
	size_t folder_size;
	int watch;
	bool is_partial; /* a path could not be watched … */
	bool is_short;   /* … because memory is short */
};

static void note(
	struct watcher *watcher, struct interests *interests, const char *path, const char *name)
{
	int r = add_interest(watcher, path, name, &interests->items[interests->n_items]);

	interests->is_partial = interests->is_partial || r != 0;
	interests->is_short = interests->is_short || r == -ENOMEM;
	if (r == 0)
		interests->n_items++;
	else if (r != -ENOMEM)
		log_warning("%s cannot be watched (%s): a change in it needs a reload", path,
			strerror(-r));
}

/* Note the file @path. Files in a row are mostly in one folder, which is watched once. */
static void note_file(struct watcher *watcher, struct interests *interests, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash - path) : 0;
	struct interest *interest = &interests->items[interests->n_items];
	char folder[PATH_MAX];

	if (!slash || size >= sizeof(folder))
		return;
	if (interests->folder && interests->folder_size == size &&
		memcmp(interests->folder, path, size) == 0) {
		*interest = (struct interest){interests->watch, strdup(slash + 1)};
		interests->n_items += interest->name != NULL;
		interests->is_short = interests->is_short || !interest->name;
		return;
	}
	memcpy(folder, path, size);
	folder[size] = '\0';
	note(watcher, interests, folder, slash + 1);
	/* The watch of a missing folder is of a parent, for another name. */
	interests->folder = NULL;
	if (interest->name && strcmp(interest->name, slash + 1) == 0 && access(folder, F_OK) == 0) {
		interests->folder = path;
		interests->folder_size = size;
		interests->watch = interest->watch;
	}
}

static int compare_watches(const void *a, const void *b)
{
	const struct interest *left = a;
	const struct interest *right = b;

	return (left->watch > right->watch) - (left->watch < right->watch);
}

/* End the watches of folders without interests. */
static void drop_unwanted(struct watcher *watcher, const struct interests *wanted)
{
	for (size_t i = 0; i < watcher->n_interests; i++) {
		const struct interest *interest = &watcher->interests[i];

		if (i > 0 && interest->watch == interest[-1].watch)
			continue;
		if (!bsearch(interest, wanted->items, wanted->n_items, sizeof(*wanted->items),
			    compare_watches))
			inotify_rm_watch(watcher->fd, interest->watch);
	}
}

/* Return the digest of both lists, not 0. */
static uint64_t digest_paths(
	const char *const *folders, size_t n_folders, const char *const *files, size_t n_files)
{
	uint64_t digest = digest_word(DIGEST_SEED, n_folders);

	for (size_t i = 0; i < n_folders; i++)
		digest = digest_bytes(digest, folders[i], strlen(folders[i]) + 1);
	for (size_t i = 0; i < n_files; i++)
		if (files[i])
			digest = digest_bytes(digest, files[i], strlen(files[i]) + 1);
	return digest ? digest : 1;
}

int watcher_add(struct watcher *watcher, const char *const *folders, size_t n_folders)
{
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < n_folders; i++) {
		r = array_grow(watcher->early, watcher->n_early);
		if (r == 0)
			r = add_interest(
				watcher, folders[i], NULL, &watcher->early[watcher->n_early]);
		watcher->n_early += r == 0;
	}
	return r == -ENOMEM ? r : 0;
}

int watcher_set(struct watcher *watcher, const char *const *folders, size_t n_folders,
	const char *const *files, size_t n_files, bool is_again)
{
	uint64_t digest = digest_paths(folders, n_folders, files, n_files);
	struct interests interests = {0};

	if (is_again && digest == watcher->digest)
		return 0;
	interests.n_items = watcher->n_early;
	interests.items = reallocarray(watcher->early, interests.n_items + n_folders + n_files + 1,
		sizeof(*interests.items));
	if (!interests.items)
		return -ENOMEM;
	watcher->early = NULL;
	watcher->n_early = 0;
	for (size_t i = 0; i < n_folders; i++)
		note(watcher, &interests, folders[i], NULL);
	for (size_t i = 0; i < n_files; i++)
		if (files[i])
			note_file(watcher, &interests, files[i]);
	qsort(interests.items, interests.n_items, sizeof(*interests.items), compare_watches);
	drop_unwanted(watcher, &interests);
	forget_interests(watcher->interests, watcher->n_interests);
	watcher->interests = interests.items;
	watcher->n_interests = interests.n_items;
	watcher->digest = interests.is_partial || interests.is_short ? 0 : digest;
	return interests.is_short ? -ENOMEM : 0;
}
