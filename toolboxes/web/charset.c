/* SPDX-License-Identifier: Apache-2.0 */
#include "charset.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Where the encoding of an HTML page is looked for (HTML, 13.2.3.2). */
#define HEAD_SIZE 1024
#define NAME_SIZE 40
#define REPLACED  "\xEF\xBF\xBD"

/* Names that stand for a larger encoding (the Encoding Standard of WHATWG). */
static const struct {
	const char *label;
	const char *name;
} aliases[] = {
	{"ascii", "windows-1252"},
	{"us-ascii", "windows-1252"},
	{"iso-8859-1", "windows-1252"},
	{"iso8859-1", "windows-1252"},
	{"latin1", "windows-1252"},
	{"utf8", "utf-8"},
	{"gb2312", "gb18030"},
	{"gbk", "gb18030"},
	{"shift_jis", "cp932"},
	{"shift-jis", "cp932"},
	{"x-sjis", "cp932"},
	{"euc-kr", "cp949"},
	{"ks_c_5601-1987", "cp949"},
	{"iso-8859-9", "windows-1254"},
	{"utf-16", "utf-16le"},
};

/* Read the name after `charset=` in @text. Return whether there is one. */
static bool read_charset(const char *text, size_t size, char name[NAME_SIZE])
{
	const char *end = text + size;

	for (const char *at = text; at + 8 < end; at++) {
		size_t n = 0;

		if (strncasecmp(at, "charset", 7) != 0)
			continue;
		for (at += 7; at < end && isspace((unsigned char)*at); at++)
			;
		if (at == end || *at != '=')
			continue;
		for (at++; at < end && (isspace((unsigned char)*at) || strchr("\"'", *at)) && *at;
			at++)
			;
		while (at < end && n + 1 < NAME_SIZE &&
			(isalnum((unsigned char)*at) || (*at && strchr("-_:.", *at))))
			name[n++] = *at++;
		name[n] = '\0';
		return n > 0;
	}
	return false;
}

static bool is_utf8(const char *bytes, size_t size)
{
	size_t step = 0;

	for (size_t at = 0; at < size; at += step) {
		step = utf8_size(bytes + at, size - at);
		if (step == 0)
			return false;
	}
	return true;
}

/* Return the size of the byte order mark, with its encoding in *ret; 0: there is none. */
static size_t find_mark(const char *bytes, size_t size, const char **ret)
{
	static const struct {
		const char *mark;
		size_t size;
		const char *name;
	} marks[] = {
		{"\xEF\xBB\xBF", 3, "utf-8"},
		{"\xFF\xFE", 2, "utf-16le"},
		{"\xFE\xFF", 2, "utf-16be"},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (size >= marks[i].size && memcmp(bytes, marks[i].mark, marks[i].size) == 0) {
			*ret = marks[i].name;
			return marks[i].size;
		}
	return 0;
}

/* Return the converter for the encoding @name, or (iconv_t)-1. */
static iconv_t open_converter(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcasecmp(name, aliases[i].label) == 0)
			name = aliases[i].name;
	return iconv_open("UTF-8", name);
}

/* Append @text, which is UTF-8 for the most part. */
static void add_without_nul(const char *text, size_t size, struct text *out)
{
	while (size > 0 && !out->has_failed) {
		const char *nul = memchr(text, '\0', size);
		size_t n = nul ? (size_t)(nul - text) : size;

		text_add_lossy(out, text, n);
		if (nul)
			text_put(out, REPLACED);
		n += nul != NULL;
		text += n;
		size -= n;
	}
}

static void convert(iconv_t converter, char *bytes, size_t size, struct text *out)
{
	while (size > 0 && !out->has_failed) {
		char piece[4096];
		char *to = piece;
		size_t room = sizeof(piece);
		size_t r = iconv(converter, &bytes, &size, &to, &room);

		add_without_nul(piece, sizeof(piece) - room, out);
		if (r != (size_t)-1 || errno == E2BIG)
			continue;
		text_put(out, REPLACED);
		bytes++;
		size--;
	}
}

void charset_decode(
	const char *bytes, size_t size, const char *content_type, bool is_html, struct text *out)
{
	size_t head = size < HEAD_SIZE ? size : HEAD_SIZE;
	const char *encoding = "windows-1252";
	char name[NAME_SIZE];
	iconv_t converter;
	size_t mark = find_mark(bytes, size, &encoding);

	bytes += mark;
	size -= mark;
	head = head < size ? head : size;
	if (mark == 0 && content_type && read_charset(content_type, strlen(content_type), name))
		encoding = name;
	else if (mark == 0 && is_html && read_charset(bytes, head, name))
		/* A <meta> that can be read as ASCII is not in UTF-16. */
		encoding = strncasecmp(name, "utf-16", 6) == 0 ? "utf-8" : name;
	else if (mark == 0 && is_utf8(bytes, size))
		encoding = "utf-8";
	converter = open_converter(encoding);
	if (converter == (iconv_t)-1 && !is_utf8(bytes, size))
		converter = open_converter("windows-1252");
	if (strcasecmp(encoding, "utf-8") == 0 || converter == (iconv_t)-1)
		add_without_nul(bytes, size, out);
	else
		convert(converter, (char *)(uintptr_t)bytes, size, out);
	if (converter != (iconv_t)-1)
		iconv_close(converter);
}
