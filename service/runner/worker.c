/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/kind.h"
#include "host/reaper.h"
#include "runner/weight.h"
#include "util/clock.h"
#include "util/log.h"

/*
 * A worker with a host process: it runs one call at a time and reads the calls sent ahead from its
 * socket as soon as the first call is done.
 *
 *   calls[0]   runs
 *   calls[1…]  are in the socket, in the order of their runs; NULL: cancelled since
 *
 * Nothing can be taken out of the socket. When the host begins a call that was cancelled, the
 * worker is gone.
 *
 * A host that carries calls runs all of calls[], and ends one on request.
 */

/* A host may report so many progress events in such a time. */
#define PROGRESS_MAX         100
#define PROGRESS_CARRIED_MAX 400
#define PROGRESS_WINDOW_MS   100

_Static_assert(PACKAGE_CALLS_MAX == HOST_CARRIED_MAX, "a host carries what a package allows");

struct worker {
	struct loop *loop;
	const struct package *package;
	const struct worker_options *options;
	struct worker_handler handler;
	void *data;
	struct worker_counts *counts;
	enum worker_state state;
	struct host *host; /* NULL: the worker is free */
	bool is_weighed;   /* the host did not yield from its start on */
	struct weight weight;
	struct loop_timer look; /* armed while the host is at work, if it is weighed */
	unsigned int capacity;  /* the calls of the host at a time */
	bool carries;           /* it carries them: the capacity is more than one */
	bool is_in_use;         /* the host keeps something for its callers */
	bool is_full;           /* the host has not read what was sent */
	unsigned int n_calls;
	uint64_t progress_ms; /* when the window began in which n_progress events came */
	uint32_t n_progress;
	struct reaper reaper;        /* dismissed hosts */
	struct runner_call *calls[]; /* HOST_CALLS_MAX or HOST_CARRIED_MAX */
};

static bool has_bus(const struct worker *worker)
{
	return kind_facts(worker->package->kind)->has_bus;
}

/* ── states ──────────────────────────────────────────────────────────────────────────────────── */

enum worker_state worker_state(const struct worker *worker)
{
	return worker->state;
}

/* Change the state, only here, and the counts with it. */
static void worker_move(struct worker *worker, enum worker_state to)
{
	uint32_t *n = worker->counts->n;

	check(n[worker->state] > 0);
	n[worker->state]--;
	worker->state = worker_state_move(worker->state, to);
	n[to]++;
	check(!worker->host == (to == WORKER_FREE));
	check(to != WORKER_STARTING || worker->n_calls == 0);
	check(to != WORKER_RUNNING || worker->is_full ||
		(worker->n_calls > 0 && !worker->calls[0]->is_ahead));
	check(to != WORKER_SHARED || (worker->carries && worker->n_calls > 0));
}

/* Move to the state for the number of carried calls. */
static void note_carried(struct worker *worker)
{
	enum worker_state state = WORKER_SHARED;

	if (worker->is_full || worker->n_calls == worker->capacity)
		state = WORKER_RUNNING;
	else if (worker->n_calls == 0)
		state = WORKER_IDLE;
	if (state != worker->state)
		worker_move(worker, state);
}

/* ── the weight of its host ──────────────────────────────────────────────────────────────────── */

/*
 * A host that may start programs yields from its start on: calls take milliseconds, and the host's
 * clock lacks the time of programs. Any other begins with the priority of the daemon, and yields
 * when heavy. Once a host was heavy, or not ended in order, all later hosts yield: else hosts
 * started again and again would take the processors.
 */

/* Begin to look at the host, unless begun before. */
static void watch_weight(struct worker *worker)
{
	uint64_t used_ns;

	if (!worker->is_weighed || loop_timer_is_armed(&worker->look) ||
		host_used_ns(worker->host, &used_ns) < 0)
		return;
	weight_begin(&worker->weight, used_ns, worker->state == WORKER_STARTING);
	loop_timer_arm(&worker->look, WEIGHT_LOOK_MS);
}

static void look_at_weight(void *data)
{
	struct worker *worker = data;
	uint64_t used_ns;

	if (!worker->host || host_used_ns(worker->host, &used_ns) < 0)
		return;
	if (weight_look(&worker->weight, used_ns)) {
		if (!worker->counts->yield)
			log_debug("%s: its host takes much processor time for an answer, and "
				  "yields from now on",
				worker->package->id);
		worker->counts->yield = true;
		/* Each time: a thread begun just now is not seen. */
		host_yield(worker->host);
	}
	if (worker->n_calls > 0 || worker->state == WORKER_STARTING ||
		weight_is_at_work(&worker->weight))
		loop_timer_arm(&worker->look, WEIGHT_LOOK_MS);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

struct runner_call *worker_running(const struct worker *worker)
{
	bool runs = worker->state == WORKER_RUNNING || worker->state == WORKER_SHARED;

	return runs && worker->n_calls > 0 ? worker->calls[0] : NULL;
}

unsigned int worker_n_calls(const struct worker *worker)
{
	return worker->n_calls;
}

/* Take the first call off the worker; the calls sent ahead move up. */
static struct runner_call *shift_call(struct worker *worker)
{
	struct runner_call *call = worker->calls[0];

	worker->n_calls--;
	memmove(worker->calls, worker->calls + 1, worker->n_calls * sizeof(struct runner_call *));
	call->worker = NULL;
	return call;
}

/* Return the place of the call @id among several carried calls. */
static unsigned int find_carried(const struct worker *worker, uint64_t id)
{
	unsigned int at = 0;

	while (at < worker->n_calls && worker->calls[at]->id != id)
		at++;
	check(at < worker->n_calls);
	return at;
}

/* Take the call @id off such a worker. */
static struct runner_call *take_carried(struct worker *worker, uint64_t id)
{
	unsigned int at = find_carried(worker, id);
	struct runner_call *call = worker->calls[at];

	worker->calls[at] = worker->calls[--worker->n_calls];
	call->worker = NULL;
	/* When a worker is gone, its host ends. */
	if (worker->state != WORKER_GONE)
		note_carried(worker);
	return call;
}

struct runner_call *worker_take_lost(struct worker *worker)
{
	check(worker->state == WORKER_FREE);
	return worker->n_calls > 0 ? shift_call(worker) : NULL;
}

/* Forget the calls sent ahead: they wait like the others. */
static void forget_ahead(struct worker *worker)
{
	unsigned int n_running = worker->state == WORKER_RUNNING ? 1 : 0;

	while (!worker->carries && worker->n_calls > n_running) {
		struct runner_call *call = worker->calls[--worker->n_calls];

		if (!call)
			continue;
		call->is_ahead = false;
		call->worker = NULL;
	}
}

/* Append @call, with @left_ms of its time, to the host's calls. */
static int send_call(struct worker *worker, struct runner_call *call, uint64_t left_ms,
	const char *arguments, size_t size)
{
	struct host_call invoke = {
		.program = tool_program_digest(worker->package->tools[call->tool]),
		.tool = call->tool,
		.timeout_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX,
		.caller = call->caller.data,
		.caller_size = call->caller.size,
		.arguments = arguments,
		.size = size,
		.is_check = call->is_check,
	};
	int r = host_invoke(worker->host, call->id, &invoke);

	if (r < 0)
		return r;
	check(!call->worker);
	worker->calls[worker->n_calls++] = call;
	call->worker = worker;
	return 0;
}

int worker_run(struct worker *worker, struct runner_call *call, const char *arguments, size_t size)
{
	int r = 0;

	check(worker->state == WORKER_IDLE || worker->state == WORKER_SHARED);
	if (!call->is_ahead)
		r = send_call(worker, call, runner_call_left_ms(call), arguments, size);
	if (worker->carries && (r == 0 || r == -EBUSY)) {
		worker->is_full = r != 0;
		note_carried(worker);
	} else if (r == 0) {
		check(worker->calls[0] == call);
		call->is_ahead = false;
		worker_move(worker, WORKER_RUNNING);
		watch_weight(worker);
	} else if (r == -EPIPE) {
		worker_move(worker, WORKER_GONE);
	} else {
		worker_drop(worker);
	}
	return r;
}

bool worker_has_room(const struct worker *worker)
{
	return host_has_room(worker->host);
}

int worker_send_ahead(struct worker *worker, struct runner_call *call)
{
	int r;

	check(worker->state == WORKER_RUNNING && !call->is_ahead);
	/* A host with such calls does not ask for their time, which is counted from their turn. */
	r = send_call(worker, call, call->timeout_ms, call->arguments.data, call->arguments.size);
	call->is_ahead = r == 0;
	return r;
}

const char *worker_note(const struct worker *worker, uint64_t since_ns)
{
	return worker->host ? host_note(worker->host, since_ns) : NULL;
}

void worker_cancel(struct worker *worker, struct runner_call *call, bool is_late)
{
	struct runner_call *lost;
	unsigned int at = 0;

	if (worker->carries) {
		take_carried(worker, call->id);
		host_cancel(worker->host, call->id, is_late);
		return;
	}
	while (at < worker->n_calls && worker->calls[at] != call)
		at++;
	check(at < worker->n_calls && call->worker == worker);
	if (call->is_ahead) {
		call->is_ahead = false;
		call->worker = NULL;
		worker->calls[at] = NULL;
		return;
	}
	worker_drop(worker);
	lost = worker_take_lost(worker);
	check(lost == call);
}

/* ── events of the host ──────────────────────────────────────────────────────────────────────── */

static void host_has_ended(void *data, const struct host_exit *exit)
{
	struct worker *worker = data;

	worker_drop(worker);
	worker->handler.ended(worker->data, worker, exit);
}

static void host_is_loaded(void *data, const char *loaded, size_t size)
{
	struct worker *worker = data;
	const struct host_exit is_another = {
		.reason = HOST_REFUSED,
		.pointer = package_library_place(worker->package),
		.message = "its library is another file than the one that its tools were read from",
	};

	if (!toolbox_library_was_loaded(&worker->package->library, loaded, size)) {
		host_has_ended(worker, &is_another);
		return;
	}
	worker_move(worker, WORKER_IDLE);
	loop_timer_disarm(&worker->look);
	watch_weight(worker);
	worker->handler.ready(worker->data);
}

static void host_has_answered(void *data, uint64_t id, const struct host_answer *answer)
{
	static const enum call_outcome outcomes[] = {
		[HOST_ANSWER_RESULT] = CALL_RESULT,
		[HOST_ANSWER_FAILED] = CALL_FAILED,
		[HOST_ANSWER_ERROR] = CALL_ERROR,
	};
	struct worker *worker = data;
	struct runner_call *call = worker_running(worker);
	struct call_result result = {
		.outcome = outcomes[answer->kind],
		.text = answer->text,
		.size = answer->size,
		.tape = answer->tape,
		.reading_ns = answer->reading_ns,
		.refused = answer->refused,
	};

	/* service/host has checked that the answer belongs to the running call. */
	if (worker->carries) {
		call = take_carried(worker, id);
	} else {
		check(call && call->id == id);
		shift_call(worker);
		weight_note_answer(&worker->weight);
		worker_move(worker,
			worker->n_calls > 0 && !worker->calls[0] ? WORKER_GONE : WORKER_IDLE);
	}
	worker->handler.done(worker->data, worker, call, &result);
}

/* A tenth of this is more than a person can read; a host with more reports has to wait, and so
 * costs the daemon next to nothing. A host that carries calls may report at the pace of each
 * (util/pace.h). */
static void bound_progress(struct worker *worker)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms - worker->progress_ms >= PROGRESS_WINDOW_MS) {
		worker->progress_ms = now_ms;
		worker->n_progress = 0;
	}
	if (++worker->n_progress > (worker->carries ? PROGRESS_CARRIED_MAX : PROGRESS_MAX))
		host_hold(worker->host, PROGRESS_WINDOW_MS);
}

static void call_has_progressed(void *data, uint64_t id, const struct json_tape *progress)
{
	struct worker *worker = data;
	struct runner_call *call = worker_running(worker);

	if (worker->carries)
		call = worker->calls[find_carried(worker, id)];
	check(call && call->id == id);
	bound_progress(worker);
	worker->handler.progressed(worker->data, call, progress);
}

static void on_bus_message(
	void *data, const struct json_tape *object, const char *text, size_t size)
{
	struct worker *worker = data;

	worker->handler.bus_message(worker->data, worker->host, object, text, size);
}

static void host_is_stale(void *data)
{
	struct worker *worker = data;

	worker->handler.stale(worker->data);
}

static void set_in_use(struct worker *worker, bool is_in_use)
{
	worker->counts->n_in_use += is_in_use;
	worker->counts->n_in_use -= worker->is_in_use;
	worker->is_in_use = is_in_use;
}

static void host_use_has_changed(void *data)
{
	struct worker *worker = data;

	bound_progress(worker);
	if (host_is_in_use(worker->host) == worker->is_in_use)
		return;
	set_in_use(worker, host_is_in_use(worker->host));
	worker->handler.ready(worker->data);
}

static void host_is_relieved(void *data)
{
	struct worker *worker = data;

	worker->is_full = false;
	if (worker->state == WORKER_GONE)
		return;
	note_carried(worker);
	worker->handler.ready(worker->data);
}

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

int worker_start(struct worker *worker)
{
	static const struct host_handler handler = {
		.loaded = host_is_loaded,
		.answered = host_has_answered,
		.progressed = call_has_progressed,
		.relieved = host_is_relieved,
		.stale = host_is_stale,
		.used = host_use_has_changed,
		.bus_message = on_bus_message,
		.ended = host_has_ended,
	};
	struct host_options options = {
		.program = worker->options->host_program,
		.toolbox_id = worker->package->id,
		.environment = worker->package->environment,
		.load = worker->package->load,
		.load_size = worker->package->load_size,
		.output_max = worker->options->output_max,
		.values_max = worker->options->values_max,
		.stderr_max = worker->options->stderr_max,
		.tail = worker->options->tail,
		.start_timeout_ms = worker->options->start_timeout_ms,
		.has_bus = has_bus(worker),
		.carries = worker->carries,
		/* A host that carries calls waits for others, and gains nothing by a ring. */
		.has_ring = kind_facts(worker->package->kind)->has_ring && !worker->carries,
		.has_guard = package_has_guard(worker->package),
		.yields = worker->counts->yield || package_starts_programs(worker->package),
	};
	int r;

	check(worker->state == WORKER_FREE);
	toolbox_library_list_copies(
		&worker->package->library, options.libraries, WIRE_LIBRARIES_MAX);
	r = host_spawn(worker->loop, &options, &handler, worker, &worker->host);
	if (r < 0)
		return r;
	worker_move(worker, WORKER_STARTING);
	worker->is_weighed = !options.yields;
	watch_weight(worker);
	return 0;
}

/* Take the host, if there is one, off the worker; then the worker is free. */
static struct host *take_host(struct worker *worker)
{
	struct host *host = take_ptr(worker->host);

	if (!host)
		return NULL;
	forget_ahead(worker);
	loop_timer_disarm(&worker->look);
	worker->is_full = false;
	set_in_use(worker, false);
	worker_move(worker, WORKER_FREE);
	if (has_bus(worker))
		worker->handler.host_gone(worker->data, host);
	return host;
}

void worker_drop(struct worker *worker)
{
	worker->counts->yield = worker->counts->yield || worker->host;
	host_free(take_host(worker));
}

void worker_dismiss(struct worker *worker)
{
	check(worker->state == WORKER_IDLE && worker->n_calls == 0);
	reaper_take(&worker->reaper, take_host(worker));
}

void worker_replace(struct worker *worker)
{
	if (worker->host && worker->carries)
		host_replace(worker->host);
}

bool worker_has_reaped_all(const struct worker *worker)
{
	return reaper_is_empty(&worker->reaper);
}

static void host_is_reaped(void *data, const struct host_exit *exit)
{
	struct worker *worker = data;

	worker->handler.reaped(worker->data, exit);
}

int worker_new(struct loop *loop, const struct package *package,
	const struct worker_options *options, const struct worker_handler *handler, void *data,
	struct worker_counts *counts, struct worker **ret_worker)
{
	unsigned int capacity = package_capacity(package);
	bool carries = capacity > 1;
	struct worker *worker;

	worker = malloc(sizeof(*worker) + (carries ? HOST_CARRIED_MAX : HOST_CALLS_MAX) *
						  sizeof(struct runner_call *));
	if (!worker)
		return -ENOMEM;
	*worker = (struct worker){
		.loop = loop,
		.package = package,
		.options = options,
		.handler = *handler,
		.data = data,
		.counts = counts,
		.capacity = capacity,
		.carries = carries,
	};
	if (loop_timer_init(&worker->look, loop, look_at_weight, worker) < 0) {
		free(worker);
		return -ENOMEM;
	}
	reaper_init(&worker->reaper, host_is_reaped, worker);
	counts->n[WORKER_FREE]++;
	*ret_worker = worker;
	return 0;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	worker_drop(worker);
	loop_timer_deinit(&worker->look);
	reaper_deinit(&worker->reaper);
	worker->counts->n[WORKER_FREE]--;
	free(worker);
}
