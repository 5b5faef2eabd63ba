/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/terminal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "quotes.h"
#include "util/cleanup.h"

static void set_up(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TZ", "UTC", 1);
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
}

TestSuite(ctl_terminal, .init = set_up, .timeout = 60);

/* Let stdout and stderr be a terminal of @columns and @rows. Return its other end. */
static int become_terminal(unsigned short columns, unsigned short rows)
{
	struct winsize size = {.ws_col = columns, .ws_row = rows};
	struct termios raw;
	int master;
	int slave;

	cr_assert_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
	cr_assert_eq(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(slave, TCSANOW, &raw), 0);
	fflush(NULL);
	dup2(slave, STDOUT_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
	return master;
}

/* The end of a text on the terminal: the record separator. */
#define END "\x1e"

/* Return the text on the terminal. The kernel passes writes on one by one, so a read can have a
 * part of them: read until a mark has come. */
static const char *shown_on(int master)
{
	static char text[4096];
	size_t size = 0;

	fflush(NULL);
	cr_assert_eq(write(STDOUT_FILENO, END, 1), 1);
	while (size == 0 || text[size - 1] != END[0]) {
		ssize_t got = read(master, text + size, sizeof(text) - 1 - size);

		cr_assert_gt(got, 0);
		size += (size_t)got;
	}
	text[size - 1] = '\0';
	return text;
}

typedef void (*append_function)(struct buffer *out, const char *text, size_t size);

static void expect_appended(append_function append, const char *text, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	append(&out, text, strlen(text));
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", text, out.data);
}

/* ── lines and words ─────────────────────────────────────────────────────────────────────────── */

Test(ctl_terminal, keeps_any_text_on_one_line)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain é 日本", "plain é 日本"},
		{"a\nb\tc\rd", "a b c d"},
		{"\x1b[31m\x07", "\\u001b[31m\\u0007"},
		{"\xE2\x80\xAE", "\\u202e"},
		{"\xFF", "\xEF\xBF\xBD"},
		{"“a” – b…", "“a” – b…"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_appended(terminal_append_line, cases[i][0], cases[i][1]);
}

Test(ctl_terminal, writes_typographic_characters_in_ascii_for_another_locale)
{
	setenv("LC_ALL", "C", 1);
	expect_appended(
		terminal_append_line, "“a” ‘b’ – c — d… → █░ é", "\"a\" 'b' - c - d... -> #. é");
	cr_expect_not(terminal_has_utf8());
}

Test(ctl_terminal, knows_a_locale_with_utf8_by_its_name)
{
	static const struct {
		const char *locale;
		bool has_utf8;
	} cases[] = {
		{"C.UTF-8", true},
		{"de_DE.utf8", true},
		{"en_US.UTF8@euro", true},
		{"C", false},
		{"POSIX", false},
		{"de_DE.ISO-8859-1", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("LC_ALL", cases[i].locale, 1);
		cr_expect_eq(terminal_has_utf8(), cases[i].has_utf8, "%s", cases[i].locale);
	}
}

Test(ctl_terminal, has_one_space_between_words)
{
	static const char *const cases[][2] = {
		{"", ""},
		{" \n\t", ""},
		{"word", "word"},
		{"  two\n\t words\v\f", "two words"},
		{"a\x1b[m b", "a\\u001b[m b"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_appended(terminal_append_words, cases[i][0], cases[i][1]);
}

Test(ctl_terminal, shows_a_nul_among_words)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	terminal_append_words(&out, "a\0b c", 5);
	cr_expect_str_eq(buffer_terminate(&out), "a\\u0000b c");
}

Test(ctl_terminal, quotes_a_word_for_a_shell_if_it_has_to)
{
	static const char *const cases[][2] = {
		{"plain-1_2./a,b:c+d%e=f", "plain-1_2./a,b:c+d%e=f"},
		{"", "''"},
		{"two words", "'two words'"},
		{"~", "'~'"},
		{"a$b", "'a$b'"},
		{"it's", "'it'\\''s'"},
		{"'", "''\\'''"},
		{"é", "'é'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_appended(terminal_append_shell_word, cases[i][0], cases[i][1]);
}

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_terminal, shows_a_value_for_a_cell)
{
	static const char *const cases[][2] = {
		{"'a\\nb'", "a b"},
		{"''", ""},
		{"null", ""},
		{"true", "true"},
		{"1.50", "1.50"},
		{"[1, {'a' : 2}]", "[1,{\"a\":2}]"},
		{"'\\u001b'", "\\u001b"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		char text[64];
		char *json;

		snprintf(text, sizeof(text), "{'v':%s,'words':%s}", cases[i][0], cases[i][0]);
		json = quoted(text);
		cr_assert_eq(json_tape_read(&tape, json, strlen(json), 9, NULL), 0);
		terminal_append_member(&out, &tape, 0, "v");
		cr_expect_str_eq(buffer_terminate(&out), cases[i][1]);
		buffer_reset(&out);
		terminal_append_member(&out, &tape, 0, "absent");
		terminal_append_member(&out, &tape, json_find(&tape, 0, "v"), "v");
		cr_expect_eq(out.size, 0, "%s", cases[i][0]);
		free(json);
	}
}

Test(ctl_terminal, shows_the_words_of_a_member_that_is_a_text)
{
	static const char json[] = "{\"a\":\" two\\n words \",\"b\":5,\"c\":\"\"}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 9, NULL), 0);
	terminal_append_member_words(&out, &tape, 0, "b");
	terminal_append_member_words(&out, &tape, 0, "c");
	terminal_append_member_words(&out, &tape, 0, "d");
	cr_expect_eq(out.size, 0);
	terminal_append_member_words(&out, &tape, 0, "a");
	cr_expect_str_eq(buffer_terminate(&out), "two words");
}

Test(ctl_terminal, shows_the_date_of_another_day_only)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	time_t now = time(NULL);
	char expected[16];

	terminal_append_time(&out, 1583057348);
	cr_expect_str_eq(buffer_terminate(&out), "2020-03-01 10:09");
	buffer_reset(&out);
	terminal_append_time(&out, now);
	strftime(expected, sizeof(expected), "%H:%M:%S", gmtime(&now));
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

/* ── the terminal ────────────────────────────────────────────────────────────────────────────── */

Test(ctl_terminal, has_no_size_and_no_colours_when_it_is_none)
{
	int file = open("/dev/null", O_WRONLY);

	dup2(file, STDOUT_FILENO);
	cr_expect_eq(terminal_width(), 0);
	cr_expect_eq(terminal_height(), SIZE_MAX);
	cr_expect_eq(terminal_text_width(), 80);
	cr_expect_str_empty(terminal_bold());
	cr_expect_str_empty(terminal_plain());
}

Test(ctl_terminal, has_the_size_of_a_terminal)
{
	static const struct {
		unsigned short columns;
		size_t text;
	} cases[] = {{10, 20}, {19, 20}, {20, 20}, {99, 99}, {100, 100}, {200, 100}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int master = become_terminal(cases[i].columns, 24);

		cr_expect_eq(terminal_width(), cases[i].columns);
		cr_expect_eq(terminal_text_width(), cases[i].text, "%u", cases[i].columns);
		cr_expect_eq(terminal_height(), 24);
		close(master);
	}
	become_terminal(0, 0);
	cr_expect_eq(terminal_height(), SIZE_MAX, "a terminal that has no rows");
}

Test(ctl_terminal, has_colours_unless_a_person_wants_none)
{
	become_terminal(80, 24);
	cr_expect_str_eq(terminal_bold(), "\x1b[1m");
	cr_expect_str_eq(terminal_plain(), "\x1b[0m");
	setenv("NO_COLOR", "1", 1);
	cr_expect_str_empty(terminal_bold());
	setenv("NO_COLOR", "", 1);
	cr_expect_str_eq(terminal_bold(), "\x1b[1m");
	setenv("TERM", "dumb", 1);
	cr_expect_str_empty(terminal_bold());
	unsetenv("TERM");
	cr_expect_str_eq(terminal_bold(), "\x1b[1m");
}

Test(ctl_terminal, complains_in_lines_that_fit)
{
	int master = become_terminal(24, 24);

	terminal_complain("the %s is\ntoo long for a line", "sentence");
	cr_expect_str_eq(shown_on(master), "\x1b[31mtoolboxctl:\x1b[0m the\n"
					   "  sentence is too long\n"
					   "  for a line\n");
}

Test(ctl_terminal, takes_a_drawn_line_away_before_it_complains)
{
	int master = become_terminal(80, 24);
	cleanup(buffer_deinit) struct buffer line = {0};

	setenv("NO_COLOR", "1", 1);
	terminal_clear_line();
	cr_expect_not(terminal_has_line());
	buffer_append_string(&line, "50 %");
	terminal_draw_line(&line);
	cr_expect(terminal_has_line());
	terminal_complain("no");
	cr_expect_not(terminal_has_line());
	cr_expect_str_eq(shown_on(master), "\r\x1b[K50 %\r\x1b[Ktoolboxctl: no\n");
	line.error = -ENOMEM;
	terminal_draw_line(&line);
	cr_expect_not(terminal_has_line(), "a line that could not be made");
	line.error = 0;
}

Test(ctl_terminal, shows_findings_in_lines_and_with_a_red_severity)
{
	int master = become_terminal(30, 24);
	struct diagnostic_counts counts = {0};
	struct diagnostic error = {
		DIAGNOSTIC_ERROR, "a.json", 3, "/tools", "must have one element"};
	struct diagnostic warning = {DIAGNOSTIC_WARNING, "b.json", 0, "", "is empty"};

	terminal_print_finding(&counts, &error);
	terminal_print_finding(&counts, &warning);
	cr_expect_str_eq(shown_on(master), "\x1b[31merror\x1b[0m a.json:3 /tools: must\n"
					   "  have one element\n"
					   "warning b.json: is empty\n");
	cr_expect_eq(counts.n_errors, 1);
	cr_expect_eq(counts.n_warnings, 1);
}

Test(ctl_terminal, complains_of_errors_and_not_of_warnings)
{
	int master = become_terminal(80, 24);
	struct diagnostic error = {DIAGNOSTIC_ERROR, NULL, 0, "--bus", "must be a URL"};
	struct diagnostic warning = {DIAGNOSTIC_WARNING, "b.json", 0, "", "is empty"};

	setenv("NO_COLOR", "1", 1);
	terminal_complain_error(NULL, &warning);
	terminal_complain_error(NULL, &error);
	cr_expect_str_eq(shown_on(master), "toolboxctl: --bus: must be a URL\n");
}

Test(ctl_terminal, indents_a_paragraph_and_hangs_its_other_lines)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	become_terminal(20, 24);
	terminal_append_paragraph(&out, &text, 2, 4);
	cr_expect_eq(out.size, 0, "an empty one is none");
	buffer_append_string(&text, "one two three four five");
	terminal_append_paragraph(&out, &text, 2, 4);
	cr_expect_str_eq(buffer_terminate(&out), "  one two three four\n    five\n");
	buffer_reset(&out);
	text.error = -ENOMEM;
	terminal_append_paragraph(&out, &text, 2, 4);
	cr_expect_eq(buffer_status(&out), -ENOMEM);
	text.error = 0;
}

Test(ctl_terminal, prints_the_same_json_with_no_character_that_it_would_obey)
{
	static const char json[] = "{\"a\":\"\xE2\x80\xAE\xC3\xA9\xF0\x9F\x98\x80\"}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int master = become_terminal(80, 24);

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 9, NULL), 0);
	terminal_print_json(&tape, 0);
	cr_expect_str_eq(shown_on(master), "{\n  \"a\": \"\\u202eé😀\"\n}\n");
	setenv("LC_ALL", "C", 1);
	terminal_print_json(&tape, 0);
	cr_expect_str_eq(shown_on(master), "{\n  \"a\": \"\\u202e\\u00e9\\ud83d\\ude00\"\n}\n");
	buffer_append_string(&text, json);
	terminal_print_json_text(&text);
	cr_expect_str_eq(shown_on(master), "{\"a\":\"\\u202e\\u00e9\\ud83d\\ude00\"}");
}

Test(ctl_terminal, complains_of_a_text_that_could_not_be_made)
{
	struct buffer text = {.error = -ENOMEM};
	int master = become_terminal(80, 24);

	setenv("NO_COLOR", "1", 1);
	terminal_print(&text);
	cr_expect_str_eq(shown_on(master), "toolboxctl: Cannot allocate memory\n");
}
