/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "http/connection/connection.h"
#include "http/exchange.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * Documents made from a catalogue: listings of tools, manuals. Each is made once for a view and its
 * key, and sent as the same bytes from then on.
 *
 *   (catalogue_serial, key) ──▶ bytes, ETag ──▶ 200, or 304 for a caller with the same bytes
 *
 * At most DOCUMENTS_MAX are kept, and DOCUMENTS_BYTES; the document used longest ago gives way.
 * Documents of another generation of the catalogue go first.
 */
struct documents {
	struct list list; /* the document used longest ago comes first */
	size_t n;
	size_t bytes;
};

#define DOCUMENTS_MAX   64
#define DOCUMENTS_BYTES (64u << 20)

/* Append the document for @key, made from @view. */
typedef void (*document_function)(
	const struct catalogue *view, const char *key, void *data, struct buffer *out);

void documents_init(struct documents *documents);
void documents_deinit(struct documents *documents);

/* Respond to @request with the document @key of @view, of the media type @type (NULL: JSON), made
 * by @write with @data if necessary. */
void documents_respond(struct documents *documents, const struct http_request *request,
	const struct catalogue *view, const char *key, const char *type, document_function write,
	void *data);
