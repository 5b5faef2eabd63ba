/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "schema/format/check.h"
#include "util/text/text.h"

/* Characters of RFC 3986, as a mask for each part of a URI. */
enum {
	IN_SCHEME = 1,
	IN_USER = 2,   /* unreserved, sub-delims, ':' */
	IN_NAME = 4,   /* unreserved, sub-delims */
	IN_PATH = 8,   /* pchar, '/' */
	IN_QUERY = 16, /* pchar, '/', '?' */
};

static unsigned int parts_of(char c)
{
	if (text_is_alphanumeric(c))
		return IN_SCHEME | IN_USER | IN_NAME | IN_PATH | IN_QUERY;
	switch (c) {
	case '+':
	case '-':
	case '.':
		return IN_SCHEME | IN_USER | IN_NAME | IN_PATH | IN_QUERY;
	case '_':
	case '~':
	case '!':
	case '$':
	case '&':
	case '\'':
	case '(':
	case ')':
	case '*':
	case ',':
	case ';':
	case '=':
		return IN_USER | IN_NAME | IN_PATH | IN_QUERY;
	case ':':
		return IN_USER | IN_PATH | IN_QUERY;
	case '@':
	case '/':
		return IN_PATH | IN_QUERY;
	case '?':
		return IN_QUERY;
	default:
		return 0;
	}
}

static bool is_hex(char c)
{
	return c != '\0' && strchr("0123456789abcdefABCDEF", c) != NULL;
}

/* Return whether all characters of @text are allowed in @part, with %XX where escapes are
 * allowed. */
static bool is_part(const char *text, size_t size, unsigned int part)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '%' && part != IN_SCHEME) {
			if (size - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))
				return false;
			i += 2;
		} else if (!(parts_of(text[i]) & part)) {
			return false;
		}
	}
	return true;
}

static size_t find_any(const char *text, size_t size, const char *stops)
{
	size_t at = 0;

	while (at < size && (text[at] == '\0' || !strchr(stops, text[at])))
		at++;
	return at;
}

/* "v1.…": an address of the future (section 3.2.2). */
static bool is_future_address(const char *text, size_t size)
{
	size_t dot = find_any(text, size, ".");

	if (dot < 2 || dot + 1 >= size || (text[0] != 'v' && text[0] != 'V'))
		return false;
	for (size_t i = 1; i < dot; i++) {
		if (!is_hex(text[i]))
			return false;
	}
	return is_part(text + dot + 1, size - dot - 1, IN_USER) &&
	       !memchr(text + dot, '%', size - dot);
}

static bool is_port(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
	}
	return true;
}

/* user@host:port */
static bool is_authority(const char *text, size_t size)
{
	size_t at = find_any(text, size, "@");
	size_t host;

	if (at < size) {
		if (!is_part(text, at, IN_USER))
			return false;
		text += at + 1;
		size -= at + 1;
	}
	if (size > 0 && text[0] == '[') {
		host = find_any(text, size, "]");
		if (host == size || (!format_is_ipv6(text + 1, host - 1) &&
					    !is_future_address(text + 1, host - 1)))
			return false;
		host++;
	} else {
		host = find_any(text, size, ":");
		if (!is_part(text, host, IN_NAME))
			return false;
	}
	return host == size || (text[host] == ':' && is_port(text + host + 1, size - host - 1));
}

/* The bytes of the scheme at the start of @text, without its colon, or 0. */
static size_t scheme_length(const char *text, size_t size)
{
	size_t at = find_any(text, size, ":/?#");
	bool starts_with_letter = at > 0 && ((text[0] >= 'a' && text[0] <= 'z') ||
						    (text[0] >= 'A' && text[0] <= 'Z'));

	if (at == size || text[at] != ':' || !starts_with_letter || !is_part(text, at, IN_SCHEME))
		return 0;
	return at;
}

bool format_is_uri_reference(const char *text, size_t size)
{
	size_t scheme = scheme_length(text, size);
	size_t at;

	if (scheme > 0) {
		text += scheme + 1;
		size -= scheme + 1;
	}
	at = find_any(text, size, "#");
	if (at < size && !is_part(text + at + 1, size - at - 1, IN_QUERY))
		return false;
	size = at;
	at = find_any(text, size, "?");
	if (at < size && !is_part(text + at + 1, size - at - 1, IN_QUERY))
		return false;
	size = at;
	if (size >= 2 && text[0] == '/' && text[1] == '/') {
		at = find_any(text + 2, size - 2, "/");
		if (!is_authority(text + 2, at))
			return false;
		text += 2 + at;
		size -= 2 + at;
	} else if (scheme == 0) {
		/* Section 4.2: a colon in the first segment would make it a scheme. */
		at = find_any(text, size, "/:");
		if (at < size && text[at] == ':')
			return false;
	}
	return is_part(text, size, IN_PATH);
}

bool format_is_uri(const char *text, size_t size)
{
	return scheme_length(text, size) > 0 && format_is_uri_reference(text, size);
}

bool format_is_json_pointer(const char *text, size_t size)
{
	if (size > 0 && text[0] != '/')
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '~' && (i + 1 == size || (text[i + 1] != '0' && text[i + 1] != '1')))
			return false;
	}
	return true;
}
