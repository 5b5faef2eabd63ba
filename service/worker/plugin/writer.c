/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/writer.h"

#include <string.h>

#include "json/writer.h"
#include "util/stringify.h"

/* Memory of a large result is freed. */
#define KEEP_BYTES (256u << 10)

void plugin_writer_fail(struct plugin_writer *writer, const char *mistake)
{
	if (!writer->mistake)
		writer->mistake = mistake;
}

/* Return whether a value may be put here; if not, record why. */
static bool may_begin(struct plugin_writer *writer, const char *key)
{
	if (writer->is_closed)
		plugin_writer_fail(writer, "a value after the end of the result");
	else if (!writer->is_array[writer->depth - 1] && !key)
		plugin_writer_fail(writer, "a value without a key in an object");
	else if (writer->is_array[writer->depth - 1] && key)
		plugin_writer_fail(writer, "a value with a key in an array");
	return !writer->mistake;
}

static void push(struct plugin_writer *writer, bool is_array)
{
	if (writer->depth == PLUGIN_DEPTH_MAX) {
		plugin_writer_fail(
			writer, "more than " STRINGIFY(PLUGIN_DEPTH_MAX) " levels in the result");
		return;
	}
	writer->is_array[writer->depth++] = is_array;
	buffer_append_char(&writer->out, is_array ? '[' : '{');
}

struct buffer *plugin_writer_begin(struct plugin_writer *writer, const char *key)
{
	if (writer->depth == 0 && !writer->is_closed)
		push(writer, false);
	if (!may_begin(writer, key))
		return NULL;
	json_write_comma(&writer->out);
	if (key) {
		json_write_string(&writer->out, key, strlen(key));
		buffer_append_char(&writer->out, ':');
	}
	return buffer_status(&writer->out) ? NULL : &writer->out;
}

bool plugin_writer_open(struct plugin_writer *writer, const char *key, bool is_array)
{
	bool is_outermost = writer->depth == 0 && !writer->is_closed && !key;

	if (!is_outermost && !plugin_writer_begin(writer, key))
		return false;
	push(writer, is_array);
	return !writer->mistake;
}

bool plugin_writer_close(struct plugin_writer *writer)
{
	if (writer->depth == 0)
		plugin_writer_fail(writer, "a close without anything open");
	if (writer->mistake)
		return false;
	buffer_append_char(&writer->out, writer->is_array[--writer->depth] ? ']' : '}');
	writer->is_closed = writer->depth == 0;
	return true;
}

void plugin_writer_finish(struct plugin_writer *writer)
{
	if (writer->depth == 0 && !writer->is_closed)
		push(writer, false);
	while (writer->depth > 0 && plugin_writer_close(writer))
		;
}

void plugin_writer_reset(struct plugin_writer *writer)
{
	buffer_recycle(&writer->out, KEEP_BYTES);
	writer->depth = 0;
	writer->is_closed = false;
	writer->mistake = NULL;
}
