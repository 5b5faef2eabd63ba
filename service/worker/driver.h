/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/diagnostic.h"
#include "worker/sandbox/seal.h"

/*
 * A driver runs the calls of a toolbox inside its host. There is a driver for each kind
 * (catalogue/kind.h).
 *
 *   worker.c          the wire, the sandbox      knows no kind
 *      │  LOAD → load()    INVOKE → invoke(), or begin() and CANCEL → cancel()
 *      ▼
 *   struct driver     native/driver.c …          knows no wire
 */

enum driver_status {
	DRIVER_E_REFUSED = 1, /* load(): the toolbox cannot be loaded; the problems hold the
				 reason */
	DRIVER_E_FAILED,      /* invoke(): the output is text, the tool's own message */
	DRIVER_E_ERROR,       /* invoke(): the output is the object of a WIRE_ERROR */
};

/* The input of load(). */
struct driver_load {
	const struct json_tape *tape; /* tape of the LOAD frame; freed when load() returns */
	struct seal *seals;           /* the libraries; they outlive the driver */
	size_t n_seals;
	int wire;         /* the host's end of the socket */
	const char *text; /* the frame's payload */
	size_t text_size;
	const char *missing; /* restrictions missing from the sandbox; "" for none */
};

struct driver_call {
	uint64_t id;
	bool is_check;       /* only ask whether the tool takes the arguments */
	uint64_t program;    /* as in struct wire_invoke */
	uint32_t tool;       /* index in the toolbox's list */
	uint32_t timeout_ms; /* remaining time */
	uint32_t output_max; /* most bytes of an answer for the daemon */
	uint32_t stderr_max; /* most bytes of stderr kept by the daemon for a call */
	const char *caller;  /* JSON text {"call_id", "session_id", "lang"}; size 0: unknown */
	size_t caller_size;
	const char *arguments; /* JSON text of an object, checked by the daemon */
	size_t size;
};

struct driver {
	const char *kind; /* its kind, as in LOAD frames */

	/* Load the toolbox described by the frame. Return 0, DRIVER_E_REFUSED, or a negative
	 * errno. */
	int (*load)(
		const struct driver_load *load, void **ret_driver, struct diagnostics *problems);

	/* Append the driver's members of the LOADED frame, each after a comma. */
	void (*describe)(const void *driver, struct buffer *out);

	/* The LOADED frame was sent: threads of the toolbox may send, too. Return 0, or a negative
	 * errno, with which the host ends. NULL: nothing to do. */
	int (*loaded)(void *driver);

	/* Run a call and append the JSON text of its result (0), or what the status describes.
	 * Return -EINVAL if there is no such tool, or another negative errno if nothing was
	 * appended. */
	int (*invoke)(void *driver, const struct driver_call *call, struct buffer *out);

	/* Ask whether the tool takes the arguments of a call, and append null if it does. Returns
	 * as invoke() does. NULL: the tool takes all arguments that satisfy the schema. */
	int (*check)(void *driver, const struct driver_call *call, struct buffer *out);

	/* In the place of invoke() and check(), for hosts of several calls (package_capacity()).
	 * Begin a call; later only its id is used. The driver sends the one answer of each call to
	 * the wire, here, in attend(), in cancel(), or from a thread of its own. Return 0; -EINVAL
	 * for an unknown tool; or another negative errno, with which the host ends. */
	int (*begin)(void *driver, const struct driver_call *call);

	/* End the call @id, and answer it as cancelled; do nothing for an answered call. @is_late:
	 * its deadline has passed. Return 0, or a negative errno, with which the host ends. */
	int (*cancel)(void *driver, uint64_t id, bool is_late);

	/* No further call comes: end the open ones soon. NULL: nothing to do. */
	void (*replaced)(void *driver);

	/* Work until there is something to read on @wire. 0, or a negative errno, with which the
	 * host ends. NULL: no work between calls. */
	int (*attend)(void *driver, int wire);

	/* Shut the toolbox down and free the driver, which may be NULL. Libraries stay loaded:
	 * their threads may still run, and the process exits next. NULL: load() never returns
	 * 0, for the host becomes another program. */
	void (*free)(void *driver);
};

/* Add an error about the value at @token of the LOAD frame, for the author of the manifest. Its
 * text may hold any bytes: the words of the linker, paths. Returns DRIVER_E_REFUSED. */
int driver_refuse(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
int driver_refuse_with(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

extern const struct driver native_driver;
extern const struct driver plugin_driver;
extern const struct driver concurrent_plugin_driver; /* for several calls at a time */
extern const struct driver command_driver;
extern const struct driver python_driver;
extern const struct driver mcp_driver;       /* its host becomes a program that has … */
extern const struct driver mcp_stdio_driver; /* … this one … */
extern const struct driver mcp_http_driver;  /* … or this one */
