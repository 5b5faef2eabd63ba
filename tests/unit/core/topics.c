/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/topics.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_wanted(const char *topic, bool is_wanted)
{
	cr_expect_eq(topics_wants(topic, strlen(topic)), is_wanted, "%s", topic);
}

Test(topics, that_are_ours_are_wanted)
{
	static const char *const ours[] = {"ovos.tools.list", "ovos.tools.get", "ovos.tools.invoke",
		"ovos.tools.validate", "ovos.tools.reload", "ovos.tools.status",
		"ovos.tools.cancel", "ovos.tools.watch", "ovos.tools.match",
		"ovos.persona.tools.discover", "ovos.persona.tools.call",
		"ovos.persona.tools.math_tools.call", "mycroft.toolboxd.is_alive",
		"mycroft.toolboxd.is_ready", "mycroft.toolboxd.all_loaded"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		expect_wanted(ours[i], true);
}

/* Our own responses come back to us, too. */
Test(topics, that_are_not_ours_are_not)
{
	static const char *const others[] = {"", "o", "ovos.", "ovos.tools", "ovos.tools.",
		"ovos.tools.lis", "ovos.tools.lists", "ovos.tools.list.response",
		"ovos.tools.changed", "OVOS.tools.list", "ovos.persona.tools.call.response",
		"ovos.persona.tools.math_tools.call.response", "ovos.persona.tools.",
		"ovos.persona.tools.x.calls", "ovos.persona.tools..call", "mycroft.toolboxd",
		"mycroft.skills.is_alive", "recognizer_loop:utterance"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		expect_wanted(others[i], false);
	cr_expect_not(topics_wants("ovos.tools.list\0", 16));
}
