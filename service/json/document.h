/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * JSON documents for building and editing: the only place for cJSON.
 *
 * A document is made from a tape, after the reader's checks, and keeps all that cJSON would lose:
 * numbers stay their own text, strings with U+0000 stay their own escapes, keys are compared with
 * their case. A document is printed with the values read.
 */
struct document;

/* The most containers in one another, of any document. */
#define JSON_DOCUMENT_DEPTH_MAX 1000

/* A new empty object; NULL without memory. The caller frees it. */
struct document *document_new(void);

/* The value at @index of @tape as a document of its own; NULL without memory, or when it is nested
 * deeper than JSON_DOCUMENT_DEPTH_MAX. */
struct document *document_from_tape(const struct json_tape *tape, uint32_t index);

/* Takes NULL. */
void document_free(struct document *document);

/* Set the member @path (keys joined by '.'; objects are made on the way, also in the place of null)
 * of an object to the JSON value @json, read by the reader. 0; -ENOTDIR: another value is in the
 * way; -ENOMEM; or an enum json_status. */
int document_set(struct document *document, const char *path, const char *json, size_t size);

/* Append the document's compact JSON text to @out. */
void document_write(const struct document *document, struct buffer *out);

CLEANUP_DEFINE(document, struct document *, document_free)
