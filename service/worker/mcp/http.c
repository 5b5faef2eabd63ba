/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The driver of toolbox-mcp-http-host: a server over HTTP (Streamable HTTP), by libcurl.
 *
 * A lost session is begun again by the next call, and by a call whose request has found the session
 * forgotten. Received messages are queued until libcurl has returned, since they make the client
 * send others.
 *
 * A server of the legacy era may end the events of a call early; with an id among them they go on,
 * after the wait asked for by the server, as the answer to a GET.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "worker/driver.h"
#include "worker/mcp/http.h"

/* Open connections without a request. */
#define IDLE_CONNECTIONS 4L

static int carry(struct mcp_session *session, const struct mcp_action *action)
{
	struct http *http = (struct http *)session;

	if (action->kind == MCP_ACT_SEND)
		return http_request_post(http, action);
	http_request_close(http, action->request_id);
	return 0;
}

/* ── the ends of requests
 * ───────────────────────────────────────────────────────────────────────────────── */

/* Pass what is queued to the client. 0 or a negative errno. */
static int take_messages(struct http *http)
{
	int r = 0;

	for (size_t i = 0; i < http->n_messages; i++) {
		struct http_message *message = &http->messages[i];

		if (r == 0)
			r = mcp_session_take(
				&http->session, message->request_id, message->text, message->size);
		free(message->text);
	}
	http->n_messages = 0;
	http->n_bytes = 0;
	return r;
}

/* Return whether @request belongs to a call waiting for its response. */
static bool is_awaited(const struct http_request *request)
{
	const struct mcp_session *session = &request->http->session;

	for (size_t i = 0; i < WIRE_CALLS_MAX; i++)
		if (session->flights[i].id != 0 && mcp_client_request_id(session->client,
							   session->flights[i].id) == request->id)
			return true;
	return false;
}

/* Return whether the server has forgotten the session of @request. Instead of 404 some answer 400,
 * with an error that is no response to the request. Only a call begins another session: a session
 * forgotten at once costs no more than one request. */
static bool has_lost_session(const struct http_request *request, long status)
{
	if (request->session == 0 || !is_awaited(request))
		return false;
	return status == 404 || (status == 400 && !http_request_has_response(request, false));
}

/* Return whether the ended @request has events to go on. */
static bool can_resume(const struct http_request *request, CURLcode code)
{
	return request->is_legacy && request->is_stream && request->events.id.size > 0 &&
	       code != CURLE_WRITE_ERROR && request->id != 0 && is_awaited(request);
}

/* Resume the requests whose wait is over. *due_ms: lowered to the moment of the next request. 0 or
 * -ENOMEM. */
static int resume_requests(struct http *http, uint64_t *due_ms)
{
	uint64_t now_ms = clock_now_ms();
	int r = 0;

	for (struct http_request *request = http->requests; r == 0 && request;
		request = request->next) {
		if (request->resume_at_ms == 0)
			continue;
		if (request->resume_at_ms <= now_ms)
			r = http_request_resume(request);
		else if (request->resume_at_ms < *due_ms)
			*due_ms = request->resume_at_ms;
	}
	return r;
}

/* Return whether the body of the ended @request is a message for the client. An error is a message
 * whatever its status, unless the server wants other credentials, or refuses a notification: such
 * an error has no id, and would end a call that waits alone. */
static bool has_answer(const struct http_request *request, long status)
{
	if (request->is_stream || request->body.size == 0 ||
		!http_request_is_type(request, "application/json"))
		return false;
	return (status >= 200 && status < 300) ||
	       (status >= 400 && status != 401 && status != 403 && request->id != 0 &&
		       http_request_has_response(request, true));
}

/* Act on the end of @request, and free it unless its events go on. 0 or a negative errno. */
static int end_request(struct http *http, struct http_request *request, CURLcode code)
{
	struct mcp_session *session = &http->session;
	long status = code == CURLE_OK ? http_request_status(request) : 0;
	bool has_message = has_answer(request, status);
	uint64_t id = request->id;
	bool is_forgotten = has_lost_session(request, status);
	int r = code == CURLE_OK ? http_request_follow(request) : 0;

	if (r)
		return r < 0 ? r : 0;
	if (request == http->changes) {
		http_changes_end(http, status);
		return 0;
	}
	if (can_resume(request, code)) {
		http_request_rest(request);
		return 0;
	}
	http_request_unlink(http, request);
	/* Another request may have found the loss before. */
	if (is_forgotten && request->session == http->n_sessions) {
		http->n_sessions++;
		session->version = NULL;
		session->has_changes = false;
		http_changes_stop(http);
		free(take_ptr(http->session_id));
		r = mcp_client_renew(session->client, clock_now_ms());
	} else if (has_message && !is_forgotten) {
		r = mcp_session_take(session, id, request->body.data, request->body.size);
	}
	http_problem_note(http, request, code);
	http_request_free(request);
	/* The received response has ended the request. */
	http->is_forgotten = is_forgotten;
	if (r == 0 && id != 0)
		r = mcp_client_lose(session->client, id, status, clock_now_ms());
	http->is_forgotten = false;
	return r ? r : session->error;
}

/* Act on all received messages. *ret_is_any: there was one. 0 or a negative errno. */
static int drain(struct http *http, bool *ret_is_any)
{
	CURLMsg *message;
	int n_left;
	int r;

	*ret_is_any = http->n_messages > 0;
	r = take_messages(http);
	while (r == 0 && (message = curl_multi_info_read(http->multi, &n_left))) {
		struct http_request *request = NULL;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		*ret_is_any = true;
		r = end_request(http, request, code);
	}
	http_changes_note(http);
	return r;
}

static int pump(struct mcp_session *session, int wire, uint64_t due_ms)
{
	struct http *http = (struct http *)session;
	struct curl_waitfd source = {.fd = wire, .events = CURL_WAIT_POLLIN};
	bool is_any = false;
	int timeout_ms;
	int n_running;
	int r = resume_requests(http, &due_ms);

	r = r ? r : http_changes_attend(http, &due_ms);
	if (r)
		return r;
	timeout_ms = mcp_session_timeout(session, due_ms);
	if (curl_multi_perform(http->multi, &n_running) != CURLM_OK)
		return -ENOMEM;
	r = drain(http, &is_any);
	if (r == 0 && !is_any &&
		curl_multi_poll(http->multi, &source, wire >= 0,
			timeout_ms < 0 ? INT32_MAX : timeout_ms, NULL) != CURLM_OK)
		return -ENOMEM;
	r = r ? r : mcp_session_tick(session);
	return r ? r : source.revents != 0;
}

/* Answer a call without a response; or send it once more if a repetition does no harm: the server
 * had forgotten the session, or the connection broke in a call that only reads. */
static int lose(struct mcp_session *session, struct mcp_flight *flight)
{
	struct http *http = (struct http *)session;
	cleanup(buffer_deinit) struct buffer text = {0};

	if ((http->is_forgotten || (http->is_broken && flight->tool->only_reads)) &&
		!flight->is_again) {
		flight->is_again = true;
		flight->is_sent = false;
		return 0;
	}
	if (http->is_too_large)
		return mcp_session_refuse_large(session, flight, HTTP_BYTES_MAX + 1);
	buffer_append_string(&text, "the server has not answered: ");
	buffer_append_buffer(&text, &http->problem);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	return http->is_gone
		       ? mcp_session_miss(session, flight, (struct text_view){text.data, text.size})
		       : mcp_session_refuse(
				 session, flight, (struct text_view){text.data, text.size});
}

static const struct mcp_transport transport = {
	.is_http = true, .carry = carry, .pump = pump, .lose = lose};

/* ── the life of a session ───────────────────────────────────────────────────────────────────── */

/* Append why the session cannot be used. */
static void write_failure(const struct http *http, struct buffer *out)
{
	buffer_append_string(out, "the server cannot be used: ");
	if (http->session.failure.size > 0)
		buffer_append_buffer(out, &http->session.failure);
	else
		buffer_append_string(out, "it has not listed its tools in time");
	if (http->problem.size > 0) {
		buffer_append_string(out, ": ");
		buffer_append_buffer(out, &http->problem);
	}
}

/* Begin a session in the place of a failed session. 0 or a negative errno. */
static int begin_http_session(struct http *http)
{
	http_changes_stop(http);
	while (http->requests)
		http_request_close(http, http->requests->id);
	free(take_ptr(http->session_id));
	http->n_sessions++;
	buffer_reset(&http->problem);
	return mcp_session_begin(&http->session);
}

/* Begin the first session, and work until its tools are listed, until it fails, or until @due_ms. 0
 * or a negative errno. */
static int begin_first(struct http *http, uint64_t due_ms)
{
	struct mcp_session *session = &http->session;
	int r = begin_http_session(http);

	while (r >= 0 && !session->has_list && !mcp_session_has_failed(session) &&
		clock_now_ms() < due_ms)
		r = pump(session, -1, due_ms);
	return r < 0 ? r : 0;
}

static void free_http(void *data)
{
	struct http *http = data;

	if (!http)
		return;
	while (http->requests)
		http_request_close(http, http->requests->id);
	http_request_delete(http);
	mcp_session_deinit(&http->session);
	for (size_t i = 0; i < http->n_messages; i++)
		free(http->messages[i].text);
	free(http->messages);
	free(http->session_id);
	buffer_deinit(&http->problem);
	buffer_deinit(&http->changes_id);
	curl_multi_cleanup(http->multi);
	free(http);
}

static int load_http(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct http *http = calloc(1, sizeof(*http));
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (!http)
		return -ENOMEM;
	r = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -ENOMEM;
	http->multi = r ? NULL : curl_multi_init();
	r = http->multi ? 0 : -ENOMEM;
	/* Calls leave connections unused by other calls. */
	if (r == 0)
		curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
	r = r ? r : mcp_session_init(&http->session, &transport, load, problems);
	r = r ? r : begin_first(http, clock_now_ms() + http->session.configuration.start_ms);
	if (r == 0 && !http->session.has_list) {
		write_failure(http, &text);
		r = buffer_terminate(&text)
			    ? driver_refuse(problems, load->tape, json_find(load->tape, 0, "mcp"),
				      "%s", text.data)
			    : -ENOMEM;
	}
	if (r)
		free_http(http);
	else
		*ret_driver = http;
	return r;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Answer the calls waiting for a failed session. 0 or a negative errno. */
static int refuse_waiting(struct http *http)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	if (!mcp_session_has_failed(&http->session) || !mcp_session_has_calls(&http->session))
		return 0;
	write_failure(http, &text);
	r = buffer_status(&text);
	for (size_t i = 0; r == 0 && i < WIRE_CALLS_MAX; i++)
		if (http->session.flights[i].id != 0)
			r = mcp_session_miss(&http->session, &http->session.flights[i],
				(struct text_view){text.data, text.size});
	return r;
}

static int begin(void *data, const struct driver_call *call)
{
	struct http *http = data;
	int r = mcp_session_has_failed(&http->session) ? begin_http_session(http) : 0;

	return r ? r : mcp_session_invoke(&http->session, call);
}

static int cancel(void *data, uint64_t id, bool is_late)
{
	struct http *http = data;

	return mcp_session_cancel(&http->session, id, is_late);
}

static int attend(void *data, int wire)
{
	struct http *http = data;
	bool has_frame = false;
	int r = 0;

	while (r == 0 && !has_frame) {
		r = mcp_session_report(&http->session);
		r = r ? r : pump(&http->session, wire, UINT64_MAX);
		has_frame = r > 0;
		r = r < 0 ? r : refuse_waiting(http);
		r = r ? r : mcp_session_resume(&http->session);
	}
	return r;
}

const struct driver mcp_http_driver = {
	.kind = "mcp",
	.load = load_http,
	.describe = mcp_session_describe,
	.begin = begin,
	.cancel = cancel,
	.attend = attend,
	.free = free_http,
};
