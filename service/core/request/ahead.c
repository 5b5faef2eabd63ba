/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/ahead.h"

#include <errno.h>

#include "bus/account.h"
#include "catalogue/package.h"
#include "catalogue/tool_schemas.h"
#include "core/request/checks.h"
#include "core/request/errors.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/log.h"

/* ── beside the loop ─────────────────────────────────────────────────────────────────────────── */

/* Read the message, and check the arguments in it: only what @data points to is written. */
static void do_work(void *data)
{
	struct ahead_work *work = data;
	struct bus_envelope *envelope = &work->envelope;
	uint64_t start_ns = clock_thread_ns();
	const struct json_tape *args;
	uint32_t token;

	work->reading = request_text_read(&work->frame->text, envelope, false, work->limits.depth);
	work->reading_ns = clock_thread_ns() - start_ns;
	work->is_checked = work->check.tool && work->reading == 0 && envelope->data_status == 0;
	if (!work->is_checked)
		return;
	args = request_find_args(envelope, work->check.fields, &token);
	work->checking = arguments_check(
		&work->arguments, work->check.tool, args, token, work->context, &work->limits);
}

/* ── work ────────────────────────────────────────────────────────────────────────────────────── */

static void end_work(struct ahead_work *work)
{
	if (work->check.tool)
		tool_schemas_unpin(work->check.tool->schemas);
	package_unref(work->check.package);
	inbox_frame_unref(work->frame);
	bus_envelope_recycle(&work->envelope);
	arguments_recycle(&work->arguments);
	work->frame = NULL;
	work->check = (struct held_check){0};
	work->is_done = false;
}

static void finish_work(void *data);

/* Begin the work on @held. Return 0 or a negative errno. */
static int begin_work(struct ahead *ahead, const struct held *held)
{
	struct ahead_work *work = &ahead->work;
	const struct tool *tool = held->check.tool;
	int r = tool ? tool_schemas_wake(tool) : 0;

	if (r < 0)
		return r;
	check(!work->frame && !ahead->aside);
	work->frame = inbox_frame_ref(held->frame);
	work->check = held->check;
	work->limits = checks_limits(ahead->config);
	if (tool) {
		package_ref(work->check.package);
		tool_schemas_pin(tool->schemas);
	}
	r = aside_start(ahead->loop, do_work, finish_work, work, &ahead->aside);
	if (r < 0)
		end_work(work);
	return r;
}

/* Begin the work on the oldest request, unless there is some. One whose sender owes by now is
 * served as it is. */
static void begin_next(struct ahead *ahead)
{
	while (!ahead->work.frame && ahead->requests.n > 0) {
		struct held *held = held_first(&ahead->requests);
		uint64_t wait_ns = account_wait_ns(
			held->frame->account, held->check.source_key, clock_now_ns());
		int r = wait_ns > 0 ? -EBUSY : begin_work(ahead, held);

		if (r < 0)
			held_serve(held, r);
	}
}

static struct held *find_held(const struct ahead *ahead)
{
	list_for_each(link, &ahead->requests.list) {
		struct held *held = container_of(link, struct held, link);

		if (held->frame == ahead->work.frame)
			return held;
	}
	return NULL;
}

/* Serve the request that was worked on, unless it has been served or forgotten meanwhile. */
static void finish_work(void *data)
{
	struct ahead *ahead = container_of(data, struct ahead, work);
	struct held *held = find_held(ahead);

	check(ahead->work.frame && !ahead->work.is_done);
	ahead->aside = NULL;
	ahead->work.is_done = true;
	if (held)
		held_serve(held, 0);
	end_work(&ahead->work);
	begin_next(ahead);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int ahead_init(struct ahead *ahead, struct loop *loop, const struct config *config,
	held_function function, void *data)
{
	const struct config_limits *limits = &config->limits;
	struct ahead_work *work = &ahead->work;

	*ahead = (struct ahead){.loop = loop, .config = config};
	work->envelope.values_max = config_values_max(limits);
	work->context = schema_context_new();
	if (!work->context)
		return -ENOMEM;
	schema_context_limit_patterns(work->context, limits->pattern_steps);
	schema_context_limit_time(work->context, limits->check_ms);
	return held_init(&ahead->requests, loop, function, data);
}

void ahead_deinit(struct ahead *ahead)
{
	struct ahead_work *work = &ahead->work;

	aside_free(ahead->aside);
	end_work(work);
	held_deinit(&ahead->requests);
	bus_envelope_deinit(&work->envelope);
	arguments_deinit(&work->arguments);
	schema_context_free(work->context);
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

bool ahead_hold(struct ahead *ahead, const struct request_scope *scope, unsigned int fields,
	const struct tool *tool, bool is_counted)
{
	struct account *account = bus_sender(ahead->bus);
	bool is_crowded = ahead->work.frame && account_book_is_short(account->book);
	struct held *held = is_crowded ? NULL
				       : held_add(&ahead->requests, AHEAD_MAX, account,
						 scope->address, &scope->text, AHEAD_MS);

	if (!held)
		return false;
	request_scope_keep_origin(scope, &held->call_id, &held->source);
	held->check = (struct held_check){
		.tool = tool,
		.package = tool ? package_ref(tool->toolbox->package) : NULL,
		.fields = fields,
		.source_key = checks_source_key(scope),
		.is_counted = is_counted,
	};
	if (buffer_status(&held->call_id) < 0 || buffer_status(&held->source) < 0 ||
		(!ahead->work.frame && begin_work(ahead, held) < 0)) {
		held_drop(held);
		return false;
	}
	held->hold = limits_move(ahead->hold);
	return true;
}

bool ahead_take(
	struct ahead *ahead, const struct held *held, struct request_scope *scope, int *ret_reading)
{
	struct ahead_work *work = &ahead->work;
	struct bus_envelope envelope = scope->envelope;
	struct arguments arguments = scope->arguments;

	if (!work->is_done || work->frame != held->frame || work->reading < 0)
		return false;
	/* Each has the memory of the other for its next request. */
	scope->envelope = work->envelope;
	scope->arguments = work->arguments;
	work->envelope = envelope;
	work->arguments = arguments;
	scope->is_beside = true;
	*ret_reading = work->reading;
	scope->text = work->frame->text;
	scope->reading_ns = work->reading_ns;
	scope->checked = work->is_checked ? work->check.tool : NULL;
	scope->checking = work->checking;
	return true;
}

/* Return whether the request in @scope has waited before. */
static bool has_waited(const struct request_scope *scope)
{
	return scope->held || scope->late || scope->ahead;
}

bool ahead_admit_costly(struct ahead *ahead, const struct tool *tool,
	const struct request_scope *scope, struct answer *answer)
{
	if (!checks_admit(ahead->bus, scope, answer))
		return false;
	if (has_waited(scope))
		return true;
	if (ahead_hold(ahead, scope, scope->fields, tool, true))
		answer_deinit(answer);
	else
		errors_write_checking(answer, &scope->caller.source, AHEAD_FULL_NS);
	return false;
}
