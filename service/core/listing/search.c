/* SPDX-License-Identifier: Apache-2.0 */
#include "core/listing/search.h"

#include <errno.h>
#include <string.h>

#include "catalogue/definition.h"
#include "catalogue/markdown.h"
#include "core/listing/listing.h"
#include "json/writer.h"
#include "search/rank.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/stringify.h"

/* The time after which a search refused while the tools are indexed may come again. */
#define INDEXING_RETRY_S 1

/* ── the index ───────────────────────────────────────────────────────────────────────────────── */

static void run_update(void *data)
{
	struct search *search = data;

	search_index_run(search->index);
}

static void drop_index(struct search *search)
{
	search_index_free(take_ptr(search->index));
}

/* Take the index back from the thread, and serve the searches that have waited for it. */
static void finish_update(void *data)
{
	struct search *search = data;

	search->aside = NULL;
	if (search_index_end(search->index) < 0)
		drop_index(search);
	waiting_serve_queue(search->room, WAITING_INDEX, 0);
	search_follow(search);
}

/* Return whether the index is one of the catalogue and the language in force. */
static bool is_current(const struct search *search)
{
	return search->index && search->stemmer == search->config->stemmer &&
	       search_index_is_current(search->index, search->offer->catalogue);
}

/* Make sure that there is an index with the stemmer in force. Return 0, or a negative errno with
 * the reason. */
static int make_index(struct search *search, const char **ret_reason)
{
	if (search->stemmer != search->config->stemmer)
		drop_index(search);
	if (search->index)
		return 0;
	search->stemmer = search->config->stemmer;
	return search_index_new(search->stemmer, &search->index, ret_reason);
}

/* Begin to bring the index up to date, which no thread has. Return 0, or a negative errno with the
 * reason. */
static int begin_update(struct search *search, const char **ret_reason)
{
	int r = make_index(search, ret_reason);

	r = r ? r : search_index_begin(search->index, search->offer->catalogue);
	r = r ? r : aside_start(search->loop, run_update, finish_update, search, &search->aside);
	if (r < 0)
		drop_index(search);
	return r;
}

void search_follow(struct search *search)
{
	const char *reason;

	/* A search tries again, and reports a failure. */
	if (search->index && !search->aside && !is_current(search))
		(void)begin_update(search, &reason);
}

/* ── a request ───────────────────────────────────────────────────────────────────────────────── */

static void refuse_search(int status, const char *reason, struct answer *answer)
{
	answer_error_format(answer, ANSWER_UNAVAILABLE,
		"RuntimeError: The tools cannot be searched: %s",
		reason ? reason : strerror(-status));
}

/* Let the search in @scope wait for the thread. @answer has an error, or is given up. */
static void wait_for_index(
	struct search *search, const struct request_scope *scope, struct answer *answer)
{
	if (waiting_begin(search->room, scope, WAITING_INDEX, WAITING_CHECK_MS)) {
		answer_deinit(answer);
		return;
	}
	answer_error_format(answer, ANSWER_BUSY,
		"RuntimeError: The tools are being indexed: search again in " STRINGIFY(
			INDEXING_RETRY_S) " s");
	answer_member_number(answer, "retry_after_s", INDEXING_RETRY_S);
}

/* Return whether there is an index for the search in @scope. Else @answer has an error, or is given
 * up, and the request waits. A search that has waited takes the index as it is. */
static bool admit_search(
	struct search *search, const struct request_scope *scope, struct answer *answer)
{
	bool has_waited = scope->waited && scope->waited->reason == WAITING_INDEX;
	const char *reason = NULL;
	int r = 0;

	if (!search->aside && !is_current(search) && !(has_waited && search->index))
		r = has_waited ? -ENOMEM : begin_update(search, &reason);
	if (r < 0)
		refuse_search(r, reason, answer);
	else if (search->aside)
		wait_for_index(search, scope, answer);
	return r == 0 && !search->aside;
}

/* Append @tool of @view, as ranked, to the array at the end of @out. */
static void write_ranked(const struct catalogue *view, const struct ranked_tool *ranked,
	enum definition_format format, struct buffer *out, struct buffer *left_out)
{
	const struct tool *tool = catalogue_tool(view, ranked->index);
	char name[MODEL_NAME_BYTES];
	size_t start = out->size;

	if (start > 0 && out->data[start - 1] != '[')
		buffer_append_char(out, ',');
	if (!definition_write(tool, format,
		    format == DEFINITION_FULL ? NULL
					      : catalogue_model_name(view, ranked->index, name),
		    out)) {
		out->size = start;
		listing_leave_out(tool, format, left_out);
		return;
	}
	out->size -= buffer_status(out) == 0; /* the brace */
	buffer_append_string(out, ",\"score\":");
	json_write_f32(out, ranked->score);
	buffer_append_char(out, '}');
}

static void write_tools(const struct catalogue *view, const struct ranking *ranking,
	enum definition_format format, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer left_out = {0};
	struct buffer *out = answer_member(answer, listing_member(format));

	buffer_append_char(out, '[');
	for (size_t i = 0; i < ranking->n_tools; i++)
		write_ranked(view, &ranking->tools[i], format, out, &left_out);
	buffer_append_char(out, ']');
	if (left_out.size == 0)
		return;
	out = answer_member(answer, "left_out");
	buffer_append_char(out, '[');
	buffer_append_buffer(out, &left_out);
	buffer_append_char(out, ']');
}

static void write_markdown(
	const struct catalogue *view, const struct ranking *ranking, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct buffer *out = answer_member(answer, listing_member(DEFINITION_MARKDOWN));
	char name[MODEL_NAME_BYTES];

	for (size_t i = 0; i < ranking->n_tools; i++) {
		size_t at = ranking->tools[i].index;

		markdown_write_tool(
			catalogue_tool(view, at), catalogue_model_name(view, at, name), &text);
	}
	json_write_buffer(out, &text);
}

static void write_ranking(
	const struct request_scope *scope, const struct ranking *ranking, struct answer *answer)
{
	enum definition_format format = scope->request.format;

	if (ranking->n_terms == 0) {
		answer_error_format(answer, ANSWER_BAD_REQUEST,
			"ValueError: Bad request: 'query' must be " REQUEST_QUERY_EXPECTED);
		answer_member_text(answer, "field", "query");
		return;
	}
	if (format == DEFINITION_MARKDOWN)
		write_markdown(scope->view, ranking, answer);
	else
		write_tools(scope->view, ranking, format, answer);
	answer_member_number(answer, "total", ranking->total);
}

uint64_t search_answer(
	struct search *search, const struct request_scope *scope, struct answer *answer)
{
	const struct request *request = &scope->request;
	uint64_t start_ns = clock_thread_ns();
	struct ranking ranking;
	int r;

	if (!admit_search(search, scope, answer))
		return 0;
	r = rank_tools(search->index, scope->view, request->query, request->toolbox_id,
		(size_t)request->limit, &ranking);
	if (r < 0)
		refuse_search(r, NULL, answer);
	else
		write_ranking(scope, &ranking, answer);
	return clock_thread_ns() - start_ns;
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

void search_init(struct search *search, struct loop *loop, const struct config *config,
	const struct offer *offer, struct waiting_room *room)
{
	*search = (struct search){.loop = loop, .config = config, .offer = offer, .room = room};
}

void search_deinit(struct search *search)
{
	aside_free(search->aside);
	drop_index(search);
}
