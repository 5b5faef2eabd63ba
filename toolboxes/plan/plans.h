/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLAN_PLANS_H
#define PLAN_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The plans of sessions, in memory. A session is known by its owner and its id.
 *
 *   keep, find ─▶ the plan is used now
 *   no use for PLANS_KEPT_S ─▶ gone         one more than PLANS_MAX ─▶ the least used one is gone;
 *                                              of its owner, if the owner has more than its share
 */
#define PLANS_MAX    256
#define PLANS_KEPT_S 86400

struct plans {
	struct plan *items[PLANS_MAX]; /* the first n; the others are NULL */
	size_t n;
};

/* Keep a copy of @text, of @size bytes, as the plan of the session. Return false, with everything
 * as it was, without memory. */
bool plans_keep(struct plans *plans, const char *owner, const char *session, const char *text,
	size_t size, uint64_t now_s);

/* Return the plan of the session, NUL-terminated, or NULL. It is valid until the next call. */
const char *plans_find(struct plans *plans, const char *owner, const char *session, uint64_t now_s);

/* Forget all plans. */
void plans_forget(struct plans *plans);

#endif
