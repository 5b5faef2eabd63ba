/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/http/address.h"

#include <stdio.h>
#include <string.h>

#include "config/token.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"
#include "web/library.h"

#define UNIX_SCHEME "unix:"

/* The URL for a Unix socket: a name that every service takes in Host. */
#define UNIX_URL "http://localhost"

/* The parts that no URL of a service has. */
static const CURLUPart strange[] = {
	CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT};

static bool has_part(const struct library *curl, CURLU *url, CURLUPart part, const char *value)
{
	char *found = NULL;
	bool has = curl->url_get(url, part, &found, 0) == CURLUE_OK &&
		   (!value || strcmp(found, value) == 0);

	curl->free(found);
	return has;
}

/* Write the URL @text as libcurl has it; the path is the one at which a proxy has the service. */
static bool normalise(
	const struct library *curl, CURLU *url, const char *text, char ret_url[HTTP_URL_BYTES])
{
	char *whole = NULL;
	size_t size;
	bool is_good = curl->url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
		       (has_part(curl, url, CURLUPART_SCHEME, "http") ||
			       has_part(curl, url, CURLUPART_SCHEME, "https"));

	for (size_t i = 0; is_good && i < ARRAY_SIZE(strange); i++)
		is_good = !has_part(curl, url, strange[i], NULL);
	is_good = is_good && curl->url_get(url, CURLUPART_URL, &whole, 0) == CURLUE_OK &&
		  strlen(whole) < HTTP_URL_BYTES;
	if (is_good) {
		size = strlen(whole);
		while (whole[size - 1] == '/')
			size--;
		snprintf(ret_url, HTTP_URL_BYTES, "%.*s", (int)size, whole);
	}
	curl->free(whole);
	return is_good;
}

/* Return whether others can read the requests to @url on their way. */
static bool is_exposed(const struct library *curl, CURLU *url)
{
	char *host = NULL;
	bool is_bracketed;
	bool is_here;

	if (!has_part(curl, url, CURLUPART_SCHEME, "http") ||
		curl->url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		return false;
	is_bracketed = *host == '[';
	host[strcspn(host, "]")] = '\0';
	is_here = config_http_host_is_loopback(host + is_bracketed);
	curl->free(host);
	return !is_here;
}

/* Parse a URL. Return 0, or CTL_USAGE after a complaint. */
static int parse_url(const char *name, const char *text, struct http_address *address)
{
	const char *reason = "must be http://HOST:PORT, https://HOST:PORT, with or without a path, "
			     "or unix:/PATH";
	cleanup_free char *shown = NULL;
	const struct library *curl;
	CURLU *url;
	bool is_good;

	if (strncmp(text, UNIX_SCHEME, strlen(UNIX_SCHEME)) == 0) {
		struct config_http_address found;

		is_good = config_http_address_parse(text, &found, &reason) == 0;
		if (is_good) {
			memcpy(address->path, found.path, sizeof(address->path));
			strcpy(address->url, UNIX_URL);
		}
	} else {
		curl = library_load(&reason);
		if (!curl) {
			terminal_complain("HTTP needs libcurl: %s", reason);
			return CTL_USAGE;
		}
		url = curl->url();
		is_good = url && normalise(curl, url, text, address->url);
		address->is_exposed = is_good && is_exposed(curl, url);
		curl->url_cleanup(url);
	}
	if (is_good)
		return 0;
	shown = text_mask_url_dup(text);
	terminal_complain("%s %s, not '%s'", name, reason, shown ? shown : TEXT_MASK);
	return CTL_USAGE;
}

int http_address_read(const char *name, const char *text, const char *token_file,
	struct http_address *ret_address)
{
	struct http_address address = {0};
	int r = parse_url(name, text, &address);

	if (r != 0)
		return r;
	if (token_file)
		r = config_token_read(token_file, address.token);
	if (r < 0) {
		terminal_complain(
			"--token-file %s, not '%s'", config_token_expected(r), token_file);
		return CTL_USAGE;
	}
	if (token_file && address.is_exposed)
		terminal_complain("warning: the token can be read on its way to %s: use https://",
			address.url);
	*ret_address = address;
	return 0;
}

const char *http_address_text(const struct http_address *address, char ret_text[HTTP_URL_BYTES])
{
	if (!*address->path)
		return address->url;
	snprintf(ret_text, HTTP_URL_BYTES, UNIX_SCHEME "%s", address->path);
	return ret_text;
}
