/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/log.h"

/* The text that was logged since capture(). */
static char logged[131072];
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

/* Return the text after the time, whose shape is @stamp: 0 for a digit, all other characters as
 * they are. */
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

static void shape(const char *line, size_t size, struct buffer *out)
{
	buffer_printf(out, "%.*s\n  shaped", (int)size, line);
}

Test(log, lets_a_command_shape_plain_lines)
{
	static const char expected[] = "info plain\nerror broken: here\n  shaped\n{\"time\"";

	capture();
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
	log_info("plain");
	log_shape(shape);
	log_error("broken: %s", "here");
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	log_info("as it is");
	cr_assert_eq(strncmp(captured(), expected, strlen(expected)), 0, "%s", logged);
	cr_expect(!strstr(logged + strlen(expected), "shaped"));
}

Test(log, holds_lines_back_until_level_and_format_are_known)
{
	capture();
	log_hold();
	log_warning("first");
	log_info("second");
	log_debug("third");
	cr_expect_eq(read(ends[0], logged, sizeof(logged)), -1);
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_JSON);
	captured();
	cr_expect(strstr(logged, "\"level\": \"warning\", \"message\": \"first\""), "%s", logged);
	cr_expect(strstr(logged, "\"level\": \"debug\", \"message\": \"third\""), "%s", logged);
	capture();
	log_hold();
	log_info("too low");
	log_setup(LOG_LEVEL_WARNING, LOG_FORMAT_TEXT);
	cr_expect_str_empty(captured());
}

Test(log, holds_no_more_lines_than_it_may)
{
	capture();
	log_hold();
	for (int i = 0; i < LOG_HELD_MAX; i++)
		log_info("x");
	cr_expect_eq(read(ends[0], logged, sizeof(logged)), -1);
	log_info("one too many");
	cr_expect(strstr(captured(), "one too many"), "%s", logged);
}

Test(log, begins_with_its_priority_in_the_journal)
{
	struct stat status;
	char stream[64];

	capture();
	cr_assert_eq(fstat(STDERR_FILENO, &status), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev,
		(uintmax_t)status.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_error("bad");
	cr_expect_eq(strncmp(captured(), "<3>2", 4), 0, "%s", logged);
	/* Some other stream's. */
	capture();
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_error("bad");
	cr_expect_eq(*captured(), '2', "%s", logged);
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
	log_error("a\nb\x1b[31m\x7f \xff caf\xc3\xa9 \xC2\x9B \xE2\x80\xAE");
	cr_assert_str_eq(skip_stamp(captured(), "0000-00-00 00:00:00.000 "),
		"ERROR a\\u000ab\\u001b[31m\\u007f \xEF\xBF\xBD caf\xc3\xa9 \\u009b \\u202e\n");
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

Test(log, has_names_for_its_levels_and_formats)
{
	cr_assert_str_eq(log_level_names[LOG_LEVEL_DEBUG], "debug");
	cr_assert_str_eq(log_level_names[LOG_LEVEL_INFO], "info");
	cr_assert_str_eq(log_level_names[LOG_LEVEL_WARNING], "warning");
	cr_assert_str_eq(log_level_names[LOG_LEVEL_ERROR], "error");
	cr_assert_null(log_level_names[LOG_LEVEL_ERROR + 1]);
	cr_assert_str_eq(log_format_names[LOG_FORMAT_TEXT], "text");
	cr_assert_str_eq(log_format_names[LOG_FORMAT_JSON], "json");
	cr_assert_null(log_format_names[LOG_FORMAT_JSON + 1]);
}

/* Return how often the log contains @what. */
static unsigned int count(const char *what)
{
	unsigned int n = 0;

	for (const char *at = strstr(logged, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

Test(log, holds_what_a_peer_provokes_to_a_rate_and_says_how_much_it_held_back)
{
	struct log_rate rate = {0};

	capture();
	for (int i = 0; i < LOG_RATE_BURST + 7; i++)
		log_limited(&rate, LOG_LEVEL_WARNING, "peer %d", i);
	rate.window_start_ms -= LOG_RATE_INTERVAL_MS;
	log_limited(&rate, LOG_LEVEL_WARNING, "peer again");
	log_limited(&rate, LOG_LEVEL_WARNING, "peer last");
	captured();
	cr_expect_eq(count("\n"), LOG_RATE_BURST + 2);
	cr_expect_eq(count("peer 4 (more like it are only counted for 10 s)\n"), 1);
	cr_expect_eq(count("peer 5"), 0);
	cr_expect_eq(count("peer again (and 7 more like it)\n"), 1);
	cr_expect_eq(count("peer last\n"), 1);
}

Test(log, tells_of_what_was_held_back_behind_a_message_of_any_length)
{
	static char message[20000];
	struct log_rate rate = {.suppressed = 3};

	memset(message, 'x', sizeof(message) - 1);
	capture();
	log_limited(&rate, LOG_LEVEL_WARNING, "%s", message);
	cr_expect_not_null(strstr(captured(), "xxx (and 3 more like it)\n"));
}

/*
 * ── a full stderr ───────────────────────────────────────────────────────────────────────────────
 */

static unsigned int n_woken;

static void wake(void *data)
{
	(void)data;
	n_woken++;
}

/* Fill the pipe, which blocks, like the stderr of a daemon whose log is not read. */
static void fill(void)
{
	static const char bytes[4096];

	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
}

/* Read everything in the pipe into @logged, and return its size. */
static size_t drain(void)
{
	size_t size = 0;
	ssize_t got = 1;

	while (got > 0) {
		char bytes[4096];

		got = read(ends[0], bytes, sizeof(bytes));
		for (ssize_t i = 0; i < got && size < sizeof(logged) - 1; i++)
			if (bytes[i] != '\0')
				logged[size++] = bytes[i];
	}
	logged[size] = '\0';
	return size;
}

Test(log, waits_for_no_reader_and_loses_nothing_that_has_room, .timeout = 20)
{
	capture();
	fill();
	log_defer(wake, NULL);
	for (int i = 0; i < 100; i++)
		log_info("line %d of some", i);
	cr_expect_eq(n_woken, 1);
	cr_expect_not(log_flush());
	drain();
	cr_expect(log_flush());
	drain();
	cr_expect_eq(count("\n"), 100);
	cr_expect_eq(count("line 0 of some\n"), 1);
	cr_expect_eq(count("line 99 of some\n"), 1);
	log_info("and on");
	drain();
	cr_expect_eq(count("and on\n"), 1);
	cr_expect_eq(n_woken, 1);
	log_finish();
}

Test(log, counts_what_has_no_room_and_says_so_when_it_is_read_again, .timeout = 20)
{
	static char words[1001];

	memset(words, 'w', sizeof(words) - 1);
	capture();
	fill();
	log_defer(wake, NULL);
	for (int i = 0; i < 200; i++)
		log_info("%s", words);
	drain();
	for (int i = 0; i < 20 && !log_flush(); i++)
		drain();
	drain();
	cr_expect_not_null(
		strstr(logged, " lines of the log were lost: stderr was not read in time\n"), "%s",
		logged + strlen(logged) - 100);
	cr_expect_gt(atoi(strstr(logged, "WARN  ") + strlen("WARN  ")), 100);
	log_finish();
}

Test(log, waits_a_moment_for_its_reader_in_the_end_and_not_longer, .timeout = 20)
{
	uint64_t start;

	capture();
	fill();
	log_defer(wake, NULL);
	log_info("nobody reads this");
	start = clock_now_ms();
	log_finish();
	cr_expect_geq(clock_now_ms() - start, LOG_FINISH_MS);
	dup2(stderr_before, STDERR_FILENO);
}

Test(log, does_not_change_the_descriptor_that_others_share)
{
	capture();
	fcntl(ends[1], F_SETFL, 0);
	log_defer(wake, NULL);
	cr_expect_neq(log_fd(), STDERR_FILENO);
	cr_expect_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
	log_finish();
	cr_expect_eq(log_fd(), STDERR_FILENO);
}

Test(log, asks_a_socket_in_another_way, .timeout = 20)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	stderr_before = dup(STDERR_FILENO);
	dup2(pair[1], STDERR_FILENO);
	log_defer(wake, NULL);
	for (int i = 0; i < 20000 && n_woken == 0; i++)
		log_info("a line for the journal");
	cr_expect_eq(n_woken, 1);
	close(pair[0]);
	cr_expect(log_flush());
	log_finish();
	dup2(stderr_before, STDERR_FILENO);
}
