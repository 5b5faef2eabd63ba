/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/reply.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * A server of a model: `POST BASE_URL/chat/completions` by libcurl, streaming, on the loop.
 *
 *   model_ask ─▶ try ──▶ bytes ──▶ reply ──▶ text() as it comes ──▶ done()
 *                 │▲       └─ none for MODEL_STALL_MS after the first: failed
 *                 ▼│
 *                wait: 0.5 s, 1 s, or Retry-After; after a failed connection, 429 and 5xx, and only
 *                while no byte of an answer has come
 *
 *   three tries without a connection ─▶ away: requests fail at once, until a pause is over that
 *                                       doubles from MODEL_PAUSE_MS to MODEL_PAUSE_MAX_MS
 *
 * A request asks for a stream; an answer that is one object is understood, too. Redirections are
 * not followed, and no proxy is used but the configured one.
 */
struct model;
struct model_request;

/* The most tries of one request, and the longest wait by Retry-After. */
#define MODEL_TRIES        3
#define MODEL_RETRY_MAX_MS 10000

/* The longest silence in a begun answer. */
#define MODEL_STALL_MS 20000

/* The time for a connection. */
#define MODEL_CONNECT_MS 5000

/* The pauses of an absent server. */
#define MODEL_PAUSE_MS     1000
#define MODEL_PAUSE_MAX_MS 30000

/* The most bytes of an answer, and of one event. */
#define MODEL_RESPONSE_BYTES (8u << 20)
#define MODEL_EVENT_BYTES    (1u << 20)

/* All borrowed for the life of the model. */
struct model_settings {
	const char *base_url;
	const char *key;   /* a Bearer token; NULL: none */
	const char *proxy; /* NULL: none */
};

enum model_end {
	MODEL_ANSWERED,
	MODEL_AWAY,   /* there is no server */
	MODEL_FAILED, /* it refused, or its answer cannot be used */
};

/* The end of a request. Valid until the function that receives it returns. */
struct model_outcome {
	enum model_end end;
	struct reply *reply; /* the answer so far; the function may take it out */
	const char *reason;  /* a reason of the failure, for a person */
};

struct model_handler {
	/* Take a part of the answer's text. Must not free the request. */
	void (*text)(void *data, const char *text, size_t size);

	/* Take the end, once. The request may be freed. */
	void (*done)(void *data, const struct model_outcome *outcome);
};

/* Create a client. Return 0; -ENOMEM; or -ENOSYS with *ret_reason when there is no libcurl. */
int model_new(struct loop *loop, const struct model_settings *settings, struct model **ret_model,
	const char **ret_reason);

/* Free @model, which may be NULL, after its requests. */
void model_free(struct model *model);

/* Send a request. @body, taken over, is the text of an object without its closing brace: the
 * members about streams are added. @handler gets @data, later, from the loop. Return NULL without
 * memory. */
struct model_request *model_ask(
	struct model *model, struct buffer *body, const struct model_handler *handler, void *data);

/* End the request, and its connection if there is no outcome yet. Takes NULL. */
void model_request_free(struct model_request *request);

/* Return whether the server has answered anything in the last @within_ms. */
bool model_was_reachable(const struct model *model, uint64_t within_ms);

/* Look whether the server is there, unless such a look is under way (`GET BASE_URL/models`). */
void model_probe(struct model *model);

CLEANUP_DEFINE(model, struct model *, model_free)
