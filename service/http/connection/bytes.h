/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/buffer.h"

/* A body shared by several responses: it does not change. */
struct http_bytes {
	unsigned int references;
	size_t size;
	char *bytes;
};

/* Make a body of the text in @text, which is taken over; NULL without memory. */
struct http_bytes *http_bytes_new(struct buffer *text);

struct http_bytes *http_bytes_ref(struct http_bytes *bytes);

/* Drop a reference; the last one frees @bytes, which may be NULL. */
void http_bytes_unref(struct http_bytes *bytes);
