/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "now.h"
#include "resolve.h"

#define CONNECT_MS        10000
#define ANSWER_MS         500 /* the time that is left to answer a call */
#define HEADERS_BYTES_MAX (256u << 10)
#define URL_SIZE_MAX      8000
#define USER_AGENT        "toolboxd/" TOOLBOXD_VERSION " (webfetch)"

_Static_assert(HEADERS_BYTES_MAX >> 10 == 256, "as the words have it");

/* A request while it runs. */
struct request {
	const struct fetch *fetch;
	const struct fetch_url *url;
	struct fetched *fetched;
	size_t bytes_max;
	size_t header_bytes;
	bool has_proxy;
	bool is_too_large;
	bool has_too_many_headers;
	struct text blocked; /* the addresses that were refused */
	char error[CURL_ERROR_SIZE];
};

bool fetch_is_late(void *fetch)
{
	const struct fetch *one = fetch;

	return now_ms() >= one->end_ms || toolbox_ms_left(one->call) < ANSWER_MS;
}

/* ── URLs ────────────────────────────────────────────────────────────────────────────────────── */

/* Copy the part @part of @handle to *ret. Return whether there is one. */
static bool read_part(CURLU *handle, CURLUPart part, unsigned int flags, char **ret)
{
	char *value = NULL;
	bool is_good = curl_url_get(handle, part, &value, flags) == CURLUE_OK;

	if (is_good)
		*ret = strdup(value);
	curl_free(value);
	return is_good && *ret;
}

/* Read the path of @handle with its query. */
static bool read_path_query(CURLU *handle, char **ret)
{
	char *path = NULL;
	char *query = NULL;
	bool is_good = read_part(handle, CURLUPART_PATH, 0, &path);

	if (is_good && read_part(handle, CURLUPART_QUERY, 0, &query)) {
		is_good = asprintf(ret, "%s?%s", path, query) >= 0;
		*ret = is_good ? *ret : NULL;
		free(path);
	} else {
		*ret = path;
	}
	free(query);
	return is_good;
}

static bool read_parts(CURLU *handle, struct fetch_url *ret)
{
	char *port = NULL;
	bool is_good;

	curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0);
	is_good = read_part(handle, CURLUPART_URL, 0, &ret->whole) &&
		  read_part(handle, CURLUPART_HOST, CURLU_PUNYCODE, &ret->host) &&
		  read_path_query(handle, &ret->path) &&
		  read_part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT, &port);
	if (is_good)
		ret->port = (unsigned int)strtoul(port, NULL, 10);
	free(port);
	/* An address of version 6 without its brackets. */
	if (is_good && *ret->host == '[') {
		size_t size = strcspn(ret->host + 1, "]%");

		memmove(ret->host, ret->host + 1, size);
		ret->host[size] = '\0';
	}
	return is_good && *ret->host;
}

bool fetch_url_read(const char *url, struct fetch_url *ret, struct text *why)
{
	CURLU *handle = strlen(url) <= URL_SIZE_MAX ? curl_url() : NULL;
	unsigned int flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;
	char *user = NULL;
	bool is_good = handle && curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK &&
		       read_part(handle, CURLUPART_SCHEME, 0, &ret->scheme);

	if (!is_good) {
		text_printf(why,
			"Invalid URL: %.200s (expected http:// or https://, a host, and at most %d "
			"bytes)",
			url, URL_SIZE_MAX);
	} else if (strcmp(ret->scheme, "http") != 0 && strcmp(ret->scheme, "https") != 0) {
		text_printf(
			why, "Unsupported protocol: %s: (http and https are fetched)", ret->scheme);
		is_good = false;
	} else if (read_part(handle, CURLUPART_USER, 0, &user)) {
		text_put(why, "Invalid URL: a user and a password in an URL are not sent");
		is_good = false;
	} else {
		is_good = read_parts(handle, ret);
		if (!is_good)
			text_printf(why, "Invalid URL: %.200s", url);
	}
	free(user);
	curl_url_cleanup(handle);
	return is_good;
}

void fetch_url_free(struct fetch_url *url)
{
	free(url->whole);
	free(url->scheme);
	free(url->host);
	free(url->path);
	*url = (struct fetch_url){0};
}

/* ── addresses ───────────────────────────────────────────────────────────────────────────────── */

/* Note that @address is refused. */
static void note_blocked(struct request *request, const struct sockaddr *address, const char *kind)
{
	if (request->blocked.size > 0)
		return;
	text_printf(&request->blocked, "Blocked private or local network host: %s (resolved to ",
		request->url->host);
	address_write(address, &request->blocked);
	text_printf(&request->blocked, ", %s %s address); toolboxes.web.allow may name it",
		*kind == 'u' ? "an" : "a", kind);
}

static bool is_allowed(struct request *request, const struct sockaddr *address)
{
	const char *kind = address_kind(address);

	if (!kind || allow_has(&request->fetch->settings->allow, request->url->host,
			     request->url->port, address))
		return true;
	note_blocked(request, address, kind);
	return false;
}

/* Make the socket for @address (CURLOPT_OPENSOCKETFUNCTION), unless the address is refused. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct request *request = data;

	if (purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	if (!request->has_proxy && !is_allowed(request, &address->addr))
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Judge the name of the page for a proxy, which resolves it for itself. */
static bool judge_name(struct request *request, uint64_t wait_ms, struct text *why)
{
	const char *host = request->url->host;
	struct addrinfo *list = NULL;
	int r = resolve_host(host, wait_ms, &list);
	bool is_good = r == 0;

	if (r != 0)
		text_printf(why,
			"Request failed: Failed to resolve host for private network protection "
			"(%s): %s",
			host, gai_strerror(r));
	for (const struct addrinfo *one = list; one && is_good; one = one->ai_next)
		is_good = is_allowed(request, one->ai_addr);
	if (r == 0 && !is_good)
		text_printf(why, "Request failed: %s", text_string(&request->blocked));
	if (list)
		freeaddrinfo(list);
	return is_good;
}

/* ── the transfer ────────────────────────────────────────────────────────────────────────────── */

/* Take a part of the body (CURLOPT_WRITEFUNCTION), after its content encoding. */
static size_t take_body(char *bytes, size_t unused, size_t size, void *data)
{
	struct request *request = data;
	struct text *body = &request->fetched->body;

	(void)unused;
	if (size > request->bytes_max - body->size) {
		request->is_too_large = true;
		return CURL_WRITEFUNC_ERROR;
	}
	text_add(body, bytes, size);
	return body->has_failed ? CURL_WRITEFUNC_ERROR : size;
}

/* Count a header (CURLOPT_HEADERFUNCTION). */
static size_t count_header(char *bytes, size_t unused, size_t size, void *data)
{
	struct request *request = data;

	(void)bytes;
	(void)unused;
	request->header_bytes += size;
	request->has_too_many_headers = request->header_bytes > HEADERS_BYTES_MAX;
	return request->has_too_many_headers ? CURL_WRITEFUNC_ERROR : size;
}

static void set_transfer(CURL *easy, struct request *request, uint64_t wait_ms)
{
	const char *authorities = getenv("SSL_CERT_FILE");

	curl_easy_setopt(easy, CURLOPT_URL, request->url->whole);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROXY, request->fetch->settings->proxy);
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	curl_easy_setopt(easy, CURLOPT_USERAGENT, USER_AGENT);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)wait_ms);
	curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->bytes_max);
	if (authorities && *authorities)
		curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
}

static void set_functions(CURL *easy, struct request *request)
{
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, request);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->error);
}

/* Append why the transfer ended with @code. */
static void write_failure(
	CURL *easy, const struct request *request, CURLcode code, struct text *why)
{
	struct curl_header *size = NULL;

	text_put(why, "Request failed: ");
	if (request->is_too_large)
		text_printf(why, "Request aborted: response body exceeds %zu bytes",
			request->bytes_max);
	else if (code == CURLE_FILESIZE_EXCEEDED) {
		curl_easy_header(easy, "Content-Length", 0, CURLH_HEADER, -1, &size);
		text_printf(why, "Request rejected: response body too large (%.20s bytes)",
			size ? size->value : "too many");
	} else if (request->has_too_many_headers)
		text_put(why, "the headers of the response have more than 256 KiB");
	else if (code == CURLE_OPERATION_TIMEDOUT)
		text_put(why, "Request timeout or aborted (the whole fetch has 30 s)");
	else if (request->blocked.size > 0)
		text_add(why, text_string(&request->blocked), request->blocked.size);
	else if (code == CURLE_OUT_OF_MEMORY || request->fetched->body.has_failed)
		text_put(why, "out of memory");
	else
		text_put(why, *request->error ? request->error : curl_easy_strerror(code));
}

/* Keep what the response says of itself. */
static bool read_response(CURL *easy, struct fetched *fetched, struct text *why)
{
	char *type = NULL;
	char *redirect = NULL;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &fetched->status);
	curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &redirect);
	fetched->type = type ? strdup(type) : NULL;
	fetched->redirect = redirect ? strdup(redirect) : NULL;
	if ((!type || fetched->type) && (!redirect || fetched->redirect))
		return true;
	text_put(why, "out of memory");
	return false;
}

/* Return the time until @end_ms, or until the call has to be answered; 1 without any. */
static uint64_t wait_time(const struct fetch *fetch, uint64_t end_ms)
{
	uint64_t left_ms = toolbox_ms_left(fetch->call);
	uint64_t at_ms = now_ms();
	uint64_t wait_ms = end_ms > at_ms ? end_ms - at_ms : 1;

	if (left_ms <= ANSWER_MS)
		return 1;
	return wait_ms < left_ms - ANSWER_MS ? wait_ms : left_ms - ANSWER_MS;
}

bool fetch_get(const struct fetch *fetch, const struct fetch_url *url, size_t bytes_max,
	uint64_t end_ms, struct fetched *ret, struct text *why)
{
	struct request request = {
		.fetch = fetch,
		.url = url,
		.fetched = ret,
		.bytes_max = bytes_max,
		.has_proxy = *fetch->settings->proxy,
	};
	CURL *easy = NULL;
	CURLcode code;
	bool is_good;

	is_good = !request.has_proxy || judge_name(&request, wait_time(fetch, end_ms), why);
	if (is_good) {
		easy = curl_easy_init();
		is_good = easy;
		if (!easy)
			text_put(why, "out of memory");
	}
	if (is_good) {
		set_transfer(easy, &request, wait_time(fetch, end_ms));
		set_functions(easy, &request);
		code = curl_easy_perform(easy);
		is_good = code == CURLE_OK && read_response(easy, ret, why);
		if (code != CURLE_OK)
			write_failure(easy, &request, code, why);
	}
	curl_easy_cleanup(easy);
	text_free(&request.blocked);
	return is_good;
}

void fetched_deinit(struct fetched *fetched)
{
	free(fetched->type);
	free(fetched->redirect);
	text_free(&fetched->body);
	*fetched = (struct fetched){0};
}
