/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <string.h>
#include <strings.h>

#include "charset.h"
#include "html_text.h"
#include "kind.h"

#define HEAD_SIZE 8192

/* The longest type that an answer has. */
#define TYPE_SIZE_MAX 100

/* ── types ───────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the type of @page, without its parameters, is @name; or begins so, where @name
 * ends with '/'; or ends so, where @name begins with '+'. */
static bool is_type(const struct page *page, const char *name)
{
	const char *type = page->type ? page->type : "";
	size_t size = strcspn(type, "; \t");
	size_t n = strlen(name);

	if (name[0] == '+')
		return size > n && strncasecmp(type + size - n, name, n) == 0;
	return strncasecmp(type, name, n) == 0 && (name[n - 1] == '/' || size == n);
}

static bool is_one_of(const struct page *page, const char *const *names)
{
	for (; *names; names++)
		if (is_type(page, *names))
			return true;
	return false;
}

/* Types that are text, whatever their encoding. */
static const char *const texts[] = {"text/", "message/", "+json", "+xml", "application/json",
	"application/xml", "application/javascript", "application/x-javascript",
	"application/ecmascript", "application/yaml", "application/x-yaml", "application/toml",
	"application/csv", "application/sql", "application/x-ndjson", "application/x-sh", NULL};

static const char *const pictures[] = {"image/", "audio/", "video/", "font/", "model/", NULL};

/* Return whether @bytes are in an encoding that has NULs in a text. */
static bool is_wide(const struct page *page)
{
	return (page->type && strcasestr(page->type, "utf-16")) ||
	       (page->size >= 2 && (memcmp(page->bytes, "\xFF\xFE", 2) == 0 ||
					   memcmp(page->bytes, "\xFE\xFF", 2) == 0));
}

/* Return the size of the token of HTTP at @text (RFC 9110, 5.6.2). */
static size_t token_size(const char *text)
{
	return strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

void page_put_type(const char *type, struct text *out)
{
	size_t size = type ? token_size(type) : 0;

	if (size > 0 && type[size] == '/' && token_size(type + size + 1) > 0)
		size += 1 + token_size(type + size + 1);
	else
		size = 0;
	if (!type)
		text_put(out, "none");
	else if (size == 0 || size > TYPE_SIZE_MAX || (type[size] && !strchr("; \t,", type[size])))
		text_put(out, "unknown");
	else
		text_add(out, type, size);
}

/* Return whether the page is a text, or @why it is none. */
static bool judge_type(const struct page *page, struct text *why)
{
	size_t head = page->size < HEAD_SIZE ? page->size : HEAD_SIZE;
	bool is_text = is_one_of(page, texts);
	const char *kind = is_wide(page) ? NULL : binary_kind(page->bytes, head);

	if (!is_text && is_one_of(page, pictures))
		kind = kind ? kind : "no text";
	if (!kind)
		return true;
	text_printf(why, "%s is %s (Content-Type: ", page->url, kind);
	page_put_type(page->type, why);
	text_printf(why, "; %zu bytes): webfetch returns text only", page->size);
	return false;
}

static bool begins_as_html(const struct page *page)
{
	size_t at = 0;

	if (page->size >= 3 && memcmp(page->bytes, "\xEF\xBB\xBF", 3) == 0)
		at = 3;
	while (at < page->size && page->bytes[at] && strchr(" \t\r\n", page->bytes[at]))
		at++;
	return (page->size - at >= 9 && strncasecmp(page->bytes + at, "<!doctype", 9) == 0 &&
		       page->size - at >= 14 &&
		       strncasecmp(page->bytes + at + 9, " html", 5) == 0) ||
	       (page->size - at >= 5 && strncasecmp(page->bytes + at, "<html", 5) == 0);
}

static bool is_html(const struct page *page)
{
	return is_type(page, "text/html") || is_type(page, "application/xhtml+xml") ||
	       begins_as_html(page);
}

/* ── text ────────────────────────────────────────────────────────────────────────────────────── */

bool page_read(const struct page *page, bool is_raw, struct page_text *ret, struct text *why)
{
	bool has_html = is_html(page);
	struct text decoded = {0};
	struct html_page html = {.url = page->url, .is_late = page->is_late, .data = page->data};

	if (!judge_type(page, why))
		return false;
	charset_decode(page->bytes, page->size, page->type, has_html, &decoded);
	ret->is_simplified = has_html && !is_raw;
	if (!ret->is_simplified) {
		ret->text = decoded;
		return !decoded.has_failed;
	}
	html.bytes = text_string(&decoded);
	html.size = decoded.size;
	ret->is_empty = !html_text_write(&html, &ret->text, &ret->is_cut);
	ret->text.has_failed |= decoded.has_failed;
	text_free(&decoded);
	return !ret->text.has_failed;
}

/* ── parts ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the number of characters of @byte, the first one of a character, in a JSON string. */
static size_t json_size(char byte)
{
	if (byte == '\0' || !strchr("\"\\\n\r\t\b\f", byte))
		return (unsigned char)byte < 0x20 ? 6 : 1;
	return 2;
}

size_t page_part(const struct text *text, uint64_t start, uint64_t max, size_t json_max,
	size_t *ret_begin, uint64_t *ret_n)
{
	const char *bytes = text_string(text);
	size_t json = 0;
	size_t begin = 0;
	size_t end;

	for (uint64_t i = 0; i < start && begin < text->size; i++) {
		size_t step = utf8_size(bytes + begin, text->size - begin);

		begin += step ? step : 1;
	}
	*ret_begin = end = begin;
	for (*ret_n = 0; *ret_n < max && end < text->size; ++*ret_n) {
		size_t step = utf8_size(bytes + end, text->size - end);

		json += json_size(bytes[end]);
		if (json > json_max)
			break;
		end += step ? step : 1;
	}
	return end - begin;
}
