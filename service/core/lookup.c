/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lookup.h"

#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"

#define PROFILE_DEFAULT "default"

bool lookup_profile_grants(const struct request *request)
{
	const struct request_text *profile = &request->profile;

	return !profile->text ||
	       (profile->size == strlen(PROFILE_DEFAULT) &&
		       memcmp(profile->text, PROFILE_DEFAULT, profile->size) == 0);
}

static void write_missing_name(struct answer *answer)
{
	answer_error_format(answer, ANSWER_MISSING_NAME, "Missing required field: 'name'");
}

static void write_unknown_tool(
	const struct catalogue *catalogue, const struct request *request, struct answer *answer)
{
	const char *names[CATALOGUE_SUGGESTIONS_MAX];
	size_t n_names = 0;
	struct buffer *out;

	if (request->name_is_string && lookup_profile_grants(request))
		n_names = catalogue_suggest(catalogue, request->name_text.text,
			request->name_text.size, request->toolbox_id.text, request->toolbox_id.size,
			names);
	answer_error_format(answer, ANSWER_UNKNOWN_TOOL, "Unknown tool: '%.*s'",
		request_name_length(&request->name_text), request->name_text.text);
	out = answer_member(answer, "suggestions");
	buffer_append_char(out, '[');
	for (size_t i = 0; i < n_names; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		json_write_text(out, names[i]);
	}
	buffer_append_char(out, ']');
}

static void write_owners(const struct catalogue *catalogue, const struct request_text *name,
	const char *quote, const char *between, struct buffer *out)
{
	const char *id;

	for (size_t i = 0; (id = catalogue_owner(catalogue, name->text, name->size, i)); i++) {
		if (i > 0)
			buffer_append_string(out, between);
		buffer_append_string(out, quote);
		buffer_append_string(out, id);
		buffer_append_string(out, quote);
	}
}

static void write_ambiguous_tool(
	const struct catalogue *catalogue, const struct request *request, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct buffer *out;

	buffer_printf(&text, "Ambiguous tool: '%.*s' is in toolboxes ",
		request_name_length(&request->name_text), request->name_text.text);
	write_owners(catalogue, &request->name_text, "'", ", ", &text);
	buffer_append_string(&text, "; name one in 'toolbox_id'");
	answer_error(answer, ANSWER_AMBIGUOUS_TOOL, text.data, text.size, UINT32_MAX);
	out = answer_member(answer, "toolbox_ids");
	buffer_append_char(out, '[');
	write_owners(catalogue, &request->name_text, "\"", ",", out);
	buffer_append_char(out, ']');
}

bool lookup_tool(const struct catalogue *catalogue, const struct request *request, bool last_wins,
	struct answer *answer, const struct tool **ret_tool)
{
	int r = CATALOGUE_E_UNKNOWN;

	if (request->name == JSON_NONE ||
		(request->name_is_string && request->name_text.size == 0)) {
		write_missing_name(answer);
		return false;
	}
	if (request->name_is_string && lookup_profile_grants(request))
		r = catalogue_find(catalogue, request->name_text.text, request->name_text.size,
			request->toolbox_id.text, request->toolbox_id.size, last_wins, ret_tool);
	if (r == CATALOGUE_E_UNKNOWN)
		write_unknown_tool(catalogue, request, answer);
	else if (r == CATALOGUE_E_AMBIGUOUS)
		write_ambiguous_tool(catalogue, request, answer);
	return r == 0;
}
