/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin_program.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/text.h"

/* A file that is no text has a control character in as many bytes. */
#define TEXT_BYTES 512

static const char space[] = " \t";

/* Return whether the file is named like a shared library: lib.so, lib.so.1.2. */
static bool is_library_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *end = strstr(slash ? slash + 1 : path, ".so");

	if (!end)
		return false;
	end += strlen(".so");
	while (*end == '.' && text_is_digit(end[1]))
		end += 1 + strspn(end + 1, "0123456789");
	return *end == '\0';
}

/* Return whether @head has none of the control characters that only binary files have. */
static bool is_plain_text(const struct buffer *head)
{
	size_t size = head->size < TEXT_BYTES ? head->size : TEXT_BYTES;

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)head->data[i] < '\t' || head->data[i] == '\x7f')
			return false;
	return true;
}

/* Check the line of @size bytes after the `#!`. */
static void check_interpreter(const char *line, size_t size, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	const char *end = line + size;

	if (size > 0 && end[-1] == '\r') {
		buffer_append_string(reason,
			"its lines end with CR LF, so that its interpreter is not found: save it "
			"with LF");
		return;
	}
	while (line < end && strchr(space, *line))
		line++;
	size = 0;
	while (line + size < end && !strchr(space, line[size]))
		size++;
	buffer_append(&path, line, size);
	/* Another path than an absolute one depends on where the program is run. */
	if (size > 0 && *line == '/' && buffer_terminate(&path) && access(path.data, X_OK) < 0)
		buffer_printf(
			reason, "its interpreter %s cannot be run: %s", path.data, strerror(errno));
}

void dropin_program_check(const char *path, const struct buffer *head, struct buffer *reason)
{
	const char *newline;

	if (is_library_name(path))
		buffer_append_string(reason,
			"it is a shared library; a manifest of kind native makes its functions "
			"tools");
	if (is_library_name(path) || head->size < strlen("#!"))
		return;
	if (memcmp(head->data, "#!", strlen("#!")) != 0) {
		if (is_plain_text(head))
			buffer_append_string(reason,
				"it is a text that does not begin with a line like #!/bin/sh");
		return;
	}
	newline = memchr(head->data, '\n', head->size);
	check_interpreter(head->data + strlen("#!"),
		newline ? (size_t)(newline - head->data) - strlen("#!") : head->size - strlen("#!"),
		reason);
}
