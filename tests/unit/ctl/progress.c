/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/progress.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

static void set_up(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
}

TestSuite(progress, .init = set_up, .timeout = 20);

static void expect(
	const char *text, double done, size_t columns, bool has_utf8, const char *expected)
{
	struct progress progress = {.done = done};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&progress.text, text);
	progress_write(&progress, columns, 2.1, has_utf8, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
	progress_deinit(&progress);
}

Test(progress, is_one_line_that_fits)
{
	expect("adding", 0.66, 80, true, "adding ███████████░░░░░ 66 %  2.1 s   (Ctrl-C cancels)");
	expect("adding", 0.66, 80, false, "adding ###########----- 66 %  2.1 s   (Ctrl-C cancels)");
	expect("adding", 0.66, 40, true, "adding ███████████░░░░░ 66 %  2.1 s");
	expect("adding", 0.66, 30, true, "adding █████░░░ 66 %  2.1 s");
	expect("adding", 0.66, 20, true, "adding 66 %  2.1 s");
	expect("", 1, 80, true, "████████████████ 100 %  2.1 s   (Ctrl-C cancels)");
	expect("", -1, 80, true, "2.1 s   (Ctrl-C cancels)");
	expect("", -1, 1, true, "2.1 s");
}

Test(progress, shows_each_part_from_the_first_column_that_has_room)
{
	expect("adding", 0.66, 47, false, "adding #####--- 66 %  2.1 s   (Ctrl-C cancels)");
	expect("adding", 0.66, 46, false, "adding ###########----- 66 %  2.1 s");
	expect("adding", 0.66, 36, false, "adding ###########----- 66 %  2.1 s");
	expect("adding", 0.66, 35, false, "adding #####--- 66 %  2.1 s");
	expect("adding", 0.66, 28, false, "adding #####--- 66 %  2.1 s");
	expect("adding", 0.66, 27, false, "adding 66 %  2.1 s");
	expect("adding", -1, 32, false, "adding 2.1 s   (Ctrl-C cancels)");
	expect("adding", -1, 31, false, "adding 2.1 s");
	expect("adding", -1, 13, false, "adding 2.1 s");
	expect("adding", -1, 12, false, "2.1 s");
}

Test(progress, cuts_a_text_between_words)
{
	expect("copying the first of seven files", 0.5, 60, true,
		"copying the… ████░░░░ 50 %  2.1 s   (Ctrl-C cancels)");
	expect("copying the first of seven files", 0.5, 40, false,
		"copying the... ####---- 50 %  2.1 s");
	expect("copyingthefirstofsevenfiles", 0.5, 40, true, "████░░░░ 50 %  2.1 s");
}
