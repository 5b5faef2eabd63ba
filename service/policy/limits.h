/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "policy/caller.h"
#include "util/cleanup.h"
#include "util/list.h"
#include "util/siphash.h"

/*
 * Limits per caller: how many calls may be in flight, and how many may be made (contract.md, Limits
 * per caller).
 *
 *   caller ──rule──▶ bucket of the holder ──▶ bucket of its connection ──▶ bucket of the members
 *                    all allowed by a rule    a share of these tokens      named by the rule:
 *                                                                          a share of these tokens
 *
 * A bucket fills with `per_minute` tokens a minute up to `burst`, and each call takes one token of
 * each. The holder of a connection is the address, the user or the token proved by it
 * (bus/account.h): more connections, or made-up sources, divide the bucket of the holder, and give
 * no more of it. On a bus of others there is no connection, and so only the bucket of the members.
 *
 * There are LIMITS_BUCKETS_MAX buckets. One is only forgotten when it is as good as new: nothing in
 * flight, and full; or when its connection has ended, and the holder's bucket remembers the calls.
 * When no more can be made, all newcomers of a rule share one.
 */

#define LIMITS_BUCKETS_MAX 4096

/* The connections of one holder, and the sources of one connection, with buckets of their own. */
#define LIMITS_SHARES_MAX 64

/* A share unused for so long no longer divides its bucket. */
#define LIMITS_IDLE_NS UINT64_C(10000000000)

struct bucket;

struct limits {
	const struct config *config; /* borrowed */
	bool has_connections; /* whether a caller on the bus has the account of its connection; at
	                       * other doors it always has */
	uint64_t digest;      /* digest of the rules that the buckets are for */
	struct list buckets;  /* the bucket used longest ago comes first */
	uint32_t n_buckets;
	struct list *chains; /* buckets by hash; NULL until the first one */
	struct siphash_key hash_key;
};

/* A call in flight, by count. Zeroed: none. */
struct limit_hold {
	struct bucket *bucket;
};

/* Why a call is refused. */
struct limit_refusal {
	uint32_t in_flight;  /* so many are in flight; 0: another reason */
	uint32_t per_minute; /* this many may be made in a minute */
	double retry_after_s;
};

/* Make @limits empty. */
void limits_init(struct limits *limits, const struct config *config);

/* Free the buckets. No hold is left. */
void limits_deinit(struct limits *limits);

/* Follow the configuration. When its rules differ, all buckets begin anew. */
void limits_configure(struct limits *limits);

/* Take a token for a call of @caller at @now_ns, and count it as in flight until limits_release()
 * of *@ret_hold, which is empty without a matching rule. Return false, with the reason in
 * @ret_refusal and nothing taken, for one call too many. */
bool limits_take(struct limits *limits, const struct policy_caller *caller, uint64_t now_ns,
	struct limit_hold *ret_hold, struct limit_refusal *ret_refusal);

/* Hand @hold over: return it, and leave an empty one. */
static inline struct limit_hold limits_move(struct limit_hold *hold)
{
	return (struct limit_hold){take_ptr(hold->bucket)};
}

/* End @hold, which is not empty. */
void limits_end_hold(struct limit_hold *hold);

/* End @hold, which may be empty, and leave it empty. */
static inline void limits_release(struct limit_hold *hold)
{
	if (hold->bucket)
		limits_end_hold(hold);
}
