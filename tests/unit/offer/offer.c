/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/offer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "boxes.h"
#include "scarce.h"

static struct loop *loop;
static struct offer offer;
static struct catalogue *first;
static struct catalogue *next;
static struct policy *next_policy;

static struct runner_call calls[2];
static unsigned int n_ended; /* calls, for the reason "gone" */

static void count_end(void *data, struct runner_call *call, const struct call_result *result)
{
	(void)data;
	(void)call;
	cr_expect_eq(result->outcome, CALL_UNAVAILABLE);
	n_ended += strcmp(result->text, "gone") == 0;
}

static void ignore_start(void *data, struct runner *runner, enum runner_start reason)
{
	(void)data;
	(void)runner;
	(void)reason;
}

static void drop_drained(void *data, struct runner *runner)
{
	(void)data;
	offer_drop_retired(&offer, runner);
	loop_stop(loop);
}

static struct toolbox *again(struct toolbox *toolbox)
{
	package_ref(toolbox->package);
	return toolbox;
}

/* Offer the toolboxes kept and old; make a catalogue of kept and two new ones. */
static void set_up(void)
{
	static const struct config config = {.limits = {.queue = 4}};
	static const struct runner_handler handler = {
		.done = count_end, .drained = drop_drained, .started = ignore_start};
	struct toolbox *kept = make_box("kept", BOX_TOOL("f", ""));

	first = make_catalogue(again(kept), make_box("old", BOX_TOOL("g", "")), NULL);
	next = make_catalogue(kept, make_box("new", BOX_TOOL("h", "")),
		make_box("other", BOX_TOOL("i", "")), NULL);
	next_policy = policy_new(&config, next);
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(offer_init(&offer, loop, "/bin/false", &handler, NULL), 0);
	cr_assert_eq(offer_swap(&offer, first, policy_new(&config, first), &config, false), 0);
}

static void tear_down(void)
{
	offer_deinit(&offer);
	for (size_t i = 0; i < 2; i++)
		runner_call_deinit(&calls[i]);
	loop_free(loop);
}

TestSuite(offer, .init = set_up, .fini = tear_down, .timeout = 60);

static struct runner *runner_of(const struct catalogue *catalogue, size_t index)
{
	return catalogue_toolbox(catalogue, index, NULL, NULL)->package->runner;
}

Test(offer, stays_as_it_was_when_memory_is_short)
{
	static const struct config config;
	struct runner *kept = offer.runners[0];
	size_t n_failed = 0;

	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = offer_swap(&offer, next, next_policy, &config, false);

		if (!scarce_has_failed()) {
			cr_assert_eq(r, 0);
			continue;
		}
		n_failed++;
		cr_assert_eq(r, -ENOMEM);
		cr_expect_eq(offer.catalogue, first);
		cr_expect_eq(offer.n_runners, 2);
		cr_expect_eq(offer.n_retired, 0);
		cr_expect_eq(runner_of(first, 0), kept);
		cr_expect_null(runner_of(next, 1), "a runner without a toolbox that is offered");
		cr_expect_null(runner_of(next, 2));
	}
	cr_expect_gt(n_failed, 4);
	cr_expect_eq(offer.catalogue, next);
}

Test(offer, retires_the_runner_of_a_toolbox_that_is_gone)
{
	static const struct config config;
	struct runner *kept = offer.runners[0];
	struct runner *old = offer.runners[1];

	cr_assert_eq(offer_swap(&offer, next, next_policy, &config, false), 0);
	cr_expect_eq(offer.n_runners, 3);
	cr_expect_eq(offer.runners[0], kept);
	cr_expect_eq(runner_of(next, 1), offer.runners[1]);
	cr_assert_eq(offer.n_retired, 1);
	cr_expect_eq(offer.retired[0], old);
	cr_assert_eq(loop_run(loop, -1), 0);
	cr_expect_eq(offer.n_retired, 0);
}

/* Nothing of it can be called. */
Test(offer, has_no_runner_for_a_toolbox_that_is_left_out)
{
	static const struct config config;
	struct toolbox *off = catalogue_toolbox(next, 0, NULL, NULL);

	off->package->is_left_out = true;
	cr_assert_eq(offer_swap(&offer, next, next_policy, &config, true), 0);
	cr_expect_eq(offer.n_runners, 2);
	cr_expect_null(off->package->runner);
	cr_expect_eq(runner_of(next, 1), offer.runners[0]);
	cr_expect_eq(runner_of(next, 2), offer.runners[1]);
	offer_prestart(&offer);
	offer_end_calls(&offer, "the end");
	cr_expect(offer_rest(&offer));
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Submit @call to @runner, whose package becomes a guest of @source; not one of @source NULL. */
static void submit(struct runner *runner, struct runner_call *call, const char *source)
{
	struct package *package = (struct package *)runner_package(runner);

	if (!call->clock.loop)
		cr_assert_eq(runner_call_init(call, loop), 0);
	call->id = 1;
	cr_assert_eq(runner_submit(runner, call, "{}", 2, 10000), 0);
	if (source) {
		package->kind = KIND_GUEST;
		package->guest_source = (char *)source;
	}
}

/* A package is freed as what it is. */
static void be_native(struct runner *runner)
{
	struct package *package = (struct package *)runner_package(runner);

	package->kind = KIND_NATIVE;
	package->guest_source = NULL;
}

static void expect_ended(const char *id, const char *source, unsigned int n)
{
	n_ended = 0;
	offer_end_guest(&offer, id, source, "gone");
	cr_expect_eq(n_ended, n, "%s of %s", id, source);
}

Test(offer, ends_the_calls_of_a_guest_alone)
{
	static const struct config config;
	struct runner *kept = offer.runners[0];
	struct runner *old = offer.runners[1];

	submit(kept, &calls[0], NULL);
	expect_ended("kept", "skill", 0);
	be_native(kept);
	offer_end_calls(&offer, "gone");
	cr_expect_eq(n_ended, 1);
	submit(kept, &calls[0], "skill");
	submit(old, &calls[1], "skill");
	expect_ended("kept", "other", 0);
	expect_ended("new", "skill", 0);
	expect_ended("kept", "skill", 1);
	expect_ended("kept", "skill", 0);
	/* A reload has replaced the toolbox. */
	be_native(kept);
	cr_assert_eq(offer_swap(&offer, next, next_policy, &config, false), 0);
	cr_assert_eq(offer.n_retired, 1);
	expect_ended("old", "other", 0);
	expect_ended("old", "skill", 1);
	be_native(old);
}

Test(offer, ends_all_calls_of_what_was_replaced_too)
{
	static const struct config config;

	submit(offer.runners[0], &calls[0], NULL);
	submit(offer.runners[1], &calls[1], NULL);
	cr_assert_eq(offer_swap(&offer, next, next_policy, &config, false), 0);
	offer_end_calls(&offer, "gone");
	cr_expect_eq(n_ended, 2);
}

/* Only a toolbox that is offered starts before its first call. */
Test(offer, starts_what_shall_be_ready_before_its_first_call)
{
	for (size_t i = 0; i < 2; i++)
		((struct package *)runner_package(offer.runners[i]))->limits.prestart = i == 1;
	offer_prestart(&offer);
	cr_expect_eq(runner_n_hosts(offer.runners[0]), 0);
	cr_expect_eq(runner_n_hosts(offer.runners[1]), 1);
}
