/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * An unreadable message of a server:
 *
 *   {"id": 7, "result": {"v": NaN}}  the failed response to the request 7
 *   Listening on stdio               noise
 */

/* Return the number of the id at @token, as in our requests, or sent back as a string by some
 * servers; 0: no such id, or absent (JSON_NONE). */
uint64_t mcp_id_number(const struct json_tape *tape, uint32_t token);

/* Append a clause for the log: @text is no message because of @reason, and begins like this. @out
 * records -ENOMEM. */
void mcp_write_fault(const char *text, size_t size, struct text_view reason, struct buffer *out);

/* Append a clause for the log: the response with @id, as JSON or absent, is to no request. @out
 * records -ENOMEM. */
void mcp_write_stranger(struct text_view id, struct buffer *out);

/* Return the id of the response at the beginning of @text, perhaps cut; 0: not ours. */
uint64_t mcp_salvage_id(const char *text, size_t size);

/*
 * Append an array with an error response with the @reason, for each response with a readable id in
 * the unreadable @text: an integer, or a string with one. It may follow other text, or another
 * message. @out records -ENOMEM.
 */
void mcp_write_failures(const char *text, size_t size, struct text_view reason, struct buffer *out);
