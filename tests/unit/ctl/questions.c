/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/questions.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "util/cleanup.h"

TestSuite(ctl_questions, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = 60);

static struct questions questions;
static struct buffer messages;

#define N_QUESTIONS 12

/* Ask the questions of a compiler that prints @lines. */
static int ask(const char *lines)
{
	char cc[128];

	snprintf(cc, sizeof(cc), "/bin/sh %s", scratch_path("cc"));
	setenv("CC", cc, 1);
	scratch_write("cc", "cat \"${0%cc}lines\" >&2; exit 1");
	scratch_write("lines", lines);
	questions_deinit(&questions);
	buffer_deinit(&messages);
	for (int i = 0; i < N_QUESTIONS; i++)
		questions_assert(&questions, "sizeof(int) == %d", i);
	return questions_ask(&questions, &(struct compiler){0}, &messages);
}

/* Expect that the answer to each question is yes, but to @no. */
static void expect_answers(size_t no)
{
	for (size_t i = 0; i < N_QUESTIONS; i++)
		cr_expect_eq(questions.answers[i], i + 1 != no, "%zu", i);
}

Test(ctl_questions, are_answered_by_an_error_at_the_number_of_each)
{
	cr_assert_eq(ask("toolboxctl:1: warning: odd\ntoolboxctl:12: error: no\n"), 0);
	expect_answers(12);
	cr_assert_eq(ask("toolboxctl:1: error: no\n"), 0);
	expect_answers(1);
	questions_deinit(&questions);
}

Test(ctl_questions, are_not_answered_by_an_error_elsewhere)
{
	static const char *const lines[] = {"toolboxctl:0: error: a\n", "toolboxctl:13: error: a\n",
		"toolboxctl:: error: a\n", "toolboxctl:1 error: a\n", "a.h:1: error: a\n"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cr_expect_eq(ask(lines[i]), COMPILER_E_FAILED, "%s", lines[i]);
		cr_expect_str_eq(buffer_terminate(&messages), lines[i]);
		expect_answers(0);
	}
	cr_expect_eq(ask("a.h:1: error: a\na.h:2: error: b\n"), COMPILER_E_FAILED);
	cr_expect_str_eq(
		buffer_terminate(&messages), "a.h:1: error: a\n", "the first is the cause");
	questions_deinit(&questions);
	buffer_deinit(&messages);
}
