/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/reader.h"
#include "manifest/manifest.h"
#include "schema/schema.h"
#include "util/buffer.h"
#include "util/file/stamp.h"

/* The reader of manifest.c and described.c: a manifest and a description from a host are read in
 * the same way. */

struct manifest_reader {
	struct schema *shape;
	struct schema_context *context;
	uint32_t check_ms;             /* the time to check one example or default */
	const atomic_bool *is_stopped; /* or NULL */
	size_t tools_max;              /* tools taken from the list of a server */
	/* The tools of a package are only read if it returns false; or NULL. */
	manifest_leaves_out_function leaves_out;
	const void *leaves_out_data;
	bool checks_off;  /* as manifest_reader_check_off() */
	uint64_t most_ms; /* the time to read the tools of a toolbox; 0: no bound */
	uint64_t end_ns;  /* the end of it, on the clock of this thread; 0: not begun */
	struct json_tape tape;
	struct json_tape published; /* the risks of published ToolBoxes */
	bool is_refused_for_good;   /* as manifest_is_refused_for_good() */
	struct stamp stamp;         /* the file's stamp, from before it was read */
	struct buffer bytes;
	char *library_dir;
};

/* Check the shape of the manifest in reader->tape. 0, MANIFEST_E_REFUSED with its problems, or
 * -ENOMEM. */
int manifest_check_shape(struct manifest_reader *reader, struct diagnostics *problems);

/* Read the tool entries of the array @tools of @tape, whose shape is right, into @toolbox, which
 * has none. Mistakes are added to the problems. 0 or -ENOMEM. */
int manifest_read_tools(struct manifest_reader *reader, const struct json_tape *tape,
	uint32_t tools, struct toolbox *toolbox, struct diagnostics *problems);

/* Call @found with each tool of @toolbox with the name of an earlier tool, @before, until @found
 * returns an error. Return this error, -ENOMEM, or 0. */
int manifest_each_twin(const struct toolbox *toolbox,
	int (*found)(void *data, const struct tool *twin, const struct tool *before), void *data);
