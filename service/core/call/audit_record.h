/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/toolbox.h"
#include "config/config.h"
#include "core/request/request_scope.h"
#include "policy/audit.h"
#include "policy/fingerprint.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The record of a call: its lines in the audit log (contract.md, Audit).
 *
 *   audit_record_begin ──▶ call_id … profile ┊ fingerprint, arguments      when the call is known
 *   audit_record_decide                      decision, by                  when it is decided
 *   audit_record_write ──▶ a line with its duration and outcome            at its end
 *
 * A call of a tool that only reads has an empty record, written only after a denial.
 */
struct audit_record {
	struct buffer text;   /* members as JSON text; empty: there is no record */
	size_t split;         /* bytes before the decision */
	const char *decision; /* NULL: none yet */
	struct buffer by;     /* JSON text; empty: null */
};

struct recorder {
	const struct config *config;              /* borrowed */
	struct audit *audit;                      /* owned */
	unsigned char key[FINGERPRINT_KEY_BYTES]; /* random, of this process */
};

/* Make @recorder ready, with the audit log of the configuration. Return 0 or a negative errno. */
int recorder_init(struct recorder *recorder, struct loop *loop, const struct config *config);

/* Free the parts of @recorder, which may be zeroed. */
void recorder_deinit(struct recorder *recorder);

/* Write to the file now named by the configuration. */
void recorder_configure(struct recorder *recorder);

/* Return whether a call of @tool has to be recorded. @is_denied: it was denied. */
static inline bool recorder_wants(
	const struct recorder *recorder, const struct tool *tool, bool is_denied)
{
	return recorder->config->audit_file && (tool->risk != TOOL_READ || is_denied);
}

/* Return whether a call of @tool waits for a line about its beginning. */
static inline bool recorder_requires(const struct recorder *recorder, const struct tool *tool)
{
	return recorder->config->audit_required && recorder_wants(recorder, tool, false);
}

/* Begin the record of a call of @tool, with the id @call_id and the members @trace (JSON text), by
 * a caller with the profile @profile (NULL: none). @scope: the request, with its arguments if
 * @has_arguments. */
void audit_record_begin(const struct recorder *recorder, struct audit_record *record,
	const struct request_scope *scope, const struct tool *tool, const struct buffer *call_id,
	const struct buffer *trace, const char *profile, bool has_arguments);

/* Set the @decision (constant text) and its maker, absent for none. */
void audit_record_decide(
	struct audit_record *record, const char *decision, const struct text_view *by);

/* Append a line about @record, which is not empty. @duration_ms: negative for none. @outcome: NULL
 * for none. With @wait, see audit_append(). Return its result. */
int audit_record_write_line(const struct recorder *recorder, const struct audit_record *record,
	double duration_ms, const char *outcome, struct audit_wait *wait);

/* Append a line about @record, unless it is empty: see audit_record_write_line(). */
static inline int audit_record_write(const struct recorder *recorder,
	const struct audit_record *record, double duration_ms, const char *outcome,
	struct audit_wait *wait)
{
	return record->text.size > 0
		       ? audit_record_write_line(recorder, record, duration_ms, outcome, wait)
		       : 0;
}

/* Empty @record, and keep its memory for the next call. */
void audit_record_reset(struct audit_record *record);

void audit_record_deinit(struct audit_record *record);

/* Write the state of the audit log for ovos.tools.status. */
void recorder_write_status(const struct recorder *recorder, struct buffer *out);
