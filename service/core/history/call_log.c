/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/call_log.h"

#include "core/call/calls.h"

/* Return the level of a line about a call that failed with @code. */
static enum log_level level_of(enum answer_code code)
{
	switch (code) {
	case ANSWER_BAD_REQUEST:
	case ANSWER_MISSING_NAME:
	case ANSWER_UNKNOWN_TOOL:
	case ANSWER_AMBIGUOUS_TOOL:
	case ANSWER_INVALID_ARGUMENTS:
	case ANSWER_COOLDOWN:
	case ANSWER_CANCELLED:
		return LOG_LEVEL_INFO;
	default:
		return LOG_LEVEL_WARNING;
	}
}

/* Append the text of a part, or @absent. Escapes stay, except for quotes and backslashes: the log
 * would escape the other characters, too. */
static void append_log_part(struct buffer *out, const struct call_summary *summary,
	enum summary_part part, const char *absent)
{
	struct text_view json = call_summary_part(summary, part);

	if (!json.text) {
		buffer_append_string(out, absent);
		return;
	}
	for (size_t i = 1; i + 1 < json.size; i++) {
		const char *text = json.text + i;

		if (text[0] == '\\' && (text[1] == '"' || text[1] == '\\')) {
			text++;
			i++;
		}
		buffer_append_char(out, *text);
	}
}

static void append_call(struct buffer *out, const struct call_summary *summary)
{
	char id[CALL_ID_BYTES];

	call_id_format(summary->process, summary->number, id);
	buffer_printf(out, "Call %s ", id);
	append_log_part(out, summary, SUMMARY_TOOLBOX, "?");
	buffer_append_char(out, '/');
	append_log_part(out, summary, SUMMARY_NAME, "?");
	buffer_append_string(out, " for ");
	append_log_part(out, summary, SUMMARY_SOURCE, "?");
}

static void append_log_outcome(struct buffer *out, const struct call_summary *summary)
{
	bool has_failed = summary->state == SUMMARY_FAILED;

	buffer_printf(out, ": %s", has_failed ? answer_code_name(summary->code) : "ok");
	if (call_summary_part(summary, SUMMARY_TEXT).text) {
		buffer_append_string(out, " (");
		append_log_part(out, summary, SUMMARY_TEXT, "");
		buffer_append_char(out, ')');
	}
	buffer_printf(out, " after %.1f ms", (double)summary->duration_us / US_PER_MS);
}

/* Append what only its author wants to know. */
static void append_origin(struct buffer *out, const struct call_summary *summary)
{
	buffer_append_string(out, "; call_id ");
	append_log_part(out, summary, SUMMARY_CALL_ID, "none");
	buffer_append_string(out, ", session ");
	append_log_part(out, summary, SUMMARY_SESSION, "none");
	buffer_printf(out, ", from the %s", call_door_name(summary->door));
}

void call_log_write(
	struct log_rate *rates, const struct call_summary *summary, struct text_view parent)
{
	bool has_failed = summary->state == SUMMARY_FAILED;
	enum log_level level = has_failed ? level_of(summary->code) : LOG_LEVEL_DEBUG;
	bool has_all = log_is_on(LOG_LEVEL_DEBUG);
	cleanup(buffer_deinit) struct buffer line = {0};

	if (!log_is_on(level))
		return;
	append_call(&line, summary);
	append_log_outcome(&line, summary);
	if (parent.text)
		buffer_printf(&line, "; trace %.*s", (int)parent.size, parent.text);
	if (has_all)
		append_origin(&line, summary);
	if (!buffer_terminate(&line))
		return;
	if (has_all)
		log_write(level, "%s", line.data);
	else
		log_limited(&rates[summary->code], level, "%s", line.data);
}
