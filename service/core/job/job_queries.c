/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job_queries.h"

#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "core/call/calls.h"
#include "core/job/job_record.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/stamp.h"
#include "util/share.h"

/* A request that waits for the end of a job. */
struct job_waiter {
	struct list link;
	const struct job *job; /* it runs */
	struct answer answer;
	struct account *account; /* counted reference; charged with held_bytes */
	size_t held_bytes;
	uint64_t due_ms;
};

static struct job_waiter *waiter_in(struct list *link)
{
	return container_of(link, struct job_waiter, link);
}

/* ── a job ───────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the end of @job is shown. */
static bool has_ended(const struct job *job)
{
	return job->phase == JOB_ENDED;
}

static void write_time(struct buffer *out, const char *key, int64_t ms)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	stamp_write_time(&text, ms * (int64_t)NS_PER_MS);
	json_write_member_text(out, key, buffer_terminate(&text));
	buffer_fail_with(out, &text);
}

static void write_json(struct buffer *out, const char *key, const struct buffer *json)
{
	json_write_member(out, key);
	buffer_append_buffer(out, json);
}

static void write_progress(const struct job *job, struct buffer *out)
{
	if (job->updated_ms > 0)
		write_time(out, "updated", job->updated_ms);
	if (job->has_progress) {
		buffer_append_string(out, ",\"progress\":");
		json_write_f64(out, job->progress);
	}
	/* Once the person has answered, the call does not wait any more. */
	if (job->progress_text.size > 0 && (!job->is_question || job_is_asked_about(job)))
		write_json(out, "text", &job->progress_text);
}

bool job_is_asked_about(const struct job *job)
{
	const struct call *call = calls_find_address(job->jobs->invoker->calls, &job->address);

	return call && !call->runner_call.is_taken;
}

uint64_t job_keep_ms(const struct job *job)
{
	return job->jobs->invoker->config->jobs_keep_hours * JOB_HOUR_MS;
}

/* From its end on a job is kept for some time, and none knows the end before. */
void job_write_times(const struct job *job, struct buffer *out)
{
	int64_t end_ms = has_ended(job) ? job->ended_ms : stamp_now_ns() / (int64_t)NS_PER_MS;
	int64_t ran_ms = end_ms > job->started_ms ? end_ms - job->started_ms : 0;

	write_time(out, "started", job->started_ms);
	buffer_append_string(out, ",\"ttl_ms\":");
	json_write_i64(out, ran_ms + (int64_t)job_keep_ms(job));
}

void job_write_members(const struct job *job, bool is_whole, struct buffer *out)
{
	bool is_over = has_ended(job);

	json_write_member_text(out, "job_id", job->change.id);
	write_json(out, "name", &job->name);
	write_json(out, "toolbox_id", &job->toolbox_id);
	if (job->call_id.size > 0)
		write_json(out, "call_id", &job->call_id);
	json_write_member_text(out, "state", job_state_names[is_over ? job->state : JOB_RUNNING]);
	job_write_times(job, out);
	if (!is_over) {
		write_progress(job, out);
		return;
	}
	write_time(out, "ended", job->ended_ms);
	if (!is_whole)
		return;
	if (job->has_content)
		buffer_append_string(out, ",\"content\":true");
	job_write_run_llm(job, out);
	buffer_append_char(out, ',');
	buffer_append(out, job->end.data + 1, job->end.size - 2);
}

/* ── who sees it ─────────────────────────────────────────────────────────────────────────────── */

/* The caller of a request, as a job names its caller. */
struct asker {
	struct buffer source;
	struct buffer session;
	bool is_on_bus;
};

static void deinit_asker(struct asker *asker)
{
	buffer_deinit(&asker->source);
	buffer_deinit(&asker->session);
}

static void read_asker(const struct request_scope *scope, struct asker *ret_asker)
{
	*ret_asker = (struct asker){.is_on_bus = scope->caller.door == CALL_DOOR_BUS};
	request_keep_text(&scope->caller.source, &ret_asker->source);
	request_keep_text(&scope->caller.session_id, &ret_asker->session);
}

static bool is_seen(const struct job *job, const struct asker *asker)
{
	if (buffer_status(&asker->source) < 0 || buffer_status(&asker->session) < 0)
		return false;
	return job->phase != JOB_KEEPING && job->phase != JOB_LEAVING && !job->is_refused &&
	       (job->door == CALL_DOOR_BUS) == asker->is_on_bus &&
	       buffer_equals(&job->source, &asker->source) &&
	       (asker->session.size == 0 || buffer_equals(&job->session, &asker->session));
}

/* Return the job with the id @id, if the caller in @scope sees it; else NULL. */
static struct job *find_seen_job(
	const struct jobs *jobs, const struct request_scope *scope, const struct text_view *id)
{
	struct job *found = NULL;
	struct asker asker;

	read_asker(scope, &asker);
	list_each(struct job, job, &jobs->all, link) {
		if (id->size == HEX_ID_CHARS && memcmp(job->change.id, id->text, id->size) == 0 &&
			is_seen(job, &asker))
			found = job;
	}
	deinit_asker(&asker);
	return found;
}

struct job *jobs_find_asked(
	const struct jobs *jobs, const struct request_scope *scope, struct answer *answer)
{
	const struct text_view *id = &scope->request.id;
	struct job *job = find_seen_job(jobs, scope, id);

	if (!job)
		answer_error_format(answer, ANSWER_UNKNOWN_JOB, "Unknown job: '%.*s'",
			request_name_length(id), id->text);
	return job;
}

void jobs_list(const struct jobs *jobs, const struct request_scope *scope, struct answer *answer)
{
	struct buffer *out = answer_member(answer, "jobs");
	struct asker asker;
	bool is_first = true;

	read_asker(scope, &asker);
	buffer_append_char(out, '[');
	list_each(const struct job, job, &jobs->all, link) {
		if (!is_seen(job, &asker))
			continue;
		buffer_append_string(out, is_first ? "{" : ",{");
		job_write_members(job, false, out);
		buffer_append_char(out, '}');
		is_first = false;
	}
	buffer_append_char(out, ']');
	deinit_asker(&asker);
}

/* ── waits ───────────────────────────────────────────────────────────────────────────────────── */

/* Have the timer at the end of the wait that is over first. */
static void set_due(struct jobs *jobs)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t due_ms = UINT64_MAX;

	list_each(struct job_waiter, waiter, &jobs->waiters, link)
		if (waiter->due_ms < due_ms)
			due_ms = waiter->due_ms;
	if (due_ms == UINT64_MAX)
		loop_timer_disarm(&jobs->due);
	else
		loop_timer_arm(&jobs->due, due_ms > now_ms ? due_ms - now_ms : 0);
}

/* Answer @waiter with the state of its job, and free the waiter. */
static void answer_waiter(struct jobs *jobs, struct job_waiter *waiter)
{
	const struct invoker *invoker = jobs->invoker;
	struct account *before = bus_act_for(invoker->bus, waiter->account);

	list_remove(&waiter->link);
	jobs->n_waiters--;
	job_write_members(waiter->job, true, &waiter->answer.message);
	answer_make_fit(
		&waiter->answer, invoker->config->limits.frame_bytes, "its result is too large");
	answer_send(&waiter->answer, invoker->bus);
	bus_act_for(invoker->bus, before);
	account_release(waiter->account, waiter->held_bytes);
	account_unref(waiter->account);
	free(waiter);
}

void jobs_answer_waits(struct jobs *jobs, const struct job *job)
{
	struct list now;

	list_init(&now);
	list_for_each(link, &jobs->waiters) {
		if (job && waiter_in(link)->job != job)
			continue;
		list_remove(link);
		list_append(&now, link);
	}
	while (!list_is_empty(&now))
		answer_waiter(jobs, waiter_in(now.next));
	set_due(jobs);
}

void jobs_look_at_waits(void *data)
{
	struct jobs *jobs = data;
	uint64_t now_ms = clock_now_ms();

	list_each(struct job_waiter, waiter, &jobs->waiters, link)
		if (waiter->due_ms <= now_ms)
			answer_waiter(jobs, waiter);
	set_due(jobs);
}

/* Return whether another request of the sender may wait. */
static bool may_wait(const struct jobs *jobs, const struct account *account)
{
	uint32_t n_own = 0;

	list_each(struct job_waiter, waiter, &jobs->waiters, link)
		n_own += waiter->account == account;
	return jobs->n_waiters < JOB_WAITERS_MAX &&
	       n_own < share_of(JOB_WAITERS_MAX, jobs->n_waiters - n_own);
}

/* Let the request of @answer wait for the end of @job. Return false when it cannot: it is answered
 * now. */
static bool begin_wait(
	struct jobs *jobs, const struct job *job, uint64_t wait_ms, struct answer *answer)
{
	struct account *account = bus_sender(jobs->invoker->bus);
	size_t bytes = sizeof(struct job_waiter) + answer->message.size;
	struct job_waiter *waiter;

	if (!may_wait(jobs, account) || jobs->invoker->calls->is_stopping)
		return false;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter || !account_hold(account, bytes)) {
		free(waiter);
		return false;
	}
	waiter->held_bytes = bytes;
	waiter->job = job;
	waiter->answer = answer_take(answer);
	waiter->account = account_ref(account);
	waiter->due_ms = clock_now_ms() + (wait_ms < JOB_WAIT_MS_MAX ? wait_ms : JOB_WAIT_MS_MAX);
	list_append(&jobs->waiters, &waiter->link);
	jobs->n_waiters++;
	set_due(jobs);
	return true;
}

void jobs_get(struct jobs *jobs, const struct request_scope *scope, struct answer *answer)
{
	const struct job *job = jobs_find_asked(jobs, scope, answer);

	if (!job || (!has_ended(job) && scope->request.wait_ms > 0 &&
			    begin_wait(jobs, job, scope->request.wait_ms, answer)))
		return;
	job_write_members(job, true, &answer->message);
}
