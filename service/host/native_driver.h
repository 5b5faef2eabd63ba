/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/seal.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * Kind `native`: functions of any shared library. The library is loaded with every symbol that its
 * tools name, or not at all.
 */
struct native_driver;

enum native_driver_status {
	NATIVE_DRIVER_E_REFUSED = 1, /* the toolbox cannot be loaded; the refusal says why */
};

/* Why, for the author of the manifest. Zero it before use; give both back with buffer_deinit. */
struct native_driver_refusal {
	struct buffer pointer; /* JSON Pointer into the LOAD frame */
	struct buffer message; /* may hold bytes that are not UTF-8: the linker's words, paths */
};

/* Load what the LOAD frame's object, the root of @load, names:
 * {"kind": "native", "toolbox_id": …, "library": a path or a name, "tools": [native object, …]}.
 * @seal is made of the library, a name NULL when it is no string; it must outlive the driver.
 * Constructors of the library run here. 0, NATIVE_DRIVER_E_REFUSED, or -ENOMEM. */
int native_driver_new(const struct json_tape *load, struct seal *seal,
	struct native_driver **ret_driver, struct native_driver_refusal *ret_refusal);

/* Takes NULL. The library stays loaded: a thread of its own may be running in it. */
void native_driver_free(struct native_driver *driver);

/* The file that was loaded, and whether by a sealed copy of it. */
const char *native_driver_library(const struct native_driver *driver);
bool native_driver_is_sealed(const struct native_driver *driver);

/* Run tool @tool of the list as native_call_run() does; -EINVAL when there is none. */
int native_driver_invoke(struct native_driver *driver, uint32_t tool, const char *arguments,
	size_t size, struct buffer *out);
