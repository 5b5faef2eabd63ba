/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/cancel.h"

#include "core/call/batch.h"
#include "core/call/calls.h"
#include "core/history/history.h"
#include "core/job/job_queries.h"
#include "core/job/jobs.h"
#include "core/request/waiting.h"
#include "json/writer.h"

static void cancel_call(const struct invoker *invoker, struct call *call)
{
	if (call->runner_call.is_taken)
		runner_cancel(call->runner_call.runner, &call->runner_call);
	else
		approval_cancel(invoker->approval, call);
}

/* Return the request that waits, has a line, and has the daemon's id @id; or NULL. */
static struct waiting_request *find_waiting(
	const struct invoker *invoker, const struct text_view *id)
{
	list_each(struct waiting_request, request, &invoker->waiting->places, place) {
		if (request->summary &&
			call_has_id(invoker->calls->process, request->call_number, id))
			return request;
	}
	return NULL;
}

/* Cancel the call with the daemon's id in @scope's request, if the caller sees this call. Return
 * whether there was one. */
static bool cancel_id(const struct invoker *invoker, const struct request_scope *scope)
{
	const struct text_view *id = &scope->request.id;
	struct call *call = calls_find_id(invoker->calls, id);
	struct waiting_request *waiting = call ? NULL : find_waiting(invoker, id);
	struct call_summary summary;

	if (call)
		call_summary_describe(call, &summary);
	else if (waiting)
		summary = *waiting->summary;
	else
		return false;
	/* Anybody on the bus may know the id of a call that came with a proof of who made it. */
	if (summary.door != CALL_DOOR_BUS && scope->caller.door == CALL_DOOR_BUS)
		return false;
	if (!history_shows(scope, offer_shows_all(invoker->offer, scope->view), &summary))
		return false;
	if (call)
		cancel_call(invoker, call);
	else
		waiting_cancel(waiting);
	return true;
}

/* Cancel the calls with answers to @address, and the requests that wait for it. */
static void cancel_calls_at(const struct invoker *invoker, const struct address *address)
{
	struct call *call;

	while ((call = calls_find_address(invoker->calls, address)))
		cancel_call(invoker, call);
	waiting_cancel_address(invoker->waiting, address);
}

/* Cancel the calls of @batch, those to come, too. @has_left: its caller is gone. */
static void cancel_batch(const struct invoker *invoker, struct batch *batch, bool has_left)
{
	batch_cancel_rest(batch);
	for (uint32_t i = 0; i < batch->n_begun; i++) {
		struct address *address = &batch->entries[i].address;

		if (address->references == 0)
			continue;
		if (has_left)
			address_leave(address);
		cancel_calls_at(invoker, address);
	}
}

/* Cancel the batches of the bus with this origin, and entries to come with it in other batches.
 * Return whether there was one. */
static bool cancel_batches(
	const struct invoker *invoker, const struct buffer *source, const struct buffer *call_id)
{
	bool is_any = false;

	list_each(struct batch, batch, &invoker->batches->all, link) {
		if (batch->caller->door != CALL_DOOR_BUS || !buffer_equals(&batch->source, source))
			continue;
		if (buffer_equals(&batch->call_id, call_id)) {
			cancel_batch(invoker, batch, false);
			is_any = true;
		}
		for (uint32_t i = batch->n_begun; i < batch->n; i++) {
			struct batch_entry *entry = &batch->entries[i];

			if (buffer_equals(&entry->call_id, call_id))
				is_any = entry->is_cancelled = true;
		}
	}
	return is_any;
}

/* Cancel the calls that @scope's request means by a call_id, and return whether there was one. Each
 * search begins anew, since the end of one call may end others. */
static bool cancel_calls(const struct invoker *invoker, const struct request_scope *scope)
{
	cleanup(buffer_deinit) struct buffer call_id = {0};
	cleanup(buffer_deinit) struct buffer source = {0};
	struct call *call;
	bool is_any;

	request_scope_keep_origin(scope, &call_id, &source);
	is_any = cancel_batches(invoker, &source, &call_id);
	is_any = jobs_cancel_early(invoker->jobs, &source, &call_id) || is_any;
	while ((call = calls_find(invoker->calls, CALL_DOOR_BUS, &source, &call_id))) {
		cancel_call(invoker, call);
		is_any = true;
	}
	return waiting_cancel_origin(invoker->waiting, &source, &call_id) || is_any;
}

void cancel_address(const struct invoker *invoker, const struct address *address)
{
	cancel_calls_at(invoker, address);
	list_each(struct batch, batch, &invoker->batches->all, link) {
		if (batch->answer.address == address)
			cancel_batch(invoker, batch, address->has_left);
	}
}

/* Cancel @job. Return whether it had not ended. */
static bool cancel_job(const struct invoker *invoker, struct job *job)
{
	if (job->phase == JOB_CALLING)
		cancel_calls_at(invoker, &job->address);
	else
		return job_cancel_early(job);
	return true;
}

void cancel_serve_job(
	const struct invoker *invoker, const struct request_scope *scope, struct answer *answer)
{
	struct job *job = jobs_find_asked(invoker->jobs, scope, answer);
	const struct text_view *id = &scope->request.id;

	if (!job)
		return;
	json_write_string(answer_member(answer, "job_id"), id->text, id->size);
	answer_member_boolean(answer, "cancelled", cancel_job(invoker, job));
}

void cancel_serve(
	const struct invoker *invoker, const struct request_scope *scope, struct answer *answer)
{
	const struct request *request = &scope->request;
	const char *text;
	size_t size;

	if (request->id.text) {
		json_write_string(answer_member(answer, "id"), request->id.text, request->id.size);
		answer_member_boolean(answer, "cancelled", cancel_id(invoker, scope));
		return;
	}
	text = json_value_text(request->data, request->call_id, &size);
	buffer_append(answer_member(answer, "call_id"), text, size);
	answer_member_boolean(answer, "cancelled", cancel_calls(invoker, scope));
}
