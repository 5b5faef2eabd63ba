/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/origin.h"
#include "util/cleanup.h"
#include "util/diagnostic.h"

/*
 * The trial of a toolbox that failed: with the same files and the same configuration, a later load
 * has the same result without a trial (loader/failure/failures.h). It is made once and never
 * changed but for the stamps of its files, and shared by counting.
 */
struct failed {
	atomic_uint references;
	char *id;
	struct origins files;         /* its manifest; with a gate, its programs */
	uint64_t gate;                /* an example has failed: failures_gate_digest(); else 0 */
	uint64_t configuration;       /* digest of the configuration */
	bool is_about_room;           /* limits.toolboxes or limits.tools had no room for it */
	size_t n_tools;               /* the tools of a toolbox without room */
	struct diagnostics *problems; /* not of a toolbox without room */
};

/* Return a trial with one reference and nothing in it but a copy of @id, or NULL. */
struct failed *failed_new(const char *id);

static inline struct failed *failed_ref(struct failed *failed)
{
	if (failed)
		atomic_fetch_add_explicit(&failed->references, 1, memory_order_relaxed);
	return failed;
}

/* Takes NULL. */
void failed_unref(struct failed *failed);

CLEANUP_DEFINE(failed, struct failed *, failed_unref)
