/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * A library found by path is loaded from a sealed copy, which no program can change.
 *
 *   file ──copied──▶ memfd ──sealed──▶ dlopen("/proc/self/fd/N")
 *     │                                     │ loading fails
 *     └─────────────────────────────────────┴──▶ dlopen(path): not sealed
 *
 * Writing over a loaded library changes running code and ends in SIGSEGV; the copy prevents this.
 * The copy is not in the folder of the file, so a library with dependencies by "$ORIGIN" is loaded
 * from its path. So is a library larger than SEAL_BYTES_MAX. A name for the dynamic linker is
 * loaded by this name: a second copy of libc would have an errno of its own.
 */

/* The copy is memory of the host, so larger libraries are not copied. */
#define SEAL_BYTES_MAX (64u << 20)

struct seal {
	char *name; /* `library` of the manifest: a path, or a name for the dynamic linker */
	int fd;     /* the sealed copy, or -1 */
};

/*
 * Prepare to load @name, before the sandbox is entered. Return 0 or -ENOMEM. After any other
 * failure (no such file, no memfd) there is no copy, and seal_load() reports the cause.
 */
int seal_make(const char *name, struct seal *ret_seal);

/*
 * Load the library, with every symbol bound, and close the copy's descriptor. Constructors of the
 * library run here. @ret_is_sealed is whether the copy was loaded. Return the handle from dlopen(),
 * or NULL: dlerror() has the reason.
 */
void *seal_load(struct seal *seal, bool *ret_is_sealed);

/* Free the members. A zeroed struct with fd -1 is accepted. */
void seal_deinit(struct seal *seal);
