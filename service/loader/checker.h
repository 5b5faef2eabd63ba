/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/package.h"
#include "config/config.h"
#include "json/reader.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * The checker loads libraries in short-lived hosts, to see that they can be loaded and have every
 * symbol named by their toolboxes: a constructor that crashes, hangs or floods does it there.
 *
 * Toolboxes over one library and with one sandbox are looked at together, in one host. When it
 * fails, the batch is halved until the culprit is alone:
 *
 *      a b c d e f g h           c is the culprit: six hosts more, for eight toolboxes
 *      a b c d │ e f g h ✓
 *      a b ✓ │ c d
 *            c ✗ │ d ✓
 *
 * A library not loadable, or too slow to load, or a sandbox with a missing path, fails the whole
 * batch at once.
 */
struct checker;

/* @item's toolbox cannot be offered: @text is the reason, for the place @pointer of its manifest;
 * of a server, with the last lines of its log. Both are good during the call only. */
typedef void (*checker_refused_function)(void *item, const char *pointer, const char *text);

/* @item's host has described its tools: @described is the payload of LOADED, good during the call
 * only. */
typedef void (*checker_described_function)(void *item, const char *described, size_t size);

/* Every package was checked; a package not refused knows its library's file and stamp. The handler
 * may free the checker. */
typedef void (*checker_done_function)(void *data);

/* Make a checker. @host_program and @config must outlive it. 0 or -ENOMEM. */
int checker_new(struct loop *loop, const char *host_program, const struct config *config,
	struct checker **ret_checker);

/* Free the checker, which may be NULL. Its hosts end, and no handler is called. */
void checker_free(struct checker *checker);

/* Look at the library of @package (borrowed), if it is found by path, and add the package for a
 * check; the handlers receive @item. Beside the loop. 0 or -ENOMEM. */
int checker_add(struct checker *checker, struct package *package, void *item);

/* Begin: from the loop, call @described and @refused for some packages, then @done once. */
void checker_start(struct checker *checker, checker_refused_function refused,
	checker_described_function described, checker_done_function done, void *data);

/* Store in @package the facts of LOADED, read as @described, about how it was loaded. Its library
 * keeps its copy only if the host has loaded that. */
void checker_note(struct package *package, const struct json_tape *described);

CLEANUP_DEFINE(checker, struct checker *, checker_free)
