/* SPDX-License-Identifier: Apache-2.0 */
#include "http/identity.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/digest.h"
#include "util/sha256.h"
#include "util/siphash.h"

#define HOST_BYTES BUS_HOST_BYTES

/* Split @text, `host`, `host:port` or `[address]:port`: copy the host, without brackets. Return the
 * text of the port, "" for none, or NULL when @text has another form. */
static const char *split_host(const char *text, char ret_host[HOST_BYTES])
{
	bool has_brackets = *text == '[';
	const char *start = text + has_brackets;
	size_t size = strcspn(start, has_brackets ? "]" : ":");
	const char *rest = start + size;

	if (size == 0 || size >= HOST_BYTES || (has_brackets && *rest++ != ']'))
		return NULL;
	memcpy(ret_host, start, size);
	ret_host[size] = '\0';
	if (*rest == '\0')
		return rest;
	return *rest == ':' && rest[1] ? rest + 1 : NULL;
}

bool identity_host_is_local(const char *host)
{
	char name[HOST_BYTES];

	return split_host(host, name) && config_http_host_is_loopback(name);
}

bool identity_origin_is_ours(const char *origin, uint16_t port, bool is_tls)
{
	const char *scheme = is_tls ? "https://" : "http://";
	char name[HOST_BYTES];
	char expected[8];
	const char *found;

	if (strncmp(origin, scheme, strlen(scheme)) != 0)
		return false;
	found = split_host(origin + strlen(scheme), name);
	snprintf(expected, sizeof(expected), "%u", port);
	/* An origin without a port means the port of the scheme (RFC 6454 §4). */
	return found && config_http_host_is_loopback(name) &&
	       strcmp(*found    ? found
		       : is_tls ? "443"
				: "80",
		       expected) == 0;
}

bool identity_host_is_allowed(const struct config_http *http, const char *host)
{
	char name[HOST_BYTES];

	if (!split_host(host, name))
		return false;
	if (*http->public_host && strcasecmp(http->public_host, name) == 0)
		return true;
	if (http->has_hosts) {
		for (size_t i = 0; i < http->hosts.n_items; i++)
			if (strcasecmp(http->hosts.items[i], name) == 0)
				return true;
		return false;
	}
	for (size_t i = 0; i < http->n_addresses; i++)
		if (strcasecmp(http->addresses[i].host, name) == 0)
			return true;
	return config_http_host_is_loopback(name);
}

bool identity_origin_is_allowed(
	const struct config_http *http, const char *origin, const uint16_t *ports, size_t n_ports)
{
	if (http->public_url && strlen(origin) == http->origin_size &&
		strncasecmp(http->public_url, origin, http->origin_size) == 0)
		return true;
	if (http->has_origins) {
		for (size_t i = 0; i < http->origins.n_items; i++)
			if (strcasecmp(http->origins.items[i], origin) == 0)
				return true;
		return false;
	}
	for (size_t i = 0; i < n_ports; i++)
		if (identity_origin_is_ours(origin, ports[i], http->tls_cert != NULL))
			return true;
	return false;
}

/* Return the token that @authorization shows, or NULL. */
static const struct http_token *find_token(
	const struct http_tokens *tokens, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	unsigned char digest[HTTP_TOKEN_DIGEST_BYTES];
	const struct http_token *found = NULL;

	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return NULL;
	authorization += sizeof(scheme) - 1;
	authorization += strspn(authorization, " ");
	http_token_digest(authorization, strlen(authorization), digest);
	for (size_t i = 0; i < tokens->n_items; i++)
		if (sha256_is_same(tokens->items[i].digest, digest, sizeof(digest)))
			found = &tokens->items[i];
	return found;
}

bool identity_read(const struct config_http *http, const char *authorization,
	const struct http_peer *peer, struct http_identity *ret_identity)
{
	bool needs_token = http->needs_token && !peer->is_unix;
	const struct http_token *token =
		needs_token ? find_token(&http->tokens, authorization) : NULL;

	*ret_identity = (struct http_identity){
		.profile = token ? token->profile : http->profile,
		.is_admin = token ? token->is_admin : peer->is_operator,
		.token = token,
		.holder = token ? ret_identity->source : peer->holder,
	};
	snprintf(ret_identity->source, sizeof(ret_identity->source), "%s%s",
		peer->is_unix ? "" : "http:", token ? token->name : peer->address);
	return token || !needs_token;
}

/* Return the digest of the name of a profile, which may be NULL. */
static uint64_t digest_profile(const char *profile)
{
	return profile ? digest_bytes(DIGEST_SEED, profile, strlen(profile)) : 0;
}

struct http_rights identity_rights(
	const struct http_identity *identity, const struct http_peer *peer)
{
	struct http_rights rights = {
		.profile = digest_profile(identity->profile),
		.has_token = identity->token != NULL,
		.is_admin = identity->is_admin,
		.is_unix = peer->is_unix,
	};

	if (identity->token)
		memcpy(rights.token, identity->token->digest, sizeof(rights.token));
	return rights;
}

uint64_t identity_hash_token(const struct http_rights *rights)
{
	struct siphash_key key = siphash_process_key();
	struct siphash hash;

	if (!rights->has_token)
		return 0;
	siphash_init(&hash, &key);
	siphash_bytes(&hash, (const char *)rights->token, sizeof(rights->token));
	return siphash_finish(&hash);
}

bool identity_rights_hold(const struct config_http *http, const struct http_rights *rights)
{
	if (!rights->has_token)
		return (rights->is_unix || !http->needs_token) &&
		       digest_profile(http->profile) == rights->profile;
	for (size_t i = 0; i < http->tokens.n_items; i++) {
		const struct http_token *token = &http->tokens.items[i];

		if (memcmp(token->digest, rights->token, sizeof(rights->token)) == 0)
			return token->is_admin == rights->is_admin &&
			       digest_profile(token->profile) == rights->profile;
	}
	return false;
}
