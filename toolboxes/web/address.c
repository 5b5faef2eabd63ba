/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An address of either version: version 4 is mapped into version 6 (RFC 4291, 2.5.5.2). */
struct ip {
	unsigned char bytes[16];
};

struct allow_entry {
	struct ip ip;
	unsigned int bits; /* of the prefix */
	unsigned int port; /* 0: all */
	char *host;        /* NULL: the prefix counts */
};

struct range {
	const char *address;
	unsigned int bits;
	const char *kind;
};

#define MAPPED_BITS 96

/* The special-purpose registries of IANA (RFC 6890 and later), and addresses where clouds keep the
 * data of a machine. */
static const struct range ranges[] = {
	{"0.0.0.0", 8, "unspecified"},
	{"10.0.0.0", 8, "private"},
	{"100.64.0.0", 10, "shared (carrier-grade NAT)"},
	{"127.0.0.0", 8, "loopback"},
	{"168.63.129.16", 32, "cloud metadata"},
	{"169.254.169.254", 32, "cloud metadata"},
	{"169.254.0.0", 16, "link-local"},
	{"172.16.0.0", 12, "private"},
	{"192.0.0.0", 24, "reserved"},
	{"192.0.2.0", 24, "documentation"},
	{"192.88.99.0", 24, "reserved"},
	{"192.168.0.0", 16, "private"},
	{"198.18.0.0", 15, "benchmarking"},
	{"198.51.100.0", 24, "documentation"},
	{"203.0.113.0", 24, "documentation"},
	{"224.0.0.0", 4, "multicast"},
	{"240.0.0.0", 4, "reserved"},
	{"::", 128, "unspecified"},
	{"::1", 128, "loopback"},
	{"fd00:ec2::254", 128, "cloud metadata"},
	{"fc00::", 7, "unique-local"},
	{"fe80::", 10, "link-local"},
	{"fec0::", 10, "site-local"},
	{"ff00::", 8, "multicast"},
	{"2001:db8::", 32, "documentation"},
	{"2001::", 23, "reserved"},
	{"3fff::", 20, "documentation"},
};

/* Where an address of version 6 has one of version 4, at @at. */
static const struct {
	const char *prefix;
	unsigned int bits;
	size_t at;
} embeddings[] = {
	{"::ffff:0:0", 96, 12}, /* mapped */
	{"64:ff9b::", 96, 12},  /* NAT64, RFC 6052 */
	{"2002::", 16, 2},      /* 6to4, RFC 3056 */
};

static void map_v4(const void *bytes, struct ip *ret)
{
	*ret = (struct ip){.bytes = {[10] = 0xFF, [11] = 0xFF}};
	memcpy(ret->bytes + 12, bytes, 4);
}

/* Read @address; version 4 adds to *bits, the size of a prefix. */
static bool parse_ip(const char *address, struct ip *ret, unsigned int *bits)
{
	unsigned char v4[4];

	if (inet_pton(AF_INET6, address, ret->bytes) == 1)
		return *bits <= 128;
	if (*bits > 32 || inet_pton(AF_INET, address, v4) != 1)
		return false;
	map_v4(v4, ret);
	*bits += MAPPED_BITS;
	return true;
}

static bool has_prefix(const struct ip *ip, const struct ip *prefix, unsigned int bits)
{
	unsigned int rest = bits % 8;
	unsigned int mask = 0xFFu << (8 - rest) & 0xFFu;

	return memcmp(ip->bytes, prefix->bytes, bits / 8) == 0 &&
	       (rest == 0 || ((ip->bytes[bits / 8] ^ prefix->bytes[bits / 8]) & mask) == 0);
}

static bool is_in(const struct ip *ip, const char *address, unsigned int bits)
{
	struct ip prefix;

	return parse_ip(address, &prefix, &bits) && has_prefix(ip, &prefix, bits);
}

static bool read_sockaddr(const struct sockaddr *address, struct ip *ret)
{
	if (address->sa_family == AF_INET)
		map_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr, ret);
	else if (address->sa_family == AF_INET6)
		memcpy(ret->bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
			16);
	else
		return false;
	return true;
}

/* Find the address of version 4 inside of @ip. Return whether there is one. */
static bool find_embedded(const struct ip *ip, struct ip *ret)
{
	for (size_t i = 0; i < sizeof(embeddings) / sizeof(embeddings[0]); i++)
		if (is_in(ip, embeddings[i].prefix, embeddings[i].bits)) {
			map_v4(ip->bytes + embeddings[i].at, ret);
			return true;
		}
	return false;
}

static const char *range_kind(const struct ip *ip)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (is_in(ip, ranges[i].address, ranges[i].bits))
			return ranges[i].kind;
	return NULL;
}

const char *address_kind(const struct sockaddr *address)
{
	const char *kind;
	struct ip embedded;
	struct ip ip;

	if (!read_sockaddr(address, &ip))
		return "unknown";
	kind = range_kind(&ip);
	if (kind)
		return kind;
	if (find_embedded(&ip, &embedded))
		return range_kind(&embedded);
	/* IANA gives out no other addresses of version 6 than these. */
	return is_in(&ip, "2000::", 3) ? NULL : "reserved";
}

void address_write(const struct sockaddr *address, struct text *out)
{
	char name[INET6_ADDRSTRLEN] = "?";
	const void *bytes =
		address->sa_family == AF_INET
			? (const void *)&((const struct sockaddr_in *)(const void *)address)
				  ->sin_addr
			: (const void *)&((const struct sockaddr_in6 *)(const void *)address)
				  ->sin6_addr;

	if (address->sa_family == AF_INET || address->sa_family == AF_INET6)
		inet_ntop(address->sa_family, bytes, name, sizeof(name));
	text_put(out, name);
}

/* ── exceptions ──────────────────────────────────────────────────────────────────────────────── */

/* Read digits, all of @text, of at most @max. */
static bool parse_digits(const char *text, unsigned int max, unsigned int *ret)
{
	size_t size = strlen(text);
	unsigned long number;

	if (size == 0 || size > 5 || strspn(text, "0123456789") != size)
		return false;
	number = strtoul(text, NULL, 10);
	*ret = (unsigned int)number;
	return number <= max;
}

/* Cut `:PORT` and brackets off @entry. Return the address or name, or NULL. */
static char *split_port(char *entry, unsigned int *ret_port)
{
	char *colon = strrchr(entry, ':');
	bool is_bracketed = *entry == '[';
	char *end = is_bracketed ? strchr(entry, ']') : NULL;

	*ret_port = 0;
	if (is_bracketed && (!end || (end[1] != '\0' && end[1] != ':')))
		return NULL;
	if (is_bracketed)
		colon = end[1] == ':' ? end + 1 : NULL;
	else if (colon && strchr(entry, ':') != colon)
		colon = NULL; /* version 6, which has a port only after brackets */
	if (colon && (!parse_digits(colon + 1, 65535, ret_port) || *ret_port == 0))
		return NULL;
	if (colon)
		*colon = '\0';
	if (end)
		*end = '\0';
	return entry + is_bracketed;
}

static bool is_host_name(const char *name)
{
	size_t size = strlen(name);

	return size > 0 && size <= 255 && !strchr("-.", *name) && name[size - 1] != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
		       size &&
	       strspn(name, "0123456789.") != size;
}

/* Read @entry, which is changed. */
static bool parse_entry(char *entry, struct allow_entry *ret)
{
	char *name = split_port(entry, &ret->port);
	char *slash = name ? strchr(name, '/') : NULL;

	if (!name)
		return false;
	if (slash)
		*slash = '\0';
	ret->bits = strchr(name, ':') ? 128 : 32;
	if (slash && !parse_digits(slash + 1, ret->bits, &ret->bits))
		return false;
	if (parse_ip(name, &ret->ip, &ret->bits))
		return true;
	ret->host = !slash && is_host_name(name) ? strdup(name) : NULL;
	return ret->host;
}

bool allow_add(struct allow_list *list, const char *entry, struct text *why)
{
	struct allow_entry *entries = realloc(list->entries, (list->n + 1) * sizeof(*entries));
	char *copy = strdup(entry);
	bool is_good;

	list->entries = entries ? entries : list->entries;
	is_good = entries && copy;
	if (!is_good)
		text_put(why, "out of memory");
	else {
		entries[list->n] = (struct allow_entry){0};
		is_good = parse_entry(copy, &entries[list->n]);
		list->n += is_good;
		if (!is_good)
			text_printf(why,
				"%s is not ADDRESS, CIDR or HOST with an optional :PORT, as "
				"192.168.1.10:8080, 10.0.0.0/8, [fd00::/8]:443 or wiki.lan",
				entry);
	}
	free(copy);
	return is_good;
}

/* Return whether the prefix of @entry holds @ip. A prefix of version 6 holds no address of version
 * 4, however short it is. */
static bool holds(const struct allow_entry *entry, const struct ip *ip)
{
	return (entry->bits >= MAPPED_BITS || !is_in(ip, "::ffff:0:0", MAPPED_BITS)) &&
	       has_prefix(ip, &entry->ip, entry->bits);
}

/* Return whether two names are equal; a dot at the end of @host does not count. */
static bool is_same_host(const char *host, const char *name)
{
	size_t size = strlen(name);

	return strncasecmp(host, name, size) == 0 &&
	       (host[size] == '\0' || strcmp(host + size, ".") == 0);
}

bool allow_has(const struct allow_list *list, const char *host, unsigned int port,
	const struct sockaddr *address)
{
	struct ip ip;
	struct ip embedded;
	bool has_embedded;

	if (!read_sockaddr(address, &ip))
		return false;
	has_embedded = find_embedded(&ip, &embedded);
	for (size_t i = 0; i < list->n; i++) {
		const struct allow_entry *entry = &list->entries[i];

		if (entry->port != 0 && entry->port != port)
			continue;
		if (entry->host ? is_same_host(host, entry->host)
				: holds(entry, &ip) || (has_embedded && holds(entry, &embedded)))
			return true;
	}
	return false;
}

void allow_deinit(struct allow_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->entries[i].host);
	free(list->entries);
	*list = (struct allow_list){0};
}
