/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * The JSON text built by a plugin: an object, unless something else is opened first.
 *
 * The writer adds commas, brackets and escapes. It records the first mistake of the caller and
 * ignores everything after it; the host asks once, at the end. A zeroed struct is ready.
 */

/* Most open levels at once, as many as the daemon reads. */
#define PLUGIN_DEPTH_MAX 128

struct plugin_writer {
	struct buffer out;
	size_t depth;
	bool is_array[PLUGIN_DEPTH_MAX];
	bool is_closed;      /* the outermost value is closed: nothing more fits */
	const char *mistake; /* the first mistake, or NULL */
};

/* Begin a value, with its @key in an object, or NULL in an array. Return the buffer for its text,
 * or NULL after a mistake or without memory. */
struct buffer *plugin_writer_begin(struct plugin_writer *writer, const char *key);

/* Open an object or an array; close the last opened one. Return whether that was possible. */
bool plugin_writer_open(struct plugin_writer *writer, const char *key, bool is_array);
bool plugin_writer_close(struct plugin_writer *writer);

/* Record @mistake, a constant text, unless one is recorded. */
void plugin_writer_fail(struct plugin_writer *writer, const char *mistake);

/* Close everything open. Without any value, write {}. */
void plugin_writer_finish(struct plugin_writer *writer);

/* Start over. */
void plugin_writer_reset(struct plugin_writer *writer);
