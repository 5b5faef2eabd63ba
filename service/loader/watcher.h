/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * Seeing that something was installed, changed or removed: inotify over the registration folders
 * and the folders of libraries.
 *
 *   event of interest ─▶ 200 ms without another ─▶ changed()
 *                     └▶ 2 s of events after events ─▶ changed(): a folder that never comes to rest
 *                        (somebody's log is in it) does not keep the rest from being seen
 *
 * It only says *that* something may have changed; what has is found by the loader, which compares
 * contents. So a lost event, an overflow or a touch does no harm. Of a folder that is not there
 * its nearest parent is watched until it comes.
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
 * Watch these from now on, and nothing else: in @folders everything, of @files (absolute paths;
 * NULL entries are passed over) just these. Both are copied. What cannot be watched is logged, and
 * found by the next reload that is asked for. 0 or -ENOMEM; then less is watched.
 */
int watcher_set(struct watcher *watcher, const char *const *folders, size_t n_folders,
	const char *const *files, size_t n_files);

/* Call changed() after the quiet time: something else has told that there is news. */
void watcher_poke(struct watcher *watcher);

CLEANUP_DEFINE(watcher, struct watcher *, watcher_free)
