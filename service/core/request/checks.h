/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "util/debt.h"

/*
 * The time of the loop taken by peers with their requests: checks of arguments, and matching.
 *
 *   request ─▶ has this kind of check taken long before?
 *                 │ no                 │ yes
 *                 │                 does its sender owe? ── yes ─▶ busy, retry_after_s
 *                 ▼                    ▼ no
 *               check ─────────▶ more than DEBT_FREE_NS? ─▶ its sender owes (bus/account.h)
 *
 * So a peer with short checks never waits, whatever others on its connection do.
 *
 * Reading a message of many values takes as long as a check, and is charged like one. Such a
 * message is skimmed first (core/request/request_text.h): if its sender owes, it is busy, and else
 * the message is read beside the loop (core/request/offload.h).
 */

/* Return what arguments may have. */
static inline struct arguments_limits checks_limits(const struct config *config)
{
	return (struct arguments_limits){
		.bytes = config->limits.args_bytes,
		.depth = config->limits.depth,
	};
}

/* Return the key of the sender @source among the sources of its account (bus/account.h). */
uint64_t checks_source_key(const struct text_view *source);

/* Return the time until the sender of the message in @scope may have long checks; 0: now. */
uint64_t checks_wait_ns(const struct bus *bus, const struct request_scope *scope);

/* Return whether the sender of the message in @scope may have a long check; else the error is
 * written. */
bool checks_admit(const struct bus *bus, const struct request_scope *scope, struct answer *answer);

/* As checks_charge(), of work that is long. Returns true. */
bool checks_charge_long(
	const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns);

/* Charge this sender with a check, or reading, of @spent_ns; the price is higher in the loop
 * (util/debt.h). Return whether the work was long. */
static inline bool checks_charge(
	const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns)
{
	return debt_is_due(spent_ns) && checks_charge_long(bus, scope, spent_ns);
}
