/* SPDX-License-Identifier: Apache-2.0 */
#include "request/field.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "util/text/text.h"

/* Return whether @c may be in a token: a method, the name of a field (RFC 9110 §5.6.2). */
static bool is_name_byte(char c)
{
	return text_is_alphanumeric(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool field_is_value_byte(char c)
{
	unsigned char byte = (unsigned char)c;

	return byte == '\t' || (byte >= ' ' && byte != 0x7F);
}

bool field_is_token(const char *text)
{
	const char *at = text;

	while (is_name_byte(*at))
		at++;
	return at > text && !*at;
}

/* The bytes of a name, of an IPv4 address, and between the brackets of an IPv6 address (RFC 3986
 * §3.2.2). */
static bool is_host_byte(char c, bool is_bracketed)
{
	return text_is_alphanumeric(c) ||
	       (c && strchr(is_bracketed ? ":.%_-~" : "-._~!$&'()*+,;=%", c));
}

bool field_is_host(const char *text)
{
	bool is_bracketed = *text == '[';

	text += is_bracketed;
	while (is_host_byte(*text, is_bracketed))
		text++;
	if (is_bracketed && *text++ != ']')
		return false;
	if (*text == ':')
		text++;
	else if (*text)
		return false;
	while (text_is_digit(*text))
		text++;
	return !*text;
}

bool field_read_length(const char *text, size_t *ret_length)
{
	size_t length = 0;
	const char *at = text;

	for (; text_is_digit(*at); at++) {
		size_t digit = (size_t)(*at - '0');

		length = length > (SIZE_MAX - digit) / 10 ? SIZE_MAX : length * 10 + digit;
	}
	*ret_length = length;
	return at > text && !*at;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

void field_trim(const char **at, const char **end)
{
	while (*at < *end && is_blank(**at))
		(*at)++;
	while (*end > *at && is_blank((*end)[-1]))
		(*end)--;
}

bool field_list_has(const char *value, size_t size, const char *element)
{
	const char *end = value + size;

	while (value < end) {
		const char *comma = memchr(value, ',', (size_t)(end - value));
		const char *stop = comma ? comma : end;

		field_trim(&value, &stop);
		if ((size_t)(stop - value) == strlen(element) &&
			strncasecmp(value, element, strlen(element)) == 0)
			return true;
		value = comma ? comma + 1 : end;
	}
	return false;
}

/* Return whether the @size bytes of parameters at @at, each after a semicolon, have a weight of
 * zero. */
static bool has_no_weight(const char *at, size_t size)
{
	const char *end = at + size;

	while (at < end) {
		const char *semicolon = memchr(at, ';', (size_t)(end - at));
		const char *stop = semicolon ? semicolon : end;

		field_trim(&at, &stop);
		if (stop - at > 2 && strncasecmp(at, "q=", 2) == 0)
			return strspn(at + 2, "0.") >= (size_t)(stop - at - 2);
		at = semicolon ? semicolon + 1 : end;
	}
	return false;
}

bool field_accepts(const char *value, const char *type)
{
	while (*value) {
		size_t size = strcspn(value, ",");
		size_t range = strcspn(value, ",;");
		const char *stop = value + range;
		const char *at = value;

		field_trim(&at, &stop);
		if ((size_t)(stop - at) == strlen(type) &&
			strncasecmp(at, type, strlen(type)) == 0 &&
			!has_no_weight(value + range, size - range))
			return true;
		value += size + (value[size] == ',');
	}
	return false;
}
