/* SPDX-License-Identifier: Apache-2.0 */
#include "call/bus_topics.h"

#include <string.h>

#include "util/array.h"
#include "util/text/glob.h"
#include "util/text/text.h"

#define TOPIC_CHARACTERS TEXT_ALPHANUMERIC "_-"

static const char *const ours[] = {"ovos.tools.*", "ovos.persona.tools.*", "mycroft.toolboxd.*"};

/* Each old name is followed by its new name, where OVOS has one. */
static const char *const dangerous[] = {
	"system.reboot",
	"system.shutdown",
	"system.factory.reset",
	"system.ssh.enable",
	"system.ssh.disable",
	"system.configure.language",
	"system.mycroft.service.restart",
	"ovos.pip.install",
	"ovos.pip.uninstall",
	"configuration.patch",
	"configuration.patch.clear",
	"skillmanager.*",
	"mycroft.skill.enable_intent",
	"ovos.intent.enable",
	"mycroft.skill.disable_intent",
	"ovos.intent.disable",
	"detach_intent",
	"ovos.intent.deregister",
	"detach_skill",
	"ovos.skill.deregister",
	"ovos.session.sync",
	/* any message, later */
	"ovos.scheduler.schedule",
	"mycroft.scheduler.schedule_event",
	/* any words of a person */
	"recognizer_loop:utterance",
	"ovos.utterance.handle",
	"ovos.skills.fallback.*.request",
	"*.converse.request",
	"*.converse.get_response",
	/* speech, handed out instead of spoken */
	"speak:b64_audio",
	"ovos.utterance.speak.b64",
};

/* Topics with a ':' other than intents of skills, `SKILL:INTENT`. */
static const char *const not_intents[] = {"recognizer_loop:*", "speak:*"};

bool bus_topics_is_valid(const char *topic)
{
	size_t size;

	for (;; topic += size + 1) {
		size = strspn(topic, TOPIC_CHARACTERS);
		if (size == 0)
			return false;
		if (topic[size] == '\0')
			return true;
		if (!strchr(".:", topic[size]))
			return false;
	}
}

static bool is_among(const char *const *patterns, size_t n_patterns, const char *topic)
{
	for (size_t i = 0; i < n_patterns; i++)
		if (glob_matches(patterns[i], strlen(patterns[i]), topic, strlen(topic)))
			return true;
	return false;
}

bool bus_topics_is_ours(const char *topic)
{
	return is_among(ours, ARRAY_SIZE(ours), topic);
}

static bool is_intent(const char *topic)
{
	return strchr(topic, ':') && !is_among(not_intents, ARRAY_SIZE(not_intents), topic);
}

bool bus_topics_is_dangerous(const char *topic)
{
	return is_among(dangerous, ARRAY_SIZE(dangerous), topic) || is_intent(topic);
}

bool bus_topics_has_response(const char *topic)
{
	static const char suffix[] = ".response";
	size_t size = strlen(topic);

	return !strchr(topic, ':') &&
	       !(size >= strlen(suffix) && strcmp(topic + size - strlen(suffix), suffix) == 0);
}
