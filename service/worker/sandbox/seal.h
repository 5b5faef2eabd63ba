/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A library found by path is loaded from a sealed copy, which no program can change. The daemon has
 * made the copy for the description of the toolbox (util/file/sealed_file.h), and gives it to each
 * host.
 *
 *   WIRE_LIBRARY_FD + its index ──▶ dlopen("/proc/self/fd/4")
 *     │ none, or loading fails
 *     └───────────────────────────▶ dlopen(path): not sealed
 *
 * Writing over a loaded library changes running code and ends in SIGSEGV; the copy prevents this,
 * and no host has another library than the described one. The copy is not in the folder of the
 * file, so a library with dependencies by "$ORIGIN" has no copy. A name for the dynamic linker is
 * loaded by this name: a second copy of libc would have an errno of its own.
 */

struct seal {
	char *name; /* a library of the manifest: a path, or a name for the dynamic linker */
	int fd;     /* the sealed copy, or -1 */
};

/* Return whether the daemon has given this host a sealed copy of the library number @index. */
bool seal_is_given(size_t index);

/* Prepare to load @name, the library number @index, before the sandbox is entered. Return 0 or
 * -ENOMEM. */
int seal_take(const char *name, size_t index, struct seal *ret_seal);

/*
 * Load the library, with every symbol bound, and close the copy's descriptor. Constructors of the
 * library run here. @ret_is_sealed is whether the copy was loaded. Return the handle from dlopen(),
 * or NULL: dlerror() has the reason.
 */
void *seal_load(struct seal *seal, bool *ret_is_sealed);

/* Free the members. A zeroed struct with fd -1 is accepted. */
void seal_deinit(struct seal *seal);
