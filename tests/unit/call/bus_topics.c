/* SPDX-License-Identifier: Apache-2.0 */
#include "call/bus_topics.h"

#include <criterion/criterion.h>
#include <stddef.h>

#include "util/array.h"

Test(bus_topics, have_the_form_of_a_topic)
{
	static const char *const good[] = {"speak", "mycroft.volume.get",
		"recognizer_loop:utterance", "a-b_C.9", "skill-x.author:Intent.intent"};
	static const char *const bad[] = {
		"", ".", "a.", ".a", "a..b", "a:", "a b", "a/b", "ü", "a\n"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		cr_expect(bus_topics_is_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_expect(!bus_topics_is_valid(bad[i]), "'%s'", bad[i]);
}

Test(bus_topics, of_ours_belong_to_no_tool)
{
	static const char *const ours[] = {"ovos.tools.invoke", "ovos.tools.anything.else",
		"ovos.persona.tools.call", "mycroft.toolboxd.is_alive"};
	static const char *const others[] = {"ovos.tools", "ovos.toolsx.a", "mycroft.stop"};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		cr_expect(bus_topics_is_ours(ours[i]), "%s", ours[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		cr_expect(!bus_topics_is_ours(others[i]), "%s", others[i]);
}

Test(bus_topics, that_change_the_machine_or_speak_for_a_person_are_dangerous)
{
	static const char *const dangerous[] = {"system.reboot", "system.ssh.enable",
		"ovos.pip.install", "configuration.patch", "skillmanager.deactivate",
		"mycroft.skill.disable_intent", "ovos.intent.disable", "ovos.session.sync",
		"ovos.scheduler.schedule", "recognizer_loop:utterance", "ovos.utterance.handle",
		"speak:b64_audio", "ovos.utterance.speak.b64", "my-skill.me:Intent",
		"ovos.skills.fallback.toolboxd.request", "ovos.skills.fallback.a.b.request",
		"toolboxd.converse.get_response", "my-skill.me.converse.request"};
	static const char *const harmless[] = {"system.ssh.status", "speak", "mycroft.volume.set",
		"recognizer_loop:sleep", "mycroft.stop", "ovos.pip.install.complete",
		"ovos.skills.fallback.ping", "skill.converse.get_response.enable"};

	for (size_t i = 0; i < ARRAY_SIZE(dangerous); i++)
		cr_expect(bus_topics_is_dangerous(dangerous[i]), "%s", dangerous[i]);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		cr_expect(!bus_topics_is_dangerous(harmless[i]), "%s", harmless[i]);
}

Test(bus_topics, have_a_response_unless_they_are_one_or_are_dispatched)
{
	cr_expect(bus_topics_has_response("mycroft.volume.get"));
	cr_expect(bus_topics_has_response("response"));
	cr_expect(!bus_topics_has_response("mycroft.volume.get.response"));
	cr_expect(!bus_topics_has_response(".response"));
	cr_expect(bus_topics_has_response("mycroft.response.get"));
	cr_expect(!bus_topics_has_response("recognizer_loop:utterance"));
}
