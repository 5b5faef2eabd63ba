/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/given.h"

#include "core/status/detail.h"
#include "json/writer.h"

static void write_called_tool(
	const struct tool *tool, const struct statistics *statistics, struct buffer *out)
{
	buffer_append_char(out, '{');
	json_write_member_text(out, "toolbox_id", tool->toolbox->id);
	json_write_member_text(out, "name", tool->name);
	json_write_member_u64(out, "calls", statistics->calls);
	json_write_member_u64(out, "errors", statistics->errors);
	detail_write_quantiles(statistics, out);
	buffer_append_char(out, '}');
}

/* Write the figures of the tools in @view that were called. Texts of failures are left out: they
 * may have the arguments of any call. */
static void write_statistics(const struct catalogue *view, struct buffer *out)
{
	size_t n_written = 0;
	size_t n_left_out = 0;

	buffer_append_string(out, "{\"tools\":[");
	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		const struct tool *tool = catalogue_tool(view, i);
		const struct runner *runner = tool->toolbox->package->runner;
		const struct statistics *found = runner ? runner_statistics(runner, tool) : NULL;

		if (!found)
			continue;
		if (n_written == GIVEN_TOOLS_MAX) {
			n_left_out++;
			continue;
		}
		buffer_append_string(out, n_written++ > 0 ? "," : "");
		write_called_tool(tool, found, out);
	}
	buffer_append_string(out, "],\"left_out\":");
	json_write_u64(out, n_left_out);
	buffer_append_char(out, '}');
}

void given_write_caller(const struct conversations *conversations,
	const struct request_scope *scope, struct call *call)
{
	struct buffer *out = &call->runner_call.caller;

	buffer_reset(out);
	if (kind_facts(call->package->kind)->asks_session) {
		request_scope_write_session(scope, &call->trace, out);
		return;
	}
	request_scope_write_caller(scope, &call->call_id, &call->session, &call->trace, out);
	if (call->tool->given == GIVEN_NOTHING || buffer_status(out) < 0)
		return;
	out->size--; /* the brace at its end */
	buffer_append_string(out, ",\"given\":");
	if (call->tool->given == GIVEN_STATISTICS)
		write_statistics(scope->view, out);
	else
		conversations_write(conversations, call->door, &call->source, &call->session, out);
	buffer_append_char(out, '}');
}
