/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mcp/client/headers.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

/*
 * A request by libcurl.
 *
 *   POST ─▶ application/json    one message ─▶ body
 *       └─▶ text/event-stream   any number  ─▶ http->messages
 *       └─▶ a redirect          the same to another path of the server
 *   GET  ─▶ text/event-stream   the events of a call after the received ones, or notifications
 */

/* The most bytes of all unfinished responses together. */
#define HELD_MAX (2 * HTTP_BYTES_MAX)

#define CONNECT_MS 10000L

/* Messages without a response being sent. */
#define NOTIFICATIONS_MAX 16

/* The time for a request of the session: longer than the client waits for its response. */
#define REQUEST_MS 60000L

/* The time for the end of a session of the legacy era; a dismissed host has HOST_DISMISS_MS. */
#define DELETE_MS 300L

/* The wait before events go on: unless the server asks for another one, and the least. */
#define RESUME_MS       1000
#define RESUME_LEAST_MS 100

/* The longest id of a session. */
#define SESSION_ID_BYTES 1024

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

void http_request_free(struct http_request *request)
{
	if (!request)
		return;
	if (request->http->changes == request)
		request->http->changes = NULL;
	if (request->easy) {
		curl_multi_remove_handle(request->http->multi, request->easy);
		curl_easy_cleanup(request->easy);
	}
	curl_slist_free_all(request->headers);
	buffer_deinit(&request->body);
	mcp_events_deinit(&request->events);
	free(request);
}

void http_request_unlink(struct http *http, const struct http_request *request)
{
	struct http_request **link = &http->requests;

	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
}

/* Queue a message from the events of @request. Return 0, -EMSGSIZE or -ENOMEM. */
static int queue(const struct http_request *request, const char *text, size_t size)
{
	struct http *http = request->http;
	struct http_message message = {.request_id = request->id, .size = size};

	if (http->n_bytes + size > HTTP_BYTES_MAX)
		return -EMSGSIZE;
	if (array_grow(http->messages, http->n_messages) < 0)
		return -ENOMEM;
	message.text = malloc(size);
	if (!message.text)
		return -ENOMEM;
	memcpy(message.text, text, size);
	http->messages[http->n_messages++] = message;
	http->n_bytes += size;
	return 0;
}

static int take_server_event(void *data, const char *text, size_t size)
{
	struct http_request *request = data;

	return size > 0 ? queue(request, text, size) : 0;
}

bool http_request_is_type(const struct http_request *request, const char *wanted)
{
	char *type = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
	return type && strncasecmp(type, wanted, strlen(wanted)) == 0;
}

long http_request_status(const struct http_request *request)
{
	long status = 0;

	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Return the bytes of all unfinished responses. */
static size_t count_held(const struct http *http)
{
	size_t n = http->n_bytes;

	for (const struct http_request *request = http->requests; request; request = request->next)
		n += request->body.size + request->events.line.size + request->events.data.size;
	return n;
}

/* Take a part of the body (CURLOPT_WRITEFUNCTION). */
static size_t take_body(char *bytes, size_t one, size_t size, void *data)
{
	struct http_request *request = data;
	int r;

	(void)one;
	if (count_held(request->http) + size > HELD_MAX)
		return CURL_WRITEFUNC_ERROR;
	if (request->is_stream || (http_request_status(request) == 200 &&
					  http_request_is_type(request, HTTP_EVENT_STREAM))) {
		request->is_stream = true;
		r = mcp_events_take(&request->events, bytes, size, take_server_event, request);
	} else if (request->body.size + size > HTTP_BYTES_MAX) {
		r = -EMSGSIZE;
	} else {
		buffer_append(&request->body, bytes, size);
		r = buffer_status(&request->body);
	}
	request->is_too_large = r == -EMSGSIZE;
	return r == 0 ? size : CURL_WRITEFUNC_ERROR;
}

/* Take a header (CURLOPT_HEADERFUNCTION): the id of the session begun by the server; or the last
 * header of a stream for notifications. */
static size_t take_header(char *bytes, size_t one, size_t size, void *data)
{
	static const char name[] = "mcp-session-id:";
	const size_t name_size = sizeof(name) - 1;
	struct http_request *request = data;
	const char *value = bytes + name_size;
	size_t value_size;

	(void)one;
	/* The empty line after the headers. */
	if (request->http->changes == request && size == 2 && http_request_status(request) == 200 &&
		http_request_is_type(request, HTTP_EVENT_STREAM))
		request->http->changes_have_begun = true;
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
static int add_header(struct http_request *request, const char *line)
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
static int add_lines(struct http_request *request, struct buffer *lines)
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

/* Append the argument `uri` of @flight, required by its schema. 0 or -ENOMEM. */
static int read_uri(const struct mcp_flight *flight, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t uri;

	if (json_tape_read(&tape, flight->arguments.data, flight->arguments.size,
		    JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	uri = json_find(&tape, 0, "uri");
	if (uri != JSON_NONE)
		json_string_decode(&tape, uri, out);
	return buffer_status(out);
}

/* Add the headers of the protocol for the message of @action. 0 or a negative errno. */
static int add_protocol(struct http_request *request, const struct mcp_action *action)
{
	struct http *http = request->http;
	const struct mcp_session *session = &http->session;
	bool is_call = is_method(action, "tools/call");
	struct text_view name = {NULL, 0};
	cleanup(buffer_deinit) struct buffer lines = {0};
	cleanup(buffer_deinit) struct buffer uri = {0};
	int r = 0;

	if (is_call)
		name = TEXT_VIEW(session->sending->tool->name);
	if (is_method(action, "resources/read")) {
		r = read_uri(session->sending, &uri);
		name = (struct text_view){uri.data, uri.size};
	}
	if (action->era == MCP_MODERN) {
		mcp_write_headers(&lines, MCP_VERSION_MODERN, action->method, name);
		r = r == 0 && is_call ? write_params(session, &lines) : r;
	} else if (!request->is_initialize && session->version) {
		mcp_write_headers(&lines, session->version, NULL, (struct text_view){NULL, 0});
	}
	if (action->era == MCP_LEGACY && !request->is_initialize && http->session_id) {
		request->session = http->n_sessions;
		buffer_printf(&lines, "Mcp-Session-Id: %s\n", http->session_id);
	}
	return r ? r : add_lines(request, &lines);
}

static int add_configured(struct http_request *request)
{
	char **headers = request->http->session.configuration.headers;
	int r = 0;

	for (size_t i = 0; r == 0 && headers[i]; i++)
		r = add_header(request, headers[i]);
	return r;
}

/* Let @easy reach the server and no other: libcurl follows no redirect. */
static void set_up(CURL *easy, const struct mcp_session *session, const struct curl_slist *headers)
{
	const struct mcp_configuration *configuration = &session->configuration;

	curl_easy_setopt(easy, CURLOPT_URL, configuration->url);
	if (configuration->proxy) {
		curl_easy_setopt(easy, CURLOPT_PROXY, configuration->proxy);
		curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	}
	/* The folder of the system's certificates stays. */
	if (configuration->ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, configuration->ca);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "toolboxd/" TOOLBOXD_VERSION);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

/* Send what @request has been given. 0 or -ENOMEM. */
static int start_request(struct http_request *request)
{
	curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(request->easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(request->easy, CURLOPT_HEADERDATA, request);
	curl_easy_setopt(request->easy, CURLOPT_ERRORBUFFER, request->error);
	curl_easy_setopt(request->easy, CURLOPT_PRIVATE, request);
	return curl_multi_add_handle(request->http->multi, request->easy) == CURLM_OK ? 0 : -ENOMEM;
}

static int send_request(struct http_request *request, const struct mcp_action *action)
{
	struct http *http = request->http;
	int r = add_header(request, "Content-Type: application/json");

	r = r ? r : add_header(request, "Accept: application/json, " HTTP_EVENT_STREAM);
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
	/* On a connection closed by the server, libcurl would send a request once more. */
	if (http->session.sending)
		curl_easy_setopt(request->easy, CURLOPT_FRESH_CONNECT, 1L);
	/* The daemon bounds calls; a subscription lasts. */
	else if (!is_method(action, "subscriptions/listen"))
		curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	return start_request(request);
}

/* Close the oldest notification if there are as many as there may be: a server may leave them
 * open. */
static void bound_notifications(struct http *http)
{
	struct http_request *oldest = NULL;
	unsigned int n = 0;

	for (struct http_request *request = http->requests; request; request = request->next)
		if (request->id == 0 && request != http->changes) {
			oldest = request;
			n++;
		}
	if (n < NOTIFICATIONS_MAX)
		return;
	http_request_unlink(http, oldest);
	http_request_free(oldest);
}

/* Make a request with the id @id (0: it expects no response). NULL without memory. */
static struct http_request *new_request(struct http *http, uint64_t id)
{
	struct http_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->http = http;
	request->id = id;
	request->n_notes = http->session.n_notes;
	request->events.bytes_max = HTTP_BYTES_MAX;
	return request;
}

static void link_request(struct http_request *request)
{
	request->next = request->http->requests;
	request->http->requests = request;
}

int http_request_post(struct http *http, const struct mcp_action *action)
{
	struct http_request *request = new_request(http, action->request_id);
	int r;

	if (action->request_id == 0)
		bound_notifications(http);
	if (!request)
		return -ENOMEM;
	request->is_initialize = is_method(action, "initialize");
	request->is_legacy = action->era == MCP_LEGACY;
	r = send_request(request, action);
	if (r) {
		http_request_free(request);
		return r;
	}
	link_request(request);
	return 0;
}

void http_request_close(struct http *http, uint64_t id)
{
	for (struct http_request *request = http->requests; request; request = request->next)
		if (request->id == id) {
			http_request_unlink(http, request);
			http_request_free(request);
			return;
		}
}

/* ── events by GET ───────────────────────────────────────────────────────────────────────────── */

/* Ask for the events of @request after the event with the id @last_id (empty: for events from now
 * on). 0 or -ENOMEM. */
static int get_events(struct http_request *request, struct buffer *last_id)
{
	static const struct mcp_action get = {.era = MCP_LEGACY};
	cleanup(buffer_deinit) struct buffer line = {0};
	int r = add_header(request, "Accept: " HTTP_EVENT_STREAM);

	if (last_id->size > 0) {
		buffer_append_string(&line, "Last-Event-ID: ");
		buffer_append_buffer(&line, last_id);
		buffer_append_char(&line, '\n');
	}
	r = r ? r : add_lines(request, &line);
	r = r ? r : add_protocol(request, &get);
	r = r ? r : add_configured(request);
	request->easy = curl_easy_init();
	if (r || !request->easy)
		return -ENOMEM;
	set_up(request->easy, &request->http->session, request->headers);
	return start_request(request);
}

int http_request_changes(struct http *http, struct buffer *last_id)
{
	struct http_request *request = new_request(http, 0);
	int r = request ? get_events(request, last_id) : -ENOMEM;

	if (r) {
		http_request_free(request);
		return r;
	}
	link_request(request);
	http->changes = request;
	return 0;
}

void http_request_rest(struct http_request *request)
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

int http_request_resume(struct http_request *request)
{
	int r;

	request->resume_at_ms = 0;
	request->n_redirects = 0;
	r = get_events(request, &request->events.id);
	request->session = 0; /* the call has begun: it is not sent again to another session */
	return r;
}

/* ── redirects ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether @part of the two addresses is the same. */
static bool is_same_part(CURLU *left, CURLU *right, CURLUPart part)
{
	char *one = NULL;
	char *other = NULL;
	bool is_same = curl_url_get(left, part, &one, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		       curl_url_get(right, part, &other, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		       strcasecmp(one, other) == 0;

	curl_free(one);
	curl_free(other);
	return is_same;
}

/* Return whether @target has the origin of @url. */
static bool is_same_origin(const char *url, const char *target)
{
	CURLU *left = curl_url();
	CURLU *right = curl_url();
	bool is_same = left && right && curl_url_set(left, CURLUPART_URL, url, 0) == CURLUE_OK &&
		       curl_url_set(right, CURLUPART_URL, target, 0) == CURLUE_OK &&
		       is_same_part(left, right, CURLUPART_SCHEME) &&
		       is_same_part(left, right, CURLUPART_HOST) &&
		       is_same_part(left, right, CURLUPART_PORT);

	curl_url_cleanup(left);
	curl_url_cleanup(right);
	return is_same;
}

int http_request_follow(struct http_request *request)
{
	const char *url = request->http->session.configuration.url;
	long status = http_request_status(request);
	cleanup_free char *copy = NULL;
	char *target = NULL;

	curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &target);
	if ((status != 307 && status != 308) || !target ||
		request->n_redirects == HTTP_REDIRECTS_MAX || !is_same_origin(url, target))
		return 0;
	copy = strdup(target);
	curl_multi_remove_handle(request->http->multi, request->easy);
	buffer_reset(&request->body);
	request->n_redirects++;
	if (!copy || curl_easy_setopt(request->easy, CURLOPT_URL, copy) != CURLE_OK)
		return -ENOMEM;
	return start_request(request) == 0 ? 1 : -ENOMEM;
}

/* ── the end of a session ────────────────────────────────────────────────────────────────────── */

void http_request_delete(struct http *http)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	struct http_request request = {.http = http};

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
