/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/late.h"

#include "catalogue/package.h"
#include "core/request/errors.h"
#include "util/clock.h"

int late_init(struct late *late, struct loop *loop, held_function function, void *data)
{
	return held_init(&late->requests, loop, function, data);
}

void late_deinit(struct late *late)
{
	held_deinit(&late->requests);
}

/* Hold the request in @scope for at most @wait_ms since it came. Return false when it has waited as
 * long, or cannot be held. */
static bool hold(struct late *late, const struct request_scope *scope, uint64_t wait_ms,
	struct answer *answer)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t due_ms = scope->late ? scope->late->due_ms : now_ms + wait_ms;
	struct held *held;

	if (now_ms >= due_ms)
		return false;
	held = held_add(&late->requests, LATE_MAX, bus_sender(late->bus), scope->address,
		&scope->text, due_ms - now_ms);
	if (!held)
		return false;
	request_scope_keep_origin(scope, &held->call_id, &held->source);
	if (held->call_id.error || held->source.error) {
		held_drop(held);
		return false;
	}
	held->hold = limits_move(late->hold);
	answer_deinit(answer);
	return true;
}

bool late_hold(struct late *late, const struct request_scope *scope, struct answer *answer)
{
	return answer->code == ANSWER_UNKNOWN_TOOL && reload_is_pending(late->reload) &&
	       hold(late, scope, LATE_MS, answer);
}

bool late_admit(struct late *late, const struct request_scope *scope, const struct tool *tool,
	struct answer *answer)
{
	if (tool_is_current(tool))
		return true;
	/* A reload that has read the file already is followed by another, when the request is
	 * served again. */
	if (!reload_is_pending(late->reload))
		reload_soon(late->reload);
	if (hold(late, scope, LATE_CHANGED_MS, answer))
		return false;
	/* The process of any other tool has the program that belongs to the definition. */
	if (tool->toolbox->package->kind != KIND_COMMAND)
		return true;
	errors_write_unavailable(answer, tool,
		"its program or its definition has changed, and could not be loaded yet");
	return false;
}

void late_serve(struct late *late)
{
	held_serve_all(&late->requests, 0);
}
