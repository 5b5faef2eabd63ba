/* SPDX-License-Identifier: Apache-2.0 */
#include "call/command.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest_fixture.h"

#define COMMANDS(entries) "{'kind':'command','tools':[" entries "]}"
#define RUN(command)                                                                               \
	COMMANDS("{'name':'f','argument_schema':{'properties':{'text':{},'n':{}}},\n'command':"    \
		 "" command "}")

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

/* The pieces of @template, a placeholder in angle brackets, with '|' between them. */
static void expect_pieces(const char *template, const char *expected)
{
	static const char *const ends[] = {
		[COMMAND_LITERAL] = "",
		[COMMAND_VALUE] = ">",
		[COMMAND_CONDITION] = "?>",
		[COMMAND_ELEMENT] = "...>",
	};
	const char *rest = template;
	cleanup(buffer_deinit) struct buffer pieces = {0};
	struct command_piece piece;

	while (command_next_piece(&rest, &piece)) {
		if (pieces.size > 0)
			buffer_append_char(&pieces, '|');
		buffer_printf(&pieces, "%s%.*s%s", piece.kind == COMMAND_LITERAL ? "" : "<",
			(int)piece.size, piece.text, ends[piece.kind]);
	}
	cr_expect_str_eq(buffer_terminate(&pieces), expected, "%s: %s", template, pieces.data);
}

Test(command, takes_a_template_apart)
{
	expect_pieces("", "");
	expect_pieces("plain", "plain");
	expect_pieces("{text}", "<text>");
	expect_pieces("--name={first-name}.txt", "--name=|<first-name>|.txt");
	expect_pieces("{a}{_b9}", "<a>|<_b9>");
	expect_pieces("-v{a?}", "-v|<a?>");
	expect_pieces("{a...}{b}", "<a...>|<b>");
}

Test(command, takes_a_brace_without_a_name_as_itself)
{
	expect_pieces("{{text}", "{|text}");
	expect_pieces("{{{text}}", "{|<text>|}");
	expect_pieces("{", "{");
	expect_pieces("}", "}");
	expect_pieces("{ print $1 }", "{ print $1 }");
	expect_pieces("{}", "{}");
	expect_pieces("{1}", "{1}");
	expect_pieces("{-a}", "{-a}");
	expect_pieces("{text", "{text");
	expect_pieces("{text..}", "{text..}");
	expect_pieces("{text??}", "{text??}");
	expect_pieces("{a b}{a}", "{a b}|<a>");
	expect_pieces("{\xc3\xa9}", "{\xc3\xa9}");
}

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

static const char *refusal_of(const char *json, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, size, JSON_DEPTH_DEFAULT, NULL), 0);
	return command_refusal(&tape, 0);
}

/* A JSON string of @n letters, the first of which is escaped or not. */
static const char *refusal_of_length(size_t n, bool is_escaped)
{
	struct buffer text = {0};
	const char *refusal;

	buffer_append_string(&text, is_escaped ? "\"\\u0078" : "\"x");
	for (size_t i = 1; i < n; i++)
		buffer_append_char(&text, 'x');
	buffer_append_char(&text, '"');
	refusal = refusal_of(text.data, text.size);
	buffer_deinit(&text);
	return refusal;
}

Test(command, passes_a_value_of_a_hundred_kibibytes_and_no_more)
{
	cr_expect_null(refusal_of_length(COMMAND_VALUE_BYTES_MAX, false));
	cr_expect_null(refusal_of_length(COMMAND_VALUE_BYTES_MAX, true));
	cr_expect_not_null(refusal_of_length(COMMAND_VALUE_BYTES_MAX + 1, false));
	cr_expect_not_null(refusal_of_length(COMMAND_VALUE_BYTES_MAX + 1, true));
}

Test(command, passes_no_nul)
{
	cr_expect_str_eq(refusal_of("\"a\\u0000b\"", 10),
		"must not hold U+0000, which no argument of a program can");
	cr_expect_null(refusal_of("[\"a\\u0000b\"]", 12), "as JSON text it holds none");
	cr_expect_null(refusal_of("\"\\n\\u0001\"", 10));
}

/* ── manifests ───────────────────────────────────────────────────────────────────────────────── */

TestSuite(command_manifest, .init = manifest_set_up, .fini = manifest_tear_down);

Test(command_manifest, gives_schemas_to_a_tool_without)
{
	const struct toolbox *box = read_good(COMMANDS("{'name':'f','command':{'shell':'date'}},"
						       "{'name':'g','command':{'shell':'date',"
						       "'output':'json'}}"));

	cr_expect_str_eq(box->tools[0].argument_schema,
		"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
	cr_expect_str_eq(box->tools[0].output_schema,
		"{\"type\":\"object\",\"properties\":{\"output\":{\"type\":\"string\"}},"
		"\"required\":[\"output\"]}");
	cr_expect_str_eq(box->tools[1].output_schema, "{\"type\":\"object\"}");
	cr_expect_eq(box->package->limits.workers, 4);
	cr_expect_eq(box->package->sandbox.class, SANDBOX_COMMAND);
	cr_expect_eq(box->package->sandbox.memory_mb, 0);
}

Test(command_manifest, finds_folder_and_program_from_its_own_place)
{
	char folder[PATH_MAX];
	const struct toolbox *box;
	const struct command *command;

	unsetenv("XDG_RUNTIME_DIR");
	box = read_good("{'kind':'command','cwd':'sub','env':{'K':'top','L':'top'},'tools':["
			"{'name':'f','command':{'argv':['bin/run'],'env':{'K':'own'}}},"
			"{'name':'g','command':{'argv':['ls'],'cwd':'/usr'}}]}");
	cr_assert(realpath(manifest_path("."), folder));
	command = &box->tools[0].command;
	cr_expect(strncmp(command->cwd, folder, strlen(folder)) == 0);
	cr_expect_str_eq(command->cwd + strlen(folder), "/sub");
	cr_expect_str_eq(command->arguments.items[0] + strlen(folder), "/bin/run");
	cr_expect_eq(memcmp(command->environment, "K=own\0L=top\0", 13), 0);
	cr_expect_str_eq(box->tools[1].command.cwd, "/usr");
	cr_expect_str_eq(box->tools[1].command.arguments.items[0], "ls");
	cr_assert_eq(problems.n_items, 2, "neither sub nor bin/run is there");
	cr_expect_eq(problems.n_errors, 0);
	cr_expect_str_eq(problems.items[0].pointer, "/cwd");
	cr_expect_str_eq(problems.items[1].pointer, "/tools/0/command/argv/0");
	cr_expect(
		strstr(problems.items[1].text, "a relative path begins at the manifest's folder"));
}

Test(command_manifest, tells_a_host_what_to_run)
{
	const struct toolbox *box;
	char *tools;

	unsetenv("XDG_RUNTIME_DIR");
	box = read_good(COMMANDS("{'name':'f','command':{'argv':['ls','{{x}'],'cwd':'/'}},"
				 "{'name':'g','command':{'shell':'echo \\\"$A\\\"','cwd':'/',"
				 "'env':{'A':'b'},'output':'json'}}"));
	tools = strstr(box->package->load, "\"tools\":");
	cr_assert(tools);
	cr_expect_str_eq(tools,
		"\"tools\":[{\"name\":\"f\",\"argv\":[\"ls\",\"{{x}\"],\"output\":\"text\","
		"\"cwd\":\"/\",\"env\":{}},{\"name\":\"g\",\"shell\":\"echo \\\"$A\\\"\","
		"\"output\":\"json\",\"cwd\":\"/\",\"env\":{\"A\":\"b\"}}]}",
		"%s", tools);
	cr_expect(strstr(box->package->load, "\"guard\":true"));
}

Test(command_manifest, tells_a_host_of_groups_and_of_success)
{
	const struct toolbox *box;
	char *tools;

	unsetenv("XDG_RUNTIME_DIR");
	box = read_good(RUN("{'argv':['ls',['-t','{n}','x'],['-q'],'{text...}'],'cwd':'/',"
			    "'output':'json_lines','success':[1,0,255]}"));
	tools = strstr(box->package->load, "\"tools\":");
	cr_assert(tools);
	cr_expect_str_eq(tools,
		"\"tools\":[{\"name\":\"f\",\"argv\":[\"ls\",[\"-t\",\"{n}\",\"x\"],"
		"\"-q\",\"{text...}\"],\"output\":\"json_lines\",\"success\":[0,1,255],"
		"\"cwd\":\"/\",\"env\":{}}]}",
		"%s", tools);
	cr_expect_str_eq(box->tools[0].output_schema,
		"{\"type\":\"object\",\"properties\":{\"output\":{\"type\":\"array\"}},"
		"\"required\":[\"output\"]}");
	cr_expect_eq(problems.n_items, 0);
}

Test(command_manifest, has_a_group_for_the_elements_of_one_array)
{
	expect_refused(RUN("{'argv':['ls',['{n...}','{n...}','{text...}']]}"), 2,
		"/tools/0/command/argv/1",
		"can be there for the elements of one array, not of 'n' and 'text'");
	expect_refused(RUN("{'argv':['ls',['-x','{txt}']]}"), 2, "/tools/0/command/argv/1/1",
		"'{txt}' is not an argument (they are 'text', 'n'); write '{{txt}' for the "
		"text itself");
}

Test(command_manifest, refuses_an_unknown_placeholder)
{
	expect_refused(RUN("{'argv':['echo','{text}','x{txt}']}"), 2, "/tools/0/command/argv/2",
		"'{txt}' is not an argument (they are 'text', 'n'); write '{{txt}' for the "
		"text itself");
	expect_refused(COMMANDS("{'name':'f','command':{'argv':['echo','{text}']}}"), 1,
		"/tools/0/command/argv/1",
		"'{text}' is not an argument ('argument_schema' names none); write "
		"'{{text}' for the text itself");
	expect_refused(RUN("{'argv':['{text}']}"), 2, "/tools/0/command/argv/0",
		"must name the program itself: '{text}' would let a caller choose it");
	cr_expect_eq(problems.n_items, 1, "that it is not there says nothing more");
}

#define EITHER "must have either 'argv' (a program and its arguments) or 'shell' (a line for sh -c)"

Test(command_manifest, tells_each_mistake_with_what_was_expected_and_what_came)
{
	static const struct {
		const char *command;
		const char *pointer; /* after the command's */
		const char *message;
	} rows[] = {
		{"5", "", "must be an object, not the number 5"},
		{"{}", "", EITHER "; came: an empty object"},
		{"{'argv':['ls'],'shell':'ls'}", "",
			EITHER "; came: the object {\"argv\":[\"ls\"],\"shell\":\"ls\"}"},
		{"{'argv':'ls'}", "/argv",
			"must be an array of 1 to 256 elements, each a string or an array of at "
			"least 1 element, each a string, not the string \"ls\""},
		{"{'argv':[]}", "/argv", "must have at least 1 element, has 0"},
		{"{'argv':['ls',5]}", "/argv/1",
			"must be a string or an array of at least 1 element, each a string, not "
			"the "
			"number 5"},
		{"{'argv':['ls',['-x',5]]}", "/argv/1/1", "must be a string, not the number 5"},
		{"{'argv':['ls',[]]}", "/argv/1", "must have at least 1 element, has 0"},
		{"{'argv':[['ls']]}", "/argv/0", "must be a string; came: the array [\"ls\"]"},
		{"{'argv':['']}", "/argv/0",
			"must name the program: by its path, or as PATH finds it; came: the string "
			"\"\""},
		{"{'argv':['ls','a\\u0000b']}", "/argv/1",
			"must not hold U+0000, which ends every argument of a program; came: the "
			"string \"a\\u0000b\""},
		{"{'shell':''}", "/shell",
			"must be a string of at least 1 character, not the string \"\""},
		{"{'shell':'ls','output':'xml'}", "/output",
			"must be one of \"text\", \"json\", \"json_lines\", \"content\", not the "
			"string \"xml\""},
		{"{'shell':'ls','success':[256]}", "/success/0",
			"must be an integer from 0 to 255, not the number 256"},
		{"{'shell':'ls','cwd':5}", "/cwd",
			"must be a string of 1 to 4095 characters, not the number 5"},
		{"{'shell':'ls','cwd':'a\\u0000b'}", "/cwd",
			"must not hold U+0000, which ends every argument of a program; came: the "
			"string \"a\\u0000b\""},
		{"{'shell':'ls','env':['A=b']}", "/env",
			"must be an object, not the array [\"A=b\"]"},
		{"{'shell':'ls','env':{'A':5}}", "/env/A", "must be a string, not the number 5"},
		{"{'shell':'ls','env':{'1A':'x'}}", "/env/1A",
			"the property name '1A' must be a string of at most 255 characters that "
			"matches ^[A-Za-z_][A-Za-z0-9_]*$"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer manifest = {0};
		cleanup(buffer_deinit) struct buffer pointer = {0};

		buffer_printf(&manifest, RUN("%s"), rows[i].command);
		buffer_printf(&pointer, "/tools/0/command%s", rows[i].pointer);
		expect_refused(buffer_terminate(&manifest), 2, buffer_terminate(&pointer),
			rows[i].message);
	}
}

/* A value that is longer than it may be is reported by its beginning. */
Test(command_manifest, refuses_what_no_program_can_be_given)
{
	struct buffer manifest = {0};

	buffer_append_string(
		&manifest, "{'kind':'command','tools':[{'name':'f','command':{'argv':['ls','");
	for (size_t i = 0; i <= COMMAND_VALUE_BYTES_MAX; i++)
		buffer_append_char(&manifest, 'x');
	buffer_append_string(&manifest, "']}}]}");
	manifest_write("box.json", buffer_terminate(&manifest));
	buffer_deinit(&manifest);
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].pointer, "/tools/0/command/argv/1");
	cr_expect_eq(strncmp(problems.items[0].text,
			     "must not be longer than 102400 bytes; came: the string \"xxx", 55),
		0, "%s", problems.items[0].text);
	cr_expect_lt(strlen(problems.items[0].text), 200u);
}

Test(command_manifest, refuses_too_much_of_an_environment)
{
	struct buffer manifest = {0};

	buffer_append_string(&manifest,
		"{'kind':'command','tools':[{'name':'f','command':{'shell':'ls','env':{");
	for (int i = 0; i < 8; i++) {
		buffer_printf(&manifest, "%s'A%d':'", i > 0 ? "," : "", i);
		for (size_t k = 0; k < COMMAND_ENVIRONMENT_BYTES_MAX / 8; k++)
			buffer_append_char(&manifest, 'x');
		buffer_append_char(&manifest, '\'');
	}
	buffer_append_string(&manifest, "}}}]}");
	manifest_write("box.json", buffer_terminate(&manifest));
	buffer_deinit(&manifest);
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].pointer, "/tools/0/command/env");
	cr_expect_eq(
		strncmp(problems.items[0].text, "must not hold more than 65536 bytes in all;", 43),
		0, "%s", problems.items[0].text);
}

static void expect_warning(const char *command, const char *pointer, const char *text)
{
	struct buffer manifest = {0};

	buffer_printf(&manifest, RUN("%s"), command);
	read_good(buffer_terminate(&manifest));
	buffer_deinit(&manifest);
	cr_assert_eq(problems.n_items, 1, "%s", command);
	cr_expect_eq(problems.items[0].severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(problems.items[0].pointer, pointer);
	cr_expect_str_eq(problems.items[0].text, text);
}

/* It may be installed later. */
Test(command_manifest, warns_of_what_cannot_be_run_as_things_are)
{
	expect_warning("{'argv':['no-such-program']}", "/tools/0/command/argv/0",
		"the program 'no-such-program' cannot be run at present: No such file or "
		"directory (in none of the folders of PATH)");
	expect_warning("{'argv':['/etc/passwd']}", "/tools/0/command/argv/0",
		"the program '/etc/passwd' cannot be run at present: Permission denied (chmod "
		"+x "
		"makes it a program)");
	expect_warning("{'shell':'ls','cwd':'/nowhere'}", "/tools/0/command/cwd",
		"the folder '/nowhere' does not exist: no call can run without it");
}

Test(command_manifest, refuses_what_is_no_command)
{
	expect_refused(
		COMMANDS("{'name':'f'}"), 1, "/tools/0", "missing required property 'command'");
	expect_refused(COMMANDS("{'name':'f','command':{'shell':'ls'},'native':{'symbol':'f'}}"), 1,
		"/tools/0/native",
		"\"native\" is not a key of a tool of the kind \"command\"; leave it out");
	expect_refused("{'kind':'command','library':'x','tools':[{'name':'f','command':{'shell':"
		       "'ls'}}]}",
		1, "/library",
		"\"library\" is not a key of a toolbox of the kind \"command\"; leave it out");
	expect_refused("{'kind':'command','sandbox':{'class':'net'},'tools':[{'name':'f','command':"
		       "{'shell':'ls'}}]}",
		1, "/sandbox",
		"no program can be started in the class \"net\"; expected \"command\" or \"none\"");
}

Test(command_manifest, warns_of_a_placeholder_in_a_shell_line)
{
	read_good(RUN("{'shell':'echo {text} {other}'}"));
	cr_assert_eq(problems.n_items, 1);
	cr_expect_str_eq(problems.items[0].pointer, "/tools/0/command/shell");
	cr_expect_eq(problems.items[0].severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(problems.items[0].text,
		"'{text}' is not replaced in a shell line: use \"$TOOL_ARG_NAME\", with the "
		"argument's name in capitals");
}

Test(command_manifest, warns_of_what_no_shell_replaces)
{
	expect_warning("{'argv':['echo','$TOOL_ARG_TEXT x']}", "/tools/0/command/argv/1",
		"'$TOOL_ARG_TEXT' is passed as it is, since no shell reads it: write {NAME}, with "
		"the argument's name");
	expect_warning("{'shell':'ls','env':{'A':'x:${HOME}/y'}}", "/tools/0/command/env/A",
		"'${HOME}' is passed as it is: variables are not replaced in 'env'");
	read_good(RUN("{'argv':['sh','-c','echo $TOOL_ARG_TEXT'],'env':{'A':'$5'}}"));
	cr_expect_eq(problems.n_items, 0);
	read_good("[{'name':'f','command':'echo {text} ${HOME} HEAD@{upstream}'}]");
	cr_assert_eq(problems.n_items, 1);
	cr_expect_str_eq(problems.items[0].text,
		"'{text}' is not replaced in a shell line, and this tool has no arguments");
	read_good("[{'name':'f','command':'awk \\u0027{print}\\u0027 x'}]");
	cr_expect_eq(problems.n_items, 0);
}

Test(command_manifest, takes_the_file_that_an_interpreter_runs_for_a_script)
{
	static const struct {
		const char *argv;
		unsigned int scripts; /* a bit for each argument */
	} rows[] = {
		{"'sh','x.sh'", 1 << 1},
		{"'/usr/bin/python','x.sh'", 1 << 1},
		{"'python3.11','x.sh','x.sh'", 1 << 1},
		{"'python3x','x.sh'", 0},
		{"'pythonic','x.sh'", 0},
		{"'printf','x.sh'", 0},
		{"'printf','run.sh','x.sh'", 1 << 1},
		{"'env','python3','x.sh'", 1 << 2},
		{"'sh','-e','x.sh'", 1 << 2},
		{"'sh','-c','x.sh'", 0},
		{"'sh','-lc','x.sh'", 0},
		{"'perl','-e','x.sh'", 0},
		{"'perl','-ne','x.sh'", 0},
		{"'python','-m','x.sh'", 0},
		{"'node','--eval','x.sh'", 0},
		{"'node','--test','x.sh'", 1 << 2},
		{"'sh','-','x.sh'", 1 << 2},
		{"'sh','none.sh','x.sh'", 1 << 2},
		{"'sh','.'", 0},
		{"'sh',''", 0},
		{"'x','run.sh','run.sh','run.sh','run.sh','run.sh'", 0x1E},
	};
	char text[256];

	manifest_write("x.sh", "");
	manifest_write("run.sh", "");
	cr_assert_eq(chmod(manifest_path("run.sh"), 0700), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct tool *tool;

		snprintf(text, sizeof(text),
			"{'kind':'command','tools':[{'name':'f','command':{'argv':[%s]}}]}",
			rows[i].argv);
		tool = &read_good(text)->tools[0];
		for (unsigned int at = 0; at < 8; at++)
			cr_expect_eq(command_set_has(&tool->command.scripts, at),
				rows[i].scripts >> at & 1, "%s: %u", rows[i].argv, at);
		cr_expect_eq(tool->n_scripts, (uint32_t)__builtin_popcount(rows[i].scripts));
	}
}
