/* SPDX-License-Identifier: Apache-2.0 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "owner.h"

/* The texts follow each other: owner, session, plan. */
struct plan {
	uint64_t used_s;
	const char *session;
	const char *text;
	char owner[];
};

/* Return a new plan; NULL without memory. */
static struct plan *make_plan(
	const char *owner, const char *session, const char *text, size_t size, uint64_t now_s)
{
	size_t owner_size = strlen(owner) + 1;
	size_t session_size = strlen(session) + 1;
	struct plan *plan = malloc(sizeof(*plan) + owner_size + session_size + size + 1);
	char *at;

	if (!plan)
		return NULL;
	at = plan->owner;
	memcpy(at, owner, owner_size);
	at += owner_size;
	memcpy(at, session, session_size);
	plan->session = at;
	at += session_size;
	memcpy(at, text, size);
	at[size] = '\0';
	plan->text = at;
	plan->used_s = now_s;
	return plan;
}

static void forget_plan(struct plans *plans, size_t i)
{
	free(plans->items[i]);
	plans->items[i] = plans->items[--plans->n];
	plans->items[plans->n] = NULL;
}

static void forget_old(struct plans *plans, uint64_t now_s)
{
	for (size_t i = plans->n; i-- > 0;)
		if (now_s - plans->items[i]->used_s >= PLANS_KEPT_S)
			forget_plan(plans, i);
}

/* Return the index of the plan of the session; plans->n: it has none. */
static size_t find_index(const struct plans *plans, const char *owner, const char *session)
{
	size_t i = 0;

	while (i < plans->n && (strcmp(plans->items[i]->session, session) != 0 ||
				       strcmp(plans->items[i]->owner, owner) != 0))
		i++;
	return i;
}

/* Return the index of the plan without use for longest, of @owner (NULL: of all). */
static size_t find_idlest(const struct plans *plans, const char *owner)
{
	size_t idlest = plans->n;

	for (size_t i = 0; i < plans->n; i++)
		if ((!owner || strcmp(plans->items[i]->owner, owner) == 0) &&
			(idlest == plans->n ||
				plans->items[i]->used_s < plans->items[idlest]->used_s))
			idlest = i;
	return idlest;
}

/* Return the index of the plan that gives way to one more of @owner. */
static size_t find_place(const struct plans *plans, const char *owner)
{
	size_t n = 0;

	for (size_t i = 0; i < plans->n; i++)
		n += strcmp(plans->items[i]->owner, owner) == 0;
	return find_idlest(plans, n > PLANS_MAX / OWNER_SHARE ? owner : NULL);
}

bool plans_keep(struct plans *plans, const char *owner, const char *session, const char *text,
	size_t size, uint64_t now_s)
{
	struct plan *plan = make_plan(owner, session, text, size, now_s);
	size_t i;

	if (!plan)
		return false;
	forget_old(plans, now_s);
	i = find_index(plans, owner, session);
	if (i == PLANS_MAX)
		i = find_place(plans, owner);
	if (i == plans->n)
		plans->n++;
	free(plans->items[i]);
	plans->items[i] = plan;
	return true;
}

const char *plans_find(struct plans *plans, const char *owner, const char *session, uint64_t now_s)
{
	size_t i;

	forget_old(plans, now_s);
	i = find_index(plans, owner, session);
	if (i == plans->n)
		return NULL;
	plans->items[i]->used_s = now_s;
	return plans->items[i]->text;
}

void plans_forget(struct plans *plans)
{
	while (plans->n > 0)
		forget_plan(plans, plans->n - 1);
}
