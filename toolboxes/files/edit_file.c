/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "diff.h"
#include "edit.h"

/* edit_file: texts of a file, replaced one after the other; the answer is the difference. */

/* Get the text @key of the edit @i. Return whether it has no U+0000. */
static bool get_text(struct toolbox_call call, uint32_t i, const char *key, const char **ret_text)
{
	char pointer[64];
	size_t size = 0;

	snprintf(pointer, sizeof(pointer), "/edits/%u/%s", (unsigned int)i, key);
	return toolbox_get_string(call, pointer, ret_text, &size) == TOOLBOX_OK &&
	       strlen(*ret_text) == size;
}

/* Make all edits in @text. */
static bool make_edits(struct toolbox_call call, struct text *text, struct text *why)
{
	uint32_t n = 0;

	toolbox_get_count(call, "edits", &n);
	if (text->size > 0 && memchr(text->data, '\0', text->size)) {
		text_put(why, "the file is binary: only text is edited");
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *old;
		const char *new;

		if (!get_text(call, i, "oldText", &old) || !get_text(call, i, "newText", &new)) {
			text_put(why, "a text of an edit has the character U+0000");
			return false;
		}
		if (!edit_replace(text, old, new, why))
			return false;
	}
	return true;
}

/* Append @diff as a block of Markdown, whose fence is longer than any in it. */
static void write_block(struct text *out, const struct text *diff)
{
	struct text fence = {0};
	size_t longest = 2;
	size_t run = 0;

	for (size_t i = 0; i < diff->size; i++) {
		run = diff->data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		text_put(&fence, "`");
	text_printf(out, "%sdiff\n", text_string(&fence));
	text_add(out, text_string(diff), diff->size);
	text_printf(out, "%s\n\n", text_string(&fence));
	out->has_failed |= fence.has_failed;
	text_free(&fence);
}

/* Write the difference for the caller: as a block, and as `structured`. */
static void write_difference(struct toolbox_call call, struct text *out, const char *path,
	const struct text *before, const struct text *after)
{
	struct text bytes = {0};
	struct text diff = {0};

	diff_write(&bytes, path, before, after);
	text_add_lossy(&diff, text_string(&bytes), bytes.size);
	write_block(out, &diff);
	out->has_failed |= bytes.has_failed || diff.has_failed;
	toolbox_open_object(call, "structured");
	toolbox_put_string_sized(call, "diff", text_string(&diff), diff.size);
	toolbox_close(call);
	text_free(&bytes);
	text_free(&diff);
}

/* Read the file of @change, which has to be there. */
static bool find_text(struct change *change, struct text *ret_text, struct text *why)
{
	if (!change->place.exists) {
		text_add_name(why, change->place.path);
		text_put(why, " does not exist");
		return false;
	}
	return change_read(&change->place, ret_text, &change->seen, why);
}

/* Edit the file at @path, with the words for the caller in @out. */
static bool edit_text(
	struct toolbox_call call, const char *path, struct text *out, struct text *why)
{
	struct change *change = calloc(1, sizeof(*change));
	struct text before = {0};
	struct text after = {0};
	bool is_dry = false;
	bool is_good;

	toolbox_get_bool(call, "dryRun", &is_dry);
	is_good = change && (is_dry || !fence_refuses_writes(call, why)) &&
		  fence_find(path, !is_dry, &change->place, why) && find_text(change, &before, why);
	text_add(&after, text_string(&before), before.size);
	is_good =
		is_good && !before.has_failed && !after.has_failed && make_edits(call, &after, why);
	if (is_good) {
		change->text = &after;
		write_difference(call, out, path, &before, &after);
		is_good = !out->has_failed && (is_dry || change_make(call, change, 1, why));
	}
	text_free(&before);
	text_free(&after);
	free(change);
	return is_good;
}

void edit_file(struct toolbox_call call, void *data)
{
	struct text out = {0};
	struct text why = {0};
	const char *path = read_path(call, "path", "", &why);

	(void)data;
	answer(call, "edit_file", path && edit_text(call, path, &out, &why), &out, &why);
	text_free(&out);
	text_free(&why);
}
