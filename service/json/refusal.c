/* SPDX-License-Identifier: Apache-2.0 */
#include "json/refusal.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

int json_refuse(
	struct json_fault *fault, enum json_status status, const char *at, const char *message)
{
	*fault = (struct json_fault){.status = (int)status, .at = at, .message = message};
	return (int)status;
}

static const char *refuse_start(const char *at, const char *end)
{
	if (end - at >= 3 && memcmp(at, BYTE_ORDER_MARK, 3) == 0)
		return "expected a value, found a byte order mark; save the text without one";
	return "expected a value, found a character that cannot begin one";
}

const char *json_refusal_value(const char *text, const char *at, const char *end)
{
	if (at == end)
		return at == text ? "expected a value, found an empty text"
				  : "expected a value, but the text ends";
	switch (*at) {
	case '\'':
		return "expected a value, found a single quote; strings take double quotes";
	case '/':
	case '#':
		return "expected a value, found what looks like a comment; JSON has no comments";
	case '+':
		return "expected a value, found '+'; a number takes no plus sign";
	case '.':
		return "expected a value, found '.'; a number takes a digit before its point";
	case ',':
		return "expected a value, found ','";
	case ':':
		return "expected a value, found ':'";
	case ']':
	case '}':
		return "expected a value, found a closing bracket; is there a comma too many?";
	case 't':
	case 'f':
	case 'n':
		return "expected 'true', 'false' or 'null', found another word";
	case 'T':
	case 'F':
	case 'N':
	case 'I':
	case 'u':
		return "expected a value, found a bare word; JSON has only true, false and null";
	case '\0':
		return "expected a value, found a NUL byte";
	default:
		return refuse_start(at, end);
	}
}

const char *json_refusal_key(const char *at, const char *end)
{
	if (at == end)
		return "expected a key in double quotes, but the text ends";
	switch (*at) {
	case '}':
		return "expected a key in double quotes, found '}'; is there a comma too many?";
	case '\'':
		return "expected a key in double quotes, found a single quote";
	case '/':
	case '#':
		return "expected a key in double quotes, found what looks like a comment";
	default:
		return "expected a key in double quotes, found something else";
	}
}

const char *json_refusal_colon(const char *at, const char *end)
{
	if (at == end)
		return "expected ':' after a key, but the text ends";
	return "expected ':' after a key, found something else";
}

const char *json_refusal_comma(enum json_type container, const char *at, const char *end)
{
	if (container == JSON_OBJECT) {
		if (at == end)
			return "expected ',' or '}' in an object, but the text ends";
		if (*at == ']')
			return "expected ',' or '}' in an object, found ']'";
		return "expected ',' or '}' in an object, found something else";
	}
	if (at == end)
		return "expected ',' or ']' in an array, but the text ends";
	if (*at == '}')
		return "expected ',' or ']' in an array, found '}'";
	return "expected ',' or ']' in an array, found something else";
}

const char *json_refusal_number(const char *start, const char *at, const char *end)
{
	if (at == end)
		return "expected a digit of a number, but the text ends";
	if (at[0] >= '0' && at[0] <= '9')
		return "expected a number, found a leading zero";
	if (at == start + 1 && *start == '-')
		return "expected a digit after '-', found something else";
	if (at[-1] == '.')
		return "expected a digit after the point of a number, found something else";
	return "expected a digit in the exponent of a number, found something else";
}

const char *json_refusal_escape(const char *at, const char *end)
{
	if (end - at < 2)
		return "expected a character after a backslash, but the text ends";
	if (at[1] != 'u')
		return "expected one of \" \\ / b f n r t u after a backslash, found another "
		       "character";
	if (end - at < 6)
		return "expected four hexadecimal digits after \\u, but the text ends";
	return "expected four hexadecimal digits after \\u, found something else";
}
