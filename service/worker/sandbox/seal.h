/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * A library that was found by path, loaded from a copy that nobody can change any more.
 *
 *   file ──copied──▶ memfd ──sealed──▶ dlopen("/proc/self/fd/N")
 *     │                                     │ cannot be loaded so
 *     └─────────────────────────────────────┴──▶ dlopen(path): not sealed
 *
 * Writing over a loaded library changes the code that runs, which ends in SIGSEGV; this keeps what
 * was loaded as it was. A copy has another place than the file, so one that finds its dependencies
 * by "$ORIGIN" is loaded from its path, and so is one that is larger than SEAL_BYTES_MAX. What is
 * named for the dynamic linker is loaded by its name: a second copy of libc would have an errno of
 * its own.
 */

/* The copy is memory of the host's: larger libraries are not copied. */
#define SEAL_BYTES_MAX (64u << 20)

struct seal {
	char *name; /* what the manifest's library is: a path, or a name for the dynamic linker */
	int fd;     /* the sealed copy, or -1 */
};

/*
 * Prepare to load @name; to be called before the sandbox is entered. 0, or -ENOMEM; whatever else
 * fails (no such file, no memfd) leaves it without a copy, and seal_load() says why in the end.
 */
int seal_make(const char *name, struct seal *ret_seal);

/*
 * Load the library, with every symbol bound, and give the copy's descriptor back. @ret_is_sealed:
 * whether it is the copy that was loaded. Returns dlopen's handle, or NULL: dlerror() tells.
 * Constructors of the library run here.
 */
void *seal_load(struct seal *seal, bool *ret_is_sealed);

/* A zeroed one with fd -1 may be passed. */
void seal_deinit(struct seal *seal);
