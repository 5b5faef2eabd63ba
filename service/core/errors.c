/* SPDX-License-Identifier: Apache-2.0 */
#include "core/errors.h"

#include <math.h>
#include <stdio.h>

#include "json/writer.h"
#include "util/cleanup.h"

void errors_write_invalid_arguments(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text,
		"ValueError: Tool input validation failed for '%s' in ToolBox '%s': ", tool->name,
		tool->toolbox->id);
	schema_report_write_text(report, &text);
	answer_error(answer, ANSWER_INVALID_ARGUMENTS, text.data, text.size, max);
	schema_report_write_json(report, answer_member(answer, "violations"));
}

void errors_write_cooldown(struct answer *answer, const struct tool *tool, double left_s)
{
	answer_error_format(answer, ANSWER_COOLDOWN,
		"RuntimeError: Tool is on cooldown: '%s' may run again in %.0f s", tool->name,
		ceil(left_s));
	/* In whole milliseconds, rounded up: who waits so long is not refused again. */
	json_write_f64(answer_member(answer, "retry_after_s"), ceil(left_s * 1000) / 1000);
}

void errors_write_denied(struct answer *answer, const struct tool *tool, enum approval_mode mode)
{
	answer_error_format(answer, ANSWER_DENIED,
		"PermissionError: Tool '%s' in ToolBox '%s' has the risk '%s', which a person has "
		"to "
		"allow (approval.mode is '%s'), and nobody is there to ask; add '%s/%s' to "
		"approval.allow to let it run unasked",
		tool->name, tool->toolbox->id, tool_risk_name(tool->risk), approval_mode_name(mode),
		tool->toolbox->id, tool->name);
}

void errors_write_busy(struct answer *answer, const struct tool *tool, uint32_t n_waiting)
{
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: Toolbox '%s' is busy: %u calls are waiting", tool->toolbox->id,
		n_waiting);
}

void errors_write_unavailable(struct answer *answer, const struct tool *tool, const char *why)
{
	answer_error_format(answer, ANSWER_UNAVAILABLE,
		"RuntimeError: Toolbox '%s' is unavailable: %s", tool->toolbox->id, why);
}

void errors_write_too_large(struct answer *answer, const struct tool *tool, const char *what,
	size_t actual, size_t max, const char *unit)
{
	answer_error_format(answer, ANSWER_TOO_LARGE,
		"RuntimeError: %s '%s' in ToolBox '%s': %zu %s, %zu are allowed", what, tool->name,
		tool->toolbox->id, actual, unit, max);
	answer_member_number(answer, "actual", actual);
	answer_member_number(answer, "max", max);
}

void errors_write_failure(
	struct answer *answer, const struct tool *tool, const char *text, size_t size, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer whole = {0};

	buffer_printf(&whole,
		"RuntimeError: Tool execution failed for '%s' in ToolBox '%s': ", tool->name,
		tool->toolbox->id);
	buffer_append(&whole, text, size);
	answer_error(answer, ANSWER_TOOL_FAILED, whole.data, whole.size, max);
}

void errors_write_invalid_output(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text,
		"RuntimeError: Tool output validation failed for '%s' in ToolBox '%s': ",
		tool->name, tool->toolbox->id);
	schema_report_write_text(report, &text);
	answer_error(answer, ANSWER_INVALID_OUTPUT, text.data, text.size, max);
	schema_report_write_json(report, answer_member(answer, "violations"));
}

void errors_write_timeout(struct answer *answer, const struct tool *tool, uint64_t timeout_ms)
{
	answer_error_format(answer, ANSWER_TIMEOUT,
		"TimeoutError: Tool '%s' in ToolBox '%s' exceeded its deadline of %llu ms",
		tool->name, tool->toolbox->id, (unsigned long long)timeout_ms);
	answer_member_number(answer, "timeout_ms", timeout_ms);
}

void errors_write_cancelled(struct answer *answer, const struct buffer *call_id)
{
	answer_error_format(answer, ANSWER_CANCELLED, "RuntimeError: Call '%.*s' was cancelled",
		(int)call_id->size - 2, call_id->data + 1);
}

void errors_write_crash(struct answer *answer, const struct tool *tool, const struct host_end *end)
{
	char how[64];

	if (end->reason == HOST_SIGNALED)
		snprintf(how, sizeof(how), "died (%s)", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		snprintf(how, sizeof(how), "died (exit %d)", end->exit_code);
	else
		snprintf(how, sizeof(how), "sent a malformed frame");
	answer_error_format(answer, ANSWER_HOST_CRASHED,
		"RuntimeError: Toolbox host '%s' %s while running '%s'", tool->toolbox->id, how,
		tool->name);
	if (end->reason == HOST_SIGNALED)
		answer_member_text(answer, "signal", host_signal_name(end->signal));
	else if (end->reason == HOST_EXITED)
		answer_member_number(answer, "exit_code", (uint64_t)end->exit_code);
}
