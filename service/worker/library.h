/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "worker/driver.h"

/* The library of a toolbox, as its host has loaded it. It is never unloaded: a thread of its own
 * may be running in it. */
struct library {
	void *handle;     /* dlopen's */
	const char *file; /* the linker's own text, or the seal's */
	bool is_sealed;
};

/* Load what the member `library` of the LOAD frame names; constructors of it run here. 0,
 * DRIVER_E_REFUSED, or -ENOMEM. */
int library_open(const struct driver_load *load, struct library *ret_library,
	struct driver_refusal *refusal);

/* Whether the address is that of a variable; @ret_size (or NULL) its bytes. What a resolver picked
 * may have no symbol at all. */
bool library_is_data(void *address, size_t *ret_size);

/* Append what LOADED tells of it: the file, and whether a sealed copy of it was loaded. */
void library_describe(const struct library *library, struct buffer *out);
