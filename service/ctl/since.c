/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/since.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "util/array.h"

#define MINUTE_S 60
#define HOUR_S   3600
#define DAY_S    86400

/* Read `30s`, `10m`, `2h`, `3d`. Return whether @text is such a span. */
static bool parse_span(const char *text, time_t *ret_seconds)
{
	static const struct {
		char unit;
		long seconds;
	} units[] = {{'s', 1}, {'m', MINUTE_S}, {'h', HOUR_S}, {'d', DAY_S}};
	char *end;
	long n;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtol(text, &end, 10);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (*end != units[i].unit || end[1] != '\0' || errno != 0 || n > INT32_MAX)
			continue;
		*ret_seconds = n * units[i].seconds;
		return true;
	}
	return false;
}

/* Read a date of ISO 8601, with or without time and zone; without a zone it is local time. */
static bool parse_date(const char *text, time_t *ret_time)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct tm parts = {.tm_isdst = -1};
		const char *end = strptime(text, formats[i], &parts);
		struct tm zone = {0};

		if (!end)
			continue;
		if (*end == '.')
			end += 1 + strspn(end + 1, "0123456789");
		if (*end == '\0') {
			*ret_time = mktime(&parts);
			return true;
		}
		end = strptime(end, "%z", &zone);
		if (!end || *end != '\0')
			continue;
		*ret_time = timegm(&parts) - zone.tm_gmtoff;
		return true;
	}
	return false;
}

int span_read(const char *text, time_t *ret_seconds)
{
	time_t seconds;

	if (parse_span(text, &seconds) && seconds > 0 && seconds <= SPAN_MAX_S) {
		*ret_seconds = seconds;
		return 0;
	}
	terminal_complain("--for must be like 30s, 10m, 2h or 3d, not '%s'", text);
	return CTL_USAGE;
}

/* Read a span before now. */
static bool parse_ago(const char *text, time_t *ret_time)
{
	time_t seconds;

	if (!parse_span(text, &seconds))
		return false;
	*ret_time = time(NULL) - seconds;
	return true;
}

int since_read(const char *text, time_t *ret_time)
{
	struct tm parts;
	time_t since;

	if ((parse_ago(text, &since) || parse_date(text, &since)) && gmtime_r(&since, &parts)) {
		*ret_time = since;
		return 0;
	}
	terminal_complain("--since must be like 10m, 2h, 3d or 2026-11-23T10:00, not '%s'", text);
	return CTL_USAGE;
}
