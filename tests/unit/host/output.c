/* SPDX-License-Identifier: Apache-2.0 */
#include "host/output.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "logged.h"

#define BYTES_MAX 100000

static struct loop *loop;
static struct output output;
static struct output_tail tail;
static int in; /* the toolbox's end of the pipe */

static void begin(size_t bytes_max)
{
	int ends[2];

	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	in = ends[1];
	cr_assert_eq(output_init(&output, loop, ends[0], "box", &tail, bytes_max), 0);
	logged_begin();
}

static void print(const char *text, size_t size)
{
	cr_assert_eq(write(in, text, size), (ssize_t)size);
	loop_run(loop, 0);
}

static const char *end(void)
{
	close(in);
	output_deinit(&output);
	loop_free(loop);
	return logged_end();
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

Test(output, is_logged_line_by_line)
{
	begin(BYTES_MAX);
	print("one\n\ntwo\nth", 11);
	print("ree\n", 4);
	cr_expect_str_eq(end(), "INFO  toolbox 'box': one\n"
				"INFO  toolbox 'box': two\n"
				"INFO  toolbox 'box': three\n");
}

Test(output, is_logged_to_its_last_byte_when_it_ends_without_a_line_break)
{
	begin(BYTES_MAX);
	cr_assert_eq(write(in, "not read yet", 12), 12);
	cr_expect_str_eq(end(), "INFO  toolbox 'box': not read yet\n");
}

Test(output, may_hold_nul_bytes)
{
	begin(BYTES_MAX);
	print("a\0b\n", 4);
	cr_expect_str_eq(end(), "INFO  toolbox 'box': a?b\n");
}

Test(output, of_one_long_line_is_cut_into_pieces)
{
	char line[2 * OUTPUT_LINE_BYTES + 10];
	char pieces[3 * OUTPUT_LINE_BYTES];

	memset(line, 'x', sizeof(line));
	snprintf(pieces, sizeof(pieces),
		"INFO  toolbox 'box': %.*s\nINFO  toolbox 'box': %.*s\n"
		"INFO  toolbox 'box': xxxxxxxxxx\n",
		OUTPUT_LINE_BYTES, line, OUTPUT_LINE_BYTES, line);
	begin(BYTES_MAX);
	print(line, sizeof(line));
	cr_expect_str_eq(end(), pieces);
}

Test(output, beyond_the_limit_of_a_call_is_counted_once_and_not_logged)
{
	begin(5);
	print("12345", 5);
	print("6\n", 2);
	print("7\n", 2);
	output_begin_call(&output);
	print("8\n", 2);
	cr_expect_str_eq(end(),
		"INFO  toolbox 'box': 12345\n"
		"INFO  toolbox 'box': more than 5 bytes of output in one call: the rest is not "
		"logged\n"
		"INFO  toolbox 'box': 8\n");
}

Test(output, that_was_left_in_the_pipe_is_limited_as_well)
{
	begin(5);
	cr_assert_eq(write(in, "123456789\n", 10), 10);
	cr_expect_str_eq(end(), "INFO  toolbox 'box': 12345\n"
				"INFO  toolbox 'box': more than 5 bytes of output in one call: the "
				"rest is not logged\n");
}

Test(output, leaves_its_last_lines)
{
	begin(BYTES_MAX);
	cr_expect_null(output_tail_line(&tail, 0));
	for (int i = 0; i < OUTPUT_TAIL_LINES + 3; i++) {
		char line[8];

		print(line, (size_t)snprintf(line, sizeof(line), "%d\n", i));
	}
	cr_expect_eq(output_tail_line(&tail, 0)->size, 1);
	cr_expect_arr_eq(output_tail_line(&tail, 0)->text, "3", 1);
	cr_expect_arr_eq(output_tail_line(&tail, OUTPUT_TAIL_LINES - 1)->text, "12", 2);
	cr_expect_null(output_tail_line(&tail, OUTPUT_TAIL_LINES));
	end();
	output_tail_deinit(&tail);
}

Test(output, keeps_the_reason_that_is_before_a_stack_trace)
{
	static const char *const lines[] = {
		"Error: no key", "    at f (x.js:3:1)", "\tat g", "Node.js v20"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		output_tail_add(&tail, lines[i], strlen(lines[i]));
	cr_expect_arr_eq(output_tail_line(&tail, 0)->text, "Error: no key", 13);
	cr_expect_arr_eq(output_tail_line(&tail, 1)->text, "Node.js v20", 11);
	cr_expect_null(output_tail_line(&tail, 2));
	output_tail_deinit(&tail);
}

Test(output, of_many_lines_is_logged_at_a_limited_rate)
{
	begin(BYTES_MAX);
	for (int i = 0; i < 300; i++)
		print("x\n", 2);
	cr_expect_eq(count_lines(end()), 100);
}
