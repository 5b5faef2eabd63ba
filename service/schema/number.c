/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"
#include "schema/validate.h"

/*
 * Bounds of numbers. The general way compares decimal text and is exact for any number; the short
 * way is for what comes nearly always, short numbers against short whole bounds, and is exact too.
 */

/* Texts up to this many bytes fit a 64-bit integer whatever their digits are. */
#define SHORT_BYTES 18

/* The digits divided in the time of a step. */
#define DIGITS_PER_STEP 3

/* The number at @index as its floor, and whether there is a fraction; false if the text is too
 * long, or has an exponent. */
static inline bool read_short(
	const struct json_tape *tape, uint32_t index, int64_t *ret_floor, bool *ret_has_fraction)
{
	const struct json_token *token = json_at(tape, index);
	const char *at = json_bytes(tape, index);
	const char *end = at + token->length;
	bool is_negative = *at == '-';
	bool has_fraction = false;
	int64_t value = 0;

	if (token->length > SHORT_BYTES)
		return false;
	for (at += is_negative; at < end && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (*at - '0');
	if (at < end) {
		if (*at != '.')
			return false;
		for (at++; at < end; at++) {
			if (*at < '0' || *at > '9')
				return false;
			has_fraction |= *at != '0';
		}
	}
	*ret_floor = is_negative ? -value - has_fraction : value;
	*ret_has_fraction = has_fraction;
	return true;
}

bool validate_bound_holds(struct schema_context *context, const struct node_number *number,
	enum node_bound_kind kind, uint32_t index)
{
	const struct node_bound *bound = &number->bounds[kind];
	const char *text = json_bytes(context->tape, index);
	size_t size = json_at(context->tape, index)->length;
	int order;

	if (!bound->text)
		return true;
	if (!context_spend(context, size / BYTES_PER_STEP))
		return false;
	if (kind == NODE_MULTIPLE_OF)
		return context_spend(context, size / DIGITS_PER_STEP) &&
		       json_number_is_multiple(text, size, bound->text, bound->size);
	order = json_number_compare(text, size, bound->text, bound->size);
	switch (kind) {
	case NODE_MINIMUM:
		return order >= 0;
	case NODE_EXCLUSIVE_MINIMUM:
		return order > 0;
	case NODE_MAXIMUM:
		return order <= 0;
	default:
		return order < 0;
	}
}

bool validate_number(
	struct schema_context *context, const struct node_number *number, uint32_t index)
{
	bool has_fraction;
	int64_t floor;

	if (!number->is_short || !read_short(context->tape, index, &floor, &has_fraction)) {
		for (int kind = 0; kind < NODE_BOUNDS; kind++) {
			if (!validate_bound_holds(
				    context, number, (enum node_bound_kind)kind, index))
				return false;
		}
		return true;
	}
	if (has_fraction ? floor < number->floor_low || floor > number->floor_high
			 : floor < number->low || floor > number->high)
		return false;
	if (!number->bounds[NODE_MULTIPLE_OF].text)
		return true;
	if (number->multiple == 0)
		return validate_bound_holds(context, number, NODE_MULTIPLE_OF, index);
	return !has_fraction && floor % number->multiple == 0;
}
