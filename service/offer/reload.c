/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bus/pacing.h"
#include "config/remembered.h"
#include "util/process/notify.h"
#include "offer/summary.h"
#include "loader/asking.h"
#include "loader/gate/gate.h"
#include "loader/warn/open_bus.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/digest.h"

/* The least time between two reloads that reload_refresh() begins: anybody on the bus can ask for
 * one, and each costs an interpreter seconds. */
#define REFRESH_MS 10000

/* A server is asked again after the delays of a lost bus, so many times as long: 1 s to 60 s. */
#define RETRY_SLOWER 2

/* A load that is under way then, and may not ask them, is waited for. */
#define RELISTING_WAIT_MS 1000

/* Without a change of a list for so long, the next one is read at once. */
#define RELISTING_REST_MS 120000

/* The wait for servers before what has answered is offered: of a load that somebody waits for, and
 * of others. The answers that come later are gathered for a moment. */
#define PATIENCE_ASKED_MS 2000
#define PATIENCE_MS       1000
#define ARRIVAL_MS        200

/* Lines about reloads in LOG_RATE_INTERVAL_MS: anybody may ask for one. */
#define RELOADS_LOGGED 20

/* ── a reload ────────────────────────────────────────────────────────────────────────────────── */

static void log_problem(void *data, const struct diagnostic *problem)
{
	struct reload *reload = data;

	problems_log_diagnostic(&reload->problems, problem);
}

/* Log once what the sandbox lacks here: it is the same for all toolboxes, until the next start
 * of the system. */
static void log_not_enforced(struct reload *reload)
{
	const struct offer *offer = reload->parts.offer;

	for (size_t i = 0; i < offer->n_runners && !reload->has_logged_sandbox; i++) {
		const char *missing = runner_package(offer->runners[i])->not_enforced;

		if (!missing)
			continue;
		log_warning("The sandbox is not whole on this system: %s", missing);
		reload->has_logged_sandbox = true;
	}
}

/* Return how many toolboxes of @catalogue have a tool that is offered. */
static size_t count_offering(const struct catalogue *catalogue)
{
	size_t n_offering = 0;

	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		size_t n_tools;

		catalogue_toolbox(catalogue, i, NULL, &n_tools);
		n_offering += n_tools > 0;
	}
	return n_offering;
}

/* Log what the first catalogue has. */
static void log_start(const struct catalogue *catalogue)
{
	size_t n_failures = catalogue_n_failures(catalogue);
	size_t n_tools = catalogue_n_tools(catalogue);
	size_t n_offering = count_offering(catalogue);
	char failed[64] = "";

	if (n_failures > 0)
		snprintf(failed, sizeof(failed), ", %zu toolbox%s failed", n_failures,
			n_failures == 1 ? " has" : "es have");
	log_info("%zu tool%s in %zu toolbox%s %s offered%s", n_tools, n_tools == 1 ? "" : "s",
		n_offering, n_offering == 1 ? "" : "es", n_tools == 1 ? "is" : "are", failed);
}

/* Log what the reload has changed. A reload without a change only interests its requester. */
static void log_changes(struct reload *reload, const struct catalogue *catalogue)
{
	struct buffer *text = &reload->next.summary;
	bool has_changed = text->size > 0;

	if (!has_changed)
		buffer_append_string(text, "nothing changed");
	summary_write_failing(catalogue, text);
	log_limited(&reload->reloads,
		has_changed || reload->is_asked ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG,
		"Reloaded in %" PRIu64 " ms: %s", clock_now_ms() - reload->begun_ms,
		buffer_terminate(text) ? text->data : strerror(ENOMEM));
}

/* Log what the new @catalogue has, and the names to warn of; announce the changes. */
static void report_changes(struct reload *reload, const struct catalogue *catalogue)
{
	const struct prepared_reload *next = &reload->next;

	if (reload->is_ready)
		log_changes(reload, catalogue);
	else
		log_start(catalogue);
	for (size_t i = 0; i < next->details.n_items; i++)
		log_debug("%s", next->details.items[i]);
	for (size_t i = 0; i < next->shared.n_items; i++)
		problems_log(&reload->problems, LOG_LEVEL_WARNING, next->shared.items[i]);
	for (size_t i = 0; i < next->unknown.n_items; i++)
		log_problem(reload, &next->unknown.items[i]);
	warn_open_bus_unrated(reload->parts.config, catalogue, log_problem, reload);
	problems_end_round(&reload->problems);
	if (reload->is_ready && next->has_changes)
		reload->handler.changed(reload->data, &next->members);
}

const char *reload_outcome_name(enum reload_outcome outcome)
{
	static const char *const names[] = {
		[RELOAD_CHANGED] = "changed",
		[RELOAD_UNCHANGED] = "unchanged",
		[RELOAD_FAILED] = "failed",
	};

	return names[outcome];
}

/* Put @catalogue and its @policy (both taken over) in place. Return whether they are. */
static bool put_catalogue(
	struct reload *reload, struct catalogue *catalogue, struct policy *policy, bool forgives)
{
	if (reload->next.status == 0 && offer_swap(reload->parts.offer, catalogue, policy,
						reload->parts.config, forgives) == 0)
		return true;
	log_error("Out of memory: the tools stay as they were");
	policy_free(policy);
	catalogue_free(catalogue);
	return false;
}

/* Put @catalogue and its @policy (both taken over) in place, and announce what has changed. Return
 * the outcome. */
static enum reload_outcome swap_catalogue(
	struct reload *reload, struct catalogue *catalogue, struct policy *policy)
{
	struct offer *offer = reload->parts.offer;

	if (!put_catalogue(reload, catalogue, policy, true))
		return RELOAD_FAILED;
	report_changes(reload, catalogue);
	log_not_enforced(reload);
	offer_prestart(offer);
	return reload->next.has_changes ? RELOAD_CHANGED : RELOAD_UNCHANGED;
}

/* Beside the loop, before finish_load(). */
static void make_next(void *data, const struct catalogue *catalogue)
{
	struct reload *reload = data;

	prepared_reload_make(&reload->next, reload->parts.config,
		reload->is_ready ? reload->parts.offer->catalogue : NULL, catalogue);
}

static void start_loader(struct reload *reload);

/* Ask servers by @timer, after the delay that follows @n_before others. */
static void arm_asking(struct loop_timer *timer, uint32_t n_before)
{
	uint32_t chance = 0;

	/* Without a random number the delay is not shortened. */
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = 0;
	loop_timer_arm(timer, RETRY_SLOWER * bus_backoff_delay_ms(n_before, chance));
}

/* Ask the servers that have not listed their tools again, each time later; or no more. */
static void plan_retry(struct reload *reload, bool is_needed)
{
	if (!is_needed)
		reload->n_retries = 0;
	else if (!loop_timer_is_armed(&reload->retry))
		arm_asking(&reload->retry, reload->n_retries++);
}

/* Answers of servers have come that no load waits for: one will take them. */
static void gather_answers(void *data)
{
	struct reload *reload = data;

	if (!reload->loader && !loop_timer_is_armed(&reload->arrival))
		loop_timer_arm(&reload->arrival, ARRIVAL_MS);
}

/* A timer. A load that is under way takes the answers, or is followed by one that does. */
static void take_answers(void *data)
{
	struct reload *reload = data;

	if (reload->loader)
		return;
	reload->takes_answers = true;
	reload->is_background_next = true;
	start_loader(reload);
}

void reload_list_again(struct reload *reload)
{
	uint64_t now_ms = clock_now_ms();

	if (loop_timer_is_armed(&reload->relisting))
		return;
	if (now_ms - reload->relisted_ms > RELISTING_REST_MS)
		reload->n_relistings = 0;
	reload->relisted_ms = now_ms;
	if (reload->n_relistings++ == 0)
		loop_timer_arm(&reload->relisting, ARRIVAL_MS);
	else
		arm_asking(&reload->relisting, reload->n_relistings - 2);
}

/* A timer: the load asks all servers whose lists are not known, or stale. */
static void ask_servers(void *data)
{
	struct reload *reload = data;

	if (reload->loader) {
		loop_timer_arm(&reload->relisting, RELISTING_WAIT_MS);
		return;
	}
	reload->is_background_next = true;
	start_loader(reload);
}

/* End a load that only waits for servers: the next load need not wait, and asks them again
 * afterwards. */
static void give_way(struct reload *reload)
{
	if (!reload->loader || !reload->is_background || !loader_is_asking(reload->loader))
		return;
	loader_free(take_ptr(reload->loader));
	prepared_reload_deinit(&reload->next);
	guest_set_deinit(&reload->guests);
}

/* Report the outcomes of the guests of the load under way, which ends. */
static void end_guests(struct reload *reload, bool is_taken, uint64_t spent_ms)
{
	struct guest_set guests = reload->guests;

	reload->guests = (struct guest_set){0};
	reload->handler.take_guests(reload->data, &guests, is_taken, spent_ms);
	guest_set_deinit(&guests);
}

/* The loader's callback: the reload under way is done. */
static void finish_load(void *data, struct catalogue *catalogue, struct policy *policy, int status)
{
	struct reload *reload = data;
	bool was_ready = reload->is_ready;
	enum reload_outcome outcome = RELOAD_FAILED;

	reload->loader = NULL;
	reload->is_unwatched = !catalogue || !reload->next.keeps_packages;
	if (catalogue)
		outcome = swap_catalogue(reload, catalogue, policy);
	else
		log_error("Loading the toolboxes failed: %s", strerror(-status));
	end_guests(reload, outcome != RELOAD_FAILED, 0);
	reload->outcomes[outcome]++;
	outages_end(&reload->outages, reload->parts.offer->catalogue);
	reload->is_ready = true;
	reload->tools = reload->next.tools;
	reload->next.tools = (struct buffer){0};
	prepared_reload_deinit(&reload->next);
	disposal_begin(reload->parts.disposal);
	notify_ready();
	reload->handler.done(reload->data);
	buffer_deinit(&reload->tools);
	if (was_ready)
		reload->handler.reloaded(reload->data);
	else
		reload->handler.ready(reload->data);
	/* A request that had waited for the first load may have begun another one already. */
	if (!reload->loader && (reload->is_wanted || status == LOADER_DEFERRED)) {
		reload->is_background_next = !reload->is_wanted;
		reload->is_wanted = true;
	} else {
		plan_retry(reload, status == LOADER_UNLISTED);
		if (asking_has_answers(reload->asking))
			gather_answers(reload);
	}
	if (reload->is_wanted || reload->is_unwatched)
		loop_timer_arm(&reload->following, 0);
	else if (!reload->loader)
		reload_drop_listing(reload);
}

/* A timer: go on after a load. With many toolboxes its end holds the loop for milliseconds, and so
 * do the beginning of the next load and the watches. */
static void follow(void *data)
{
	struct reload *reload = data;

	if (reload->is_wanted && !reload->loader)
		start_loader(reload);
	else if (reload->is_unwatched)
		reload_watch(reload, true);
	if (!reload->loader)
		reload_drop_listing(reload);
}

/* ── guests ──────────────────────────────────────────────────────────────────────────────────── */

/* Log and announce what the guests have changed. */
static void report_guests(struct reload *reload)
{
	struct buffer *text = &reload->next.summary;

	if (!reload->next.has_changes)
		return;
	log_limited(&reload->reloads, LOG_LEVEL_INFO, "Guests: %s",
		buffer_terminate(text) ? text->data : strerror(ENOMEM));
	reload->handler.changed(reload->data, &reload->next.members);
}

/* The loader's callback: the load of guests under way is done. */
static void finish_guests(
	void *data, struct catalogue *catalogue, struct policy *policy, int status)
{
	struct reload *reload = data;
	bool is_taken = catalogue && put_catalogue(reload, catalogue, policy, false);

	reload->loader = NULL;
	if (is_taken)
		report_guests(reload);
	else if (!catalogue)
		log_error("Taking guests in failed: %s", strerror(-status));
	prepared_reload_deinit(&reload->next);
	disposal_begin(reload->parts.disposal);
	end_guests(reload, is_taken, clock_now_ms() - reload->begun_ms);
	reload->handler.reloaded(reload->data);
	if (!reload->loader && reload->is_wanted)
		loop_timer_arm(&reload->following, 0);
	else if (!reload->loader && asking_has_answers(reload->asking))
		gather_answers(reload);
}

/* Return the options of a load of guests; a whole load has more. */
static struct loader_options begin_options(struct reload *reload)
{
	return (struct loader_options){
		.config = reload->parts.config,
		.host_program = reload->paths->host_program,
		.library_dir = reload->paths->library_dir,
		.previous = reload->parts.offer->catalogue,
		.generation = ++reload->generation,
		.asking = reload->asking,
		.made = make_next,
		.guests = &reload->guests,
	};
}

static void start_guests(struct reload *reload)
{
	const struct loader_options options = begin_options(reload);
	int r;

	check(!reload->loader);
	reload->begun_ms = clock_now_ms();
	reload->is_background = false;
	reload->handler.list_guests(reload->data, &reload->guests);
	r = loader_start_guests(
		reload->parts.loop, &options, log_problem, finish_guests, reload, &reload->loader);
	if (r < 0)
		finish_guests(reload, NULL, NULL, r);
}

void reload_guests(struct reload *reload)
{
	if (!reload->loader && reload->is_ready && !reload->parts.config->closed)
		start_guests(reload);
}

/* ── beginning ───────────────────────────────────────────────────────────────────────────────── */

/* End a reload whose configuration is closed: nothing was loaded. The mistakes are logged. */
static void finish_closed(struct reload *reload)
{
	reload->outcomes[RELOAD_FAILED]++;
	if (reload->is_asked)
		log_limited(&reload->reloads, LOG_LEVEL_ERROR, "Nothing is offered: %s",
			reload->parts.config->closed);
	reload_drop_listing(reload);
	reload->handler.done(reload->data);
}

static uint64_t digest_merged(const struct config *config)
{
	return digest_bytes(DIGEST_SEED, config->merged.data, config->merged.size);
}

static void start_loader(struct reload *reload)
{
	const struct reload_parts *parts = &reload->parts;
	struct loader_options options;
	uint64_t configuration;
	int r;

	check(!reload->loader);
	reload->is_wanted = false;
	reload->begun_ms = clock_now_ms();
	reload->is_asked = reload->is_asked_next;
	reload->is_asked_next = false;
	reload->next.is_detailed = log_is_on(LOG_LEVEL_DEBUG);
	reload->next.is_answered = reload->handler.begun(reload->data);
	reload->is_background = reload->is_background_next && !reload->is_asked;
	reload->is_background_next = false;
	if (!reload->takes_answers)
		loop_timer_disarm(&reload->retry);
	if (reload->is_ready && !reload->is_background)
		notify_reloading();
	/* Before anything is read, so that no later change is missed. */
	configuration = digest_merged(parts->config);
	reload_drop_listing(reload);
	reload_watch(reload, false);
	/* A closed configuration may have been mended before it was watched. */
	if (reload->is_ready || parts->config->closed)
		reload_configuration(reload);
	parts->offer->closed = parts->config->closed;
	if (parts->config->closed) {
		finish_closed(reload);
		return;
	}
	if (reload->starts_again) {
		reload->handler.start_again(reload->data);
		return;
	}
	options = begin_options(reload);
	if (reload->flags->n_files == 0) {
		options.defers = !reload->is_ready;
		options.defers_servers = !reload->is_asked && !reload->is_background;
		options.gate_ms = GATE_MS;
		options.patience_ms = reload->is_asked ? PATIENCE_ASKED_MS : PATIENCE_MS;
	}
	options.asks_again = reload->asks_again;
	options.away = &reload->away;
	options.asks_servers = reload->is_asked;
	options.takes_answers = reload->takes_answers && reload->is_background;
	reload->asks_again = false;
	reload->takes_answers = false;
	/* The configuration may name other folders now. */
	if (digest_merged(parts->config) != configuration) {
		reload_drop_listing(reload);
		reload_watch(reload, true);
	}
	if (reload->flags->n_files == 0 && reload->is_listed)
		options.listing = &reload->listing;
	text_list_deinit(&reload->away);
	reload->handler.list_guests(reload->data, &reload->guests);
	r = outages_list(&reload->outages, &reload->away);
	if (r == 0 && reload->flags->n_files > 0)
		r = loader_start_files(parts->loop, &options, reload->flags->files,
			reload->flags->n_files, log_problem, finish_load, reload, &reload->loader);
	else if (r == 0)
		r = loader_start(
			parts->loop, &options, log_problem, finish_load, reload, &reload->loader);
	if (r < 0)
		finish_load(reload, NULL, NULL, r);
}

void reload_begin(struct reload *reload)
{
	/* The load that asks servers comes after this one. */
	reload->is_background_next = false;
	if (reload->loader)
		reload->is_wanted = true;
	else
		start_loader(reload);
}

static void ask_interpreters(struct reload *reload)
{
	reload->asks_again = true;
	reload_begin(reload);
}

void reload_ask_again(struct reload *reload)
{
	reload->is_asked_next = true;
	give_way(reload);
	ask_interpreters(reload);
}

void reload_refresh(struct reload *reload)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < reload->refresh_after_ms)
		return;
	reload->refresh_after_ms = now_ms + REFRESH_MS;
	ask_interpreters(reload);
}

void reload_soon(struct reload *reload)
{
	if (reload->watcher)
		watcher_poke(reload->watcher);
	else
		reload_begin(reload);
}

bool reload_is_pending(struct reload *reload)
{
	bool is_retry =
		reload->is_background && (reload->n_retries > 0 || reload->n_relistings > 0);

	return (reload->loader && !is_retry) || reload->is_wanted ||
	       (reload->watcher && watcher_is_pending(reload->watcher));
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

static void registration_changed(void *data)
{
	give_way(data);
	reload_begin(data);
}

int reload_init(struct reload *reload, const struct reload_parts *parts,
	const struct config_flags *flags, const struct paths *paths, struct mistakes *mistakes,
	const struct reload_handler *handler, void *data)
{
	int r;

	*reload = (struct reload){
		.parts = *parts,
		.flags = flags,
		.paths = paths,
		.handler = *handler,
		.data = data,
		.reloads = {.burst = RELOADS_LOGGED},
		.mistakes = *mistakes,
	};
	*mistakes = (struct mistakes){0};
	r = watcher_new(parts->loop, registration_changed, reload, &reload->watcher);
	if (r < 0)
		log_warning("Changes in the toolbox folders are not noticed: %s; ask for a reload "
			    "after each",
			strerror(-r));
	r = expiry_init(&reload->expiry, parts->loop, registration_changed, reload);
	if (r < 0)
		return r;
	expiry_set(&reload->expiry, remembered_next_end(&parts->config->disabled));
	r = asking_new(parts->loop, paths->host_program, parts->config, gather_answers, reload,
		&reload->asking);
	r = r ? r : loop_timer_init(&reload->following, parts->loop, follow, reload);
	r = r ? r : loop_timer_init(&reload->rewatch, parts->loop, registration_changed, reload);
	r = r ? r : loop_timer_init(&reload->arrival, parts->loop, take_answers, reload);
	r = r ? r : outages_init(&reload->outages, parts->loop, ask_servers, reload);
	r = r ? r : loop_timer_init(&reload->relisting, parts->loop, ask_servers, reload);
	return r ? r : loop_timer_init(&reload->retry, parts->loop, ask_servers, reload);
}

void reload_deinit(struct reload *reload)
{
	loader_free(take_ptr(reload->loader));
	asking_free(take_ptr(reload->asking));
	loop_timer_deinit(&reload->following);
	loop_timer_deinit(&reload->rewatch);
	loop_timer_deinit(&reload->arrival);
	prepared_reload_deinit(&reload->next);
	guest_set_deinit(&reload->guests);
	reload_drop_listing(reload);
	watcher_free(take_ptr(reload->watcher));
	expiry_deinit(&reload->expiry);
	outages_deinit(&reload->outages);
	text_list_deinit(&reload->away);
	loop_timer_deinit(&reload->relisting);
	loop_timer_deinit(&reload->retry);
	problems_deinit(&reload->problems);
	mistakes_deinit(&reload->mistakes);
}
