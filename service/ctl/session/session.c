/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "ctl/request.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"

/* A session from its begin to its end: over the bus, or over HTTP. */

/* The wait for the response of a call that was cancelled. */
#define CANCEL_MS 2000

/* The wait for the response to a reload of a live service. */
#define RELOAD_MS 60000

_Static_assert(RELOAD_MS == 60000, "as the help of --timeout has it");

/* The service whom requests are for. */
static const struct ctl_service toolboxd = {
	.kind = "tool service",
	.program = "toolboxd",
	.alive = "mycroft.toolboxd.is_alive",
	.alive_response = "mycroft.toolboxd.is_alive.response",
};

static int make_session_key(char ret_key[SESSION_KEY_BYTES])
{
	uint64_t chance;

	if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -EIO;
	snprintf(ret_key, SESSION_KEY_BYTES, "%016" PRIx64, chance);
	return 0;
}

/* Make a session without an address. Return 0, or an enum ctl_status after a complaint. */
static int make_session(const struct ctl_options *options, struct ctl_session **ret_session)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = calloc(1, sizeof(*session));
	int r;

	if (!session) {
		terminal_complain("%s", strerror(ENOMEM));
		return CTL_NO_BUS;
	}
	session->clock.timeout_ms = options->timeout_ms;
	session->service = &toolboxd;
	r = make_session_key(session->bus.key);
	if (r == 0)
		r = loop_new(&session->loop);
	if (r == 0)
		r = loop_timer_init(
			&session->bus.asking, session->loop, session_ask_again, session);
	if (r < 0) {
		terminal_complain("cannot connect: %s", strerror(-r));
		return CTL_NO_BUS;
	}
	*ret_session = take_ptr(session);
	return 0;
}

int ctl_session_open_at(const struct ctl_options *options, const struct bus_address *address,
	struct ctl_session **ret_session)
{
	int r = make_session(options, ret_session);

	if (r == 0)
		(*ret_session)->bus.address = *address;
	return r;
}

static int open_bus(const struct ctl_options *options, struct ctl_session **ret_session)
{
	const char *variable = getenv("TOOLBOXD_BUS");
	struct bus_address address;
	int r = session_find_bus(options, &address);

	r = r ? r : ctl_session_open_at(options, &address, ret_session);
	if (r == 0)
		(*ret_session)->bus.is_address_given = options->bus || (variable && *variable);
	return r;
}

static int open_http(const struct ctl_options *options, const char *name, const char *url,
	struct ctl_session **ret_session)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct http_address address;
	int r = http_address_read(name, url, options->token_file, &address);

	if (r == 0)
		r = make_session(options, &session);
	if (r == 0)
		r = http_client_new(session->loop, &address, &session->http.client);
	explicit_bzero(address.token, sizeof(address.token));
	if (r == 0)
		*ret_session = take_ptr(session);
	return r;
}

int ctl_session_open(const struct ctl_options *options, struct ctl_session **ret_session)
{
	const char *variable = getenv("TOOLBOXD_HTTP");

	if (options->bus && options->http)
		terminal_complain("--bus and --http name two services");
	else if (options->http)
		return open_http(options, "--http", options->http, ret_session);
	else if (!options->bus && variable && *variable)
		return open_http(options, "TOOLBOXD_HTTP", variable, ret_session);
	else if (options->token_file)
		terminal_complain("--token-file goes with --http or TOOLBOXD_HTTP");
	else
		return open_bus(options, ret_session);
	return CTL_USAGE;
}

void ctl_session_set_service(struct ctl_session *session, const struct ctl_service *service)
{
	session->service = service ? service : &toolboxd;
	session->request.is_alive = false;
}

bool ctl_session_is_http(const struct ctl_session *session)
{
	return session->http.client != NULL;
}

void ctl_session_close(struct ctl_session *session)
{
	if (!session)
		return;
	loop_source_free(session->reading.source);
	http_transfer_free(session->http.transfer);
	http_transfer_free(session->http.stream);
	http_client_free(session->http.client);
	bus_free(session->bus.connection);
	loop_timer_deinit(&session->bus.asking);
	loop_free(session->loop);
	bus_envelope_deinit(&session->bus.envelope);
	buffer_deinit(&session->bus.trace);
	free(session);
}

int ctl_session_ask(struct ctl_session *session, const char *topic, const struct buffer *data,
	struct ctl_response *ret_response)
{
	if (!session->http.client && session->stays && !bus_is_up(session->bus.connection))
		return CTL_NO_BUS;
	session->request.topic = topic;
	session->request.data = data;
	session->request.response = ret_response;
	session->request.is_answered = session->request.is_passed = session->request.is_late =
		false;
	snprintf(session->request.alone, sizeof(session->request.alone), "alone-%u",
		session->request.n_requests++);
	return session->http.client ? session_ask_over_http(session)
				    : session_ask_over_bus(session);
}

int ctl_session_ask_once(const struct ctl_options *options, const char *topic,
	const struct buffer *data, struct ctl_response *ret_response)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	int r = ctl_session_open(options, &session);

	return r ? r : ctl_session_ask(session, topic, data, ret_response);
}

int ctl_session_ask_reload(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response)
{
	if (!options->has_timeout)
		ctl_session_set_patience(session, RELOAD_MS);
	return ctl_session_ask(session, "ovos.tools.reload", NULL, ret_response);
}

uint64_t ctl_session_cancel(struct ctl_session *session, const char *call_id)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (session->http.client || !session->request.is_passed)
		return 0;
	ctl_request_member(&data, "call_id", call_id);
	ctl_session_send(session, "ovos.tools.cancel", &data);
	return CANCEL_MS;
}

void ctl_session_listen(struct ctl_session *session, const char *const *topics, size_t n_topics,
	ctl_event_function function, void *data)
{
	session->events.topics = topics;
	session->events.n_topics = n_topics;
	session->events.on_event = function;
	session->events.data = data;
}

void ctl_session_stay(struct ctl_session *session)
{
	session->stays = true;
}

static void on_readable(void *data, uint32_t events)
{
	struct ctl_session *session = data;
	struct loop_source *source = session->reading.source;

	(void)events;
	if (session->reading.on_readable(session->reading.data))
		return;
	if (session->reading.source == source)
		session->reading.source = NULL;
	loop_source_free(source);
}

int ctl_session_read(struct ctl_session *session, int fd, bool (*function)(void *data), void *data)
{
	int r;

	session->reading.on_readable = function;
	session->reading.data = data;
	r = loop_add_fd(session->loop, fd, EPOLLIN, on_readable, session, &session->reading.source);
	if (r == 0 || r == -EPERM)
		return r;
	terminal_complain("stdin cannot be read: %s", strerror(-r));
	return CTL_USAGE;
}

void ctl_session_watch_readers(
	struct ctl_session *session, int fd, bool (*function)(void *data), void *data)
{
	session->reading.on_readable = function;
	session->reading.data = data;
	/* epoll reports errors and hang-ups without being asked. */
	if (loop_add_fd(session->loop, fd, 0, on_readable, session, &session->reading.source) < 0)
		session->reading.source = NULL;
}
