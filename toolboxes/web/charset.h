/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_CHARSET_H
#define WEB_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Append @bytes as UTF-8. Their encoding is, in this order: the one of their byte order mark;
 * `charset` of @content_type (NULL: none); with @is_html, a <meta> among the first bytes; UTF-8, if
 * they are; windows-1252. Bytes that no character has become U+FFFD, and so does U+0000. */
void charset_decode(
	const char *bytes, size_t size, const char *content_type, bool is_html, struct text *out);

#endif
