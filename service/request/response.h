/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"

/*
 * The response to an HTTP request that is refused: a small JSON object, after which the connection
 * is closed.
 *
 *   {"error":"The request has no usable token.","code":"unauthorized"}
 */

struct http_refusal {
	unsigned int status; /* a status of the table in response.c */
	const char *fields;  /* further header lines, each ended by CR LF, or "" */
	const char *reason;  /* a sentence without quotes, backslashes and control characters */
};

/* Append the response for @refusal to @out. */
void http_write_refusal(struct buffer *out, const struct http_refusal *refusal);
