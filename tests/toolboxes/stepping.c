/* SPDX-License-Identifier: Apache-2.0 */

/* A plugin with the one tool of MCP's conformance suite that reports progress: at 0, 1/2 and 1. */

#include <toolbox.h>
#include <unistd.h>

#define STEP_US 50000

static void step(struct toolbox_call call, void *data)
{
	(void)data;
	toolbox_progress(call, 0, "begun");
	usleep(STEP_US);
	toolbox_progress(call, 0.5, "half");
	usleep(STEP_US);
	toolbox_progress(call, 1, "done");
	toolbox_reply(call);
}

static const struct toolbox_tool tools[] = {{
	.name = "test_tool_with_progress",
	.description = "Reports its progress.",
	.risk = TOOLBOX_READ,
	.handler = step,
}};

TOOLBOX_PLUGIN(tools, NULL, NULL);
