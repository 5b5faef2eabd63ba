/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request_scope.h"

#include <errno.h>

int request_scope_init(struct request_scope *scope, const struct config_limits *limits)
{
	scope->context = schema_context_new();
	scope->scratch = regex_scratch_new();
	if (!scope->context || !scope->scratch)
		return -ENOMEM;
	schema_context_limit_patterns(scope->context, limits->pattern_steps);
	schema_context_limit_time(scope->context, limits->check_ms);
	regex_scratch_limit(scope->scratch, limits->pattern_steps);
	return 0;
}

/* Return the string @key of the object at @object; absent when it is no string. */
static struct text_view read_string(
	struct request_scope *scope, uint32_t object, const char *key, struct buffer *decoded)
{
	const struct json_tape *context = &scope->envelope.context;
	uint32_t token = json_find(context, object, key);
	struct text_view view = {0};

	buffer_reset(decoded);
	if (token != JSON_NONE && json_type_at(context, token) == JSON_STRING)
		view = request_text_at(context, token, decoded);
	if (buffer_status(decoded) < 0)
		scope->caller.is_unclear = true;
	return view;
}

void request_scope_take_caller(struct request_scope *scope, struct policy *policy,
	struct account *account, struct text_view profile)
{
	const struct json_tape *context = &scope->envelope.context;
	struct policy_caller *caller = &scope->caller;
	struct buffer *decoded = scope->caller_texts;
	uint32_t session = json_find(context, 0, "session");

	*caller = (struct policy_caller){
		.profile = profile,
		.account = account,
		.door = CALL_DOOR_BUS,
	};
	caller->source = read_string(scope, 0, "source", &decoded[0]);
	if (session != JSON_NONE && json_type_at(context, session) == JSON_OBJECT) {
		caller->session_id = read_string(scope, session, "session_id", &decoded[1]);
		caller->site_id = read_string(scope, session, "site_id", &decoded[2]);
	}
	scope->view = caller->view = policy_view(policy, caller);
}

void request_scope_deinit(struct request_scope *scope)
{
	for (size_t i = 0; i < sizeof(scope->caller_texts) / sizeof(*scope->caller_texts); i++)
		buffer_deinit(&scope->caller_texts[i]);
	bus_envelope_deinit(&scope->envelope);
	request_deinit(&scope->request);
	arguments_deinit(&scope->arguments);
	schema_context_free(scope->context);
	regex_scratch_free(scope->scratch);
}
