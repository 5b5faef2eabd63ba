/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/request.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/writer.h"

static void append_text(struct buffer *data, const char *key, const char *text, size_t size)
{
	json_write_member(data, key);
	json_write_bytes_lossy(data, text, size);
}

void ctl_request_member(struct buffer *data, const char *key, const char *text)
{
	if (text)
		append_text(data, key, text, strlen(text));
}

void ctl_request_flag(struct buffer *data, const char *key)
{
	json_write_member(data, key);
	buffer_append_string(data, "true");
}

void ctl_request_words(struct buffer *data, const char *key, const struct ctl_options *options)
{
	cleanup(buffer_deinit) struct buffer words = {0};

	for (size_t i = 1; i < options->n_positional; i++) {
		buffer_append_string(&words, i > 1 ? " " : "");
		buffer_append_string(&words, options->positional[i]);
	}
	buffer_fail_with(data, &words);
	append_text(data, key, buffer_text(&words), words.size);
}

int ctl_request_tool(struct buffer *data, const char *name, const struct ctl_options *options)
{
	const char *slash = strchr(name, '/');
	size_t size = slash ? (size_t)(slash - name) : 0;
	const char *given = options->toolbox_id;

	if (slash && given && !text_is(name, size, given)) {
		terminal_complain(
			"'%s' is not in the toolbox that --toolbox names, '%s'", name, given);
		return CTL_USAGE;
	}
	ctl_request_member(data, "name", slash ? slash + 1 : name);
	if (slash)
		append_text(data, "toolbox_id", name, size);
	else
		ctl_request_member(data, "toolbox_id", given);
	ctl_request_member(data, "profile", options->profile);
	return 0;
}

void ctl_request_object(struct buffer *out, const struct buffer *data)
{
	buffer_append_char(out, '{');
	if (data)
		buffer_append_buffer(out, data);
	buffer_append_char(out, '}');
}
