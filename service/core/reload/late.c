/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reload/late.h"

#include "util/clock.h"

int late_init(struct late *late, struct loop *loop, held_function function, void *data)
{
	return held_init(&late->requests, loop, function, data);
}

void late_deinit(struct late *late)
{
	held_deinit(&late->requests);
}

bool late_hold(struct late *late, const struct request_scope *scope, struct answer *answer)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t due_ms = scope->late ? scope->late->due_ms : now_ms + LATE_MS;
	struct held *held;

	if (answer->code != ANSWER_UNKNOWN_TOOL || now_ms >= due_ms ||
		!reload_is_pending(late->reload))
		return false;
	held = held_add(&late->requests, LATE_MAX, bus_sender(late->bus), scope->address,
		&scope->frame, due_ms - now_ms);
	if (!held)
		return false;
	request_keep_origin(&scope->request, &scope->envelope, &held->call_id, &held->source);
	if (held->call_id.error || held->source.error) {
		held_drop(held);
		return false;
	}
	held->hold = limits_move(late->hold);
	answer_deinit(answer);
	return true;
}

void late_serve(struct late *late)
{
	held_serve_all(&late->requests, 0);
}
