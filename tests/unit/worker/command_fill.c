/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/fill.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "scarce.h"

static struct json_tape command_tape, arguments;
static struct command command;
static struct command_fill fill;

static void read_text(struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void set_up(void)
{
	struct command_mistake mistake;

	read_text(&command_tape, "{\"f\":{\"argv\":[\"printf\",\"--a={a}\",\"{b}\"]}}");
	read_text(&arguments, "{\"a\":\"O'Neill\",\"b\":\"\"}");
	cr_assert_eq(
		command_read(&command_tape, json_find(&command_tape, 0, "f"), &command, &mistake),
		0);
}

static void tear_down(void)
{
	command_fill_deinit(&fill);
	command_deinit(&command);
	json_tape_deinit(&arguments);
	json_tape_deinit(&command_tape);
}

TestSuite(command_fill, .init = set_up, .fini = tear_down, .timeout = 60);

/* Fill with memory that was not used before. */
static int fill_anew(void)
{
	static const char caller[] = "{\"session_id\":\"7\"}";

	command_fill_deinit(&fill);
	fill = (struct command_fill){0};
	return command_fill(
		&fill, &command, "TOOL_NAME=f\0", caller, sizeof(caller) - 1, &arguments, 0);
}

static void append_lines(struct buffer *out, char *const *texts)
{
	for (; *texts; texts++)
		buffer_printf(out, "%s\n", *texts);
}

Test(command_fill, starts_no_program_with_less_than_all_of_its_arguments)
{
	cleanup(buffer_deinit) struct buffer expected = {0};
	size_t n = 0;

	cr_assert_eq(fill_anew(), 0);
	append_lines(&expected, fill.arguments);
	append_lines(&expected, fill.environment);
	cr_assert(strstr(buffer_terminate(&expected), "--a=O'Neill\n\n"), "%s", expected.data);
	for (; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer came = {0};
		int r = fill_anew();

		if (scarce_has_failed()) {
			cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
			continue;
		}
		cr_assert_eq(r, 0);
		append_lines(&came, fill.arguments);
		append_lines(&came, fill.environment);
		cr_expect_str_eq(buffer_terminate(&came), expected.data, "%zu: %s", n, came.data);
	}
	cr_expect_gt(n, 3);
}

Test(command_fill, tells_a_shortage_from_a_value_that_is_too_long)
{
	size_t n = 0;

	read_text(&arguments, "[\"a\\u0062\"]");
	for (; scarce_once_after(n); n++) {
		const char *message = command_refusal(&arguments, 1);

		if (scarce_has_failed())
			cr_expect(message && strstr(message, "memory is short"), "%s", message);
		else
			cr_expect_null(message);
	}
	cr_expect_gt(n, 0);
}
