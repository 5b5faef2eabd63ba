/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "schema/format/check.h"
#include "util/text/text.h"

/* RFC 1035 section 2.3.4; the dot at the end of a full name is not written. */
#define HOSTNAME_BYTES_MAX 253
#define LABEL_BYTES_MAX    63

bool format_is_ipv4(const char *text, size_t size)
{
	size_t at = 0;

	for (int part = 0; part < 4; part++) {
		size_t start = at;
		int value = 0;

		while (at < size && at - start < 3 && text_is_digit(text[at]))
			value = value * 10 + (text[at++] - '0');
		if (at == start || value > 255 || (at - start > 1 && text[start] == '0'))
			return false;
		if (part < 3 && (at == size || text[at++] != '.'))
			return false;
	}
	return at == size;
}

/* Groups of up to four hex digits, the last possibly an IPv4 address for two. Returns how many, or
 * -1. */
static int count_groups(const char *text, size_t size, bool may_end_in_ipv4)
{
	int groups = 0;
	size_t at = 0;

	if (size == 0)
		return 0;
	while (true) {
		size_t start = at;

		while (at < size && text_hex_value(text[at]) >= 0)
			at++;
		if (may_end_in_ipv4 && at < size && text[at] == '.')
			return format_is_ipv4(text + start, size - start) ? groups + 2 : -1;
		if (at == start || at - start > 4)
			return -1;
		groups++;
		if (at == size)
			return groups;
		if (text[at++] != ':')
			return -1;
	}
}

bool format_is_ipv6(const char *text, size_t size)
{
	const char *gap = size > 0 ? memmem(text, size, "::", 2) : NULL;
	size_t before = gap ? (size_t)(gap - text) : size;
	int left = count_groups(text, before, !gap);
	int right = gap ? count_groups(gap + 2, size - before - 2, true) : 0;

	if (left < 0 || right < 0)
		return false;
	return gap ? left + right <= 7 : left == 8;
}

static bool is_label(const char *text, size_t size)
{
	if (size == 0 || size > LABEL_BYTES_MAX || text[0] == '-' || text[size - 1] == '-')
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!text_is_alphanumeric(text[i]) && text[i] != '-')
			return false;
	}
	if (size >= 4 && strncasecmp(text, "xn--", 4) == 0)
		return format_is_a_label(text + 4, size - 4);
	return true;
}

bool format_is_hostname(const char *text, size_t size)
{
	size_t at = 0;

	if (size > HOSTNAME_BYTES_MAX)
		return false;
	while (true) {
		const char *dot = size > at ? memchr(text + at, '.', size - at) : NULL;
		size_t length = dot ? (size_t)(dot - text) - at : size - at;

		if (!is_label(text + at, length))
			return false;
		if (!dot)
			return true;
		at += length + 1;
	}
}

/* The bytes of the quoted string (RFC 5321 section 4.1.2) at the start of @text, or 0. */
static size_t quoted_length(const char *text, size_t size)
{
	size_t at = 1;

	while (at < size && text[at] != '"') {
		if (text[at] == '\\')
			at++;
		if (at >= size || text[at] < ' ' || text[at] > '~')
			return 0;
		at++;
	}
	return at < size ? at + 1 : 0;
}

/* The bytes of the words joined by single dots at the start of @text, or 0. */
static size_t dotted_length(const char *text, size_t size)
{
	size_t at = 0;

	for (; at < size; at++) {
		if (text[at] == '.') {
			if (at == 0 || text[at - 1] == '.')
				return 0;
		} else if (!text_is_alphanumeric(text[at]) &&
			   (text[at] == '\0' || !strchr("!#$%&'*+-/=?^_`{|}~", text[at]))) {
			break;
		}
	}
	return at > 0 && text[at - 1] == '.' ? 0 : at;
}

/* "[192.0.2.1]" or "[IPv6:::1]". */
static bool is_address_literal(const char *text, size_t size)
{
	static const char ipv6[] = "IPv6:";
	size_t prefix = sizeof(ipv6) - 1;

	if (size < 2 || text[0] != '[' || text[size - 1] != ']')
		return false;
	text++;
	size -= 2;
	if (size > prefix && strncasecmp(text, ipv6, prefix) == 0)
		return format_is_ipv6(text + prefix, size - prefix);
	return format_is_ipv4(text, size);
}

bool format_is_email(const char *text, size_t size)
{
	size_t local;

	if (size == 0)
		return false;
	local = text[0] == '"' ? quoted_length(text, size) : dotted_length(text, size);
	if (local == 0 || local == size || text[local] != '@')
		return false;
	text += local + 1;
	size -= local + 1;
	return format_is_hostname(text, size) || is_address_literal(text, size);
}
