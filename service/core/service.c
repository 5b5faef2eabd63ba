/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "util/process/notify.h"
#include "core/job/job_queries.h"
#include "core/job/jobs.h"
#include "core/state.h"
#include "core/request/topics.h"
#include "host/host.h"
#include "util/array.h"
#include "util/clock.h"

/*
 * The service joins its parts: frames of the bus go to topics, what runners report to calls, the
 * proxy or the offer, and signals to reloads or the end.
 */

/* The time, after the calls have had theirs, for sending what is queued and for toolboxes to
 * end. */
#define FLUSH_MS HOST_DISMISS_MS

/* The time between two looks at whether everything is done. */
#define DRAIN_STEP_MS 5

/* The least time that calls in flight have to finish before a restart. */
#define RESTART_DRAIN_MS 60000

/* The time that one notify_extend() asks for. */
#define EXTENSION_MS 60000

/* ── the bus ─────────────────────────────────────────────────────────────────────────────────── */

static void on_bus_up(void *data)
{
	struct service *service = data;
	char url[BUS_URL_BYTES];

	bus_address_format(bus_address(service->bus), url);
	log_info("On the bus at %s", url);
	other_services_begin(&service->rivals);
	bus_calls_begin(&service->bus_calls);
	listening_begin(&service->listening);
}

static void lose_bus(void *data, const char *reason)
{
	struct service *service = data;

	bus_calls_lose(&service->bus_calls);
	log_warning("The bus is away: %s", reason);
}

static void forget_peer(void *data, const struct account *account)
{
	struct service *service = data;

	approval_withdraw(&service->approval, account);
	waiting_forget_peer(&service->waiting, account);
	guests_forget_peer(&service->guests, account);
}

/* ── runners ─────────────────────────────────────────────────────────────────────────────────── */

static void take_bus_message(void *data, struct runner *runner, struct host *host,
	const struct json_tape *object, const char *text, size_t size)
{
	struct service *service = data;

	proxy_on_bus_message(&service->proxy, service->bus, host, runner_package(runner)->id,
		object, text, size);
}

/* The server of @runner lists other tools (struct runner_handler). */
static void list_again(void *data, struct runner *runner)
{
	struct service *service = data;

	atomic_store(&runner_package(runner)->mcp.is_stale, true);
	reload_list_again(&service->reload);
}

static void forget_host(void *data, const struct host *host)
{
	struct service *service = data;

	proxy_forget(&service->proxy, host);
}

static void drop_drained(void *data, struct runner *runner)
{
	struct service *service = data;

	offer_drop_retired(&service->offer, runner);
}

/* ── signals ─────────────────────────────────────────────────────────────────────────────────── */

static void hang_up(void *data, int signal)
{
	struct service *service = data;

	(void)signal;
	audit_reopen(service->recorder.audit);
	reload_ask_again(&service->reload);
}

/* Return whether all requests have been answered, and nothing is left to send. */
static bool is_drained(const struct service *service)
{
	return service->calls.n_in_flight + service->reload_requests.n + service->waiting.n +
			       service->batches.n ==
		       0 &&
	       jobs_are_kept(&service->jobs) && bus_queued_bytes(service->bus) == 0 &&
	       bus_calls_are_settled(&service->bus_calls) &&
	       (!service->door || service->door->operations->is_drained(service->door));
}

/* Stop the loop once everything is answered and sent, and toolboxes have ended; or when the time
 * for that is over. */
static void drain_service(void *data)
{
	struct service *service = data;
	uint64_t now_ms = clock_now_ms();
	bool have_left;

	if (now_ms >= service->stop_calls_ms) {
		offer_end_calls(&service->offer, "the service is stopping");
		reload_requests_give_up(&service->reload_requests);
		waiting_serve_all(&service->waiting, -ECANCELED);
	}
	have_left = offer_rest(&service->offer);
	if ((is_drained(service) && have_left) || now_ms >= service->stop_calls_ms + FLUSH_MS)
		loop_stop(service->loop);
	else
		loop_timer_arm(&service->stopping, DRAIN_STEP_MS);
}

/* Stop; calls in flight have @drain_ms to finish. */
static void stop_service(struct service *service, const char *reason, uint64_t drain_ms)
{
	log_info("Stopping (%s), calls in flight: %u", reason, service->calls.n_in_flight);
	notify_stopping();
	service->calls.is_stopping = true;
	listening_stop(&service->listening);
	if (service->door)
		service->door->operations->stop(service->door);
	jobs_answer_waits(&service->jobs, NULL);
	/* No one waits for a person then. */
	approval_stop(&service->approval);
	service->stop_calls_ms = clock_now_ms() + drain_ms;
	drain_service(service);
}

static void terminate_service(void *data, int signal)
{
	struct service *service = data;

	if (service->calls.is_stopping)
		loop_stop(service->loop);
	else
		stop_service(service, strsignal(signal), service->config.drain_ms);
}

/* Stop for a newer program. No call in flight is ended before its own deadline, within
 * RESTART_DRAIN_MS. */
static void make_way(void *data, int signal)
{
	struct service *service = data;
	uint64_t drain_ms = service->config.drain_ms;

	(void)signal;
	if (service->calls.is_stopping)
		return;
	if (drain_ms < RESTART_DRAIN_MS)
		drain_ms = RESTART_DRAIN_MS;
	notify_extend(drain_ms + FLUSH_MS + EXTENSION_MS);
	stop_service(service, "a restart", drain_ms);
}

/* The mended configuration concerns the bus: end this service as quickly as its answers leave. */
static void start_again(void *data)
{
	struct service *service = data;

	log_info("The configuration is mended; starting again");
	service->starts_again = true;
	service->calls.is_stopping = true;
	listening_stop(&service->listening);
	if (service->door)
		service->door->operations->stop(service->door);
	service->stop_calls_ms = clock_now_ms();
	drain_service(service);
}

/* A reload begins (struct reload_handler). */
static bool begin_reload(void *data)
{
	struct service *service = data;

	return reload_requests_begin(&service->reload_requests);
}

static void announce_tools(void *data, const struct buffer *members)
{
	struct service *service = data;

	reload_announce(&service->audience, members);
}

static void list_guests(void *data, struct guest_set *ret_set)
{
	struct service *service = data;

	guests_list(&service->guests, ret_set);
}

static void take_guests(void *data, const struct guest_set *set, bool is_taken, uint64_t spent_ms)
{
	struct service *service = data;

	guests_taken(&service->guests, set, is_taken, spent_ms);
}

static void answer_reload(void *data)
{
	struct service *service = data;

	reload_requests_finish(&service->reload_requests);
}

static void serve_first(void *data)
{
	struct service *service = data;

	conversations_follow(&service->conversations, service->offer.catalogue);
	waiting_serve_queue(&service->waiting, WAITING_CATALOGUE, 0);
}

static void serve_changed(void *data)
{
	struct service *service = data;

	conversations_follow(&service->conversations, service->offer.catalogue);
	waiting_serve_queue(&service->waiting, WAITING_CHANGE, 0);
	search_follow(&service->search);
}

static void follow_configuration(void *data)
{
	struct service *service = data;

	if (!service->config.closed)
		bus_set_token(service->bus, service->config.embedded_token);
	recorder_configure(&service->recorder);
	limits_configure(&service->limits);
	approval_configure(&service->approval);
	listening_configure(&service->listening);
	guests_configure(&service->guests);
	if (service->door)
		service->door->operations->configured(service->door);
	if (service->config.is_disabled && !service->config.closed && !service->calls.is_stopping)
		stop_service(service, "toolboxd.enabled is false", service->config.drain_ms);
}

/* Pass an announcement on to the door (struct audience). */
static void tell_door(void *data, const char *topic, const char *text, size_t size)
{
	struct service *service = data;

	service->door->operations->heard(service->door, topic, text, size);
}

void service_set_door(struct service *service, struct door *door)
{
	service->door = door;
	service->audience.heard = door ? tell_door : NULL;
	service->audience.data = service;
}

const struct bus_address *service_address(const struct service *service)
{
	return bus_address(service->bus);
}

bool service_starts_again(const struct service *service)
{
	return service->starts_again;
}

/* Keep systemd from ending a start that waits until the configuration is mended. */
static void extend_start(void *data)
{
	struct service *service = data;

	if (!service->config.closed)
		return;
	notify_extend(EXTENSION_MS);
	loop_timer_arm(&service->closed, EXTENSION_MS / 2);
}

/* The loop turns: sockets, hosts and timers were served. */
static void report_alive(void *data)
{
	struct service *service = data;

	notify_alive();
	loop_timer_arm(&service->alive, notify_alive_interval_ms());
}

/* Count a host that starts (struct runner_handler). */
static void count_start(void *data, struct runner *runner, enum runner_start reason)
{
	struct service *service = data;

	metrics_count_start(&service->metrics, runner_package(runner), reason);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

/* Make what reloads, and what frees packages. */
static int make_reload(struct service *service, const struct service_options *options)
{
	static const struct reload_handler handler = {
		.begun = begin_reload,
		.changed = announce_tools,
		.done = answer_reload,
		.ready = serve_first,
		.reloaded = serve_changed,
		.start_again = start_again,
		.configured = follow_configuration,
		.list_guests = list_guests,
		.take_guests = take_guests,
	};
	const struct reload_parts parts = {
		.loop = service->loop,
		.config = &service->config,
		.offer = &service->offer,
		.disposal = &service->disposal,
	};
	int r = reload_init(&service->reload, &parts, options->flags, &service->paths,
		options->mistakes, &handler, service);

	reload_requests_init(&service->reload_requests, &service->reload, &service->audience);
	return r == 0 ? disposal_init(&service->disposal, service->loop) : r;
}

static int make_offer(struct service *service)
{
	static const struct runner_handler handler = {
		.done = invocation_done,
		.progressed = invocation_progressed,
		.stale = list_again,
		.bus_message = take_bus_message,
		.host_gone = forget_host,
		.started = count_start,
		.drained = drop_drained,
	};
	int r = offer_init(
		&service->offer, service->loop, service->paths.host_program, &handler, service);

	service->offer.bin = &service->disposal.bin;
	r = r ? r : bus_calls_init(&service->bus_calls, service->loop, &service->config);
	service->offer.executors[KIND_BUS] = &service->bus_calls.executor;
	r = r ? r
	      : guests_init(&service->guests, service->loop, &service->config, &service->offer,
			&service->reload);
	service->offer.executors[KIND_GUEST] = &service->guests.calls.executor;
	return r;
}

/* Make the parts that a request needs until it is a call. */
static int make_requests(struct service *service)
{
	cleanup_free char *state = NULL;
	int r = request_scope_init(&service->scope, &service->config.limits);

	if (r == 0)
		r = paths_state(&state);
	if (r == 0)
		r = waiting_init(&service->waiting, service->loop, topics_serve_again, service);
	if (r == 0)
		r = offload_init(
			&service->offload, service->loop, &service->config, &service->waiting);
	search_init(&service->search, service->loop, &service->config, &service->offer,
		&service->waiting);
	if (r == 0)
		r = batches_init(&service->batches, service->loop, &service->invoker,
			topics_take_entry, service);
	if (r == 0)
		r = jobs_init(&service->jobs, service->loop, &service->invoker, state,
			topics_take_entry, service);
	service->waiting.reload = &service->reload;
	service->waiting.hold = &service->calls.hold;
	return r;
}

/* Make the records of calls: those in flight, and what is kept of them. */
static int make_records(struct service *service)
{
	int r = calls_init(&service->calls, service->loop);

	if (r == 0)
		r = history_init(&service->history);
	if (r == 0)
		r = metrics_init(&service->metrics);
	if (r == 0)
		r = recorder_init(&service->recorder, service->loop, &service->config);
	return r;
}

/* Make the parts that send messages of their own. */
static int make_senders(struct service *service)
{
	static const struct approval_handler handler = {
		.is_changed = invocation_is_changed,
		.decided = invocation_decided,
	};
	int r = approval_init(&service->approval, service->loop, &service->config,
		service->recorder.key, &handler, &service->invoker);

	service->approval.audience = &service->audience;
	service->events = (struct events){
		.audience = &service->audience,
		.config = &service->config,
		.context = service->scope.context,
	};
	return r == 0 ? other_services_init(&service->rivals, service->loop) : r;
}

static int make_timers(struct service *service)
{
	int r = loop_timer_init(&service->stopping, service->loop, drain_service, service);

	if (r == 0)
		r = loop_timer_init(&service->closed, service->loop, extend_start, service);
	if (r == 0)
		r = loop_timer_init(&service->alive, service->loop, report_alive, service);
	return r ? r : leftovers_init(&service->leftovers, service->loop);
}

/* Let calls know the parts on their way. */
static void join_invoker(struct service *service)
{
	service->invoker = (struct invoker){
		.config = &service->config,
		.offer = &service->offer,
		.calls = &service->calls,
		.approval = &service->approval,
		.events = &service->events,
		.recorder = &service->recorder,
		.waiting = &service->waiting,
		.offload = &service->offload,
		.history = &service->history,
		.metrics = &service->metrics,
		.outages = &service->reload.outages,
		.batches = &service->batches,
		.jobs = &service->jobs,
		.conversations = &service->conversations,
		.begin_job = jobs_begin,
		.context = service->scope.context,
	};
}

/* Make the parts for utterances. */
static int make_voice(struct service *service)
{
	conversations_init(&service->conversations);
	service->bus_calls.conversations = &service->conversations;
	service->matcher.config = &service->config;
	utterances_init(
		&service->utterances, service->loop, &service->config, topics_take_entry, service);
	service->listening = (struct listening){
		.config = &service->config,
		.offer = &service->offer,
		.invoker = &service->invoker,
		.scope = &service->scope,
		.matcher = &service->matcher,
		.utterances = &service->utterances,
		.stopping =
			{
				.scope = &service->scope,
				.invoker = &service->invoker,
				.utterances = &service->utterances,
				.bus_calls = &service->bus_calls,
			},
	};
	return 0;
}

/* Make the parts, each after the parts that it needs. The bus is still to come. */
static int make_parts(struct service *service, const struct service_options *options)
{
	static int (*const makers[])(struct service * service) = {
		make_offer, make_requests, make_records, make_senders, make_voice, make_timers};
	int r;

	limits_init(&service->limits, &service->config);
	r = make_reload(service, options);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(makers); i++)
		r = makers[i](service);
	join_invoker(service);
	return r;
}

/* Open the bus, and hand it to the parts that send. */
static int open_bus(struct service *service, bool is_bus)
{
	static const struct bus_handler handler = {
		.wants = topics_wants_frame,
		.frame = topics_take_frame,
		.up = on_bus_up,
		.down = lose_bus,
		.peer_gone = forget_peer,
	};
	const struct config *config = &service->config;
	struct bus_limits limits = bus_limits_default;
	struct bus_address address = config->bus;
	int r;

	service->limits.has_connections = is_bus;
	service->approval.has_connections = is_bus;
	service->guests.has_connections = is_bus;
	limits.frame_bytes = config->limits.frame_bytes;
	limits.output_queue_bytes = config->limits.output_queue_bytes;
	limits.peer_bytes = config->limits.peer_bytes;
	limits.stall_ms = config->embedded_stall_s * MS_PER_S;
	if (is_bus) {
		if (strcmp(config->embedded_token, BUS_TOKEN_UNKNOWN) == 0)
			log_error("No client can connect to the embedded bus until this is "
				  "mended: %s",
				config->closed);
		memcpy(address.token, config->embedded_token, sizeof(address.token));
		r = bus_embed(service->loop, &address,
			(const char *const *)config->embedded_origins.items,
			config->embedded_origins.n_items, &limits, &handler, service,
			&service->bus);
	} else {
		r = bus_connect(service->loop, &address, &limits, &handler, service, &service->bus);
	}
	service->audience.bus = service->invoker.bus = service->rivals.bus = service->bus;
	service->waiting.bus = service->bus_calls.bus = service->bus;
	service->bus_calls.is_own_bus = is_bus;
	service->matcher.bus = service->utterances.bus = service->listening.bus = service->bus;
	service->guests.bus = service->guests.calls.bus = service->bus;
	return r;
}

static int take_signals(struct service *service)
{
	int r = loop_add_signal(service->loop, SIGHUP, hang_up, service);

	if (r == 0)
		r = loop_add_signal(service->loop, SIGTERM, terminate_service, service);
	if (r == 0)
		r = loop_add_signal(service->loop, SIGINT, terminate_service, service);
	if (r == 0)
		r = loop_add_signal(service->loop, SIGUSR2, make_way, service);
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
	service->paths = *options->paths;
	service->started_ms = clock_now_ms();
	service->config = *config;
	*config = (struct config){0};
	r = make_parts(service, options);
	if (r == 0)
		r = take_signals(service);
	if (r == 0)
		r = open_bus(service, options->is_bus);
	if (r < 0)
		return r;
	if (notify_alive_interval_ms() > 0)
		loop_timer_arm(&service->alive, notify_alive_interval_ms());
	jobs_open(&service->jobs);
	reload_begin(&service->reload);
	extend_start(service);
	*ret_service = take_ptr(service);
	return 0;
}

void service_free(struct service *service)
{
	if (!service)
		return;
	reload_deinit(&service->reload);
	reload_requests_deinit(&service->reload_requests);
	offer_deinit(&service->offer);
	guests_deinit(&service->guests);
	approval_deinit(&service->approval);
	offload_deinit(&service->offload);
	search_deinit(&service->search);
	waiting_deinit(&service->waiting);
	history_deinit(&service->history);
	metrics_deinit(&service->metrics);
	calls_deinit(&service->calls);
	batches_deinit(&service->batches);
	utterances_deinit(&service->utterances);
	conversations_deinit(&service->conversations);
	jobs_deinit(&service->jobs);
	limits_deinit(&service->limits);
	recorder_deinit(&service->recorder);
	disposal_deinit(&service->disposal);
	proxy_deinit(&service->proxy);
	bus_calls_deinit(&service->bus_calls);
	other_services_deinit(&service->rivals);
	bus_free(service->bus);
	loop_timer_deinit(&service->stopping);
	loop_timer_deinit(&service->closed);
	loop_timer_deinit(&service->alive);
	leftovers_deinit(&service->leftovers);
	request_scope_deinit(&service->scope);
	config_deinit(&service->config);
	free(service);
}
