/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest_fixture.h"

#include "quotes.h"

/* Manifests of the kind python, and the parts that their hosts describe. */

static struct manifest_reader *reader;
static struct member_toolboxes members;
static struct diagnostics found;

static void set_up(void)
{
	manifest_set_up();
	unsetenv("VIRTUAL_ENV");
	setenv("HOME", "/home/ovos", 1);
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void tear_down(void)
{
	member_toolboxes_deinit(&members);
	diagnostics_deinit(&found);
	manifest_reader_free(reader);
	manifest_tear_down();
}

TestSuite(manifest_python, .init = set_up, .fini = tear_down);

Test(manifest_python, tries_the_interpreters_that_a_device_has)
{
	read_good("{'kind':'python'}");
	cr_expect_str_eq(package->python.interpreters,
		"[\"/home/ovos/.venvs/ovos/bin/python\",\"python3\"]");
	cr_expect_null(package->python.plugins);
	cr_expect(package->python.is_auto);
	setenv("VIRTUAL_ENV", "/opt/venv", 1);
	setenv("HOME", "relative", 1);
	read_good("{'kind':'python','python':'auto'}");
	cr_expect_str_eq(package->python.interpreters, "[\"/opt/venv/bin/python\",\"python3\"]");
}

Test(manifest_python, may_have_the_functions_of_a_file)
{
	read_good("{'kind':'python','file':'lights.py','toolbox_id':'home'}");
	cr_expect_eq(package->kind, KIND_PYTHON_FILE);
	cr_expect_str_eq(package->python.interpreters, "[\"python3\"]");
	cr_expect_not(package->python.is_auto, "a lack of Python is a mistake");
	cr_expect_eq(package->limits.workers, 1);
	cr_assert_eq(package->n_toolboxes, 1);
	cr_expect_str_eq(package->toolboxes[0]->id, "home");
	cr_expect(*package->library.path == '/' && strstr(package->library.path, "/lights.py"),
		"%s", package->library.path);
	read_good("{'kind':'python','file':'/opt/lights.py','python':'/bin/sh'}");
	cr_expect_str_eq(package->library.path, "/opt/lights.py");
	cr_expect_str_eq(package->python.interpreters, "[\"/bin/sh\"]");
}

Test(manifest_python, has_no_plugins_beside_a_file)
{
	expect_refused("{'kind':'python','file':'a.py','plugins':['b']}", 1, "/plugins",
		"\"plugins\" is not a key of a toolbox of the kind \"python\"; leave it out");
	expect_refused("{'kind':'plugin','library':'x','file':'a.py'}", 1, "/file",
		"\"file\" is not a key of a toolbox of the kind \"plugin\"; leave it out");
}

Test(manifest_python, takes_the_interpreter_that_is_given)
{
	read_good("{'kind':'python','python':'/bin/sh','plugins':['ovos-math-tools']}");
	cr_expect_str_eq(package->python.interpreters, "[\"/bin/sh\"]");
	cr_expect_str_eq(package->python.plugins, "[\"ovos-math-tools\"]");
	cr_expect_not(package->python.is_auto);
	read_good("{'kind':'python','python':'python3.12'}");
	cr_expect_str_eq(package->python.interpreters, "[\"python3.12\"]");
}

Test(manifest_python, finds_a_relative_path_from_its_folder)
{
	char expected[PATH_MAX + 128];

	snprintf(expected, sizeof(expected),
		"must be a Python interpreter; '%s' cannot be run: No such file or directory",
		manifest_path("./python"));
	expect_refused("{'kind':'python','python':'./python'}", 1, "/python", expected);
	manifest_write("python", "");
	cr_assert_eq(chmod(manifest_path("python"), 0755), 0);
	read_good("{'kind':'python','python':'./python'}");
	cr_expect(strstr(package->python.interpreters, "/./python\"]"), "%s",
		package->python.interpreters);
}

Test(manifest_python, has_the_defaults_of_its_kind)
{
	read_good("{'kind':'python'}");
	cr_expect(package->coerces);
	cr_expect_eq(package->limits.workers, 4);
	cr_expect_eq(package->sandbox.class, SANDBOX_COMMAND);
	cr_expect_eq(kind_facts(package->kind)->timeout_ms, 30000);
	cr_expect_str_eq(package->load,
		"{\"kind\":\"python\",\"toolbox_id\":\"box\",\"sandbox\":{"
		"\"class\":\"command\"},\"memory_mb\":0,\"guard\":true,\"python\":["
		"\"/home/ovos/.venvs/ovos/bin/python\","
		"\"python3\"]}");
}

Test(manifest_python, refuses_what_it_cannot_be)
{
	expect_refused("{'kind':'python','python':'/nowhere/python'}", 1, "/python",
		"must be a Python interpreter; '/nowhere/python' cannot be run: No such file or "
		"directory");
	expect_refused("{'kind':'python','plugins':[]}", 1, "/plugins",
		"must have at least 1 element, has 0");
	expect_refused("{'kind':'python','tools':[{'name':'f'}]}", 1, "/tools",
		"\"tools\" is not a key of a toolbox of the kind \"python\"; leave it out");
	expect_refused("{'kind':'python','sandbox':{'class':'compute'}}", 1, "/sandbox",
		"no program can be started in the class \"compute\"; expected \"command\" or "
		"\"none\"");
	expect_refused("{'kind':'plugin','library':'x','python':'auto'}", 1, "/python",
		"\"python\" is not a key of a toolbox of the kind \"plugin\"; leave it out");
}

/* ── descriptions ────────────────────────────────────────────────────────────────────────────── */

/* Let a host of {"kind": "python"} send @described, with ' in place of ". */
static int take_for(const char *manifest, const char *described)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *text = quoted(described);

	member_toolboxes_deinit(&members);
	diagnostics_deinit(&found);
	read_good(manifest);
	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	return manifest_take_members(reader, &tape, package, &members, &found);
}

static int take(const char *described)
{
	return take_for("{'kind':'python','risk':'write'}", described);
}

Test(manifest_python, makes_a_part_of_each_toolbox_that_is_told)
{
	const struct toolbox *second;

	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'clock','entry_point':'ovos-clock',"
			  "'tools':[{'name':'now'}]},{'toolbox_id':'maths','tools':[{'name':'add'},"
			  "{'name':'sub'}]}],"
			  "'failed':[]}"),
		0);
	cr_assert_eq(members.n_items, 2);
	second = members.items[1].toolbox;
	cr_expect_str_eq(second->id, "maths");
	cr_expect_eq(second->n_tools, 2);
	cr_expect_str_eq(second->tools[1].name, "sub");
	cr_expect_eq(second->tools[1].index, 2, "as the host counts them");
	cr_expect_eq(&second->tools[1], package->tools[2]);
	cr_expect_eq(second->tools[1].risk, TOOL_WRITE);
	cr_expect(strstr(second->tools[1].definition, "\"toolbox_id\":\"maths\""));
	cr_expect_eq(second->package, package);
	cr_expect_eq(second->index, 1);
	cr_expect_eq(package->n_toolboxes, 2);
	cr_expect(strstr(package->load, ",\"tools\":[[\"clock\",\"now\",\"ovos-clock\"],"
					"[\"maths\",\"add\",\"maths\"],"
					"[\"maths\",\"sub\",\"maths\"]]}"),
		"%s", package->load);
}

Test(manifest_python, lets_a_part_outlive_everybody_else)
{
	struct toolbox *member;

	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'f'}]},"
			  "{'toolbox_id':'b','tools':[{'name':'g'}]}],'failed':[]}"),
		0);
	member = members.items[1].toolbox;
	package_ref(member->package);
	member_toolboxes_deinit(&members);
	read_good("{'kind':'python'}");
	cr_expect_str_eq(member->tools[0].name, "g");
	package_unref(member->package);
}

Test(manifest_python, has_each_part_fail_alone)
{
	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'f',"
			  "'argument_schema':{'type':'nonsense'}},{'name':'h'}]},"
			  "{'toolbox_id':'b','tools':[{'name':'g'}]}],"
			  "'failed':[{'toolbox_id':'ovos-c','error':'ImportError: no c'}]}"),
		0);
	cr_assert_eq(members.n_items, 3);
	cr_expect_eq(members.items[0].toolbox->n_tools, 1);
	cr_expect_str_eq(members.items[0].toolbox->tools[0].name, "h");
	cr_expect_str_eq(members.items[0].skipped.items[0].name, "f");
	cr_expect(strstr(members.items[0].skipped.items[0].reason, "/argument_schema/type: "));
	cr_expect(members.items[1].toolbox);
	cr_expect_null(members.items[2].toolbox);
	cr_expect_str_eq(members.items[2].id, "ovos-c");
	cr_expect_str_eq(members.items[2].problems.items[0].text, "ImportError: no c");
	cr_expect_eq(package->n_tools, 2);
	cr_expect_eq(package->n_toolboxes, 2);
}

Test(manifest_python, leaves_out_a_second_tool_of_one_name)
{
	const struct toolbox *member;

	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'f',"
			  "'description':'first'},{'name':'g'},{'name':'f'},{'name':'h'}]}],"
			  "'failed':[]}"),
		0);
	member = members.items[0].toolbox;
	cr_assert_eq(member->n_tools, 3);
	cr_expect_str_eq(member->tools[0].description, "first");
	cr_expect_str_eq(member->tools[2].name, "h");
	cr_expect_eq(member->tools[2].index, 2);
	cr_expect_str_eq(members.items[0].skipped.items[0].name, "f");
	cr_expect_str_eq(members.items[0].skipped.items[0].reason, "an earlier tool has its name");
}

Test(manifest_python, takes_a_tool_without_an_output_schema_that_is_wrong)
{
	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'f',"
			  "'output_schema':{'type':'nonsense'}}]}],'failed':[]}"),
		0);
	cr_assert_eq(members.items[0].toolbox->n_tools, 1);
	cr_expect_str_eq(members.items[0].toolbox->tools[0].output_schema, "{\"type\":\"object\"}");
}

Test(manifest_python, leaves_out_names_that_nothing_can_have)
{
	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'not a name'},"
			  "{'name':'g'}]},{'toolbox_id':'b.c','tools':[{'name':'g'}]},"
			  "{'toolbox_id':'d','tools':[]}],'failed':[]}"),
		0);
	cr_expect_eq(members.items[0].toolbox->n_tools, 1);
	cr_expect_str_eq(members.items[0].skipped.items[0].name, "not a name");
	cr_expect_null(members.items[1].toolbox);
	cr_expect_null(members.items[1].skipped.items[0].name);
	cr_expect_str_eq(members.items[1].skipped.items[0].reason,
		"its id must be 1 to 128 letters, digits, '_' or '-'");
	cr_expect_str_eq(members.items[2].skipped.items[0].reason, "it has no tools");
}

Test(manifest_python, has_room_for_a_thousand_parts)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{'toolboxes':[],'failed':[{}");
	for (int i = 1; i < 1000; i++)
		buffer_append_string(&text, ",{}");
	buffer_append_string(&text, "]}");
	cr_expect_eq(take(buffer_terminate(&text)), 0);
	cr_expect_eq(members.n_items, 1000);
	text.size -= 2;
	buffer_append_string(&text, ",{}]}");
	cr_expect_eq(take(buffer_terminate(&text)), MANIFEST_E_REFUSED);
	cr_expect_str_eq(
		found.items[0].text, "its host describes 1001 toolboxes; 1000 are allowed");
}

Test(manifest_python, takes_a_default_that_its_schema_refuses)
{
	/* Pydantic's `count: int = None`: the tool fills the default in, and no check sees it. */
	cr_assert_eq(take("{'toolboxes':[{'toolbox_id':'a','tools':[{'name':'f',"
			  "'argument_schema':{'type':'object','properties':{'count':"
			  "{'type':'integer','default':null}}}}]}],'failed':[]}"),
		0);
	cr_expect(members.items[0].toolbox);
}

Test(manifest_python, refuses_what_no_host_of_ours_would_tell)
{
	static const char *const described[] = {"5", "{}", "{'toolboxes':[]}",
		"{'toolboxes':{},'failed':[]}", "{'toolboxes':[],'failed':3}"};

	for (size_t i = 0; i < sizeof(described) / sizeof(*described); i++) {
		cr_expect_eq(take(described[i]), MANIFEST_E_REFUSED, "%s", described[i]);
		cr_expect_gt(found.n_errors, 0);
	}
	cr_assert_eq(take("{'toolboxes':[7,{'toolbox_id':'a'},{'toolbox_id':7,'tools':[]},"
			  "{'toolbox_id':'a\\u0000','tools':[]}],'failed':[7,{}]}"),
		0);
	cr_expect_eq(members.n_items, 6);
	for (size_t i = 0; i < members.n_items; i++) {
		cr_expect_null(members.items[i].toolbox, "%zu", i);
		cr_expect_eq(members.items[i].problems.n_errors, 1, "%zu", i);
	}
}

Test(manifest_python, leaves_out_what_is_no_tool)
{
	cr_assert_eq(
		take("{'toolboxes':[{'toolbox_id':'a','tools':[7,{'name':7},{},{'name':'f'}]}],"
		     "'failed':[]}"),
		0);
	cr_expect_eq(members.items[0].toolbox->n_tools, 1);
	cr_assert_eq(members.items[0].skipped.n_items, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_null(members.items[0].skipped.items[i].name);
}

#define PUBLISHED                                                                                  \
	"{'toolboxes':[{'toolbox_id':'ovos-shell-tools','tools':["                                 \
	"{'name':'run_command'},{'name':'run_anything'}]},"                                        \
	"{'toolbox_id':'ovos-clock-tools','tools':[{'name':'get_current_datetime'}]},"             \
	"{'toolbox_id':'mine','tools':[{'name':'run_command'}]}],'failed':[]}"

Test(manifest_python, rates_the_tools_of_published_toolboxes)
{
	const struct toolbox *shell;

	cr_assert_eq(take_for("{'kind':'python'}", PUBLISHED), 0);
	shell = members.items[0].toolbox;
	cr_expect_eq(shell->tools[0].risk, TOOL_EXECUTE);
	cr_expect(strstr(shell->tools[0].definition, ",\"risk\":\"execute\""));
	cr_expect_eq(shell->tools[1].risk, TOOL_UNRATED, "a tool that the table does not have");
	cr_expect_not(strstr(shell->tools[1].definition, "risk"));
	cr_expect_eq(members.items[1].toolbox->tools[0].risk, TOOL_READ);
	cr_expect_eq(members.items[2].toolbox->tools[0].risk, TOOL_UNRATED);
	cr_assert_eq(take(PUBLISHED), 0);
	cr_expect_eq(members.items[0].toolbox->tools[0].risk, TOOL_WRITE, "the manifest's word");
}
