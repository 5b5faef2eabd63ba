/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/offer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/settings.h"
#include "util/assert.h"
#include "util/cleanup.h"

int offer_init(struct offer *offer, struct loop *loop, const char *host_program,
	const struct runner_handler *handler, void *data)
{
	static const struct config nothing;

	*offer = (struct offer){
		.loop = loop,
		.host_program = host_program,
		.handler = *handler,
		.data = data,
		.catalogue = catalogue_new(NULL, 0, NULL, NULL, 0),
	};
	if (offer->catalogue)
		offer->policy = policy_new(&nothing, offer->catalogue);
	return offer->policy ? 0 : -ENOMEM;
}

/* Release @runner from one toolbox. Return whether that was the last; then the package has no
 * runner. */
static bool release_runner(struct runner *runner)
{
	if (!runner_release(runner))
		return false;
	check(runner_package(runner)->runner == runner);
	runner_package(runner)->runner = NULL;
	return true;
}

/* Release all of the @n runners at @runners, and free what nothing holds. */
static void drop_runners(struct runner *const *runners, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (release_runner(runners[i]))
			runner_free(runners[i]);
}

void offer_deinit(struct offer *offer)
{
	drop_runners(offer->runners, offer->n_runners);
	for (size_t i = 0; i < offer->n_retired; i++)
		runner_free(offer->retired[i]);
	free(take_ptr(offer->runners));
	free(take_ptr(offer->retired));
	offer->n_runners = offer->n_retired = 0;
	policy_free(take_ptr(offer->policy));
	catalogue_free(take_ptr(offer->catalogue));
}

/* ── the next catalogue ──────────────────────────────────────────────────────────────────────── */

static struct runner_options runner_options_of(
	const struct offer *offer, const struct package *package, const struct config *config)
{
	return (struct runner_options){
		.executor = offer->executors[package->kind],
		.worker = settings_worker_options(config, package, offer->host_program),
		.idle_s = package->limits.has_idle_s ? package->limits.idle_s : config->idle_s,
		.queue_max = package->limits.queue ? package->limits.queue : config->limits.queue,
		.workers = package->limits.workers,
		.crash_limit = config->crash_limit,
		.crash_window_s = config->crash_window_s,
	};
}

/* Write the runners of the toolboxes of @catalogue to @runners, and count them in *n. A package
 * without a runner gets a new runner; a package that is left out has no calls, and gets none.
 * Returns 0 or -ENOMEM. */
static int hold_runners(struct offer *offer, const struct catalogue *catalogue,
	const struct config *config, struct runner **runners, size_t *n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(catalogue); i++) {
		struct package *package = catalogue_toolbox(catalogue, i, NULL, NULL)->package;

		if (package->is_left_out)
			continue;
		if (!package->runner) {
			struct runner_options options = runner_options_of(offer, package, config);

			package->bin = offer->bin;
			r = runner_new(offer->loop, package, &options, &offer->handler, offer->data,
				&package->runner);
		}
		if (r == 0)
			runners[(*n)++] = runner_hold(package->runner);
	}
	return r;
}

static void configure_runners(const struct offer *offer, const struct catalogue *catalogue,
	const struct config *config, bool forgives)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		size_t n_tools;
		const struct package *package =
			catalogue_toolbox(catalogue, i, NULL, &n_tools)->package;
		struct runner_options options;

		if (!package->runner)
			continue;
		options = runner_options_of(offer, package, config);
		runner_configure(package->runner, &options);
		if (forgives)
			runner_forgive(package->runner);
		/* None of its tools is offered any more. */
		if (n_tools == 0 && package->n_toolboxes == 1)
			runner_dismiss_idle(package->runner);
	}
}

/* Retire the runners without a toolbox in the next catalogue. offer->retired has room for all of
 * them. */
static void retire_rest(struct offer *offer)
{
	for (size_t i = 0; i < offer->n_runners; i++) {
		struct runner *runner = offer->runners[i];

		if (!release_runner(runner))
			continue;
		offer->retired[offer->n_retired++] = runner;
		runner_retire(runner);
	}
}

int offer_swap(struct offer *offer, struct catalogue *catalogue, struct policy *policy,
	const struct config *config, bool forgives)
{
	struct runner **runners =
		calloc(catalogue_n_toolboxes(catalogue) + 1, sizeof(struct runner *));
	size_t n_runners = 0;
	struct runner **retired = reallocarray(
		offer->retired, offer->n_retired + offer->n_runners + 1, sizeof(struct runner *));

	if (retired)
		offer->retired = retired;
	if (!runners || !retired ||
		hold_runners(offer, catalogue, config, runners, &n_runners) < 0) {
		drop_runners(runners, n_runners);
		free(runners);
		return -ENOMEM;
	}
	configure_runners(offer, catalogue, config, forgives);
	retire_rest(offer);
	free(offer->runners);
	offer->runners = runners;
	offer->n_runners = n_runners;
	policy_free(offer->policy);
	offer->policy = policy;
	catalogue_free(offer->catalogue);
	offer->catalogue = catalogue;
	return 0;
}

void offer_prestart(struct offer *offer)
{
	for (size_t i = 0; i < catalogue_n_toolboxes(offer->catalogue); i++) {
		size_t n_tools;
		const struct package *package =
			catalogue_toolbox(offer->catalogue, i, NULL, &n_tools)->package;

		if (package->limits.prestart && n_tools > 0)
			runner_prestart(package->runner);
	}
}

/* ── runners ─────────────────────────────────────────────────────────────────────────────────── */

void offer_drop_retired(struct offer *offer, struct runner *runner)
{
	size_t i = 0;

	while (i < offer->n_retired && offer->retired[i] != runner)
		i++;
	check(i < offer->n_retired);
	offer->retired[i] = offer->retired[--offer->n_retired];
	runner_free(runner);
}

void offer_end_calls(struct offer *offer, const char *reason)
{
	for (size_t i = 0; i < offer->n_runners; i++)
		runner_end_all(offer->runners[i], reason);
	for (size_t i = 0; i < offer->n_retired; i++)
		runner_end_all(offer->retired[i], reason);
}

static bool runs_guest(const struct runner *runner, const char *id, const char *source)
{
	const struct package *package = runner_package(runner);

	return package->kind == KIND_GUEST && strcmp(package->id, id) == 0 &&
	       strcmp(package->guest_source, source) == 0;
}

void offer_end_guest(struct offer *offer, const char *id, const char *source, const char *reason)
{
	for (size_t i = 0; i < offer->n_runners; i++)
		if (runs_guest(offer->runners[i], id, source))
			runner_end_all(offer->runners[i], reason);
	for (size_t i = 0; i < offer->n_retired; i++)
		if (runs_guest(offer->retired[i], id, source))
			runner_end_all(offer->retired[i], reason);
}

bool offer_rest(struct offer *offer)
{
	bool have_left = true;

	for (size_t i = 0; i < offer->n_runners; i++) {
		runner_dismiss_idle(offer->runners[i]);
		have_left = have_left && runner_has_reaped_all(offer->runners[i]);
	}
	for (size_t i = 0; i < offer->n_retired; i++)
		have_left = have_left && runner_has_reaped_all(offer->retired[i]);
	return have_left;
}
