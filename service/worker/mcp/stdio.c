/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The driver of toolbox-mcp-host: a server over stdio.
 *
 *   LOAD ─▶ start the server, find its era, list its tools ─▶ LOADED, with the list if asked for
 *   INVOKE ─▶ tools/call ─▶ its response
 *               └─ meanwhile: other calls, the server's pings, changes of its list, its end
 *
 * Callers see the list of an earlier session. So a tool is only called when the server still
 * describes it as it did then (mcp/client/pin.h). When the server ends, this host ends in the same
 * way, and the daemon treats it as the crash of any host.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/client/client.h"
#include "util/clock.h"
#include "util/process/ending.h"
#include "worker/driver.h"
#include "worker/mcp/server.h"
#include "worker/mcp/session.h"

_Static_assert(SERVER_LINE_BYTES >> 20 == 64, "as the fault has it, and a note of the session");

/* The exit status when the server was stopped for its faults. */
#define EXIT_OF_FAULT 1

struct stdio {
	struct mcp_session session;
	struct mcp_server server;
	bool has_begun_again; /* with another process, since the first one has ended */
};

/* ── the work ────────────────────────────────────────────────────────────────────────────────── */

static int carry(struct mcp_session *session, const struct mcp_action *action)
{
	struct stdio *stdio = (struct stdio *)session;

	if (action->kind == MCP_ACT_SEND)
		mcp_server_send(&stdio->server, action->text.text, action->text.size);
	return 0;
}

/* Pass all lines of the server to the client. */
static int take_lines(struct stdio *stdio)
{
	const char *line;
	size_t size;
	int r = 0;

	while (r == 0 && mcp_server_take_line(&stdio->server, &line, &size)) {
		if (size > 0 && line[size - 1] == '\r')
			size--;
		if (size > 0)
			r = mcp_session_take(&stdio->session, 0, line, size);
	}
	if (r || !mcp_server_has_long_line(&stdio->server, &line, &size))
		return r;
	r = mcp_session_take_large(&stdio->session, line, size);
	if (r == -EMSGSIZE)
		stdio->server.fault = "it has sent a line of more than 64 MiB";
	else
		mcp_server_skip_line(&stdio->server);
	return r == -EMSGSIZE ? 0 : r;
}

static int pump(struct mcp_session *session, int wire, uint64_t due_ms)
{
	struct stdio *stdio = (struct stdio *)session;
	struct pollfd sources[SERVER_SOURCES + 1];
	bool is_running;
	int r;

	memcpy(sources, stdio->server.sources, sizeof(stdio->server.sources));
	sources[SERVER_SOURCES] = (struct pollfd){.fd = wire, .events = POLLIN};
	r = poll(sources, SERVER_SOURCES + 1, mcp_session_timeout(session, due_ms));
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < SERVER_SOURCES; i++)
		stdio->server.sources[i].revents = sources[i].revents;
	is_running = mcp_server_attend(&stdio->server);
	r = take_lines(stdio);
	r = r ? r : mcp_session_tick(session);
	if (r)
		return r;
	return is_running ? sources[SERVER_SOURCES].revents != 0 : -EPIPE;
}

static bool has_room(const struct mcp_session *session, size_t size)
{
	return mcp_server_has_room(&((const struct stdio *)session)->server, size);
}

static const struct mcp_transport transport = {.carry = carry, .pump = pump, .has_room = has_room};

/* End this process as the server has ended. It is the crash of this host, with its calls lost. */
__attribute__((noreturn)) static void end_like_server(struct stdio *stdio)
{
	const char *fault = stdio->server.fault;
	siginfo_t end;

	if (stdio->session.failure.size > 0)
		fault = buffer_terminate(&stdio->session.failure);
	if (fault)
		fprintf(stderr, "the server is stopped: %s\n", fault);
	mcp_server_end(&stdio->server, false, &end);
	if (fault)
		end = (siginfo_t){.si_code = CLD_EXITED, .si_status = EXIT_OF_FAULT};
	ending_end_like(&end);
}

/* ── starting ────────────────────────────────────────────────────────────────────────────────── */

static int refuse_start(const struct driver_load *load, int error, const struct stdio *stdio,
	struct diagnostics *problems)
{
	const char *program = stdio->session.configuration.command.arguments.items[0];
	bool has_words = error == -ENOENT && strchr(program, ' ');

	return driver_refuse(problems, load->tape, json_find(load->tape, 0, "mcp"),
		"the server '%s' cannot be started: %s%s", program, strerrordesc_np(-error),
		has_words ? " (write each word of a command separately)" : "");
}

/* Refuse a server that has ended, or has to. */
static int refuse_ended(
	const struct driver_load *load, struct stdio *stdio, struct diagnostics *problems)
{
	uint32_t token = json_find(load->tape, 0, "mcp");
	const char *fault = stdio->server.fault;
	siginfo_t end;

	mcp_server_end(&stdio->server, false, &end);
	if (fault)
		return driver_refuse(
			problems, load->tape, token, "the server is stopped: %s", fault);
	if (end.si_code == CLD_EXITED)
		return driver_refuse(problems, load->tape, token,
			"the server has exited with status %d before it has listed its tools",
			end.si_status);
	return driver_refuse(problems, load->tape, token,
		"the server was ended by signal %d before it has listed its tools", end.si_status);
}

/* Return whether another process of the ended server may serve: servers exit on requests that they
 * do not know. A server that has ended without reading the request would end again. */
static bool may_begin_again(const struct stdio *stdio)
{
	const struct mcp_client *client = stdio->session.client;
	bool is_known =
		stdio->session.configuration.is_described && stdio->session.configuration.is_legacy;

	if (stdio->server.fault || stdio->has_begun_again || is_known)
		return false;
	return mcp_client_has_doubted(client) ||
	       (mcp_client_is_probing(client) && mcp_server_has_read(&stdio->server));
}

/* Begin again with the request of the other era; after initialize with server/discover alone. 0,
 * DRIVER_E_REFUSED, or a negative errno. */
static int begin_again(
	const struct driver_load *load, struct stdio *stdio, struct diagnostics *problems)
{
	struct mcp_session *session = &stdio->session;
	siginfo_t end;
	int r;

	if (!may_begin_again(stdio))
		return refuse_ended(load, stdio, problems);
	mcp_server_end(&stdio->server, false, &end);
	stdio->has_begun_again = true;
	session->ends_on_initialize =
		session->configuration.is_legacy || mcp_client_has_doubted(session->client);
	session->configuration.is_legacy = !session->ends_on_initialize;
	r = mcp_server_start(&stdio->server);
	return r ? refuse_start(load, r, stdio, problems) : mcp_session_begin(session);
}

/* Work until the tools are listed. 0, DRIVER_E_REFUSED, or a negative errno. */
static int await_list(
	const struct driver_load *load, struct stdio *stdio, struct diagnostics *problems)
{
	struct mcp_session *session = &stdio->session;
	uint32_t token = json_find(load->tape, 0, "mcp");
	uint64_t start_ms = session->configuration.start_ms;
	uint64_t due_ms = clock_now_ms() + start_ms;
	int r = 0;

	while (r == 0 && !session->has_list) {
		if (mcp_session_has_failed(session) && buffer_terminate(&session->failure))
			return driver_refuse(problems, load->tape, token,
				"the server cannot be used: %s", session->failure.data);
		if (clock_now_ms() >= due_ms)
			return driver_refuse(problems, load->tape, token,
				"the server has not listed its tools within %" PRIu64 " s",
				start_ms / 1000);
		r = pump(session, -1, due_ms);
		if (r == -EPIPE && !mcp_session_has_failed(session) && !session->has_list)
			r = begin_again(load, stdio, problems);
		else if (r == -EPIPE)
			r = 0;
	}
	return r;
}

static void free_stdio(void *data)
{
	struct stdio *stdio = data;

	if (!stdio)
		return;
	mcp_server_deinit(&stdio->server);
	mcp_session_deinit(&stdio->session);
	free(stdio);
}

static int load_stdio(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct stdio *stdio = calloc(1, sizeof(*stdio));
	int r;

	if (!stdio)
		return -ENOMEM;
	mcp_server_init(&stdio->server, &stdio->session.configuration);
	r = mcp_session_init(&stdio->session, &transport, load, problems);
	if (r == 0) {
		r = mcp_server_start(&stdio->server);
		r = r ? refuse_start(load, r, stdio, problems) : mcp_session_begin(&stdio->session);
	}
	r = r ? r : await_list(load, stdio, problems);
	if (r)
		free_stdio(stdio);
	else
		*ret_driver = stdio;
	return r;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* The end of a session is noticed by attend(), as the end of a server. */
static int begin(void *data, const struct driver_call *call)
{
	struct stdio *stdio = data;

	return mcp_session_invoke(&stdio->session, call);
}

static int cancel(void *data, uint64_t id, bool is_late)
{
	struct stdio *stdio = data;

	return mcp_session_cancel(&stdio->session, id, is_late);
}

static int attend(void *data, int wire)
{
	struct stdio *stdio = data;
	int r = 0;

	while (r == 0 && !mcp_session_has_failed(&stdio->session)) {
		r = mcp_session_report(&stdio->session);
		r = r ? r : pump(&stdio->session, wire, UINT64_MAX);
	}
	if (r == -EPIPE || mcp_session_has_failed(&stdio->session))
		end_like_server(stdio);
	return r < 0 ? r : 0;
}

const struct driver mcp_stdio_driver = {
	.kind = "mcp",
	.load = load_stdio,
	.describe = mcp_session_describe,
	.begin = begin,
	.cancel = cancel,
	.attend = attend,
	.free = free_stdio,
};
