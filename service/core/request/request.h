/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "message/envelope.h"
#include "catalogue/definition.h"
#include "config/config.h"
#include "core/request/answer.h"
#include "util/buffer.h"
#include "util/stringify.h"
#include "util/text/text_view.h"
#include "util/text/utf8.h"

/*
 * The fields of a request's data (contract.md, Requests): read from the tape and checked for their
 * types; null is the same as absent.
 */

struct catalogue;
struct offer;
struct policy_caller;
struct tool;

#define REQUEST_CALL_ID_BYTES 128
#define REQUEST_SECONDS_MAX   300
#define REQUEST_NAME_POINTS   128 /* the most code points of a name in a text */
#define REQUEST_CALLS_MAX     32  /* the entries of a batch */

/* The optional fields read by a topic; it ignores others. */
#define REQUEST_OWNER     (REQUEST_TOOLBOX | REQUEST_PROFILE)
#define REQUEST_PROFILE   0x1u     /* profile */
#define REQUEST_CALL      0x2u     /* args, call_id, timeout_ms */
#define REQUEST_FORMAT    0x4u     /* format */
#define REQUEST_PERSONA   0x8u     /* kwargs */
#define REQUEST_TOOLBOX   0x80u    /* toolbox_id */
#define REQUEST_CALL_ID   0x10u    /* call_id or id: either */
#define REQUEST_SECONDS   0x20u    /* seconds, required */
#define REQUEST_UTTERANCE 0x40u    /* utterance, required; lang, speak */
#define REQUEST_ANSWER    0x100u   /* id and decision, required; reason, proof */
#define REQUEST_ATTACH    0x200u   /* seconds, required, may be 0; proof */
#define REQUEST_HISTORY   0x400u   /* name, source: strings; state, since_s, limit */
#define REQUEST_DEADLINE  0x800u   /* deadline */
#define REQUEST_AFTER     0x1000u  /* after */
#define REQUEST_QUERY     0x2000u  /* query, required; limit */
#define REQUEST_BATCH     0x4000u  /* calls, on_denied: beside them no name */
#define REQUEST_ENTRY     0x8000u  /* refuse members that only a whole batch may have */
#define REQUEST_TOOLBOXES 0x10000u /* toolboxes */
#define REQUEST_JOB       0x20000u /* job_id, required; wait_ms */

#define REQUEST_LIMIT_DEFAULT 100
#define REQUEST_LIMIT_MAX     1000

#define REQUEST_FOUND_DEFAULT 8    /* the limit of a search */
#define REQUEST_QUERY_BYTES   4096 /* the longest query */
#define REQUEST_QUERY_EXPECTED                                                                     \
	"a text of 1 to " STRINGIFY(REQUEST_QUERY_BYTES) " bytes with a letter or a digit"

struct request {
	const struct json_tape *data;
	const struct json_tape *args_tape; /* that has `args` or `kwargs`; NULL: absent */
	uint32_t args;                     /* its token there */
	uint32_t origin;  /* token of the source in the context, after request_read_caller(); or
			    JSON_NONE */
	uint32_t name;    /* token, JSON_NONE: absent */
	uint32_t call_id; /* token of a string, JSON_NONE: absent */
	uint32_t calls;   /* token of the entries of a batch, objects; JSON_NONE: absent */
	bool goes_on;     /* a batch: a denial skips nothing */
	struct text_view name_text; /* the value of a name of type string, else its JSON text */
	struct text_view toolbox_id;
	struct text_view profile;
	struct text_view utterance;
	struct text_view query;
	struct text_view lang;     /* a language tag */
	struct text_view source;   /* the calls', not the request's */
	struct text_view id;       /* an approval's, a call's or a job's */
	struct text_view decision; /* "once", "session" or "deny" */
	struct text_view reason;
	struct text_view proof;
	bool name_is_string;
	enum definition_format format;
	uint64_t timeout_ms; /* 0: absent */
	int state;           /* enum summary_state of calls; negative: any */
	bool has_since;
	double since_s;
	uint64_t limit;
	uint64_t after; /* the number of a question; 0: before the first one */
	bool wants_progress;
	bool wants_speech;  /* speak */
	bool is_background; /* a job is asked for */
	uint64_t wait_ms;
	bool wants_deadline;
	bool wants_toolboxes;
	uint64_t seconds;      /* 1 (of REQUEST_ATTACH: 0) to REQUEST_SECONDS_MAX */
	const char *bad_field; /* after a refusal: the name of the field, and its expected value */
	const char *bad_expected;
	struct buffer decoded[12]; /* the decoded strings, if they had escapes; kept for the next
		              * request */
};

/*
 * Read `name` and the @fields asked for from @envelope into @request (zeroed, or used before);
 * texts point into the frame, or into the request. True when all is well; else
 * request_write_refusal() writes the reason. The readable fields are set in any case.
 */
bool request_read(
	struct request *request, const struct bus_envelope *envelope, unsigned int fields);

/* Return whether @request, which was read, is for several calls. */
static inline bool request_is_batch(const struct request *request)
{
	return request->calls != JSON_NONE;
}

/* Members that an entry of a batch may not have; NULL ends the list. */
extern const char *const request_not_in_entries[];

/* Return the tape of the arguments of @envelope, whose topic reads @fields, with their token; NULL
 * without arguments. */
const struct json_tape *request_find_args(
	const struct bus_envelope *envelope, unsigned int fields, uint32_t *ret_token);

/* Read the source, session_id and site_id of @envelope into @request and into @caller, whose door
 * is set; texts with escapes are decoded into @decoded, a buffer for each. Texts point into the
 * frame, or there. On the bus, a source that begins like an identity of HTTP counts as absent:
 * every client could claim it. */
#define REQUEST_CALLER_TEXTS 3
void request_read_caller(struct request *request, const struct bus_envelope *envelope,
	struct buffer decoded[REQUEST_CALLER_TEXTS], struct policy_caller *caller);

/* Write the error of a request refused by request_read(), or malformed: bad_request, or
 * too_large. */
void request_write_refusal(const struct request *request, const struct bus_envelope *envelope,
	const struct config_limits *limits, struct answer *answer);

/* Write the first members of an answer to a call: `name` as it came ("" when it is absent; none for
 * a batch), and `call_id`. Both stay, whatever is written after them. */
void request_write_echo(const struct request *request, struct answer *answer);

/* Put the JSON text of the value at @token in place of what is in @out; nothing when there is none.
 * A string has one text, however escaped: clients differ in their escapes. */
void request_keep_value(const struct json_tape *tape, uint32_t token, struct buffer *out);

/* Put @text as JSON in place of what is in @out; nothing when it is absent. */
void request_keep_text(const struct text_view *text, struct buffer *out);

/* Free the memory of @request. */
void request_deinit(struct request *request);

/* Return the decoded text of the string at @token: in the frame itself when it has no escapes, else
 * in @decoded. */
struct text_view request_text_at(
	const struct json_tape *tape, uint32_t token, struct buffer *decoded);

/* Return the precision for cutting @name to REQUEST_NAME_POINTS in a "%.*s" of printf. */
static inline int request_name_length(const struct text_view *name)
{
	return (int)utf8_prefix(name->text, name->size, REQUEST_NAME_POINTS);
}

/* Find the tool named by @request in @view, its caller's view. @last_wins: `duplicate_names` is
 * "last". Returns true with *ret_tool set; else false, with the error written to @answer:
 * missing_name, unavailable (closed), unknown_tool (with similar names) or ambiguous_tool. */
bool request_find_tool(const struct offer *offer, const struct catalogue *view,
	const struct request *request, bool last_wins, struct answer *answer,
	const struct tool **ret_tool);

/* Return the tool seen now by @caller under the name of @tool, which may be of an earlier
 * catalogue; NULL: none, with the error written to @answer unless @answer is NULL. */
const struct tool *request_find_tool_again(const struct offer *offer,
	const struct policy_caller *caller, const struct tool *tool, struct answer *answer);
