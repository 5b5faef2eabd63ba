/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/triggers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/text/utf8.h"

#define TRIGGER_OPTIONS                                                                            \
	(PCRE2_UTF | PCRE2_UCP | PCRE2_CASELESS | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT)

/* How much of an expression is repeated to show where it went wrong, in bytes. */
#define SHOWN_BYTES 24

__attribute__((format(printf, 2, 3))) static int refuse(
	struct buffer *reason, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(reason, format, arguments);
	va_end(arguments);
	return buffer_terminate(reason) ? TRIGGERS_E_REFUSED : -ENOMEM;
}

static int refuse_expression(
	const char *text, const struct regex_error *error, struct buffer *reason)
{
	size_t start = error->offset > SHOWN_BYTES ? error->offset - SHOWN_BYTES : 0;

	if (error->offset == 0)
		return refuse(reason, "must be a regular expression (PCRE2): %s", error->message);
	/* The offset is at the start of a character; what is shown begins at one, too. */
	while (start < error->offset && ((unsigned char)text[start] & 0xC0) == 0x80)
		start++;
	return refuse(reason,
		"must be a regular expression (PCRE2): %s, at character %zu, after '%s%.*s'",
		error->message, utf8_count(text, error->offset), start > 0 ? "…" : "",
		(int)(error->offset - start), text + start);
}

int triggers_add(
	struct triggers *triggers, const char *text, size_t size, struct buffer *ret_reason)
{
	struct regex_error error;
	int r;

	if (triggers->n_items == TRIGGERS_MAX)
		return refuse(ret_reason, "must be at most %d expressions", TRIGGERS_MAX);
	if (size == 0)
		return refuse(ret_reason, "must not be empty: it would mean every utterance");
	if (size > TRIGGER_BYTES_MAX)
		return refuse(
			ret_reason, "must have at most %d bytes, not %zu", TRIGGER_BYTES_MAX, size);
	if (array_grow(triggers->items, triggers->n_items) < 0)
		return -ENOMEM;
	r = regex_compile(
		text, size, TRIGGER_OPTIONS, 0, &triggers->items[triggers->n_items], &error);
	if (r > 0)
		return refuse_expression(text, &error, ret_reason);
	if (r < 0)
		return r;
	triggers->n_items++;
	return 0;
}

void triggers_deinit(struct triggers *triggers)
{
	for (size_t i = 0; i < triggers->n_items; i++)
		regex_deinit(&triggers->items[i]);
	free(triggers->items);
	*triggers = (struct triggers){0};
}
