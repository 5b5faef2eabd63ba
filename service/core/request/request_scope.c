/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request_scope.h"

#include <errno.h>

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
