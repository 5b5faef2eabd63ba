/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/audit.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/file/file.h"

/* As large as audit.max_bytes may be, with the line that makes it so. */
#define FILE_BYTES_MAX ((1u << 30) + (64u << 20))

#define DEPTH_MAX 1000

int ctl_audit_read(const char *file, struct buffer *ret_text)
{
	int r = file_read(file, FILE_BYTES_MAX, ret_text);

	if (r < 0)
		terminal_complain("%s: cannot be read: %s", file, strerror(-r));
	return r < 0 ? CTL_USAGE : 0;
}

bool ctl_audit_next(const struct buffer *text, size_t *at, struct audit_line *ret_line)
{
	const char *start = text->data + *at;
	const char *newline;

	if (*at >= text->size)
		return false;
	newline = memchr(start, '\n', text->size - *at);
	ret_line->text = start;
	ret_line->size = newline ? (size_t)(newline - start) : text->size - *at;
	ret_line->is_whole = newline != NULL;
	*at += ret_line->size + 1;
	return true;
}

bool ctl_audit_parse(const struct audit_line *line, struct json_tape *tape)
{
	return json_tape_read(tape, line->text, line->size, DEPTH_MAX, NULL) == 0 &&
	       json_type_at(tape, 0) == JSON_OBJECT;
}
