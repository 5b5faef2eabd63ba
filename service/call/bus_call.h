/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/text_list.h"

/*
 * How a message is a tool: the `bus` object of a tool (contract.md, Kind bus).
 *
 *   {"topic": "mycroft.volume.set", "session": "default",
 *    "data": {"percent": {"arg": "percent", "scale": 0.01}, "sender": "{who}"}, "reply": false}
 *
 *   arguments ──▶ data, context ──▶ messages ──▶ the bus ──▶ a reply ──▶ result, or error
 *                 templates                                               pointers
 *
 * A value of `data` and of `context` is a template:
 *
 *   "{who}"                          the argument as it is, with its type and its bytes
 *   "for {who}"                      the argument as text, inside of a string
 *   "{{who}"                         a brace that means itself; so does one without NAME}
 *   {"arg": "percent", "scale": N}   the argument times N, exact in decimal
 *
 * A member whose argument is absent is left out, and so is an element of an array. An argument that
 * is null counts as absent unless the schema requires it. Keys are never templates.
 *
 * The topic "$NAME" is the operator's: the setting NAME of the toolbox has it, and the topic of its
 * reply, for each tool (loader/operator/topics.h).
 */

/* The bounds of one tool. */
#define BUS_CALL_MESSAGES_MAX 16
#define BUS_CALL_TOPICS_MAX   8 /* replies, and collected messages */
#define BUS_CALL_LISTEN_MS    20000
#define BUS_CALL_SPEAKING_MS  60000 /* a part of the deadline: for speaking and listening */

/* One message to send. The tokens are of the tape of its struct bus_call. */
struct bus_message {
	char *topic;
	uint32_t data;    /* an object or a template; JSON_NONE: {} */
	uint32_t context; /* further members, an object; JSON_NONE: none */
};

/* One value found in a reply. */
struct bus_pointer {
	char *key;        /* the member of the result, as JSON text with its colon; NULL: none */
	char *at;         /* JSON Pointer (RFC 6901) */
	uint32_t scale;   /* token of the factor; JSON_NONE: none */
	bool is_optional; /* a reply without it is no failure */
};

struct bus_call {
	char *text;            /* compact JSON text of the whole object */
	struct json_tape tape; /* over @text */
	struct bus_message *messages;
	size_t n_messages;         /* 0: it asks a person */
	char *setting;             /* NAME of the setting with the topic; NULL: the author's */
	bool has_own_session;      /* "session": "default": not the caller's */
	uint32_t destination;      /* token of a string; JSON_NONE: none */
	struct text_list replies;  /* the topics of the reply; empty: no reply is awaited */
	struct text_list collects; /* topics of messages to collect until the reply */
	char *collect_at;          /* pointer into their data; "": all of it */
	bool is_unasked;
	char *condition;             /* `unless`, `when`: the deciding argument; NULL: none */
	uint32_t ask;                /* token of the text to speak; JSON_NONE: it sends messages */
	uint64_t listen_ms;          /* the time for an answer to begin */
	bool is_dangerous;           /* one of its topics is (call/bus_topics.h) */
	struct bus_pointer *results; /* one without a key: the pointed value is the result */
	size_t n_results;            /* 0: all of the reply's data */
	char *as;                    /* JSON text of the key for a result other than an object */
	char *error;                 /* pointer to what makes the call fail; NULL: none */
	struct text_list required;   /* arguments required by the schema */
};

/* Make the struct of the object at @object, which the reader of manifests has checked
 * (manifest/bus/bus.h). @destination: token of the toolbox in @tape, or JSON_NONE; @schema: token
 * of the argument schema, or JSON_NONE. NULL when memory is short. */
struct bus_call *bus_call_new(
	const struct json_tape *tape, uint32_t object, uint32_t destination, uint32_t schema);

/* Takes NULL. */
void bus_call_free(struct bus_call *call);

/* Give @call, which has a setting and no topic yet, the topic of the operator, and the topic of its
 * reply (NULL: none). 0 or -ENOMEM. */
int bus_call_set_topic(struct bus_call *call, const char *topic, const char *reply);

/* Append the object, as its package digests how the tool is run. */
void bus_call_write(const struct bus_call *call, struct buffer *out);

enum bus_piece_kind {
	BUS_PIECE_LITERAL,  /* bytes of JSON text */
	BUS_PIECE_ARGUMENT, /* the name of an argument */
};

/* A stretch of a template string. */
struct bus_piece {
	const char *text;
	size_t size;
	enum bus_piece_kind kind;
};

/* Take the next piece of the *size bytes at *template, the raw bytes of a JSON string, and move
 * both past it. Return false at the end. */
bool bus_call_next_piece(const char **template, size_t *size, struct bus_piece *ret_piece);

/* Return whether the string at @token is exactly one argument, and set @ret_piece to its name. */
bool bus_call_is_argument(
	const struct json_tape *tape, uint32_t token, struct bus_piece *ret_piece);

/* Return whether the value at @token has the form {"arg", "scale"}: an object with these two
 * members alone, and set the tokens of both. */
bool bus_call_is_scaled(
	const struct json_tape *tape, uint32_t token, uint32_t *ret_name, uint32_t *ret_scale);

/* Find the first argument at or after the key @key of the object at @object that cannot be
 * multiplied by its factor. Return its key, or the end of the object without one. */
uint32_t bus_call_next_refused(
	const struct bus_call *call, const struct json_tape *tape, uint32_t object, uint32_t key);

/* Append the data of @message, filled in with the object @arguments. */
void bus_call_write_data(const struct bus_call *call, const struct bus_message *message,
	const struct json_tape *arguments, struct buffer *out);

/* Append the members that @message adds to the context, each after a comma, likewise. */
void bus_call_write_context(const struct bus_call *call, const struct bus_message *message,
	const struct json_tape *arguments, struct buffer *out);

/* Append the text to speak as a JSON string. */
void bus_call_write_ask(
	const struct bus_call *call, const struct json_tape *arguments, struct buffer *out);

/* Return whether `unless` or `when`, if there is one, is true in @arguments, or absent. */
bool bus_call_condition_holds(const struct bus_call *call, const struct json_tape *arguments);

/* Append the result that @reply, an object, means, a JSON object. Return true, or false with why
 * the call failed, UTF-8, in @out instead: the reply has an error, or lacks a value. Memory is
 * short: see buffer_status(). */
bool bus_call_write_result(
	const struct bus_call *call, const struct json_tape *reply, struct buffer *out);

CLEANUP_DEFINE(bus_call, struct bus_call *, bus_call_free)
