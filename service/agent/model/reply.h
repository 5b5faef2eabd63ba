/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * The answer of a model (OpenAI, Chat Completions), put together from the events of its stream, or
 * read from one object.
 *
 *   {"choices": [{"delta": {"content": "It is "}}]}                        text
 *   {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", …}]}}]}  a call begins
 *   {"choices": [{"delta": {"tool_calls": [{"index": 0, "function":
 *                                           {"arguments": "{\"x\":"}}]}}]}  … and goes on
 *   {"choices": [{"finish_reason": "tool_calls"}], "usage": {…}}            the end
 *   [DONE]
 *
 * All of it is hostile: each part has a bound, and an answer beyond a bound is a failure or loses
 * only the call that exceeds it.
 */

/* The most text of an answer, and the most arguments of a call, in bytes. */
#define REPLY_TEXT_BYTES      (1u << 20)
#define REPLY_ARGUMENTS_BYTES (256u << 10)

/* The most calls in an answer. */
#define REPLY_CALLS_MAX 128

/* The longest id and name of a call. */
#define REPLY_ID_BYTES   128
#define REPLY_NAME_BYTES 256

/* The longest reason of a failure, with its NUL. */
#define MODEL_REASON_BYTES 512

/* A call of a tool. The texts are empty until they come. */
struct reply_call {
	int64_t index; /* in the answer; -1: it has none */
	struct buffer id;
	struct buffer name;
	struct buffer arguments; /* as the model wrote them */
	bool is_oversized;       /* its arguments, name or id are longer than their bounds */
};

/* Tokens, by the count of a server. */
struct reply_usage {
	bool is_known;
	uint64_t prompt_tokens;
	uint64_t completion_tokens;
	uint64_t total_tokens;
};

/* A zeroed struct is an answer that has not begun. */
struct reply {
	const char *key; /* masked in reasons, borrowed; NULL: none */
	struct buffer text;
	struct reply_call *calls;
	size_t n_calls;
	unsigned int n_dropped; /* calls beyond REPLY_CALLS_MAX */
	struct reply_usage usage;
	bool has_begun;                  /* a choice has come */
	bool is_finished;                /* the server has sent a reason of the end, or [DONE] */
	bool is_cut;                     /* the reason is `length` */
	char reason[MODEL_REASON_BYTES]; /* after REPLY_E_WRONG, for a person */
};

/* A positive result: the answer cannot be used, for reply->reason. */
enum reply_status {
	REPLY_E_WRONG = 1,
};

/* Take the data of one event of the stream. Return 0, REPLY_E_WRONG or -ENOMEM. */
int reply_take_event(struct reply *reply, const char *data, size_t size);

/* Take a whole answer, without a stream. Return as reply_take_event(). */
int reply_take_whole(struct reply *reply, const char *json, size_t size);

/* Put asterisks in the place of the key @key, which a server may have in its error, in the @size
 * bytes of @text. NULL or "": there is no key. */
void reply_mask_key(const char *key, char *text, size_t size);

/* Write to @ret_reason the message in the error object @json, or the beginning of another text:
 * `HTTP 400: no such model`, with @key masked. @status: 0 when there is no status. */
void reply_describe_error(const char *key, long status, const char *json, size_t size,
	char ret_reason[MODEL_REASON_BYTES]);

/* Free all; the reply is zeroed. */
void reply_deinit(struct reply *reply);
