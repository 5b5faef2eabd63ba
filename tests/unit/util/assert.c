/* SPDX-License-Identifier: Apache-2.0 */
#include "util/assert.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

Test(assert, passes_a_condition_that_holds)
{
	int evaluated = 0;

	check(++evaluated == 1);
	cr_expect_eq(evaluated, 1);
}

Test(assert, aborts_where_a_condition_does_not_hold, .signal = SIGABRT)
{
	check(1 + 1 == 3);
}

static int saved;

/* At SIGABRT: succeed if the logged line names the condition and its place. */
static void judge_the_line(int number)
{
	static const char wanted[] = "names_the_condition() in assert.c";
	char line[512] = {0};

	(void)number;
	_exit(read(saved, line, sizeof(line) - 1) > 0 && strstr(line, "\"1 + 1 == 3\"") &&
				strstr(line, wanted)
			? 0
			: 1);
}

static void names_the_condition(void)
{
	check(1 + 1 == 3);
}

Test(assert, logs_the_function_the_file_and_the_condition, .exit_code = 0)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	saved = ends[0];
	cr_assert_geq(dup2(ends[1], STDERR_FILENO), 0);
	signal(SIGABRT, judge_the_line);
	names_the_condition();
}
