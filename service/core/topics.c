/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topics.h"

#include <stdlib.h>
#include <string.h>

#include "core/answer.h"
#include "core/events.h"
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

/* What every request of a topic gets, whatever becomes of it. */
enum reply {
	REPLY_NONE, /* not every one does */
	REPLY_PLAIN,
	REPLY_ECHO, /* with `name` and `call_id` as they came */
};

/* Every ToolBox looks what its tools are now when it is asked for them; ours are known, and asked
 * when that was answered. */
static void discover(struct service *service)
{
	listing_discover(service);
	reload_refresh(service);
}

struct topic {
	const char *name;
	void (*serve)(struct service *service);
	enum reply reply;
};

/* Sorted by name (bytes). */
static const struct topic topics[] = {
	{"mycroft.toolboxd.all_loaded", answer_is_ready, REPLY_PLAIN},
	{"mycroft.toolboxd.is_alive", answer_is_alive, REPLY_PLAIN},
	{"mycroft.toolboxd.is_ready", answer_is_ready, REPLY_PLAIN},
	{"ovos.persona.tools.call", call_by_data, REPLY_NONE},
	{"ovos.persona.tools.discover", discover, REPLY_NONE},
	{"ovos.pip.install.complete", reload_soon, REPLY_NONE},
	{"ovos.pip.uninstall.complete", reload_soon, REPLY_NONE},
	{"ovos.tools.cancel", invocation_cancel, REPLY_PLAIN},
	{"ovos.tools.get", listing_get, REPLY_PLAIN},
	{"ovos.tools.invoke", invocation_begin, REPLY_ECHO},
	{"ovos.tools.list", listing_list, REPLY_PLAIN},
	{"ovos.tools.match", match_answer, REPLY_PLAIN},
	{"ovos.tools.reload", reload_request, REPLY_PLAIN},
	{"ovos.tools.status", status_answer, REPLY_PLAIN},
	{"ovos.tools.validate", invocation_validate, REPLY_ECHO},
	{"ovos.tools.watch", events_watch, REPLY_PLAIN},
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

void topics_refuse(struct service *service, enum answer_code code, const char *error)
{
	const struct bus_envelope *envelope = &service->envelope;
	const struct topic *topic = find(envelope->topic, envelope->topic_size);
	struct answer answer;

	if (!topic || topic->reply == REPLY_NONE)
		return;
	answer_begin(&answer, envelope);
	if (topic->reply == REPLY_ECHO) {
		/* Whether it is a good one is of no matter here. */
		request_read(&service->request, envelope, REQUEST_CALL);
		request_write_echo(&service->request, &answer);
	}
	answer_error(&answer, code, error, strlen(error), UINT32_MAX);
	answer_send(&answer, service->bus);
}
