/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/header/header.h"
#include "util/buffer.h"

/*
 * Comments of a header as descriptions.
 *
 *   Doxygen      \brief Count words.  \param text The text       before the function
 *   kernel-doc   count() - Count words.  @text: The text        before the function
 *   plain        count() counts words.                          before it; or after it, in a file
 *                                                               whose comments mostly are
 */

/* The most bytes of a description, and of the part of a comment that is read for it. */
#define COMMENT_BYTES_MAX 400
#define COMMENT_READ_MAX  16384

/* Choose the comment about each function: the comment before the function, or after it in a file
 * whose authors write comments there. Return 0 or -ENOMEM. Call this before the functions below. */
int comment_place(struct header *header);

/* Append the first paragraph of the comment about @function, as one line. */
void comment_describe(
	const struct header *header, const struct c_function *function, struct buffer *out);

/* Append the words of the comment about the parameter @name, as one line. */
void comment_describe_parameter(const struct header *header, const struct c_function *function,
	const char *name, struct buffer *out);
