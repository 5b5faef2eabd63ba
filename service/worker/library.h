/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "worker/driver.h"

struct link_map;

/* A library of a toolbox in its host. It is never unloaded, because a thread of its own may run in
 * it. */
struct library {
	void *handle; /* from dlopen() */
	struct link_map *map;
	const char *file; /* path, owned by the dynamic linker or the seal */
	bool is_sealed;
};

/* Load the library number @index of the LOAD frame, and run its constructors. Return 0,
 * DRIVER_E_REFUSED, or -ENOMEM. */
int library_open(const struct driver_load *load, size_t index, struct library *ret_library,
	struct diagnostics *problems);

/* Return the address of @symbol, or NULL. It is looked for in the @libraries themselves, in their
 * order, then in what they are linked to, then in libc. */
void *library_find(const struct library *libraries, size_t n, const char *symbol);

/* Return whether @address belongs to a variable; @ret_size (may be NULL) is its size. A function
 * picked by a resolver may have no symbol at all. */
bool library_is_data(void *address, size_t *ret_size);

/* Append the library's members of the LOADED frame, without a comma before them: the file, and
 * whether a sealed copy was loaded. */
void library_describe(const struct library *library, struct buffer *out);
