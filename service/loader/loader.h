/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "loader/guest/guests.h"
#include "loop/loop.h"
#include "manifest/folders.h"
#include "policy/policy.h"
#include "util/cleanup.h"
#include "util/diagnostic.h"
#include "util/text/text_list.h"

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
 * The package of a manifest of kind python has several toolboxes, described by an interpreter. This
 * takes seconds, so the description is cached, and is valid as long as the Python packages of the
 * interpreter do not change (loader/described.h).
 *
 * A library is only ever loaded in a host: a constructor that crashes costs its own toolbox. A
 * failed toolbox keeps its last good version.
 */
struct loader;
struct asking;

/* Positive results. */
enum loader_status {
	LOADER_DEFERRED =
		1, /* some tools are not described yet (loader_options.defers, .defers_servers) */
	LOADER_UNLISTED, /* a server has not listed its tools, and no previous list is in force */
};

/* The load is done: the callee owns @catalogue and its @policy, and @status is 0 or an enum
 * loader_status; or both are NULL and @status is a negative errno. The loader is freed by then. */
typedef void (*loader_done_function)(
	void *data, struct catalogue *catalogue, struct policy *policy, int status);

/* The load has made @catalogue. Called beside the loop, with the data of the loader: it may only
 * use what the loop leaves alone until done(). */
typedef void (*loader_made_function)(void *data, const struct catalogue *catalogue);

struct loader_options {
	const struct config *config;
	const char *host_program;         /* path of toolbox-host */
	const char *library_dir;          /* $PREFIX/lib/toolboxd */
	const struct catalogue *previous; /* the catalogue offered now, or NULL */
	uint64_t generation;
	bool defers;         /* do not wait for hosts with several toolboxes to describe */
	bool defers_servers; /* do not wait for new servers, nor for gates */
	/* the time for the examples of a new version with a gate (loader/gate/gate.h); 0: none is
	 * called */
	uint64_t gate_ms;
	/* read the manifests of toolboxes that are off, too, for their mistakes */
	bool checks_off;
	bool asks_again; /* ask them, even if their last description is valid */
	/* ids of servers out of reach for too long, or NULL: their tools are only offered after a
	 * new list */
	const struct text_list *away;
	/* ask servers for their tools, even if their last list is known, and try gates that were
	 * closed again */
	bool asks_servers;
	struct asking *asking; /* the questions of earlier loads; NULL: it has its own */
	/* the wait for servers, after which the load goes on without the others; 0: for all */
	uint64_t patience_ms;
	/* the load takes the answers so far, and asks no refusing server again */
	bool takes_answers;
	loader_made_function made; /* called before done(); or NULL */
	struct guest_set *guests;  /* borrowed: taken in, with their outcomes; or NULL */
	/* the registrations in the configured folders, borrowed; NULL: the load lists them */
	const struct folders_listing *listing;
};

/* Load everything registered in the configured folders. Everything in @options must live until
 * done() was called. 0 or a negative errno (then done() is not called). */
int loader_start(struct loop *loop, const struct loader_options *options,
	diagnostic_function problem, loader_done_function done, void *data,
	struct loader **ret_loader);

/* Load just these manifests and folders, what these registration folders have, and the folders of
 * these programs, whatever the configured folders have (toolboxctl check, invoke --file, test,
 * dev). */
int loader_start_files(struct loop *loop, const struct loader_options *options,
	const char *const *files, size_t n_files, diagnostic_function problem,
	loader_done_function done, void *data, struct loader **ret_loader);

/* Make the catalogue in force, options.previous, anew with options.guests: nothing else is
 * loaded. */
int loader_start_guests(struct loop *loop, const struct loader_options *options,
	diagnostic_function problem, loader_done_function done, void *data,
	struct loader **ret_loader);

/* Return whether @loader only waits for hosts, and frees at once. */
bool loader_is_asking(const struct loader *loader);

/* Stop and free @loader, without done(). Takes NULL. */
void loader_free(struct loader *loader);

CLEANUP_DEFINE(loader, struct loader *, loader_free)
