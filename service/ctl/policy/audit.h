/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/options.h"
#include "json/reader.h"
#include "util/buffer.h"

/* The lines of an audit log in a file. */

struct audit_line {
	const char *text; /* in the file's text */
	size_t size;      /* without the newline */
	bool is_whole;    /* it has one */
};

/* Read the whole file. Return 0, or CTL_USAGE with a message on stderr. */
int ctl_audit_read(const char *file, struct buffer *ret_text);

/* Return the line of @text at *@at, and move *@at to the next line; false at the end. */
bool ctl_audit_next(const struct buffer *text, size_t *at, struct audit_line *ret_line);

/* Read @line into @tape (zeroed, or used before). Return whether it is a JSON object. */
bool ctl_audit_parse(const struct audit_line *line, struct json_tape *tape);

/* Check the chain of the files after `audit verify`. Return an enum ctl_status. */
int ctl_audit_verify(const struct ctl_options *options);
