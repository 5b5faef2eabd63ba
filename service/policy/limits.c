/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/limits.h"

#include <stdlib.h>
#include <string.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define CHAINS       1024 /* a power of two */
#define HASH_FACTOR  UINT64_C(0x9e3779b97f4a7c15)
#define S_PER_MINUTE 60.0

/* Buckets examined to find one to forget: usually, and when there are too many. */
#define SWEEP_USUAL 2
#define SWEEP_FULL  64

/* The time when a call in flight ends is not known. */
#define RETRY_IN_FLIGHT_S 1

/* Callers with one key share a bucket. */
struct bucket_key {
	uint64_t hash;
	uint32_t rule;
	uint64_t holder;                  /* the holder of the connection, or 0 */
	struct account *account;          /* the connection, or NULL: all of its holder */
	const struct text_view *views[3]; /* the members named by the rule, else NULL */
	size_t size;
};

struct bucket {
	struct list link;        /* in limits->buckets; in no list after the rules have changed */
	struct list chain;       /* in one of limits->chains */
	unsigned int references; /* the table's, each child's, and each hold's */
	uint64_t hash;
	uint32_t rule;
	uint64_t holder;
	struct account *account; /* counted reference, or NULL */
	struct bucket *parent;   /* the bucket divided by it: counted reference, or NULL */
	struct list sibling;     /* in the parent's children */
	struct list children;    /* buckets in the table */
	uint32_t n_children;
	uint32_t in_flight;
	double tokens;
	uint64_t filled_ns;
	uint64_t used_ns;
	size_t size;
	char text[]; /* members of the key, each with its size before it */
};

/* ── buckets ─────────────────────────────────────────────────────────────────────────────────── */

static void unref_bucket(struct bucket *bucket)
{
	if (!bucket || --bucket->references > 0)
		return;
	unref_bucket(bucket->parent);
	account_unref(bucket->account);
	free(bucket);
}

/* Take @bucket out of the table. */
static void drop_bucket(struct limits *limits, struct bucket *bucket)
{
	list_remove(&bucket->link);
	list_remove(&bucket->chain);
	list_remove(&bucket->sibling);
	check(limits->n_buckets > 0);
	limits->n_buckets--;
	check(!bucket->parent || bucket->parent->n_children > 0);
	if (bucket->parent)
		bucket->parent->n_children--;
	unref_bucket(bucket);
}

/* Return how many buckets share what the parent of @bucket may have. */
static uint32_t sharers(const struct bucket *bucket)
{
	return bucket->parent && bucket->parent->n_children > 0 ? bucket->parent->n_children : 1;
}

/* Return by what the numbers of the rule are divided for @bucket. */
static double divisor_of(const struct bucket *bucket)
{
	double divisor = 1;

	for (; bucket; bucket = bucket->parent)
		divisor *= sharers(bucket);
	return divisor;
}

/* Return the most tokens of a bucket with @divisor. */
static double capacity_of(double divisor, const struct config_caller *rule)
{
	double capacity = (double)rule->burst / divisor;

	return capacity < 1 ? 1 : capacity;
}

/* Return the tokens for a bucket with @divisor in a second. */
static double rate_of(double divisor, const struct config_caller *rule)
{
	return rule->per_minute / S_PER_MINUTE / divisor;
}

static void fill_bucket(struct bucket *bucket, const struct config_caller *rule, uint64_t now_ns)
{
	double divisor = divisor_of(bucket);
	double capacity = capacity_of(divisor, rule);

	bucket->tokens += (double)(now_ns - bucket->filled_ns) / NS_PER_S * rate_of(divisor, rule);
	if (bucket->tokens > capacity)
		bucket->tokens = capacity;
	bucket->filled_ns = now_ns;
}

/* Return whether @bucket is for an ended connection, and the bucket of its holder remembers its
 * calls. */
static bool is_gone(const struct bucket *bucket)
{
	return bucket->holder && bucket->account && bucket->account->is_closed;
}

/* Forget the shares of @bucket whose connections have ended. */
static void drop_gone(struct limits *limits, struct bucket *bucket)
{
	struct list *next;

	for (struct list *link = bucket->children.next; link != &bucket->children; link = next) {
		struct bucket *child = container_of(link, struct bucket, sibling);

		next = link->next;
		if (!is_gone(child))
			continue;
		drop_gone(limits, child);
		if (child->n_children == 0 && child->in_flight == 0)
			drop_bucket(limits, child);
	}
}

/* Forget each of the @n buckets used longest ago if it is as good as new, and unused for
 * @idle_ns. */
static void sweep_buckets(struct limits *limits, unsigned int n, uint64_t idle_ns, uint64_t now_ns)
{
	list_each(struct bucket, bucket, &limits->buckets, link) {
		const struct config_caller *rule = &limits->config->callers[bucket->rule];

		if (n-- == 0 || now_ns - bucket->used_ns < idle_ns)
			return;
		fill_bucket(bucket, rule, now_ns);
		if (bucket->in_flight == 0 && bucket->n_children == 0 &&
			(bucket->tokens >= capacity_of(divisor_of(bucket), rule) ||
				is_gone(bucket)))
			drop_bucket(limits, bucket);
	}
}

/* ── keys ────────────────────────────────────────────────────────────────────────────────────── */

/* Add the members to the size and the hash of @key. */
static void add_members(const struct limits *limits, struct bucket_key *key)
{
	struct siphash hash;

	siphash_init(&hash, &limits->hash_key);
	for (size_t i = 0; i < 3; i++) {
		const struct text_view *view = key->views[i];

		if (!view)
			continue;
		key->size += sizeof(view->size) + view->size;
		siphash_bytes(&hash, (const char *)&view->size, sizeof(view->size));
		siphash_bytes(&hash, view->text ? view->text : "", view->size);
	}
	key->hash += siphash_finish(&hash);
}

/* Return the key of the bucket shared by all callers of @holder and @account for the rule at
 * @index. */
static struct bucket_key make_whole_key(uint32_t index, uint64_t holder, struct account *account)
{
	struct bucket_key key = {.rule = index, .holder = holder, .account = account};

	/* No peer chooses them. */
	key.hash = (holder + (uint64_t)(uintptr_t)account / sizeof(*account) + index) * HASH_FACTOR;
	return key;
}

/* Return the key of the bucket of @caller on @account for the rule at @index, by the members named
 * by the rule. */
static struct bucket_key make_member_key(const struct limits *limits, uint32_t index,
	const struct policy_caller *caller, struct account *account)
{
	const struct config_match *match = &limits->config->callers[index].match;
	struct bucket_key key = make_whole_key(index, account ? account->holder : 0, account);

	key.views[0] = match->source ? &caller->source : NULL;
	key.views[1] = match->session_id ? &caller->session_id : NULL;
	key.views[2] = match->site_id ? &caller->site_id : NULL;
	if (key.views[0] || key.views[1] || key.views[2])
		add_members(limits, &key);
	return key;
}

static void copy_key(const struct bucket_key *key, char *place)
{
	for (size_t i = 0; i < 3; i++) {
		const struct text_view *view = key->views[i];

		if (!view)
			continue;
		memcpy(place, &view->size, sizeof(view->size));
		place += sizeof(view->size);
		if (view->size > 0)
			memcpy(place, view->text, view->size);
		place += view->size;
	}
}

/* Return whether @bucket has the key @key. */
static bool has_key(const struct bucket *bucket, const struct bucket_key *key)
{
	const char *place = bucket->text;

	if (bucket->hash != key->hash || bucket->rule != key->rule ||
		bucket->holder != key->holder || bucket->account != key->account ||
		bucket->size != key->size)
		return false;
	for (size_t i = 0; i < 3; i++) {
		const struct text_view *view = key->views[i];

		if (!view)
			continue;
		if (memcmp(place, &view->size, sizeof(view->size)) != 0)
			return false;
		place += sizeof(view->size);
		if (view->size > 0 && memcmp(place, view->text, view->size) != 0)
			return false;
		place += view->size;
	}
	return true;
}

static struct list *chain_of(const struct limits *limits, uint64_t hash)
{
	return &limits->chains[hash / (UINT64_MAX / CHAINS + 1)];
}

static struct bucket *find_bucket(
	struct limits *limits, const struct bucket_key *key, uint64_t now_ns)
{
	list_each(struct bucket, bucket, chain_of(limits, key->hash), chain) {
		if (!has_key(bucket, key))
			continue;
		list_remove(&bucket->link);
		list_append(&limits->buckets, &bucket->link);
		bucket->used_ns = now_ns;
		return bucket;
	}
	return NULL;
}

/* Make a full bucket for @key, below @parent (may be NULL). Return NULL without memory. */
static struct bucket *make_bucket(
	struct limits *limits, const struct bucket_key *key, struct bucket *parent, uint64_t now_ns)
{
	struct bucket *bucket = malloc(sizeof(*bucket) + key->size);

	if (!bucket)
		return NULL;
	*bucket = (struct bucket){
		.references = 1,
		.hash = key->hash,
		.rule = key->rule,
		.holder = key->holder,
		.account = account_ref(key->account),
		.parent = parent,
		.filled_ns = now_ns,
		.used_ns = now_ns,
		.size = key->size,
	};
	copy_key(key, bucket->text);
	list_init(&bucket->children);
	list_init(&bucket->sibling);
	if (parent) {
		parent->references++;
		parent->n_children++;
		list_append(&parent->children, &bucket->sibling);
	}
	bucket->tokens = capacity_of(divisor_of(bucket), &limits->config->callers[key->rule]);
	list_append(&limits->buckets, &bucket->link);
	list_append(chain_of(limits, key->hash), &bucket->chain);
	limits->n_buckets++;
	return bucket;
}

/* Return the bucket of @key, below @parent; NULL when there is no room for it. */
static struct bucket *get_bucket(
	struct limits *limits, const struct bucket_key *key, struct bucket *parent, uint64_t now_ns)
{
	struct bucket *bucket = find_bucket(limits, key, now_ns);

	if (bucket)
		return bucket;
	if (parent)
		drop_gone(limits, parent);
	if (parent && parent->n_children >= LIMITS_SHARES_MAX)
		return NULL;
	/* @parent was used last, so the sweep of a full table does not reach it. */
	if (limits->n_buckets >= LIMITS_BUCKETS_MAX)
		sweep_buckets(limits, SWEEP_FULL, 0, now_ns);
	else if (!parent)
		sweep_buckets(limits, SWEEP_USUAL, LIMITS_IDLE_NS, now_ns);
	if (limits->n_buckets >= LIMITS_BUCKETS_MAX)
		return NULL;
	return make_bucket(limits, key, parent, now_ns);
}

/* Return the bucket shared by newcomers of the rule at @index, made in any case; NULL without
 * memory. */
static struct bucket *get_shared(struct limits *limits, uint32_t index, uint64_t now_ns)
{
	struct bucket_key key = make_whole_key(index, 0, NULL);
	struct bucket *bucket = find_bucket(limits, &key, now_ns);

	return bucket ? bucket : make_bucket(limits, &key, NULL, now_ns);
}

/* Return the connection of @caller, or NULL. */
static struct account *connection_of(
	const struct limits *limits, const struct policy_caller *caller)
{
	return limits->has_connections || caller->door != CALL_DOOR_BUS ? caller->account : NULL;
}

/* Return whether @caller has a bucket by members named by the rule at @index. */
static bool has_members(
	const struct limits *limits, uint32_t index, const struct policy_caller *caller)
{
	const struct config_match *match = &limits->config->callers[index].match;

	return (match->source || match->session_id || match->site_id) &&
	       policy_caller_is_clear(caller);
}

/* Write the keys of the buckets of @caller by the rule at @index, each dividing the bucket before.
 * Return their number: 0 for a caller beyond the rules, with an unknown connection. */
static size_t write_keys(const struct limits *limits, uint32_t index,
	const struct policy_caller *caller, struct bucket_key ret_keys[3])
{
	struct account *account = connection_of(limits, caller);
	size_t n = 0;

	if (account && account->holder)
		ret_keys[n++] = make_whole_key(index, account->holder, NULL);
	if (account)
		ret_keys[n++] = make_whole_key(index, account->holder, account);
	if (has_members(limits, index, caller) || (n == 0 && policy_caller_is_clear(caller)))
		ret_keys[n++] = make_member_key(limits, index, caller, account);
	return n;
}

/* Return the bucket of @caller by the rule at @index if it is the bucket that was used last, and no
 * bucket above it is divided; else NULL. So calls of one connection in a row look nothing up. */
static struct bucket *find_last(
	struct limits *limits, uint32_t index, const struct policy_caller *caller, uint64_t now_ns)
{
	const struct account *account = connection_of(limits, caller);
	struct bucket *last = container_of(limits->buckets.previous, struct bucket, link);

	if (list_is_empty(&limits->buckets) || last->rule != index || last->account != account ||
		last->holder != (account ? account->holder : 0) || last->size > 0 ||
		has_members(limits, index, caller))
		return NULL;
	for (struct bucket *one = last; one; one = one->parent) {
		if (sharers(one) > 1)
			return NULL;
		one->used_ns = now_ns;
	}
	return last;
}

/* Return the bucket of @caller by the rule at @index; NULL without memory. */
static struct bucket *bucket_of(
	struct limits *limits, uint32_t index, const struct policy_caller *caller, uint64_t now_ns)
{
	struct bucket *bucket = find_last(limits, index, caller, now_ns);
	struct bucket_key keys[3];
	size_t n;

	if (bucket)
		return bucket;
	n = write_keys(limits, index, caller, keys);
	for (size_t i = 0; i < n; i++) {
		struct bucket *share;

		/* An unused share is left to the others. */
		if (bucket && bucket->n_children > 1)
			sweep_buckets(limits, SWEEP_USUAL, LIMITS_IDLE_NS, now_ns);
		share = get_bucket(limits, &keys[i], bucket, now_ns);
		if (!share)
			break;
		bucket = share;
	}
	return bucket ? bucket : get_shared(limits, index, now_ns);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Return how many calls of @bucket may be in flight: a share has at least one. */
static uint32_t flights_of(const struct bucket *bucket, const struct config_caller *rule)
{
	uint32_t n = sharers(bucket);
	uint32_t most = bucket->parent ? flights_of(bucket->parent, rule) : rule->in_flight;

	return (most + n - 1) / n;
}

/* Return whether @bucket has room for a call; else write the reason. */
static bool has_room(struct bucket *bucket, const struct config_caller *rule, uint64_t now_ns,
	struct limit_refusal *ret_refusal)
{
	fill_bucket(bucket, rule, now_ns);
	if (rule->in_flight && bucket->in_flight >= flights_of(bucket, rule)) {
		*ret_refusal = (struct limit_refusal){
			.in_flight = bucket->in_flight, .retry_after_s = RETRY_IN_FLIGHT_S};
		return false;
	}
	if (rule->per_minute && bucket->tokens < 1) {
		*ret_refusal = (struct limit_refusal){.per_minute = rule->per_minute,
			.retry_after_s = (1 - bucket->tokens) / rate_of(divisor_of(bucket), rule)};
		return false;
	}
	return true;
}

/* Return the index of the first rule for @caller, or -1. The first rule is for callers that no rule
 * can judge: so no such caller gets around the rules. */
static long find_rule(const struct limits *limits, const struct policy_caller *caller)
{
	const struct config *config = limits->config;

	if (!policy_caller_is_clear(caller))
		return 0;
	for (size_t i = 0; i < config->n_callers; i++)
		if (policy_caller_matches(caller, &config->callers[i].match))
			return (long)i;
	return -1;
}

bool limits_take(struct limits *limits, const struct policy_caller *caller, uint64_t now_ns,
	struct limit_hold *ret_hold, struct limit_refusal *ret_refusal)
{
	const struct config_caller *rule;
	struct bucket *bucket;
	long index;

	*ret_hold = (struct limit_hold){0};
	if (limits->config->n_callers == 0)
		return true;
	index = find_rule(limits, caller);
	if (index < 0)
		return true;
	rule = &limits->config->callers[index];
	bucket = limits->chains ? bucket_of(limits, (uint32_t)index, caller, now_ns) : NULL;
	if (!bucket) {
		*ret_refusal = (struct limit_refusal){.retry_after_s = RETRY_IN_FLIGHT_S};
		return false;
	}
	for (struct bucket *one = bucket; one; one = one->parent)
		if (!has_room(one, rule, now_ns, ret_refusal))
			return false;
	for (struct bucket *one = bucket; one; one = one->parent) {
		one->in_flight++;
		one->tokens -= rule->per_minute ? 1 : 0;
	}
	bucket->references++;
	ret_hold->bucket = bucket;
	return true;
}

void limits_end_hold(struct limit_hold *hold)
{
	struct bucket *bucket = take_ptr(hold->bucket);

	for (struct bucket *one = bucket; one; one = one->parent) {
		check(one->in_flight > 0);
		one->in_flight--;
	}
	unref_bucket(bucket);
}

static void forget_all(struct limits *limits)
{
	while (!list_is_empty(&limits->buckets))
		drop_bucket(limits, container_of(limits->buckets.next, struct bucket, link));
}

void limits_init(struct limits *limits, const struct config *config)
{
	*limits = (struct limits){.config = config, .hash_key = siphash_process_key()};
	list_init(&limits->buckets);
	limits_configure(limits);
}

void limits_deinit(struct limits *limits)
{
	if (limits->config)
		forget_all(limits);
	free(take_ptr(limits->chains));
}

void limits_configure(struct limits *limits)
{
	const struct config *config = limits->config;

	if (config->callers_digest != limits->digest)
		forget_all(limits);
	limits->digest = config->callers_digest;
	if (config->n_callers == 0 || limits->chains)
		return;
	limits->chains = reallocarray(NULL, CHAINS, sizeof(*limits->chains));
	for (size_t i = 0; limits->chains && i < CHAINS; i++)
		list_init(&limits->chains[i]);
}
