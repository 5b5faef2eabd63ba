/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"

/*
 * The response to a refused HTTP request: a small JSON object, after which the connection is
 * closed.
 *
 *   {"error":"The request has no usable token.","code":"unauthorized"}
 */

struct http_refusal {
	unsigned int status; /* a status of the table in response.c */
	const char *fields;  /* further header lines, each ended by CR LF, or "" */
	const char *reason;  /* a sentence without quotes, backslashes and control characters */
};

/* Return the reason phrase of @status (RFC 9110 §15). */
const char *http_status_phrase(unsigned int status);

/* Return the code of an error of HTTP itself: the code for a status from 400 on, or NULL. */
const char *http_status_code(unsigned int status);

/* Append the response for @refusal to @out. */
void http_write_refusal(struct buffer *out, const struct http_refusal *refusal);
