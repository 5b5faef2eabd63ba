/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/calls_file.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/buffer.h"
#include "util/cleanup.h"

TestSuite(ctl_calls_file, .timeout = 20);

/* A calls_function: appends "NUMBER TOOL [WORD][WORD] {OBJECT} => EXPECTED\n" to the buffer
 * @data. */
static int write_line(void *data, const struct calls_line *line)
{
	static const char *const names[] = {"any", "result", "error"};
	struct buffer *out = data;

	buffer_printf(out, "%u %s ", line->number, line->tool);
	for (size_t i = 0; i < line->n_words; i++)
		buffer_printf(out, "[%s]", line->words[i]);
	buffer_printf(out, "%s => %s %s\n", line->object ? line->object : "",
		names[line->expectation], line->expected ? line->expected : "-");
	return 0;
}

static int read_text(const char *text, size_t size, struct buffer *out)
{
	char path[] = "/tmp/unit-calls-XXXXXX";
	int fd = mkstemp(path);
	int r;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, size), (ssize_t)size);
	r = calls_file_read(path, write_line, out);
	close(fd);
	unlink(path);
	return r;
}

static void expect(const char *text, const char *lines)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(read_text(text, strlen(text), &out), 0, "%s", text);
	cr_expect_str_eq(buffer_terminate(&out), lines);
}

Test(ctl_calls_file, has_comments_and_empty_lines)
{
	expect("", "");
	expect("# one\n\n  \t\r\n  # two", "");
	expect("\n#\ngreet", "3 greet  => any -\n");
}

Test(ctl_calls_file, takes_words_and_quotes)
{
	expect("greet name=Ada b=2\n", "1 greet [name=Ada][b=2] => any -\n");
	expect("greet name='a  b\\n' x\r\n", "1 greet [name=a  b\\n][x] => any -\n");
	expect("greet name=\"a\\n\\t\\\"\\\\b\"'c'd", "1 greet [name=a\n\t\"\\bcd] => any -\n");
	expect("greet name='' ''", "1 greet [name=][] => any -\n");
	expect("greet a->b c=-> d", "1 greet [a->b][c=->][d] => any -\n");
	expect("greet '->' a", "1 greet [->][a] => any -\n");
}

Test(ctl_calls_file, takes_what_is_expected)
{
	expect("greet a=1 -> {\"b\": \"->\"} ", "1 greet [a=1] => result {\"b\": \"->\"}\n");
	expect("greet ->3", "1 greet [->3] => any -\n");
	expect("greet -> null", "1 greet  => result null\n");
	expect("greet ->  error   timeout\t", "1 greet  => error timeout\n");
}

Test(ctl_calls_file, takes_an_object)
{
	expect("greet {\"a\": 1}", "1 greet {\"a\": 1} => any -\n");
	expect("greet {\"a\": \" -> 1\"} -> error x", "1 greet {\"a\": \" -> 1\"} => error x\n");
	expect("greet {} -> \" -> \"", "1 greet {} => result \" -> \"\n");
}

Test(ctl_calls_file, refuses_what_is_no_call, .init = cr_redirect_stderr)
{
	static const char *const texts[] = {"greet 'a", "greet \"a\\x\"", "greet \"a\\", "'",
		"greet {", "greet {} {}", "greet [1] -> ", "greet -> error", "greet -> error ",
		"greet -> nil", "greet -> {", "greet -> 1 2"};
	cleanup(buffer_deinit) struct buffer out = {0};
	char words[3 * (CALLS_WORDS_MAX + 1) + 1];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_eq(
			read_text(texts[i], strlen(texts[i]), &out), CTL_USAGE, "%s", texts[i]);
	cr_expect_eq(read_text("a\0b", 3, &out), CTL_USAGE);
	for (size_t i = 0; i <= CALLS_WORDS_MAX; i++)
		memcpy(words + 3 * i, " a ", 3);
	words[sizeof(words) - 1] = '\0';
	memcpy(words, "bb", 2);
	cr_expect_eq(read_text(words, strlen(words), &out), 0, "the most words");
	buffer_reset(&out);
	words[2] = 'a';
	words[1] = ' ';
	cr_expect_eq(read_text(words, strlen(words), &out), CTL_USAGE, "one word more");
	cr_expect_eq(out.size, 0);
	cr_expect_eq(calls_file_read("/nowhere.calls", write_line, &out), CTL_USAGE);
}
