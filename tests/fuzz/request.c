/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "request/reader.h"
#include "util/cleanup.h"

/*
 * Any bytes as an HTTP request. The first byte of the input chooses how the others are cut; the
 * whole, the cut and the single bytes must have the same outcome:
 *
 *   all at once ──────────┐
 *   in pieces of n bytes ─┼─▶ the same state, consumed bytes, fields, body, status
 *   byte by byte ─────────┘
 */

static const struct http_limits limits = {
	.line_bytes = 200, .header_bytes = 600, .body_bytes = 300};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

/* Feed copies in blocks of their own, so that the sanitizer sees their ends. Return the bytes that
 * were consumed. */
static size_t feed_pieces(struct http_reader *reader, const char *text, size_t size, size_t step)
{
	size_t at = 0;

	while (at < size && !http_reader_is_over(reader)) {
		size_t piece = size - at < step ? size - at : step;
		cleanup_free char *copy = malloc(piece);

		expect(copy != NULL);
		memcpy(copy, text + at, piece);
		at += http_reader_feed(reader, copy, piece);
	}
	return at;
}

static bool are_equal(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void check_same(const struct http_reader *a, const struct http_reader *b)
{
	expect(a->state == b->state && a->status == b->status && a->reason == b->reason);
	expect(a->n_fields == b->n_fields);
	expect(memcmp(a->fields, b->fields, a->n_fields * sizeof(*a->fields)) == 0);
	expect(are_equal(&a->head, &b->head) && are_equal(&a->body, &b->body));
}

static void check_bounds(const struct http_reader *reader)
{
	expect(reader->body.size <= limits.body_bytes);
	expect(reader->head.size <= limits.line_bytes + limits.header_bytes + HTTP_FIELDS_MAX + 8);
	expect((reader->state == HTTP_REFUSED) == (reader->reason != NULL));
	expect((reader->state == HTTP_REFUSED) == (reader->status >= 400));
}

/* A complete request must survive being written from its parts and read again. */
static void check_done(const struct http_reader *reader)
{
	struct http_reader again = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t consumed;

	buffer_printf(&text, "%s %s HTTP/1.1\r\nHost:%s\r\n", http_method(reader),
		http_target(reader), http_host(reader));
	if (reader->body.size > 0)
		buffer_printf(&text, "Content-Length: %zu\r\n", reader->body.size);
	buffer_append_string(&text, "\r\n");
	buffer_append(&text, reader->body.data, reader->body.size);
	http_reader_begin(&again, &limits);
	consumed = http_reader_feed(&again, text.data, text.size);
	if (again.state != HTTP_REFUSED) {
		expect(again.state == HTTP_DONE && consumed == text.size);
		expect(strcmp(http_method(&again), http_method(reader)) == 0);
		expect(strcmp(http_target(&again), http_target(reader)) == 0);
		expect(strcmp(http_host(&again), http_host(reader)) == 0);
		expect(are_equal(&again.body, &reader->body));
	} else {
		/* Only a bound may be passed, by a host that was part of the target. */
		expect(again.status == 431);
	}
	http_reader_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t steps[] = {SIZE_MAX, size > 0 ? data[0] % 32 + 2u : 2u, 1};
	struct http_reader readers[3] = {0};
	size_t consumed[3];

	if (size == 0)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		http_reader_begin(&readers[i], &limits);
		consumed[i] = feed_pieces(&readers[i], (const char *)data + 1, size - 1, steps[i]);
		check_bounds(&readers[i]);
		check_same(&readers[0], &readers[i]);
		expect(consumed[i] == consumed[0]);
	}
	if (readers[0].state == HTTP_DONE)
		check_done(&readers[0]);
	for (size_t i = 0; i < 3; i++)
		http_reader_deinit(&readers[i]);
	return 0;
}
