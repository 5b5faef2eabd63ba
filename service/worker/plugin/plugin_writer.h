/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * The JSON text that a plugin puts together: an object, unless something else is opened first.
 *
 * Its author gets commas, brackets and escapes for nothing, and may make the rest of the mistakes:
 * the first one is noted, what is put behind it is ignored, and it is asked for once, at the end.
 * A zeroed struct is ready.
 */

/* The most that may be open at once: what the daemon reads. */
#define PLUGIN_DEPTH_MAX 128

struct plugin_writer {
	struct buffer out;
	size_t depth;
	bool is_array[PLUGIN_DEPTH_MAX];
	bool is_closed;      /* the outermost was closed: nothing fits any more */
	const char *mistake; /* what was done wrong, or NULL */
};

/* Begin a value, with its key in an object, or NULL in an array. Where its text goes; NULL: nowhere
 * (a mistake, or no memory). */
struct buffer *plugin_writer_begin(struct plugin_writer *writer, const char *key);

/* Open an object or an array, and close what was opened last. Whether that could be done. */
bool plugin_writer_open(struct plugin_writer *writer, const char *key, bool is_array);
bool plugin_writer_close(struct plugin_writer *writer);

/* Note a mistake, a constant text, unless there is one already. */
void plugin_writer_fail(struct plugin_writer *writer, const char *mistake);

/* Close what is open; of nothing it makes {}. */
void plugin_writer_finish(struct plugin_writer *writer);

/* Begin anew. */
void plugin_writer_reset(struct plugin_writer *writer);

void plugin_writer_deinit(struct plugin_writer *writer);
