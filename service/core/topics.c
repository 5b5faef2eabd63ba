/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topics.h"

#include <stdlib.h>
#include <string.h>

#include "core/answer.h"
#include "core/invocation.h"
#include "core/listing.h"
#include "core/match.h"
#include "core/reload.h"
#include "core/status.h"

#define PERSONA_PREFIX "ovos.persona.tools."
#define PERSONA_SUFFIX ".call"
#define LIFE_PREFIX    "mycroft.toolboxd."

/* Short enough to be refused before any longer comparison. */
#define COMMON_PREFIX_BYTES 5

static void answer_status(struct service *service, bool is_so)
{
	struct answer answer;

	answer_begin(&answer, &service->envelope);
	answer_member_boolean(&answer, "status", is_so);
	answer_send(&answer, service->bus);
}

static void answer_is_alive(struct service *service)
{
	answer_status(service, !service->is_stopping);
}

static void answer_is_ready(struct service *service)
{
	answer_status(service, service->is_ready && !service->is_stopping);
}

static void call_by_data(struct service *service)
{
	invocation_begin_persona(service, NULL);
}

struct topic {
	const char *name;
	void (*serve)(struct service *service);
};

/* Sorted by name (bytes). */
static const struct topic topics[] = {
	{"mycroft.toolboxd.all_loaded", answer_is_ready},
	{"mycroft.toolboxd.is_alive", answer_is_alive},
	{"mycroft.toolboxd.is_ready", answer_is_ready},
	{"ovos.persona.tools.call", call_by_data},
	{"ovos.persona.tools.discover", listing_discover},
	{"ovos.pip.install.complete", reload_soon},
	{"ovos.pip.uninstall.complete", reload_soon},
	{"ovos.tools.cancel", invocation_cancel},
	{"ovos.tools.get", listing_get},
	{"ovos.tools.invoke", invocation_begin},
	{"ovos.tools.list", listing_list},
	{"ovos.tools.match", match_answer},
	{"ovos.tools.reload", reload_request},
	{"ovos.tools.status", status_answer},
	{"ovos.tools.validate", invocation_validate},
	{"ovos.tools.watch", invocation_watch},
};

struct key {
	const char *text;
	size_t size;
};

static int compare(const void *key, const void *entry)
{
	const struct key *wanted = key;
	const char *name = ((const struct topic *)entry)->name;
	int order = strncmp(wanted->text, name, wanted->size);

	return order != 0 ? order : -(name[wanted->size] != '\0');
}

static const struct topic *find(const char *text, size_t size)
{
	struct key key = {text, size};

	return bsearch(&key, topics, sizeof(topics) / sizeof(*topics), sizeof(*topics), compare);
}

/* The toolbox id of ovos.persona.tools.<toolbox_id>.call; size 0 when it is not that. */
static struct request_text owner_of(const char *topic, size_t size)
{
	size_t prefix = strlen(PERSONA_PREFIX);
	size_t suffix = strlen(PERSONA_SUFFIX);

	if (size <= prefix + suffix || memcmp(topic, PERSONA_PREFIX, prefix) != 0 ||
		memcmp(topic + size - suffix, PERSONA_SUFFIX, suffix) != 0)
		return (struct request_text){0};
	return (struct request_text){topic + prefix, size - prefix - suffix};
}

bool topics_wants(const char *topic, size_t size)
{
	if (size < COMMON_PREFIX_BYTES || memchr(topic, '\0', size))
		return false;
	if (memcmp(topic, PERSONA_PREFIX, COMMON_PREFIX_BYTES) != 0 &&
		memcmp(topic, LIFE_PREFIX, COMMON_PREFIX_BYTES) != 0)
		return false;
	return find(topic, size) || owner_of(topic, size).size > 0;
}

bool topics_is_about_life(const char *topic)
{
	return strncmp(topic, LIFE_PREFIX, strlen(LIFE_PREFIX)) == 0;
}

void topics_serve(struct service *service)
{
	const struct bus_envelope *envelope = &service->envelope;
	const struct topic *topic = find(envelope->topic, envelope->topic_size);
	struct request_text owner;

	if (topic) {
		topic->serve(service);
		return;
	}
	owner = owner_of(envelope->topic, envelope->topic_size);
	if (owner.size > 0)
		invocation_begin_persona(service, &owner);
}
