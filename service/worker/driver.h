/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "worker/sandbox/seal.h"

/*
 * What runs the calls of a toolbox inside its host: one driver for each kind (catalogue/kind.h).
 *
 *   worker.c          the wire, the sandbox      knows no kind
 *      │  LOAD → load()    INVOKE → invoke()
 *      ▼
 *   struct driver     native_driver.c …          knows no wire
 */

enum driver_status {
	DRIVER_E_REFUSED = 1, /* load(): the toolbox cannot be loaded; the refusal says why */
	DRIVER_E_FAILED,      /* invoke(): what was written is text: the tool's own words */
	DRIVER_E_ERROR,       /* invoke(): what was written is the object of a WIRE_ERROR */
};

/* Why a toolbox is refused, for the author of its manifest. */
struct driver_refusal {
	struct buffer pointer; /* JSON Pointer into the LOAD frame */
	struct buffer message; /* may hold bytes that are not UTF-8: the linker's words, paths */
};

/* What a driver is made of. */
struct driver_load {
	const struct json_tape *tape; /* of the LOAD frame; gone when load() returns */
	struct seal *seal;            /* of its library (name NULL: none); outlives the driver */
	int wire;                     /* the host's end of the socket */
	const char *text;             /* the frame's payload */
	size_t text_size;
	const char *missing; /* what the sandbox could not do; "" for nothing */
};

struct driver_call {
	uint64_t id;
	uint32_t tool;       /* index in the toolbox's list */
	uint32_t timeout_ms; /* left of its time */
	uint32_t output_max; /* bytes that the daemon takes as one answer */
	uint32_t stderr_max; /* bytes that it keeps of what a call says on stderr */
	const char *caller;  /* JSON text {"call_id", "session_id", "lang"}; size 0: not told */
	size_t caller_size;
	const char *arguments; /* the JSON text of an object that the daemon has checked */
	size_t size;
};

struct driver {
	const char *kind; /* whose driver it is, as LOAD frames say it */

	/* Load what the frame names. 0, DRIVER_E_REFUSED, or a negative errno. */
	int (*load)(const struct driver_load *load, void **ret_driver,
		struct driver_refusal *ret_refusal);

	/* Append what LOADED tells of it: members, each behind a comma. */
	void (*describe)(const void *driver, struct buffer *out);

	/* Run a call, and append its result's JSON text (0), or what the status says. -EINVAL:
	 * there is no such tool; or another negative errno: nothing can be told. */
	int (*invoke)(void *driver, const struct driver_call *call, struct buffer *out);

	/* End the toolbox in order, and give back what is the driver's. Libraries stay loaded: the
	 * process exits behind it, and threads of theirs may be running. Takes NULL. */
	void (*free)(void *driver);
};

/* Note where and why. DRIVER_E_REFUSED or -ENOMEM, for the caller to return. */
int driver_refuse(struct driver_refusal *refusal, const struct json_tape *tape, uint32_t token,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
int driver_refuse_with(struct driver_refusal *refusal, const struct json_tape *tape, uint32_t token,
	const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

extern const struct driver native_driver;
extern const struct driver plugin_driver;
extern const struct driver command_driver;
extern const struct driver python_driver;
