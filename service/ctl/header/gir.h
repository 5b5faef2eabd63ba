/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * A GIR file: what GObject Introspection knows of the functions of a library beside their types in
 * C. The header has the types; the file answers the questions of a plan (ctl/header/plan.h).
 *
 *   <function c:identifier="g_base64_decode">
 *     <return-value transfer-ownership="full"><array length="1">…   ours, by out_len
 *     <parameter name="text" transfer-ownership="none">…
 *     <parameter name="out_len" direction="out">…
 */

/* No parameter. */
#define GIR_NONE (-1)

/* The most bytes of a file. */
#define GIR_BYTES_MAX (64u << 20)

/* A parameter, or the returned value. */
struct gir_value {
	char *description; /* or NULL */
	bool is_out;       /* `out` or `inout` */
	bool is_inout;
	bool is_owned;    /* transfer full: the receiver frees it */
	bool is_nullable; /* or optional */
	bool is_array;
	int length; /* the number of the parameter with the length of an array, or GIR_NONE */
};

struct gir_function {
	char *name;        /* the symbol; first, for text_compare() */
	char *description; /* or NULL */
	bool is_hidden;    /* not introspectable */
	bool throws;       /* one more parameter: GError ** */
	struct gir_value returned;
	struct gir_value *parameters; /* with the instance as the first one */
	size_t n_parameters;
};

struct gir {
	struct gir_function *functions; /* sorted by name */
	size_t n_functions;
	char **headers; /* as of #include */
	size_t n_headers;
	char *package; /* for pkg-config, or NULL */
	char *library; /* its shared libraries, with commas between them, or NULL */
};

/* Read the GIR file @name, such as `GLib-2.0`, from the folders of GIR files. Return 0 with
 * @ret_gir, which the caller deinits; a negative errno; or 1 with a text for a person in
 * @message. */
int gir_read(const char *name, struct gir *ret_gir, struct buffer *message);

/* As gir_read(), from the @size bytes at @text, the file called @name in messages. */
int gir_read_text(const char *text, size_t size, const char *name, struct gir *ret_gir,
	struct buffer *message);

void gir_deinit(struct gir *gir);

/* Return the function with the symbol @name, or NULL. @gir may be NULL. */
const struct gir_function *gir_find(const struct gir *gir, const char *name);
