/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * The reader of one request of HTTP/1.1 or 1.0 (RFC 9112), for bytes from anybody on the internet.
 *
 *   REQUEST_LINE ─▶ FIELDS ─┬─ no body ────────────────────────────────▶ DONE
 *                           ├─ Content-Length ─▶ SIZED ────────────────▶ DONE
 *                           └─ chunked ─▶ CHUNK_SIZE ⇄ CHUNK ─▶ TRAILERS ─▶ DONE
 *        any rule broken ─▶ REFUSED, with the status and the reason for a response
 *
 * The outcome is a function of the bytes, and of the caller's room for a body: it does not depend
 * on the pieces of their arrival. The reader refuses every request with two possible readings: a
 * line without CR LF at its end, a folded line, white space before a colon, a second Host or
 * Content-Length, a length beside a transfer coding, a transfer coding in HTTP/1.0, and a version
 * other than HTTP/1.1 and 1.0. A request of HTTP/1.0 may lack Host.
 */

struct http_limits {
	size_t line_bytes;   /* longest request line, longest field, longest line of a chunk */
	size_t header_bytes; /* all fields, trailers and chunk extensions together */
	size_t body_bytes;
};

/* The most fields of a request. */
#define HTTP_FIELDS_MAX 64

enum http_state {
	HTTP_REQUEST_LINE,
	HTTP_FIELDS,
	HTTP_SIZED,
	HTTP_CHUNK_SIZE,
	HTTP_CHUNK,
	HTTP_CHUNK_END,
	HTTP_TRAILERS,
	HTTP_DONE,
	HTTP_REFUSED,
};

/* A field, as offsets into the text of the head. Both texts are NUL-terminated there. */
struct http_field {
	size_t name;
	size_t value; /* without white space around it */
};

struct http_reader {
	struct http_limits limits;
	enum http_state state;
	struct buffer head; /* the lines so far, each NUL-terminated */
	size_t line;        /* start of the present line */
	bool has_cr;        /* the last byte was the CR at the end of a line */
	bool has_empty;     /* an empty line came before the request line */
	bool is_old;        /* the version is HTTP/1.0 */
	size_t used;        /* bytes that count towards limits.header_bytes */
	size_t method;
	size_t target; /* the path and query; of an absolute target without its authority */
	size_t host;   /* the value of Host, or the authority of an absolute target; "": neither */
	struct http_field fields[HTTP_FIELDS_MAX];
	unsigned int n_fields;
	size_t left; /* missing bytes of the body or chunk */
	/* the room for the body now; the caller may set it before each http_reader_feed() */
	size_t room;
	struct buffer body;
	unsigned int status; /* after a refusal: the status code of the response */
	const char *reason;  /* after a refusal: a sentence, a constant text */
};

/* Begin reading a request, with room for any body. @reader is zeroed or was used before. */
void http_reader_begin(struct http_reader *reader, const struct http_limits *limits);

/* Free the memory of @reader, which may be zeroed. */
void http_reader_deinit(struct http_reader *reader);

/* Read on. A body larger than the room, announced or real, is refused with 503 before it is kept.
 * Return how many of the @size bytes belong to the request: all, until the state is HTTP_DONE or
 * HTTP_REFUSED. */
size_t http_reader_feed(struct http_reader *reader, const char *bytes, size_t size);

/* Return whether the request is complete or refused. */
static inline bool http_reader_is_over(const struct http_reader *reader)
{
	return reader->state == HTTP_DONE || reader->state == HTTP_REFUSED;
}

/* The parts of a complete request. The texts live as long as the reader. */
static inline const char *http_method(const struct http_reader *reader)
{
	return reader->head.data + reader->method;
}

static inline const char *http_target(const struct http_reader *reader)
{
	return reader->head.data + reader->target;
}

static inline const char *http_host(const struct http_reader *reader)
{
	return reader->head.data + reader->host;
}

/* Return the value of the field @name (in any case), or NULL. @ret_count (may be NULL): the number
 * of fields with this name; the value is the first field's. */
const char *http_field(const struct http_reader *reader, const char *name, unsigned int *ret_count);

/* Return the value of the last field @name (in any case) before the field *@at, and set *@at to it;
 * or NULL. Begin with *@at n_fields. */
const char *http_field_before(const struct http_reader *reader, const char *name, unsigned int *at);

/* Return whether a field @name lists @element (RFC 9110 §5.3: the lists of several fields are one
 * list). */
bool http_field_has(const struct http_reader *reader, const char *name, const char *element);

/* Return whether a field Accept lists the media type @type, whatever its parameters, with a weight
 * above zero (RFC 9110 §12.5.1). Wildcards do not count. */
bool http_accepts(const struct http_reader *reader, const char *type);
