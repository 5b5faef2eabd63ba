/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/fields.h"
#include "config/reader.h"
#include "json/member.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/stringify.h"

_Static_assert(CONFIG_HTTP_PATH_BYTES - 1 == 107, "as the mistake has it");

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

static const char *const mcp_names_words[] = {
	[CONFIG_MCP_NAMES_QUALIFIED] = "qualified", [CONFIG_MCP_NAMES_BARE] = "bare", NULL};

#define FIELDS_OF struct config_http
static const struct config_field http_fields[] = {
	CONFIG_TEXT("profile", profile),
	CONFIG_WORD("mcp_names", mcp_names, mcp_names_words, CONFIG_MCP_NAMES_QUALIFIED),
	CONFIG_TEXT("public_url", public_url),
	CONFIG_TEXT("tls.cert", tls_cert),
	CONFIG_TEXT("tls.key", tls_key),
	CONFIG_FLAG("insecure", is_insecure, false),
	CONFIG_NUMBER("lazy_over", lazy_over, 64),
	CONFIG_NUMBER("limits.connections", limits.connections, 256),
	CONFIG_NUMBER("limits.per_address", limits.per_address, 64),
	CONFIG_NUMBER("limits.streams", limits.streams, 64),
	CONFIG_NUMBER("limits.header_bytes", limits.header_bytes, 16384),
	CONFIG_NUMBER("limits.body_bytes", limits.body_bytes, 0),
	CONFIG_NUMBER("limits.first_byte_s", limits.first_byte_s, 10),
	CONFIG_NUMBER("limits.request_s", limits.request_s, 30),
	CONFIG_NUMBER("limits.idle_s", limits.idle_s, 75),
};
#undef FIELDS_OF

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

/* Take one string of a list, which may be changed, into @http. Return 0, -ENOMEM, or -EINVAL
 * with its expected form. */
typedef int (*take_function)(struct config_http *http, char *text, const char **ret_expected);

static int take_address(struct config_http *http, char *text, const char **ret_expected)
{
	int r = array_grow(http->addresses, http->n_addresses);

	check(http->n_addresses < CONFIG_HTTP_LISTEN_MAX);
	if (r == 0)
		r = config_http_address_parse(
			text, &http->addresses[http->n_addresses], ret_expected);
	http->n_addresses += r == 0;
	return r;
}

static int take_allowed_host(struct config_http *http, char *text, const char **ret_expected)
{
	*ret_expected = "must be a name or an address, without a port";
	return take_host_name(text) ? text_list_add(&http->hosts, text) : -EINVAL;
}

/* Take scheme://host[:port], as a browser writes it. */
static int take_origin(struct config_http *http, char *text, const char **ret_expected)
{
	const char *host = strstr(text, "://");

	*ret_expected = "must be an origin as browsers write it, like https://panel.example:8443";
	if (!host || host == text || !host[3] || host[3] == '*' || strpbrk(host + 3, "/?#@ "))
		return -EINVAL;
	return text_list_add(&http->origins, text);
}

static int take_proxy(struct config_http *http, char *text, const char **ret_expected)
{
	int r = array_grow(http->proxies, http->n_proxies);

	*ret_expected = "must be an address or a network, like 127.0.0.1 or 10.0.0.0/8";
	if (r == 0 && !network_read(text, &http->proxies[http->n_proxies]))
		r = -EINVAL;
	http->n_proxies += r == 0;
	return r;
}

/* Give each string of the list @key of the section to @take. Return whether there is such a
 * list. */
static bool read_strings(struct config_reader *reader, uint32_t section, const char *key,
	take_function take, struct config_http *http)
{
	const struct json_tape *tape = &reader->tape;
	uint32_t list = json_find_typed(tape, section, key, JSON_ARRAY);

	if (list == JSON_NONE)
		return false;
	json_each(token, tape, list) {
		cleanup_free char *text = json_string_dup(tape, token, NULL);
		const char *expected = NULL;
		int r = text ? take(http, text, &expected) : -ENOMEM;

		if (r == -EINVAL)
			config_reader_wrong(reader, token, expected);
		else if (r < 0)
			reader->error = r;
	}
	return true;
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

static void read_public_url(
	struct config_reader *reader, uint32_t section, struct config_http *http)
{
	if (!http->public_url || take_public_url(http->public_url, http))
		return;
	config_reader_wrong(reader, json_find(&reader->tape, section, "public_url"),
		"must be a URL of at most " STRINGIFY(
			CONFIG_HTTP_URL_BYTES_MAX) " bytes, like https://home.example/tools, "
						   "without a query");
	free(take_ptr(http->public_url));
}

static void read_token_list(
	struct config_reader *reader, uint32_t section, struct config_http *http)
{
	struct config_mistake mistake;
	uint32_t list = json_find_typed(&reader->tape, section, "tokens", JSON_ARRAY);
	int r;

	if (list == JSON_NONE)
		return;
	r = http_tokens_read(&reader->tape, list, &http->tokens, &mistake);
	http->needs_token = http->tokens.n_items > 0;
	if (r < 0)
		reader->error = r;
	if (r > 0)
		config_reader_close(reader, mistake.token, "%s", mistake.text);
}

/* Settle which lists of MCP are lazy: all, the long ones ("auto"), or none. */
static void read_lazy(struct config_reader *reader, uint32_t section, struct config_http *http)
{
	uint32_t lazy = json_find_present(&reader->tape, section, "mcp_lazy");

	if (lazy == JSON_NONE || json_type_at(&reader->tape, lazy) == JSON_FALSE)
		http->lazy_over = SIZE_MAX;
	else if (json_is_true(&reader->tape, lazy))
		http->lazy_over = 0;
}

void config_http_read(struct config_reader *reader, uint32_t section, struct config_http *http)
{
	int r = config_fields_read(
		&reader->tape, section, http_fields, ARRAY_SIZE(http_fields), http);

	if (r == 0 && !http->profile) {
		http->profile = strdup("default");
		r = http->profile ? 0 : -ENOMEM;
	}
	if (r < 0)
		reader->error = r;
	read_lazy(reader, section, http);
	read_strings(reader, section, "listen", take_address, http);
	read_token_list(reader, section, http);
	http->has_hosts = read_strings(reader, section, "allowed_hosts", take_allowed_host, http);
	http->has_origins = read_strings(reader, section, "allowed_origins", take_origin, http);
	read_public_url(reader, section, http);
	read_strings(reader, section, "trusted_proxies", take_proxy, http);
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
static void check_reach(struct config_reader *reader, uint32_t token,
	const struct config_http *http, const struct buffer *url, const char *tls,
	const char *instead)
{
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

static void check_exposed(
	struct config_reader *reader, uint32_t token, const struct config_http *http)
{
	const struct config_http_address *address = find_exposed(http);
	cleanup(buffer_deinit) struct buffer url = {0};

	if (address) {
		config_http_address_write(http, address, &url);
		check_reach(reader, token, http, &url, http->tls_cert ? NULL : "http.tls",
			"listen on 127.0.0.1 instead");
	} else if (http->n_addresses > 0 && http->public_url &&
		   !config_http_host_is_loopback(http->public_host)) {
		buffer_append_string(&url, http->public_url);
		check_reach(reader, token, http, &url,
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

void config_http_check(
	struct config_reader *reader, uint32_t token, size_t args_bytes, struct config_http *http)
{
	if (http->limits.body_bytes == 0)
		http->limits.body_bytes = args_bytes + BODY_EXTRA_BYTES;
	if (!http->tls_cert != !http->tls_key && !reader->closing.is_closed)
		config_reader_close(reader, token, "http.tls needs both \"cert\" and \"key\"");
	/* A closed configuration does not know what is missing. */
	if (!reader->closing.is_closed)
		check_exposed(reader, token, http);
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
	config_fields_deinit(http_fields, ARRAY_SIZE(http_fields), http);
	free(http->addresses);
	free(http->proxies);
	http_tokens_deinit(&http->tokens);
	text_list_deinit(&http->hosts);
	text_list_deinit(&http->origins);
}
