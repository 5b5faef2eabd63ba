/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"

/*
 * The response to an HTTP request that is refused: a small JSON object, after which the connection
 * is closed.
 *
 *   {"error":"The request has no usable token.","code":"unauthorized"}
 */

/* Append the response to @out. @status is a status that the code uses; @fields are further header
 * lines, each ended by CR LF, or ""; @reason is a sentence without quotes, backslashes and control
 * characters. */
void http_write_refusal(
	struct buffer *out, unsigned int status, const char *fields, const char *reason);
