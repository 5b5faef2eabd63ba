/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request.h"

#include <stdio.h>
#include <string.h>

#include "catalogue/definition.h"
#include "core/history/call_summary.h"
#include "core/request/errors.h"
#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "offer/offer.h"
#include "policy/caller.h"
#include "search/rank.h"
#include "util/array.h"
#include "util/stringify.h"
#include "util/text/utf8.h"

enum decoded_slot {
	SLOT_NAME,
	SLOT_TOOLBOX_ID,
	SLOT_PROFILE,
	SLOT_CALL_ID,
	SLOT_UTTERANCE,
	SLOT_ID,
	SLOT_DECISION,
	SLOT_REASON,
	SLOT_PROOF,
	SLOT_SOURCE,
	SLOT_STATE,
	SLOT_LANG,
};

void request_deinit(struct request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(request->decoded); i++)
		buffer_deinit(&request->decoded[i]);
}

struct text_view request_text_at(
	const struct json_tape *tape, uint32_t token, struct buffer *decoded)
{
	const struct json_token *string = json_at(tape, token);

	if (!(string->flags & JSON_ESCAPED))
		return (struct text_view){json_bytes(tape, token), string->length};
	buffer_reset(decoded);
	json_string_decode(tape, token, decoded);
	return buffer_view(decoded);
}

static bool refuse_field(struct request *request, const char *field, const char *expected)
{
	request->bad_field = field;
	request->bad_expected = expected;
	return false;
}

/* Read the text @key. Mostly it is absent: inlined, that is seen by a constant bit of the key. */
static inline bool read_text(struct request *request, const char *key, enum decoded_slot slot,
	struct text_view *ret_text)
{
	uint32_t token = json_find_root(request->data, key);

	if (token == JSON_NONE)
		return true;
	if (json_type_at(request->data, token) != JSON_STRING)
		return refuse_field(request, key, "a string");
	*ret_text = request_text_at(request->data, token, &request->decoded[slot]);
	return true;
}

static bool read_call_id(struct request *request)
{
	static const char expected[] =
		"a string of at most " STRINGIFY(REQUEST_CALL_ID_BYTES) " bytes";
	uint32_t token = json_find_root(request->data, "call_id");
	struct text_view text;

	if (token == JSON_NONE)
		return true;
	if (json_type_at(request->data, token) != JSON_STRING)
		return refuse_field(request, "call_id", expected);
	text = request_text_at(request->data, token, &request->decoded[SLOT_CALL_ID]);
	if (text.size > REQUEST_CALL_ID_BYTES)
		return refuse_field(request, "call_id", expected);
	request->call_id = token;
	return true;
}

/* Read `call_id` or `id`, which names a call. */
static bool read_which_call(struct request *request)
{
	if (!read_call_id(request) || !read_text(request, "id", SLOT_ID, &request->id))
		return false;
	if (request->call_id == JSON_NONE && !request->id.text)
		return refuse_field(request, "call_id",
			"a string of at most " STRINGIFY(
				REQUEST_CALL_ID_BYTES) " bytes, unless there is an 'id'");
	return request->call_id == JSON_NONE || !request->id.text ||
	       refuse_field(request, "id", "absent beside a 'call_id'");
}

static bool read_state(struct request *request)
{
	static const char expected[] = "\"running\", \"done\" or \"failed\"";
	struct text_view text = {0};

	if (!read_text(request, "state", SLOT_STATE, &text))
		return refuse_field(request, "state", expected);
	if (!text.text)
		return true;
	for (int i = 0; call_summary_state_names[i]; i++)
		if (text_view_is(text, call_summary_state_names[i]))
			request->state = i;
	return request->state >= 0 || refuse_field(request, "state", expected);
}

static bool read_since_s(struct request *request)
{
	uint32_t token = json_find_root(request->data, "since_s");

	if (token == JSON_NONE)
		return true;
	request->has_since =
		json_read_f64(request->data, token, &request->since_s) && request->since_s >= 0;
	return request->has_since ||
	       refuse_field(request, "since_s", "a number of seconds, at least 0");
}

static bool read_limit(struct request *request, uint64_t most, const char *expected)
{
	uint32_t token = json_find_root(request->data, "limit");

	if (token == JSON_NONE)
		return true;
	return (json_read_u64(request->data, token, &request->limit) && request->limit >= 1 &&
		       request->limit <= most) ||
	       refuse_field(request, "limit", expected);
}

/* Read which of the calls of the history are meant. */
static bool read_history(struct request *request)
{
	if (request->name != JSON_NONE && !request->name_is_string)
		return refuse_field(request, "name", "a string");
	return read_text(request, "source", SLOT_SOURCE, &request->source) && read_state(request) &&
	       read_since_s(request) &&
	       read_limit(request, REQUEST_LIMIT_MAX,
		       "an integer from 1 to " STRINGIFY(REQUEST_LIMIT_MAX));
}

/* Read where a page begins. */
static bool read_after(struct request *request)
{
	uint32_t token = json_find_root(request->data, "after");

	return token == JSON_NONE || json_read_u64(request->data, token, &request->after) ||
	       refuse_field(request, "after", "the integer 'next' of an earlier response");
}

/* Read the field @key, an integer of milliseconds, at least @least. One that is too large to be
 * counted becomes the largest; an absent one leaves *ret_ms unchanged. */
static bool read_ms(struct request *request, const char *key, uint64_t least, uint64_t *ret_ms,
	const char *expected)
{
	uint32_t token = json_find_root(request->data, key);
	bool is_number;
	int r;

	if (token == JSON_NONE)
		return true;
	is_number = json_type_at(request->data, token) == JSON_NUMBER;
	r = is_number ? json_number_u64(request->data, token, ret_ms) : 0;
	if (r == JSON_E_RANGE && *json_bytes(request->data, token) != '-') {
		*ret_ms = UINT64_MAX;
		r = 0;
	}
	return (is_number && r == 0 && *ret_ms >= least) || refuse_field(request, key, expected);
}

/* Read the field @key, true or false; false when it is absent. Inlined as read_text(). */
static inline bool read_flag(struct request *request, const char *key, bool *ret_flag)
{
	uint32_t token = json_find_root(request->data, key);

	if (token == JSON_NONE)
		return true;
	*ret_flag = json_type_at(request->data, token) == JSON_TRUE;
	return *ret_flag || json_type_at(request->data, token) == JSON_FALSE ||
	       refuse_field(request, key, "true or false");
}

static bool read_seconds(struct request *request, uint64_t least, const char *expected)
{
	uint32_t token = json_find_root(request->data, "seconds");

	if (!json_read_u64(request->data, token, &request->seconds) || request->seconds < least ||
		request->seconds > REQUEST_SECONDS_MAX)
		return refuse_field(request, "seconds", expected);
	return true;
}

static bool read_utterance(struct request *request)
{
	return read_text(request, "utterance", SLOT_UTTERANCE, &request->utterance) &&
	       (request->utterance.text || refuse_field(request, "utterance", "a string")) &&
	       read_text(request, "lang", SLOT_LANG, &request->lang) &&
	       read_flag(request, "speak", &request->wants_speech);
}

static bool read_query(struct request *request)
{
	request->limit = REQUEST_FOUND_DEFAULT;
	if (!read_text(request, "query", SLOT_UTTERANCE, &request->query) ||
		request->query.size == 0 || request->query.size > REQUEST_QUERY_BYTES)
		return refuse_field(request, "query", REQUEST_QUERY_EXPECTED);
	return read_limit(
		request, RANK_LIMIT_MAX, "an integer from 1 to " STRINGIFY(RANK_LIMIT_MAX));
}

static bool read_decision(struct request *request)
{
	static const char expected[] = "\"once\", \"session\" or \"deny\"";
	const struct text_view *decision = &request->decision;

	if (!read_text(request, "decision", SLOT_DECISION, &request->decision))
		return refuse_field(request, "decision", expected);
	return (decision->text &&
		       (text_view_is(*decision, "once") || text_view_is(*decision, "session") ||
			       text_view_is(*decision, "deny"))) ||
	       refuse_field(request, "decision", expected);
}

/* Read the fields of an answer to a question. */
static bool read_answer(struct request *request)
{
	return read_text(request, "id", SLOT_ID, &request->id) &&
	       (request->id.text || refuse_field(request, "id", "a string")) &&
	       read_decision(request) &&
	       read_text(request, "reason", SLOT_REASON, &request->reason) &&
	       read_text(request, "proof", SLOT_PROOF, &request->proof);
}

static bool read_attach(struct request *request)
{
	return read_seconds(request, 0, "an integer from 0 to " STRINGIFY(REQUEST_SECONDS_MAX)) &&
	       read_text(request, "proof", SLOT_PROOF, &request->proof);
}

static bool read_format(struct request *request)
{
	struct text_view text = {0};
	int format;

	if (!read_text(request, "format", SLOT_PROFILE, &text))
		return false;
	if (!text.text)
		return true;
	format = definition_format_from_name(text.text, text.size);
	if (format < 0)
		return refuse_field(request, "format", DEFINITION_FORMATS);
	request->format = (enum definition_format)format;
	return true;
}

static void read_name(struct request *request)
{
	request->name = json_find_root(request->data, "name");
	request->name_is_string = request->name != JSON_NONE &&
				  json_type_at(request->data, request->name) == JSON_STRING;
	if (request->name_is_string)
		request->name_text =
			request_text_at(request->data, request->name, &request->decoded[SLOT_NAME]);
	else if (request->name != JSON_NONE)
		request->name_text.text =
			json_value_text(request->data, request->name, &request->name_text.size);
}

static void reset_request(struct request *request, const struct json_tape *data)
{
	request->data = data;
	request->name = request->call_id = request->origin = request->calls = JSON_NONE;
	request->args_tape = NULL;
	request->name_text = request->toolbox_id = request->profile = (struct text_view){0};
	request->utterance = request->id = request->decision = (struct text_view){0};
	request->query = (struct text_view){0};
	request->reason = request->proof = request->source = (struct text_view){0};
	request->lang = (struct text_view){0};
	request->has_since = false;
	request->state = -1;
	request->limit = REQUEST_LIMIT_DEFAULT;
	request->format = DEFINITION_FULL;
	request->timeout_ms = 0;
	request->wants_progress = request->wants_deadline = request->wants_toolboxes =
		request->wants_speech = false;
	request->is_background = false;
	request->wait_ms = 0;
	request->bad_field = request->bad_expected = NULL;
}

/* Return the token of the call_id of the entry at @entry of a batch; JSON_NONE: it has none. Return
 * false when it is no good id. */
static bool read_entry_id(struct request *request, uint32_t entry, uint32_t *ret_id)
{
	const struct json_tape *data = request->data;

	*ret_id = json_find_present(data, entry, "call_id");
	return *ret_id == JSON_NONE ||
	       (json_type_at(data, *ret_id) == JSON_STRING &&
		       request_text_at(data, *ret_id, &request->decoded[SLOT_ID]).size <=
			       REQUEST_CALL_ID_BYTES);
}

/* Return whether the ids of the entries @a and @b of a batch are equal. An entry without an id has
 * its number. */
static bool have_one_id(
	const struct json_tape *data, const uint32_t ids[REQUEST_CALLS_MAX], uint32_t a, uint32_t b)
{
	uint32_t with = ids[a] != JSON_NONE ? a : b;
	char number[12];

	if (ids[a] != JSON_NONE && ids[b] != JSON_NONE)
		return json_strings_equal(data, ids[a], data, ids[b]);
	/* Numbers of entries differ. */
	if (ids[with] == JSON_NONE)
		return false;
	snprintf(number, sizeof(number), "%u", with == a ? b : a);
	return json_is_text(data, ids[with], number);
}

/* Read the entries of a batch: objects, each with an id of its own. */
static bool read_entries(struct request *request)
{
	static const char calls[] = "an array of 1 to " STRINGIFY(REQUEST_CALLS_MAX) " objects";
	static const char id[] = "a string of at most " STRINGIFY(
		REQUEST_CALL_ID_BYTES) " bytes, another one in each entry of 'calls'";
	const struct json_tape *data = request->data;
	uint32_t ids[REQUEST_CALLS_MAX];
	uint32_t n = 0;

	if (json_type_at(data, request->calls) != JSON_ARRAY ||
		json_count(data, request->calls) - 1 >= REQUEST_CALLS_MAX)
		return refuse_field(request, "calls", calls);
	json_each(entry, data, request->calls) {
		if (json_type_at(data, entry) != JSON_OBJECT)
			return refuse_field(request, "calls", calls);
		if (!read_entry_id(request, entry, &ids[n]))
			return refuse_field(request, "call_id", id);
		for (uint32_t i = 0; i < n; i++)
			if (have_one_id(data, ids, i, n))
				return refuse_field(request, "call_id", id);
		n++;
	}
	return true;
}

static bool read_on_denied(struct request *request)
{
	struct text_view text = {0};

	request->goes_on = false;
	if (!read_text(request, "on_denied", SLOT_ID, &text))
		return refuse_field(request, "on_denied", "\"stop\" or \"continue\"");
	request->goes_on = text.text && text_view_is(text, "continue");
	return !text.text || request->goes_on || text_view_is(text, "stop") ||
	       refuse_field(request, "on_denied", "\"stop\" or \"continue\"");
}

/* Read which job is meant, and for how long its end is waited for. */
static bool read_job(struct request *request)
{
	if (!read_text(request, "job_id", SLOT_ID, &request->id) || !request->id.text)
		return refuse_field(request, "job_id", "a string");
	return read_ms(request, "wait_ms", 0, &request->wait_ms,
		"an integer, in milliseconds, at least 0");
}

/* Read `background`; and `calls` and `on_denied`, if the request is a batch. */
static bool read_batch(struct request *request)
{
	if (!read_flag(request, "background", &request->is_background))
		return false;
	request->calls = json_find_root(request->data, "calls");
	if (request->calls == JSON_NONE)
		return true;
	if (request->name != JSON_NONE)
		return refuse_field(request, "name", "absent beside 'calls'");
	if (request->is_background)
		return refuse_field(request, "background", "absent beside 'calls'");
	return read_entries(request) && read_on_denied(request);
}

const char *const request_not_in_entries[] = {"background", "calls", "profile", "progress", NULL};

static bool refuse_in_entry(struct request *request)
{
	for (const char *const *key = request_not_in_entries; *key; key++)
		if (json_find_root(request->data, *key) != JSON_NONE)
			return refuse_field(request, *key, "absent in an entry of 'calls'");
	return true;
}

static bool read_call_fields(struct request *request)
{
	bool is_good = read_call_id(request);

	is_good = read_flag(request, "progress", &request->wants_progress) && is_good;
	return read_ms(request, "timeout_ms", 1, &request->timeout_ms,
		       "a positive integer, in milliseconds") &&
	       is_good;
}

const struct json_tape *request_find_args(
	const struct bus_envelope *envelope, unsigned int fields, uint32_t *ret_token)
{
	const struct json_tape *data = &envelope->data;
	const struct json_tape *apart = envelope->given ? envelope->given : &envelope->args;

	if (envelope->has_args || envelope->given) {
		*ret_token = envelope->given ? envelope->given_token : 0;
		return json_type_at(apart, *ret_token) == JSON_NULL ? NULL : apart;
	}
	*ret_token = fields & REQUEST_PERSONA ? json_find_root(data, "kwargs")
					      : json_find_root(data, "args");
	return *ret_token == JSON_NONE ? NULL : data;
}

/* Read what an answer repeats of a request whose data cannot be used. Return false. */
static bool read_echo(
	struct request *request, const struct bus_envelope *envelope, unsigned int fields)
{
	if (fields & REQUEST_CALL)
		read_call_id(request);
	if (fields & REQUEST_TOOLBOX)
		read_text(request, "toolbox_id", SLOT_TOOLBOX_ID, &request->toolbox_id);
	if (fields & REQUEST_PROFILE)
		read_text(request, "profile", SLOT_PROFILE, &request->profile);
	return refuse_field(request, "data",
		envelope->data_status == JSON_E_NUL_IN_KEY ? "an object without U+0000 in its keys"
							   : "an object without duplicate keys");
}

bool request_read(struct request *request, const struct bus_envelope *envelope, unsigned int fields)
{
	bool is_good = true;

	reset_request(request, &envelope->data);
	read_name(request);
	if (envelope->data_status != 0 || envelope->fault.part)
		return read_echo(request, envelope, fields);
	if (fields & (REQUEST_CALL | REQUEST_PERSONA))
		request->args_tape = request_find_args(envelope, fields, &request->args);
	if (fields & REQUEST_FORMAT)
		is_good = read_format(request);
	if (fields & REQUEST_TOOLBOXES)
		is_good = read_flag(request, "toolboxes", &request->wants_toolboxes) && is_good;
	if (fields & REQUEST_DEADLINE)
		is_good = read_flag(request, "deadline", &request->wants_deadline);
	if (fields & REQUEST_CALL_ID)
		is_good = read_which_call(request);
	if (fields & REQUEST_HISTORY)
		is_good = read_history(request);
	if (fields & REQUEST_SECONDS)
		is_good = read_seconds(request, 1,
				  "an integer from 1 to " STRINGIFY(REQUEST_SECONDS_MAX)) &&
			  is_good;
	if (fields & REQUEST_ANSWER)
		is_good = read_answer(request);
	if (fields & REQUEST_ATTACH)
		is_good = read_attach(request);
	if (fields & REQUEST_AFTER)
		is_good = read_after(request);
	if (fields & REQUEST_UTTERANCE)
		is_good = read_utterance(request) && is_good;
	if (fields & REQUEST_QUERY)
		is_good = read_query(request) && is_good;
	if (fields & REQUEST_CALL)
		is_good = read_call_fields(request) && is_good;
	if (fields & REQUEST_TOOLBOX)
		is_good = read_text(request, "toolbox_id", SLOT_TOOLBOX_ID, &request->toolbox_id) &&
			  is_good;
	if (fields & REQUEST_PROFILE)
		is_good = read_text(request, "profile", SLOT_PROFILE, &request->profile) && is_good;
	if (fields & REQUEST_ENTRY)
		return refuse_in_entry(request) && is_good;
	if (fields & REQUEST_JOB)
		is_good = read_job(request) && is_good;
	if (fields & REQUEST_BATCH)
		is_good = read_batch(request) && is_good;
	return is_good;
}

/* Return whether the string at @token begins like an identity of HTTP: `http`, `http:…` or
 * `uid:…`. */
static bool is_identity_of_http(const struct json_tape *tape, uint32_t token)
{
	static const char *const names[] = {"http:", "uid:"};
	cleanup(buffer_deinit) struct buffer decoded = {0};
	struct text_view text = request_text_at(tape, token, &decoded);

	/* Without memory its text is not known. */
	if (buffer_status(&decoded) < 0)
		return true;
	for (size_t i = 0; i < 2; i++)
		if (text.size >= strlen(names[i]) &&
			memcmp(text.text, names[i], strlen(names[i])) == 0)
			return true;
	return text.size == 4 && memcmp(text.text, "http", 4) == 0;
}

/* Return the token of the source, or JSON_NONE. */
static uint32_t find_origin(const struct bus_envelope *envelope, bool is_bus)
{
	uint32_t source = envelope->source;

	if (!is_bus || source == JSON_NONE ||
		json_type_at(&envelope->context, source) != JSON_STRING)
		return source;
	return is_identity_of_http(&envelope->context, source) ? JSON_NONE : source;
}

/* Return @token, one of a string of @context; for any other, or JSON_NONE, JSON_NONE. */
static uint32_t if_string(const struct json_tape *context, uint32_t token)
{
	return token != JSON_NONE && json_type_at(context, token) == JSON_STRING ? token
										 : JSON_NONE;
}

void request_read_caller(struct request *request, const struct bus_envelope *envelope,
	struct buffer decoded[REQUEST_CALLER_TEXTS], struct policy_caller *caller)
{
	const struct json_tape *context = &envelope->context;
	struct text_view *const texts[REQUEST_CALLER_TEXTS] = {
		&caller->source, &caller->session_id, &caller->site_id};
	uint32_t tokens[REQUEST_CALLER_TEXTS] = {JSON_NONE, JSON_NONE, JSON_NONE};

	request->origin = find_origin(envelope, caller->door == CALL_DOOR_BUS);
	tokens[0] = if_string(context, request->origin);
	if (envelope->session != JSON_NONE) {
		tokens[1] = if_string(context, json_find(context, envelope->session, "session_id"));
		tokens[2] = if_string(context, json_find(context, envelope->session, "site_id"));
	}
	for (size_t i = 0; i < REQUEST_CALLER_TEXTS; i++) {
		buffer_reset(&decoded[i]);
		if (tokens[i] != JSON_NONE)
			*texts[i] = request_text_at(context, tokens[i], &decoded[i]);
		caller->is_unclear = caller->is_unclear || buffer_status(&decoded[i]) < 0;
	}
}

/* Write what is wrong with the message that was to be a request. */
static void write_fault(const struct bus_fault *fault, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "ValueError: Bad request: ");
	bus_fault_write(fault, &text);
	answer_error(answer, ANSWER_BAD_REQUEST, text.data, text.size, UINT32_MAX);
	answer_member_text(answer, "field", fault->part);
}

void request_write_refusal(const struct request *request, const struct bus_envelope *envelope,
	const struct config_limits *limits, struct answer *answer)
{
	if (envelope->fault.part) {
		write_fault(&envelope->fault, answer);
		return;
	}
	if (envelope->data_status == JSON_E_DEPTH || envelope->data_status == JSON_E_TOKENS) {
		bool is_deep = envelope->data_status == JSON_E_DEPTH;
		uint32_t max = is_deep ? limits->depth : envelope->values_max;

		answer_error_format(answer, ANSWER_TOO_LARGE,
			"RuntimeError: The request's data has more than %u %s", max,
			is_deep ? "levels of nesting" : "values");
		answer_member_number(answer, "actual", (uint64_t)max + 1);
		answer_member_number(answer, "max", max);
		return;
	}
	answer_error_format(answer, ANSWER_BAD_REQUEST, "ValueError: Bad request: '%s' must be %s",
		request->bad_field, request->bad_expected);
	answer_member_text(answer, "field", request->bad_field);
}

void request_write_echo(const struct request *request, struct answer *answer)
{
	const char *text;
	size_t size;

	if (request->name != JSON_NONE) {
		text = json_value_text(request->data, request->name, &size);
		buffer_append(answer_member(answer, "name"), text, size);
	} else if (!request_is_batch(request)) {
		buffer_append_string(answer_member(answer, "name"), "\"\"");
	}
	if (request->call_id != JSON_NONE) {
		text = json_value_text(request->data, request->call_id, &size);
		buffer_append(answer_member(answer, "call_id"), text, size);
	}
	answer_keep(answer);
}

void request_keep_value(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	const char *text;
	size_t size;

	buffer_reset(out);
	if (token == JSON_NONE)
		return;
	if (json_at(tape, token)->flags & JSON_ESCAPED) {
		json_string_decode(tape, token, &decoded);
		buffer_fail_with(out, &decoded);
		json_write_string(out, decoded.data, decoded.size);
		return;
	}
	text = json_value_text(tape, token, &size);
	buffer_append(out, text, size);
}

void request_keep_text(const struct text_view *text, struct buffer *out)
{
	buffer_reset(out);
	if (text->text)
		json_write_string(out, text->text, text->size);
}

bool request_find_tool(const struct offer *offer, const struct catalogue *view,
	const struct request *request, bool last_wins, struct answer *answer,
	const struct tool **ret_tool)
{
	int r = CATALOGUE_E_UNKNOWN;

	if (request->name == JSON_NONE ||
		(request->name_is_string && request->name_text.size == 0)) {
		errors_write_missing_name(answer);
		return false;
	}
	if (offer->closed) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: its configuration cannot be "
			"used: %s",
			offer->closed);
		return false;
	}
	if (request->name_is_string)
		r = catalogue_find(view, request->name_text.text, request->name_text.size,
			request->toolbox_id.text, request->toolbox_id.size, last_wins, ret_tool);
	if (r == CATALOGUE_E_UNKNOWN)
		errors_write_unknown_tool(answer, view, request);
	else if (r == CATALOGUE_E_AMBIGUOUS)
		errors_write_ambiguous_tool(answer, view, request);
	return r == 0;
}

const struct tool *request_find_tool_again(const struct offer *offer,
	const struct policy_caller *caller, const struct tool *tool, struct answer *answer)
{
	const struct request request = {
		.name = JSON_NONE + 1, /* there is one */
		.name_is_string = true,
		.name_text = {tool->name, strlen(tool->name)},
		.toolbox_id = {tool->toolbox->id, strlen(tool->toolbox->id)},
	};
	const struct catalogue *view = policy_view(offer->policy, caller);
	cleanup(answer_deinit) struct answer unused = {0};
	const struct tool *found = NULL;
	bool is_found =
		request_find_tool(offer, view, &request, false, answer ? answer : &unused, &found);

	return is_found ? found : NULL;
}
