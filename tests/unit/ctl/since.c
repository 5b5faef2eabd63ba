/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/since.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answering.h"

static void set_up(void)
{
	setenv("TZ", "UTC-2", 1);
	tzset();
}

TestSuite(ctl_since, .init = set_up, .timeout = 60);

Test(ctl_since, reads_a_span_in_one_of_four_units)
{
	static const struct {
		const char *text;
		time_t seconds;
	} cases[] = {{"1s", 1}, {"30s", 30}, {"10m", 600}, {"2h", 7200}, {"3d", 259200},
		{"007s", 7}, {"36525d", 3155760000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		time_t seconds = -1;

		cr_expect_eq(span_read(cases[i].text, &seconds), 0, "%s", cases[i].text);
		cr_expect_eq(seconds, cases[i].seconds, "%s: %ld", cases[i].text, (long)seconds);
	}
}

Test(ctl_since, refuses_a_span_that_is_none)
{
	static const char *const wrong[] = {"", "s", "1", "0s", "-1s", "+1s", " 1s", "1 s", "1.5h",
		"1w", "1sx", "1S", "36526d", "99999999999999999999s", "0x1s", "2147483648s"};
	char complaint[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		time_t seconds = -1;
		int r;

		capture_begin();
		r = span_read(wrong[i], &seconds);
		capture_end();
		cr_expect_eq(r, CTL_USAGE, "%s", wrong[i]);
		cr_expect_eq(seconds, -1, "written only on success");
		snprintf(complaint, sizeof(complaint),
			"toolboxctl: --for must be like 30s, 10m, 2h or 3d, not '%s'\n", wrong[i]);
		cr_expect_str_eq(command_complaints, complaint);
	}
}

Test(ctl_since, reads_a_date_in_local_time_or_in_its_zone)
{
	/* 2020-03-01T10:00:00Z is 1583056800; local time is two hours ahead. */
	static const struct {
		const char *text;
		time_t time;
	} cases[] = {
		{"2020-03-01T10:00:00Z", 1583056800},
		{"2020-03-01T10:00:00.123Z", 1583056800},
		{"2020-03-01T10:00Z", 1583056800},
		{"2020-03-01T12:00:00", 1583056800},
		{"2020-03-01T12:00", 1583056800},
		{"2020-03-01 12:00:00", 1583056800},
		{"2020-03-01 12:00", 1583056800},
		{"2020-03-01 12:00:00.5", 1583056800},
		{"2020-03-01T11:30:00+01:30", 1583056800},
		{"2020-03-01T05:00:00-0500", 1583056800},
		{"2020-03-01", 1583056800 - 12 * 3600},
		{"1970-01-01T00:00:00Z", 0},
		{"1969-12-31T23:59:59Z", -1},
		{"2020-02-29T00:00:00Z", 1582934400},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		time_t since = 12345;

		cr_expect_eq(since_read(cases[i].text, &since), 0, "%s", cases[i].text);
		cr_expect_eq(since, cases[i].time, "%s: %ld", cases[i].text, (long)since);
	}
}

Test(ctl_since, reads_a_span_before_now)
{
	time_t before = time(NULL);
	time_t since = 0;

	cr_assert_eq(since_read("2h", &since), 0);
	cr_expect(since >= before - 7200 && since <= time(NULL) - 7200);
	cr_assert_eq(since_read("0s", &since), 0);
	cr_expect(since >= before && since <= time(NULL));
}

Test(ctl_since, refuses_a_time_that_is_none)
{
	static const char *const wrong[] = {"", "yesterday", "2020", "2020-03", "2020-13-01",
		"2020-03-32", "2020-03-01T25:00", "2020-03-01T10:00:00X", "2020-03-01Tx",
		"2020-03-01T10:00:00Zx", "10", "m", "-10m", "1e9s", "01.03.2020"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		time_t since = 12345;
		int r;

		capture_begin();
		r = since_read(wrong[i], &since);
		capture_end();
		cr_expect_eq(r, CTL_USAGE, "%s", wrong[i]);
		cr_expect_eq(since, 12345, "%s", wrong[i]);
		cr_expect_not_null(strstr(command_complaints, "--since must be like"));
	}
}
