/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/format/format.h"
#include "schema/validate.h"

/*
 * The checks of strings, cheap ones first: length, pattern, format.
 */

/* A match costs as much as so many other steps, and one more per so many bytes of text. */
#define PATTERN_STEPS          32
#define PATTERN_BYTES_PER_STEP 64

/* Code points are counted only where the bytes do not decide: a code point has one to four of them,
 * an escape is as long as at most twelve. */
static bool check_length(
	struct schema_context *context, const struct node_string *string, uint32_t index)
{
	const struct json_token *token = json_at(context->tape, index);
	size_t points = token->length;

	if (points < string->length_min)
		return false;
	if (token->flags & (JSON_ESCAPED | JSON_NON_ASCII)) {
		if (points <= string->length_max && string->length_min == 0)
			return true;
		if (!context_spend_bytes(context, index))
			return false;
		points = json_string_points(context->tape, index);
	}
	return points >= string->length_min &&
	       (points <= string->length_max || string->length_max == NODE_UNBOUNDED);
}

bool validate_matches(struct schema_context *context, const struct pattern *pattern, uint32_t index)
{
	size_t size;
	const char *text = context_text(context, index, &size);
	enum regex_result result;

	if (!text || !context_spend(context, PATTERN_STEPS + size / PATTERN_BYTES_PER_STEP))
		return false;
	result = pattern_match(pattern, context->scratch, text, size);
	if (regex_scratch_was_long(context->scratch) && !context_look(context, 0))
		return false;
	switch (result) {
	case REGEX_MATCHES:
		return true;
	case REGEX_DIFFERS:
		return false;
	case REGEX_TOO_COSTLY:
		break;
	}
	return context_stop(context, STOP_PATTERN);
}

/* Take the steps for checking a text of @size bytes by @format. */
static bool spend_format(struct schema_context *context, const struct format *format, size_t size)
{
	unsigned int price = format->price > 0 ? format->price : 1;

	if (format->bytes_max > 0 && size > format->bytes_max)
		return context_stop(context, STOP_FORMAT);
	return context_spend(context, size / FORMAT_BYTES_PER_PRICE * price);
}

static bool check_format(
	struct schema_context *context, const struct format *format, uint32_t index)
{
	const char *text;
	size_t size;

	if (!format)
		return true;
	text = context_text(context, index, &size);
	return text && spend_format(context, format, size) && format->is_valid(text, size);
}

static bool check_content(
	struct schema_context *context, const struct node_string *string, uint32_t index)
{
	const char *text;
	size_t size;

	if (!string->encoding && !string->media)
		return true;
	text = context_text(context, index, &size);
	return text && (!string->encoding || spend_format(context, string->encoding, size)) &&
	       (!string->media || spend_format(context, string->media, size)) &&
	       format_content_is_valid(string->encoding, string->media, text, size);
}

bool validate_string(
	struct schema_context *context, const struct node_string *string, uint32_t index)
{
	if (!check_length(context, string, index))
		return false;
	if (string->pattern && !validate_matches(context, string->pattern, index))
		return false;
	return check_format(context, string->format, index) &&
	       check_content(context, string, index);
}
