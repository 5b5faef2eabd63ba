/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/entry.h"

#include <errno.h>
#include <string.h>

#include "catalogue/package.h"
#include "manifest/mend.h"
#include "manifest/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* An entry is read again for each of its mistakes, up to so many bytes in all. */
#define MENDED_BYTES ((size_t)4 << 20)

#define OUTPUT "/output_schema"

bool manifest_entries_are_late(const struct manifest_reader *reader, uint64_t *end_ns)
{
	return reader->most_ms && clock_is_up(end_ns, reader->most_ms * NS_PER_MS);
}

/* Read @entry as the only tool of @ret_toolbox, which is like @toolbox. 0, MANIFEST_E_REFUSED with
 * the problems, or a negative errno. */
static int read_entry(struct manifest_reader *reader, const struct toolbox *toolbox,
	struct text_view entry, struct toolbox **ret_toolbox, struct diagnostics *problems)
{
	cleanup(toolbox_cleanup) struct toolbox *read =
		toolbox_new(toolbox->package, toolbox->id, NULL);
	struct buffer *bytes = &reader->bytes;
	int r;

	buffer_reset(bytes);
	buffer_append_string(bytes, "{\"kind\":\"plugin\",\"library\":\"-\",\"tools\":[");
	buffer_append(bytes, entry.text, entry.size);
	buffer_append_string(bytes, "]}");
	r = read ? buffer_status(bytes) : -ENOMEM;
	r = r ? r
	      : json_tape_read(&reader->tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/tools/0",
			"is nested more than %d levels deep", JSON_DEPTH_DEFAULT - 2);
	r = r ? r : manifest_check_shape(reader, problems);
	r = r ? r
	      : manifest_read_tools(reader, &reader->tape, json_find(&reader->tape, 0, "tools"),
			read, problems);
	if (r < 0)
		return r;
	if (r > 0 || problems->n_errors > 0)
		return MANIFEST_E_REFUSED;
	*ret_toolbox = take_ptr(read);
	return 0;
}

/* Return the first of @problems, with its place in the entry. */
static struct diagnostic first_problem(const struct diagnostics *problems)
{
	struct diagnostic problem = {.pointer = "", .text = "it is wrong"};

	if (problems->n_items > 0) {
		problem.pointer = problems->items[0].pointer;
		problem.text = problems->items[0].text;
	}
	if (strncmp(problem.pointer, "/tools/0", strlen("/tools/0")) == 0)
		problem.pointer += strlen("/tools/0");
	return problem;
}

/* Write the first of @problems as a string. 0 or -ENOMEM. */
static int write_entry_reason(const struct diagnostics *problems, struct buffer *out)
{
	struct diagnostic problem = first_problem(problems);

	buffer_printf(out, "%s%s%s", problem.pointer, *problem.pointer ? ": " : "", problem.text);
	return buffer_terminate(out) ? 0 : -ENOMEM;
}

/* Write @entry without its first mistake in @problems to @ret_entry, with a note in @notes. With
 * @notes NULL only an output schema is left out, as a whole. 0, MANIFEST_E_UNMENDABLE, or
 * -ENOMEM. */
static int mend(struct text_view entry, const struct diagnostics *problems,
	struct diagnostics *notes, struct buffer *ret_entry)
{
	struct diagnostic problem = first_problem(problems);
	cleanup_free char *pointer = strdup(problem.pointer);
	int r;

	if (!pointer)
		return -ENOMEM;
	if (!notes && strncmp(pointer, OUTPUT, strlen(OUTPUT)) != 0)
		return MANIFEST_E_UNMENDABLE;
	if (!notes)
		pointer[strlen(OUTPUT)] = '\0';
	r = manifest_mend(entry, pointer, ret_entry);
	if (r == 0 && notes)
		diagnostics_add(notes, DIAGNOSTIC_WARNING, 0, pointer, "%s", problem.text);
	return r;
}

/* Move the only tool of @from to the end of @toolbox. 0 or -ENOMEM. */
static int move_tool(struct toolbox *from, struct toolbox *toolbox)
{
	struct tool *moved;

	if (array_grow(toolbox->tools, toolbox->n_tools) < 0)
		return -ENOMEM;
	moved = &toolbox->tools[toolbox->n_tools];
	*moved = from->tools[0];
	moved->toolbox = toolbox;
	moved->index = (uint32_t)toolbox->n_tools++;
	from->n_tools = 0;
	return 0;
}

int manifest_add_entry(struct manifest_reader *reader, struct text_view entry,
	struct toolbox *toolbox, struct diagnostics *notes, struct buffer *ret_reason)
{
	cleanup(toolbox_cleanup) struct toolbox *read = NULL;
	cleanup(buffer_deinit) struct buffer mended = {0};
	size_t left = MENDED_BYTES;
	int r;

	for (;;) {
		cleanup(diagnostics_deinit) struct diagnostics problems = {0};
		cleanup(buffer_deinit) struct buffer rest = {0};

		r = read_entry(reader, toolbox, entry, &read, &problems);
		if (r != MANIFEST_E_REFUSED)
			return r ? r : move_tool(read, toolbox);
		r = entry.size < left ? mend(entry, &problems, notes, &rest)
				      : MANIFEST_E_UNMENDABLE;
		if (r == MANIFEST_E_UNMENDABLE) {
			r = write_entry_reason(&problems, ret_reason);
			return r ? r : MANIFEST_E_REFUSED;
		}
		if (r)
			return r;
		left -= entry.size;
		buffer_deinit(&mended);
		mended = rest;
		rest = (struct buffer){0};
		entry = (struct text_view){mended.data, mended.size};
	}
}
