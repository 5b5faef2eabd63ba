/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/loader.h"

#include <errno.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/asking.h"
#include "loader/assemble.h"
#include "loader/described.h"
#include "loader/dropin_folders.h"
#include "loader/failure/failures.h"
#include "loader/gate/gate.h"
#include "loader/job.h"
#include "loader/members.h"
#include "loader/operator/job_checks.h"
#include "loader/operator/paths.h"
#include "loader/operator/state_folder.h"
#include "loader/operator/topics.h"
#include "loader/pins.h"
#include "loader/server_list.h"
#include "loader/settings.h"
#include "loader/tool_settings.h"
#include "loader/warn/writable.h"
#include "loop/aside.h"
#include "util/log.h"

/* The most time of its thread for reading the tools of one toolbox. 10,000 tools with ordinary
 * schemas take about 1000 ms, so a machine five times slower reads them in half of this time. */
#define TOOLS_MS_MAX 10000

/* The line about what is registered has paths of about so many bytes. */
#define FOUND_BYTES 1500

/*
 * The loop only starts hosts and reads their answers. All work in proportion to the registrations
 * is done beside it (loop/aside.h):
 *
 *   beside   read, compile ─┐                 ┌─ take descriptions ─┐        ┌─ index ─┐
 *   loop                    └─ hosts (checker)┘                     └─ gate ─┘         └─ done()
 *
 * The previous catalogue is read by both; its packages count their references atomically.
 */

struct loader {
	struct loop *loop;
	diagnostic_function problem;
	loader_done_function done;
	void *data;
	struct folders_listing own;            /* the listing made by the load itself, or empty */
	const struct folders_listing *listing; /* the registrations; empty for given files */
	struct load_jobs jobs;
	const struct toolbox_library *seen; /* the last library found unchanged */
	struct asking *asking;              /* the questions to servers */
	bool is_gated;                      /* a package waits at the gate, after its description */
	struct gate *gate;                  /* NULL: this load calls nothing */
	bool has_own_asking;
	bool is_checked; /* the libraries are */
	struct loop_timer patience;
	struct aside *aside;         /* the work under way beside the loop; or NULL */
	atomic_bool is_abandoned;    /* it shall end soon: its result is not used */
	int error;                   /* 0, or the negative errno at its end */
	struct catalogue *catalogue; /* its result */
	struct policy *policy;       /* likewise */
};

static bool is_unchanged(struct loader *loader, struct package *package)
{
	if (!operator_settings_hold(loader->jobs.options.config, package) ||
		!manifest_is_unchanged(package) || !package_has_same_programs(package))
		return false;
	if (!package->library.path)
		return true;
	/* Many packages may have one library: the first one in a row looks at it for all. */
	if (loader->seen && toolbox_library_is_same(&package->library, loader->seen))
		return true;
	if (!toolbox_library_is_unchanged(&package->library))
		return false;
	loader->seen = &package->library;
	return true;
}

/* ── one job ─────────────────────────────────────────────────────────────────────────────────── */

/* Whether the server of @job lists other tools than the previous catalogue, according to a host. */
static bool is_stale(const struct load_job *job)
{
	return job->previous && atomic_load(&job->previous->mcp.is_stale);
}

/* Whether the server of the toolbox @id could not be reached for too long. */
static bool is_away(const struct load_jobs *jobs, const char *id)
{
	return jobs->options.away && text_list_has(jobs->options.away, id);
}

/* Whether the server of @job is being asked, or has answered, since an earlier load. */
static bool is_questioned(const struct load_job *job)
{
	const char *id = job->package ? job->package->id : job->id;

	id = id || !job->previous ? id : job->previous->id;
	return id && text_list_has(&job->jobs->questioned, id);
}

/* Whether the server of @job is asked for its tools, whatever was known of them. A server with a
 * changed list is asked by a load with time to wait; until then the previous list goes on. */
static bool asks_server(struct load_job *job)
{
	const struct loader_options *options = &job->jobs->options;

	if (is_stale(job) && options->defers_servers)
		job->jobs->has_unlisted = true;
	return options->asks_servers || (is_stale(job) && !options->defers_servers) ||
	       is_questioned(job);
}

static void refuse_library(void *item, const char *pointer, const char *text)
{
	struct load_job *job = item;

	if (job->package->kind == KIND_MCP && (!job->previous || is_stale(job)))
		job->jobs->has_unlisted = true;
	load_job_fail(job, pointer, text);
}

/* Keep the description sent by the host of @item's package. */
static void keep_description(void *item, const char *described, size_t size)
{
	struct load_job *job = item;

	buffer_append(&job->described, described, size);
	job->is_described = true;
}

/* Whether the package of @job is what it was in the previous catalogue, and worked there. */
static bool is_as_before(const struct load_job *job)
{
	return load_job_is_same(job, job->package) &&
	       origins_are_same(&job->previous->programs, &job->package->programs);
}

/* A server without tools makes no toolbox: its package has the reason. */
static void drop_without_tools(struct load_job *job)
{
	if (job->toolbox && job->package->kind == KIND_MCP && described_is_awaited(job->toolbox))
		job->toolbox = NULL;
}

/* Keep the previous package of @job, with its processes, if its server lists the same tools as
 * before. */
static void keep_same_server(struct load_job *job)
{
	if (job->previous) {
		atomic_store(&job->previous->mcp.is_stale, false);
		if (is_as_before(job) && job->previous->fingerprint == job->package->fingerprint) {
			job->previous->mcp.pins = job->package->mcp.pins;
			load_job_set_package(job, package_ref(job->previous));
		}
	}
	drop_without_tools(job);
}

/* Take the description sent by the host of @job's package. */
static void accept_description(struct load_job *job)
{
	const char *described = buffer_text(&job->described);
	size_t size = job->described.size;
	int r = buffer_status(&job->described);

	if (r < 0)
		r = -ENOMEM;
	else if (kind_facts(job->package->kind)->has_members)
		r = members_accept(job, described, size);
	else
		r = described_accept(job->jobs->reader, job->package, described, size, job->key,
			&job->problems, &job->cache_error);

	if (r == -ENOMEM)
		load_job_fail(job, "", strerror(ENOMEM));
	else if (r)
		job->toolbox = NULL;
	else if (job->package->kind == KIND_MCP)
		keep_same_server(job);
}

/* Have a host look at the library of @job, unless its description is cached. 0 or -ENOMEM. */
static int begin_library(struct load_job *job)
{
	int r = described_is_awaited(job->toolbox)
			? described_load_cached(job->jobs->reader, job->package, job->key)
			: -ENOENT;

	if (r == -ENOENT)
		r = checker_add(job->jobs->checker, job->package, job);
	return r == -ENOMEM ? r : 0;
}

static const char being_asked[] = "its server is being asked for its tools";

/* Have a host ask the server of @job for its tools, unless its list is cached. 0 or -ENOMEM. */
static int begin_server(struct load_job *job)
{
	struct load_jobs *jobs = job->jobs;
	bool has_left = is_away(jobs, job->package->id);
	int r = -ENOENT;

	if (has_left || asks_server(job)) {
		describe_cache_key(job->package, job->key);
		job->package->mcp.is_legacy = described_was_legacy(job->key);
	} else {
		r = described_load_cached(jobs->reader, job->package, job->key);
	}
	if (r == 0)
		drop_without_tools(job);
	if (r != -ENOENT)
		return r;
	if (!jobs->options.defers &&
		(!jobs->options.defers_servers || job->previous || is_questioned(job))) {
		job->asks = true;
		return 0;
	}
	jobs->has_deferred = true;
	job->toolbox = NULL;
	return skipped_list_add(&job->skipped, NULL,
		has_left ? "its server could not be reached for too long, and is asked again by "
			   "itself"
			 : being_asked);
}

/* Whether the previous package of @job can be offered again unchanged. A package with toolboxes
 * described by a host depends on more than its files, see members.h. */
static bool can_keep(struct loader *loader, struct load_job *job)
{
	struct package *previous = job->previous;

	if (!previous || kind_facts(previous->kind)->has_members ||
		previous->is_left_out != manifest_reader_leaves_out(loader->jobs.reader, previous))
		return false;
	if (previous->is_left_out)
		return operator_settings_hold(job->jobs->options.config, previous) &&
		       manifest_is_unchanged(previous);
	return previous->is_checked &&
	       !(previous->kind == KIND_MCP && (asks_server(job) || !pins_hold(previous))) &&
	       is_unchanged(loader, previous);
}

/* Let @job fail, without a package, if @status is positive: @refusal has the reason. Return 0 then,
 * else @status, a negative errno. */
static int refuse_package(struct load_job *job, int status, const struct sandbox_refusal *refusal)
{
	if (status < 0)
		return status;
	load_job_fail(job, refusal->pointer, refusal->text);
	load_job_set_package(job, NULL);
	return 0;
}

/* Go on with @package, read for @job. 0 or a negative errno. */
static int begin_package(struct load_job *job, struct package *package)
{
	const struct config *config = job->jobs->options.config;
	struct sandbox_refusal refusal;
	int r;

	load_job_set_package(job, package);
	r = settings_apply(config, package);
	if (r == 0 && package->is_left_out)
		return 0;
	r = r ? r : operator_paths_resolve(config, package, &refusal);
	r = r ? r : operator_topics_resolve(config, package, &refusal);
	if (r)
		return refuse_package(job, r, &refusal);
	if (!job_check_workers(job) || !job_check_sandbox(job) || !job_check_gate(job))
		return 0;
	if (kind_facts(package->kind)->has_members)
		return members_begin(job);
	if (!job_check_risks(job))
		return 0;
	/* A library or server without callable tools is never loaded or started, not even for a
	 * check. */
	if (!settings_offer_any(config, job->toolbox))
		return 0;
	r = state_folder_make(package, &refusal);
	if (r)
		return refuse_package(job, r, &refusal);
	if (package->kind == KIND_MCP)
		return begin_server(job);
	return package->library.path ? begin_library(job) : 0;
}

/* Take the server @entry of the file of @list, as a job of its own. 0 or a negative errno. */
static int begin_server_entry(
	struct load_job *list, const struct mcp_server_entry *entry, const struct origin *origin)
{
	struct load_job *job = load_jobs_add(list->jobs, list->path, false);
	struct package *package;
	int r;

	if (!job || !(job->id = strdup(entry->id)) || !(job->server = strdup(entry->name)))
		return -ENOMEM;
	job->previous = is_away(list->jobs, job->id) ? NULL : server_list_find(job);
	r = server_list_read(job, entry, origin, &package);
	if (r != 0)
		return r < 0 ? r : 0;
	if (job->previous && !asks_server(job) && pins_hold(job->previous) &&
		load_job_is_same(job, package)) {
		package_renew(job->previous, package);
		package_unref(package);
		load_job_set_package(job, package_ref(job->previous));
		job_check_sandbox(job);
		return 0;
	}
	return begin_package(job, package);
}

/* Take the servers of the file of @job, just read as a list of servers. 0 or a negative errno. */
static int begin_list(struct loader *loader, struct load_job *job)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};
	cleanup(origins_deinit) struct origins origins = {0};
	int r = manifest_read_servers(loader->jobs.reader, &entries, &job->problems);

	r = r ? r : manifest_take_origin(loader->jobs.reader, job->path, &origins);
	for (size_t i = 0; r == 0 && i < entries.n_items && !loader->is_abandoned; i++)
		r = begin_server_entry(job, &entries.items[i], &origins.items[0]);
	return r < 0 ? r : 0;
}

/* Take the file of Python @toolbox, beside the programs of @folder, as a job of its own. 0 or a
 * negative errno. */
static int begin_beside(struct load_job *folder, const struct dropin_toolbox *toolbox)
{
	struct load_job *job = load_jobs_add(folder->jobs, toolbox->path, false);
	struct package *package;
	int r;

	if (!job)
		return -ENOMEM;
	job->previous = load_jobs_find_package(job->jobs, job->path);
	r = manifest_read_text(job->jobs->reader, job->path, toolbox->manifest,
		strlen(toolbox->manifest), &package, &job->problems);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!load_job_is_same(job, package) ||
		!toolbox_library_is_unchanged(&job->previous->library))
		return begin_package(job, package);
	package_renew(job->previous, package);
	package_unref(package);
	load_job_set_package(job, package_ref(job->previous));
	job_check_sandbox(job);
	return 0;
}

/* Take the programs of the folder of @job. 0 or a negative errno. */
static int begin_programs(struct load_job *job)
{
	const struct config *config = job->jobs->options.config;
	struct sandbox_refusal refusal;
	int r = settings_apply(config, job->package);

	if (r == 0 && !job->package->is_left_out)
		r = operator_paths_resolve(config, job->package, &refusal);
	if (r)
		return refuse_package(job, r, &refusal);
	if (is_as_before(job))
		load_job_set_package(job, package_ref(job->previous));
	job_check_sandbox(job);
	return 0;
}

/* Read a folder, always: what it is depends on many files. 0 or a negative errno. */
static int begin_folder(struct load_job *job)
{
	cleanup(dropin_toolboxes_deinit) struct dropin_toolboxes toolboxes = {0};
	int r = dropin_folders_read(job, &toolboxes);

	if (r == 0 && job->package)
		r = begin_programs(job);
	for (size_t i = 0; r == 0 && i < toolboxes.n_items; i++)
		r = begin_beside(job, &toolboxes.items[i]);
	return r;
}

static int begin_file(struct loader *loader, struct load_job *job)
{
	struct package *package;
	int r;

	if (job->is_overlay)
		return 0;
	r = failures_repeat(job);
	if (r != 0)
		return r < 0 ? r : 0;
	/* The previous list is not offered. */
	if (job->previous && is_away(job->jobs, job->previous->id))
		job->previous = NULL;
	if (can_keep(loader, job)) {
		if (job->previous->kind == KIND_PYTHON_FILE)
			origins_accept(&job->previous->definition);
		load_job_set_package(job, package_ref(job->previous));
		if (job_check_sandbox(job))
			failures_count(job);
		return 0;
	}
	r = manifest_read(loader->jobs.reader, job->path, &package, &job->problems);
	if (r == MANIFEST_IS_LIST)
		return begin_list(loader, job);
	if (r == MANIFEST_E_REFUSED && manifest_is_refused_for_good(loader->jobs.reader)) {
		job->is_refused = true;
		r = manifest_take_origin(loader->jobs.reader, job->path, &job->files);
	}
	if (r != 0)
		return r < 0 ? r : 0;
	return job->is_refused ? 0 : begin_package(job, package);
}

/* 0 or a negative errno. */
static int begin_job(struct loader *loader, struct load_job *job)
{
	int r = job->is_folder ? begin_folder(job) : begin_file(loader, job);

	if (r == 0 && job->package)
		writable_report(job);
	return r;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static void report_job(const struct loader *loader, const struct load_job *job)
{
	if (job->cache_error < 0)
		log_debug("the description of a toolbox cannot be cached: %s",
			strerror(-job->cache_error));
	for (size_t i = 0; i < job->problems.n_items; i++) {
		struct diagnostic problem = job->problems.items[i];

		problem.file = job->path;
		loader->problem(loader->data, &problem);
	}
}

/* Log what is registered, for the level debug. */
static void report_found(const struct loader *loader)
{
	cleanup(text_list_deinit) struct text_list paths = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	size_t n = loader->listing->n_entries;

	for (size_t i = 0; log_is_on(LOG_LEVEL_DEBUG) && i < n; i++)
		(void)text_list_add(&paths, loader->listing->entries[i].path);
	buffer_printf(&line, "Registrations found (%zu)", n);
	text_list_write(&paths, FOUND_BYTES, &line);
	if (buffer_terminate(&line))
		log_debug("%s", line.data);
}

static void abandon(struct loader *loader, int error)
{
	loader_done_function done = loader->done;
	void *data = loader->data;

	loader_free(loader);
	done(data, NULL, NULL, error);
}

/* Do @run beside the loop, and then @done in it. */
static void go_aside(struct loader *loader, aside_function run, aside_function done)
{
	int r = aside_start(loader->loop, run, done, loader, &loader->aside);

	if (r < 0)
		abandon(loader, r);
}

/* Apply the settings of single tools to what this load has made. 0 or -ENOMEM. */
static int apply_to_tools(struct load_jobs *jobs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < jobs->n_items; i++)
		if (jobs->items[i]->toolbox)
			r = tool_settings_apply(jobs->options.config, jobs->items[i]->toolbox);
	return r;
}

/* Return a catalogue of the files of @base and of the guests of the load, or NULL. */
static struct catalogue *merge_with(struct loader *loader, const struct catalogue *base)
{
	const struct loader_options *options = &loader->jobs.options;

	manifest_reader_bound(loader->jobs.reader, &loader->is_abandoned, GUESTS_MS_MAX);
	return guests_read(loader->jobs.reader, options->config, options->guests) == 0
		       ? guests_merge(base, options->guests, options->config, options->generation)
		       : NULL;
}

/* Add the guests of the load to its catalogue, or drop it. */
static void add_guests(struct loader *loader)
{
	const struct guest_set *guests = loader->jobs.options.guests;
	cleanup(catalogue_cleanup) struct catalogue *files = NULL;

	if (!loader->catalogue || !guests || guests->n_items == 0)
		return;
	files = take_ptr(loader->catalogue);
	loader->catalogue = merge_with(loader, files);
}

/* Make what comes with the catalogue of the load. */
static void make_rest(struct loader *loader)
{
	const struct loader_options *options = &loader->jobs.options;

	if (loader->catalogue)
		loader->policy = policy_new(options->config, loader->catalogue);
	if (loader->catalogue && options->made)
		options->made(loader->data, loader->catalogue);
}

/* Note which tools have passed the gates of this load. */
static void note_gates(struct loader *loader)
{
	bool has_gates = loader->jobs.options.gate_ms > 0;

	for (size_t i = 0; has_gates && i < loader->jobs.n_items; i++) {
		const struct load_job *job = loader->jobs.items[i];

		if (job->toolbox && job->package->has_gate)
			gate_note(loader->jobs.options.config, job->package);
	}
}

/* Beside the loop: the last step. */
static void make_catalogue(void *data)
{
	struct loader *loader = data;

	if (!loader->is_abandoned && loader->error == 0)
		note_gates(loader);
	if (!loader->is_abandoned && loader->error == 0)
		loader->catalogue = assemble_catalogue(&loader->jobs, loader->listing);
	add_guests(loader);
	make_rest(loader);
	load_jobs_drop(&loader->jobs);
}

/* Beside the loop: the only step of a load of guests. */
static void merge_guests(void *data)
{
	struct loader *loader = data;

	loader->catalogue = merge_with(loader, loader->jobs.options.previous);
	make_rest(loader);
}

static void finish(void *data)
{
	struct loader *loader = data;
	bool is_whole = loader->catalogue && loader->policy;
	struct catalogue *catalogue = is_whole ? take_ptr(loader->catalogue) : NULL;
	struct policy *policy = is_whole ? take_ptr(loader->policy) : NULL;
	loader_done_function done = loader->done;
	void *owner = loader->data;
	int status = loader->jobs.has_deferred   ? LOADER_DEFERRED
		     : loader->jobs.has_unlisted ? LOADER_UNLISTED
						 : 0;

	loader->aside = NULL;
	report_found(loader);
	for (size_t i = 0; i < loader->jobs.n_items; i++)
		report_job(loader, loader->jobs.items[i]);
	loader_free(loader);
	done(owner, catalogue, policy, is_whole ? status : -ENOMEM);
}

static void open_gates(void *data)
{
	struct loader *loader = data;

	gate_free(take_ptr(loader->gate));
	go_aside(loader, make_catalogue, finish);
}

/* An example of the package of @item has failed. */
static void close_gate(void *item, const char *text)
{
	struct load_job *job = item;

	job->is_gate_closed = true;
	load_job_fail(job, "", text);
}

/* Go on with the gates, or to the end. */
static void pass_gates(void *data)
{
	struct loader *loader = data;

	if (!loader->is_gated) {
		finish(data);
		return;
	}
	loader->aside = NULL;
	gate_start(loader->gate, close_gate, open_gates, loader);
}

/* Whether @job can wait for a later load: the tools offered now are offered until then. */
static bool can_come_later(const struct load_job *job)
{
	const struct package *previous = job->previous;
	struct sandbox_refusal refusal;

	return job->jobs->options.defers_servers &&
	       (!previous || (previous->is_checked && load_job_may_keep(job, previous, &refusal)));
}

/* Offer what was offered in place of @job, whose examples a later load calls. 0 or -ENOMEM. */
static int leave_at_gate(struct load_job *job)
{
	job->jobs->has_deferred = true;
	if (job->previous) {
		load_job_set_package(job, package_ref(job->previous));
		return 0;
	}
	job->toolbox = NULL;
	return skipped_list_add(&job->skipped, NULL, "its examples are being called");
}

/* Add @job to the gate, if tools of it have not passed. 0 or -ENOMEM. */
static int add_to_gate(struct loader *loader, struct load_job *job)
{
	const struct config *config = loader->jobs.options.config;
	int r;

	if (!job->toolbox || !job->package->has_gate)
		return 0;
	if (!gate_awaits(config, job->package)) {
		if (job->package != job->previous && settings_offer_any(config, job->toolbox))
			diagnostics_add(&job->problems, DIAGNOSTIC_WARNING, 0, "",
				"its gate is open: none of its tools has the risk read and an "
				"example");
		return 0;
	}
	if (failures_repeat_gate(job))
		return 0;
	if (can_come_later(job))
		return leave_at_gate(job);
	job->gate = failures_gate_digest(job->package);
	r = gate_add(loader->gate, job->package, job);
	for (size_t i = 0; r == 0 && i < job->package->programs.n_items; i++)
		r = origins_copy(&job->files, &job->package->programs.items[i]);
	return r;
}

/* Beside the loop: take what the hosts have described. The jobs may become more while they are gone
 * through. */
static void take_descriptions(void *data)
{
	struct loader *loader = data;
	size_t n_asked = loader->jobs.n_items;

	for (size_t i = 0; i < n_asked && !loader->is_abandoned; i++)
		if (loader->jobs.items[i]->is_described)
			accept_description(loader->jobs.items[i]);
	loader->error = loader->is_abandoned ? 0 : apply_to_tools(&loader->jobs);
	for (size_t i = 0; loader->gate && loader->error == 0 && i < loader->jobs.n_items; i++)
		loader->error = add_to_gate(loader, loader->jobs.items[i]);
	loader->is_gated = loader->gate && !gate_is_empty(loader->gate) && loader->error == 0;
	if (!loader->is_gated)
		make_catalogue(data);
}

/* Go on when every awaited answer has come. */
static void go_on(struct loader *loader)
{
	if (!loader->is_checked || asking_n_waiting(loader->asking) > 0 || loader->aside)
		return;
	loop_timer_disarm(&loader->patience);
	asking_end(loader->asking);
	go_aside(loader, take_descriptions, pass_gates);
}

static void finish_checks(void *data)
{
	struct loader *loader = data;

	loader->is_checked = true;
	go_on(loader);
}

/* ── questions to servers ────────────────────────────────────────────────────────────────────── */

/* Copy a host's findings about @from to @package, which is the same. */
static int copy_facts(struct package *package, const struct package *from)
{
	if (package == from)
		return 0;
	free(take_ptr(package->not_enforced));
	free(take_ptr(package->refused));
	package->not_enforced = from->not_enforced ? strdup(from->not_enforced) : NULL;
	package->refused = from->refused ? strdup(from->refused) : NULL;
	return (from->not_enforced && !package->not_enforced) ||
			       (from->refused && !package->refused)
		       ? -ENOMEM
		       : 0;
}

static void take_answer(void *item, const struct asking_answer *answer)
{
	struct load_job *job = item;
	struct loader *loader = container_of(job->jobs, struct loader, jobs);

	if (answer->refusal)
		refuse_library(job, answer->pointer, answer->refusal);
	else if (copy_facts(job->package, answer->package) < 0)
		refuse_library(job, "", strerror(ENOMEM));
	else
		keep_description(job, answer->described.data, answer->described.size);
	go_on(loader);
}

/* Go on without the answer to the question of @item: with its previous tools, if nothing else
 * changed. */
static void leave_job(void *item)
{
	struct load_job *job = item;

	if (is_as_before(job)) {
		load_job_set_package(job, package_ref(job->previous));
		return;
	}
	job->toolbox = NULL;
	if (skipped_list_add(&job->skipped, NULL, being_asked) < 0)
		load_job_fail(job, "", strerror(ENOMEM));
}

static void patience_is_over(void *data)
{
	struct loader *loader = data;

	asking_let_go(loader->asking, leave_job);
	go_on(loader);
}

/* 0 or -ENOMEM. */
static int ask_servers(struct loader *loader)
{
	const struct loader_options *options = &loader->jobs.options;
	int r = 0;

	asking_begin(loader->asking, take_answer);
	for (size_t i = 0; r == 0 && i < loader->jobs.n_items; i++) {
		struct load_job *job = loader->jobs.items[i];

		if (job->asks)
			r = asking_ask(loader->asking, job->package, job->key, job,
				!options->takes_answers);
	}
	if (options->patience_ms > 0)
		loop_timer_arm(&loader->patience, options->patience_ms);
	return r;
}

/* Beside the loop: read what is registered. */
static void read_manifests(void *data)
{
	struct loader *loader = data;

	loader->error = dropin_folders_enter(&loader->jobs);
	if (loader->error == 0)
		loader->error = load_jobs_find_previous(&loader->jobs);
	if (loader->error == 0)
		loader->error = failures_find(&loader->jobs);
	if (loader->error < 0)
		return;
	for (size_t i = 0; i < loader->jobs.n_files && !loader->is_abandoned; i++) {
		loader->error = begin_job(loader, loader->jobs.items[i]);
		if (loader->error < 0)
			return;
	}
}

static void check_libraries(void *data)
{
	struct loader *loader = data;

	loader->aside = NULL;
	if (loader->error == 0)
		loader->error = ask_servers(loader);
	if (loader->error < 0)
		abandon(loader, loader->error);
	else
		checker_start(loader->jobs.checker, refuse_library, keep_description, finish_checks,
			loader);
}

static int add_file(struct loader *loader, const char *path, bool is_folder)
{
	return load_jobs_add(&loader->jobs, path, is_folder) ? 0 : -ENOMEM;
}

static int new_loader(
	struct loop *loop, const struct loader_options *options, struct loader **ret_loader)
{
	cleanup(loader_cleanup) struct loader *loader = calloc(1, sizeof(*loader));
	int r;

	if (!loader)
		return -ENOMEM;
	loader->loop = loop;
	loader->jobs.options = *options;
	loader->listing = options->listing ? options->listing : &loader->own;
	loader->jobs.reader = manifest_reader_new(options->library_dir);
	if (!loader->jobs.reader)
		return -ENOMEM;
	manifest_reader_limit_checks(loader->jobs.reader, options->config->limits.check_ms);
	manifest_reader_limit_tools(loader->jobs.reader, options->config->limits.tools);
	manifest_reader_leave_out(loader->jobs.reader, settings_leave_out_package, options->config);
	if (options->checks_off)
		manifest_reader_check_off(loader->jobs.reader);
	manifest_reader_bound(loader->jobs.reader, &loader->is_abandoned, TOOLS_MS_MAX);
	r = checker_new(loop, options->host_program, options->config, &loader->jobs.checker);
	r = r ? r : loop_timer_init(&loader->patience, loop, patience_is_over, loader);
	loader->asking = options->asking;
	loader->has_own_asking = !options->asking;
	if (r == 0 && loader->has_own_asking)
		r = asking_new(
			loop, options->host_program, options->config, NULL, NULL, &loader->asking);
	if (r == 0 && options->gate_ms > 0)
		r = gate_new(loop, options->host_program, options->config, options->gate_ms,
			&loader->gate);
	r = r ? r : asking_list(loader->asking, true, &loader->jobs.questioned);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

/* 0 or a negative errno. */
static int set_going(
	struct loader *loader, diagnostic_function problem, loader_done_function done, void *data)
{
	loader->problem = problem;
	loader->done = done;
	loader->data = data;
	loader->jobs.n_files = loader->jobs.n_items;
	dropin_folders_pair(&loader->jobs);
	return aside_start(loader->loop, read_manifests, check_libraries, loader, &loader->aside);
}

int loader_start(struct loop *loop, const struct loader_options *options,
	diagnostic_function problem, loader_done_function done, void *data,
	struct loader **ret_loader)
{
	const struct text_list *folders = &options->config->toolbox_dirs;
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = new_loader(loop, options, &loader);

	if (r == 0 && !options->listing)
		r = folders_list(
			(const char *const *)folders->items, folders->n_items, &loader->own);
	for (size_t i = 0; r == 0 && i < loader->listing->n_entries; i++)
		r = add_file(loader, loader->listing->entries[i].path,
			loader->listing->entries[i].is_folder);
	r = r ? r : set_going(loader, problem, done, data);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

static int add_once(struct loader *loader, const char *path)
{
	struct stat status;

	for (size_t i = 0; i < loader->jobs.n_items; i++)
		if (strcmp(loader->jobs.items[i]->path, path) == 0)
			return 0;
	return add_file(loader, path, stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* Find the folder of @path if that is a drop-in program, else NULL. Return 0 or -ENOMEM. */
static int find_folder(const char *path, char **ret_folder)
{
	cleanup_free char *copy = strdup(path);
	size_t stem_size;
	const char *stem = manifest_stem(path, &stem_size);
	struct stat status;

	*ret_folder = NULL;
	if (!copy)
		return -ENOMEM;
	if (stem[stem_size] || stat(path, &status) < 0 || !S_ISREG(status.st_mode) ||
		access(path, X_OK) < 0)
		return 0;
	*ret_folder = realpath(dirname(copy), NULL);
	return *ret_folder || errno != ENOMEM ? 0 : -ENOMEM;
}

/* A named file or folder, and its partner. A program is a tool of its folder. */
static int add_given(struct loader *loader, const char *path)
{
	cleanup_free char *folder = NULL;
	cleanup_free char *given = NULL;
	cleanup_free char *other = NULL;
	int r = find_folder(path, &folder);

	r = r ? r : dropin_folders_find_other(folder ? folder : path, &given, &other);

	if (r == 0)
		r = add_once(loader, given);
	return r == 0 && other ? add_once(loader, other) : r;
}

/* Add @path to @paths, or what is registered in it. 0 or a negative errno. */
static int expand_path(const char *path, struct text_list *paths)
{
	cleanup(folders_listing_deinit) struct folders_listing listing = {0};
	int r;

	if (!folders_is_registration(path))
		return text_list_add(paths, path);
	r = folders_list(&path, 1, &listing);
	for (size_t i = 0; r == 0 && i < listing.n_entries; i++)
		r = text_list_add(paths, listing.entries[i].path);
	return r;
}

int loader_start_files(struct loop *loop, const struct loader_options *options,
	const char *const *files, size_t n_files, diagnostic_function problem,
	loader_done_function done, void *data, struct loader **ret_loader)
{
	cleanup(text_list_deinit) struct text_list paths = {0};
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_files; i++)
		r = expand_path(files[i], &paths);
	r = r ? r : new_loader(loop, options, &loader);
	/* They are shown, on or off. */
	if (r == 0)
		manifest_reader_leave_out(loader->jobs.reader, NULL, NULL);
	for (size_t i = 0; r == 0 && i < paths.n_items; i++)
		r = add_given(loader, paths.items[i]);
	if (r == 0)
		r = set_going(loader, problem, done, data);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

int loader_start_guests(struct loop *loop, const struct loader_options *options,
	diagnostic_function problem, loader_done_function done, void *data,
	struct loader **ret_loader)
{
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = new_loader(loop, options, &loader);

	if (r < 0)
		return r;
	loader->problem = problem;
	loader->done = done;
	loader->data = data;
	r = aside_start(loop, merge_guests, finish, loader, &loader->aside);
	if (r == 0)
		*ret_loader = take_ptr(loader);
	return r;
}

bool loader_is_asking(const struct loader *loader)
{
	return !loader->aside;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	loader->is_abandoned = true;
	aside_free(loader->aside);
	if (loader->asking)
		asking_let_go(loader->asking, NULL);
	if (loader->has_own_asking)
		asking_free(loader->asking);
	loop_timer_deinit(&loader->patience);
	gate_free(loader->gate);
	policy_free(loader->policy);
	catalogue_free(loader->catalogue);
	load_jobs_deinit(&loader->jobs);
	folders_listing_deinit(&loader->own);
	free(loader);
}
