/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/entry.h"

#include <errno.h>
#include <string.h>

#include "catalogue/package.h"
#include "json/writer.h"
#include "manifest/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define NS_PER_MS UINT64_C(1000000)

bool manifest_entries_are_late(const struct manifest_reader *reader, uint64_t *end_ns)
{
	return reader->most_ms && clock_is_up(end_ns, reader->most_ms * NS_PER_MS);
}

/* Read @entry as the only tool of @ret_toolbox, which is like @toolbox. 0, MANIFEST_E_REFUSED with the problems, or a
 * negative errno. */
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

/* Append the entry @text without its output schema. */
static int drop_output(struct text_view text, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, text.text, text.size, JSON_DEPTH_DEFAULT, NULL);

	if (r)
		return r;
	if (json_type_at(&tape, 0) != JSON_OBJECT)
		return MANIFEST_E_REFUSED;
	for (uint32_t key = json_first(&tape, 0); key < json_end(&tape, 0);
		key = json_next_key(&tape, key)) {
		if (json_string_equals(&tape, key, "output_schema", strlen("output_schema")))
			continue;
		buffer_append_char(out, out->size > 0 ? ',' : '{');
		json_write_compact(out, &tape, key);
		buffer_append_char(out, ':');
		json_write_compact(out, &tape, key + 1);
	}
	buffer_append_string(out, out->size > 0 ? "}" : "{}");
	return buffer_status(out);
}

/* Write the first of @problems, from the entry on, as a string. 0 or -ENOMEM. */
static int write_reason(const struct diagnostics *problems, struct buffer *out)
{
	const char *pointer = problems->n_items > 0 ? problems->items[0].pointer : "";

	if (strncmp(pointer, "/tools/0", strlen("/tools/0")) == 0)
		pointer += strlen("/tools/0");
	buffer_printf(out, "%s%s%s", pointer, *pointer ? ": " : "",
		problems->n_items > 0 ? problems->items[0].text : "it is wrong");
	return buffer_terminate(out) ? 0 : -ENOMEM;
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
	struct toolbox *toolbox, struct buffer *ret_reason)
{
	cleanup(toolbox_cleanup) struct toolbox *read = NULL;
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(diagnostics_deinit) struct diagnostics others = {0};
	cleanup(buffer_deinit) struct buffer rest = {0};
	int r = read_entry(reader, toolbox, entry, &read, &problems);

	if (r == MANIFEST_E_REFUSED) {
		r = drop_output(entry, &rest);
		r = r ? r
		      : read_entry(reader, toolbox, (struct text_view){rest.data, rest.size}, &read,
				&others);
	}
	if (r > 0) {
		r = write_reason(&problems, ret_reason);
		return r ? r : MANIFEST_E_REFUSED;
	}
	return r ? r : move_tool(read, toolbox);
}
