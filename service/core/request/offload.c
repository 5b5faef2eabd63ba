/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/offload.h"

#include <errno.h>

#include "bus/account.h"
#include "catalogue/package.h"
#include "core/request/checks.h"
#include "core/request/errors.h"
#include "util/assert.h"
#include "util/clock.h"

/* ── in the thread ───────────────────────────────────────────────────────────────────────────── */

/* Read the message, and check the arguments in it: only what @data points to is written. */
static void do_work(void *data)
{
	struct offload_work *work = data;
	struct bus_envelope *envelope = &work->envelope;
	uint64_t start_ns = clock_thread_ns();
	const struct json_tape *args;
	uint32_t token;

	work->reading =
		request_text_read(&work->request->text, envelope, false, work->limits.depth);
	work->reading_ns = clock_thread_ns() - start_ns;
	work->is_checked = work->check.tool && work->reading == 0 && envelope->data_status == 0;
	if (!work->is_checked)
		return;
	args = request_find_args(envelope, work->check.fields, &token);
	work->checking = arguments_check(
		&work->arguments, work->check.tool, args, token, work->context, &work->limits);
}

/* ── in the loop ─────────────────────────────────────────────────────────────────────────────── */

static void end_work(struct offload *offload)
{
	struct offload_work *work = &offload->work;

	if (work->counted_bytes > 0)
		bus_end_reading(offload->room->bus, work->counted_bytes);
	if (work->check.tool)
		tool_schemas_unpin(work->check.tool->schemas);
	package_unref(work->check.package);
	waiting_unref(work->request);
	bus_envelope_recycle(&work->envelope);
	arguments_recycle(&work->arguments);
	work->request = NULL;
	work->check = (struct waiting_check){0};
	work->counted_bytes = 0;
	work->is_done = false;
}

static void finish_work(void *data);

/* Return the most bytes that the tokens of @request take: a value and what follows it are two bytes
 * of its text. */
static size_t token_bytes(const struct offload *offload, const struct waiting_request *request)
{
	size_t values = request_text_size(&request->text) / 2 + 1;
	size_t most = config_values_max(&offload->config->limits);

	return (values < most ? values : most) * sizeof(struct json_token);
}

/* Begin the work on @request. Return 0 or a negative errno. */
static int begin_work(struct offload *offload, struct waiting_request *request)
{
	struct offload_work *work = &offload->work;
	const struct tool *tool = request->check.tool;
	int r = tool ? tool_schemas_wake(tool) : 0;

	if (r < 0)
		return r;
	check(!work->request && !offload->aside);
	request->is_read = true;
	work->request = waiting_ref(request);
	work->check = request->check;
	work->limits = checks_limits(offload->config);
	if (tool) {
		package_ref(work->check.package);
		tool_schemas_pin(tool->schemas);
	}
	r = aside_start(offload->loop, do_work, finish_work, work, &offload->aside);
	if (r < 0)
		end_work(offload);
	else
		work->counted_bytes =
			bus_begin_reading(offload->room->bus, token_bytes(offload, request));
	return r;
}

/* Return whether @request is refused for a time that its sender owes. */
static bool owes_time(const struct waiting_request *request)
{
	return !request->is_read &&
	       account_wait_ns(request->account, request->source_key, clock_now_ns()) > 0;
}

/* Begin the work on the oldest request, unless there is some. A request whose sender owes by now is
 * served as it is. */
static void begin_next(struct offload *offload)
{
	struct waiting_request *request;

	while (!offload->work.request && (request = waiting_first(offload->room, WAITING_CHECK))) {
		int r = owes_time(request) ? -EBUSY : begin_work(offload, request);

		if (r < 0)
			waiting_serve(request, r);
	}
}

/* Serve the request that was worked on, unless it has been served or forgotten meanwhile. */
static void finish_work(void *data)
{
	struct offload *offload = container_of(data, struct offload, work);
	struct offload_work *work = &offload->work;

	check(work->request && !work->is_done);
	offload->aside = NULL;
	work->is_done = true;
	if (waiting_is_for(work->request, WAITING_CHECK))
		waiting_serve(work->request, 0);
	end_work(offload);
	begin_next(offload);
}

int offload_init(struct offload *offload, struct loop *loop, const struct config *config,
	struct waiting_room *room)
{
	const struct config_limits *limits = &config->limits;
	struct offload_work *work = &offload->work;

	*offload = (struct offload){.loop = loop, .config = config, .room = room};
	work->envelope.values_max = config_values_max(limits);
	work->context = schema_context_new();
	if (!work->context)
		return -ENOMEM;
	schema_context_limit_patterns(work->context, limits->pattern_steps);
	schema_context_limit_time(work->context, limits->check_ms);
	return 0;
}

void offload_deinit(struct offload *offload)
{
	struct offload_work *work = &offload->work;

	aside_free(offload->aside);
	end_work(offload);
	bus_envelope_deinit(&work->envelope);
	arguments_deinit(&work->arguments);
	schema_context_free(work->context);
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

bool offload_begin(struct offload *offload, const struct request_scope *scope,
	const struct tool *tool, bool is_counted)
{
	struct waiting_room *room = offload->room;
	bool is_crowded = !scope->waited && offload->work.request &&
			  account_book_is_short(bus_sender(room->bus)->book);
	struct waiting_request *request =
		is_crowded ? NULL : waiting_begin(room, scope, WAITING_CHECK, WAITING_CHECK_MS);

	if (!request)
		return false;
	request->is_counted = request->is_counted || is_counted;
	package_unref(request->check.package);
	request->check = (struct waiting_check){
		.tool = tool,
		.package = tool ? package_ref(tool->toolbox->package) : NULL,
		.fields = scope->fields,
	};
	if (!offload->work.request && begin_work(offload, request) < 0) {
		waiting_drop(request);
		return false;
	}
	return true;
}

bool offload_take(struct offload *offload, struct request_scope *scope, int *ret_reading)
{
	struct offload_work *work = &offload->work;
	struct bus_envelope envelope = scope->envelope;
	struct arguments arguments = scope->arguments;

	if (!work->is_done || work->request != scope->waited || work->reading < 0)
		return false;
	/* Each has the memory of the other for its next request. */
	scope->envelope = work->envelope;
	scope->arguments = work->arguments;
	work->envelope = envelope;
	work->arguments = arguments;
	scope->is_beside = true;
	*ret_reading = work->reading;
	scope->text = work->request->text;
	scope->reading_ns = work->reading_ns;
	scope->checked = work->is_checked ? work->check.tool : NULL;
	scope->checking = work->checking;
	return true;
}

bool offload_admit_costly(struct offload *offload, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer)
{
	const struct waiting_request *waited = scope->waited;
	bool was_checked = waited && waited->is_read && waited->check.tool;

	if (!was_checked && !checks_admit(offload->room->bus, scope, answer))
		return false;
	if (!waiting_may(waited, WAITING_CHECK))
		return true;
	if (offload_begin(offload, scope, tool, true))
		answer_deinit(answer);
	else
		errors_write_checking(answer, &scope->caller.source, WAITING_FULL_NS);
	return false;
}
