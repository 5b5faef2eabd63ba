/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "message/envelope.h"
#include "catalogue/arguments.h"
#include "config/config.h"
#include "core/request/address.h"
#include "core/request/request.h"
#include "core/request/request_text.h"
#include "core/request/trace.h"
#include "regex/regex.h"
#include "schema/schema.h"

struct waiting_request;

/*
 * The scope of one request: the message being served, and the memory for serving it.
 *
 *   text ─▶ envelope ─▶ request ─▶ arguments
 *           all of it   its fields  of a call, checked with context
 *
 *   address, else the context of the message ─▶ caller
 *
 * Requests are served one at a time, so the service has one scope, and every request uses the
 * memory of the request before. The requests of all doors fill the scope alike. Its texts point
 * into the text of the door: a handler that keeps anything beyond its return makes a copy.
 */
struct request_scope {
	struct bus_envelope envelope;
	struct request_text text;       /* borrowed */
	uint64_t reading_ns;            /* the thread's time for reading it, if long; else 0 */
	struct address *address;        /* borrowed; NULL: its answer goes to the bus */
	struct waiting_request *waited; /* the request in the waiting room; NULL: never there */
	const struct tool *checked;     /* the tool for which @arguments are checked already; or
	                              * NULL */
	int checking;                   /* the result: see arguments_check() */
	bool is_beside;                 /* it was read, and checked, beside the loop */
	unsigned int fields;            /* that its topic reads */
	struct request request;      /* the fields declared by the topic (core/request/topics.c) */
	struct policy_caller caller; /* the caller of this request */
	struct buffer caller_texts[REQUEST_CALLER_TEXTS]; /* its decoded texts, if they had
	                                                   * escapes */
	const struct catalogue *view;                     /* the tools permitted to the caller */
	struct arguments arguments;                       /* after arguments_check() */
	struct schema_context *context;                   /* memory for validating */
	struct regex_scratch *scratch;                    /* memory for matching triggers */
};

/* Make @scope (zeroed) ready; patterns and checks take at most what @limits allow. Returns 0 or
 * -ENOMEM; request_scope_deinit() frees what was made in either case. */
int request_scope_init(struct request_scope *scope, const struct config_limits *limits);

/* Write the request's values for a cancel to @call_id and @source, as JSON; nothing for an absent
 * value. */
static inline void request_scope_keep_origin(
	const struct request_scope *scope, struct buffer *call_id, struct buffer *source)
{
	const struct request *request = &scope->request;
	const struct text_view *text = &scope->caller.source;

	request_keep_value(request->data, request->call_id, call_id);
	if (text->text)
		request_keep_text(text, source);
	else
		request_keep_value(&scope->envelope.context, request->origin, source);
}

/* Append the trace of the request (core/request/trace.h): nothing for a request without one. */
static inline void request_scope_write_trace(const struct request_scope *scope, struct buffer *out)
{
	const struct json_tape *context = &scope->envelope.context;

	if (address_names_caller(scope->address))
		buffer_append(out, scope->address->trace.text, scope->address->trace.size);
	else if (context->count > 0 && trace_is_in(context, 0))
		trace_write_members(context, 0, out);
}

/* Append the caller as an object for the host of a tool of an asking kind: {"call_id",
 * "session_id", "lang", "source"}, strings or null, and the members of @trace. @call_id,
 * @session_id: JSON text, empty for null. */
void request_scope_write_caller(const struct request_scope *scope, const struct buffer *call_id,
	const struct buffer *session_id, const struct buffer *trace, struct buffer *out);

/* Append the caller as an object for messages on its behalf: {"session", "lang"}, the session as it
 * came and a string, or null, and the members of @trace. */
void request_scope_write_session(
	const struct request_scope *scope, const struct buffer *trace, struct buffer *out);

/* Return the language of the request in @scope: its `lang`, else its session's, else @usual (NULL:
 * none is configured), else SPOKEN_LANGUAGE. */
struct text_view request_scope_language(const struct request_scope *scope, const char *usual);

/* Free the memory of @scope. */
void request_scope_deinit(struct request_scope *scope);
