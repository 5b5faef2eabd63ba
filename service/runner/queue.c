/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/queue.h"

#include <stddef.h>

#include "util/clock.h"

#define NS_PER_MS UINT64_C(1000000)

static void clock_run(struct runner_call *call)
{
	loop_timer_arm(&call->clock, call->left_ms);
}

uint64_t queue_left_ms(const struct runner_call *call)
{
	uint64_t now_ns;

	if (!loop_timer_is_armed(&call->clock))
		return call->left_ms;
	now_ns = clock_now_ns();
	return call->clock.due_ns > now_ns ? (call->clock.due_ns - now_ns) / NS_PER_MS : 0;
}

static void clock_stand(struct runner_call *call)
{
	call->left_ms = queue_left_ms(call);
	loop_timer_disarm(&call->clock);
}

void queue_init(struct queue *queue)
{
	*queue = (struct queue){.last_link = &queue->first};
}

void queue_push(struct queue *queue, struct runner_call *call)
{
	call->next = NULL;
	*queue->last_link = call;
	queue->last_link = &call->next;
	queue->n_calls++;
	if (!queue->clocks_stand)
		clock_run(call);
}

void queue_remove(struct queue *queue, struct runner_call *call)
{
	struct runner_call **link = &queue->first;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	if (queue->last_link == &call->next)
		queue->last_link = link;
	queue->n_calls--;
	if (queue->clocks_stand)
		clock_run(call);
}

void queue_set_clocks(struct queue *queue, bool stand)
{
	if (stand == queue->clocks_stand)
		return;
	queue->clocks_stand = stand;
	for (struct runner_call *call = queue->first; call; call = call->next)
		(stand ? clock_stand : clock_run)(call);
}
