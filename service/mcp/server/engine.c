/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/engine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json/document.h"
#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "mcp/call_result.h"
#include "mcp/task.h"
#include "util/assert.h"

/* The levels of an answer of ours: an object alone. */
#define ANSWER_DEPTH 2

void mcp_engine_init(
	struct mcp_engine *engine, const struct mcp_door *door, const char *version, size_t n_max)
{
	*engine = (struct mcp_engine){.door = door, .server = {.version = version}, .n_max = n_max};
	list_init(&engine->requests);
}

void mcp_exchange_init(struct mcp_exchange *exchange, struct mcp_engine *engine)
{
	*exchange = (struct mcp_exchange){.engine = engine};
	list_init(&exchange->link);
}

void mcp_exchange_deinit(struct mcp_exchange *exchange)
{
	list_remove(&exchange->link);
	mcp_message_deinit(&exchange->message);
	buffer_deinit(&exchange->texts);
	mcp_watch_deinit(&exchange->watch);
	exchange->stage = MCP_OVER;
}

/* ── in flight ───────────────────────────────────────────────────────────────────────────────── */

bool mcp_exchange_is_open(const struct mcp_exchange *exchange)
{
	return exchange->stage != MCP_TAKEN && exchange->stage != MCP_OVER;
}

struct mcp_exchange *mcp_engine_first(const struct mcp_engine *engine, enum mcp_stage stage)
{
	list_each(struct mcp_exchange, exchange, &engine->requests, link)
		if (exchange->stage == stage)
			return exchange;
	return NULL;
}

/* Return a request of @session with the id @id (absent: any) that was not cancelled, or NULL. */
static struct mcp_exchange *find_in_flight(
	const struct mcp_engine *engine, const char *session, struct text_view id)
{
	list_each(struct mcp_exchange, exchange, &engine->requests, link) {
		if (exchange->stage == MCP_CANCELLED_CALL || !exchange->session ||
			strcmp(exchange->session, session) != 0)
			continue;
		if (!id.text ||
			(exchange->message.id.text && mcp_ids_equal(exchange->message.id, id)))
			return exchange;
	}
	return NULL;
}

bool mcp_engine_has_room(const struct mcp_engine *engine)
{
	size_t n = 0;

	list_each(struct mcp_exchange, exchange, &engine->requests, link)
		n += exchange->message.id.text != NULL;
	return engine->n_max == 0 || n < engine->n_max;
}

/* Keep the texts that messages about @exchange have. Return false without memory. */
static bool keep_texts(struct mcp_exchange *exchange)
{
	struct text_view *id = &exchange->message.id;
	struct text_view *token = &exchange->message.progress_token;

	buffer_append(&exchange->texts, id->text, id->size);
	if (token->text)
		buffer_append(&exchange->texts, token->text, token->size);
	if (buffer_status(&exchange->texts) < 0)
		return false;
	id->text = exchange->texts.data;
	token->text = token->text ? exchange->texts.data + id->size : NULL;
	return true;
}

/* Respond to @exchange, for which there is no room. */
static void refuse_room(struct mcp_exchange *exchange, enum mcp_stage stage)
{
	char answer[128];
	struct mcp_error error;

	if (stage == MCP_CALLING) {
		snprintf(answer, sizeof(answer),
			"{\"error\":\"RuntimeError: %zu requests are in flight: wait for one.\","
			"\"code\":\"busy\"}",
			exchange->engine->n_max);
		mcp_exchange_fail(exchange, answer);
		return;
	}
	mcp_refuse(&error, MCP_INTERNAL_ERROR, 503, "Too many requests are in flight.");
	mcp_exchange_refuse(exchange, &error);
}

bool mcp_exchange_begin(struct mcp_exchange *exchange, enum mcp_stage stage)
{
	struct mcp_engine *engine = exchange->engine;
	struct mcp_error error;

	check(exchange->stage == MCP_TAKEN && exchange->message.id.text);
	if (exchange->session && find_in_flight(engine, exchange->session, exchange->message.id)) {
		mcp_refuse(&error, MCP_INVALID_REQUEST, 400, "A request in flight has this id.");
		mcp_exchange_refuse(exchange, &error);
		return false;
	}
	if (!mcp_engine_has_room(engine)) {
		refuse_room(exchange, stage);
		return false;
	}
	if (!keep_texts(exchange)) {
		mcp_exchange_refuse_memory(exchange);
		return false;
	}
	exchange->stage = stage;
	list_append(&engine->requests, &exchange->link);
	return true;
}

void mcp_exchange_listen(struct mcp_exchange *exchange)
{
	check(exchange->stage == MCP_TAKEN && !exchange->message.id.text);
	exchange->message.wants_tool_changes = true;
	exchange->watch.is_acknowledged = true;
	exchange->stage = MCP_LISTENING;
	list_append(&exchange->engine->requests, &exchange->link);
}

void mcp_engine_cancel(struct mcp_engine *engine, const char *session, struct text_view id)
{
	struct mcp_exchange *exchange;

	/* The end of one may end others, so that each is looked for anew. */
	while ((exchange = find_in_flight(engine, session, id))) {
		if (exchange->stage == MCP_CALLING)
			exchange->stage = MCP_CANCELLED_CALL;
		engine->door->cancel(exchange);
	}
}

/* ── responses ───────────────────────────────────────────────────────────────────────────────── */

/* Send the one response to @exchange. */
static void send_response(struct mcp_exchange *exchange, unsigned int status, struct buffer *text)
{
	check(exchange->stage != MCP_OVER);
	list_remove(&exchange->link);
	exchange->stage = MCP_OVER;
	exchange->engine->door->respond(exchange, status, text);
}

void mcp_exchange_respond(struct mcp_exchange *exchange, struct buffer *text)
{
	send_response(exchange, 200, text);
}

void mcp_exchange_refuse(struct mcp_exchange *exchange, const struct mcp_error *error)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_error(&out, exchange->message.id, error);
	send_response(exchange, error->status, &out);
}

void mcp_exchange_refuse_memory(struct mcp_exchange *exchange)
{
	struct mcp_error error;

	mcp_refuse(&error, MCP_INTERNAL_ERROR, 503, "Out of memory.");
	mcp_exchange_refuse(exchange, &error);
}

/* Read the result of the search @exchange, whose answer is @data, into @tape, which refers to
 * @text. Return 0 or -ENOMEM. */
static int read_found(const struct mcp_exchange *exchange, const struct json_tape *data,
	struct buffer *text, struct json_tape *tape)
{
	buffer_append_string(text, "{\"result\":");
	mcp_lazy_write_found(data, &exchange->search, text);
	buffer_append_char(text, '}');
	return buffer_status(text) == 0 && json_tape_read(tape, text->data, text->size,
						   JSON_DOCUMENT_DEPTH_MAX, NULL) == 0
		       ? 0
		       : -ENOMEM;
}

void mcp_exchange_answer(
	struct mcp_exchange *exchange, const struct json_tape *data, bool has_content)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer found = {0};
	cleanup(json_tape_cleanup) struct json_tape tools = {0};
	struct mcp_error error;

	if (exchange->role) {
		exchange->role->answer(exchange, data);
		return;
	}
	if (exchange->is_task && json_find(data, 0, "job_id") != JSON_NONE) {
		mcp_write_created_task(&out, &exchange->message, &exchange->engine->server, data);
		mcp_exchange_respond(exchange, &out);
		return;
	}
	if (exchange->search.limit > 0 && json_find(data, 0, "error") == JSON_NONE) {
		if (read_found(exchange, data, &found, &tools) < 0) {
			mcp_exchange_refuse_memory(exchange);
			return;
		}
		data = &tools;
	}
	if (mcp_write_call_result(&out, &exchange->message, &exchange->engine->server, data,
		    has_content, exchange->is_lazy, &text, &error) != 0)
		mcp_exchange_refuse(exchange, &error);
	else
		mcp_exchange_respond(exchange, &out);
}

void mcp_exchange_fail(struct mcp_exchange *exchange, const char *answer)
{
	cleanup(json_tape_cleanup) struct json_tape data = {0};

	if (json_tape_read(&data, answer, strlen(answer), ANSWER_DEPTH, NULL) == 0)
		mcp_exchange_answer(exchange, &data, false);
	else
		mcp_exchange_refuse_memory(exchange);
}

void mcp_exchange_finish(struct mcp_exchange *exchange)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	check(exchange->stage == MCP_LISTENING);
	if (!exchange->message.id.text)
		return;
	mcp_write_pong(&out, &exchange->message, &exchange->engine->server);
	mcp_exchange_respond(exchange, &out);
}

/* ── notifications ───────────────────────────────────────────────────────────────────────────── */

static void notify_progress(struct mcp_exchange *exchange, double value, struct text_view text)
{
	const struct mcp_door *door = exchange->engine->door;
	cleanup(buffer_deinit) struct buffer out = {0};

	check(exchange->stage == MCP_CALLING || exchange->stage == MCP_CANCELLED_CALL);
	if (exchange->message.progress_token.text &&
		(!door->takes_report || door->takes_report(exchange, value)) &&
		mcp_write_progress(
			&out, &exchange->progress, exchange->message.progress_token, value, text))
		door->notify(exchange, &out);
}

void mcp_exchange_report(struct mcp_exchange *exchange, const struct json_tape *event)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};
	double value = NAN;

	json_read_f64(event, json_find(event, 0, "progress"), &value);
	json_read_text(event, json_find(event, 0, "text"), &decoded);
	notify_progress(exchange, value, (struct text_view){decoded.data, decoded.size});
}

void mcp_exchange_report_text(struct mcp_exchange *exchange, struct text_view text)
{
	notify_progress(exchange, NAN, text);
}

void mcp_engine_report_job(struct mcp_engine *engine, const struct json_tape *data)
{
	list_each(struct mcp_exchange, exchange, &engine->requests, link) {
		if (exchange->role && exchange->role->report)
			exchange->role->report(exchange, data);
	}
}

void mcp_engine_changed(struct mcp_engine *engine)
{
	const struct mcp_door *door = engine->door;

	list_each(struct mcp_exchange, exchange, &engine->requests, link) {
		cleanup(buffer_deinit) struct buffer message = {0};

		if (exchange->stage != MCP_LISTENING || !exchange->message.wants_tool_changes)
			continue;
		if (door->takes_report && !door->takes_report(exchange, NAN))
			continue;
		mcp_write_list_changed(&message, exchange->message.id);
		door->notify(exchange, &message);
	}
}
