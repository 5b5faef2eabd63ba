/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/http/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "mcp/client/events.h"
#include "web/transfers.h"

struct http_client {
	const struct library *curl;
	struct transfers transfers;
	struct http_address address;
	char unix_url[HTTP_URL_BYTES];
	const char *text;          /* the URL for a person */
	struct curl_slist *fields; /* each request has them */
	struct curl_slist accept;  /* before them, for a stream */
};

struct http_transfer {
	struct http_client *client;
	CURL *easy;
	const struct http_handler *handler;
	void *data;
	struct buffer body;
	struct mcp_events events;
	bool is_stream;
	bool is_oversized;                 /* the response is, or one event */
	char reason[CURL_ERROR_SIZE + 64]; /* why it failed */
};

/* ── the end of a transfer ───────────────────────────────────────────────────────────────── */

/* Return whether a request that ended by @code may have been received. */
static bool is_lost(CURLcode code)
{
	return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
	       code == CURLE_PARTIAL_FILE || code == CURLE_WRITE_ERROR;
}

/* Return the reason of a failure for a person. */
static const char *describe_failure(struct http_transfer *transfer, CURLcode code)
{
	const struct library *curl = transfer->client->curl;
	size_t size = strlen(transfer->reason);
	long error = 0;

	curl->easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &error);
	if (transfer->is_oversized)
		return "the response is too large";
	if (code == CURLE_COULDNT_CONNECT && error != 0)
		return strerror((int)error);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		snprintf(transfer->reason + size, sizeof(transfer->reason) - size,
			"; SSL_CERT_FILE names an authority of your own");
	return *transfer->reason ? transfer->reason : curl->easy_strerror(code);
}

/* Report the end of a transfer, which its function may free. */
static void end_transfer(void *data, CURLcode code)
{
	struct http_transfer *transfer = data;
	const struct library *curl = transfer->client->curl;
	struct http_outcome outcome = {
		.body = {buffer_text(&transfer->body), transfer->body.size},
	};

	if (code == CURLE_OK && transfer->is_stream && transfer->body.size == 0) {
		outcome.failure = "the stream of events has ended";
		outcome.is_lost = true;
	} else if (code != CURLE_OK) {
		outcome.failure = describe_failure(transfer, code);
		outcome.is_lost = is_lost(code);
	}
	curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &outcome.status);
	curl->easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &outcome.type);
	transfer->handler->outcome(transfer->data, &outcome);
}

/* ── the client ──────────────────────────────────────────────────────────────────────────────── */

/* Add a field to each request. */
static bool add_field(struct http_client *client, const char *name, const char *value)
{
	char line[64 + BUS_TOKEN_BYTES];
	struct curl_slist *fields;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	fields = client->curl->slist_append(client->fields, line);
	explicit_bzero(line, sizeof(line));
	if (!fields)
		return false;
	client->fields = fields;
	return true;
}

static bool make_fields(struct http_client *client)
{
	char bearer[16 + BUS_TOKEN_BYTES];
	bool is_good;

	/* The session of our requests on the bus. */
	if (!add_field(client, "Session-Id", "default") ||
		!add_field(client, "Content-Type", "application/json"))
		return false;
	if (!*client->address.token)
		return true;
	snprintf(bearer, sizeof(bearer), "Bearer %s", client->address.token);
	is_good = add_field(client, "Authorization", bearer);
	explicit_bzero(bearer, sizeof(bearer));
	return is_good;
}

static bool prepare(struct http_client *client, struct loop *loop)
{
	if (!transfers_init(&client->transfers, client->curl, loop, end_transfer) ||
		!make_fields(client))
		return false;
	client->accept = (struct curl_slist){"Accept: text/event-stream", client->fields};
	return true;
}

int http_client_new(
	struct loop *loop, const struct http_address *address, struct http_client **ret_client)
{
	const char *reason;
	const struct library *curl = library_load(&reason);
	cleanup(http_client_cleanup) struct http_client *client = NULL;

	if (!curl) {
		terminal_complain("HTTP needs libcurl: %s", reason);
		return CTL_USAGE;
	}
	client = calloc(1, sizeof(*client));
	if (client) {
		client->curl = curl;
		client->address = *address;
		client->text = http_address_text(&client->address, client->unix_url);
	}
	if (!client || !prepare(client, loop)) {
		terminal_complain("%s", strerror(ENOMEM));
		return CTL_NO_BUS;
	}
	*ret_client = take_ptr(client);
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	transfers_deinit(&client->transfers);
	client->curl->slist_free_all(client->fields);
	explicit_bzero(client->address.token, sizeof(client->address.token));
	free(client);
}

const char *http_client_url(const struct http_client *client)
{
	return client->text;
}

/* ── transfers ───────────────────────────────────────────────────────────────────────────────── */

/* Look, at the end of the head, whether a stream begins (CURLOPT_HEADERFUNCTION). */
static size_t take_header(char *bytes, size_t one, size_t size, void *data)
{
	static const char media_type[] = "text/event-stream";
	struct http_transfer *transfer = data;
	const struct library *curl = transfer->client->curl;
	const char *type = NULL;
	long status = 0;

	(void)one;
	if (size > 2 || *bytes != '\r' || !transfer->handler->event)
		return size;
	curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	curl->easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
	if (status == 200 && type && strncmp(type, media_type, strlen(media_type)) == 0) {
		transfer->is_stream = true;
		transfer->handler->event(transfer->data, NULL, "", 0);
	}
	return size;
}

static int take_stream_event(void *data, const char *text, size_t size)
{
	struct http_transfer *transfer = data;
	const char *type = transfer->events.type;

	if (strcmp(type, "result") != 0 && strcmp(type, "error") != 0) {
		transfer->handler->event(transfer->data, type, text, size);
		return 0;
	}
	buffer_append(&transfer->body, text, size);
	return buffer_status(&transfer->body);
}

/* Keep a part of the body, or take its events (CURLOPT_WRITEFUNCTION). */
static size_t take_bytes(char *bytes, size_t one, size_t size, void *data)
{
	struct http_transfer *transfer = data;
	int r;

	(void)one;
	if (transfer->is_stream) {
		r = mcp_events_take(&transfer->events, bytes, size, take_stream_event, transfer);
	} else {
		buffer_append(&transfer->body, bytes, size);
		r = buffer_status(&transfer->body);
	}
	transfer->is_oversized = r == -EMSGSIZE;
	return r == 0 ? size : 0;
}

/* Set the options of @transfer. Only those with a text can fail, without memory. */
static bool set_options(struct http_transfer *transfer, const struct route_request *request)
{
	const struct http_client *client = transfer->client;
	const struct library *curl = client->curl;
	const char *path = client->address.path;
	CURL *easy = transfer->easy;
	cleanup(buffer_deinit) struct buffer url = {0};

	buffer_printf(&url, "%s%s", client->address.url, request->target.data);
	if (!buffer_terminate(&url) || curl->easy_setopt(easy, CURLOPT_URL, url.data) != CURLE_OK)
		return false;
	curl->easy_setopt(easy, CURLOPT_PRIVATE, transfer);
	curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason);
	curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
	curl->easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	curl->easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* Do not wait at the end for a name server that is slow. */
	curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl->easy_setopt(easy, CURLOPT_HTTPHEADER,
		transfer->handler->event ? &client->accept : client->fields);
	if (strcmp(request->method, "POST") == 0) {
		curl->easy_setopt(easy, CURLOPT_POST, 1L);
		curl->easy_setopt(
			easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		curl->easy_setopt(easy, CURLOPT_POSTFIELDS, buffer_text(&request->body));
	} else {
		curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	}
	/* libcurl sends a request again when a connection that was kept is found closed. */
	curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, (long)request->has_effect);
	transfers_set_certificates(&client->transfers, easy);
	return curl->easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
	       (!*path || curl->easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path) == CURLE_OK);
}

struct http_transfer *http_client_send(struct http_client *client,
	const struct route_request *request, const struct http_handler *handler, void *data)
{
	struct http_transfer *transfer = calloc(1, sizeof(*transfer));

	if (!transfer)
		return NULL;
	transfer->client = client;
	transfer->handler = handler;
	transfer->data = data;
	transfer->body.limit = BUS_FRAME_BYTES;
	transfer->events.bytes_max = BUS_FRAME_BYTES;
	transfer->events.takes_all = true;
	transfer->easy = client->curl->easy_init();
	if (transfer->easy && set_options(transfer, request) &&
		client->curl->multi_add_handle(client->transfers.multi, transfer->easy) == CURLM_OK)
		return transfer;
	http_transfer_free(transfer);
	return NULL;
}

bool http_transfer_is_connected(const struct http_transfer *transfer)
{
	curl_off_t since_us = 0;

	transfer->client->curl->easy_getinfo(
		transfer->easy, CURLINFO_PRETRANSFER_TIME_T, &since_us);
	return since_us > 0;
}

void http_transfer_free(struct http_transfer *transfer)
{
	if (!transfer)
		return;
	if (transfer->easy) {
		transfer->client->curl->multi_remove_handle(
			transfer->client->transfers.multi, transfer->easy);
		transfer->client->curl->easy_cleanup(transfer->easy);
	}
	buffer_deinit(&transfer->body);
	mcp_events_deinit(&transfer->events);
	free(transfer);
}
