/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/scan.h"
#include "mcp/client/events.h"
#include "util/clock.h"
#include "util/log.h"
#include "web/transfers.h"

_Static_assert(MODEL_RESPONSE_BYTES >> 20 == 8, "as the failure has it");

/* The memory for the body of an error. */
#define ERROR_BYTES ((size_t)64 << 10)

/* The pauses before the second and the third try. */
static const uint64_t retry_ms[MODEL_TRIES - 1] = {500, 1000};

struct model {
	struct transfers transfers;
	struct loop *loop;
	const struct model_settings *settings;
	struct curl_slist *fields;
	struct buffer url;       /* a string, for requests */
	struct buffer probe_url; /* the same for looks */
	struct model_request *probe;
	bool is_plain; /* the server does not know stream_options */
	uint64_t reached_ms;
	uint64_t away_until_ms; /* 0: it is not away */
	uint64_t pause_ms;
};

/* The kind of an answer's body, by its head and its first byte. */
enum body_kind {
	BODY_UNKNOWN,
	BODY_STREAM, /* server-sent events */
	BODY_OBJECT, /* JSON, or anything else: kept to its end */
};

struct model_request {
	struct model *model;
	const struct model_handler *handler; /* NULL: a look */
	void *data;
	CURL *easy;
	struct buffer body;
	size_t body_size; /* without the added members */
	unsigned int n_tries;
	struct loop_timer timer; /* the next try, or the end of a silence */
	bool is_waiting;         /* for the next try, or for the end, reported later */
	bool was_plain;          /* it was sent without stream_options */

	/* the state of this try */
	enum body_kind kind;
	struct mcp_events events;
	struct buffer kept;
	struct reply reply;
	size_t n_text; /* bytes of the reply's text, passed on */
	size_t n_bytes;
	const char *failure; /* why the answer was given up; NULL: it was not */
	char error[CURL_ERROR_SIZE];
};

/* ── an answer as it comes ───────────────────────────────────────────────────────────────────── */

static void pass_text(struct model_request *request)
{
	const struct buffer *text = &request->reply.text;

	if (text->size > request->n_text && request->handler)
		request->handler->text(
			request->data, text->data + request->n_text, text->size - request->n_text);
	request->n_text = text->size;
}

/* An mcp_event_function. */
static int take_stream_event(void *data, const char *text, size_t size)
{
	struct model_request *request = data;

	return reply_take_event(&request->reply, text, size);
}

/* Decide by the head and the first byte other than white space. */
static enum body_kind find_kind(struct model_request *request, char first)
{
	const struct library *curl = request->model->transfers.curl;
	const char *type = NULL;
	long status = 0;

	curl->easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	curl->easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
	if (status != 200 || !request->handler || first == '{' || first == '<')
		return BODY_OBJECT;
	return type && strncasecmp(type, "text/html", strlen("text/html")) == 0 ? BODY_OBJECT
										: BODY_STREAM;
}

static int take_body_part(struct model_request *request, const char *bytes, size_t size)
{
	size_t blank = request->kind == BODY_UNKNOWN ? json_scan_space(bytes, size, 0) : 0;

	if (request->kind == BODY_UNKNOWN && blank < size)
		request->kind = find_kind(request, bytes[blank]);
	if (request->kind == BODY_STREAM) {
		int r = mcp_events_take(&request->events, bytes, size, take_stream_event, request);

		/* Once for all events of these bytes: each text becomes a message. */
		pass_text(request);
		return r;
	}
	buffer_append(&request->kept, bytes, size);
	return buffer_status(&request->kept);
}

/* CURLOPT_WRITEFUNCTION */
static size_t take_model_bytes(char *bytes, size_t one, size_t size, void *data)
{
	struct model_request *request = data;
	int r;

	(void)one;
	if (size == 0)
		return 0;
	loop_timer_arm(&request->timer, MODEL_STALL_MS);
	request->n_bytes += size;
	if (request->n_bytes > MODEL_RESPONSE_BYTES) {
		request->failure = "its answer has more than 8 MiB";
		return 0;
	}
	r = take_body_part(request, bytes, size);
	if (r == -EMSGSIZE)
		request->failure = "an event of its answer has more than a MiB";
	else if (r == REPLY_E_WRONG)
		request->failure = request->reply.reason;
	else if (r < 0)
		request->failure = strerror(-r);
	return r == 0 ? size : 0;
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

static void finish_model_request(struct model_request *request, enum model_end end, char *reason)
{
	struct model *model = request->model;
	struct model_outcome outcome = {.end = end, .reply = &request->reply, .reason = reason};

	loop_timer_disarm(&request->timer);
	request->is_waiting = false;
	reply_mask_key(model->settings->key, reason, strlen(reason));
	if (request == model->probe) {
		model->probe = NULL;
		model_request_free(request);
		return;
	}
	request->handler->done(request->data, &outcome);
}

static void note_reached(struct model *model)
{
	if (model->away_until_ms != 0)
		log_info("The model's server is there again");
	model->reached_ms = clock_now_ms();
	model->away_until_ms = 0;
	model->pause_ms = 0;
}

static void note_away(struct model *model, const char *reason)
{
	if (model->away_until_ms == 0)
		log_warning("The model's server is away: %s", reason);
	model->pause_ms = model->pause_ms == 0 ? MODEL_PAUSE_MS : 2 * model->pause_ms;
	if (model->pause_ms > MODEL_PAUSE_MAX_MS)
		model->pause_ms = MODEL_PAUSE_MAX_MS;
	model->away_until_ms = clock_now_ms() + model->pause_ms;
}

/* Return whether @code means a missing server. */
static bool has_no_server(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_OPERATION_TIMEDOUT;
}

/* Return whether @code means a lost connection. */
static bool has_lost_server(CURLcode code)
{
	return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
	       code == CURLE_PARTIAL_FILE;
}

static const char *describe_loss(const struct model_request *request, CURLcode code)
{
	const struct library *curl = request->model->transfers.curl;
	long error = 0;

	curl->easy_getinfo(request->easy, CURLINFO_OS_ERRNO, &error);
	if (code == CURLE_COULDNT_CONNECT && error != 0)
		return strerror((int)error);
	return *request->error ? request->error : curl->easy_strerror(code);
}

/* Return after how many milliseconds the server wants to be asked again; 0: at any time. */
static uint64_t asked_wait_ms(const struct model_request *request)
{
	curl_off_t seconds = 0;

	request->model->transfers.curl->easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &seconds);
	return seconds > 0 ? (uint64_t)seconds * MS_PER_S : 0;
}

/* Try again after a pause. Return false when it is not worth trying. */
static bool try_later(struct model_request *request)
{
	uint64_t wait_ms = asked_wait_ms(request);

	if (!request->handler || request->n_tries == MODEL_TRIES || wait_ms > MODEL_RETRY_MAX_MS)
		return false;
	if (wait_ms == 0)
		wait_ms = retry_ms[request->n_tries - 1];
	request->is_waiting = true;
	loop_timer_arm(&request->timer, wait_ms);
	return true;
}

static bool start_try(struct model_request *request);

/* Send the request once more, without what the server does not know. */
static bool try_plainly(struct model_request *request, long status)
{
	const struct buffer *kept = &request->kept;

	if (status != 400 || request->was_plain || !kept->data ||
		!memmem(kept->data, kept->size, "stream_options", strlen("stream_options")))
		return false;
	request->model->is_plain = true;
	request->n_tries--;
	return start_try(request);
}

static void end_status(struct model_request *request, long status, char *reason)
{
	const struct buffer *kept = &request->kept;

	if (try_plainly(request, status))
		return;
	if ((status == 429 || status >= 500) && try_later(request))
		return;
	reply_describe_error(
		request->model->settings->key, status, buffer_text(kept), kept->size, reason);
	finish_model_request(request, MODEL_FAILED, reason);
}

static bool is_object(const struct buffer *kept)
{
	size_t at = kept->size > 0 ? json_scan_space(kept->data, kept->size, 0) : 0;

	return at < kept->size && kept->data[at] == '{';
}

/* Take a whole body of an answer with the status 200. */
static void end_object(struct model_request *request, char *reason)
{
	const struct buffer *kept = &request->kept;
	const char *type = NULL;

	request->model->transfers.curl->easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
	if (request->handler && !is_object(kept))
		snprintf(reason, MODEL_REASON_BYTES, "its answer is %.100s, and no JSON",
			kept->size == 0 ? "empty"
			: type          ? type
					: "of no type");
	else if (request->handler && reply_take_whole(&request->reply, kept->data, kept->size) != 0)
		snprintf(reason, MODEL_REASON_BYTES, "%s",
			*request->reply.reason ? request->reply.reason : strerror(ENOMEM));
	if (!*reason)
		pass_text(request);
	finish_model_request(request, *reason ? MODEL_FAILED : MODEL_ANSWERED, reason);
}

static void end_stream(struct model_request *request, char *reason)
{
	if (!request->reply.is_finished)
		snprintf(reason, MODEL_REASON_BYTES, "its answer was cut off");
	else if (!request->reply.has_begun)
		snprintf(reason, MODEL_REASON_BYTES, "its answer has no choices");
	finish_model_request(request, *reason ? MODEL_FAILED : MODEL_ANSWERED, reason);
}

static void end_loss(struct model_request *request, CURLcode code, char *reason)
{
	struct model *model = request->model;
	bool is_away = has_no_server(code);
	bool has_begun = request->n_bytes > 0;

	snprintf(reason, MODEL_REASON_BYTES, "%s",
		has_begun ? "its answer was cut off" : describe_loss(request, code));
	if (!has_begun && (is_away || has_lost_server(code)) && try_later(request))
		return;
	is_away &= !has_begun;
	if (is_away)
		note_away(model, reason);
	finish_model_request(request, is_away ? MODEL_AWAY : MODEL_FAILED, reason);
}

/* A transfer is over (struct transfers). */
static void end_try(void *data, CURLcode code)
{
	struct model_request *request = data;
	char reason[MODEL_REASON_BYTES] = "";
	long status = 0;

	loop_timer_disarm(&request->timer);
	request->model->transfers.curl->easy_getinfo(
		request->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status != 0)
		note_reached(request->model);
	if (request->failure) {
		snprintf(reason, sizeof(reason), "%s", request->failure);
		finish_model_request(request, MODEL_FAILED, reason);
	} else if (code != CURLE_OK && !request->reply.is_finished) {
		end_loss(request, code, reason);
	} else if (status != 200) {
		end_status(request, status, reason);
	} else if (request->kind == BODY_STREAM) {
		end_stream(request, reason);
	} else {
		end_object(request, reason);
	}
}

/* ── a try ───────────────────────────────────────────────────────────────────────────────────── */

static void drop_easy(struct model_request *request)
{
	struct transfers *transfers = &request->model->transfers;

	if (!request->easy)
		return;
	transfers->curl->multi_remove_handle(transfers->multi, request->easy);
	transfers->curl->easy_cleanup(request->easy);
	request->easy = NULL;
}

static void reset_try(struct model_request *request)
{
	drop_easy(request);
	reply_deinit(&request->reply);
	request->reply.key = request->model->settings->key;
	mcp_events_deinit(&request->events);
	buffer_reset(&request->kept);
	request->events = (struct mcp_events){.bytes_max = MODEL_EVENT_BYTES, .takes_all = true};
	request->kept.limit = request->handler ? MODEL_RESPONSE_BYTES : ERROR_BYTES;
	request->kind = BODY_UNKNOWN;
	request->n_text = 0;
	request->n_bytes = 0;
	request->failure = NULL;
	*request->error = '\0';
}

/* Close the object of the body. */
static bool end_body(struct model_request *request)
{
	struct buffer *body = &request->body;

	request->was_plain = request->model->is_plain;
	body->size = request->body_size;
	buffer_append_string(body, ",\"stream\":true");
	if (!request->was_plain)
		buffer_append_string(body, ",\"stream_options\":{\"include_usage\":true}");
	buffer_append_char(body, '}');
	return buffer_status(body) == 0;
}

/* Set the options of the request. Only those with a text can fail, without memory. */
static bool set_request(struct model_request *request)
{
	struct model *model = request->model;
	const struct library *curl = model->transfers.curl;
	const char *proxy = model->settings->proxy;
	CURL *easy = request->easy;

	curl->easy_setopt(easy, CURLOPT_PRIVATE, request);
	curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, request->error);
	curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_model_bytes);
	curl->easy_setopt(easy, CURLOPT_WRITEDATA, request);
	curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)MODEL_CONNECT_MS);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl->easy_setopt(easy, CURLOPT_HTTPHEADER, model->fields);
	transfers_set_certificates(&model->transfers, easy);
	if (request->handler) {
		curl->easy_setopt(easy, CURLOPT_POST, 1L);
		curl->easy_setopt(
			easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		curl->easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.data);
	} else {
		curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)MODEL_CONNECT_MS);
	}
	return curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl->easy_setopt(easy, CURLOPT_PROXY, proxy ? proxy : "") == CURLE_OK &&
	       curl->easy_setopt(easy, CURLOPT_URL,
		       request->handler ? model->url.data : model->probe_url.data) == CURLE_OK;
}

static bool start_try(struct model_request *request)
{
	struct transfers *transfers = &request->model->transfers;

	reset_try(request);
	request->is_waiting = false;
	request->n_tries++;
	request->easy = transfers->curl->easy_init();
	return request->easy && (!request->handler || end_body(request)) && set_request(request) &&
	       transfers->curl->multi_add_handle(transfers->multi, request->easy) == CURLM_OK;
}

/* The pause is over, or the silence too long. */
static void on_request_timer(void *data)
{
	struct model_request *request = data;
	char reason[MODEL_REASON_BYTES] = "";

	if (request->is_waiting && request->n_tries > 0) {
		if (start_try(request))
			return;
		snprintf(reason, sizeof(reason), "%s", strerror(ENOMEM));
		finish_model_request(request, MODEL_FAILED, reason);
	} else if (request->is_waiting) {
		snprintf(reason, sizeof(reason), "it was away a moment ago");
		finish_model_request(request, MODEL_AWAY, reason);
	} else if (request->reply.is_finished) {
		drop_easy(request);
		end_stream(request, reason);
	} else {
		snprintf(reason, sizeof(reason), "its answer stalled for %d s",
			MODEL_STALL_MS / (int)MS_PER_S);
		drop_easy(request);
		finish_model_request(request, MODEL_FAILED, reason);
	}
}

static struct model_request *make_request(struct model *model)
{
	struct model_request *request = calloc(1, sizeof(*request));

	if (request && loop_timer_init(&request->timer, model->loop, on_request_timer, request) < 0)
		free(take_ptr(request));
	if (request)
		request->model = model;
	return request;
}

struct model_request *model_ask(
	struct model *model, struct buffer *body, const struct model_handler *handler, void *data)
{
	struct model_request *request = make_request(model);

	if (!request) {
		buffer_deinit(body);
		return NULL;
	}
	request->handler = handler;
	request->data = data;
	request->body = *body;
	request->body_size = body->size;
	*body = (struct buffer){0};
	if (clock_now_ms() < model->away_until_ms) {
		request->is_waiting = true;
		loop_timer_arm(&request->timer, 0);
	} else if (!start_try(request)) {
		model_request_free(take_ptr(request));
	}
	return request;
}

void model_request_free(struct model_request *request)
{
	if (!request)
		return;
	reset_try(request);
	mcp_events_deinit(&request->events);
	buffer_deinit(&request->kept);
	buffer_deinit(&request->body);
	loop_timer_deinit(&request->timer);
	free(request);
}

/* ── the client ──────────────────────────────────────────────────────────────────────────────── */

static bool add_line(struct model *model, const char *line)
{
	struct curl_slist *fields = model->transfers.curl->slist_append(model->fields, line);

	if (fields)
		model->fields = fields;
	return fields != NULL;
}

static bool add_lines(struct model *model)
{
	cleanup(buffer_deinit) struct buffer bearer = {0};
	bool is_good = add_line(model, "Content-Type: application/json") &&
		       add_line(model, "Accept: text/event-stream, application/json") &&
		       add_line(model, "Expect:");

	if (!is_good || !model->settings->key)
		return is_good;
	buffer_printf(&bearer, "Authorization: Bearer %s", model->settings->key);
	is_good = buffer_terminate(&bearer) && add_line(model, bearer.data);
	if (bearer.data)
		explicit_bzero(bearer.data, bearer.capacity);
	return is_good;
}

/* Append the URL of @path below the base, a string. */
static bool make_url(const struct model *model, const char *path, struct buffer *url)
{
	const char *base = model->settings->base_url;
	size_t size = strlen(base);

	while (size > 0 && base[size - 1] == '/')
		size--;
	buffer_append(url, base, size);
	buffer_append_string(url, path);
	return buffer_terminate(url) != NULL;
}

int model_new(struct loop *loop, const struct model_settings *settings, struct model **ret_model,
	const char **ret_reason)
{
	const struct library *curl = library_load(ret_reason);
	cleanup(model_cleanup) struct model *model = NULL;

	if (!curl)
		return -ENOSYS;
	model = calloc(1, sizeof(*model));
	if (!model)
		return -ENOMEM;
	model->loop = loop;
	model->settings = settings;
	if (!transfers_init(&model->transfers, curl, loop, end_try) || !add_lines(model) ||
		!make_url(model, "/chat/completions", &model->url) ||
		!make_url(model, "/models", &model->probe_url))
		return -ENOMEM;
	*ret_model = take_ptr(model);
	return 0;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	model_request_free(model->probe);
	if (model->transfers.curl)
		model->transfers.curl->slist_free_all(model->fields);
	transfers_deinit(&model->transfers);
	buffer_deinit(&model->url);
	buffer_deinit(&model->probe_url);
	free(model);
}

bool model_was_reachable(const struct model *model, uint64_t within_ms)
{
	return model->away_until_ms == 0 && model->reached_ms != 0 &&
	       clock_now_ms() - model->reached_ms <= within_ms;
}

void model_probe(struct model *model)
{
	if (model->probe)
		return;
	model->probe = make_request(model);
	if (model->probe && !start_try(model->probe))
		model_request_free(take_ptr(model->probe));
}
