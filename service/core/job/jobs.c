/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/account.h"
#include "core/call/calls.h"
#include "core/call/events.h"
#include "core/job/job_queries.h"
#include "core/job/job_record.h"
#include "core/request/errors.h"
#include "core/request/waiting.h"
#include "json/writer.h"
#include "util/assert.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/file.h"
#include "util/file/stamp.h"

_Static_assert(JOBS_RESULTS_BYTES >> 20 == 16, "as the error has it");

/* The beginning of a response with a kept context. */
#define HEAD_BYTES 4096

static const char restarted[] = "{\"error\":\"RuntimeError: The job has failed: the service was "
				"restarted\",\"code\":\"unavailable\"}";
static const char dropped[] =
	"{\"error\":\"RuntimeError: The result is not kept any more: all results of jobs have "
	"16 MiB\",\"code\":\"too_large\"}";

static struct job *job_at(struct address *address)
{
	return container_of(address, struct job, address);
}

static struct job *job_in(struct list *link)
{
	return container_of(link, struct job, link);
}

static int64_t now_real_ms(void)
{
	return stamp_now_ns() / (int64_t)NS_PER_MS;
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

/* Free what only the beginning of @job needs. */
static void drop_request(struct job *job)
{
	limits_release(&job->hold);
	account_release(job->account, job->held_bytes);
	job->held_bytes = 0;
	free(take_ptr(job->bytes));
	job->text = (struct request_text){0};
	account_unref(take_ptr(job->account));
}

/* The last reference to @address is gone (struct address_operations). */
static void free_job(struct address *address)
{
	struct job *job = job_at(address);

	drop_request(job);
	answer_deinit(&job->answer);
	answer_deinit(&job->response);
	address_unref(job->caller);
	buffer_deinit(&job->change.text);
	buffer_deinit(&job->name);
	buffer_deinit(&job->toolbox_id);
	buffer_deinit(&job->call_id);
	buffer_deinit(&job->source);
	buffer_deinit(&job->session);
	buffer_deinit(&job->end);
	buffer_deinit(&job->progress_text);
	free(job);
}

/* Take @job out of the table, and free it. */
static void forget_job(struct job *job)
{
	struct jobs *jobs = job->jobs;

	check(jobs->n > 0 && jobs->result_bytes >= job->end.size);
	list_remove(&job->link);
	jobs->n--;
	if (jobs->n == 0)
		jobs->invoker->calls->on_close = NULL;
	jobs->result_bytes -= job->end.size;
	/* A waiting request may still refer to its address. */
	address_leave(&job->address);
	address_unref(&job->address);
}

/* ── its file ────────────────────────────────────────────────────────────────────────────────── */

/* Begin to write @job as it is. */
static void write_job(struct job *job)
{
	job_record_write(job, &job->change.text);
	job_store_put(&job->jobs->store, &job->change);
}

/* Begin to remove the file of @job; then @job is freed. */
static void remove_job(struct job *job)
{
	job->phase = JOB_LEAVING;
	buffer_deinit(&job->change.text);
	job_store_put(&job->jobs->store, &job->change);
}

/* Return the ended job without a change under way whose end came first, with a result of its own if
 * it @has_result; or NULL. */
static struct job *find_first_ended(const struct jobs *jobs, bool has_result)
{
	struct job *first = NULL;

	list_each(struct job, job, &jobs->all, link) {
		if (job->phase == JOB_ENDED && list_is_empty(&job->change.link) &&
			(!first || job->ended_ms < first->ended_ms) &&
			(!has_result || job->end.size > sizeof(dropped)))
			first = job;
	}
	return first;
}

/* Remove the jobs kept long enough, and look again when the next one is. */
static void expire_jobs(void *data)
{
	struct jobs *jobs = data;
	uint64_t now_ms = (uint64_t)now_real_ms();
	struct job *first;

	while ((first = find_first_ended(jobs, false)) &&
		(uint64_t)first->ended_ms + job_keep_ms(first) <= now_ms)
		remove_job(first);
	/* The clock may be set meanwhile. */
	if (first)
		loop_timer_arm(&jobs->expiry, JOB_HOUR_MS / 60);
}

/* Let @job have @end of @size bytes, an object. */
static void set_end(struct job *job, const char *end, size_t size)
{
	struct jobs *jobs = job->jobs;

	jobs->result_bytes -= job->end.size;
	buffer_deinit(&job->end);
	buffer_append(&job->end, end, size);
	jobs->result_bytes += job->end.size;
}

/* Let the jobs with the earliest end lose their results until all have room. */
static void drop_results(struct jobs *jobs, struct job *last)
{
	struct job *first;

	while (jobs->result_bytes > JOBS_RESULTS_BYTES) {
		first = find_first_ended(jobs, true);
		if (!first)
			break;
		first->state = JOB_FAILED;
		set_end(first, dropped, strlen(dropped));
		write_job(first);
	}
	if (jobs->result_bytes > JOBS_RESULTS_BYTES && last->end.size > sizeof(dropped)) {
		last->state = JOB_FAILED;
		set_end(last, dropped, strlen(dropped));
	}
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

/* Let the door beside the bus know the end of @job. */
static void announce_at_door(const struct job *job)
{
	const struct audience *audience = job->jobs->invoker->events->audience;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!audience->heard)
		return;
	buffer_append_char(&text, '{');
	job_write_members(job, true, &text);
	buffer_append_char(&text, '}');
	if (buffer_status(&text) == 0)
		audience->heard(audience->data, "ovos.tools.job.completed", text.data, text.size);
}

/* Announce the end of @job to its caller. */
static void announce_job(struct job *job)
{
	const struct invoker *invoker = job->jobs->invoker;
	struct answer event;

	if (job->door != CALL_DOOR_BUS) {
		announce_at_door(job);
		return;
	}
	if (job->response.message.size == 0 ||
		!answer_begin_aside(&event, &job->response, "ovos.tools.job.completed"))
		answer_begin_broadcast(&event, "ovos.tools.job.completed");
	job_write_members(job, true, &event.message);
	answer_make_fit(&event, invoker->config->limits.frame_bytes, "ask for less");
	answer_send(&event, invoker->bus);
}

/* Begin to write the ends refused by the disk. */
static void write_again(void *data)
{
	struct jobs *jobs = data;

	list_each(struct job, job, &jobs->all, link) {
		if (job->is_unwritten && job->phase == JOB_ENDED &&
			list_is_empty(&job->change.link))
			write_job(job);
	}
}

/* Note whether the file of @job has the end. */
static void note_written(struct job *job, int status)
{
	struct jobs *jobs = job->jobs;

	if (status == 0 && job->is_unwritten)
		log_info("The end of job %s is on the disk now", job->change.id);
	job->is_unwritten = status < 0;
	if (status == 0)
		return;
	log_limited(&jobs->unwritten, LOG_LEVEL_ERROR,
		"The end of job %s cannot be written, and will be lost with a restart before it "
		"can: %s",
		job->change.id, strerror(-status));
	loop_timer_arm(&jobs->rewrite, JOB_REWRITE_MS);
}

/* Note that the file of @job has its end, or cannot have it now: until a restart the end is
 * known. */
static void end_job(struct job *job, int status)
{
	struct jobs *jobs = job->jobs;

	note_written(job, status);
	if (job->phase != JOB_ENDING)
		return;
	job->phase = JOB_ENDED;
	announce_job(job);
	jobs_answer_waits(jobs, job);
	expire_jobs(jobs);
}

static enum job_state state_of_answer(const struct answer *answer)
{
	if (!answer_is_error(answer))
		return JOB_DONE;
	return answer->code == ANSWER_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
}

/* Append an object with the members of @answer after its mark. */
static void write_own_members(const struct answer *answer, struct buffer *out)
{
	const char *at = answer->message.data + answer->kept;
	size_t size = answer->message.size - answer->kept;

	buffer_fail_with(out, &answer->message);
	buffer_append_char(out, '{');
	if (size > 0 && *at == ',')
		buffer_append(out, at + 1, size - 1);
	else
		buffer_append(out, at, size);
}

/* End the running or waiting @job with @state and @end, an object. */
static void finish_job(struct job *job, enum job_state state, const char *end, size_t size)
{
	struct jobs *jobs = job->jobs;

	job->phase = JOB_ENDING;
	job->state = state;
	job->ended_ms = now_real_ms();
	set_end(job, end, size);
	if (buffer_status(&job->end) < 0 || job->end.size == 0) {
		job->state = JOB_FAILED;
		set_end(job, dropped, strlen(dropped));
	}
	drop_results(jobs, job);
	write_job(job);
	/* A request in the waiting room may have ended without a call. */
	loop_task_post(&jobs->task);
}

/* Take the answer of the call of @address (struct address_operations). */
static void take_job_answer(struct address *address, struct answer *answer)
{
	struct job *job = job_at(address);
	const struct calls *calls = job->jobs->invoker->calls;
	cleanup(buffer_deinit) struct buffer end = {0};

	check(job->phase == JOB_CALLING);
	if (answer_is_open(&job->answer)) {
		answer_copy_error(&job->answer, answer);
		job->is_refused = true;
		return;
	}
	/* The next service ends it. */
	if (calls->is_stopping && answer_is_error(answer) && answer->code == ANSWER_UNAVAILABLE)
		return;
	write_own_members(answer, &end);
	job->has_content = answer->has_content && !answer_is_error(answer);
	finish_job(job, state_of_answer(answer), buffer_text(&end),
		buffer_status(&end) == 0 ? end.size : 0);
}

static void take_progress(struct address *address, const struct json_tape *progress)
{
	struct job *job = job_at(address);

	job->updated_ms = now_real_ms();
	job->is_question = job_is_asked_about(job);
	buffer_reset(&job->progress_text);
	call_keep_progress(progress, &job->has_progress, &job->progress, &job->progress_text);
}

static bool job_is_granted(const struct address *address)
{
	const struct job *job = container_of(address, const struct job, address);

	return address_is_granted(job->caller);
}

/* ── the beginning ───────────────────────────────────────────────────────────────────────────── */

/* Answer the caller of @job, without a run, and remove its file. */
static void refuse_job(struct job *job)
{
	answer_send(&job->answer, job->jobs->invoker->bus);
	remove_job(job);
}

/* Keep the beginning of the response to @job, with its context, for messages aside. */
static void keep_response(struct job *job)
{
	const struct answer *answer = &job->answer;
	size_t size;
	const char *text = bus_message_text(&answer->message, &size);

	if (answer->address || answer->opened > HEAD_BYTES)
		return;
	size = answer->opened - 1 - (size_t)(text - answer->message.data);
	buffer_append(&job->response.message, text, size);
	job->response.opened = size + 1;
	if (buffer_status(&job->response.message) == 0)
		job->address.response = &job->response;
}

/* Answer the caller of @job that it runs. */
static void answer_running(struct job *job)
{
	/* The door of HTTP knows a job by the end of this text. */
	job_write_times(job, &job->answer.message);
	answer_member_text(&job->answer, "job_id", job->change.id);
	answer_member_text(&job->answer, "state", job_state_names[JOB_RUNNING]);
	answer_send(&job->answer, job->jobs->invoker->bus);
}

/* Serve the request of @job, by now on the disk: its call begins, or is refused. */
static void call_job(struct job *job)
{
	static const char memory[] = "RuntimeError: The service is unavailable: out of memory";
	const struct jobs *jobs = job->jobs;
	const struct invoker *invoker = jobs->invoker;
	struct account *account = account_ref(job->account);
	struct account *before = bus_act_for(invoker->bus, account);
	struct answer answer;

	job->phase = JOB_CALLING;
	address_ref(&job->address);
	invoker->calls->hold = limits_move(&job->hold);
	if (jobs->serve(jobs->data, &job->address, &job->text) != 0) {
		answer_begin_at(&answer, &job->address);
		answer_error(&answer, ANSWER_UNAVAILABLE, memory, strlen(memory), UINT32_MAX);
		answer_send(&answer, invoker->bus);
	}
	limits_release(&invoker->calls->hold);
	drop_request(job);
	if (job->is_refused)
		refuse_job(job);
	else if (answer_is_open(&job->answer))
		answer_running(job);
	address_unref(&job->address);
	bus_act_for(invoker->bus, before);
	account_unref(account);
}

/* ── beside the foreground ───────────────────────────────────────────────────────────────────── */

/* Return the number of calls of jobs in @runner. */
static uint32_t count_background(const struct jobs *jobs, const struct runner *runner)
{
	uint32_t n = 0;

	list_each(const struct call, call, &jobs->invoker->calls->in_flight, link) {
		n += call->runner_call.is_taken && call->runner_call.runner == runner &&
		     address_is_of_job(call->answer.address);
	}
	return n;
}

/* Return the runner of the tool of @job, with the number of its workers; NULL: the tool is gone. */
static const struct runner *find_runner(const struct job *job, uint32_t *ret_workers)
{
	const struct offer *offer = job->jobs->invoker->offer;
	const struct tool *tool;

	/* The names have no escapes. */
	if (!offer->catalogue ||
		catalogue_find(offer->catalogue, job->name.data + 1, job->name.size - 2,
			job->toolbox_id.data + 1, job->toolbox_id.size - 2, false, &tool) != 0)
		return NULL;
	*ret_workers = tool->toolbox->package->limits.workers;
	return tool->toolbox->package->runner;
}

/* Return the number of jobs for @runner whose requests are in the waiting room: their calls are
 * still to come. */
static uint32_t count_coming(const struct jobs *jobs, const struct runner *runner)
{
	uint32_t workers;
	uint32_t n = 0;

	list_each(const struct waiting_request, request, &jobs->invoker->waiting->places, place) {
		n += address_is_of_job(request->address) &&
		     find_runner(job_at(request->address), &workers) == runner;
	}
	return n;
}

/* Return whether no call in the foreground would wait for the call of @job. A job without a tool
 * has room: its request will be refused. */
static bool has_room_beside(const struct jobs *jobs, const struct job *job)
{
	uint32_t workers = 0;
	const struct runner *runner = find_runner(job, &workers);
	uint32_t n_coming;

	if (!runner || workers <= 1)
		return true;
	n_coming = count_coming(jobs, runner);
	return runner_n_calls(runner) + n_coming < workers &&
	       count_background(jobs, runner) + n_coming + 1 < workers;
}

/* Have the timer at the end of the earliest deadline of a waiting job. */
static void set_late(struct jobs *jobs)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t due_ms = UINT64_MAX;

	list_each(const struct job, job, &jobs->all, link) {
		if (job->phase == JOB_WAITING && job->address.due_ms < due_ms)
			due_ms = job->address.due_ms;
	}
	if (due_ms == UINT64_MAX)
		loop_timer_disarm(&jobs->late);
	else
		loop_timer_arm(&jobs->late, due_ms > now_ms ? due_ms - now_ms : 0);
}

/* End @job at its deadline: it still waits. */
static void time_out(struct job *job)
{
	cleanup(buffer_deinit) struct buffer end = {0};

	buffer_printf(&end,
		"{\"error\":\"TimeoutError: Tool '%.*s' in ToolBox '%.*s' exceeded its deadline of "
		"%llu ms (it has waited for its turn)\",\"code\":\"timeout\",\"timeout_ms\":%llu}",
		(int)job->name.size - 2, job->name.data + 1, (int)job->toolbox_id.size - 2,
		job->toolbox_id.data + 1, (unsigned long long)job->timeout_ms,
		(unsigned long long)job->timeout_ms);
	finish_job(job, JOB_FAILED, buffer_text(&end), end.size);
	drop_request(job);
}

/* End the waiting jobs after their time. */
static void end_late(void *data)
{
	struct jobs *jobs = data;
	uint64_t now_ms = clock_now_ms();

	list_each(struct job, job, &jobs->all, link)
		if (job->phase == JOB_WAITING && job->address.due_ms <= now_ms)
			time_out(job);
	set_late(jobs);
}

/* Call the waiting jobs for which there is room. */
static void call_waiting(void *data)
{
	struct jobs *jobs = data;

	list_each(struct job, job, &jobs->all, link) {
		if (job->phase == JOB_WAITING && !jobs->invoker->calls->is_stopping &&
			has_room_beside(jobs, job))
			call_job(job);
	}
	set_late(jobs);
}

/* End the waiting @job as cancelled. */
static void end_cancelled(struct job *job)
{
	cleanup(buffer_deinit) struct buffer end = {0};

	buffer_printf(&end,
		"{\"error\":\"RuntimeError: Call '%s' was cancelled\",\"code\":\"cancelled\"}",
		job->change.id);
	finish_job(job, JOB_CANCELLED, buffer_text(&end), end.size);
	drop_request(job);
}

bool job_cancel_early(struct job *job)
{
	if (job->phase == JOB_KEEPING)
		job->is_cancelled = true;
	else if (job->phase == JOB_WAITING)
		end_cancelled(job);
	else
		return false;
	return true;
}

bool jobs_cancel_early(struct jobs *jobs, const struct buffer *source, const struct buffer *call_id)
{
	bool is_any = false;

	list_each(struct job, job, &jobs->all, link) {
		if (job->door == CALL_DOOR_BUS && buffer_equals(&job->source, source) &&
			buffer_equals(&job->call_id, call_id))
			is_any = job_cancel_early(job) || is_any;
	}
	return is_any;
}

/* Go on with @job after its file was written, or not. */
static void begin_job(struct job *job, int status)
{
	const struct address *caller = job->answer.address;

	job->address.due_ms = clock_now_ms() + job->timeout_ms;
	if (status < 0) {
		answer_error_format(&job->answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The job cannot be kept: %s", strerror(-status));
		log_limited(&job->jobs->unwritten, LOG_LEVEL_ERROR,
			"A job was refused, since it cannot be kept in %s: %s",
			job->jobs->store.folder ? job->jobs->store.folder : "a state folder",
			strerror(-status));
		answer_send(&job->answer, job->jobs->invoker->bus);
		forget_job(job);
	} else if (job->is_cancelled || (caller && caller->has_left)) {
		errors_write_cancelled(&job->answer, &job->call_id, NULL);
		refuse_job(job);
	} else if (has_room_beside(job->jobs, job)) {
		call_job(job);
	} else {
		job->phase = JOB_WAITING;
		answer_running(job);
		set_late(job->jobs);
	}
}

/* The file of a job was changed (struct job_change). */
static void note_change(void *data, int status)
{
	struct job *job = data;

	if (job->phase == JOB_KEEPING)
		begin_job(job, status);
	else if (job->phase == JOB_LEAVING)
		forget_job(job);
	else
		end_job(job, status);
}

/* Return a job without a request; NULL without memory, or random bytes. */
static struct job *make_job(struct jobs *jobs)
{
	static const struct address_operations operations = {
		.answer = take_job_answer,
		.progress = take_progress,
		.is_granted = job_is_granted,
		.free = free_job,
	};
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->jobs = jobs;
	job->address =
		(struct address){.operations = &operations, .references = 1, .due_ms = UINT64_MAX};
	job->change.written = note_change;
	job->change.data = job;
	list_init(&job->change.link);
	list_append(&jobs->all, &job->link);
	jobs->n++;
	jobs->invoker->calls->on_close = &jobs->task;
	return job;
}

/* Let the call of @job answer for the caller in @scope. */
static void name_caller(struct job *job, const struct request_scope *scope)
{
	struct address *address = &job->address;

	if (scope->address) {
		address->source = scope->address->source;
		address->session_id = scope->address->session_id;
		address->granted = scope->address->granted;
		address->token = scope->address->token;
		address->trace = scope->address->trace;
	}
	address->door = job->door = scope->caller.door;
	job->caller = address_ref(scope->address);
}

/* Fill @job from the request in @scope for @tool. Return 0 or a negative errno. */
static int fill_job(struct job *job, const struct request_scope *scope, const struct tool *tool)
{
	struct buffer *const texts[] = {
		&job->name, &job->toolbox_id, &job->call_id, &job->source, &job->session};
	size_t size = request_text_size(&scope->text);
	size_t n_bytes = 0;

	if (hex_write_id(job->change.id) < 0)
		return -EIO;
	job->bytes = malloc(size > 0 ? size : 1);
	if (!job->bytes)
		return -ENOMEM;
	job->text = request_text_copy(&scope->text, job->bytes);
	name_caller(job, scope);
	json_write_text(&job->name, tool->name);
	json_write_text(&job->toolbox_id, tool->toolbox->id);
	request_keep_value(scope->request.data, scope->request.call_id, &job->call_id);
	request_keep_text(&scope->caller.source, &job->source);
	request_keep_text(&scope->caller.session_id, &job->session);
	job->run_llm = scope->arguments.run_llm;
	job->started_ms = now_real_ms();
	job->timeout_ms =
		call_job_timeout_ms(job->jobs->invoker->config, tool, scope->request.timeout_ms);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (buffer_status(texts[i]) < 0)
			return buffer_status(texts[i]);
		n_bytes += texts[i]->size;
	}
	return n_bytes > JOB_TEXTS_BYTES ? -EMSGSIZE : 0;
}

/* Charge the account of the sender with the request of @job and its @answer; false when it has no
 * room. */
static bool charge_job(struct job *job, const struct answer *answer)
{
	struct account *account = bus_sender(job->jobs->invoker->bus);
	size_t bytes = request_text_size(&job->text) + answer->message.size;

	if (!account_hold(account, bytes))
		return false;
	job->account = account_ref(account);
	job->held_bytes = bytes;
	return true;
}

/* Have the folder, and what an earlier service has left there. Return 0 or a negative errno. */
static int open_store(struct jobs *jobs);

/* Return whether there is room for another job; else the error is in @answer. */
static bool make_place(struct jobs *jobs, struct answer *answer)
{
	int r = open_store(jobs);
	struct job *first;

	if (r < 0) {
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The job cannot be kept: %s",
			r == -EAGAIN ? "another toolboxd has the folder of jobs" : strerror(-r));
		return false;
	}
	if (jobs->n < JOBS_MAX)
		return true;
	first = find_first_ended(jobs, false);
	if (first)
		remove_job(first);
	else
		answer_error_format(answer, ANSWER_BUSY,
			"RuntimeError: Too many jobs: %u are running, the most that there may be",
			jobs->n);
	return first != NULL;
}

bool jobs_begin(struct jobs *jobs, const struct request_scope *scope, const struct tool *tool,
	struct answer *answer)
{
	struct job *job;
	int r;

	if (!make_place(jobs, answer))
		return false;
	job = make_job(jobs);
	r = job ? fill_job(job, scope, tool) : -ENOMEM;
	if (r == 0 && charge_job(job, answer)) {
		job->answer = answer_take(answer);
		job->hold = limits_move(&jobs->invoker->calls->hold);
		keep_response(job);
		write_job(job);
		return true;
	}
	if (r == -EMSGSIZE)
		answer_error_format(answer, ANSWER_BAD_REQUEST,
			"ValueError: Bad request: the source, session_id and call_id of a job may "
			"have %d bytes together",
			JOB_TEXTS_BYTES);
	else if (r < 0)
		errors_write_unavailable(answer, tool, strerror(-r));
	else
		errors_write_too_many(answer, &scope->caller.source, 1,
			"their requests hold as much memory as they may (limits.peer_bytes)");
	if (job)
		forget_job(job);
	return false;
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

/* Move @job, the last one of the table, to its place in the order of the beginnings. */
static void sort_in(struct job *job)
{
	struct list *before = job->link.previous;

	while (before != &job->jobs->all && job_in(before)->started_ms > job->started_ms)
		before = before->previous;
	list_remove(&job->link);
	list_insert_before(before->next, &job->link);
}

/* Take the job @id, whose file has @text (job_store_each()). */
static void take_record(void *data, const char *id, struct buffer *text)
{
	struct jobs *jobs = data;
	struct job *job = make_job(jobs);
	int r = job ? job_record_read(job, text->data, text->size) : -ENOMEM;

	if (job)
		jobs->result_bytes += job->end.size;
	if (r < 0) {
		log_warning("The job in %s/%s.json cannot be read: %s", jobs->store.folder, id,
			r == -EINVAL ? "it is no record of a job" : strerror(-r));
		if (job)
			forget_job(job);
		return;
	}
	memcpy(job->change.id, id, sizeof(job->change.id));
	sort_in(job);
	if (job->state == JOB_RUNNING)
		finish_job(job, JOB_FAILED, restarted, strlen(restarted));
	else
		job->phase = JOB_ENDED;
}

static int open_store(struct jobs *jobs)
{
	int r;

	if (jobs->lock >= 0)
		return 0;
	if (!jobs->store.folder)
		return -ENOENT;
	r = file_lock(jobs->store.folder, 0, &jobs->lock);
	if (r == 0)
		r = job_store_each(
			&jobs->store, JOBS_RESULTS_BYTES + JOB_RECORD_BYTES, take_record, jobs);
	expire_jobs(jobs);
	return r;
}

int jobs_init(struct jobs *jobs, struct loop *loop, const struct invoker *invoker,
	const char *state, job_function serve, void *data)
{
	int r;

	*jobs = (struct jobs){.invoker = invoker, .serve = serve, .data = data, .lock = -1};
	list_init(&jobs->all);
	list_init(&jobs->waiters);
	r = job_store_init(&jobs->store, loop, state);
	if (r == 0)
		r = loop_timer_init(&jobs->expiry, loop, expire_jobs, jobs);
	if (r == 0)
		r = loop_timer_init(&jobs->due, loop, jobs_look_at_waits, jobs);
	if (r == 0)
		r = loop_timer_init(&jobs->late, loop, end_late, jobs);
	if (r == 0)
		r = loop_timer_init(&jobs->rewrite, loop, write_again, jobs);
	loop_task_init(&jobs->task, loop, call_waiting, jobs);
	return r;
}

void jobs_open(struct jobs *jobs)
{
	int r = 0;

	if (jobs->lock < 0 && jobs->store.folder && access(jobs->store.folder, F_OK) == 0)
		r = open_store(jobs);
	if (r < 0 && r != -EAGAIN)
		log_limited(&jobs->unwritten, LOG_LEVEL_ERROR, "The jobs in %s cannot be used: %s",
			jobs->store.folder, strerror(-r));
}

void jobs_deinit(struct jobs *jobs)
{
	if (!jobs->invoker)
		return;
	/* The last chance of the ends refused by the disk. */
	write_again(jobs);
	job_store_deinit(&jobs->store);
	jobs_answer_waits(jobs, NULL);
	while (jobs->n > 0)
		forget_job(job_in(jobs->all.next));
	loop_timer_deinit(&jobs->expiry);
	loop_timer_deinit(&jobs->due);
	loop_timer_deinit(&jobs->late);
	loop_timer_deinit(&jobs->rewrite);
	loop_task_cancel(&jobs->task);
	if (jobs->lock >= 0)
		close(jobs->lock);
}

bool jobs_are_kept(const struct jobs *jobs)
{
	return job_store_is_idle(&jobs->store);
}
