/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "schema/format/check.h"
#include "util/text/text.h"

/* Sizes of "2026-11-21" and of "09:30:00". */
#define DATE_BYTES 10
#define TIME_BYTES 8

/* The @digits digits at @text as a number, or -1. */
static int read_digits(const char *text, size_t digits)
{
	int value = 0;

	for (size_t i = 0; i < digits; i++) {
		if (!text_is_digit(text[i]))
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

static bool is_between(int value, int low, int high)
{
	return value >= low && value <= high;
}

static int days_in_month(int year, int month)
{
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (month == 2)
		return is_leap ? 29 : 28;
	return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool format_is_date(const char *text, size_t size)
{
	int year;
	int month;

	if (size != DATE_BYTES || text[4] != '-' || text[7] != '-')
		return false;
	year = read_digits(text, 4);
	month = read_digits(text + 5, 2);
	return year >= 0 && is_between(month, 1, 12) &&
	       is_between(read_digits(text + 8, 2), 1, days_in_month(year, month));
}

/* "Z" or "+01:00"; @ret_minutes is what it is ahead of UTC. */
static bool read_offset(const char *text, size_t size, int *ret_minutes)
{
	int hours;
	int minutes;

	*ret_minutes = 0;
	if (size == 1 && (*text == 'Z' || *text == 'z'))
		return true;
	if (size != 6 || (*text != '+' && *text != '-') || text[3] != ':')
		return false;
	hours = read_digits(text + 1, 2);
	minutes = read_digits(text + 4, 2);
	if (!is_between(hours, 0, 23) || !is_between(minutes, 0, 59))
		return false;
	*ret_minutes = (hours * 60 + minutes) * (*text == '-' ? -1 : 1);
	return true;
}

bool format_is_time(const char *text, size_t size)
{
	size_t at = TIME_BYTES;
	int hour;
	int minute;
	int second;
	int offset;

	if (size <= TIME_BYTES || text[2] != ':' || text[5] != ':')
		return false;
	hour = read_digits(text, 2);
	minute = read_digits(text + 3, 2);
	second = read_digits(text + 6, 2);
	if (!is_between(hour, 0, 23) || !is_between(minute, 0, 59) || !is_between(second, 0, 60))
		return false;
	if (text[at] == '.') {
		at++;
		if (at == size || !text_is_digit(text[at]))
			return false;
		while (at < size && text_is_digit(text[at]))
			at++;
	}
	if (!read_offset(text + at, size - at, &offset))
		return false;
	return second < 60 || (hour * 60 + minute - offset + 2880) % 1440 == 23 * 60 + 59;
}

bool format_is_date_time(const char *text, size_t size)
{
	return size > DATE_BYTES && format_is_date(text, DATE_BYTES) &&
	       (text[DATE_BYTES] == 'T' || text[DATE_BYTES] == 't') &&
	       format_is_time(text + DATE_BYTES + 1, size - DATE_BYTES - 1);
}

/* Skip a run of "digits unit", the units in the order of @units and without a gap between them.
 * Returns the end, or NULL without a run. */
static const char *skip_components(const char *text, const char *end, const char *units)
{
	const char *expected = NULL;

	while (text < end && text_is_digit(*text)) {
		const char *unit;

		while (text < end && text_is_digit(*text))
			text++;
		if (text == end || *text == '\0')
			return NULL;
		unit = strchr(expected ? expected : units, *text);
		if (!unit || (expected && unit != expected))
			return NULL;
		expected = unit + 1;
		text++;
	}
	return expected ? text : NULL;
}

bool format_is_duration(const char *text, size_t size)
{
	const char *end = text + size;

	if (size < 3 || *text++ != 'P')
		return false;
	if (end[-1] == 'W')
		return skip_components(text, end, "W") == end;
	if (*text != 'T')
		text = skip_components(text, end, "YMD");
	if (text && text < end && *text == 'T')
		text = skip_components(text + 1, end, "HMS");
	return text == end;
}

bool format_is_uuid(const char *text, size_t size)
{
	if (size != 36)
		return false;
	for (size_t i = 0; i < size; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? text[i] != '-'
			    : text[i] == '\0' || !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
	}
	return true;
}
