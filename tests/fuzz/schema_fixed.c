/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_fixed.h"

#include <string.h>

static bool fixed_is_zero(const struct fixed *a)
{
	for (int i = 0; i < FIXED_DIGITS; i++) {
		if (a->digits[i] != 0)
			return false;
	}
	return true;
}

bool fixed_read(const struct json_tape *tape, uint32_t index, struct fixed *ret)
{
	const char *text = json_bytes(tape, index);
	const char *end = text + json_at(tape, index)->length;
	char digits[FIXED_DIGITS * 2];
	int count = 0;
	int point = -1;
	int exponent = 0;

	*ret = (struct fixed){.is_negative = *text == '-'};
	text += *text == '-';
	for (; text < end && *text != 'e' && *text != 'E'; text++) {
		if (*text == '.')
			point = count;
		else if (count < FIXED_DIGITS * 2)
			digits[count++] = *text;
	}
	if (text < end) {
		bool is_negative = text[1] == '-';

		for (text += text[1] == '-' || text[1] == '+' ? 2 : 1; text < end; text++)
			exponent = exponent > 1000 ? exponent : exponent * 10 + (*text - '0');
		exponent = is_negative ? -exponent : exponent;
	}
	point = (point < 0 ? count : point) + exponent;
	for (int i = 0; i < count; i++) {
		int place = FIXED_PLACES - point + i;

		if (digits[i] == '0')
			continue;
		if (place < 0 || place >= FIXED_DIGITS)
			return false;
		ret->digits[place] = (unsigned char)(digits[i] - '0');
	}
	if (fixed_is_zero(ret))
		ret->is_negative = false;
	return true;
}

int fixed_compare(const struct fixed *a, const struct fixed *b)
{
	int order = memcmp(a->digits, b->digits, FIXED_DIGITS);

	if (a->is_negative != b->is_negative)
		return a->is_negative ? -1 : 1;
	return a->is_negative ? -order : order;
}

bool fixed_is_whole(const struct fixed *a)
{
	for (int i = FIXED_PLACES; i < FIXED_DIGITS; i++) {
		if (a->digits[i] != 0)
			return false;
	}
	return true;
}

/* Schoolbook division; only the remainder is kept. */
bool fixed_is_multiple(const struct fixed *a, const struct fixed *b)
{
	unsigned char rest[FIXED_DIGITS + 1] = {0};

	for (int i = 0; i < FIXED_DIGITS; i++) {
		memmove(rest, rest + 1, FIXED_DIGITS);
		rest[FIXED_DIGITS] = a->digits[i];
		while (rest[0] != 0 || memcmp(rest + 1, b->digits, FIXED_DIGITS) >= 0) {
			int borrow = 0;

			for (int k = FIXED_DIGITS - 1; k >= 0; k--) {
				int digit = rest[k + 1] - b->digits[k] - borrow;

				borrow = digit < 0;
				rest[k + 1] = (unsigned char)(digit + 10 * borrow);
			}
			rest[0] = (unsigned char)(rest[0] - borrow);
		}
	}
	for (int i = 0; i <= FIXED_DIGITS; i++) {
		if (rest[i] != 0)
			return false;
	}
	return true;
}
