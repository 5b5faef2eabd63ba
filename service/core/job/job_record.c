/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job_record.h"

#include <errno.h>
#include <string.h>

#include "json/document.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "policy/caller.h"
#include "util/array.h"

const char *const job_state_names[JOB_STATES] = {
	[JOB_RUNNING] = "running",
	[JOB_DONE] = "done",
	[JOB_FAILED] = "failed",
	[JOB_CANCELLED] = "cancelled",
};

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Append the member @key with the JSON text @text, unless it is empty. */
static void write_raw_member(struct buffer *out, const char *key, const struct buffer *text)
{
	if (text->size == 0 && text->error == 0)
		return;
	json_write_member(out, key);
	buffer_append_buffer(out, text);
}

static void write_ms(struct buffer *out, const char *key, int64_t ms)
{
	json_write_member(out, key);
	json_write_i64(out, ms);
}

void job_write_run_llm(const struct job *job, struct buffer *out)
{
	if (job->run_llm == RUN_LLM_UNSAID)
		return;
	json_write_member(out, RUN_LLM_KEY);
	buffer_append_string(out, job->run_llm == RUN_LLM_YES ? "true" : "false");
}

void job_record_write(const struct job *job, struct buffer *out)
{
	const struct buffer *head = &job->response.message;

	buffer_append_string(out, "{\"door\":");
	json_write_text(out, call_door_name(job->door));
	json_write_member_text(out, "state", job_state_names[job->state]);
	write_raw_member(out, "name", &job->name);
	write_raw_member(out, "toolbox_id", &job->toolbox_id);
	write_raw_member(out, "call_id", &job->call_id);
	write_raw_member(out, "source", &job->source);
	write_raw_member(out, "session_id", &job->session);
	write_ms(out, "started_ms", job->started_ms);
	if (head->size > 0) {
		buffer_append_string(out, ",\"head\":");
		json_write_string(out, head->data, head->size);
	}
	job_write_run_llm(job, out);
	if (job->has_content)
		buffer_append_string(out, ",\"content\":true");
	if (job->end.size > 0) {
		write_ms(out, "ended_ms", job->ended_ms);
		write_raw_member(out, "end", &job->end);
	}
	buffer_append_char(out, '}');
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

/* Copy the value of @key, which has @type, as JSON. */
static void read_value(
	const struct json_tape *tape, const char *key, enum json_type type, struct buffer *out)
{
	uint32_t token = json_find_typed_at(tape, 0, key, type);

	if (token != JSON_NONE)
		json_write_compact(out, tape, token);
}

static int read_ms(const struct json_tape *tape, const char *key, int64_t *ret_ms)
{
	return json_read_i64(tape, json_find(tape, 0, key), ret_ms) && *ret_ms >= 0 ? 0 : -EINVAL;
}

/* Return the index of the text at @key among the @n @names, or -1. */
static int read_name_of(
	const struct json_tape *tape, const char *key, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (json_member_is(tape, 0, key, names[i]))
			return i;
	return -1;
}

/* Read the beginning of the response; one of another form is left out. */
static void read_head(struct job *job, const struct json_tape *tape)
{
	static const char context[] = ", \"context\": ";
	static const char data[] = ", \"data\": ";
	struct buffer *head = &job->response.message;
	const char *at;

	if (!json_read_text(tape, json_find(tape, 0, "head"), head))
		return;
	/* The error stays for fill_job(). */
	if (buffer_status(head) < 0)
		return;
	at = head->size > 0 ? memmem(head->data, head->size, context, strlen(context)) : NULL;
	if (!at || head->size < (size_t)(at - head->data) + strlen(context) + strlen(data) + 2 ||
		memcmp(head->data + head->size - strlen(data), data, strlen(data)) != 0)
		buffer_deinit(head);
	job->response.opened = head->size + 1;
}

/* Return the flag of the call; RUN_LLM_UNSAID for what is no boolean. */
static enum run_llm read_run_llm(const struct json_tape *tape)
{
	if (json_find_typed_at(tape, 0, RUN_LLM_KEY, JSON_TRUE) != JSON_NONE)
		return RUN_LLM_YES;
	return json_find_typed_at(tape, 0, RUN_LLM_KEY, JSON_FALSE) != JSON_NONE ? RUN_LLM_NO
										 : RUN_LLM_UNSAID;
}

static int fill_job(struct job *job, const struct json_tape *tape)
{
	const char *const doors[] = {call_door_name(CALL_DOOR_BUS), call_door_name(CALL_DOOR_HTTP),
		call_door_name(CALL_DOOR_MCP)};
	struct buffer *const texts[] = {&job->name, &job->toolbox_id, &job->call_id, &job->source,
		&job->session, &job->end, &job->response.message};
	int door = read_name_of(tape, "door", doors, ARRAY_SIZE(doors));
	int state = read_name_of(tape, "state", job_state_names, JOB_STATES);

	read_value(tape, "name", JSON_STRING, &job->name);
	read_value(tape, "toolbox_id", JSON_STRING, &job->toolbox_id);
	read_value(tape, "call_id", JSON_STRING, &job->call_id);
	read_value(tape, "source", JSON_STRING, &job->source);
	read_value(tape, "session_id", JSON_STRING, &job->session);
	read_value(tape, "end", JSON_OBJECT, &job->end);
	read_head(job, tape);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (buffer_status(texts[i]) < 0)
			return buffer_status(texts[i]);
	if (door < 0 || state < 0 || job->name.size == 0 || job->toolbox_id.size == 0 ||
		read_ms(tape, "started_ms", &job->started_ms) < 0 ||
		(state == JOB_RUNNING) != (job->end.size == 0))
		return -EINVAL;
	job->has_content = json_find_typed_at(tape, 0, "content", JSON_TRUE) != JSON_NONE;
	job->run_llm = read_run_llm(tape);
	job->door = (enum call_door)door;
	job->state = (enum job_state)state;
	return state == JOB_RUNNING ? 0 : read_ms(tape, "ended_ms", &job->ended_ms);
}

int job_record_read(struct job *job, const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, text, size, JSON_DOCUMENT_DEPTH_MAX, NULL);

	if (r == 0 && json_type_at(&tape, 0) != JSON_OBJECT)
		r = -EINVAL;
	return r == 0 ? fill_job(job, &tape) : r > 0 ? -EINVAL : r;
}
