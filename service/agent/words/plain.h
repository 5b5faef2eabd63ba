/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Plain text out of the text of a model, as it comes: without a leading `<think>…</think>`, and
 * without the signs of Markdown, which a voice would read aloud.
 *
 *   <think>Hm.</think>## Noon\n**It is** [noon](http://x).  ─▶  Noon\nIt is noon.
 *
 * A sign is judged by the characters around it, so a few bytes wait for the next part.
 */

/* A link with a longer text and address is not looked at. */
#define PLAIN_LINK_BYTES 512

enum plain_state {
	PLAIN_BEGIN,    /* a thought may begin */
	PLAIN_THOUGHT,  /* inside of a thought */
	PLAIN_LINE,     /* at the beginning of a line */
	PLAIN_INSIDE,   /* inside of a line */
	PLAIN_SKIPPING, /* inside of a line that is left out */
};

/* A zeroed struct begins a text. */
struct plain {
	struct buffer held; /* bytes that are not judged yet */
	enum plain_state state;
	bool has_text; /* a character other than white space has been written */
	char last;     /* the last byte of the text */
};

/* Append to @out the plain text of the next @size bytes. @is_end: nothing follows. */
void plain_take(
	struct plain *plain, const char *text, size_t size, bool is_end, struct buffer *out);

void plain_deinit(struct plain *plain);
