/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * Notice installations, changes and removals: inotify over the registration folders and the folders
 * of libraries.
 *
 *   event of interest ─▶ 200 ms without another ─▶ changed()
 *                     └▶ 2 s of events after events ─▶ changed(): a folder that always changes
 *                        (a log is written to it) does not hide the others
 *
 * It only reports *that* something may have changed; the loader finds the changes by comparing
 * contents. So a lost event, an overflow or a touch does no harm. For a missing folder, the nearest
 * parent is watched until the folder exists.
 */
struct watcher;

typedef void (*watcher_function)(void *data);

#define WATCHER_QUIET_MS  200
#define WATCHER_UNREST_MS 2000

/* @changed is called from the loop. 0 or a negative errno. */
int watcher_new(
	struct loop *loop, watcher_function changed, void *data, struct watcher **ret_watcher);

/* Takes NULL. */
void watcher_free(struct watcher *watcher);

/*
 * Watch these from now on, and nothing else: all files in @folders (or the files themselves), and
 * @files (absolute paths; NULL entries are skipped). Both are copied. A path that cannot be watched
 * is logged; the next reload notices its changes. If @is_again, and these are the paths watched
 * already, nothing is done: a moment ago they were looked at. Return 0 or -ENOMEM; then less is
 * watched.
 */
int watcher_set(struct watcher *watcher, const char *const *folders, size_t n_folders,
	const char *const *files, size_t n_files, bool is_again);

/* Watch all files in @folders already, for the next watcher_set(), which is given them, too, and
 * what was found in them meanwhile: so no change is missed in between. Return 0 or -ENOMEM. */
int watcher_add(struct watcher *watcher, const char *const *folders, size_t n_folders);

/* Return whether changed() will be called, for an event read or waiting. */
bool watcher_is_pending(struct watcher *watcher);

/* Call changed() after the quiet time, because of a change not reported by inotify. */
void watcher_poke(struct watcher *watcher);

CLEANUP_DEFINE(watcher, struct watcher *, watcher_free)
