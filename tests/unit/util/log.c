/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

/* What was logged since capture(). */
static char logged[16384];
static int ends[2];
static int stderr_before;

static void capture(void)
{
	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	stderr_before = dup(STDERR_FILENO);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
}

static const char *captured(void)
{
	ssize_t size;

	dup2(stderr_before, STDERR_FILENO);
	size = read(ends[0], logged, sizeof(logged) - 1);
	logged[size > 0 ? size : 0] = '\0';
	close(ends[0]);
	close(ends[1]);
	close(stderr_before);
	return logged;
}

/* What stands behind the time, whose shape is @stamp: 0 for a digit, all else as it is. */
static const char *skip_stamp(const char *line, const char *stamp)
{
	for (; *stamp; stamp++, line++)
		cr_assert(
			*stamp == '0' ? *line >= '0' && *line <= '9' : *line == *stamp, "%s", line);
	return line;
}

Test(log, writes_one_line_of_text)
{
	capture();
	log_info("listening on %s:%d", "127.0.0.1", 8181);
	cr_assert_str_eq(skip_stamp(captured(), "0000-00-00 00:00:00.000 "),
		"INFO  listening on 127.0.0.1:8181\n");
}

Test(log, writes_one_line_of_json)
{
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	capture();
	log_warning("a \"quoted\" \\ word");
	cr_assert_str_eq(skip_stamp(captured(), "{\"time\": \"0000-00-00T00:00:00.000Z\", "),
		"\"level\": \"warning\", \"message\": \"a \\\"quoted\\\" \\\\ word\"}\n");
}

Test(log, lets_no_control_character_and_no_broken_utf8_through)
{
	capture();
	log_error("a\nb\x1b[31m\x7f \xff caf\xc3\xa9");
	cr_assert_str_eq(skip_stamp(captured(), "0000-00-00 00:00:00.000 "),
		"ERROR a\\u000ab\\u001b[31m\\u007f \xEF\xBF\xBD caf\xc3\xa9\n");
}

Test(log, cuts_a_message_that_is_too_long_and_still_ends_the_line)
{
	static char message[20000];
	size_t size;

	memset(message, '\n', sizeof(message) - 1);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	capture();
	log_info("%s", message);
	size = strlen(captured());
	cr_assert_gt(size, 2000);
	cr_assert_lt(size, 4200);
	cr_assert_str_eq(logged + size - 3, "\"}\n");
	cr_assert_eq(strchr(logged, '\n'), logged + size - 1);
}

Test(log, writes_only_what_its_level_lets_through)
{
	capture();
	log_debug("not by default");
	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	log_warning("not now");
	cr_assert_str_eq(captured(), "");
	cr_assert_not(log_is_on(LOG_LEVEL_WARNING));
	cr_assert(log_is_on(LOG_LEVEL_ERROR));
}

Test(log, knows_its_levels_by_name)
{
	cr_assert_eq(log_level_from_name("debug"), LOG_LEVEL_DEBUG);
	cr_assert_eq(log_level_from_name("info"), LOG_LEVEL_INFO);
	cr_assert_eq(log_level_from_name("warning"), LOG_LEVEL_WARNING);
	cr_assert_eq(log_level_from_name("error"), LOG_LEVEL_ERROR);
	cr_assert_eq(log_level_from_name("Info"), -1);
	cr_assert_eq(log_level_from_name(""), -1);
}

Test(log, holds_what_a_peer_provokes_to_a_rate_and_says_how_much_it_held_back)
{
	struct log_rate rate = {0};
	uint64_t start = 1000000;
	uint64_t suppressed = 99;

	for (int i = 0; i < LOG_RATE_BURST; i++) {
		cr_assert(log_rate_allows(&rate, start + (uint64_t)i, &suppressed));
		cr_assert_eq(suppressed, 0);
	}
	for (int i = 0; i < 7; i++)
		cr_assert_not(log_rate_allows(&rate, start + 100, &suppressed));
	cr_assert_not(log_rate_allows(&rate, start + LOG_RATE_INTERVAL_MS - 1, &suppressed));
	cr_assert(log_rate_allows(&rate, start + LOG_RATE_INTERVAL_MS, &suppressed));
	cr_assert_eq(suppressed, 8);
}
