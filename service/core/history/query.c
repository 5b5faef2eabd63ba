/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core/history/history.h"
#include "util/clock.h"
#include "util/file/stamp.h"

/*
 * ovos.tools.calls: the newest first, and the calls in flight before the others. A call hidden from
 * the caller is passed over like an unwanted call, so no answer depends on it.
 */

/* A clock that differs by more was set. */
#define SET_NS 50000000

/* One query. */
struct query {
	const struct request_scope *scope;
	bool sees_all;
	uint64_t now_ns;
	int64_t real_ns;
	uint64_t n_left; /* calls that the answer may still get */
	struct buffer *out;
	bool has_any;
};

/* Return the text inside a part of a summary, which has no escapes; absent if it has. */
static struct text_view plain_part(const struct call_summary *summary, enum summary_part part)
{
	struct text_view json = call_summary_part(summary, part);

	if (!json.text || memchr(json.text, '\\', json.size))
		return (struct text_view){0};
	return (struct text_view){json.text + 1, json.size - 2};
}

/* Return whether the tool of @summary is one of @view. Names of tools and toolboxes have no
 * escapes. */
static bool is_in_view(const struct catalogue *view, const struct call_summary *summary)
{
	struct text_view name = plain_part(summary, SUMMARY_NAME);
	struct text_view id = plain_part(summary, SUMMARY_TOOLBOX);
	const struct tool *tool;

	return name.text && id.text &&
	       catalogue_find(view, name.text, name.size, id.text, id.size, false, &tool) == 0;
}

bool history_shows(
	const struct request_scope *scope, bool sees_all, const struct call_summary *summary)
{
	const struct text_view *source = &scope->caller.source;

	if (sees_all)
		return true;
	if (call_summary_part(summary, SUMMARY_TOOLBOX).text)
		return is_in_view(scope->view, summary);
	return source->text && !summary->is_source_cut &&
	       call_summary_has(summary, SUMMARY_SOURCE, source);
}

static bool is_asked_for(const struct query *query, const struct call_summary *summary)
{
	const struct request *request = &query->scope->request;

	if (request->state >= 0 && (int)summary->state != request->state)
		return false;
	if (request->name != JSON_NONE &&
		!call_summary_has(summary, SUMMARY_NAME, &request->name_text))
		return false;
	if (request->toolbox_id.text &&
		!call_summary_has(summary, SUMMARY_TOOLBOX, &request->toolbox_id))
		return false;
	return !request->source.text || call_summary_has(summary, SUMMARY_SOURCE, &request->source);
}

/* Write @summary if it is asked for and may be seen. Return whether the answer may get more. */
static bool take_summary(struct query *query, const struct call_summary *summary)
{
	if (!is_asked_for(query, summary) || !history_shows(query->scope, query->sees_all, summary))
		return true;
	if (query->has_any)
		buffer_append_char(query->out, ',');
	query->has_any = true;
	call_summary_write(summary, query->now_ns, query->real_ns, query->out);
	return --query->n_left > 0;
}

/* Write the calls in flight and the requests that wait and have a line. Return whether the answer
 * may get more. */
static bool take_open(
	struct query *query, const struct calls *calls, const struct waiting_room *waiting)
{
	for (const struct list *place = waiting->places.previous; place != &waiting->places;
		place = place->previous) {
		const struct waiting_request *request =
			container_of(place, struct waiting_request, place);

		if (request->summary && !take_summary(query, request->summary))
			return false;
	}
	for (const struct list *link = calls->in_flight.previous; link != &calls->in_flight;
		link = link->previous) {
		const struct call *call = container_of(link, struct call, link);
		struct call_summary summary;

		call_summary_describe(call, &summary);
		call_summary_go_on(&summary, call);
		if (!take_summary(query, &summary))
			return false;
	}
	return true;
}

/* Write the calls that were over at @since_ns or later. They are in the order of their ends. */
static void take_past(struct query *query, const struct history *history, uint64_t since_ns)
{
	const struct call_summary *summary;

	for (size_t i = 0; (summary = history_at(history, i)); i++) {
		if (summary->started_ns + summary->duration_us * NS_PER_US < since_ns)
			return;
		if (!take_summary(query, summary))
			return;
	}
}

static uint64_t since_ns(const struct request *request, uint64_t now_ns)
{
	double since = request->since_s * (double)(MS_PER_S * NS_PER_MS);

	return request->has_since && since < (double)now_ns ? now_ns - (uint64_t)since : 0;
}

/* Return what CLOCK_REALTIME is ahead of @now_ns. It stays the same unless the clock is set: a call
 * has one time of beginning in all answers. */
static int64_t real_offset(struct history *history, uint64_t now_ns)
{
	int64_t real_ns = stamp_now_ns() - (int64_t)now_ns;

	if (llabs(real_ns - history->real_ns) > SET_NS)
		history->real_ns = real_ns;
	return history->real_ns;
}

void history_query(struct history *history, const struct calls *calls,
	const struct waiting_room *waiting, const struct request_scope *scope, bool sees_all,
	struct answer *answer)
{
	const struct request *request = &scope->request;
	uint64_t now_ns = clock_now_ns();
	struct query query = {
		.scope = scope,
		.sees_all = sees_all,
		.now_ns = now_ns,
		.real_ns = real_offset(history, now_ns),
		.n_left = request->limit,
		.out = answer_member(answer, "calls"),
	};

	buffer_append_char(query.out, '[');
	if (request->state > SUMMARY_RUNNING || take_open(&query, calls, waiting))
		take_past(&query, history, since_ns(request, now_ns));
	buffer_append_char(query.out, ']');
}
