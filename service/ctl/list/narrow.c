/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/list/narrow.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/guess.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/cleanup.h"

#define ADVICE "see toolboxctl list"

/* Complain that @name means no tool of @response. */
static void complain_name(const struct ctl_response *response, const char *name)
{
	const struct json_tape *tape = &response->tape;
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	struct token_guess guess = {.wanted = name};

	json_each(i, tape, tools) {
		cleanup_free char *candidate = json_find_dup(tape, i, "name");

		if (candidate)
			guess_compare(&guess, candidate);
	}
	guess_complain(&guess, "tool", ADVICE);
	guess_deinit(&guess);
}

static bool is_meant(const struct ctl_response *response, uint32_t tool, const char *const *names,
	size_t n_names)
{
	for (size_t i = 0; i < n_names; i++)
		if (tool_names_mean(response, tool, names[i]))
			return true;
	return false;
}

/* Append the tools that are meant, as an array. */
static void append_near_tools(const struct ctl_response *response, uint32_t tools,
	const char *const *names, size_t n_names, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;

	buffer_append_char(out, '[');
	json_each(i, tape, tools) {
		size_t size;
		const char *text;

		if (!is_meant(response, i, names, n_names))
			continue;
		text = json_value_text(tape, i, &size);
		json_write_comma(out);
		buffer_append(out, text, size);
	}
	buffer_append_char(out, ']');
}

/* Append the members of the response, with only those tools. */
static void append_members(const struct ctl_response *response, uint32_t tools,
	const char *const *names, size_t n_names, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;

	buffer_append_char(out, '{');
	json_each_key(key, tape, 0) {
		size_t size;
		const char *text = json_value_text(tape, key, &size);

		buffer_append_string(out, key == json_first(tape, 0) ? "" : ",");
		buffer_append(out, text, size);
		buffer_append_char(out, ':');
		if (key + 1 == tools) {
			append_near_tools(response, tools, names, n_names, out);
		} else {
			text = json_value_text(tape, key + 1, &size);
			buffer_append(out, text, size);
		}
	}
	buffer_append_char(out, '}');
}

int narrow_to_names(struct ctl_response *response, const char *const *names, size_t n_names)
{
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	cleanup(ctl_response_deinit) struct ctl_response narrowed = {0};
	int r;

	if (tools == JSON_NONE || n_names == 0)
		return 0;
	for (size_t i = 0; i < n_names; i++) {
		if (tool_names_mean_any(response, "tools", names[i]))
			continue;
		complain_name(response, names[i]);
		return CTL_ERROR;
	}
	append_members(response, tools, names, n_names, &narrowed.text);
	r = buffer_status(&narrowed.text);
	if (r == 0)
		r = json_tape_read(&narrowed.tape, narrowed.text.data, narrowed.text.size,
			2 * JSON_DEPTH_DEFAULT, NULL);
	if (r != 0) {
		terminal_complain("the list cannot be narrowed: %s",
			r < 0 ? strerror(-r) : "a definition nests too deep");
		return CTL_ERROR;
	}
	ctl_response_deinit(response);
	*response = narrowed;
	narrowed = (struct ctl_response){0};
	return 0;
}

int narrow_expect_toolbox(const struct catalogue *catalogue, const char *id)
{
	struct token_guess guess = {.wanted = id};
	bool is_there = catalogue_find_toolbox(catalogue, id, strlen(id)) >= 0;

	for (size_t i = 0; !is_there && i < catalogue_n_failures(catalogue); i++) {
		guess_compare(&guess, catalogue_failure(catalogue, i)->toolbox_id);
		is_there = strcmp(catalogue_failure(catalogue, i)->toolbox_id, id) == 0;
	}
	for (size_t i = 0; !is_there && i < catalogue_n_skipped(catalogue); i++) {
		guess_compare(&guess, catalogue_skipped(catalogue, i)->toolbox_id);
		is_there = strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0;
	}
	for (size_t i = 0; !is_there && i < catalogue_n_toolboxes(catalogue); i++)
		guess_compare(&guess, catalogue_toolbox(catalogue, i, NULL, NULL)->id);
	if (!is_there)
		guess_complain(&guess, "toolbox", ADVICE);
	guess_deinit(&guess);
	return is_there ? 0 : CTL_ERROR;
}
