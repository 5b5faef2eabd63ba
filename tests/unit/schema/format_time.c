/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "formats.h"
#include "schema/format/check.h"

TestSuite(schema_format_time, .timeout = 60);

Test(schema_format_time, takes_a_day_that_its_month_has)
{
	static const char *const good[] = {"2026-11-21", "0000-01-01", "9999-12-31", "2024-02-29",
		"2000-02-29", "2023-02-28", "2023-04-30", "2023-06-30", "2023-09-30", "2023-11-30",
		"2023-01-31", "2023-03-31", "2023-05-31", "2023-07-31", "2023-08-31", "2023-10-31"};
	static const char *const bad[] = {"", "2026-11-2", "2026-11-211", "2026-00-01",
		"2026-13-01", "2026-01-00", "2026-01-32", "2023-02-29", "1900-02-29", "2100-02-29",
		"2024-02-30", "2023-04-31", "2023-06-31", "2023-09-31", "2023-11-31", "2026/11/21",
		"2026-11/21", "20261121--", "a026-11-21", "2026-a1-21", "2026-11-a1", "2026-11-1a",
		"-026-11-21", "2026-+1-21", "2026-11-21T"};

	EXPECT_FORMAT(format_is_date, good, bad);
}

Test(schema_format_time, takes_every_month_and_no_thirteenth)
{
	char text[] = "2023-00-28";

	for (int month = 0; month <= 20; month++) {
		text[5] = (char)('0' + month / 10);
		text[6] = (char)('0' + month % 10);
		cr_expect_eq(judge_format(format_is_date, text, strlen(text)),
			month >= 1 && month <= 12, "%s", text);
	}
}

Test(schema_format_time, takes_a_time_with_its_zone)
{
	static const char *const good[] = {"09:30:00Z", "09:30:00z", "00:00:00+00:00",
		"23:59:59-23:59", "23:59:59+23:59", "12:00:00.1Z", "12:00:00.123456789+01:30",
		"23:59:60Z", "15:59:60-08:00", "00:29:60+00:30", "23:29:60-00:30"};
	static const char *const bad[] = {"", "09:30:00", "09:30Z", "9:30:00Z", "24:00:00Z",
		"23:60:00Z", "23:59:61Z", "22:59:60Z", "23:58:60Z", "00:00:60Z", "09:30:00.Z",
		"09:30:00.", "09:30:00.1", "09:30:00,1Z", "09:30:00+1:00", "09:30:00+01",
		"09:30:00+0100", "09:30:00+24:00", "09:30:00+01:60", "09:30:00 01:00",
		"09:30:00+01:000", "09-30:00Z", "09:30-00Z", "a9:30:00Z", "09:a0:00Z", "09:30:a0Z",
		"09:30:00+a1:00", "09:30:00+01:a0", "09:30:00ZZ", "09:30:00.1.2Z", "09:30:00.aZ",
		"23:59:60+00:30"};

	EXPECT_FORMAT(format_is_time, good, bad);
}

Test(schema_format_time, takes_a_leap_second_at_the_end_of_a_day_of_utc_only)
{
	char text[32];

	for (int hour = 0; hour < 24; hour++)
		for (int minute = 0; minute < 60; minute++)
			for (int offset = -90; offset <= 90; offset += 30) {
				int ahead = offset < 0 ? -offset : offset;
				int utc = (hour * 60 + minute - offset + 1440) % 1440;

				snprintf(text, sizeof(text), "%02d:%02d:60%c%02d:%02d", hour % 100,
					minute % 100, offset < 0 ? '-' : '+', ahead / 60,
					ahead % 60);
				cr_assert_eq(judge_format(format_is_time, text, strlen(text)),
					utc == 1439, "%s", text);
			}
}

Test(schema_format_time, takes_a_date_and_a_time_with_a_t_between_them)
{
	static const char *const good[] = {"2026-11-21T09:30:00Z", "2026-11-21t09:30:00z",
		"2024-02-29T23:59:60Z", "2026-11-21T09:30:00.5+01:00"};
	static const char *const bad[] = {"", "2026-11-21", "2026-11-21T", "2026-11-21 09:30:00Z",
		"2026-11-21T09:30:00", "2026-02-30T09:30:00Z", "2026-11-21T24:00:00Z",
		"2026-11-21TT09:30:00Z", "09:30:00ZT2026-11-21", "2026-11-21_09:30:00Z"};

	EXPECT_FORMAT(format_is_date_time, good, bad);
}

Test(schema_format_time, takes_a_duration_of_parts_in_their_order)
{
	static const char *const good[] = {"P1Y", "P1M", "P1D", "P1W", "PT1H", "PT1M", "PT1S",
		"P0D", "P1Y2M3D", "P1Y2M", "P2M3D", "PT1H2M3S", "PT1H2M", "PT2M3S",
		"P1Y2M3DT4H5M6S", "P1DT1H", "P123456789012345678901234567890D", "P12W"};
	static const char *const bad[] = {"", "P", "PT", "1D", "P1", "PD", "P1DT", "P1H", "PT1D",
		"P1S", "P1D2M", "P1Y3D", "PT1H3S", "P1D1D", "P1YT", "P1W2D", "P1Y1W", "P1DW", "PW",
		"P-1D", "P1.5D", "p1d", "P1d", " P1D", "PT1HT1M", "P1Y2", "PT1H2", "P1DT1W",
		"P1\xC3\xA4"};

	EXPECT_FORMAT(format_is_duration, good, bad);
}

Test(schema_format_time, takes_a_uuid_with_its_dashes)
{
	static const char *const good[] = {"2eb8aa08-aa98-11ea-b4aa-73b441d16380",
		"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
		"abcdef01-2345-6789-abcd-ef0123456789"};
	static const char *const bad[] = {"", "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
		"2eb8aa08-aa98-11ea-b4aa-73b441d163800", "2eb8aa08aa98-11ea-b4aa-73b441d163800",
		"2eb8aa08-aa9811ea-b4aa-73b441d163800-", "2eb8aa08-aa98-11eab4aa--73b441d16380",
		"geb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
		"{eb8aa08-aa98-11ea-b4aa-73b441d1638}", "2eb8aa08_aa98_11ea_b4aa_73b441d16380",
		"2eb8aa08-aa98-11ea-b4aa-73b441d1638-"};

	EXPECT_FORMAT(format_is_uuid, good, bad);
}
