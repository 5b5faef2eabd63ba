/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/statistics.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "logged.h"
#include "runner/cooldowns.h"
#include "runner/runner.h"
#include "runner/troubles.h"
#include "util/clock.h"
#include "util/log.h"

static struct package package = {.n_tools = 2};

Test(statistics, are_kept_for_each_tool_that_was_called)
{
	struct tool_statistics all = {0};
	struct statistics *second;

	cr_assert_eq(tool_statistics_init(&all, &package), 0);
	cr_expect_null(tool_statistics_find(&all, 0));
	second = tool_statistics_take(&all, 1);
	cr_assert(second);
	cr_expect_eq(tool_statistics_take(&all, 1), second);
	cr_expect_eq(tool_statistics_find(&all, 1), second);
	cr_expect_null(tool_statistics_find(&all, 0));
	tool_statistics_deinit(&all);
	cr_expect_eq(all.n_tools, 0);
}

/* The text of the last failure after one with @size times a letter of two bytes, and @ahead bytes
 * before them. */
static size_t noted_size(size_t ahead, size_t size)
{
	struct statistics statistics = {0};
	char text[1024] = "";

	memset(text, 'x', ahead);
	for (size_t i = 0; i < size; i++)
		memcpy(text + ahead + 2 * i, "\xc3\xa9", 2);
	statistics_note_failure(&statistics, "busy", text, ahead + 2 * size);
	cr_expect_eq(statistics.errors, 1);
	cr_expect_str_eq(statistics.last_failure.code, "busy");
	cr_expect_arr_eq(statistics.last_failure.text, text, strlen(statistics.last_failure.text));
	return strlen(statistics.last_failure.text);
}

Test(statistics, cut_the_text_of_a_failure_between_characters)
{
	const size_t room = sizeof(((struct statistics_failure *)0)->text) - 1;
	size_t odd = room % 2;

	cr_expect_eq(noted_size(0, 0), 0);
	cr_expect_eq(noted_size(odd, room / 2), room, "all of it");
	cr_expect_eq(noted_size(odd, room / 2 + 1), room, "cut at a character");
	cr_expect_eq(noted_size(1 - odd, room / 2 + 1), room - 1, "cut in a character");
}

Test(statistics, add_up_and_keep_the_latest_failure)
{
	struct statistics sum = {0};
	struct statistics old = {.calls = 2, .errors = 1};
	struct statistics late = {.calls = 3, .errors = 2};
	static const struct statistics good = {.calls = 4};

	histogram_add(&old.durations_us, 5);
	histogram_add(&late.durations_us, 7);
	old.last_failure.code = "busy";
	old.last_failure.at_ns = 10;
	late.last_failure.code = "timeout";
	late.last_failure.at_ns = 11;
	statistics_add(&sum, NULL);
	cr_expect_eq(sum.calls, 0);
	statistics_add(&sum, &good);
	cr_expect_null(sum.last_failure.code);
	statistics_add(&sum, &old);
	cr_expect_str_eq(sum.last_failure.code, "busy");
	statistics_add(&sum, &late);
	statistics_add(&sum, &old);
	statistics_add(&sum, &good);
	cr_expect_str_eq(sum.last_failure.code, "timeout");
	cr_expect_eq(sum.calls, 15);
	cr_expect_eq(sum.errors, 4);
	cr_expect_eq(sum.durations_us.count, 3);
}

Test(cooldowns, run_from_the_last_end_of_a_tool)
{
	struct cooldowns cooldowns = {0};
	struct tool tool = {.index = 1, .cooldown_s = 1000};
	double left_s;

	cr_assert_eq(cooldowns_init(&cooldowns, &package), 0);
	cr_expect_eq(cooldowns_left_s(&cooldowns, &tool), 0);
	cooldowns_note_end(&cooldowns, 0);
	cr_expect_eq(cooldowns_left_s(&cooldowns, &tool), 0, "of another tool");
	cooldowns_note_end(&cooldowns, 1);
	left_s = cooldowns_left_s(&cooldowns, &tool);
	cr_expect_leq(left_s, 1000);
	cr_expect_gt(left_s, 900);
	cooldowns.ended_ns[1] -= 400 * NS_PER_S;
	left_s = cooldowns_left_s(&cooldowns, &tool);
	cr_expect_leq(left_s, 600);
	cr_expect_gt(left_s, 500);
	cooldowns.ended_ns[1] -= 600 * NS_PER_S;
	cr_expect_eq(cooldowns_left_s(&cooldowns, &tool), 0);
	cooldowns_deinit(&cooldowns);
	cr_expect_null(cooldowns.ended_ns);
}

Test(troubles, are_logged_once_in_a_minute)
{
	static const char line[] = "WARN  Toolbox box: its host cannot be started (/bin/x): ";
	struct troubles troubles = {.rate = {.burst = 100}};
	const char *log;
	unsigned int n_lines = 0;

	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	logged_begin();
	troubles_log_no_start(&troubles, "box", "/bin/x", -2);
	troubles_log_no_start(&troubles, "box", "/bin/x", -2);
	troubles_log_no_start(&troubles, "box", "/bin/x", -13);
	troubles_log_no_start(&troubles, "box", "/bin/x", -13);
	troubles.no_start_ms -= 60000;
	troubles_log_no_start(&troubles, "box", "/bin/x", -13);
	log = logged_end();
	for (const char *at = log; (at = strstr(at, line)); at++)
		n_lines++;
	cr_expect_eq(n_lines, 3, "%s", log);
	cr_expect_not_null(strstr(log, "No such file or directory\n"), "%s", log);
	cr_expect_not_null(strstr(log, "Permission denied\n"), "%s", log);
}

Test(names, are_words_for_people)
{
	cr_expect_str_eq(runner_state_name(RUNNER_IDLE), "idle");
	cr_expect_str_eq(runner_state_name(RUNNER_QUARANTINED), "quarantined");
	cr_expect_str_eq(runner_start_name(RUNNER_START_CALL), "call");
	cr_expect_str_eq(runner_start_name(RUNNER_START_PRESTART), "prestart");
}
