/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/admission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bus/address.h"
#include "util/network.h"

int admission_init(struct admission *admission, const char *const *origins, size_t n_origins,
	const char *name, const char *token)
{
	*admission = (struct admission){.name = name, .token = token};
	admission->origins = calloc(n_origins + 1, sizeof(char *));
	if (!admission->origins)
		return -ENOMEM;
	for (size_t i = 0; i < n_origins; i++) {
		admission->origins[i] = strdup(origins[i]);
		if (!admission->origins[i])
			return -ENOMEM;
		admission->n_origins++;
	}
	return 0;
}

void admission_deinit(struct admission *admission)
{
	for (size_t i = 0; i < admission->n_origins; i++)
		free(admission->origins[i]);
	free(admission->origins);
	*admission = (struct admission){0};
}

/* Take the host out of `host`, `host:port`, `[v6]`, `[v6]:port` (RFC 9110 §7.2). Return false for
 * any other text. */
static bool take_host(const char *value, char ret_host[BUS_HOST_BYTES])
{
	bool is_bracketed = *value == '[';
	const char *start = value + is_bracketed;
	size_t size = strcspn(start, is_bracketed ? "]" : ":");
	const char *rest = start + size;

	if (is_bracketed && *rest++ != ']')
		return false;
	if (size == 0 || size >= BUS_HOST_BYTES)
		return false;
	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (*rest)
		return false;
	memcpy(ret_host, start, size);
	ret_host[size] = '\0';
	return true;
}

static bool is_host_ours(const struct admission *admission, const char *value)
{
	char host[BUS_HOST_BYTES];
	struct in6_addr address;

	return take_host(value, host) &&
	       (network_read_address(host, &address) || strcasecmp(host, "localhost") == 0 ||
		       strcasecmp(host, admission->name) == 0);
}

/* Return whether @origin is http://HOST, https://HOST, ws://HOST or wss://HOST, with or without a
 * `/` at its end, where @host is the request's own Host: libraries of clients send such ones, and
 * no page can have them. */
static bool is_own_origin(const char *origin, const char *host)
{
	size_t size = strlen(host);

	if (strncasecmp(origin, "http", 4) == 0)
		origin += 4;
	else if (strncasecmp(origin, "ws", 2) == 0)
		origin += 2;
	else
		return false;
	origin += *origin == 's' || *origin == 'S';
	return strncmp(origin, "://", 3) == 0 && strncasecmp(origin + 3, host, size) == 0 &&
	       (origin[3 + size] == '\0' || strcmp(origin + 3 + size, "/") == 0);
}

static bool is_origin_allowed(
	const struct admission *admission, const char *origin, const char *host)
{
	if (is_own_origin(origin, host))
		return true;
	for (size_t i = 0; i < admission->n_origins; i++)
		if (strcasecmp(origin, admission->origins[i]) == 0)
			return true;
	return false;
}

enum admission_result admission_check(
	const struct admission *admission, const char *host, const char *origin)
{
	if (origin && !is_origin_allowed(admission, origin, host))
		return ADMISSION_ORIGIN;
	return is_host_ours(admission, host) ? ADMISSION_GRANTED : ADMISSION_HOST;
}

/* Compare all bytes of the token, whatever @text is. */
static bool is_token(const struct admission *admission, const char *text, size_t size)
{
	size_t token_size = strlen(admission->token);
	unsigned int difference = size != token_size;

	for (size_t i = 0; i < token_size; i++)
		difference |= (unsigned char)admission->token[i] ^
			      (unsigned char)(i < size ? text[i] : 0);
	return difference == 0;
}

/* Find the value of `token=` in the query of @target. Return NULL without one. */
static const char *find_token(const char *target, size_t *ret_size)
{
	static const char key[] = "token=";
	const char *at = strchr(target, '?');

	for (; at; at = strchr(at + 1, '&')) {
		if (strncmp(at + 1, key, sizeof(key) - 1) != 0)
			continue;
		at += sizeof(key);
		*ret_size = strcspn(at, "&");
		return at;
	}
	return NULL;
}

bool admission_has_token(
	const struct admission *admission, const char *target, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t size;
	const char *token = find_token(target, &size);

	if (!*admission->token)
		return true;
	if (token)
		return is_token(admission, token, size);
	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	token = authorization + sizeof(scheme) - 1;
	token += strspn(token, " ");
	return is_token(admission, token, strlen(token));
}
