/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/header/compiler.h"
#include "ctl/header/declarations.h"
#include "ctl/header/tokens.h"
#include "util/buffer.h"

/* The declarations of headers, as the C compiler of this machine preprocesses them. */
struct header {
	struct buffer text;
	struct c_tokens tokens;
	struct c_declarations declarations;
};

/* Read the headers of @compiler. @has_comments: keep comments, too. Return 0 with @ret_header,
 * which the caller deinits; an enum compiler_status with a text for a person in @messages; or a
 * negative errno. */
int header_read(const struct compiler *compiler, bool has_comments, struct header *ret_header,
	struct buffer *messages);

/* Read header->text, which ends with a NUL, into the rest of @header. Return 0, an enum
 * c_tokens_status or -ENOMEM; the caller deinits @header in any case. */
int header_read_text(struct header *header);

void header_deinit(struct header *header);

/* Return the part of the path @file of a header that an #include has. */
const char *header_short_name(const char *file);
