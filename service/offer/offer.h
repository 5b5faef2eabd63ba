/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "loop/loop.h"
#include "policy/policy.h"
#include "runner/runner.h"

/*
 * The offer: the catalogue in force, and the runners of its toolboxes.
 *
 *   catalogue   math_tools   volume   mail, left out   libm
 *   runners        [0]         [1]                      [2]
 *   retired     runners of earlier catalogues with calls or hosts
 *
 * offer_swap() puts the next catalogue in place. A package in both keeps its runner
 * (package->runner): its hosts, queue and figures. The other runners retire: their calls end where
 * they began.
 */
struct offer {
	struct loop *loop;
	const char *host_program;            /* borrowed; path of toolbox-host */
	struct runner_handler handler;       /* handler of every runner */
	void *data;                          /* passed to it */
	struct executor *executors[N_KINDS]; /* borrowed; by kind, what runs its calls; NULL: hosts
					      * do. Set by the owner */
	struct catalogue *catalogue;         /* never NULL; empty until the first swap */
	struct policy *policy;               /* made for that catalogue; never NULL */
	struct runner **runners; /* the runners of its toolboxes, but for packages left out */
	size_t n_runners;
	struct runner **retired;
	size_t n_retired;
	struct package_bin *bin; /* borrowed; for its packages once they are unused; NULL: none */
	const char *closed; /* borrowed; why nothing may be offered, or NULL (config/config.h) */
};

/* Make @offer an empty one. @handler is copied, @data passed to it; its drained() must call
 * offer_drop_retired(). Returns 0 or -ENOMEM. */
int offer_init(struct offer *offer, struct loop *loop, const char *host_program,
	const struct runner_handler *handler, void *data);

/* Free the catalogue and all runners, whose hosts are killed. Their calls get no answer. */
void offer_deinit(struct offer *offer);

/* Put @catalogue and its @policy (both taken over on success) in place, the runners configured by
 * @config. @forgives: quarantines end. Returns 0 or -ENOMEM, and then nothing has changed. */
int offer_swap(struct offer *offer, struct catalogue *catalogue, struct policy *policy,
	const struct config *config, bool forgives);

/* Start a host for each toolbox with tools and limits.prestart. */
void offer_prestart(struct offer *offer);

/* Return whether @view has every tool: its caller may use all of them. */
static inline bool offer_shows_all(const struct offer *offer, const struct catalogue *view)
{
	return view == offer->catalogue;
}

/* Free the retired @runner: it is drained. */
void offer_drop_retired(struct offer *offer, struct runner *runner);

/* End every call, also of retired runners, as unavailable for the reason @reason. */
void offer_end_calls(struct offer *offer, const char *reason);

/* End every call of the tools of the guest @source with the toolbox @id, also of retired runners,
 * as unavailable for the reason @reason. */
void offer_end_guest(struct offer *offer, const char *id, const char *source, const char *reason);

/* Let every idle host end in order, all at once. Returns whether all of them have. */
bool offer_rest(struct offer *offer);
