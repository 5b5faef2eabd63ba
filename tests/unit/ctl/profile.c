/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "../scratch.h"
#include "answering.h"

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_profile, .init = scratch_set_up, .fini = tear_down, .timeout = 60);

#define STATUS "ovos.tools.status"
#define LIST   "ovos.tools.list"
#define RELOAD "ovos.tools.reload"

/* Start a service whose own files are low/toolboxd and high/toolboxd of the test's folder, and
 * whose profiles have @tools. */
static void start(const char *tools)
{
	static struct prepared messages[4];
	static char status[512];
	static char list[512];

	snprintf(status, sizeof(status), "{'folders':['%s','%s'],'not_offered':[]}",
		scratch_path("low/toolboxd"), scratch_path("high/toolboxd"));
	snprintf(list, sizeof(list), "{'tools':%s}", tools);
	messages[0] = (struct prepared){STATUS, status, NULL};
	messages[1] = (struct prepared){RELOAD, "{}", NULL};
	messages[2] = (struct prepared){LIST, list, NULL};
	answering_start(messages);
}

#define TIME "[{'toolbox_id':'clock','name':'time'}]"

#define LOW(name)  "low/toolboxd/profiles.d/" name ".json"
#define HIGH(name) "high/toolboxd/profiles.d/" name ".json"

Test(ctl_profile, lists_the_files_of_profiles_the_highest_folder_first)
{
	char expected[512];

	scratch_write_json(LOW("kids"), "{'tool_names':['clock/*','get_weather']}");
	scratch_write_json(HIGH("all_of"), "{'tool_names':['all']}");
	scratch_write_json(HIGH("zoo"), "{'tool_names':['a']}");
	scratch_write_json("high/toolboxd/profiles.d/.hidden.json", "{");
	scratch_write_json("high/toolboxd/profiles.d/readme.txt", "x");
	scratch_write_json("high/toolboxd/profiles.d/.json", "x");
	start(TIME);
	cr_expect_eq(command_run(ctl_profile, "profile list"), CTL_DONE);
	cr_expect_str_empty(command_complaints);
	snprintf(
		expected, sizeof(expected), "\nall_of     all  %s\n", scratch_path(HIGH("all_of")));
	expect_output(expected);
	snprintf(expected, sizeof(expected), "\nzoo          1  %s\nkids         2  %s\n",
		scratch_path(HIGH("zoo")), scratch_path(LOW("kids")));
	expect_output(expected);
}

Test(ctl_profile, says_that_no_file_has_one)
{
	start(TIME);
	expect_command(ctl_profile, "profile list", CTL_DONE, "",
		"no profile is in a file; those of mycroft.conf are not listed\n");
}

Test(ctl_profile, names_files_that_are_no_profiles)
{
	scratch_write_json(HIGH("a"), "{");
	scratch_write_json(HIGH("b"), "[]");
	scratch_write_json(HIGH("c"), "{'tool_names':5}");
	start(TIME);
	cr_expect_eq(command_run(ctl_profile, "profile list"), CTL_DONE);
	expect_complaint("a.json cannot be used: it is not JSON");
	expect_complaint("b.json cannot be used: ");
	expect_complaint("c.json cannot be used: ");
}

Test(ctl_profile, shows_the_names_of_a_profile_and_the_tools_that_it_gives)
{
	char expected[512];

	scratch_write_json(LOW("kids"), "{'tool_names':['other']}");
	scratch_write_json(HIGH("kids"), "{'tool_names':['clock/*','time']}");
	start(TIME);
	snprintf(expected, sizeof(expected),
		"%s\nnames clock/*, time\ngives 1 tool now\n  clock/time\n",
		scratch_path(HIGH("kids")));
	expect_command(ctl_profile, "profile show kids", CTL_DONE, expected, "");
	cr_expect_not_null(strstr(answering_requests(), LIST " {'profile':'kids'}\n"));
	expect_command(ctl_profile, "profile show kids --json", CTL_DONE,
		"{\"tools\":[{\"toolbox_id\":\"clock\",\"name\":\"time\"}]}\n", "");
}

Test(ctl_profile, shows_a_profile_that_is_in_no_file)
{
	start(TIME);
	expect_command(ctl_profile, "profile show guests", CTL_DONE,
		"in no file; mycroft.conf has it\ngives 1 tool now\n  clock/time\n", "");
}

Test(ctl_profile, names_the_names_that_mean_no_tool)
{
	scratch_write_json(HIGH("kids"), "{'tool_names':['clock/*','weather']}");
	start(TIME);
	cr_expect_eq(command_run(ctl_profile, "profile show kids"), CTL_DONE);
	cr_expect_str_eq(command_complaints, "toolboxctl: no tool is called 'weather' now\n");
}

Test(ctl_profile, does_not_show_one_that_is_nowhere)
{
	start("[]");
	expect_command(ctl_profile, "profile show kids", CTL_ERROR, "",
		"there is no profile 'kids', or it has no tool that is offered; see toolboxctl "
		"profile list, and `profiles` in mycroft.conf\n");
	scratch_write_json(HIGH("bad"), "{");
	cr_expect_eq(command_run(ctl_profile, "profile show bad"), CTL_ERROR);
	expect_complaint("bad.json cannot be used: it is not JSON");
}

Test(ctl_profile, is_set_and_removed)
{
	char text[128] = "";
	FILE *stream;

	start(TIME);
	expect_command(ctl_profile, "profile set kids clock/* time", CTL_DONE, "", "");
	stream = fopen(scratch_path(HIGH("kids")), "r");
	cr_assert_not_null(stream);
	cr_expect_gt(fread(text, 1, sizeof(text) - 1, stream), 0);
	fclose(stream);
	cr_expect_str_eq(text, "{\n  \"tool_names\": [\"clock/*\", \"time\"]\n}\n");
	cr_expect_not_null(strstr(answering_requests(), RELOAD));
	expect_command(ctl_profile, "profile set kids nothing", CTL_DONE, "",
		"no tool is called 'nothing' now\n");
	expect_command(ctl_profile, "profile set kids all", CTL_DONE, "", "");
	expect_command(ctl_profile, "profile remove kids", CTL_DONE, "", "");
	cr_expect_neq(access(scratch_path(HIGH("kids")), F_OK), 0);
	cr_expect_eq(command_run(ctl_profile, "profile remove kids"), CTL_ERROR);
	expect_complaint("kids.json cannot be written: No such file or directory");
}

Test(ctl_profile, refuses_words_that_it_does_not_know)
{
	static const char expected[] =
		"expected: profile list | show NAME | set NAME NAMES... | remove NAME\n";
	static const char *const wrong[] = {"profile lis", "profile list x", "profile show",
		"profile show a b", "profile set", "profile set a", "profile remove",
		"profile remove a b", "profile "};

	start(TIME);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		expect_command(ctl_profile, wrong[i], CTL_USAGE, "", expected);
	expect_command(ctl_profile, "profile show ../x", CTL_USAGE, "",
		"'../x' is no name of a profile: letters, digits, '_' and '-'\n");
	expect_command(ctl_profile, "profile set kids a.b", CTL_USAGE, "",
		"'a.b' is no name of tools: TOOL, TOOLBOX/TOOL, with * for any characters\n");
	cr_expect_str_empty(answering_requests());
}
