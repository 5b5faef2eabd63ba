/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "change.h"

/* write_file: the whole text of a file. */

/* Write the file at @path, with the words for the caller in @out. */
static bool write_text(struct toolbox_call call, const char *path, const struct text *text,
	struct text *out, struct text *why)
{
	struct change *change = calloc(1, sizeof(*change));
	bool is_good = change && !fence_refuses_writes(call, why) &&
		       fence_find(path, true, &change->place, why) &&
		       change_look(&change->place, &change->seen, why);

	if (is_good) {
		change->text = text;
		change->mode = 0644;
		is_good = change_make(call, change, 1, why);
	}
	text_put(out, "Successfully wrote to ");
	text_add_name(out, path);
	free(change);
	return is_good;
}

void write_file(struct toolbox_call call, void *data)
{
	struct text content = {0};
	struct text out = {0};
	struct text why = {0};
	const char *path = read_path(call, "path", "", &why);
	const char *bytes = "";
	size_t size = 0;

	(void)data;
	content.has_failed = toolbox_get_string(call, "content", &bytes, &size) != TOOLBOX_OK;
	text_add(&content, bytes, size);
	answer(call, "write_file",
		path && !content.has_failed && write_text(call, path, &content, &out, &why), &out,
		&why);
	text_free(&content);
	text_free(&out);
	text_free(&why);
}
