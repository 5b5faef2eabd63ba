/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/bytes.h"

#include <stdlib.h>

#include "util/assert.h"
#include "util/cleanup.h"

struct http_bytes *http_bytes_new(struct buffer *text)
{
	cleanup(buffer_deinit) struct buffer taken = *text;
	struct http_bytes *bytes = NULL;

	*text = (struct buffer){0};
	if (buffer_status(&taken) == 0)
		bytes = malloc(sizeof(*bytes));
	if (!bytes)
		return NULL;
	bytes->references = 1;
	bytes->bytes = buffer_take(&taken, &bytes->size);
	if (!bytes->bytes)
		free(take_ptr(bytes));
	return bytes;
}

struct http_bytes *http_bytes_ref(struct http_bytes *bytes)
{
	check(bytes->references > 0);
	bytes->references++;
	return bytes;
}

void http_bytes_unref(struct http_bytes *bytes)
{
	if (!bytes)
		return;
	check(bytes->references > 0);
	if (--bytes->references > 0)
		return;
	free(bytes->bytes);
	free(bytes);
}
