/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/gate/close.h"

#include <math.h>

#include "json/member.h"
#include "json/number.h"

/* Two values, each with its tape. */
struct pair {
	const struct json_tape *a_tape;
	const struct json_tape *b_tape;
	double tolerance;
};

static bool are_close(const struct pair *pair, uint32_t a, uint32_t b);

static bool are_numbers_close(const struct pair *pair, uint32_t a, uint32_t b)
{
	struct text_view a_text = json_value_view(pair->a_tape, a);
	struct text_view b_text = json_value_view(pair->b_tape, b);
	double a_value;
	double b_value;

	if (json_number_compare(a_text.text, a_text.size, b_text.text, b_text.size) == 0)
		return true;
	return pair->tolerance > 0 && json_number_f64(pair->a_tape, a, &a_value) == 0 &&
	       json_number_f64(pair->b_tape, b, &b_value) == 0 &&
	       fabs(a_value - b_value) <= pair->tolerance;
}

static bool are_arrays_close(const struct pair *pair, uint32_t a, uint32_t b)
{
	uint32_t at = json_first(pair->b_tape, b);

	if (json_count(pair->a_tape, a) != json_count(pair->b_tape, b))
		return false;
	json_each(i, pair->a_tape, a) {
		if (!are_close(pair, i, at))
			return false;
		at = json_next(pair->b_tape, at);
	}
	return true;
}

/* Return the member of the object @b with the key @key of the other tape, from the key @from on
 * and then from the first one; or JSON_NONE. Most objects have their members in one order. */
static uint32_t find_same_key(const struct pair *pair, uint32_t key, uint32_t b, uint32_t from)
{
	uint32_t end = json_end(pair->b_tape, b);

	for (uint32_t i = from; i < end; i = json_next_key(pair->b_tape, i))
		if (json_strings_equal(pair->a_tape, key, pair->b_tape, i))
			return i;
	for (uint32_t i = json_first(pair->b_tape, b); i < from; i = json_next_key(pair->b_tape, i))
		if (json_strings_equal(pair->a_tape, key, pair->b_tape, i))
			return i;
	return JSON_NONE;
}

static bool are_objects_close(const struct pair *pair, uint32_t a, uint32_t b)
{
	uint32_t from = json_first(pair->b_tape, b);

	if (json_count(pair->a_tape, a) != json_count(pair->b_tape, b))
		return false;
	json_each_key(key, pair->a_tape, a) {
		uint32_t found = find_same_key(pair, key, b, from);

		if (found == JSON_NONE || !are_close(pair, key + 1, found + 1))
			return false;
		from = json_next_key(pair->b_tape, found);
	}
	return true;
}

static bool are_close(const struct pair *pair, uint32_t a, uint32_t b)
{
	enum json_type type = json_type_at(pair->a_tape, a);

	if (type != json_type_at(pair->b_tape, b))
		return false;
	switch (type) {
	case JSON_NUMBER:
		return are_numbers_close(pair, a, b);
	case JSON_STRING:
		return json_strings_equal(pair->a_tape, a, pair->b_tape, b);
	case JSON_ARRAY:
		return are_arrays_close(pair, a, b);
	case JSON_OBJECT:
		return are_objects_close(pair, a, b);
	default:
		return true;
	}
}

bool values_are_close(const struct json_tape *a_tape, uint32_t a, const struct json_tape *b_tape,
	uint32_t b, double tolerance)
{
	const struct pair pair = {a_tape, b_tape, tolerance};

	return are_close(&pair, a, b);
}
