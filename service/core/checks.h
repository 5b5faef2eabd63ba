/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/answer.h"
#include "core/request_scope.h"

/*
 * The time of the loop that peers take with their requests: checks of arguments, and matching.
 *
 *   request ─▶ has this kind of check taken long before?
 *                 │ no                 │ yes
 *                 │                 does its sender owe? ── yes ─▶ busy, retry_after_s
 *                 ▼                    ▼ no
 *               check ─────────▶ more than DEBT_FREE_NS? ─▶ its sender owes (bus/account.h)
 *
 * So a peer whose checks are short never waits, whatever others do that share its connection.
 *
 * Reading a message of many values takes as long as a check, and is charged like one. While something is owed
 * on its connection such a message is only skimmed (bus/envelope.h): if its sender owes, it is busy, and else
 * the message is read.
 */

/* A message of so many bytes is measured; a shorter one has too few values to take long. */
#define CHECKS_LONG_BYTES (128u << 10)

/* As checks_must_skim(), for a long message. */
bool checks_must_skim_long(const struct bus *bus, const char *text, size_t size);

/* Return whether a message of the peer that sends now must be skimmed first, since reading it can take
 * long. */
static inline bool checks_must_skim(const struct bus *bus, const char *text, size_t size)
{
	return size >= CHECKS_LONG_BYTES && checks_must_skim_long(bus, text, size);
}

/* Return the time until checks that can take long are made for the sender of the message in @scope; 0: now. */
uint64_t checks_wait_ns(const struct bus *bus, const struct request_scope *scope);

/* Return whether the sender of the message in @scope may have a check that can take long; else the
 * error is written. */
bool checks_admit(const struct bus *bus, const struct request_scope *scope, struct answer *answer);

/* Charge that sender with a check that took @spent_ns. Return whether it took long. */
bool checks_charge(const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns);
