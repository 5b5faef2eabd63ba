/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "answering.h"
#include "util/array.h"

static void set_up(void)
{
	setenv("TZ", "UTC", 1);
}

TestSuite(ctl_jobs, .init = set_up, .fini = answering_stop, .timeout = 60);

#define LIST   "ovos.tools.job.list"
#define GET    "ovos.tools.job.get"
#define CANCEL "ovos.tools.job.cancel"

Test(ctl_jobs, are_a_table)
{
	static const struct prepared messages[] = {
		{LIST,
			"{'jobs':[{'job_id':'j1','toolbox_id':'math','name':'add','state':'running'"
			","
			"'started':'2020-03-01T10:09:08Z','text':'half\\nway'},{'job_id':'j2'}]}",
			NULL},
		{LIST, "{'jobs':[]}", NULL},
		{LIST, "{}", NULL},
		{LIST, "{'error':'no','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_jobs, "jobs", CTL_DONE,
		"JOB  TOOL      STATE    STARTED           TEXT\n"
		"j1   math/add  running  2020-03-01 10:09  half way\n"
		"j2   /\n",
		"");
	expect_command(ctl_jobs, "jobs", CTL_DONE, "JOB  TOOL  STATE  STARTED  TEXT\n", "");
	expect_command(ctl_jobs, "jobs", CTL_DONE, "", "");
	expect_command(ctl_jobs, "jobs", CTL_ERROR, "", "no\n");
	cr_expect_str_eq(answering_requests(), LIST " {}\n" LIST " {}\n" LIST " {}\n" LIST " {}\n");
}

Test(ctl_jobs, are_got_as_they_are)
{
	static const struct prepared messages[] = {
		{GET, "{'state':'ended','result':{'a':1}}", NULL},
		{GET, "{'state':'running'}", NULL},
		{GET, "{'state':'ended'}", NULL},
		{GET, "{'error':'It broke.','code':'tool_error'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_jobs, "jobs get j1 j2 j3", CTL_DONE, "{\n  \"a\": 1\n}\nrunning\n", "");
	cr_expect_str_eq(answering_requests(),
		GET " {'job_id':'j1'}\n" GET " {'job_id':'j2'}\n" GET " {'job_id':'j3'}\n");
	/* After an error no other job is asked for. */
	expect_command(ctl_jobs, "jobs get j4 j5", CTL_ERROR, "", "It broke.\n");
	cr_expect_null(strstr(answering_requests(), "j5"));
}

Test(ctl_jobs, are_waited_for_until_they_have_ended)
{
	static const struct prepared messages[] = {
		{GET, "{'state':'running'}", NULL},
		{GET, "{'state':'running'}", NULL},
		{GET, "{'state':'ended','result':7}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_jobs, "jobs wait j1", CTL_DONE, "7\n", "");
#define WAIT GET " {'job_id':'j1','wait_ms':4000}\n"
	cr_expect_str_eq(answering_requests(), WAIT WAIT WAIT);
}

Test(ctl_jobs, are_cancelled_unless_they_have_ended)
{
	static const struct prepared messages[] = {
		{CANCEL, "{'cancelled':true}", NULL},
		{CANCEL, "{'cancelled':false}", NULL},
		{CANCEL, "{'cancelled':true, 'x':1}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_jobs, "jobs cancel j1 j2", CTL_DONE, "cancelled\nit has ended\n", "");
	expect_command(
		ctl_jobs, "jobs --json cancel j3", CTL_DONE, "{\"cancelled\":true, \"x\":1}\n", "");
	cr_expect_str_eq(answering_requests(), CANCEL
		" {'job_id':'j1'}\n" CANCEL " {'job_id':'j2'}\n" CANCEL " {'job_id':'j3'}\n");
}

Test(ctl_jobs, need_a_word_that_is_known_and_an_id)
{
	static const char *const lines[] = {
		"jobs get", "jobs wait", "jobs cancel", "jobs j1", "jobs list j1"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect_command(ctl_jobs, lines[i], CTL_USAGE, "",
			"expected `jobs`, or `jobs get`, `wait` or `cancel` with ids of jobs\n");
}
