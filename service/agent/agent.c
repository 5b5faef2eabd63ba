/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/asking.h"
#include "agent/chats.h"
#include "agent/setup.h"
#include "bus/bus.h"
#include "bus/ovos/fallback.h"
#include "message/envelope.h"
#include "message/response.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/pace.h"
#include "util/process/notify.h"

/* As a fallback skill: how long a model counts as reachable, and how often it is looked for. */
#define REACHABLE_MS 60000
#define PROBE_MS     20000

/* The time for what is queued at the end, and between two looks at it. */
#define LEAVE_MS      1000
#define LEAVE_STEP_MS 5

/* Messages of others with one topic that are read at once, and the time for each further one: they
 * only interrupt, so a flood of them is left unread. */
#define SIGN_BURST   200
#define SIGN_STEP_MS 20

/* The most topics in their table. */
#define TOPICS_MAX 32

struct agent {
	struct loop *loop;
	struct list setups;
	struct setup *setup; /* in force */
	struct bus *bus;
	struct asking asking;
	struct chats chats;
	struct bus_envelope envelope;
	struct loop_timer probe;
	struct loop_timer leaving;
	struct loop_timer alive;
	struct pace signs[TOPICS_MAX]; /* one a topic: no topic hides another */
	uint64_t leave_ms;             /* when to leave in any case */
	bool is_stopping;
};

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

static void take_chat(struct agent *agent)
{
	chats_take(&agent->chats, &agent->envelope);
}

static void take_cancel(struct agent *agent)
{
	chats_serve_cancel(&agent->chats, &agent->envelope);
}

static void take_reset(struct agent *agent)
{
	chats_serve_reset(&agent->chats, &agent->envelope);
}

static void take_history(struct agent *agent)
{
	chats_serve_history(&agent->chats, &agent->envelope);
}

/* Answer is_alive and is_ready. */
static void take_alive(struct agent *agent)
{
	struct buffer message = {0};

	bus_response_begin(&message, &agent->envelope);
	buffer_printf(&message, "{\"status\":%s}", agent->is_stopping ? "false" : "true");
	bus_message_end(&message);
	bus_send(agent->bus, &message, bus_response_share(&agent->envelope));
}

/* Signs with two names interrupt twice, which does no harm. */
static void take_stop(struct agent *agent)
{
	chats_interrupt(&agent->chats, &agent->envelope, false);
}

/* A person begins to speak: that may be the answer that a call waits for. */
static void take_record(struct agent *agent)
{
	chats_interrupt(&agent->chats, &agent->envelope, true);
}

static void pass_question(struct agent *agent)
{
	chats_take_question(&agent->chats, &agent->envelope);
}

static void pass_decision(struct agent *agent)
{
	chats_take_decision(&agent->chats, &agent->envelope);
}

static void begin_asking_person(struct agent *agent)
{
	chats_set_asking(&agent->chats, &agent->envelope, true);
}

static void end_asking_person(struct agent *agent)
{
	chats_set_asking(&agent->chats, &agent->envelope, false);
}

/* ── as a fallback skill ─────────────────────────────────────────────────────────────────────── */

static void send_registration(struct agent *agent, bool is_leaving)
{
	fallback_send_registration(
		agent->bus, AGENT_SKILL_ID, agent->setup->config.listen.priority, is_leaving);
}

static void register_skill(struct agent *agent)
{
	send_registration(agent, agent->is_stopping);
}

static void take_ping(struct agent *agent)
{
	cleanup(speech_deinit) struct speech speech = {0};

	speech_init(&speech, &agent->envelope, AGENT_SKILL_ID, false);
	fallback_send_pong(
		&speech, agent->bus, model_was_reachable(agent->setup->model, REACHABLE_MS));
}

static void take_chosen(struct agent *agent)
{
	chats_take_fallback(&agent->chats, &agent->envelope);
}

static void take_force_timeout(struct agent *agent)
{
	chats_force_timeout(&agent->chats, &agent->envelope);
}

static void take_converse(struct agent *agent)
{
	cleanup(speech_deinit) struct speech speech = {0};

	speech_init(&speech, &agent->envelope, AGENT_SKILL_ID, false);
	fallback_send_converse(&speech, agent->bus);
}

static void on_probe(void *data)
{
	struct agent *agent = data;

	if (!model_was_reachable(agent->setup->model, PROBE_MS))
		model_probe(agent->setup->model);
	loop_timer_arm(&agent->probe, PROBE_MS);
}

/* ── the table of topics ─────────────────────────────────────────────────────────────────────── */

enum topic_kind {
	TOPIC_REQUEST,
	TOPIC_SIGN,     /* sent by a person or another program: read at a limited rate */
	TOPIC_FALLBACK, /* the same, only with `listen` */
};

static const struct {
	const char *topic;
	enum topic_kind kind;
	void (*take)(struct agent *agent);
} agent_topics[] = {
	{"ovos.tools.chat", TOPIC_REQUEST, take_chat},
	{"ovos.tools.chat.cancel", TOPIC_REQUEST, take_cancel},
	{"ovos.tools.chat.reset", TOPIC_REQUEST, take_reset},
	{"ovos.tools.chat.history", TOPIC_REQUEST, take_history},
	{"mycroft.toolbox-agent.is_alive", TOPIC_REQUEST, take_alive},
	{"mycroft.toolbox-agent.is_ready", TOPIC_REQUEST, take_alive},
	{"mycroft.stop", TOPIC_SIGN, take_stop},
	{"ovos.stop", TOPIC_SIGN, take_stop},
	{"recognizer_loop:record_begin", TOPIC_SIGN, take_record},
	{"ovos.listener.record.started", TOPIC_SIGN, take_record},
	{"ovos.tools.approval.requested", TOPIC_SIGN, pass_question},
	{"ovos.tools.approval.resolved", TOPIC_SIGN, pass_decision},
	{"skill.converse.get_response.enable", TOPIC_SIGN, begin_asking_person},
	{"skill.converse.get_response.disable", TOPIC_SIGN, end_asking_person},
	{AGENT_SKILL_ID ".converse.ping", TOPIC_SIGN, take_converse},
	{FALLBACK_TOPIC "ping", TOPIC_FALLBACK, take_ping},
	{FALLBACK_TOPIC AGENT_SKILL_ID ".request", TOPIC_FALLBACK, take_chosen},
	{FALLBACK_TOPIC "force_timeout", TOPIC_FALLBACK, take_force_timeout},
	{"mycroft.skills.initialized", TOPIC_FALLBACK, register_skill},
	{"mycroft.ready", TOPIC_FALLBACK, register_skill},
};

static_assert(ARRAY_SIZE(agent_topics) <= TOPICS_MAX, "each topic has a pace");

/* Return the index of the topic, or ARRAY_SIZE(agent_topics). */
static size_t find_agent_topic(const char *topic, size_t size)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(agent_topics) && !text_is(topic, size, agent_topics[i].topic))
		i++;
	return i;
}

static bool wants_topic(void *data, const char *topic, size_t size)
{
	struct agent *agent = data;
	size_t i = find_agent_topic(topic, size);

	if (i == ARRAY_SIZE(agent_topics))
		return asking_wants(&agent->asking, topic, size);
	if (agent_topics[i].kind == TOPIC_REQUEST)
		return true;
	if (agent_topics[i].kind == TOPIC_FALLBACK && !agent->setup->config.listen.is_fallback)
		return false;
	return pace_take_by(&agent->signs[i], clock_now_ms(), SIGN_STEP_MS, SIGN_BURST);
}

static void take_message(void *data, const char *text, size_t size)
{
	struct agent *agent = data;
	struct bus_envelope *envelope = &agent->envelope;
	size_t i;

	if (bus_envelope_read(envelope, text, size, JSON_DEPTH_DEFAULT) != 0) {
		bus_envelope_recycle(envelope);
		return;
	}
	i = find_agent_topic(envelope->topic, envelope->topic_size);
	if (i == ARRAY_SIZE(agent_topics))
		asking_take(&agent->asking, envelope);
	else if (!agent->is_stopping || agent_topics[i].take == take_alive)
		agent_topics[i].take(agent);
	bus_envelope_recycle(envelope);
}

/* ── the bus ─────────────────────────────────────────────────────────────────────────────────── */

static void come_up(void *data)
{
	struct agent *agent = data;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(agent->bus), url);
	log_info("On the bus at %s", url);
	if (agent->setup->config.listen.is_fallback)
		register_skill(agent);
}

static void go_down(void *data, const char *reason)
{
	struct agent *agent = data;

	log_warning("The bus is away: %s", reason);
	chats_lose_bus(&agent->chats);
	asking_lose(&agent->asking);
}

static int pass_message(void *data, struct buffer *message)
{
	struct agent *agent = data;

	return bus_send(agent->bus, message, BUS_SHARE_OWN);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

static void leave_when_sent(void *data)
{
	struct agent *agent = data;

	if (bus_queued_bytes(agent->bus) == 0 || clock_now_ms() >= agent->leave_ms)
		loop_stop(agent->loop);
	else
		loop_timer_arm(&agent->leaving, LEAVE_STEP_MS);
}

void agent_stop(struct agent *agent)
{
	if (agent->is_stopping) {
		loop_stop(agent->loop);
		return;
	}
	log_info("Stopping: %zu turns", agent->chats.n_running);
	notify_stopping();
	agent->is_stopping = true;
	agent->leave_ms = clock_now_ms() + LEAVE_MS;
	chats_stop(&agent->chats);
	if (agent->setup->config.listen.is_fallback)
		register_skill(agent);
	leave_when_sent(agent);
}

/* The loop turns: sockets and timers were served. */
static void report_alive(void *data)
{
	struct agent *agent = data;

	notify_alive();
	loop_timer_arm(&agent->alive, notify_alive_interval_ms());
}

static int make_timers(struct agent *agent)
{
	int r = loop_timer_init(&agent->probe, agent->loop, on_probe, agent);

	r = r ? r : loop_timer_init(&agent->leaving, agent->loop, leave_when_sent, agent);
	return r ? r : loop_timer_init(&agent->alive, agent->loop, report_alive, agent);
}

int agent_new(struct loop *loop, struct config_agent *config, struct agent **ret_agent)
{
	static const struct bus_handler handler = {
		.wants = wants_topic,
		.frame = take_message,
		.up = come_up,
		.down = go_down,
	};
	cleanup(agent_cleanup) struct agent *agent = calloc(1, sizeof(*agent));
	int r;

	if (!agent)
		return -ENOMEM;
	agent->loop = loop;
	list_init(&agent->setups);
	r = setup_new(loop, &agent->setups, config, &agent->setup);
	r = r ? r : make_timers(agent);
	r = r ? r : asking_init(&agent->asking, loop, pass_message, agent);
	if (r < 0)
		return r;
	chats_init(&agent->chats, loop, agent->setup, &agent->asking);
	r = bus_connect(
		loop, &agent->setup->config.bus, &bus_limits_default, &handler, agent, &agent->bus);
	if (r < 0)
		return r;
	agent->chats.bus = agent->bus;
	if (agent->setup->config.listen.is_fallback)
		on_probe(agent);
	if (notify_alive_interval_ms() > 0)
		report_alive(agent);
	notify_ready();
	*ret_agent = take_ptr(agent);
	return 0;
}

/* Put the setup @next in force. */
static void change_setup(struct agent *agent, struct setup *next)
{
	struct setup *before = agent->setup;
	bool was_fallback = before->config.listen.is_fallback;

	if (was_fallback)
		send_registration(agent, true);
	loop_timer_disarm(&agent->probe);
	agent->setup = agent->chats.setup = next;
	setup_retire(before);
	if (next->config.listen.is_fallback) {
		register_skill(agent);
		on_probe(agent);
	}
}

int agent_reload(struct agent *agent, struct config_agent *config)
{
	char now[BUS_URL_BYTES];
	char wanted[BUS_URL_BYTES];
	struct setup *next;
	int r;

	bus_address_format(&agent->setup->config.bus, now);
	bus_address_format(&config->bus, wanted);
	if (strcmp(now, wanted) != 0) {
		log_warning(
			"The address of the bus is %s now: it is used after a new start", wanted);
		config->bus = agent->setup->config.bus;
	}
	r = setup_new(agent->loop, &agent->setups, config, &next);
	if (r < 0)
		return r;
	change_setup(agent, next);
	log_info("Reloaded: %zu turns end by the configuration before", agent->chats.n_running);
	return 0;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	chats_deinit(&agent->chats);
	asking_deinit(&agent->asking);
	setups_free(&agent->setups);
	loop_timer_deinit(&agent->probe);
	loop_timer_deinit(&agent->leaving);
	loop_timer_deinit(&agent->alive);
	bus_free(agent->bus);
	bus_envelope_deinit(&agent->envelope);
	free(agent);
}
