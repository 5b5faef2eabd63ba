/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The values of a JSON text beside the values of arguments. */
#define CONFIG_MORE_VALUES 65536

/* `limits`: what the service holds at most (contract.md, What bounds whom). */
struct config_limits {
	size_t frame_bytes;
	size_t args_bytes;
	uint32_t depth;
	uint32_t in_flight;
	uint32_t queue;
	size_t output_queue_bytes;
	size_t peer_bytes;
	size_t host_output_bytes;
	size_t stderr_bytes;
	uint32_t pending_approvals;
	uint32_t tools;
	uint32_t toolboxes;
	uint32_t pattern_steps;
	uint32_t check_ms;
};

/* Return the most values, with keys, of a message or of a result. Arguments of args_bytes have at
 * most half as many values. */
static inline uint32_t config_values_max(const struct config_limits *limits)
{
	return (uint32_t)(limits->args_bytes / 2) + CONFIG_MORE_VALUES;
}
