/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The driver of toolbox-mcp-http-host: a server over HTTP (Streamable HTTP), by libcurl.
 *
 *   message ─▶ request: POST ─▶ application/json    one message
 *                           └─▶ text/event-stream   any number, until the response
 *
 * A session that is lost is begun again by the next call, and by one whose request has found it to be forgotten.
 * Messages that arrive are queued until libcurl has returned, since they make the client send others.
 *
 * A server of the legacy era may end the events of a call early; with an id among them they go on, after the wait
 * that the server has asked for, as the answer to a GET.
 */

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/number.h"
#include "mcp/client/client.h"
#include "mcp/client/events.h"
#include "mcp/client/headers.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "worker/driver.h"
#include "worker/mcp/session.h"

/* The most bytes of a response or an event, and of all that are queued. */
#define BYTES_MAX ((size_t)64 << 20)

/* The most bytes of all responses together that have not ended. */
#define HELD_MAX (2 * BYTES_MAX)

#define CONNECT_MS 10000L

/* Messages without a response that are being sent. */
#define NOTIFICATIONS_MAX 16

/* Connections without a request that stay open. */
#define IDLE_CONNECTIONS 4L

/* The time for a request of the session: longer than the client waits for its response. */
#define REQUEST_MS 60000L

/* The time for the end of a session of the legacy era; a host that is dismissed has HOST_DISMISS_MS. */
#define DELETE_MS 300L

/* The wait before events go on: unless the server asks for another one, and the least. */
#define RESUME_MS       1000
#define RESUME_LEAST_MS 100

/* The longest id of a session. */
#define SESSION_ID_BYTES 1024

#define EVENT_STREAM "text/event-stream"

struct message {
	char *text;
	size_t size;
};

struct request {
	struct http *http;
	struct request *next;
	uint64_t id; /* 0: it expects no response */
	CURL *easy;
	struct curl_slist *headers;
	bool is_initialize;
	uint64_t session; /* the number of the session with whose id it was sent; 0: with none */
	bool is_stream;
	bool is_legacy;
	uint64_t resume_at_ms; /* when its events go on; 0: it is being sent */
	struct buffer body;
	struct mcp_events events;
	char error[CURL_ERROR_SIZE];
};

struct http {
	struct mcp_session session;
	CURLM *multi;
	struct request *requests;
	struct message *messages; /* in the order in which they came */
	size_t n_messages;
	size_t n_bytes; /* bytes of all messages */
	char *session_id;
	uint64_t n_sessions;   /* that were forgotten, and 1 */
	struct buffer problem; /* why the last request had no response */
	bool is_forgotten;     /* since the server had forgotten its session */
	bool is_gone;          /* since it has not reached the server, or was refused by it */
};

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

static void free_request(struct request *request)
{
	if (!request)
		return;
	if (request->easy) {
		curl_multi_remove_handle(request->http->multi, request->easy);
		curl_easy_cleanup(request->easy);
	}
	curl_slist_free_all(request->headers);
	buffer_deinit(&request->body);
	mcp_events_deinit(&request->events);
	free(request);
}

static void unlink_request(struct http *http, const struct request *request)
{
	struct request **link = &http->requests;

	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
}

/* Queue a message. Return 0, -EMSGSIZE or -ENOMEM. */
static int queue(struct http *http, const char *text, size_t size)
{
	struct message message = {.size = size};

	if (http->n_bytes + size > BYTES_MAX)
		return -EMSGSIZE;
	if (array_grow(http->messages, http->n_messages) < 0)
		return -ENOMEM;
	message.text = malloc(size + 1);
	if (!message.text)
		return -ENOMEM;
	memcpy(message.text, text, size);
	http->messages[http->n_messages++] = message;
	http->n_bytes += size;
	return 0;
}

static int take_event(void *data, const char *text, size_t size)
{
	struct request *request = data;

	return size > 0 ? queue(request->http, text, size) : 0;
}

static bool is_type(const struct request *request, const char *wanted)
{
	char *type = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
	return type && strncasecmp(type, wanted, strlen(wanted)) == 0;
}

static long status_of(const struct request *request)
{
	long status = 0;

	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Return the bytes of all responses that have not ended. */
static size_t count_held(const struct http *http)
{
	size_t n = http->n_bytes;

	for (const struct request *request = http->requests; request; request = request->next)
		n += request->body.size + request->events.line.size + request->events.data.size;
	return n;
}

/* Take a part of the body (CURLOPT_WRITEFUNCTION). */
static size_t take_body(char *bytes, size_t one, size_t size, void *data)
{
	struct request *request = data;

	(void)one;
	if (count_held(request->http) + size > HELD_MAX)
		return CURL_WRITEFUNC_ERROR;
	if (request->is_stream || (status_of(request) == 200 && is_type(request, EVENT_STREAM))) {
		request->is_stream = true;
		return mcp_events_take(&request->events, bytes, size, take_event, request) == 0
			       ? size
			       : CURL_WRITEFUNC_ERROR;
	}
	if (request->body.size + size > BYTES_MAX)
		return CURL_WRITEFUNC_ERROR;
	buffer_append(&request->body, bytes, size);
	return buffer_status(&request->body) == 0 ? size : CURL_WRITEFUNC_ERROR;
}

/* Take a header (CURLOPT_HEADERFUNCTION): the id of the session that the server has begun. */
static size_t take_header(char *bytes, size_t one, size_t size, void *data)
{
	static const char name[] = "mcp-session-id:";
	const size_t name_size = sizeof(name) - 1;
	struct request *request = data;
	const char *value = bytes + name_size;
	size_t value_size;

	(void)one;
	if (!request->is_initialize || size <= name_size ||
		strncasecmp(bytes, name, name_size) != 0)
		return size;
	value_size = size - name_size;
	while (value_size > 0 && (*value == ' ' || *value == '\t')) {
		value++;
		value_size--;
	}
	while (value_size > 0 && strchr(" \t\r\n", value[value_size - 1]))
		value_size--;
	if (value_size == 0 || value_size > SESSION_ID_BYTES)
		return size;
	free(request->http->session_id);
	request->http->session_id = strndup(value, value_size);
	return request->http->session_id ? size : CURL_WRITEFUNC_ERROR;
}

/* ── sending ─────────────────────────────────────────────────────────────────────────────────── */

static bool is_method(const struct mcp_action *action, const char *method)
{
	return action->method && strcmp(action->method, method) == 0;
}

/* Append the header @line. libcurl wants `NAME;` for one without a value. 0 or -ENOMEM. */
static int add_header(struct request *request, const char *line)
{
	cleanup(buffer_deinit) struct buffer empty = {0};
	size_t name_size = strcspn(line, ":");
	struct curl_slist *headers;

	if (strcmp(line + name_size, ": ") == 0) {
		buffer_append(&empty, line, name_size);
		buffer_append_char(&empty, ';');
		line = buffer_terminate(&empty);
	}
	headers = line ? curl_slist_append(request->headers, line) : NULL;
	if (!headers)
		return -ENOMEM;
	request->headers = headers;
	return 0;
}

/* Append each line of @lines as a header. 0 or -ENOMEM. */
static int add_lines(struct request *request, struct buffer *lines)
{
	char *line = buffer_terminate(lines);
	int r = line ? 0 : -ENOMEM;

	while (r == 0 && *line) {
		char *end = strchr(line, '\n');

		*end = '\0';
		r = add_header(request, line);
		line = end + 1;
	}
	return r;
}

/* Append the headers for the arguments of the call. 0 or a negative errno. */
static int write_params(const struct mcp_session *session, struct buffer *lines)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	cleanup(json_tape_cleanup) struct json_tape arguments = {0};
	const char *text = session->sending->tool->schema;
	const struct buffer *sent = &session->sending->arguments;

	if (!text)
		return 0;
	if (json_tape_read(&schema, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_tape_read(&arguments, sent->data, sent->size, JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	mcp_write_param_headers(lines, &schema, json_first(&schema, 0), &arguments, 0);
	return 0;
}

/* Add the headers of the protocol for the message of @action. 0 or a negative errno. */
static int add_protocol(struct request *request, const struct mcp_action *action)
{
	struct http *http = request->http;
	const struct mcp_session *session = &http->session;
	bool is_call = is_method(action, "tools/call");
	struct text_view name = {NULL, 0};
	cleanup(buffer_deinit) struct buffer lines = {0};
	int r = 0;

	if (is_call)
		name = TEXT_VIEW(session->sending->tool->name);
	if (action->era == MCP_MODERN) {
		mcp_write_headers(&lines, MCP_VERSION_MODERN, action->method, name);
		r = is_call ? write_params(session, &lines) : 0;
	} else if (!request->is_initialize && session->version) {
		mcp_write_headers(&lines, session->version, NULL, (struct text_view){NULL, 0});
	}
	if (action->era == MCP_LEGACY && !request->is_initialize && http->session_id) {
		request->session = http->n_sessions;
		buffer_printf(&lines, "Mcp-Session-Id: %s\n", http->session_id);
	}
	return r ? r : add_lines(request, &lines);
}

static int add_configured(struct request *request)
{
	char **headers = request->http->session.configuration.headers;
	int r = 0;

	for (size_t i = 0; r == 0 && headers[i]; i++)
		r = add_header(request, headers[i]);
	return r;
}

/* Let @easy reach the server and no other: redirects are not followed. */
static void set_up(CURL *easy, const struct mcp_session *session, const struct curl_slist *headers)
{
	curl_easy_setopt(easy, CURLOPT_URL, session->configuration.url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "toolboxd/" TOOLBOXD_VERSION);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

/* Send what @request has been given. 0 or -ENOMEM. */
static int start_request(struct request *request)
{
	curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(request->easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(request->easy, CURLOPT_HEADERDATA, request);
	curl_easy_setopt(request->easy, CURLOPT_ERRORBUFFER, request->error);
	curl_easy_setopt(request->easy, CURLOPT_PRIVATE, request);
	return curl_multi_add_handle(request->http->multi, request->easy) == CURLM_OK ? 0 : -ENOMEM;
}

static int send_request(struct request *request, const struct mcp_action *action)
{
	struct http *http = request->http;
	int r = add_header(request, "Content-Type: application/json");

	r = r ? r : add_header(request, "Accept: application/json, " EVENT_STREAM);
	r = r ? r : add_header(request, "Expect:");
	r = r ? r : add_protocol(request, action);
	r = r ? r : add_configured(request);
	request->easy = curl_easy_init();
	if (r || !request->easy)
		return -ENOMEM;
	set_up(request->easy, &http->session, request->headers);
	curl_easy_setopt(request->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)action->text.size);
	if (curl_easy_setopt(request->easy, CURLOPT_COPYPOSTFIELDS, action->text.text) != CURLE_OK)
		return -ENOMEM;
	/* On a connection that the server has closed, libcurl would send a request once more. */
	if (is_method(action, "tools/call"))
		curl_easy_setopt(request->easy, CURLOPT_FRESH_CONNECT, 1L);
	/* The daemon bounds calls; a subscription lasts. */
	else if (!is_method(action, "subscriptions/listen"))
		curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	return start_request(request);
}

/* Close the oldest notification if there are as many as there may be: a server may leave them open. */
static void bound_notifications(struct http *http)
{
	struct request *oldest = NULL;
	unsigned int n = 0;

	for (struct request *request = http->requests; request; request = request->next)
		if (request->id == 0) {
			oldest = request;
			n++;
		}
	if (n < NOTIFICATIONS_MAX)
		return;
	unlink_request(http, oldest);
	free_request(oldest);
}

static int begin_request(struct http *http, const struct mcp_action *action)
{
	struct request *request = calloc(1, sizeof(*request));
	int r;

	if (action->request_id == 0)
		bound_notifications(http);
	if (!request)
		return -ENOMEM;
	request->http = http;
	request->id = action->request_id;
	request->events.bytes_max = BYTES_MAX;
	request->is_initialize = is_method(action, "initialize");
	request->is_legacy = action->era == MCP_LEGACY;
	r = send_request(request, action);
	if (r) {
		free_request(request);
		return r;
	}
	request->next = http->requests;
	http->requests = request;
	return 0;
}

static void close_request(struct http *http, uint64_t id)
{
	for (struct request *request = http->requests; request; request = request->next)
		if (request->id == id) {
			unlink_request(http, request);
			free_request(request);
			return;
		}
}

static int carry(struct mcp_session *session, const struct mcp_action *action)
{
	struct http *http = (struct http *)session;

	if (action->kind == MCP_ACT_SEND)
		return begin_request(http, action);
	close_request(http, action->request_id);
	return 0;
}

/* ── receiving ───────────────────────────────────────────────────────────────────────────────── */

/* Pass what is queued to the client. 0 or a negative errno. */
static int take_messages(struct http *http)
{
	int r = 0;

	for (size_t i = 0; i < http->n_messages; i++) {
		struct message *message = &http->messages[i];

		if (r == 0)
			r = mcp_session_take(&http->session, message->text, message->size);
		free(message->text);
	}
	http->n_messages = 0;
	http->n_bytes = 0;
	return r;
}

/* Note why @request has no response. */
static void note_problem(struct http *http, const struct request *request, CURLcode code)
{
	cleanup(buffer_deinit) struct buffer problem = {0};
	char *target = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &target);
	http->is_gone = code == CURLE_OK ? status_of(request) >= 300 : code != CURLE_WRITE_ERROR;
	if (code == CURLE_WRITE_ERROR)
		buffer_append_string(&problem, "it has sent too much");
	else if (code != CURLE_OK)
		buffer_append_string(
			&problem, *request->error ? request->error : curl_easy_strerror(code));
	else if (target)
		buffer_printf(&problem, "it redirects to %s, which is not followed", target);
	else if (status_of(request) >= 300)
		buffer_printf(&problem, "it answers with the status %ld", status_of(request));
	else
		buffer_append_string(&problem, "it has ended its answer early");
	/* A redirect may have the secrets of the URL. */
	buffer_reset(&http->problem);
	mcp_secrets_mask(
		&http->session.configuration.secrets, problem.data, problem.size, &http->problem);
}

/* Return whether @request is that of a call which waits for its response. */
static bool is_awaited(const struct request *request)
{
	const struct mcp_session *session = &request->http->session;

	for (size_t i = 0; i < WIRE_CALLS_MAX; i++)
		if (session->flights[i].id != 0 && mcp_client_request_id(session->client,
							   session->flights[i].id) == request->id)
			return true;
	return false;
}

/* Return whether the body of @request is the response to it. */
static bool has_response(const struct request *request)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t at;
	uint64_t id;

	if (json_tape_read(
		    &tape, request->body.data, request->body.size, JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(&tape, 0) != JSON_OBJECT)
		return false;
	at = json_find(&tape, 0, "id");
	return at != JSON_NONE && json_type_at(&tape, at) == JSON_NUMBER &&
	       json_number_u64(&tape, at, &id) == 0 && id == request->id;
}

/* Return whether the server has forgotten the session of @request. Instead of 404 some answer 400, with an error that
 * is no response to it. Only a call begins another session: one that is forgotten at once costs no more than that. */
static bool has_lost_session(const struct request *request, long status)
{
	if (request->session == 0 || !is_awaited(request))
		return false;
	return status == 404 || (status == 400 && !has_response(request));
}

/* Return whether @request, which has ended, has events that can go on. */
static bool can_resume(const struct request *request, CURLcode code)
{
	return request->is_legacy && request->is_stream && request->events.id.size > 0 &&
	       code != CURLE_WRITE_ERROR && request->id != 0 && is_awaited(request);
}

/* Let the events of @request go on after a wait. */
static void rest_request(struct request *request)
{
	uint64_t wait_ms = request->events.retry_ms > 0 ? request->events.retry_ms : RESUME_MS;

	curl_multi_remove_handle(request->http->multi, request->easy);
	curl_easy_cleanup(take_ptr(request->easy));
	curl_slist_free_all(take_ptr(request->headers));
	mcp_events_restart(&request->events);
	request->is_stream = false;
	request->resume_at_ms =
		clock_now_ms() + (wait_ms > RESUME_LEAST_MS ? wait_ms : RESUME_LEAST_MS);
}

/* Ask for the events of @request after the last one that came. 0 or -ENOMEM. */
static int resume_request(struct request *request)
{
	static const struct mcp_action get = {.era = MCP_LEGACY};
	cleanup(buffer_deinit) struct buffer line = {0};
	int r = add_header(request, "Accept: " EVENT_STREAM);

	request->resume_at_ms = 0;
	buffer_append_string(&line, "Last-Event-ID: ");
	buffer_append_buffer(&line, &request->events.id);
	buffer_append_char(&line, '\n');
	r = r ? r : add_lines(request, &line);
	r = r ? r : add_protocol(request, &get);
	r = r ? r : add_configured(request);
	request->session = 0; /* the call has begun: it is not sent again to another session */
	request->easy = curl_easy_init();
	if (r || !request->easy)
		return -ENOMEM;
	set_up(request->easy, &request->http->session, request->headers);
	return start_request(request);
}

/* Resume the requests whose wait is over. *due_ms: lowered to the moment of the next one. 0 or -ENOMEM. */
static int resume_requests(struct http *http, uint64_t *due_ms)
{
	uint64_t now_ms = clock_now_ms();
	int r = 0;

	for (struct request *request = http->requests; r == 0 && request; request = request->next) {
		if (request->resume_at_ms == 0)
			continue;
		if (request->resume_at_ms <= now_ms)
			r = resume_request(request);
		else if (request->resume_at_ms < *due_ms)
			*due_ms = request->resume_at_ms;
	}
	return r;
}

/* Act on the end of @request, which is freed unless it goes on. 0 or a negative errno. */
static int finish_request(struct http *http, struct request *request, CURLcode code)
{
	struct mcp_session *session = &http->session;
	long status = code == CURLE_OK ? status_of(request) : 0;
	bool is_refused = status >= 400 && status < 500 && status != 401 && status != 403;
	bool has_message = !request->is_stream && request->body.size > 0 &&
			   is_type(request, "application/json") &&
			   ((status >= 200 && status < 300) || is_refused);
	uint64_t id = request->id;
	bool is_forgotten = has_lost_session(request, status);
	int r = 0;

	if (can_resume(request, code)) {
		rest_request(request);
		return 0;
	}
	note_problem(http, request, code);
	unlink_request(http, request);
	/* Others may have found that before. */
	if (is_forgotten && request->session == http->n_sessions) {
		http->n_sessions++;
		session->version = NULL;
		free(take_ptr(http->session_id));
		r = mcp_client_renew(session->client, clock_now_ms());
	} else if (has_message && !is_forgotten) {
		r = mcp_session_take(session, request->body.data, request->body.size);
	}
	free_request(request);
	/* A response that has come ended the request. */
	http->is_forgotten = is_forgotten;
	if (r == 0 && id != 0)
		r = mcp_client_lose(session->client, id, is_refused, clock_now_ms());
	http->is_forgotten = false;
	return r ? r : session->error;
}

/* Act on all that has arrived. *ret_is_any: there was something. 0 or a negative errno. */
static int drain(struct http *http, bool *ret_is_any)
{
	CURLMsg *message;
	int n_left;
	int r;

	*ret_is_any = http->n_messages > 0;
	r = take_messages(http);
	while (r == 0 && (message = curl_multi_info_read(http->multi, &n_left))) {
		struct request *request = NULL;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		*ret_is_any = true;
		r = finish_request(http, request, code);
	}
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

/* Answer a call without a response, or let it wait for the next session if the server had forgotten this one. */
static int lose(struct mcp_session *session, struct mcp_flight *flight)
{
	struct http *http = (struct http *)session;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (http->is_forgotten && !flight->is_again) {
		flight->is_again = true;
		flight->is_sent = false;
		return 0;
	}
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

/* Begin a session in the place of one that has failed. 0 or a negative errno. */
static int begin_session(struct http *http)
{
	while (http->requests)
		close_request(http, http->requests->id);
	free(take_ptr(http->session_id));
	http->n_sessions++;
	buffer_reset(&http->problem);
	return mcp_session_begin(&http->session);
}

/* Begin the first session, and work until its tools are listed, until it fails, or until @due_ms. 0 or a negative
 * errno. */
static int begin_first(struct http *http, uint64_t due_ms)
{
	struct mcp_session *session = &http->session;
	int r = begin_session(http);

	while (r >= 0 && !session->has_list && !mcp_session_has_failed(session) &&
		clock_now_ms() < due_ms)
		r = pump(session, -1, due_ms);
	return r < 0 ? r : 0;
}

/* End the session at a server of the legacy era. */
static void end_session(const struct http *http)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	struct request request = {.http = (struct http *)http};

	if (!http->session_id)
		return;
	buffer_printf(&line, "Mcp-Session-Id: %s\n", http->session_id);
	request.easy = curl_easy_init();
	if (request.easy && add_lines(&request, &line) == 0 && add_configured(&request) == 0) {
		set_up(request.easy, &http->session, request.headers);
		curl_easy_setopt(request.easy, CURLOPT_CUSTOMREQUEST, "DELETE");
		curl_easy_setopt(request.easy, CURLOPT_NOBODY, 1L);
		curl_easy_setopt(request.easy, CURLOPT_TIMEOUT_MS, DELETE_MS);
		curl_easy_perform(request.easy);
	}
	curl_easy_cleanup(request.easy);
	curl_slist_free_all(request.headers);
}

static void free_http(void *data)
{
	struct http *http = data;

	if (!http)
		return;
	while (http->requests)
		close_request(http, http->requests->id);
	end_session(http);
	mcp_session_deinit(&http->session);
	for (size_t i = 0; i < http->n_messages; i++)
		free(http->messages[i].text);
	free(http->messages);
	free(http->session_id);
	buffer_deinit(&http->problem);
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
	/* Calls leave connections that no other call uses. */
	if (r == 0)
		curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
	r = r ? r : mcp_session_init(&http->session, &transport, load, problems);
	r = r ? r : begin_first(http, clock_now_ms() + MCP_START_MS);
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

/* Answer the calls that wait for a session which has failed. 0 or a negative errno. */
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
	int r = mcp_session_has_failed(&http->session) ? begin_session(http) : 0;

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
		r = pump(&http->session, wire, UINT64_MAX);
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
