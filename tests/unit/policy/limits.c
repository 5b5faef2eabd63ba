/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/limits.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "scarce.h"

#define SECOND UINT64_C(1000000000)

static char any[] = "*";
static struct config_caller rules[2];
static struct config config = {.callers = rules, .n_callers = 1, .callers_digest = 1};
static struct limits limits;
static struct account_book book;
static uint64_t now_ns = SECOND;
static struct limit_refusal refusal;

static void set_up(void)
{
	limits_init(&limits, &config);
}

static void tear_down(void)
{
	limits_deinit(&limits);
}

TestSuite(limits, .init = set_up, .fini = tear_down);

/* Let the first rule be for each source, with these limits. */
static void limit_sources(uint32_t in_flight, uint32_t per_minute, uint32_t burst)
{
	rules[0] = (struct config_caller){
		.match = {.source = any},
		.in_flight = in_flight,
		.per_minute = per_minute,
		.burst = burst,
	};
}

static bool take(const char *source, struct account *account, struct limit_hold *ret_hold)
{
	const struct policy_caller caller = {
		.source = {source, source ? strlen(source) : 0},
		.account = account,
	};

	return limits_take(&limits, &caller, now_ns, ret_hold, &refusal);
}

/* Make a call of @source that ends at once. */
static bool make_call(const char *source)
{
	struct limit_hold hold;
	bool is_taken = take(source, NULL, &hold);

	limits_release(&hold);
	return is_taken;
}

Test(limits, allow_all_without_a_rule_that_matches)
{
	limit_sources(1, 1, 1);
	for (int i = 0; i < 10; i++)
		cr_expect(make_call(NULL));
	config.n_callers = 0;
	for (int i = 0; i < 10; i++)
		cr_expect(make_call("a"));
	config.n_callers = 1;
}

Test(limits, bound_the_calls_in_flight)
{
	struct limit_hold holds[3];

	limit_sources(2, 0, 0);
	cr_expect(take("a", NULL, &holds[0]));
	cr_expect(take("a", NULL, &holds[1]));
	cr_expect_not(take("a", NULL, &holds[2]));
	cr_expect_eq(refusal.in_flight, 2u);
	cr_expect_gt(refusal.retry_after_s, 0);
	cr_expect(make_call("b"), "another source");
	limits_release(&holds[0]);
	cr_expect(take("a", NULL, &holds[0]));
	limits_release(&holds[0]);
	limits_release(&holds[1]);
}

Test(limits, refuse_calls_until_there_is_memory_again)
{
	struct limit_hold holds[2];

	limit_sources(1, 0, 0);
	limits_deinit(&limits);
	scarce_once_after(0);
	limits_init(&limits, &config);
	cr_expect_not(take("a", NULL, &holds[0]));
	cr_expect_eq(refusal.in_flight, 0u);
	cr_expect_gt(refusal.retry_after_s, 0);
	limits_configure(&limits);
	scarce_once_after(0);
	cr_expect(take("a", NULL, &holds[0]), "of the bucket for newcomers");
	cr_expect(scarce_has_failed());
	cr_expect(take("a", NULL, &holds[1]));
	limits_release(&holds[0]);
	limits_release(&holds[1]);
}

Test(limits, fill_with_so_many_calls_a_minute)
{
	limit_sources(0, 60, 3);
	for (int i = 0; i < 3; i++)
		cr_expect(make_call("a"));
	cr_expect_not(make_call("a"));
	cr_expect_eq(refusal.per_minute, 60u);
	cr_expect_float_eq(refusal.retry_after_s, 1, 1e-6);
	cr_expect(make_call("b"));
	now_ns += SECOND / 2;
	cr_expect_not(make_call("a"));
	cr_expect_float_eq(refusal.retry_after_s, 0.5, 1e-6);
	now_ns += SECOND / 2;
	cr_expect(make_call("a"));
	cr_expect_not(make_call("a"));
	now_ns += 100 * SECOND;
	for (int i = 0; i < 3; i++)
		cr_expect(make_call("a"));
	cr_expect_not(make_call("a"), "no more than the burst");
}

Test(limits, use_the_first_rule_that_matches)
{
	static char kitchen[] = "kitchen*";

	limit_sources(0, 60, 1);
	rules[1] = rules[0];
	rules[0].match.source = kitchen;
	rules[0].burst = 2;
	config.n_callers = 2;
	cr_expect(make_call("kitchen_1"));
	cr_expect(make_call("kitchen_1"));
	cr_expect_not(make_call("kitchen_1"));
	cr_expect(make_call("hall"));
	cr_expect_not(make_call("hall"));
	config.n_callers = 1;
}

/* A rule that names no member has one bucket for all. */
Test(limits, have_one_bucket_for_a_rule_that_names_nothing)
{
	limit_sources(0, 60, 2);
	rules[0].match.source = NULL;
	cr_expect(make_call("a"));
	cr_expect(make_call("b"));
	cr_expect_not(make_call("c"));
	cr_expect_not(make_call(NULL));
}

Test(limits, are_those_of_the_connection_where_there_is_one)
{
	struct account *first = account_new(&book);
	struct account *second = account_new(&book);
	struct limit_hold holds[8];

	limits.has_connections = true;
	limit_sources(2, 0, 0);
	cr_expect(take("a", first, &holds[0]));
	cr_expect(take("b", first, &holds[1]));
	cr_expect_not(take("c", first, &holds[2]), "made-up sources have no more");
	cr_expect(take("a", second, &holds[3]), "another connection");
	cr_expect(take("a", second, &holds[4]));
	for (int i = 0; i < 5; i++)
		limits_release(&holds[i]);
	account_unref(first);
	account_unref(second);
}

Test(limits, divide_a_connection_by_its_sources)
{
	struct account *account = account_new(&book);
	struct limit_hold holds[8];

	limits.has_connections = true;
	limit_sources(4, 0, 0);
	for (int i = 0; i < 4; i++)
		cr_expect(take("greedy", account, &holds[i]));
	cr_expect_not(take("modest", account, &holds[4]), "all are in flight");
	limits_release(&holds[0]);
	cr_expect_not(take("greedy", account, &holds[0]), "it has more than a half");
	cr_expect(take("modest", account, &holds[0]));
	for (int i = 0; i < 5; i++)
		limits_release(&holds[i]);
	account_unref(account);
}

/* A peer makes up sources until the oldest bucket, which it has emptied, would have to go. */
Test(limits, are_not_reset_by_made_up_sources)
{
	char source[32];
	unsigned int n_allowed = 0;

	limit_sources(0, 1, 1);
	cr_expect(make_call("mine"));
	for (int i = 0; i < 3 * LIMITS_BUCKETS_MAX; i++) {
		snprintf(source, sizeof(source), "made up %d", i);
		n_allowed += make_call(source);
	}
	cr_expect_not(make_call("mine"));
	cr_expect_leq(n_allowed, LIMITS_BUCKETS_MAX + 1u);
	cr_expect_leq(limits.n_buckets, LIMITS_BUCKETS_MAX + 1u);
}

Test(limits, forget_a_bucket_that_is_as_good_as_new)
{
	limit_sources(0, 60, 1);
	cr_expect(make_call("a"));
	cr_expect_eq(limits.n_buckets, 1u);
	now_ns += 2 * LIMITS_IDLE_NS;
	cr_expect(make_call("b"));
	cr_expect_eq(limits.n_buckets, 1u);
}

Test(limits, bound_the_shares_of_a_connection)
{
	struct account *account = account_new(&book);
	struct limit_hold hold;
	char source[32];

	limits.has_connections = true;
	limit_sources(0, 60, 1000);
	for (int i = 0; i < 500; i++) {
		snprintf(source, sizeof(source), "%d", i);
		cr_expect(take(source, account, &hold));
		limits_release(&hold);
	}
	cr_expect_leq(limits.n_buckets, LIMITS_SHARES_MAX + 1u);
	account_unref(account);
}

/* A source that no rule can judge gets around none. */
Test(limits, hold_for_a_source_that_is_too_long)
{
	static char source[CALLER_TEXT_BYTES + 2];
	static char kitchen[] = "kitchen";

	memset(source, 'x', sizeof(source) - 1);
	limit_sources(0, 60, 1);
	rules[0].match.source = kitchen;
	cr_expect(make_call(source));
	source[0] = 'y';
	cr_expect_not(make_call(source));
}

Test(limits, stay_at_a_reload_that_leaves_their_rules)
{
	struct limit_hold hold;

	limit_sources(1, 0, 0);
	cr_expect(take("a", NULL, &hold));
	limits_configure(&limits);
	cr_expect_not(make_call("a"));
	config.callers_digest = 2;
	limits_configure(&limits);
	cr_expect(make_call("a"), "other rules");
	limits_release(&hold);
	config.callers_digest = 1;
}

Test(limits, give_the_share_of_an_idle_source_back)
{
	struct account *account = account_new(&book);
	struct limit_hold holds[4];

	limits.has_connections = true;
	limit_sources(4, 0, 0);
	cr_expect(take("idle", account, &holds[0]));
	limits_release(&holds[0]);
	cr_expect(take("busy", account, &holds[0]));
	cr_expect(take("busy", account, &holds[1]));
	cr_expect_not(take("busy", account, &holds[2]));
	now_ns += LIMITS_IDLE_NS;
	cr_expect(take("busy", account, &holds[2]));
	cr_expect(take("busy", account, &holds[3]));
	for (int i = 0; i < 4; i++)
		limits_release(&holds[i]);
	account_unref(account);
}

/* Whoever opens a connection for each call gets no more calls by it. */
Test(limits, are_those_of_the_holder_of_all_connections)
{
	struct limit_hold hold;

	limits.has_connections = true;
	limit_sources(0, 60, 4);
	for (int i = 0; i < 12; i++) {
		struct account *account = account_new(&book);

		account_set_holder(account, "http:kitchen");
		cr_expect_eq(take("http:kitchen", account, &hold), i < 4, "call %d", i);
		limits_release(&hold);
		account_close(account);
	}
	/* They are back when they would be for one connection. */
	now_ns += 2 * SECOND;
	for (int i = 0; i < 4; i++) {
		struct account *account = account_new(&book);

		account_set_holder(account, "http:kitchen");
		cr_expect_eq(take("http:kitchen", account, &hold), i < 2, "call %d", i);
		limits_release(&hold);
		account_close(account);
	}
	cr_expect_leq(limits.n_buckets, 3u, "connections that have ended are forgotten");
}

Test(limits, bound_the_calls_in_flight_of_all_connections_of_a_holder)
{
	struct account *accounts[4];
	struct limit_hold holds[4];

	limits.has_connections = true;
	limit_sources(2, 0, 0);
	for (int i = 0; i < 4; i++) {
		accounts[i] = account_new(&book);
		account_set_holder(accounts[i], i < 3 ? "192.168.1.2" : "192.168.1.3");
		cr_expect_eq(take("a", accounts[i], &holds[i]), i != 2, "%d", i);
	}
	for (int i = 0; i < 4; i++) {
		limits_release(&holds[i]);
		account_close(accounts[i]);
	}
}

Test(limits, leave_each_connection_of_a_holder_its_share)
{
	struct account *greedy = account_new(&book);
	struct account *modest = account_new(&book);
	struct limit_hold hold;
	unsigned int n_taken = 0;

	account_set_holder(greedy, "127.0.0.0/8");
	account_set_holder(modest, "127.0.0.0/8");
	limits.has_connections = true;
	limit_sources(0, 60, 10);
	cr_expect(take("b", modest, &hold));
	limits_release(&hold);
	for (int i = 0; i < 10; i++) {
		n_taken += take("a", greedy, &hold);
		limits_release(&hold);
	}
	cr_expect_eq(n_taken, 5u);
	for (int i = 0; i < 4; i++) {
		cr_expect(take("b", modest, &hold));
		limits_release(&hold);
	}
	/* The share of a connection that has ended is for the others. */
	account_close(modest);
	for (int i = 0; i < 4; i++) {
		now_ns += 100 * SECOND;
		cr_expect(take("a", greedy, &hold));
		limits_release(&hold);
	}
	n_taken = 0;
	for (int i = 0; i < 12; i++) {
		n_taken += take("a", greedy, &hold);
		limits_release(&hold);
	}
	cr_expect_eq(n_taken, 9u);
	account_close(greedy);
}

/* Return how many of @n calls in a row of @account may be made. */
static unsigned int count_calls(struct account *account, unsigned int n)
{
	struct limit_hold hold;
	unsigned int n_taken = 0;

	for (unsigned int i = 0; i < n; i++) {
		n_taken += take("a", account, &hold);
		limits_release(&hold);
	}
	return n_taken;
}

/* The bucket of a call is the bucket used last. */
Test(limits, count_calls_in_a_row_of_a_connection)
{
	struct account *one = account_new(&book);
	struct account *other = account_new(&book);

	account_set_holder(one, "127.0.0.0/8");
	account_set_holder(other, "127.0.0.0/8");
	limits.has_connections = true;
	rules[0] = (struct config_caller){.per_minute = 60, .burst = 8};
	cr_expect_eq(count_calls(one, 12), 8u);
	cr_expect_eq(count_calls(other, 12), 0u, "the holder has made all of its calls");
	now_ns += 8 * SECOND;
	cr_expect_eq(count_calls(one, 12), 4u, "half of what the holder may make");
	cr_expect_eq(count_calls(other, 12), 4u);
	/* The share of an idle connection comes back, also while no other one calls. */
	now_ns += 8 * SECOND;
	cr_expect_eq(count_calls(one, 12), 4u);
	now_ns += LIMITS_IDLE_NS;
	cr_expect_eq(count_calls(one, 12), 8u);
	/* Nor is a connection taken for another one, or for none. */
	account_set_holder(one, "another");
	cr_expect_eq(count_calls(one, 12), 8u);
	cr_expect_eq(count_calls(NULL, 12), 8u);
	cr_expect_eq(count_calls(NULL, 12), 0u);
	account_close(other);
	account_close(one);
}

Test(limits, are_of_the_rule_of_each_call)
{
	rules[0] = (struct config_caller){.match = {.site_id = any}, .per_minute = 60, .burst = 2};
	rules[1] = (struct config_caller){.per_minute = 60, .burst = 3};
	config.n_callers = 2;
	cr_expect_eq(count_calls(NULL, 4), 3u);
	rules[0].match = (struct config_match){0};
	cr_expect_eq(count_calls(NULL, 4), 2u, "another rule has another bucket");
	config.n_callers = 1;
}

/* Make a call of the source, the session and the site, of which each may be NULL. */
static bool make_call_of(const char *source, const char *session_id, const char *site_id)
{
	const struct policy_caller caller = {
		.source = {source, source ? strlen(source) : 0},
		.session_id = {session_id, session_id ? strlen(session_id) : 0},
		.site_id = {site_id, site_id ? strlen(site_id) : 0},
	};
	struct limit_hold hold;
	bool is_taken = limits_take(&limits, &caller, now_ns, &hold, &refusal);

	limits_release(&hold);
	return is_taken;
}

Test(limits, are_for_each_value_that_a_rule_matches)
{
	static const struct {
		struct config_match match;
		bool by_source, by_session, by_site;
	} cases[] = {
		{{.source = any}, true, false, false},
		{{.session_id = any}, false, true, false},
		{{.site_id = any}, false, false, true},
		{{.source = any, .session_id = any}, true, true, false},
		{{.session_id = any, .site_id = any}, false, true, true},
		{{.source = any, .session_id = any, .site_id = any}, true, true, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rules[0] = (struct config_caller){
			.match = cases[i].match, .per_minute = 1, .burst = 1};
		config.callers_digest = 100 + i;
		limits_deinit(&limits);
		limits_init(&limits, &config);
		cr_expect(make_call_of("a", "s", "k"), "row %zu", i);
		cr_expect_not(make_call_of("a", "s", "k"), "row %zu", i);
		cr_expect_eq(make_call_of("b", "s", "k"), cases[i].by_source, "row %zu", i);
		cr_expect_eq(make_call_of("a", "t", "k"), cases[i].by_session, "row %zu", i);
		cr_expect_eq(make_call_of("a", "s", "l"), cases[i].by_site, "row %zu", i);
	}
}
