/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request_scope.h"

#include <errno.h>

#include "catalogue/voice/spoken.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"

int request_scope_init(struct request_scope *scope, const struct config_limits *limits)
{
	scope->envelope.values_max = config_values_max(limits);
	scope->context = schema_context_new();
	scope->scratch = regex_scratch_new();
	if (!scope->context || !scope->scratch)
		return -ENOMEM;
	schema_context_limit_patterns(scope->context, limits->pattern_steps);
	schema_context_limit_time(scope->context, limits->check_ms);
	regex_scratch_limit(scope->scratch, limits->pattern_steps);
	return 0;
}

void request_scope_deinit(struct request_scope *scope)
{
	for (size_t i = 0; i < ARRAY_SIZE(scope->caller_texts); i++)
		buffer_deinit(&scope->caller_texts[i]);
	bus_envelope_deinit(&scope->envelope);
	request_deinit(&scope->request);
	arguments_deinit(&scope->arguments);
	schema_context_free(scope->context);
	regex_scratch_free(scope->scratch);
}

/* Write the member @key with the JSON text of @size bytes at @json; null when it is empty. */
static void write_or_null(struct buffer *out, const char *key, const char *json, size_t size)
{
	json_write_key(out, key);
	if (size > 0)
		buffer_append(out, json, size);
	else
		buffer_append_string(out, "null");
}

/* Return the language of the session, else of the context, as JSON; empty when it is no string. */
static struct text_view find_lang(const struct bus_envelope *envelope)
{
	const struct json_tape *context = &envelope->context;
	struct text_view json = {0};
	uint32_t lang = JSON_NONE;

	if (envelope->session != JSON_NONE)
		lang = json_find(context, envelope->session, "lang");
	if (lang == JSON_NONE)
		lang = json_find(context, 0, "lang");
	if (lang != JSON_NONE && json_type_at(context, lang) == JSON_STRING)
		json.text = json_value_text(context, lang, &json.size);
	return json;
}

struct text_view request_scope_language(const struct request_scope *scope, const char *usual)
{
	struct text_view json = find_lang(&scope->envelope);

	if (scope->request.lang.text)
		return scope->request.lang;
	/* Without its quotes; no tag has an escape. */
	if (json.text)
		return (struct text_view){json.text + 1, json.size - 2};
	return TEXT_VIEW(usual ? usual : SPOKEN_LANGUAGE);
}

static void append_trace(struct buffer *out, const struct buffer *trace)
{
	buffer_append_string(out, trace->size > 0 ? "," : "");
	buffer_append_buffer(out, trace);
}

void request_scope_write_caller(const struct request_scope *scope, const struct buffer *call_id,
	const struct buffer *session_id, const struct buffer *trace, struct buffer *out)
{
	struct text_view lang = find_lang(&scope->envelope);

	buffer_append_char(out, '{');
	write_or_null(out, "call_id", call_id->data, call_id->size);
	buffer_append_char(out, ',');
	write_or_null(out, "session_id", session_id->data, session_id->size);
	buffer_append_char(out, ',');
	write_or_null(out, "lang", lang.text, lang.size);
	json_write_member(out, "source");
	if (scope->caller.source.text)
		json_write_string(out, scope->caller.source.text, scope->caller.source.size);
	else
		buffer_append_string(out, "null");
	append_trace(out, trace);
	buffer_append_char(out, '}');
}

void request_scope_write_session(
	const struct request_scope *scope, const struct buffer *trace, struct buffer *out)
{
	const struct bus_envelope *envelope = &scope->envelope;
	const struct text_view *id = &scope->caller.session_id;
	struct text_view lang = find_lang(envelope);
	struct text_view session = {0};

	if (envelope->session != JSON_NONE)
		session = json_value_view(&envelope->context, envelope->session);
	buffer_append_char(out, '{');
	if (session.text || !id->text) {
		write_or_null(out, "session", session.text, session.size);
	} else {
		/* A caller beside the bus has nothing but the id. */
		buffer_append_string(out, "\"session\":{\"session_id\":");
		json_write_string(out, id->text, id->size);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ',');
	write_or_null(out, "lang", lang.text, lang.size);
	append_trace(out, trace);
	buffer_append_char(out, '}');
}
