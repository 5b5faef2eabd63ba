/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "loop/loop.h"
#include "util/cleanup.h"
#include "util/diagnostic.h"

/*
 * Loading: from registration folders to a catalogue.
 *
 *   folders ─▶ manifests ─▶ toolboxes ─▶ configuration ─▶ a short-lived host, in the sandbox, loads
 *                              │         (its sandbox)      each library and finds every symbol
 *                              │                                              │
 *                              └── nothing changed since the last catalogue: kept as it is
 *                                                                             ▼
 *                                                      catalogue: offered, failed, not offered
 *
 * A manifest of the kind python stands for several toolboxes, its members, which an interpreter
 * tells. It takes seconds to ask one; so what was told is kept, and holds as long as the packages
 * of that interpreter do not change (loader/described.h).
 *
 * A library is only ever loaded in a host: a constructor that crashes costs its own toolbox. What
 * fails keeps its last good version.
 */
struct loader;

/* Positive results. */
enum loader_status {
	LOADER_DEFERRED = 1, /* of some the tools are not known yet (loader_options.defers) */
};

/* Done: @catalogue is the callee's now, with 0 or LOADER_DEFERRED; NULL with a negative errno when
 * memory ran out. The loader is freed after the call. */
typedef void (*loader_done_function)(void *data, struct catalogue *catalogue, int status);

struct loader_options {
	const struct config *config;
	const char *host_program;         /* path of toolbox-host */
	const char *library_dir;          /* $PREFIX/lib/toolboxd */
	const struct catalogue *previous; /* what is offered now, or NULL */
	uint64_t generation;
	bool defers;     /* do not wait for interpreters that must be asked what their tools are */
	bool asks_again; /* ask them, even if what they told before still holds */
};

/* Load everything that is registered in the configured folders. All of @options must stay until
 * done() was called. 0 or a negative errno (then done() is not called). */
int loader_start(struct loop *loop, const struct loader_options *options,
	diagnostic_function problem, loader_done_function done, void *data,
	struct loader **ret_loader);

/* Load just these manifests and folders of drop-in programs, whatever the registration folders hold
 * (toolboxctl check). */
int loader_start_files(struct loop *loop, const struct loader_options *options,
	const char *const *files, size_t n_files, diagnostic_function problem,
	loader_done_function done, void *data, struct loader **ret_loader);

/* Stop and forget it; done() is not called. Takes NULL. */
void loader_free(struct loader *loader);

CLEANUP_DEFINE(loader, struct loader *, loader_free)
