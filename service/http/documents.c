/* SPDX-License-Identifier: Apache-2.0 */
#include "http/documents.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/connection/bytes.h"
#include "util/assert.h"
#include "util/sha256.h"

/* `"16 digits"` (RFC 9110 §8.8.3). */
#define ETAG_BYTES 19

struct document {
	struct list link;
	uint64_t serial;
	uint64_t generation;
	struct http_bytes *bytes;
	char etag[ETAG_BYTES];
	char key[];
};

static void drop_document(struct documents *documents, struct document *document)
{
	list_remove(&document->link);
	check(documents->n > 0 && documents->bytes >= document->bytes->size);
	documents->n--;
	documents->bytes -= document->bytes->size;
	http_bytes_unref(document->bytes);
	free(document);
}

static struct document *first_of(struct documents *documents)
{
	return container_of(documents->list.next, struct document, link);
}

void documents_init(struct documents *documents)
{
	*documents = (struct documents){0};
	list_init(&documents->list);
}

void documents_deinit(struct documents *documents)
{
	while (documents->n > 0)
		drop_document(documents, first_of(documents));
}

static struct document *find_document(
	struct documents *documents, const struct catalogue *view, const char *key)
{
	list_each(struct document, document, &documents->list, link) {
		if (document->serial == catalogue_serial(view) && strcmp(document->key, key) == 0) {
			list_remove(&document->link);
			list_append(&documents->list, &document->link);
			return document;
		}
	}
	return NULL;
}

/* Drop what @generation has replaced, and what is too much. */
static void make_document_room(struct documents *documents, uint64_t generation)
{
	struct list *link = documents->list.next;

	while (link != &documents->list) {
		struct document *document = container_of(link, struct document, link);

		link = link->next;
		if (document->generation != generation)
			drop_document(documents, document);
	}
	while (documents->n > 1 &&
		(documents->n > DOCUMENTS_MAX || documents->bytes > DOCUMENTS_BYTES))
		drop_document(documents, first_of(documents));
}

/* Write the tag of @bytes, a part of their SHA-256: it is the same after a restart. */
static void write_etag(const struct http_bytes *bytes, char ret_etag[ETAG_BYTES])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	uint64_t head;

	sha256(bytes->bytes, bytes->size, digest);
	memcpy(&head, digest, sizeof(head));
	snprintf(ret_etag, ETAG_BYTES, "\"%016" PRIx64 "\"", be64toh(head));
}

/* Make the document and keep it; NULL without memory. */
static struct document *make_document(struct documents *documents, const struct catalogue *view,
	const char *key, document_function write, void *data)
{
	size_t size = strlen(key) + 1;
	struct document *document = malloc(sizeof(*document) + size);
	struct buffer text = {0};

	write(view, key, data, &text);
	if (document)
		document->bytes = http_bytes_new(&text);
	buffer_deinit(&text);
	if (!document || !document->bytes) {
		if (document)
			http_bytes_unref(document->bytes);
		free(document);
		return NULL;
	}
	write_etag(document->bytes, document->etag);
	document->serial = catalogue_serial(view);
	document->generation = catalogue_generation(view);
	memcpy(document->key, key, size);
	list_init(&document->link);
	list_append(&documents->list, &document->link);
	documents->n++;
	documents->bytes += document->bytes->size;
	make_document_room(documents, document->generation);
	return document;
}

/* Return whether the caller has @etag already (RFC 9110 §13.1.2: weak comparison). */
static bool is_known(const struct http_reader *reader, const char *etag)
{
	char weak[ETAG_BYTES + 2];

	snprintf(weak, sizeof(weak), "W/%s", etag);
	return http_field_has(reader, "If-None-Match", etag) ||
	       http_field_has(reader, "If-None-Match", weak) ||
	       http_field_has(reader, "If-None-Match", "*");
}

void documents_respond(struct documents *documents, const struct http_request *request,
	const struct catalogue *view, const char *key, const char *type, document_function write,
	void *data)
{
	struct http_connection *connection = request->connection;
	struct document *document = find_document(documents, view, key);
	cleanup(buffer_deinit) struct buffer fields = {0};
	struct http_response response = {
		.status = 200, .type = type, .cache = "private, no-cache", .fields = &fields};

	if (!document)
		document = make_document(documents, view, key, write, data);
	if (!document) {
		http_respond_error(connection, 503, "Out of memory.");
		return;
	}
	buffer_printf(&fields, "ETag: %s\r\n", document->etag);
	if (is_known(http_connection_request(connection), document->etag))
		response.status = 304;
	http_respond_bytes(connection, &response, document->bytes);
}
