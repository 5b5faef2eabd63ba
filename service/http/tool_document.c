/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tool_document.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "catalogue/model_schema.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/text/text_view.h"
#include "util/text/utf8.h"

/* The longest summary. */
#define SUMMARY_CHARS 120

void tool_document_arguments(const struct tool *tool, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions)
{
	model_schema_write_apart(tool->argument_schema, names, out, definitions);
}

void tool_document_answer(const struct tool *tool, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions)
{
	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
				  "\"string\"},\"result\":");
	portable_write(tool->output_schema, names, out, definitions);
	buffer_append_string(out, "},\"required\":[\"name\",\"result\"]}");
}

static struct text_view trim(const char *text)
{
	struct text_view view = {text, strlen(text)};

	while (view.size > 0 && isspace((unsigned char)*view.text)) {
		view.text++;
		view.size--;
	}
	while (view.size > 0 && isspace((unsigned char)view.text[view.size - 1]))
		view.size--;
	return view;
}

void tool_document_description(const struct tool *tool, struct buffer *out)
{
	struct text_view text = trim(tool->description);

	json_write_string(out, text.text, text.size);
}

/* Append the title of @tool. Return whether there is one. */
static bool write_title(const struct tool *tool, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape definition = {0};
	uint32_t title;

	if (json_tape_read(&definition, tool->definition, tool->definition_size,
		    2 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return true;
	}
	title = json_find(&definition, 0, "title");
	if (title != JSON_NONE)
		json_write_compact(out, &definition, title);
	return title != JSON_NONE;
}

void tool_document_summary(const struct tool *tool, struct buffer *out)
{
	struct text_view text = trim(tool->description);
	const char *end = memchr(text.text, '\n', text.size);

	if (write_title(tool, out))
		return;
	if (end)
		text.size = (size_t)(end - text.text);
	json_write_string(out, text.text, utf8_prefix(text.text, text.size, SUMMARY_CHARS));
}
