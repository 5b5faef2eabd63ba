/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Toolboxes of kind `mcp`: the session with a server, over stdio.
 *
 *   LOAD ─▶ start the server, find its era, list its tools ─▶ LOADED, with the list if that is what was asked for
 *   INVOKE ─▶ tools/call ─▶ its response      between calls: its pings, changes of its list, its end
 *
 * Callers see the list of an earlier session. So a tool is only called when the server still describes it as it
 * did then (mcp/client/pin.h). When the server ends, this host ends in the same way, and the daemon treats it as
 * the crash of any host.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "json/number.h"
#include "json/writer.h"
#include "mcp/client/client.h"
#include "mcp/client/pin.h"
#include "mcp/member.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/process/ending.h"
#include "util/text.h"
#include "wire/wire.h"
#include "worker/driver.h"
#include "worker/mcp/configuration.h"
#include "worker/mcp/server.h"

/* The time for the start, up to the list: less than the daemon gives (catalogue/kind.h), so that the reason
 * reaches it. */
#define START_MS 57000

/* The least time between two reports of the progress of a call. */
#define PROGRESS_MS 50

/* The longest text of progress that is passed on. */
#define PROGRESS_TEXT_BYTES 1024

/* Notes about a server that breaks rules; the later ones are not logged. */
#define NOTES_MAX 20

/* The exit status when the server was stopped for its faults. */
#define EXIT_OF_FAULT 1

enum call_state {
	CALL_NONE,
	CALL_RUNS,
	CALL_RESULT,
	CALL_FAILED,
};

struct mcp_session {
	struct mcp_configuration configuration;
	struct mcp_server server;
	struct mcp_client *client;
	int wire;
	bool was_legacy;       /* the server has decided for the legacy era */
	bool has_list;         /* the tools of this session are known */
	struct buffer list;    /* the array, if that is what was asked for */
	struct buffer reason;  /* why the list is not whole */
	struct buffer failure; /* why the session is over, or has no list */
	unsigned int n_notes;
	int error; /* a negative errno: the session cannot go on */

	enum call_state call;
	uint64_t call_id;
	struct buffer *out; /* its result is appended here */
	uint64_t progress_ms;
};

/* ── what the client asks for ────────────────────────────────────────────────────────────────── */

static void note(struct mcp_session *session, const char *reason)
{
	if (++session->n_notes <= NOTES_MAX)
		fprintf(stderr, "the server breaks a rule: %s\n", reason);
}

static void fail_session(struct mcp_session *session, const char *reason)
{
	buffer_reset(&session->failure);
	buffer_append_string(&session->failure, reason);
}

/* Note whether the element @object of a list is the tool that callers see. */
static int compare_element(
	struct mcp_session *session, const struct json_tape *tape, uint32_t object)
{
	uint32_t at = json_type_at(tape, object) == JSON_OBJECT
			      ? mcp_find_typed(tape, object, "name", JSON_STRING)
			      : JSON_NONE;
	unsigned char pin[MCP_PIN_BYTES];
	cleanup_free char *name = NULL;
	struct listed_tool *tool;
	char text[2 * MCP_PIN_BYTES + 1];

	if (at == JSON_NONE)
		return 0;
	name = json_string_dup(tape, at, NULL);
	if (!name)
		return -ENOMEM;
	tool = mcp_configuration_find(&session->configuration, name);
	if (!tool)
		return 0;
	if (mcp_pin(tape, object, pin) < 0)
		return -ENOMEM;
	text_write_hex(pin, sizeof(pin), text);
	tool->state = strcmp(text, tool->pin) == 0 ? LISTED_SAME : LISTED_CHANGED;
	return 0;
}

static int take_list(struct mcp_session *session, const struct mcp_action *action)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(
		&tape, action->text.text, action->text.size, JSON_DEPTH_DEFAULT, NULL);

	if (r)
		return r < 0 ? r : -EPROTO;
	for (uint32_t i = 0; i < session->configuration.n_tools; i++)
		session->configuration.tools[i].state = LISTED_GONE;
	for (uint32_t at = json_first(&tape, 0); r == 0 && at < json_end(&tape, 0);
		at = json_next(&tape, at))
		r = compare_element(session, &tape, at);
	session->has_list = true;
	if (r || session->configuration.is_described)
		return r;
	buffer_reset(&session->list);
	json_write_compact(&session->list, &tape, 0);
	buffer_reset(&session->reason);
	buffer_append_string(&session->reason, action->reason ? action->reason : "");
	r = buffer_status(&session->list);
	return r ? r : buffer_status(&session->reason);
}

static int transmit(int wire, const struct buffer *frame)
{
	for (size_t sent = 0; sent < frame->size;) {
		ssize_t n = send(wire, frame->data + sent, frame->size - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		sent += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int report_progress(struct mcp_session *session, const struct mcp_action *action)
{
	cleanup(buffer_deinit) struct buffer frame = {0};
	uint64_t now_ms = clock_now_ms();
	size_t text_size =
		action->text.size < PROGRESS_TEXT_BYTES ? action->text.size : PROGRESS_TEXT_BYTES;
	size_t start;

	if (session->call != CALL_RUNS ||
		(session->progress_ms && now_ms < session->progress_ms + PROGRESS_MS))
		return 0;
	session->progress_ms = now_ms;
	start = wire_begin(&frame);
	buffer_append_string(&frame, "{\"progress\":");
	if (action->progress >= 0)
		json_write_f64(&frame, action->progress);
	else
		buffer_append_string(&frame, "null");
	buffer_append_string(&frame, ",\"text\":");
	if (action->text.text)
		json_write_bytes_lossy(&frame, action->text.text, text_size);
	else
		buffer_append_string(&frame, "null");
	buffer_append_char(&frame, '}');
	wire_finish(&frame, start, WIRE_PROGRESS, session->call_id);
	return buffer_status(&frame) ? buffer_status(&frame) : transmit(session->wire, &frame);
}

static void end_call(struct mcp_session *session, enum call_state state, struct text_view text)
{
	if (session->call != CALL_RUNS)
		return;
	session->call = state;
	buffer_append(session->out, text.text, text.size);
}

/* Return 0 or a negative errno. */
static int act_on(struct mcp_session *session, const struct mcp_action *action)
{
	switch (action->kind) {
	case MCP_ACT_SEND:
		mcp_server_send(&session->server, action->text.text, action->text.size);
		break;
	case MCP_ACT_READY:
		session->was_legacy = action->era == MCP_LEGACY && action->is_verdict;
		break;
	case MCP_ACT_TOOLS:
		return take_list(session, action);
	case MCP_ACT_PROGRESS:
		return report_progress(session, action);
	case MCP_ACT_RESULT:
		end_call(session, CALL_RESULT, action->text);
		break;
	case MCP_ACT_FAILED:
		end_call(session, CALL_FAILED, action->text);
		break;
	case MCP_ACT_NOTE:
		note(session, action->reason);
		break;
	case MCP_ACT_NO_TOOLS:
		if (!session->has_list)
			fail_session(session, action->reason);
		break;
	case MCP_ACT_OVER:
		fail_session(session, action->reason);
		break;
	case MCP_ACT_LOST: /* the end of the session follows */
	case MCP_ACT_CLOSE:
		break;
	}
	return 0;
}

static void act(void *data, const struct mcp_action *action)
{
	struct mcp_session *session = data;
	int r = act_on(session, action);

	if (session->error == 0)
		session->error = r;
}

/* ── the work ────────────────────────────────────────────────────────────────────────────────── */

static int timeout_until(uint64_t due_ms)
{
	uint64_t now_ms = clock_now_ms();

	if (due_ms == UINT64_MAX)
		return -1;
	if (due_ms <= now_ms)
		return 0;
	return due_ms - now_ms < INT32_MAX ? (int)(due_ms - now_ms) : INT32_MAX;
}

/* Pass all lines of the server to the client. */
static int take_lines(struct mcp_session *session)
{
	const char *line;
	size_t size;
	int r = 0;

	while (r == 0 && mcp_server_take_line(&session->server, &line, &size)) {
		if (size > 0 && line[size - 1] == '\r')
			size--;
		if (size > 0)
			r = mcp_client_take(session->client, line, size, clock_now_ms());
	}
	return r ? r : session->error;
}

/* Wait for the server until @due_ms, or until something can be read on @wire (-1: none), and act on it. Return 0,
 * 1 for the wire, or a negative errno: -EPIPE when the server has ended or is to be. */
static int pump(struct mcp_session *session, int wire, uint64_t due_ms)
{
	struct pollfd sources[SERVER_SOURCES + 1];
	uint64_t client_ms = mcp_client_due_ms(session->client);
	bool is_running;
	int r;

	memcpy(sources, session->server.sources, sizeof(session->server.sources));
	sources[SERVER_SOURCES] = (struct pollfd){.fd = wire, .events = POLLIN};
	r = poll(sources, SERVER_SOURCES + 1,
		timeout_until(client_ms < due_ms ? client_ms : due_ms));
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < SERVER_SOURCES; i++)
		session->server.sources[i].revents = sources[i].revents;
	is_running = mcp_server_attend(&session->server);
	r = take_lines(session);
	if (r == 0)
		r = mcp_client_tick(session->client, clock_now_ms());
	r = r ? r : session->error;
	if (r)
		return r;
	return is_running ? sources[SERVER_SOURCES].revents != 0 : -EPIPE;
}

/* End this process as the server has ended. It is the crash of this host, whose calls are lost. */
__attribute__((noreturn)) static void end_like_server(struct mcp_session *session)
{
	const char *fault = session->server.fault;
	siginfo_t end;

	if (session->failure.size > 0)
		fault = buffer_terminate(&session->failure);
	if (fault)
		fprintf(stderr, "the server is stopped: %s\n", fault);
	mcp_server_end(&session->server, false, &end);
	if (fault)
		end = (siginfo_t){.si_code = CLD_EXITED, .si_status = EXIT_OF_FAULT};
	ending_end_like(&end);
}

/* ── starting ────────────────────────────────────────────────────────────────────────────────── */

static int begin_session(struct mcp_session *session)
{
	struct mcp_client_options options = {
		.act = act,
		.data = session,
		.version = TOOLBOXD_VERSION,
		.workers = 1,
		.start_ms = START_MS,
		.is_legacy = session->configuration.is_legacy,
	};

	mcp_client_free(session->client);
	session->client = mcp_client_new(&options);
	if (!session->client)
		return -ENOMEM;
	return mcp_client_tick(session->client, clock_now_ms());
}

static int refuse_start(const struct driver_load *load, int error,
	const struct mcp_session *session, struct diagnostics *problems)
{
	return driver_refuse(problems, load->tape, json_find(load->tape, 0, "mcp"),
		"the server '%s' cannot be started: %s",
		session->configuration.command.arguments.items[0], strerrordesc_np(-error));
}

/* Refuse a server that has ended, or is to be. */
static int refuse_ended(
	const struct driver_load *load, struct mcp_session *session, struct diagnostics *problems)
{
	uint32_t token = json_find(load->tape, 0, "mcp");
	const char *fault = session->server.fault;
	siginfo_t end;

	mcp_server_end(&session->server, false, &end);
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

/* Work until the tools are listed. 0, DRIVER_E_REFUSED, or a negative errno. */
static int await_list(
	const struct driver_load *load, struct mcp_session *session, struct diagnostics *problems)
{
	uint32_t token = json_find(load->tape, 0, "mcp");
	uint64_t due_ms = clock_now_ms() + START_MS;
	int r;

	while (!session->has_list) {
		if (session->failure.size > 0 && buffer_terminate(&session->failure))
			return driver_refuse(problems, load->tape, token,
				"the server cannot be used: %s", session->failure.data);
		if (clock_now_ms() >= due_ms)
			return driver_refuse(problems, load->tape, token,
				"the server has not listed its tools within %d s", START_MS / 1000);
		r = pump(session, -1, due_ms);
		if (r == -EPIPE && session->failure.size == 0 && !session->has_list) {
			siginfo_t end;

			/* Some servers of the legacy era exit on what they do not know. */
			if (session->server.fault || session->configuration.is_legacy ||
				!mcp_client_is_probing(session->client))
				return refuse_ended(load, session, problems);
			mcp_server_end(&session->server, false, &end);
			session->configuration.is_legacy = true;
			r = mcp_server_start(&session->server);
			if (r)
				return refuse_start(load, r, session, problems);
			r = begin_session(session);
		}
		if (r < 0 && r != -EPIPE)
			return r;
	}
	return 0;
}

static void free_session(void *data)
{
	struct mcp_session *session = data;

	if (!session)
		return;
	mcp_client_free(session->client);
	mcp_server_deinit(&session->server);
	mcp_configuration_deinit(&session->configuration);
	buffer_deinit(&session->list);
	buffer_deinit(&session->reason);
	buffer_deinit(&session->failure);
	free(session);
}

static int load_session(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct mcp_session *session = calloc(1, sizeof(*session));
	int r;

	if (!session)
		return -ENOMEM;
	session->wire = load->wire;
	mcp_server_init(&session->server, &session->configuration);
	r = mcp_configuration_read(load, &session->configuration, problems);
	if (r == 0) {
		r = mcp_server_start(&session->server);
		r = r ? refuse_start(load, r, session, problems) : begin_session(session);
	}
	r = r ? r : await_list(load, session, problems);
	if (r)
		free_session(session);
	else
		*ret_driver = session;
	return r;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

static void describe_list(const void *data, struct buffer *out)
{
	const struct mcp_session *session = data;

	if (session->configuration.is_described)
		return;
	buffer_append_string(out, ",\"list\":");
	buffer_append_buffer(out, &session->list);
	if (session->was_legacy || session->configuration.is_legacy)
		buffer_append_string(out, ",\"legacy\":true");
	if (session->reason.size > 0) {
		buffer_append_char(out, ',');
		json_write_key(out, "reason");
		json_write_bytes_lossy(out, session->reason.data, session->reason.size);
	}
}

/* Refuse a call of @tool, which callers see as it is not any more. */
static int refuse_call(const struct listed_tool *tool, struct buffer *out)
{
	buffer_append_string(
		out, tool->state == LISTED_GONE
			     ? "the server does not list this tool any more"
			     : "the server has changed this tool since it was described");
	buffer_append_string(out, "; a reload reads its list again");
	return buffer_status(out) ? buffer_status(out) : DRIVER_E_FAILED;
}

static int invoke(void *data, const struct driver_call *call, struct buffer *out)
{
	struct mcp_session *session = data;
	const struct listed_tool *tool;
	int r;

	if (call->tool >= session->configuration.n_tools)
		return -EINVAL;
	tool = &session->configuration.tools[call->tool];
	if (tool->state != LISTED_SAME)
		return refuse_call(tool, out);
	session->call = CALL_RUNS;
	session->call_id = call->id;
	session->out = out;
	session->progress_ms = 0;
	r = mcp_client_call(session->client, call->id, TEXT_VIEW(tool->name),
		(struct text_view){call->arguments, call->size});
	if (r == MCP_E_UNREADY)
		end_like_server(session);
	if (r > 0)
		r = -EBUSY;
	while (r >= 0 && session->call == CALL_RUNS && session->failure.size == 0)
		r = pump(session, -1, UINT64_MAX);
	if (session->call == CALL_RUNS && (r == -EPIPE || session->failure.size > 0))
		end_like_server(session);
	if (r < 0 && r != -EPIPE)
		return r;
	r = session->call == CALL_RESULT ? 0 : DRIVER_E_FAILED;
	session->call = CALL_NONE;
	session->out = NULL;
	return buffer_status(out) ? buffer_status(out) : r;
}

static int attend_server(void *data, int wire)
{
	struct mcp_session *session = data;
	int r = 0;

	while (r == 0 && session->failure.size == 0)
		r = pump(session, wire, UINT64_MAX);
	if (r == -EPIPE || session->failure.size > 0)
		end_like_server(session);
	return r < 0 ? r : 0;
}

const struct driver mcp_session_driver = {
	.kind = "mcp",
	.load = load_session,
	.describe = describe_list,
	.invoke = invoke,
	.attend = attend_server,
	.free = free_session,
};
