/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "../scratch.h"
#include "answering.h"

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(chdir(scratch_folder), 0);
	scratch_write_json("schema", "{'type':'object','properties':{'n':{'type':'integer'}},"
				     "'required':['n']}");
}

TestSuite(ctl_validate, .init = set_up, .fini = scratch_tear_down, .timeout = 60);

/* Let stdin be a file with this text. */
static void give_input(const char *text)
{
	scratch_write_json("input", text);
	cr_assert_not_null(freopen(scratch_path("input"), "r", stdin));
}

Test(ctl_validate, has_a_verdict_for_each_instance)
{
	scratch_write_json("good", "{'n':1}");
	scratch_write_json("bad", "{'n':'x'}");
	scratch_write_json("none", "{\n'n':}");
	expect_command(ctl_validate, "validate schema good", CTL_DONE, "good: valid\n", "");
	expect_command(ctl_validate, "validate schema good bad none", CTL_ERROR,
		"good: valid\n"
		"bad: invalid: /n: must be an integer, not the string \"x\"\n"
		"none: invalid: not JSON (line 2, column 5): expected a value, found a closing "
		"bracket; is there a comma too many?\n",
		"");
}

Test(ctl_validate, has_verdicts_as_json)
{
	scratch_write_json("good", "{'n':1}");
	scratch_write_json("bad", "{}");
	cr_expect_eq(command_run(ctl_validate, "validate --json schema good bad"), CTL_ERROR);
	expect_output("{\"valid\":true,\"violations\":[]}\n{\"valid\":false,\"violations\":[{");
	cr_expect_str_empty(command_complaints);
}

Test(ctl_validate, judges_each_line_of_a_file_or_of_stdin)
{
	scratch_write_json("lines", "{'n':1}\n{'n':1.5}\n{'n':2}");
	expect_command(ctl_validate, "validate --lines schema lines", CTL_ERROR,
		"valid\ninvalid: /n: must be an integer, not the number 1.5\nvalid\n", "");
	give_input("{'n':1}\n\n");
	cr_expect_eq(command_run(ctl_validate, "validate --lines schema -"), CTL_ERROR);
	expect_output("valid\ninvalid: ");
	give_input("{'n':7}");
	expect_command(ctl_validate, "validate schema -", CTL_DONE, "-: valid\n", "");
}

Test(ctl_validate, refuses_a_schema_that_is_none)
{
	static const struct {
		const char *schema;
		const char *complaint;
	} cases[] = {
		{"{\n'type'}", "wrong:2:7: "},
		{"", "wrong:1:1: "},
		{"5", "wrong:1 "},
		{"{\n\n'type':'nonsense'}", "wrong:3 /type: "},
		{"{'$ref':'urn:toolboxd:nothing'}", "wrong:1 /$ref: "},
		{"{'pattern':'('}", "wrong:1 /pattern: "},
	};

	scratch_write_json("good", "{'n':1}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		scratch_write_json("wrong", cases[i].schema);
		cr_expect_eq(command_run(ctl_validate, "validate wrong good"), CTL_USAGE, "%s",
			cases[i].schema);
		expect_complaint(cases[i].complaint);
		cr_expect_str_empty(command_output);
	}
}

Test(ctl_validate, may_refer_to_the_schemas_that_are_built_in)
{
	static const struct {
		const char *schema;
		const char *good;
		const char *bad;
	} cases[] = {
		{"{'$ref':'urn:toolboxd:error'}", NULL, "{'error':5}"},
		{"{'$ref':'urn:toolboxd:message'}", "{'type':'x','data':{},'context':{}}",
			"{'data':5}"},
		{"{'$ref':'urn:toolboxd:configuration'}", "{}", "5"},
		{"{'$ref':'urn:toolboxd:toolbox-manifest'}", NULL, "5"},
		{"{'$ref':'urn:toolboxd:definition'}", NULL, "5"},
		{"{'$ref':'urn:toolboxd:messages:ovos.tools.approval.requested'}", NULL, "5"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		scratch_write_json("referring", cases[i].schema);
		scratch_write_json("bad", cases[i].bad);
		cr_expect_eq(command_run(ctl_validate, "validate referring bad"), CTL_ERROR,
			"%s: %s", cases[i].schema, command_complaints);
		if (!cases[i].good)
			continue;
		scratch_write_json("good", cases[i].good);
		cr_expect_eq(command_run(ctl_validate, "validate referring good"), CTL_DONE,
			"%s: %s", cases[i].schema, command_output);
	}
}

Test(ctl_validate, goes_on_after_a_file_that_cannot_be_read)
{
	scratch_write_json("good", "{'n':1}");
	expect_command(ctl_validate, "validate schema none good", CTL_USAGE, "good: valid\n",
		"none: cannot be read: No such file or directory\n");
	expect_command(ctl_validate, "validate --lines schema none good", CTL_USAGE, "valid\n",
		"none: cannot be read: No such file or directory\n");
	expect_command(ctl_validate, "validate none good", CTL_USAGE, "",
		"none: cannot be read: No such file or directory\n");
}

Test(ctl_validate, reads_stdin_once)
{
	expect_command(ctl_validate, "validate - a -", CTL_USAGE, "",
		"'-' (stdin) is given 2 times: it can be read once\n");
}

Test(ctl_validate, shows_no_control_character_of_an_instance)
{
	scratch_write_json("bad", "{'n':'\\u001b[31m\\u202e'}");
	cr_expect_eq(command_run(ctl_validate, "validate schema bad"), CTL_ERROR);
	cr_expect_null(strchr(command_output, '\x1b'));
	cr_expect_null(strstr(command_output, "\xE2\x80\xAE"));
}
