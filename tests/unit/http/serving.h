/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * A whole service with its HTTP door on a Unix socket, and a client of it, in one loop. JSON is
 * written with ' in place of ".
 *
 *   http_ask("GET /v1/tools", "", "") ──▶ socket ──▶ door ──▶ service ──▶ hosts
 */

/* For fixtures. The toolbox `libm` has sqrt (read) and pow (unrated); `libc` has wait, which is
 * slow. */
void serving_set_up(void);
void serving_tear_down(void);

/* Start with these members of `toolboxd` in the configuration: each begins with a comma. */
void serving_start(const char *members);

/* The same with these members of `http`, too. */
void serving_start_http(const char *http_members, const char *members);

/* From now on send requests over TCP with @token; NULL: over the Unix socket, without a token. No
 * process of the service itself, such as this test, counts as the operator there. */
#define OPERATOR_TOKEN "operator.0123456789"
#define GUEST_TOKEN    "guest.0123456789abc"
void serving_use_token(const char *token);

/* Send a request of @line (method and target), these header lines, each with its \r\n, and @body,
 * and wait for the whole response. Return its status. */
int http_ask(const char *line, const char *fields, const char *body);

/* The last response: all of it, NUL-terminated, and its body with chunks put together. */
extern char http_response[];
extern char http_body[];

/* Expect the status, and that the body is, or has, this JSON. */
void expect_answer(const char *line, int status, const char *body);
void expect_answer_part(const char *line, int status, const char *part);

/* Expect that the header of the last response has the line @field. */
void expect_field(const char *field);

/* Return how often this program has called fdatasync(), whose calls do nothing (mcp_sync.c). */
unsigned int n_fdatasyncs(void);

/* Begin a request, and return its connection; read what has come until @part is in it. */
int http_begin(const char *line, const char *fields, const char *body);
const char *http_read_until(int fd, const char *part);

/* Send these bytes, and return all that comes until the connection is closed. With http_raw() no
 * more bytes can follow, so that a request that is not whole ends. */
const char *http_raw(const char *bytes, size_t size);
const char *http_send(const char *bytes, size_t size);
