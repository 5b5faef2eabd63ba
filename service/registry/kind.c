/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/kind.h"

static const struct kind_facts facts[N_KINDS] = {
	[KIND_NATIVE] =
		{
			.name = "native",
			.sandbox = SANDBOX_COMPUTE,
			.workers = 1,
			.memory_mb = SANDBOX_MEMORY_MB,
		},
	[KIND_PLUGIN] =
		{
			.name = "plugin",
			.sandbox = SANDBOX_COMPUTE,
			.workers = 1,
			.memory_mb = SANDBOX_MEMORY_MB,
			.tells_tools = true,
			.asks_caller = true,
		},
	[KIND_COMMAND] =
		{
			.name = "command",
			.sandbox = SANDBOX_COMMAND,
			.workers = 4,
			.has_guard = true,
			.asks_caller = true,
		},
	[KIND_PYTHON] =
		{
			.name = "python",
			.sandbox = SANDBOX_COMMAND,
			.workers = 4,
			.coerces = true,
			.has_bus = true,
			.tells_tools = true,
			.has_guard = true,
			.asks_caller = true,
		},
};

const struct kind_facts *kind_facts(enum toolbox_kind kind)
{
	return &facts[kind];
}
