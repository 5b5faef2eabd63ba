/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"

/*
 * `listen`: whether utterances that no skill of OVOS takes come to us (core/voice/listening.h).
 *
 *   false | "fallback" | {"as": "fallback", "priority": 50}
 */
struct config_listen {
	bool is_fallback;
	uint32_t priority; /* among the fallback skills: the lowest is asked first */
};

#define LISTEN_PRIORITY 50

/* Read the value at @value, which has the right type (JSON_NONE: none); without a priority there it
 * is @priority. */
struct config_listen config_listen_read(
	const struct json_tape *tape, uint32_t value, uint32_t priority);
