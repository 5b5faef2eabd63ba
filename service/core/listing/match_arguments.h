/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/config.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"

/*
 * The arguments in an utterance: the named groups of the trigger that matched it.
 *
 *   what is (?<a>\d+) plus (?<b>\d+) ─▶ {"a": "3", "b": "4"}
 *                                       ─ as the schema wants it ─▶ {"a": 3, "b": 4}
 *
 * They are checked as arguments of a call are, so a caller can invoke a complete match.
 */

/* Write the members `args`, `complete` and `missing` for the trigger @trigger of @tool, which
 * matches the utterance in @scope. Return the thread's time for the check; 0: too little to be
 * measured. */
uint64_t match_arguments_write(struct request_scope *scope, const struct config_limits *limits,
	const struct tool *tool, size_t trigger, struct answer *answer);
