/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The size guard of rich content (contract.md, Size of results). Its texts and its structured value
 * are two forms of one result, so each of them has the limit:
 *
 *   text blocks, and the texts of resources    cut in place, in their order;
 *                                              a block without any text left goes
 *   structured                                 replaced as a plain result is
 *
 * Pictures and other bytes stay. `truncated`, `actual_chars`, `max_chars` and `hint` are beside the
 * content then.
 */

/* Append the rich content @result, with the tape @tape, cut to @max code points where it is
 * longer. */
void cut_content_write(struct buffer *out, const struct json_tape *tape, const char *result,
	size_t size, uint32_t max);
