/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "config/reader.h"
#include "util/cleanup.h"

/* The bytes that the body of a request may have in addition to its arguments. */
#define BODY_EXTRA_BYTES (64u << 10)

/* ── addresses ───────────────────────────────────────────────────────────────────────────────── */

static const char unix_scheme[] = "unix:";

static const char address_expected[] =
	"must be ADDRESS:PORT, like 127.0.0.1:8090 or [::1]:8090, or unix:/PATH";
static const char path_expected[] =
	"must be unix: and an absolute path of 107 bytes at most, without control characters";

static int parse_path(
	const char *path, struct config_http_address *ret_address, const char **ret_reason)
{
	bool has_controls = false;

	*ret_reason = path_expected;
	for (const char *at = path; *at; at++)
		has_controls = has_controls || (unsigned char)*at < ' ' || *at == 0x7f;
	if (*path != '/' || has_controls || strlen(path) >= sizeof(ret_address->path))
		return -EINVAL;
	*ret_address = (struct config_http_address){0};
	memcpy(ret_address->path, path, strlen(path) + 1);
	return 0;
}

int config_http_address_parse(
	const char *text, struct config_http_address *ret_address, const char **ret_reason)
{
	const char *colon = strrchr(text, ':');
	char url[BUS_URL_BYTES];
	struct bus_address found;

	if (strncmp(text, unix_scheme, sizeof(unix_scheme) - 1) == 0)
		return parse_path(text + sizeof(unix_scheme) - 1, ret_address, ret_reason);
	*ret_reason = address_expected;
	/* The port cannot be left out. */
	if (!colon || !colon[1] || strpbrk(text, "/?#") ||
		(*text == '[' && (colon == text || colon[-1] != ']')) ||
		(size_t)snprintf(url, sizeof(url), "ws://%s", text) >= sizeof(url) ||
		bus_address_parse(url, &found, NULL) < 0)
		return -EINVAL;
	*ret_address = (struct config_http_address){.port = found.port};
	memcpy(ret_address->host, found.host, sizeof(ret_address->host));
	return 0;
}

bool config_http_host_is_loopback(const char *host)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	if (inet_pton(AF_INET6, host, &v6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&v6);
	return strcasecmp(host, "localhost") == 0;
}

void config_http_address_write(const struct config_http *http,
	const struct config_http_address *address, struct buffer *out)
{
	bool is_bracketed = strchr(address->host, ':') != NULL;

	if (*address->path)
		buffer_printf(out, "%s%s", unix_scheme, address->path);
	else
		buffer_printf(out, "%s://%s%s%s:%u", http->tls_cert ? "https" : "http",
			is_bracketed ? "[" : "", address->host, is_bracketed ? "]" : "",
			address->port);
}

/* ── the values of keys ──────────────────────────────────────────────────────────────────────── */

/* Return whether the value at @token is a list; anything else but JSON_NONE is reported. */
static bool is_list(struct config_reader *reader, uint32_t token)
{
	if (token == JSON_NONE)
		return false;
	if (json_type_at(&reader->tape, token) == JSON_ARRAY)
		return true;
	config_reader_close_wrong(reader, token, "must be a list");
	return false;
}

static void read_listen_address(struct config_reader *reader, uint32_t token)
{
	struct config_http *http = &reader->config->http;
	cleanup_free char *text = config_reader_text_or_closes(reader, token);
	struct config_http_address *address = &http->addresses[http->n_addresses];
	const char *reason;

	if (!text)
		return;
	if (config_http_address_parse(text, address, &reason) < 0)
		config_reader_close_wrong(reader, token, reason);
	else
		http->n_addresses++;
}

void config_http_read_listen(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;

	if (!is_list(reader, value) || json_count(tape, value) == 0)
		return;
	if (json_count(tape, value) > CONFIG_HTTP_LISTEN_MAX) {
		config_reader_close_wrong(reader, value, "must have 16 addresses at most");
		return;
	}
	reader->config->http.addresses =
		calloc(json_count(tape, value), sizeof(*reader->config->http.addresses));
	if (!reader->config->http.addresses) {
		reader->error = -ENOMEM;
		return;
	}
	json_each(token, tape, value)
		read_listen_address(reader, token);
}

void config_http_read_tokens(struct config_reader *reader, uint32_t value)
{
	struct config_http *http = &reader->config->http;
	struct http_tokens_mistake mistake;
	int r;

	if (value == JSON_NONE)
		return;
	r = http_tokens_read(&reader->tape, value, false, &http->tokens, &mistake);
	http->needs_token = http->tokens.n_items > 0;
	if (r < 0)
		reader->error = r;
	if (r > 0)
		config_reader_close(reader, mistake.token, "%s", mistake.text);
}

void config_http_read_profile(struct config_reader *reader, uint32_t value)
{
	char **profile = &reader->config->http.profile;

	if (value != JSON_NONE) {
		*profile = config_reader_text_or_closes(reader, value);
		return;
	}
	*profile = strdup("default");
	if (!*profile)
		reader->error = -ENOMEM;
}

/* Cut the brackets of an IPv6 address off @text. Return false when it is no name and no address. */
static bool take_host_name(char *text)
{
	struct bus_address found;
	char url[BUS_URL_BYTES];
	struct in6_addr v6;
	size_t size = strlen(text);

	if (inet_pton(AF_INET6, text, &v6) == 1)
		return true;
	if (strpbrk(text, "/?#") ||
		(size_t)snprintf(url, sizeof(url), "ws://%s", text) >= sizeof(url) ||
		bus_address_parse(url, &found, NULL) < 0)
		return false;
	if (size != strlen(found.host) + (*text == '[' ? 2 : 0))
		return false;
	memcpy(text, found.host, strlen(found.host) + 1);
	return true;
}

/* Return whether @text is scheme://host[:port], as a browser writes it. */
static bool take_origin(char *text)
{
	const char *host = strstr(text, "://");

	return host && host > text && host[3] && host[3] != '*' && !strpbrk(host + 3, "/?#@ ");
}

/* Read a list of texts that @take accepts, and may change. */
static void read_texts(struct config_reader *reader, uint32_t value, bool (*take)(char *text),
	const char *expected, struct text_list *list)
{
	const struct json_tape *tape = &reader->tape;

	json_each(token, tape, value) {
		cleanup_free char *text = config_reader_text_or_closes(reader, token);

		if (text && !take(text))
			config_reader_close_wrong(reader, token, expected);
		else if (text && text_list_take(list, take_ptr(text)) < 0)
			reader->error = -ENOMEM;
	}
}

void config_http_read_hosts(struct config_reader *reader, uint32_t value)
{
	struct config_http *http = &reader->config->http;

	http->has_hosts = is_list(reader, value);
	if (http->has_hosts)
		read_texts(reader, value, take_host_name,
			"must be a name or an address, without a port", &http->hosts);
}

void config_http_read_origins(struct config_reader *reader, uint32_t value)
{
	struct config_http *http = &reader->config->http;

	http->has_origins = is_list(reader, value);
	if (http->has_origins)
		read_texts(reader, value, take_origin,
			"must be an origin as browsers write it, like https://panel.example:8443",
			&http->origins);
}

/* Return whether @text is an absolute URL of HTTP, and take its parts. */
static bool take_public_url(char *text, struct config_http *http)
{
	bool is_tls = strncasecmp(text, "https://", 8) == 0;
	const char *host = text + (is_tls ? 8 : 7);
	char url[CONFIG_HTTP_URL_BYTES_MAX + sizeof("ws://")];
	struct bus_address found;
	size_t size = strlen(text);

	if ((!is_tls && strncasecmp(text, "http://", 7) != 0) || size > CONFIG_HTTP_URL_BYTES_MAX ||
		strpbrk(host, "?#@\\\"<> \t"))
		return false;
	http->origin_size = (size_t)(host - text) + strcspn(host, "/");
	snprintf(url, sizeof(url), "ws://%.*s", (int)strcspn(host, "/"), host);
	if (bus_address_parse(url, &found, NULL) < 0)
		return false;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return false;
	while (size > http->origin_size && text[size - 1] == '/')
		text[--size] = '\0';
	memcpy(http->public_host, found.host, sizeof(http->public_host));
	return true;
}

void config_http_read_public_url(struct config_reader *reader, uint32_t value)
{
	struct config_http *http = &reader->config->http;
	cleanup_free char *text =
		value == JSON_NONE ? NULL : config_reader_text_or_closes(reader, value);

	if (text && !take_public_url(text, http))
		config_reader_close_wrong(reader, value,
			"must be a URL of at most 1024 bytes, like https://home.example/tools, "
			"without a query");
	else
		http->public_url = take_ptr(text);
}

static void read_proxy(struct config_reader *reader, uint32_t token)
{
	struct config_http *http = &reader->config->http;
	cleanup_free char *text = config_reader_text_or_closes(reader, token);

	if (text && !network_read(text, &http->proxies[http->n_proxies]))
		config_reader_close_wrong(reader, token,
			"must be an address or a network, like 127.0.0.1 or 10.0.0.0/8");
	else if (text)
		http->n_proxies++;
}

void config_http_read_proxies(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;
	struct config_http *http = &reader->config->http;

	if (!is_list(reader, value) || json_count(tape, value) == 0)
		return;
	if (json_count(tape, value) > CONFIG_HTTP_PROXIES_MAX) {
		config_reader_close_wrong(reader, value, "must have 64 networks at most");
		return;
	}
	http->proxies = calloc(json_count(tape, value), sizeof(*http->proxies));
	if (!http->proxies) {
		reader->error = -ENOMEM;
		return;
	}
	json_each(token, tape, value)
		read_proxy(reader, token);
}

bool config_http_trusts(const struct config_http *http, const struct in6_addr *address)
{
	for (size_t i = 0; i < http->n_proxies; i++)
		if (network_has(&http->proxies[i], address))
			return true;
	return false;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

/* Return the first address that others reach, or NULL. */
static const struct config_http_address *find_exposed(const struct config_http *http)
{
	for (size_t i = 0; i < http->n_addresses; i++)
		if (!*http->addresses[i].path &&
			!config_http_host_is_loopback(http->addresses[i].host))
			return &http->addresses[i];
	return NULL;
}

/* Append what @http lacks for an address that others reach: tokens, and @tls unless that is
 * NULL. */
static void write_missing(const struct config_http *http, const char *tls, struct buffer *out)
{
	buffer_append_string(out, http->needs_token ? "" : "http.tokens");
	buffer_append_string(out, !tls || http->needs_token ? "" : " and ");
	buffer_append_string(out, tls ? tls : "");
}

/* Report that other devices reach @url without a token or TLS, which takes @tls (NULL: it has TLS).
 * @instead: what else would help. */
static void check_reach(struct config_reader *reader, uint32_t token, const struct buffer *url,
	const char *tls, const char *instead)
{
	const struct config_http *http = &reader->config->http;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (http->needs_token && !tls)
		return;
	buffer_append_buffer(&text, url);
	buffer_append_string(&text, http->is_insecure ? " without " : ", which needs ");
	write_missing(http, tls, &text);
	if (!buffer_terminate(&text)) {
		reader->error = -ENOMEM;
	} else if (http->is_insecure) {
		config_reader_report(reader, DIAGNOSTIC_WARNING, token,
			"other devices reach %s, since http.insecure is true", text.data);
	} else {
		config_reader_report(reader, DIAGNOSTIC_ERROR, token,
			"other devices reach %s: set them, %s, or set http.insecure", text.data,
			instead);
		reader->is_refused = true;
	}
}

static void check_exposed(struct config_reader *reader, uint32_t token)
{
	const struct config_http *http = &reader->config->http;
	const struct config_http_address *address = find_exposed(http);
	cleanup(buffer_deinit) struct buffer url = {0};

	if (address) {
		config_http_address_write(http, address, &url);
		check_reach(reader, token, &url, http->tls_cert ? NULL : "http.tls",
			"listen on 127.0.0.1 instead");
	} else if (http->n_addresses > 0 && http->public_url &&
		   !config_http_host_is_loopback(http->public_host)) {
		buffer_append_string(&url, http->public_url);
		check_reach(reader, token, &url,
			strncasecmp(http->public_url, "https:", 6) == 0 ? NULL : "https",
			"leave http.public_url out");
	}
}

bool config_http_may_replace(const struct config_http *http, const struct config_http *in_force,
	const struct diagnostic_sink *sink)
{
	const struct config_http_address *address = find_exposed(in_force);
	/* config_http_keep() leaves the addresses their TLS. */
	bool has_tls = in_force->tls_cert != NULL;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!address || http->is_insecure || (http->needs_token && has_tls))
		return true;
	config_http_address_write(in_force, address, &text);
	buffer_append_string(&text, ", which needs ");
	write_missing(http, has_tls ? NULL : "http.tls", &text);
	if (buffer_terminate(&text))
		diagnostic_report(sink, DIAGNOSTIC_ERROR, NULL, 0, "",
			"since the start other devices reach %s: set them, or start again",
			text.data);
	return false;
}

void config_http_check(struct config_reader *reader, uint32_t token)
{
	struct config *config = reader->config;
	struct config_http *http = &config->http;

	if (http->limits.body_bytes == 0)
		http->limits.body_bytes = config->limits.args_bytes + BODY_EXTRA_BYTES;
	if (!http->tls_cert != !http->tls_key && reader->error == 0)
		config_reader_close(reader, token, "http.tls needs both \"cert\" and \"key\"");
	/* A closed configuration does not know what is missing. */
	if (!reader->closing.is_closed && reader->error == 0)
		check_exposed(reader, token);
}

static void swap(char **a, char **b)
{
	char *taken = *a;

	*a = *b;
	*b = taken;
}

void config_http_keep(struct config_http *http, struct config_http *in_force)
{
	struct config_http_address *addresses = http->addresses;
	size_t n_addresses = http->n_addresses;

	http->addresses = in_force->addresses;
	http->n_addresses = in_force->n_addresses;
	http->limits = in_force->limits;
	in_force->addresses = addresses;
	in_force->n_addresses = n_addresses;
	if (!http->tls_cert != !in_force->tls_cert) {
		swap(&http->tls_cert, &in_force->tls_cert);
		swap(&http->tls_key, &in_force->tls_key);
	}
}

void config_http_close(struct config_http *http)
{
	free(take_ptr(http->addresses));
	http->n_addresses = 0;
}

void config_http_deinit(struct config_http *http)
{
	free(http->addresses);
	http_tokens_deinit(&http->tokens);
	free(http->profile);
	free(http->tls_cert);
	free(http->tls_key);
	free(http->public_url);
	free(http->proxies);
	text_list_deinit(&http->hosts);
	text_list_deinit(&http->origins);
}
