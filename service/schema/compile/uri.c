/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/uri.h"

#include <stdbool.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/text/text.h"

/* A run of bytes; @bytes NULL means an absent part, which differs from an empty part. */
struct part {
	const char *bytes;
	size_t size;
};

/* scheme ':' '//' authority path '?' query */
struct uri {
	struct part scheme;
	struct part authority;
	struct part path;
	struct part query;
};

static bool is_scheme_char(char c)
{
	return text_is_alphanumeric(c) || c == '+' || c == '-' || c == '.';
}

static size_t find_any(const char *bytes, size_t size, const char *stops)
{
	size_t at = 0;

	while (at < size && !strchr(stops, bytes[at]))
		at++;
	return at;
}

size_t uri_fragment(const char *uri, size_t size)
{
	const char *hash = size > 0 ? memchr(uri, '#', size) : NULL;

	return hash ? (size_t)(hash - uri) : size;
}

/* Split @text, a URI without its fragment. */
static struct uri split(const char *text, size_t size)
{
	struct uri uri = {0};
	size_t at = 0;

	while (at < size && is_scheme_char(text[at]))
		at++;
	if (at > 0 && at < size && text[at] == ':') {
		uri.scheme = (struct part){text, at};
		text += at + 1;
		size -= at + 1;
	}
	if (size >= 2 && text[0] == '/' && text[1] == '/') {
		at = find_any(text + 2, size - 2, "/?");
		uri.authority = (struct part){text + 2, at};
		text += 2 + at;
		size -= 2 + at;
	}
	at = find_any(text, size, "?");
	uri.path = (struct part){text, at};
	if (at < size)
		uri.query = (struct part){text + at + 1, size - at - 1};
	return uri;
}

/* Cut the last segment, with its slash, off the text of @out after @start. */
static void drop_segment(struct buffer *out, size_t start)
{
	while (out->size > start) {
		out->size--;
		if (out->data[out->size] == '/')
			return;
	}
}

/* Append @path without its "." and ".." segments (section 5.2.4). */
static void append_path(struct buffer *out, struct part path)
{
	size_t start = out->size;
	size_t at = 0;

	while (at < path.size) {
		size_t lead = path.bytes[at] == '/';
		size_t length = find_any(path.bytes + at + lead, path.size - at - lead, "/");
		const char *segment = path.bytes + at + lead;
		bool is_last = at + lead + length == path.size;
		bool is_up = length == 2 && memcmp(segment, "..", 2) == 0;

		at += lead + length;
		if (is_up || (length == 1 && segment[0] == '.')) {
			if (is_up)
				drop_segment(out, start);
			if (is_last && lead)
				buffer_append_char(out, '/');
			continue;
		}
		buffer_append(out, segment - lead, lead + length);
	}
}

/* Append the path of @reference taken from the folder of @base's path (section 5.2.3). */
static void append_merged(struct buffer *out, const struct uri *base, struct part reference)
{
	cleanup(buffer_deinit) struct buffer merged = {0};
	size_t folder = base->path.size;

	while (folder > 0 && base->path.bytes[folder - 1] != '/')
		folder--;
	if (folder == 0 && base->authority.bytes)
		buffer_append_char(&merged, '/');
	buffer_append(&merged, base->path.bytes, folder);
	buffer_append(&merged, reference.bytes, reference.size);
	if (buffer_status(&merged) < 0) {
		out->error = buffer_status(&merged);
		return;
	}
	append_path(out, (struct part){merged.data, merged.size});
}

static void append_part(struct buffer *out, const char *before, struct part part, const char *after)
{
	if (!part.bytes)
		return;
	buffer_append_string(out, before);
	buffer_append(out, part.bytes, part.size);
	buffer_append_string(out, after);
}

void uri_resolve(struct buffer *out, const char *base_text, size_t base_size,
	const char *reference_text, size_t reference_size)
{
	struct uri base = split(base_text, uri_fragment(base_text, base_size));
	struct uri reference = split(reference_text, uri_fragment(reference_text, reference_size));

	if (reference.scheme.bytes) {
		append_part(out, "", reference.scheme, ":");
		append_part(out, "//", reference.authority, "");
		append_path(out, reference.path);
		append_part(out, "?", reference.query, "");
		return;
	}
	append_part(out, "", base.scheme, ":");
	if (reference.authority.bytes) {
		append_part(out, "//", reference.authority, "");
		append_path(out, reference.path);
		append_part(out, "?", reference.query, "");
		return;
	}
	append_part(out, "//", base.authority, "");
	if (reference.path.size == 0) {
		buffer_append(out, base.path.bytes, base.path.size);
		append_part(out, "?", reference.query.bytes ? reference.query : base.query, "");
		return;
	}
	if (reference.path.bytes[0] == '/')
		append_path(out, reference.path);
	else
		append_merged(out, &base, reference.path);
	append_part(out, "?", reference.query, "");
}

void uri_decode(struct buffer *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int high = i + 2 < size && text[i] == '%' ? text_hex_value(text[i + 1]) : -1;
		int low = high >= 0 ? text_hex_value(text[i + 2]) : -1;

		if (low < 0) {
			buffer_append_char(out, text[i]);
			continue;
		}
		buffer_append_char(out, (char)(high * 16 + low));
		i += 2;
	}
}
