/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/outages.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

static struct outage *find(const struct outages *outages, const char *id)
{
	for (size_t i = 0; i < outages->n_items; i++)
		if (strcmp(outages->items[i].id, id) == 0)
			return &outages->items[i];
	return NULL;
}

static void drop(struct outages *outages, struct outage *outage)
{
	free(outage->id);
	*outage = outages->items[--outages->n_items];
}

/* Arm the timer for the next one that will be out. */
static void arm(struct outages *outages)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t due_ms = UINT64_MAX;

	for (size_t i = 0; i < outages->n_items; i++)
		if (!outages->items[i].is_out && outages->items[i].out_at_ms < due_ms)
			due_ms = outages->items[i].out_at_ms;
	if (due_ms == UINT64_MAX)
		loop_timer_disarm(&outages->timer);
	else
		loop_timer_arm(&outages->timer, due_ms > now_ms ? due_ms - now_ms : 0);
}

static void expire(void *data)
{
	struct outages *outages = data;
	uint64_t now_ms = clock_now_ms();
	bool is_any = false;

	for (size_t i = 0; i < outages->n_items; i++) {
		struct outage *outage = &outages->items[i];

		if (outage->is_out || outage->out_at_ms > now_ms)
			continue;
		log_warning("The server of %s has not been reached for too long: its tools are not "
			    "offered until it lists them again",
			outage->id);
		outage->is_out = true;
		is_any = true;
	}
	arm(outages);
	if (is_any)
		outages->expired(outages->data);
}

int outages_init(
	struct outages *outages, struct loop *loop, loop_timer_function expired, void *data)
{
	*outages = (struct outages){.expired = expired, .data = data};
	return loop_timer_init(&outages->timer, loop, expire, outages);
}

void outages_deinit(struct outages *outages)
{
	for (size_t i = 0; i < outages->n_items; i++)
		free(outages->items[i].id);
	free(outages->items);
	loop_timer_deinit(&outages->timer);
	*outages = (struct outages){0};
}

void outages_note_server(
	struct outages *outages, const struct package *package, enum server_state state)
{
	struct outage *outage = find(outages, package->id);
	char *id;

	if (outage && !outage->is_out && state == SERVER_REACHED) {
		drop(outages, outage);
		arm(outages);
	}
	if (outage || state != SERVER_UNAVAILABLE ||
		array_grow(outages->items, outages->n_items) < 0)
		return;
	id = strdup(package->id);
	if (!id)
		return;
	outages->items[outages->n_items++] =
		(struct outage){id, clock_now_ms() + package->mcp.grace_s * MS_PER_S, false};
	arm(outages);
}

int outages_list(const struct outages *outages, struct text_list *ids)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < outages->n_items; i++)
		if (outages->items[i].is_out)
			r = text_list_add(ids, outages->items[i].id);
	return r;
}

void outages_end(struct outages *outages, const struct catalogue *catalogue)
{
	for (size_t i = outages->n_items; i-- > 0;) {
		const char *id = outages->items[i].id;
		bool is_there = catalogue_find_toolbox(catalogue, id, strlen(id)) >= 0;

		if (outages->items[i].is_out == is_there)
			drop(outages, &outages->items[i]);
	}
	arm(outages);
}
