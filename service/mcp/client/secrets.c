/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/secrets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json/reader.h"
#include "mcp/client/secret_forms.h"
#include "util/array.h"
#include "util/cleanup.h"

_Static_assert(MCP_SECRET_BYTES >> 10 == 64, "as the reason has it");

#define MASK "***"

/* The most levels of a text whose strings are masked. */
#define MASKED_DEPTH 1000

/* ── the texts to mask ───────────────────────────────────────────────────────────────────────── */

static bool has_secret(const struct mcp_secrets *secrets, const char *text, size_t size)
{
	for (size_t i = 0; i < secrets->n_items; i++)
		if (secrets->items[i].size == size &&
			memcmp(secrets->items[i].text, text, size) == 0)
			return true;
	return false;
}

/* Add one text, in its place by length (mcp_secret_form_function). */
static int add_secret(void *data, const char *text, size_t size)
{
	struct mcp_secrets *secrets = data;
	struct mcp_secret secret = {.size = size};
	size_t at;

	if (size < MCP_MASKED_BYTES || has_secret(secrets, text, size))
		return 0;
	if (array_grow(secrets->items, secrets->n_items) < 0)
		return -ENOMEM;
	secret.text = malloc(size);
	if (!secret.text)
		return -ENOMEM;
	memcpy(secret.text, text, size);
	for (at = secrets->n_items++; at > 0 && secrets->items[at - 1].size < size; at--)
		secrets->items[at] = secrets->items[at - 1];
	secrets->items[at] = secret;
	secrets->begins[(unsigned char)*text] = true;
	return 0;
}

bool mcp_names_secret(const char *name, size_t size)
{
	static const char *const parts[] = {
		"auth", "cookie", "credential", "key", "passw", "secret", "token"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (size_t at = 0; at + strlen(parts[i]) <= size; at++)
			if (strncasecmp(name + at, parts[i], strlen(parts[i])) == 0)
				return true;
	return false;
}

int mcp_secrets_add(struct mcp_secrets *secrets, const char *text, size_t size)
{
	int r = size < MCP_MASKED_BYTES ? 0 : mcp_secret_forms(text, size, add_secret, secrets);

	/* A log has lines. */
	for (size_t start = 0; r == 0 && start < size;) {
		const char *end = memchr(text + start, '\n', size - start);
		size_t length = end ? (size_t)(end - text) - start : size - start;

		r = length == size || length < MCP_MASKED_BYTES
			    ? 0
			    : mcp_secret_forms(text + start, length, add_secret, secrets);
		start += length + 1;
	}
	return r;
}

/* Return the secret at the start of the @size bytes at @text, or NULL. */
static const struct mcp_secret *find_secret(
	const struct mcp_secrets *secrets, const char *text, size_t size)
{
	for (size_t i = 0; i < secrets->n_items; i++)
		if (secrets->items[i].size <= size &&
			memcmp(secrets->items[i].text, text, secrets->items[i].size) == 0)
			return &secrets->items[i];
	return NULL;
}

/* Return whether the @size bytes at @text are the beginning of a secret that is longer. */
static bool begins_secret(const struct mcp_secrets *secrets, const char *text, size_t size)
{
	for (size_t i = 0; i < secrets->n_items && secrets->items[i].size > size; i++)
		if (memcmp(secrets->items[i].text, text, size) == 0)
			return true;
	return false;
}

/* Return the next place from @at on at which a secret may begin, or @size. */
static size_t skip_others(
	const struct mcp_secrets *secrets, const char *text, size_t at, size_t size)
{
	while (at < size && !secrets->begins[(unsigned char)text[at]])
		at++;
	return at;
}

/* Append @text with the secrets masked. @is_part: it goes on, so stop where the rest may be the
 * beginning of a secret. Return how many bytes were taken. */
static size_t mask(const struct mcp_secrets *secrets, const char *text, size_t size, bool is_part,
	struct buffer *out)
{
	size_t at = 0;

	while (at < size) {
		size_t next = skip_others(secrets, text, at, size);
		const struct mcp_secret *secret;

		buffer_append(out, text + at, next - at);
		at = next;
		if (at == size || (is_part && begins_secret(secrets, text + at, size - at)))
			break;
		secret = find_secret(secrets, text + at, size - at);
		if (secret)
			buffer_append_string(out, MASK);
		else
			buffer_append_char(out, text[at]);
		at += secret ? secret->size : 1;
	}
	return at;
}

bool mcp_secrets_are_in(const struct mcp_secrets *secrets, const char *text, size_t size)
{
	if (secrets->n_items == 0)
		return false;
	for (size_t at = 0; (at = skip_others(secrets, text, at, size)) < size; at++)
		if (find_secret(secrets, text + at, size - at))
			return true;
	return false;
}

void mcp_secrets_mask_whole(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out)
{
	mask(secrets, text, size, false, out);
}

int mcp_secrets_mask_json(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t start = out->size;
	bool is_string = false;
	int r;

	for (size_t at = 0; at < size; is_string = !is_string) {
		size_t end = at;

		while (end < size && text[end] != '"')
			end += is_string && text[end] == '\\' ? 2 : 1;
		end = end < size ? end : size;
		if (is_string)
			mask(secrets, text + at, end - at, false, out);
		else
			buffer_append(out, text + at, end - at);
		if (end < size)
			buffer_append_char(out, '"');
		at = end + 1;
	}
	r = buffer_status(out);
	r = r ? r : json_tape_read(&tape, out->data + start, out->size - start, MASKED_DEPTH, NULL);
	return r > 0 ? -EBADMSG : r;
}

size_t mcp_secrets_mask_part(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out)
{
	return mask(secrets, text, size, true, out);
}

void mcp_secrets_mask(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out)
{
	size_t at = mcp_secrets_mask_part(secrets, text, size, out);

	if (size - at >= MCP_MASKED_BYTES)
		buffer_append_string(out, MASK);
	else
		buffer_append(out, text + at, size - at);
}

void mcp_secrets_deinit(struct mcp_secrets *secrets)
{
	for (size_t i = 0; i < secrets->n_items; i++) {
		explicit_bzero(secrets->items[i].text, secrets->items[i].size);
		free(secrets->items[i].text);
	}
	free(secrets->items);
	*secrets = (struct mcp_secrets){0};
}

/* ── values in place of names ────────────────────────────────────────────────────────────────── */

/* Overwrite and free the bytes of @value. */
static void value_deinit(struct buffer *value)
{
	if (value->data)
		explicit_bzero(value->data, value->capacity);
	buffer_deinit(value);
}

static int refuse_reference(
	struct buffer *reason, const char *reference, size_t size, const char *why)
{
	buffer_append(reason, reference, size);
	buffer_append_char(reason, ' ');
	buffer_append_string(reason, why);
	return buffer_status(reason) < 0 ? -ENOMEM : MCP_E_MISSING;
}

/* Return the reason for which @value cannot be used, or NULL. */
static const char *judge_value(const struct buffer *value, bool is_header)
{
	for (size_t i = 0; i < value->size; i++) {
		unsigned char byte = (unsigned char)value->data[i];

		if (byte == 0)
			return "has a NUL";
		if (is_header && (byte < ' ' || byte == 0x7F))
			return "has a control character";
	}
	return NULL;
}

/* Return whether the variable @name belongs to all programs, and is no secret. */
static bool is_common(const char *name)
{
	static const char *const names[] = {"HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD",
		"SHELL", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Append the value of the reference `${KIND:NAME}` of @size bytes, with @name after its colon. */
static int expand_reference(struct mcp_secrets *secrets, const char *reference, size_t size,
	bool is_file, bool is_header, mcp_secret_function read, void *data, struct buffer *out,
	struct buffer *reason)
{
	size_t start = is_file ? strlen("${file:") : strlen("${env:");
	cleanup_free char *name = strndup(reference + start, size - start - 1);
	cleanup(value_deinit) struct buffer value = {.limit = MCP_SECRET_BYTES};
	const char *why;
	int r;

	/* So it does not move, and leaves no copy that is not overwritten. */
	if (!name || !buffer_reserve(&value, MCP_SECRET_BYTES))
		return -ENOMEM;
	r = read(data, is_file, name, &value);
	r = r < 0 ? r : buffer_status(&value);
	if (r == -ENOMEM)
		return r;
	if (r == -EMSGSIZE || r == -EFBIG)
		return refuse_reference(reason, reference, size, "has more than 64 KiB");
	if (r < 0) {
		buffer_append(reason, reference, size);
		buffer_printf(reason, " cannot be read: %s", strerror(-r));
		return buffer_status(reason) < 0 ? -ENOMEM : MCP_E_MISSING;
	}
	if (is_file && value.size > 0 && value.data[value.size - 1] == '\n')
		value.size--;
	why = judge_value(&value, is_header);
	if (why)
		return refuse_reference(reason, reference, size, why);
	buffer_append(out, value.data, value.size);
	return !is_file && is_common(name) ? 0 : mcp_secrets_add(secrets, value.data, value.size);
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

int mcp_secrets_expand(struct mcp_secrets *secrets, const char *text, bool is_header,
	mcp_secret_function read, void *data, struct buffer *out, struct buffer *reason)
{
	const char *at = text;

	while (*at) {
		bool is_file = begins_with(at, "${file:");
		const char *end;
		int r;

		if (begins_with(at, "$${")) {
			buffer_append_string(out, "${");
			at += strlen("$${");
			continue;
		}
		if (!begins_with(at, "${")) {
			buffer_append_char(out, *at++);
			continue;
		}
		end = strchr(at, '}');
		/* The text may be a secret that was written without regard to this, so it is not
		 * named. */
		if (!end || (!is_file && !begins_with(at, "${env:")))
			return refuse_reference(reason, "${", strlen("${"),
				"begins neither ${env:NAME} nor ${file:PATH}; for the text, write "
				"$${");
		r = expand_reference(secrets, at, (size_t)(end - at) + 1, is_file, is_header, read,
			data, out, reason);
		if (r != 0)
			return r;
		at = end + 1;
	}
	return buffer_status(out);
}
