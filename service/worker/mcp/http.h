/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/client/client.h"
#include "mcp/client/events.h"
#include "util/buffer.h"
#include "worker/mcp/session.h"

/*
 * A server over HTTP, and its open requests.
 *
 *   http.c           the driver: what the end of a request means
 *   http_request.c   one request, from its headers to the bytes of its response
 *   http_problem.c   the reason for a missing response
 *   http_changes.c   the stream for notifications of the legacy era
 */

#define HTTP_EVENT_STREAM "text/event-stream"

/* The most bytes of a response or an event, and of all queued messages. */
#define HTTP_BYTES_MAX ((size_t)64 << 20)

/* The most redirects of one request. */
#define HTTP_REDIRECTS_MAX 3

struct http_message {
	uint64_t
		/* with whose events it came; 0: not with a request of the client */
		request_id;
	char *text;
	size_t size;
};

struct http_request {
	struct http *http;
	struct http_request *next;
	uint64_t id; /* 0: it expects no response */
	CURL *easy;
	struct curl_slist *headers;
	bool is_initialize;
	unsigned int n_notes; /* the count of the session when it was sent */
	uint64_t session;     /* the number of the session with whose id it was sent; 0: without an
	                   * id */
	bool is_stream;
	bool is_too_large; /* its response, or an event of it, is over HTTP_BYTES_MAX */
	bool is_legacy;
	unsigned int n_redirects;
	uint64_t resume_at_ms; /* when its events go on; 0: it is being sent */
	struct buffer body;
	struct mcp_events events;
	char error[CURL_ERROR_SIZE];
};

struct http {
	struct mcp_session session;
	CURLM *multi;
	struct http_request *requests;
	struct http_message *messages; /* in the order of arrival */
	size_t n_messages;
	size_t n_bytes; /* bytes of all messages */
	char *session_id;
	uint64_t n_sessions;   /* sessions forgotten, and 1 */
	struct buffer problem; /* why the last request had no response */
	bool is_forgotten;     /* since the server had forgotten its session */
	bool is_gone;          /* since it has not reached the server, or was refused by it */
	bool is_broken;        /* since it was sent, and its connection broke */
	bool is_too_large;     /* since the body was too large */

	struct http_request *changes; /* the stream for notifications; NULL: none, opened … */
	uint64_t changes_at_ms;       /* … at this moment; UINT64_MAX: never, as it was refused */
	uint64_t changes_wait_ms;
	uint64_t changes_began_ms; /* when its response did; 0: it has not */
	bool changes_have_begun;   /* the response to it has begun; not noted yet */
	struct buffer changes_id;  /* the id of its last event */
};

/* ── one request (http_request.c) ── */

/* Send the message of MCP_ACT_SEND. 0 or a negative errno. */
int http_request_post(struct http *http, const struct mcp_action *action);

/* Ask for notifications, after the event with the id @last_id, which may be empty. 0 or -ENOMEM. */
int http_request_changes(struct http *http, struct buffer *last_id);

/* End the session at a server of the legacy era, and wait a moment for the end. */
void http_request_delete(struct http *http);

/* Let the events of @request go on after a wait, if they have ended early; and go on. 0 or
 * -ENOMEM. */
void http_request_rest(struct http_request *request);
int http_request_resume(struct http_request *request);

/* Follow the redirect in the response to @request, if allowed. 1 if the request goes on; 0, or
 * -ENOMEM. */
int http_request_follow(struct http_request *request);

long http_request_status(const struct http_request *request);

/* Return whether the content of the response is of the type @wanted. */
bool http_request_is_type(const struct http_request *request, const char *wanted);

/* Return whether the body of @request is a response to it, or, with @may_lack_id, an error without
 * an id. */
bool http_request_has_response(const struct http_request *request, bool may_lack_id);

/* Note in @http why @request, ended with @code, has no response (http_problem.c). */
void http_problem_note(struct http *http, const struct http_request *request, CURLcode code);

/* Take @request out of http->requests. */
void http_request_unlink(struct http *http, const struct http_request *request);

/* Close the connection of @request and free it. Takes NULL. */
void http_request_free(struct http_request *request);

/* Close and free the request @id, if it exists. */
void http_request_close(struct http *http, uint64_t id);

/* ── the stream for notifications (http_changes.c) ── */

/* Open the stream if it is due. *due_ms: lowered to the moment when it will be. 0 or -ENOMEM. */
int http_changes_attend(struct http *http, uint64_t *due_ms);

/* Note the beginning of the response to http->changes, if there is one. */
void http_changes_note(struct http *http);

/* http->changes has ended, and is freed. @status: 0 without a response. */
void http_changes_end(struct http *http, long status);

/* The session is over, and its stream. */
void http_changes_stop(struct http *http);
