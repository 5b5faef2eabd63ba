/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/audit_record.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "core/call/masked_arguments.h"
#include "json/writer.h"
#include "policy/audit_chain.h"
#include "util/log.h"
#include "util/file/stamp.h"
#include "util/text/utf8.h"

#define KEEP_BYTES 4096

/* The most code points of a source or session_id in a line. */
#define TEXT_POINTS 256

int recorder_init(struct recorder *recorder, struct loop *loop, const struct config *config)
{
	int r;

	recorder->config = config;
	if (getrandom(recorder->key, sizeof(recorder->key), 0) != sizeof(recorder->key))
		return -EIO;
	r = audit_new(loop, &recorder->audit);
	if (r == 0)
		recorder_configure(recorder);
	return r;
}

void recorder_deinit(struct recorder *recorder)
{
	audit_free(recorder->audit);
	recorder->audit = NULL;
}

void recorder_configure(struct recorder *recorder)
{
	const struct config *config = recorder->config;
	int r = audit_set_file(recorder->audit, config->audit_file, config->audit_max_bytes);

	if (r < 0)
		log_error("The audit log cannot be begun: %s", strerror(-r));
}

static void write_line_member(struct buffer *out, const char *key)
{
	buffer_append_char(out, ',');
	json_write_key(out, key);
}

/* Append @view as a JSON string, or null when it is absent. */
static void write_view(struct buffer *out, const char *key, const struct text_view *view)
{
	write_line_member(out, key);
	if (view->text)
		json_write_string(
			out, view->text, utf8_prefix(view->text, view->size, TEXT_POINTS));
	else
		json_write_text(out, NULL);
}

/* Append `fingerprint`, and `arguments` if they are configured. Arguments that cannot be masked are
 * null. */
static void write_line_arguments(const struct recorder *recorder, struct buffer *out,
	const struct request_scope *scope, const struct tool *tool, bool has_arguments)
{
	const struct arguments *arguments = &scope->arguments;
	struct masked_arguments shown = {0};
	bool is_shown =
		has_arguments && masked_arguments_read(&shown, tool, scope->context,
					 arguments->json, arguments->size, recorder->key) == 0;

	json_write_member_text(out, "fingerprint", is_shown ? shown.fingerprint : NULL);
	if (recorder->config->audit_arguments) {
		write_line_member(out, "arguments");
		if (is_shown)
			json_write_compact(out, &shown.tape, 0);
		else
			json_write_text(out, NULL);
	}
	masked_arguments_deinit(&shown);
}

void audit_record_begin(const struct recorder *recorder, struct audit_record *record,
	const struct request_scope *scope, const struct tool *tool, const struct buffer *call_id,
	const struct buffer *trace, const char *profile, bool has_arguments)
{
	const struct policy_caller *caller = &scope->caller;
	struct buffer *out = &record->text;

	audit_record_reset(record);
	write_line_member(out, "call_id");
	buffer_append_buffer(out, call_id);
	write_view(out, "source", &caller->source);
	write_view(out, "session_id", &caller->session_id);
	json_write_member_text(out, "door", call_door_name(caller->door));
	json_write_member_text(out, "tool", tool->name);
	json_write_member_text(out, "toolbox_id", tool->toolbox->id);
	json_write_member_text(out, "risk", tool_risk_names[tool->risk]);
	json_write_member_text(out, "profile", profile);
	buffer_append_string(out, trace->size > 0 ? "," : "");
	buffer_append_buffer(out, trace);
	record->split = out->size;
	write_line_arguments(recorder, out, scope, tool, has_arguments);
}

void audit_record_decide(
	struct audit_record *record, const char *decision, const struct text_view *by)
{
	record->decision = decision;
	buffer_reset(&record->by);
	if (by && by->text)
		json_write_string(
			&record->by, by->text, utf8_prefix(by->text, by->size, TEXT_POINTS));
}

int audit_record_write_line(const struct recorder *recorder, const struct audit_record *record,
	double duration_ms, const char *outcome, struct audit_wait *wait)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	if (!audit_is_on(recorder->audit))
		return 0;
	buffer_append_string(&line, AUDIT_LINE_START);
	stamp_write_time(&line, stamp_now_ns());
	buffer_append_char(&line, '"');
	buffer_fail_with(&line, &record->text);
	buffer_append(&line, record->text.data, record->split);
	json_write_member_text(&line, "decision", record->decision);
	write_line_member(&line, "by");
	if (record->by.size > 0)
		buffer_append_buffer(&line, &record->by);
	else
		json_write_text(&line, NULL);
	buffer_append(&line, record->text.data + record->split, record->text.size - record->split);
	write_line_member(&line, "duration_ms");
	if (duration_ms >= 0)
		json_write_f64(&line, duration_ms);
	else
		json_write_text(&line, NULL);
	json_write_member_text(&line, "outcome", outcome);
	buffer_append_char(&line, ',');
	return audit_append(recorder->audit, &line, wait);
}

void audit_record_reset(struct audit_record *record)
{
	buffer_recycle(&record->text, KEEP_BYTES);
	buffer_recycle(&record->by, KEEP_BYTES);
	record->decision = NULL;
	record->split = 0;
}

void audit_record_deinit(struct audit_record *record)
{
	buffer_deinit(&record->text);
	buffer_deinit(&record->by);
}

void recorder_write_status(const struct recorder *recorder, struct buffer *out)
{
	struct audit_figures figures = audit_figures(recorder->audit);

	buffer_append_char(out, '{');
	json_write_key(out, "file");
	json_write_text(out, recorder->config->audit_file);
	write_line_member(out, "written");
	json_write_u64(out, figures.written);
	write_line_member(out, "lost");
	json_write_u64(out, figures.lost);
	json_write_member_text(
		out, "error", figures.error < 0 ? audit_error_text(figures.error) : NULL);
	buffer_append_char(out, '}');
}
