/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "bus/bus.h"
#include "catalogue/catalogue.h"
#include "catalogue/definition.h"
#include "core/request/answer.h"
#include "offer/offer.h"
#include "core/request/request_scope.h"
#include "util/buffer.h"

/* Listings of the catalogue: what is offered, and what is not. */

/* Serve ovos.tools.list: definitions, in one of the formats of catalogue/definition.h. */
void listing_list(const struct request_scope *scope, struct answer *answer);

/* Serve ovos.tools.get: one definition, and its deadline. */
void listing_get(const struct offer *offer, const struct config *config,
	const struct request_scope *scope, struct answer *answer);

/* Serve ovos.persona.tools.discover: send one response to @envelope for each toolbox with tools,
 * none larger than @frame_bytes. */
void listing_discover(const struct catalogue *catalogue, const struct bus_envelope *envelope,
	size_t frame_bytes, struct bus *bus);

/* Append what the toolbox @toolbox_id of @size bytes (NULL: all of them; an unknown one: none) has
 * in @catalogue: the array of its definitions, or for DEFINITION_MARKDOWN a string. After it the
 * member `left_out`, with its comma, if some tools have no place in @format. */
void listing_write(const struct catalogue *catalogue, const char *toolbox_id, size_t size,
	enum definition_format format, struct buffer *out);

/* Append the entry of @tool, which has no place in @format, to @left_out, the inside of an
 * array. */
void listing_leave_out(
	const struct tool *tool, enum definition_format format, struct buffer *left_out);

/* As listing_write() for DEFINITION_MARKDOWN, but append the text itself. */
void listing_write_markdown(
	const struct catalogue *catalogue, const char *toolbox_id, size_t size, struct buffer *out);

/* Return the name of the member of a response that has that: "tools" or "text". */
const char *listing_member(enum definition_format format);

/* Append `failed`: [{"toolbox_id": …, "error": …}, …], of the toolbox @toolbox_id (absent: of
 * all). */
void listing_write_failed(
	const struct catalogue *catalogue, const struct text_view *toolbox_id, struct buffer *out);

/* Append `not_offered`: [{"toolbox_id": …, "name": …, "why": …}, …], of the toolbox @toolbox_id
 * (absent: of all); a null name means the whole toolbox. */
void listing_write_not_offered(
	const struct catalogue *catalogue, const struct text_view *toolbox_id, struct buffer *out);
