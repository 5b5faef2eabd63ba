/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config/approval.h"
#include "catalogue/catalogue.h"
#include "catalogue/toolbox.h"
#include "core/request/answer.h"
#include "core/request/request.h"
#include "host/host.h"
#include "schema/schema.h"

/*
 * The errors of a call (contract.md, Errors): each function writes `error`, `code` and the keys
 * with the facts. A long text is cut to @max code points.
 */

void errors_write_missing_name(struct answer *answer);

/* Suggest the tools of @catalogue, the caller's view, with similar names. */
void errors_write_unknown_tool(
	struct answer *answer, const struct catalogue *catalogue, const struct request *request);

void errors_write_ambiguous_tool(
	struct answer *answer, const struct catalogue *catalogue, const struct request *request);

void errors_write_invalid_arguments(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max);

void errors_write_cooldown(struct answer *answer, const struct tool *tool, double left_s);

/* Deny a call that needs the approval of a person, who cannot be asked for the reason @reason, a
 * clause with advice at its end; and name the setting to allow it. */
void errors_write_denied(struct answer *answer, const struct tool *tool, enum approval_mode mode,
	const char *reason);

/* Deny a call for @reason, which no approval can change. */
void errors_write_refused(struct answer *answer, const struct tool *tool, const char *reason);

/* @n_pending: the questions waiting already. @is_share: there is room, but not for this client. */
void errors_write_many_questions(
	struct answer *answer, const struct tool *tool, uint32_t n_pending, bool is_share);

/* @n_waiting: the calls waiting already. */
void errors_write_busy(struct answer *answer, const struct tool *tool, uint32_t n_waiting);

/* @source: the caller, absent when it has no name. @reason: what there is too much of. */
void errors_write_too_many(struct answer *answer, const struct text_view *source,
	double retry_after_s, const char *reason);

/* The checks for @source (absent: of no known one) took as much time as they may; the next one may
 * come after @wait_ns. */
void errors_write_checking(struct answer *answer, const struct text_view *source, uint64_t wait_ns);

/* The results of the toolbox of @tool took as much time to check as they may. */
void errors_write_results(struct answer *answer, const struct tool *tool, uint64_t wait_ns);

void errors_write_unavailable(struct answer *answer, const struct tool *tool, const char *reason);

/* Write "@subject 'NAME' in ToolBox 'ID': @actual @unit, @max are allowed". */
void errors_write_too_large(struct answer *answer, const struct tool *tool, const char *subject,
	uint64_t actual, uint64_t max, const char *unit);

/* Write that the check of @subject ("The arguments for") was ended; @text comes from
 * schema_stop_text(). */
void errors_write_unchecked(
	struct answer *answer, const struct tool *tool, const char *subject, const char *text);

/* @text: the tool's own text, @size bytes. @refused: the system call refused by the sandbox, or
 * NULL. */
void errors_write_failure(struct answer *answer, const struct tool *tool, const char *text,
	size_t size, const char *refused, uint32_t max);

/* Return whether @reported is the refusal of arguments by a tool, with the violations in
 * @ret_report, which the caller deinits. */
bool errors_read_refusal(const struct json_tape *reported, struct schema_report *ret_report);

/*
 * Write the failure reported by a host (WIRE_ERROR), as far as it has this shape, and cut:
 *
 *   {"code": "tool_failed", "message", "exit_code"?, "signal"?, "stderr"?, "output"?}
 *   {"code": "invalid_arguments" or "invalid_output", "violations": [{"path", "message"}, …]}
 *   {"code": "too_large", "actual", "max"}
 *
 * Returns the enum answer_code; anything else is a tool_failed, which names @refused as
 * errors_write_failure() does.
 */
int errors_write_reported(struct answer *answer, const struct tool *tool,
	const struct json_tape *reported, const char *refused, uint32_t max);

void errors_write_invalid_output(struct answer *answer, const struct tool *tool,
	const struct schema_report *report, uint32_t max);

void errors_write_timeout(
	struct answer *answer, const struct tool *tool, uint64_t timeout_ms, const char *fault);

/* @call_id: the caller's id of the call, a JSON string; when it is empty, @id is the daemon's, or
 * NULL. */
void errors_write_cancelled(struct answer *answer, const struct buffer *call_id, const char *id);

/* Append, as a JSON string, the part of the error in @answer that is the reason: without the kind
 * of the error, and without @tool (NULL: there is none) if it names it first. */
void errors_write_reason(const struct answer *answer, const struct tool *tool, struct buffer *out);

void errors_write_crash(
	struct answer *answer, const struct tool *tool, const struct host_exit *end);
