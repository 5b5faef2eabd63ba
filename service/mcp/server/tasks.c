/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/tasks.h"

#include <stdio.h>

#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "mcp/server/engine.h"
#include "mcp/task.h"
#include "util/stringify.h"

/* ── parameters ──────────────────────────────────────────────────────────────────────────────── */

/* Refuse a client without the extension. */
static int expect_declared(const struct mcp_message *message, struct mcp_error *error)
{
	if (message->has_tasks)
		return 0;
	return mcp_refuse(error, MCP_MISSING_CAPABILITY, 400,
		"The client has not declared the extension " MCP_TASKS_EXTENSION ".");
}

static int refuse_parameter(struct mcp_error *error, const char *text)
{
	return mcp_refuse(error, MCP_INVALID_PARAMS, 200, text);
}

int mcp_tasks_read(struct mcp_message *message, struct mcp_error *ret_error)
{
	const struct json_tape *tape = &message->tape;
	int r = expect_declared(message, ret_error);

	if (r != 0)
		return r;
	message->task = json_find_typed(tape, message->params, "taskId", JSON_STRING);
	if (message->task == JSON_NONE)
		return refuse_parameter(ret_error, "params.taskId must be a string.");
	if (message->method == MCP_TASKS_UPDATE &&
		json_find_typed(tape, message->params, "inputResponses", JSON_OBJECT) == JSON_NONE)
		return refuse_parameter(ret_error, "params.inputResponses must be an object.");
	return 0;
}

int mcp_tasks_read_ids(struct mcp_message *message, uint32_t filter, struct mcp_error *ret_error)
{
	const struct json_tape *tape = &message->tape;
	uint32_t ids = json_find_present(tape, filter, "taskIds");
	int r;

	message->task_ids = ids;
	if (ids == JSON_NONE)
		return 0;
	r = expect_declared(message, ret_error);
	if (r != 0)
		return r;
	if (json_type_at(tape, ids) != JSON_ARRAY || json_count(tape, ids) > MCP_WATCHED_MAX)
		return refuse_parameter(ret_error,
			"params.notifications.taskIds must be an array of at most " STRINGIFY(
				MCP_WATCHED_MAX) " strings.");
	json_each(i, tape, ids)
		if (json_type_at(tape, i) != JSON_STRING)
			return refuse_parameter(
				ret_error, "params.notifications.taskIds must hold strings.");
	return 0;
}

/* ── one task ────────────────────────────────────────────────────────────────────────────────── */

/* Respond to @exchange, a request about the task of the job @data. */
static void respond_about(struct mcp_exchange *exchange, const struct json_tape *data)
{
	const struct mcp_server *server = &exchange->engine->server;
	cleanup(buffer_deinit) struct buffer out = {0};

	if (exchange->message.method == MCP_TASKS_GET)
		mcp_write_task(&out, &exchange->message, server, data);
	else
		mcp_write_pong(&out, &exchange->message, server);
	mcp_exchange_respond(exchange, &out);
}

/* Take the answer @data to a request about a task: a job may have failed, and is no error of the
 * request. */
static void take_job(struct mcp_exchange *exchange, const struct json_tape *data)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_error error;

	if (json_find(data, 0, "job_id") != JSON_NONE) {
		respond_about(exchange, data);
		return;
	}
	mcp_refuse_task(data, &text, &error);
	mcp_exchange_refuse(exchange, &error);
}

void mcp_tasks_serve(struct mcp_exchange *exchange)
{
	static const struct mcp_task_role role = {.answer = take_job};
	const struct mcp_message *message = &exchange->message;
	struct text_view id = json_value_view(&message->tape, message->task);

	if (!mcp_exchange_begin(exchange, MCP_CALLING))
		return;
	exchange->role = &role;
	if (exchange->engine->door->ask_job(exchange, message->method == MCP_TASKS_CANCEL, id) < 0)
		mcp_exchange_refuse_memory(exchange);
}

/* ── listeners ───────────────────────────────────────────────────────────────────────────────── */

static void notify_of(struct mcp_exchange *exchange, const struct json_tape *data)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_task_changed(&out, &exchange->message, data);
	exchange->engine->door->notify(exchange, &out);
}

/* Notify @exchange of the kept state of @task. */
static void notify_kept(struct mcp_exchange *exchange, struct mcp_watched_task *task)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};

	if (task->state.size > 0 && json_tape_read(&data, task->state.data, task->state.size,
					    JSON_DOCUMENT_DEPTH_MAX, NULL) == 0)
		notify_of(exchange, &data);
	buffer_deinit(&task->state);
}

/* Acknowledge the listen @exchange, and notify the client of its tasks as they are. */
static void acknowledge(struct mcp_exchange *exchange)
{
	const struct mcp_message *message = &exchange->message;
	struct mcp_watch *watch = &exchange->watch;
	cleanup(buffer_deinit) struct buffer ids = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct text_view view;

	watch->is_acknowledged = true;
	buffer_append_char(&ids, '[');
	for (size_t i = 0; i < watch->n; i++)
		if (watch->tasks[i].is_seen)
			buffer_printf(
				&ids, "%s\"%s\"", ids.size > 1 ? "," : "", watch->tasks[i].id);
	buffer_append_char(&ids, ']');
	view = (struct text_view){ids.data, ids.size};
	buffer_fail_with(&out, &ids);
	mcp_write_acknowledged(
		&out, message->id, message->wants_tool_changes, exchange->role ? &view : NULL);
	exchange->engine->door->notify(exchange, &out);
	for (size_t i = 0; i < watch->n && mcp_exchange_is_open(exchange); i++)
		notify_kept(exchange, &watch->tasks[i]);
}

/* Note the arrival, or the lack, of an answer. */
static void count_answer(struct mcp_exchange *exchange)
{
	struct mcp_watch *watch = &exchange->watch;

	if (watch->n_asked > 0 && --watch->n_asked == 0 && !watch->is_acknowledged)
		acknowledge(exchange);
}

void mcp_tasks_watch(struct mcp_exchange *exchange)
{
	struct mcp_watch *watch = &exchange->watch;
	size_t n = watch->n;

	if (n == 0) {
		if (!watch->is_acknowledged)
			acknowledge(exchange);
		return;
	}
	watch->n_asked = n;
	for (size_t i = 0; i < n && mcp_exchange_is_open(exchange); i++) {
		char id[MCP_TASK_ID_CHARS + 3];

		snprintf(id, sizeof(id), "\"%s\"", watch->tasks[i].id);
		if (exchange->engine->door->ask_job(exchange, false, TEXT_VIEW(id)) < 0)
			count_answer(exchange);
	}
}

/* Notify the listener @exchange of the change of the job @data, if it is among its tasks. */
static void take_change(struct mcp_exchange *exchange, const struct json_tape *data)
{
	struct mcp_watched_task *task =
		mcp_watch_find(&exchange->watch, data, json_find(data, 0, "job_id"));

	if (!task || !task->is_seen)
		return;
	if (exchange->watch.is_acknowledged) {
		notify_of(exchange, data);
		return;
	}
	buffer_reset(&task->state);
	json_write_compact(&task->state, data, 0);
}

/* Take the answer @data about a task of the listener @exchange. */
static void take_state(struct mcp_exchange *exchange, const struct json_tape *data)
{
	struct mcp_watched_task *task =
		mcp_watch_find(&exchange->watch, data, json_find(data, 0, "job_id"));

	if (task) {
		task->is_seen = true;
		take_change(exchange, data);
	}
	count_answer(exchange);
}

int mcp_tasks_keep_ids(struct mcp_exchange *exchange)
{
	static const struct mcp_task_role role = {.answer = take_state, .report = take_change};

	exchange->role = &role;
	return mcp_watch_begin(
		&exchange->watch, &exchange->message.tape, exchange->message.task_ids);
}
