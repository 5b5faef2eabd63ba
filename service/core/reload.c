/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reload.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_log.h"
#include "core/absences.h"
#include "core/answer.h"
#include "core/invocation.h"
#include "core/listing.h"
#include "core/notify.h"
#include "json/writer.h"
#include "loader/changes.h"
#include "loader/names.h"
#include "util/clock.h"
#include "util/log.h"

/* Anybody on the bus may ask for what is fresh, which costs seconds of an interpreter: so often at
 * most. */
#define REFRESH_MS 10000

/* Somebody who asked for a reload. */
struct reload_waiter {
	struct reload_waiter *next;
	struct answer answer;
};

static void begin(struct service *service);

/* ── what is told ────────────────────────────────────────────────────────────────────────────── */

static void write_loaded(const struct catalogue *catalogue, struct answer *answer)
{
	struct buffer *out = answer_member(answer, "loaded");
	bool is_first = true;

	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		size_t n_tools;
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, &n_tools);

		if (n_tools == 0)
			continue;
		if (!is_first)
			buffer_append_char(out, ',');
		is_first = false;
		json_write_text(out, toolbox->id);
	}
	buffer_append_char(out, ']');
	answer_member_number(answer, "total_tools", catalogue_n_tools(catalogue));
}

static void answer_waiter(struct service *service, struct reload_waiter *waiter)
{
	write_loaded(service->catalogue, &waiter->answer);
	absences_write_failed(service->catalogue, answer_member(&waiter->answer, "failed"));
	reload_write_mistakes(service, &waiter->answer);
	answer_keep(&waiter->answer);
	listing_write(service->catalogue, NULL, 0, DEFINITION_FULL,
		answer_member(&waiter->answer, "tools"));
	/* Leave out the tools when they do not fit in a frame (contract.md, Size of results). */
	if (!answer_fits(&waiter->answer, service->config.limits.frame_bytes))
		answer_rewind(&waiter->answer);
	answer_send(&waiter->answer, service->bus);
}

static void free_waiters(struct reload_waiter *waiter)
{
	while (waiter) {
		struct reload_waiter *next = waiter->next;

		answer_deinit(&waiter->answer);
		free(waiter);
		waiter = next;
	}
}

static void write_names(struct answer *event, const char *key, const struct changes_list *list)
{
	struct buffer *out = answer_member(event, key);

	buffer_append_char(out, '[');
	for (size_t i = 0; i < list->n_names; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		json_write_text(out, list->names[i]);
	}
	buffer_append_char(out, ']');
}

static void broadcast_changes(struct service *service, const struct changes *changes)
{
	struct answer event;

	answer_begin_broadcast(&event, "ovos.tools.changed");
	write_loaded(service->catalogue, &event);
	write_names(&event, "added", &changes->added);
	write_names(&event, "removed", &changes->removed);
	write_names(&event, "changed", &changes->changed);
	answer_send(&event, service->bus);
}

static void log_shared_names(const struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);
		const struct tool *last;

		if (!catalogue_is_shared_name(catalogue, tool->name) ||
			catalogue_find(catalogue, tool->name, strlen(tool->name), NULL, 0, true,
				&last) != 0 ||
			last == tool)
			continue;
		log_warning("The tool name '%s' stands in %s and in %s", tool->name,
			tool->toolbox->file, last->toolbox->file);
	}
}

/* ── runners ─────────────────────────────────────────────────────────────────────────────────── */

static struct runner_options runner_options_of(
	const struct service *service, const struct toolbox *toolbox)
{
	const struct config *config = &service->config;

	return (struct runner_options){
		.host_program = service->paths.host_program,
		.output_max = config->limits.host_output_bytes,
		.stderr_max = config->limits.stderr_bytes,
		.start_timeout_ms = config->start_timeout_ms,
		.idle_s = toolbox->limits.has_idle_s ? toolbox->limits.idle_s : config->idle_s,
		.queue_max = toolbox->limits.queue ? toolbox->limits.queue : config->limits.queue,
		.workers = toolbox->limits.workers,
		.crash_limit = config->crash_limit,
		.crash_window_s = config->crash_window_s,
	};
}

static void forget_retired(void *data, struct runner *runner)
{
	struct service *service = data;

	for (size_t i = 0; i < service->n_retired; i++)
		if (service->retired[i] == runner) {
			service->retired[i] = service->retired[--service->n_retired];
			break;
		}
	runner_free(runner);
}

static void host_has_said(void *data, struct runner *runner, struct host *host,
	const struct json_tape *object, const char *text, size_t size)
{
	struct service *service = data;

	proxy_said(&service->proxy, service->bus, host, runner_toolbox(runner)->id, object, text,
		size);
}

static void host_has_left(void *data, const struct host *host)
{
	struct service *service = data;

	proxy_forget(&service->proxy, host);
}

/* Where the runner of exactly this toolbox, or of that it is a part of, stands; or NULL. */
static struct runner **find_runner(const struct service *service, struct toolbox *toolbox)
{
	/* runners[i] still is of toolbox i of the catalogue that is in place. */
	long index = catalogue_find_toolbox(service->catalogue, toolbox->id, strlen(toolbox->id));

	if (index < 0 || (size_t)index >= service->n_runners || !service->runners[index] ||
		runner_toolbox(service->runners[index]) != toolbox_package(toolbox))
		return NULL;
	return &service->runners[index];
}

/* The runner, among the first @n_made ones, of what @toolbox is a part of; or NULL. */
static struct runner *find_shared(
	struct runner *const *made, size_t n_made, const struct toolbox *toolbox)
{
	for (size_t i = 0; toolbox->package && i < n_made; i++)
		if (made[i] && runner_toolbox(made[i]) == toolbox->package)
			return made[i];
	return NULL;
}

/* One less holder; the last one frees it. Takes NULL. */
static void drop_runner(struct runner *runner)
{
	if (runner && runner_release(runner))
		runner_free(runner);
}

/* Runners for the toolboxes of @catalogue that have none yet; the other places stay NULL. */
static int make_new(
	struct service *service, const struct catalogue *catalogue, struct runner **runners)
{
	static const struct runner_handler handler = {
		.done = invocation_done,
		.progressed = invocation_progressed,
		.bus_message = host_has_said,
		.host_gone = host_has_left,
		.drained = forget_retired,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(catalogue); i++) {
		struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);
		struct runner_options options = runner_options_of(service, toolbox);

		if (find_runner(service, toolbox))
			continue;
		runners[i] = find_shared(runners, i, toolbox);
		if (!runners[i])
			r = runner_new(service->loop, toolbox_package(toolbox), &options, &handler,
				service, &runners[i]);
		if (runners[i])
			runner_hold(runners[i]);
	}
	return r;
}

static void keep_old(
	struct service *service, const struct catalogue *catalogue, struct runner **runners)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);
		struct runner_options options = runner_options_of(service, toolbox);

		if (runners[i])
			continue;
		runners[i] = take_ptr(*find_runner(service, toolbox));
		runner_configure(runners[i], &options);
		runner_forgive(runners[i]);
	}
}

/* Runners that nothing new goes to: each leaves when its last call is done. There is room for all
 * of them in service->retired. */
static void retire_rest(struct service *service)
{
	for (size_t i = 0; i < service->n_runners; i++) {
		if (!service->runners[i] || !runner_release(service->runners[i]))
			continue;
		service->retired[service->n_retired++] = service->runners[i];
		runner_retire(service->runners[i]);
	}
}

/* Runners for @catalogue in place of the ones there are; on -ENOMEM nothing has changed. */
static int swap_runners(struct service *service, const struct catalogue *catalogue)
{
	size_t n_runners = catalogue_n_toolboxes(catalogue);
	struct runner **runners = calloc(n_runners + 1, sizeof(struct runner *));
	struct runner **retired = reallocarray(service->retired,
		service->n_retired + service->n_runners + 1, sizeof(struct runner *));

	if (retired)
		service->retired = retired;
	if (!runners || !retired || make_new(service, catalogue, runners) < 0) {
		for (size_t i = 0; runners && i < n_runners; i++)
			drop_runner(runners[i]);
		free(runners);
		return -ENOMEM;
	}
	keep_old(service, catalogue, runners);
	retire_rest(service);
	free(service->runners);
	service->runners = runners;
	service->n_runners = n_runners;
	return 0;
}

static void prestart(struct service *service)
{
	for (size_t i = 0; i < service->n_runners; i++) {
		size_t n_tools;
		const struct toolbox *toolbox =
			catalogue_toolbox(service->catalogue, i, NULL, &n_tools);

		if (toolbox->limits.prestart && n_tools > 0)
			runner_prestart(service->runners[i]);
	}
}

/* ── the reload itself ───────────────────────────────────────────────────────────────────────── */

static void tell_problem(void *data, const char *file, const struct problem *problem)
{
	struct service *service = data;

	config_log(&service->problems,
		problem->severity == PROBLEM_ERROR ? CONFIG_ERROR : CONFIG_WARNING, file,
		problem->line, problem->pointer, problem->text);
}

/* Once: it is the same for all of them, until the next start of the system. */
static void log_not_enforced(struct service *service)
{
	for (size_t i = 0; i < service->n_runners && !service->is_sandbox_told; i++) {
		const char *what = runner_toolbox(service->runners[i])->not_enforced;

		if (!what)
			continue;
		log_warning("The sandbox of toolboxes is not whole on this system: %s", what);
		service->is_sandbox_told = true;
	}
}

/* Put @catalogue (taken over) in place, and tell who wants to know. */
static void swap(struct service *service, struct catalogue *catalogue)
{
	cleanup(changes_deinit) struct changes changes = {0};
	struct catalogue *before = service->catalogue;

	if (changes_find(service->is_ready ? before : NULL, catalogue, &changes) < 0 ||
		swap_runners(service, catalogue) < 0) {
		log_error("Out of memory: the tools stay as they were");
		catalogue_free(catalogue);
		return;
	}
	service->catalogue = catalogue;
	catalogue_free(before);
	log_limited(&service->reloads, LOG_LEVEL_INFO,
		"%zu tools in %zu toolboxes are offered, %zu toolboxes have failed",
		catalogue_n_tools(catalogue), catalogue_n_toolboxes(catalogue),
		catalogue_n_failures(catalogue));
	if (!changes_are_empty(&changes)) {
		log_shared_names(catalogue);
		names_report_unknown(&service->config, catalogue, config_log, &service->problems);
		if (service->is_ready)
			broadcast_changes(service, &changes);
	}
	log_not_enforced(service);
	prestart(service);
}

static void loaded(void *data, struct catalogue *catalogue, int status)
{
	struct service *service = data;
	struct reload_waiter *waiting = take_ptr(service->waiting);
	bool was_ready = service->is_ready;

	service->loader = NULL;
	if (catalogue)
		swap(service, catalogue);
	else
		log_error("Loading the toolboxes failed: %s", strerror(-status));
	service->is_ready = true;
	reload_watch(service);
	/* What reading took lies between what stays: let the machine have it. */
	malloc_trim(0);
	notify_ready();
	for (struct reload_waiter *waiter = waiting; waiter; waiter = waiter->next) {
		answer_waiter(service, waiter);
		service->n_waiting--;
	}
	free_waiters(waiting);
	if (!was_ready)
		service->serve_deferred(service);
	if (service->is_reload_wanted || status == LOADER_DEFERRED)
		begin(service);
}

static void begin(struct service *service)
{
	struct loader_options options;
	int r;

	service->is_reload_wanted = false;
	service->waiting = take_ptr(service->waiting_next);
	if (service->is_ready)
		notify_reloading();
	if (service->is_ready)
		reload_configuration(service);
	options = (struct loader_options){
		.config = &service->config,
		.host_program = service->paths.host_program,
		.library_dir = service->paths.library_dir,
		.previous = service->catalogue,
		.generation = ++service->generation,
		.defers = !service->is_ready,
		.asks_again = service->asks_again,
	};
	service->asks_again = false;
	/* Before anything is read: what comes to a new folder afterwards is seen. */
	reload_watch(service);
	r = loader_start(service->loop, &options, tell_problem, loaded, service, &service->loader);
	if (r < 0)
		loaded(service, NULL, r);
}

void reload_begin(struct service *service)
{
	if (service->loader)
		service->is_reload_wanted = true;
	else
		begin(service);
}

void reload_ask_again(struct service *service)
{
	service->asks_again = true;
	reload_begin(service);
}

static bool has_members(const struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++)
		if (catalogue_toolbox(catalogue, i, NULL, NULL)->package)
			return true;
	return false;
}

void reload_refresh(struct service *service)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < service->refresh_after_ms || !has_members(service->catalogue))
		return;
	service->refresh_after_ms = now_ms + REFRESH_MS;
	reload_ask_again(service);
}

void reload_soon(struct service *service)
{
	if (service->watcher)
		watcher_poke(service->watcher);
	else
		reload_begin(service);
}

static void refuse_waiter(struct service *service)
{
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	answer_error_format(&answer, ANSWER_BUSY,
		"RuntimeError: The service is busy: %u requests wait for a reload",
		service->n_waiting);
	answer_send(&answer, service->bus);
}

void reload_request(struct service *service)
{
	struct reload_waiter **link = &service->waiting_next;
	struct reload_waiter *waiter;

	if (service->n_waiting >= service->config.limits.in_flight) {
		refuse_waiter(service);
		return;
	}
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter) {
		log_error("Out of memory for a reload");
		return;
	}
	answer_begin(&waiter->answer, &service->envelope);
	while (*link)
		link = &(*link)->next;
	*link = waiter;
	service->n_waiting++;
	reload_ask_again(service);
}

/* Tell everybody in the list, which is freed, that there will be no reload. */
static void give_up(struct service *service, struct reload_waiter *waiting)
{
	for (struct reload_waiter *waiter = waiting; waiter; waiter = waiter->next) {
		answer_error_format(&waiter->answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: it is stopping");
		answer_send(&waiter->answer, service->bus);
		service->n_waiting--;
	}
	free_waiters(waiting);
}

void reload_give_up(struct service *service)
{
	give_up(service, take_ptr(service->waiting));
	give_up(service, take_ptr(service->waiting_next));
}

void reload_end(struct service *service)
{
	loader_free(take_ptr(service->loader));
	free_waiters(take_ptr(service->waiting));
	free_waiters(take_ptr(service->waiting_next));
	for (size_t i = 0; i < service->n_runners; i++)
		drop_runner(service->runners[i]);
	for (size_t i = 0; i < service->n_retired; i++)
		runner_free(service->retired[i]);
	free(take_ptr(service->runners));
	free(take_ptr(service->retired));
	buffer_deinit(&service->mistakes);
	service->n_runners = service->n_retired = 0;
	catalogue_free(take_ptr(service->catalogue));
}
