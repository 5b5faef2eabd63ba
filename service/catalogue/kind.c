/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/kind.h"

#define TIMEOUT_MS        2500
#define PYTHON_TIMEOUT_MS 30000
#define MCP_TIMEOUT_MS    30000
#define MCP_START_MS      60000
#define MCP_MOST_MS       600000

const struct kind_facts kind_table[N_KINDS] = {
	[KIND_NATIVE] =
		{
			.name = "native",
			.sandbox = SANDBOX_COMPUTE,
			.workers = 1,
			.memory_mb = SANDBOX_MEMORY_MB,
			.timeout_ms = TIMEOUT_MS,
			.fills_defaults = true,
			.has_ring = true,
		},
	[KIND_PLUGIN] =
		{
			.name = "plugin",
			.sandbox = SANDBOX_COMPUTE,
			.workers = 1,
			.memory_mb = SANDBOX_MEMORY_MB,
			.timeout_ms = TIMEOUT_MS,
			.fills_defaults = true,
			.describes_tools = true,
			.asks_caller = true,
			.has_ring = true,
		},
	[KIND_COMMAND] =
		{
			.name = "command",
			.sandbox = SANDBOX_COMMAND,
			.workers = 4,
			.timeout_ms = TIMEOUT_MS,
			.fills_defaults = true,
			.has_guard = true,
			.asks_caller = true,
			.has_ring = true,
		},
	[KIND_PYTHON] =
		{
			.name = "python",
			.sandbox = SANDBOX_COMMAND,
			.workers = 4,
			.timeout_ms = PYTHON_TIMEOUT_MS,
			.coerces = true,
			.describes_tools = true,
			.has_members = true,
			.has_bus = true,
			.has_guard = true,
			.asks_caller = true,
			.judges = true,
		},
	[KIND_PYTHON_FILE] =
		{
			.name = "python",
			.sandbox = SANDBOX_COMMAND,
			.workers = 1,
			.timeout_ms = PYTHON_TIMEOUT_MS,
			.fills_defaults = true,
			.describes_tools = true,
			.has_guard = true,
		},
	[KIND_MCP] =
		{
			.name = "mcp",
			.sandbox = SANDBOX_COMMAND,
			.workers = 1,
			.timeout_ms = MCP_TIMEOUT_MS,
			.most_ms = MCP_MOST_MS,
			.start_least_ms = MCP_START_MS,
			.describes_tools = true,
			.fills_defaults = true,
			.has_guard = true,
			.carries_calls = true,
			.asks_caller = true,
		},
	[KIND_BUS] =
		{
			.name = "bus",
			.timeout_ms = TIMEOUT_MS,
			.fills_defaults = true,
			.asks_session = true,
		},
	[KIND_GUEST] =
		{
			.name = "guest",
			.timeout_ms = TIMEOUT_MS,
			.fills_defaults = true,
			.asks_session = true,
		},
};
