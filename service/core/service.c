/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/invocation.h"
#include "core/notify.h"
#include "core/reload.h"
#include "core/state.h"
#include "core/topics.h"
#include "host/host.h"
#include "util/clock.h"

/* After the last answer the bus gets this long to take what is queued, and toolboxes to end. */
/* Lines of reloads, and of what they find wrong, in LOG_RATE_INTERVAL_MS: every mistake of a whole
 * folder of toolboxes should be told, and anybody may ask for a reload. */
#define RELOADS_LOGGED  20
#define PROBLEMS_LOGGED 200

#define FLUSH_MS HOST_DISMISS_MS

/* How often stopping looks whether everything is done. */
#define DRAIN_STEP_MS 5

/* A request that waits for the first catalogue. */
struct deferred {
	struct deferred *next;
	size_t size;
	char text[];
};

/* ── frames ──────────────────────────────────────────────────────────────────────────────────── */

static bool wants(void *data, const char *topic, size_t size)
{
	const struct service *service = data;

	return topics_wants(topic, size) || proxy_wants(&service->proxy, topic, size);
}

static void log_malformed(struct service *service)
{
	log_limited(&service->malformed, LOG_LEVEL_WARNING, "Dropped a malformed message: %s",
		service->envelope.reason);
}

/* Keep the request in service->envelope, whose frame this is, until it can be served. */
static void defer(struct service *service, const char *text, size_t size)
{
	struct deferred **link = &service->deferred;
	struct deferred *deferred;

	if (service->n_deferred >= service->config.limits.in_flight) {
		topics_refuse(service, ANSWER_BUSY,
			"RuntimeError: The service is busy: too many requests wait until its "
			"toolboxes are loaded");
		return;
	}
	deferred = malloc(sizeof(*deferred) + size);
	if (!deferred) {
		topics_refuse(service, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: out of memory");
		return;
	}
	deferred->next = NULL;
	deferred->size = size;
	memcpy(deferred->text, text, size);
	while (*link)
		link = &(*link)->next;
	*link = deferred;
	service->n_deferred++;
}

/* Whether the frame, which was read, is a request; the hosts that want it get it in any case. */
static bool is_request(struct service *service, const char *text, size_t size)
{
	const struct bus_envelope *envelope = &service->envelope;

	if (service->proxy.n_subscriptions == 0)
		return true;
	proxy_deliver(&service->proxy, envelope->topic, envelope->topic_size, text, size);
	return topics_wants(envelope->topic, envelope->topic_size);
}

/* Whether the frame is a message; it is in service->envelope then. */
static bool read_frame(struct service *service, const char *text, size_t size)
{
	int r = bus_envelope_read(&service->envelope, text, size, service->config.limits.depth);

	if (r == BUS_E_MALFORMED)
		log_malformed(service);
	else if (r < 0)
		log_error("Dropped a message: %s", strerror(-r));
	return r == 0;
}

static void take_frame(void *data, const char *text, size_t size)
{
	struct service *service = data;

	if (!read_frame(service, text, size) || !is_request(service, text, size))
		return;
	if (service->is_ready || topics_is_about_life(service->envelope.topic))
		topics_serve(service);
	else
		defer(service, text, size);
}

/* While there is no catalogue there will be none for it any more. */
static void answer_deferred(struct service *service, const struct deferred *deferred)
{
	if (!read_frame(service, deferred->text, deferred->size))
		return;
	if (service->is_ready)
		topics_serve(service);
	else
		topics_refuse(service, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: it is stopping");
}

static void answer_all_deferred(struct service *service)
{
	struct deferred *deferred = take_ptr(service->deferred);

	service->n_deferred = 0;
	while (deferred) {
		struct deferred *next = deferred->next;

		answer_deferred(service, deferred);
		free(deferred);
		deferred = next;
	}
}

static void came_up(void *data)
{
	const struct service *service = data;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(service->bus), url);
	log_info("On the bus at %s", url);
}

static void went_down(void *data, const char *why)
{
	(void)data;
	log_warning("The bus is away: %s", why);
}

/* ── signals ─────────────────────────────────────────────────────────────────────────────────── */

static void registration_changed(void *data)
{
	reload_begin(data);
}

static void hang_up(void *data, int signal)
{
	(void)signal;
	reload_ask_again(data);
}

static void end_calls(struct service *service)
{
	for (size_t i = 0; i < service->n_runners; i++)
		runner_end_all(service->runners[i], "the service is stopping");
	for (size_t i = 0; i < service->n_retired; i++)
		runner_end_all(service->retired[i], "the service is stopping");
}

/* Whether everybody has been answered, those who wait for a reload or for the first catalogue, too,
 * and nothing is left to send. */
static bool is_drained(const struct service *service)
{
	return service->n_in_flight + service->n_waiting + service->n_deferred == 0 &&
	       bus_queued_bytes(service->bus) == 0;
}

/* Let every host that has nothing to do end in order, all at once. Whether all have. */
static bool have_hosts_left(struct service *service)
{
	bool have_left = true;

	for (size_t i = 0; i < service->n_runners; i++) {
		runner_dismiss_idle(service->runners[i]);
		have_left = have_left && runner_has_reaped_all(service->runners[i]);
	}
	for (size_t i = 0; i < service->n_retired; i++)
		have_left = have_left && runner_has_reaped_all(service->retired[i]);
	return have_left;
}

/* Stop once everything is answered and said, and toolboxes have ended; or patience is at its end.
 */
static void drain(void *data)
{
	struct service *service = data;
	uint64_t now_ms = clock_now_ms();
	bool have_left;

	if (now_ms >= service->stop_calls_ms) {
		end_calls(service);
		reload_give_up(service);
		answer_all_deferred(service);
	}
	have_left = have_hosts_left(service);
	if ((is_drained(service) && have_left) || now_ms >= service->stop_calls_ms + FLUSH_MS)
		loop_stop(service->loop);
	else
		loop_timer_arm(&service->drain, DRAIN_STEP_MS);
}

static void terminate(void *data, int signal)
{
	struct service *service = data;

	if (service->is_stopping) {
		loop_stop(service->loop);
		return;
	}
	log_info("Stopping (%s): %u calls are in flight", strsignal(signal), service->n_in_flight);
	notify_stopping();
	service->is_stopping = true;
	service->stop_calls_ms = clock_now_ms() + service->config.drain_ms;
	drain(service);
}

/* The loop turns: sockets, hosts and timers were served. */
static void tell_alive(void *data)
{
	struct service *service = data;

	notify_alive();
	loop_timer_arm(&service->alive, notify_alive_interval_ms());
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

static int open_bus(struct service *service, bool is_bus)
{
	static const struct bus_handler handler = {
		.wants = wants,
		.frame = take_frame,
		.up = came_up,
		.down = went_down,
	};
	const struct config *config = &service->config;
	struct bus_limits limits = bus_limits_default;

	limits.frame_bytes = config->limits.frame_bytes;
	limits.output_queue_bytes = config->limits.output_queue_bytes;
	if (!is_bus)
		return bus_connect(
			service->loop, &config->bus, &limits, &handler, service, &service->bus);
	return bus_embed(service->loop, &config->bus,
		(const char *const *)config->embedded_origins.items,
		config->embedded_origins.n_items, &limits, &handler, service, &service->bus);
}

static int take_signals(struct service *service)
{
	int r = loop_add_signal(service->loop, SIGHUP, hang_up, service);

	if (r == 0)
		r = loop_add_signal(service->loop, SIGTERM, terminate, service);
	if (r == 0)
		r = loop_add_signal(service->loop, SIGINT, terminate, service);
	return r;
}

int service_new(struct loop *loop, const struct service_options *options, struct config *config,
	struct service **ret_service)
{
	cleanup(service_cleanup) struct service *service = calloc(1, sizeof(*service));
	int r;

	if (!service)
		return -ENOMEM;
	service->loop = loop;
	service->flags = options->flags;
	service->paths = *options->paths;
	service->started_ms = clock_now_ms();
	service->reloads.burst = RELOADS_LOGGED;
	service->problems.burst = PROBLEMS_LOGGED;
	service->serve_deferred = answer_all_deferred;
	service->catalogue = catalogue_new(NULL, 0, NULL, NULL, 0);
	service->context = schema_context_new();
	service->scratch = regex_scratch_new();
	if (!service->catalogue || !service->context || !service->scratch)
		return -ENOMEM;
	schema_context_limit_patterns(service->context, config->limits.pattern_steps);
	regex_scratch_limit(service->scratch, config->limits.pattern_steps);
	service->config = *config;
	*config = (struct config){0};
	r = loop_timer_init(&service->drain, loop, drain, service);
	if (r == 0)
		r = loop_timer_init(&service->alive, loop, tell_alive, service);
	if (r == 0)
		r = take_signals(service);
	if (r == 0)
		r = open_bus(service, options->is_bus);
	if (r < 0)
		return r;
	r = watcher_new(loop, registration_changed, service, &service->watcher);
	if (r < 0)
		log_warning("Changes in the toolbox folders are not seen by themselves: %s",
			strerror(-r));
	if (notify_alive_interval_ms() > 0)
		loop_timer_arm(&service->alive, notify_alive_interval_ms());
	reload_begin(service);
	*ret_service = take_ptr(service);
	return 0;
}

void service_free(struct service *service)
{
	if (!service)
		return;
	reload_end(service);
	invocation_free_all(service);
	while (service->deferred) {
		struct deferred *next = service->deferred->next;

		free(service->deferred);
		service->deferred = next;
	}
	proxy_deinit(&service->proxy);
	bus_free(service->bus);
	watcher_free(service->watcher);
	loop_timer_deinit(&service->drain);
	loop_timer_deinit(&service->alive);
	bus_envelope_deinit(&service->envelope);
	request_deinit(&service->request);
	arguments_deinit(&service->arguments);
	schema_context_free(service->context);
	regex_scratch_free(service->scratch);
	config_deinit(&service->config);
	free(service);
}
