/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/call_summary.h"

#include <string.h>

#include "core/call/calls.h"
#include "json/writer.h"
#include "util/clock.h"
#include "util/file/stamp.h"
#include "util/text/utf8.h"

#define ELLIPSIS       "…"
#define ELLIPSIS_BYTES (sizeof(ELLIPSIS) - 1)
#define QUOTES_BYTES   2

const char *const call_summary_state_names[] = {
	[SUMMARY_RUNNING] = "running",
	[SUMMARY_DONE] = "done",
	[SUMMARY_FAILED] = "failed",
	NULL,
};

static const uint16_t part_bytes[] = {
	[SUMMARY_CALL_ID] = SUMMARY_CALL_ID_BYTES,
	[SUMMARY_NAME] = SUMMARY_NAME_BYTES,
	[SUMMARY_TOOLBOX] = SUMMARY_TOOLBOX_BYTES,
	[SUMMARY_SOURCE] = SUMMARY_SOURCE_BYTES,
	[SUMMARY_SESSION] = SUMMARY_SESSION_BYTES,
	[SUMMARY_TEXT] = SUMMARY_TEXT_BYTES,
};

/* ── texts ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the most bytes of @size, at most @max, of the inside of a JSON string that break neither a
 * character nor an escape. */
static size_t cut_inside(const char *text, size_t size, size_t max)
{
	size_t used = 0;

	while (used < size) {
		size_t length = utf8_sequence_length(text + used, size - used);

		if (text[used] == '\\')
			length = used + 1 < size && text[used + 1] == 'u' ? 6 : 2;
		if (length == 0 || length > size - used || used + length > max)
			break;
		used += length;
	}
	return used;
}

static size_t part_start(const struct call_summary *summary, enum summary_part part)
{
	return part > 0 ? summary->ends[part - 1] : 0;
}

/* Set the part after those that are set to the string with the inside @text. Return whether it was
 * cut. */
static bool put_summary(
	struct call_summary *summary, enum summary_part part, const char *text, size_t size)
{
	size_t start = part_start(summary, part);
	char *place = summary->texts + start;
	bool is_cut = size > (size_t)part_bytes[part] - QUOTES_BYTES;

	*place++ = '"';
	if (is_cut) {
		size = cut_inside(text, size, part_bytes[part] - QUOTES_BYTES - ELLIPSIS_BYTES);
		memcpy(place, text, size);
		place += size;
		text = ELLIPSIS;
		size = ELLIPSIS_BYTES;
	}
	memcpy(place, text, size);
	place += size;
	*place++ = '"';
	summary->ends[part] = (uint16_t)(place - summary->texts);
	return is_cut;
}

static void put_nothing(struct call_summary *summary, enum summary_part part)
{
	summary->ends[part] = (uint16_t)part_start(summary, part);
}

/* Set the next part to @json, if that is a string. Return whether it was cut. */
static bool put_json(
	struct call_summary *summary, enum summary_part part, const struct buffer *json)
{
	if (json->size >= QUOTES_BYTES && *json->data == '"' && json->error == 0)
		return put_summary(summary, part, json->data + 1, json->size - QUOTES_BYTES);
	put_nothing(summary, part);
	return false;
}

struct text_view call_summary_part(const struct call_summary *summary, enum summary_part part)
{
	size_t start = part_start(summary, part);
	size_t size = summary->ends[part] - start;

	return (struct text_view){size > 0 ? summary->texts + start : NULL, size};
}

bool call_summary_has(
	const struct call_summary *summary, enum summary_part part, const struct text_view *text)
{
	struct text_view found = call_summary_part(summary, part);
	cleanup(buffer_deinit) struct buffer json = {0};
	struct call_summary wanted;
	struct text_view cut;

	if (!found.text)
		return false;
	json_write_string(&json, text->text, text->size);
	if (buffer_status(&json) < 0)
		return false;
	for (enum summary_part before = 0; before < part; before++)
		put_nothing(&wanted, before);
	put_json(&wanted, part, &json);
	cut = call_summary_part(&wanted, part);
	return cut.size == found.size && memcmp(cut.text, found.text, cut.size) == 0;
}

/* ── one call ────────────────────────────────────────────────────────────────────────────────── */

/* Return why @call does not run yet, NULL if it does. A call that is not in flight waits for its
 * line (core/request/waiting.h). */
static const char *find_wait(const struct call *call)
{
	if (call->state != CALL_IN_FLIGHT)
		return "waits for its line in the audit log";
	if (!call->runner_call.is_taken)
		return "waits for a person's approval";
	return list_is_empty(&call->runner_call.link) ? NULL : "waits for its turn";
}

void call_summary_describe(const struct call *call, struct call_summary *ret_summary)
{
	struct call_summary *summary = ret_summary;
	const struct tool *tool = call->tool;

	summary->number = call->runner_call.id;
	summary->process = call->process;
	summary->started_ns = call->runner_call.submitted_ns;
	summary->door = call->door;
	summary->has_progress = call->has_progress;
	summary->progress = call->progress;
	put_json(summary, SUMMARY_CALL_ID, &call->call_id);
	if (tool) {
		put_summary(summary, SUMMARY_NAME, tool->name, strlen(tool->name));
		put_summary(summary, SUMMARY_TOOLBOX, tool->toolbox->id, strlen(tool->toolbox->id));
	} else {
		put_json(summary, SUMMARY_NAME, &call->name);
		put_nothing(summary, SUMMARY_TOOLBOX);
	}
	summary->is_source_cut = put_json(summary, SUMMARY_SOURCE, &call->source);
	put_json(summary, SUMMARY_SESSION, &call->session);
}

void call_summary_go_on(struct call_summary *summary, const struct call *call)
{
	const char *wait = find_wait(call);

	summary->duration_us = 0;
	summary->state = SUMMARY_RUNNING;
	if (wait)
		put_summary(summary, SUMMARY_TEXT, wait, strlen(wait));
	else
		put_json(summary, SUMMARY_TEXT, &call->progress_text);
}

void call_summary_end(
	struct call_summary *summary, uint64_t duration_us, int code, const struct buffer *reason)
{
	summary->duration_us = duration_us;
	summary->state = code < 0 ? SUMMARY_DONE : SUMMARY_FAILED;
	if (code >= 0)
		summary->code = (enum answer_code)code;
	put_json(summary, SUMMARY_TEXT, reason);
}

/* Return how long the call of @summary has run at @now_ns, or did. */
static uint64_t run_us(const struct call_summary *summary, uint64_t now_ns)
{
	if (summary->state != SUMMARY_RUNNING)
		return summary->duration_us;
	return now_ns > summary->started_ns ? (now_ns - summary->started_ns) / NS_PER_US : 0;
}

static void write_part(struct buffer *out, const char *key, const struct call_summary *summary,
	enum summary_part part)
{
	struct text_view text = call_summary_part(summary, part);

	json_write_member(out, key);
	if (text.text)
		buffer_append(out, text.text, text.size);
	else
		json_write_text(out, NULL);
}

void call_summary_write(
	const struct call_summary *summary, uint64_t now_ns, int64_t real_ns, struct buffer *out)
{
	char id[CALL_ID_BYTES];

	call_id_format(summary->process, summary->number, id);
	buffer_append_char(out, '{');
	json_write_member_text(out, "id", id);
	write_part(out, "call_id", summary, SUMMARY_CALL_ID);
	write_part(out, "name", summary, SUMMARY_NAME);
	write_part(out, "toolbox_id", summary, SUMMARY_TOOLBOX);
	write_part(out, "source", summary, SUMMARY_SOURCE);
	write_part(out, "session_id", summary, SUMMARY_SESSION);
	json_write_member_text(out, "door", call_door_name(summary->door));
	buffer_append_string(out, ",\"started\":\"");
	stamp_write_time(out, (int64_t)summary->started_ns + real_ns);
	buffer_append_string(out, "\",\"duration_ms\":");
	json_write_f64(out, (double)run_us(summary, now_ns) / US_PER_MS);
	json_write_member_text(out, "state", call_summary_state_names[summary->state]);
	if (summary->state == SUMMARY_FAILED)
		json_write_member_text(out, "code", answer_code_name(summary->code));
	if (summary->has_progress) {
		buffer_append_string(out, ",\"progress\":");
		json_write_f64(out, summary->progress);
	}
	if (call_summary_part(summary, SUMMARY_TEXT).text)
		write_part(out, "text", summary, SUMMARY_TEXT);
	buffer_append_char(out, '}');
}
