/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"

/* A response, but for its body. */
struct http_response {
	unsigned int status;
	const char *type;            /* the media type of the body; NULL: JSON */
	const char *cache;           /* Cache-Control; NULL: no-store */
	const struct buffer *fields; /* further header lines, each ended by CR LF; or NULL */
};

/* Append the status line of @response and the header lines of every response to @head; its own
 * lines, the line of the length, and the empty line follow. @is_kept: the connection goes on after
 * it. */
void http_head_begin(
	struct buffer *head, const struct http_response *response, bool has_body, bool is_kept);
