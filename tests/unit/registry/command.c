/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/command.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "manifest_fixture.h"
#include "util/cleanup.h"

#define COMMANDS(entries) "{'kind':'command','tools':[" entries "]}"
#define RUN(command)                                                                               \
	COMMANDS("{'name':'f','argument_schema':{'properties':{'text':{},'n':{}}},\n'command':"    \
		 "" command "}")

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

/* The pieces of @template, a placeholder in angle brackets, with '|' between them. */
static void expect_pieces(const char *template, const char *expected)
{
	const char *rest = template;
	struct buffer pieces = {0};
	struct command_piece piece;

	while (command_next_piece(&rest, &piece)) {
		if (pieces.size > 0)
			buffer_append_char(&pieces, '|');
		buffer_printf(&pieces, piece.is_placeholder ? "<%.*s>" : "%.*s", (int)piece.size,
			piece.text);
	}
	cr_expect_str_eq(buffer_terminate(&pieces), expected, "%s: %s", template, pieces.data);
	buffer_deinit(&pieces);
}

Test(command, takes_a_template_apart)
{
	expect_pieces("", "");
	expect_pieces("plain", "plain");
	expect_pieces("{text}", "<text>");
	expect_pieces("--name={first-name}.txt", "--name=|<first-name>|.txt");
	expect_pieces("{a}{_b9}", "<a>|<_b9>");
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
	cr_expect_eq(box->limits.workers, 4);
	cr_expect_eq(box->sandbox.class, SANDBOX_COMMAND);
	cr_expect_eq(box->sandbox.memory_mb, 0);
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
	cr_expect_str_eq(command->arguments[0] + strlen(folder), "/bin/run");
	cr_expect_eq(memcmp(command->environment, "K=own\0L=top\0", 13), 0);
	cr_expect_str_eq(box->tools[1].command.cwd, "/usr");
	cr_expect_str_eq(box->tools[1].command.arguments[0], "ls");
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
	tools = strstr(box->load, "\"tools\":");
	cr_assert(tools);
	cr_expect_str_eq(tools,
		"\"tools\":[{\"name\":\"f\",\"argv\":[\"ls\",\"{{x}\"],\"output\":\"text\","
		"\"cwd\":\"/\",\"env\":{}},{\"name\":\"g\",\"shell\":\"echo \\\"$A\\\"\","
		"\"output\":\"json\",\"cwd\":\"/\",\"env\":{\"A\":\"b\"}}]}",
		"%s", tools);
	cr_expect(strstr(box->load, "\"guard\":true"));
}

Test(command_manifest, refuses_an_unknown_placeholder)
{
	expect_refused(RUN("{'argv':['echo','{text}','x{txt}']}"), 2, "/tools/0/command/argv/2",
		"'{txt}' is none of the arguments, which are 'text', 'n'; write '{{txt}' for the "
		"text itself");
	expect_refused(COMMANDS("{'name':'f','command':{'argv':['echo','{text}']}}"), 1,
		"/tools/0/command/argv/1",
		"'{text}' is none of the arguments, of which 'argument_schema' names none; write "
		"'{{text}' for the text itself");
	expect_refused(RUN("{'argv':['{text}']}"), 2, "/tools/0/command/argv/0",
		"must name the program itself: '{text}' would let a caller choose it");
}

Test(command_manifest, refuses_what_is_no_command)
{
	static const char both[] = "must have either 'argv' (a program and its arguments) or "
				   "'shell' (a line for sh -c)";

	expect_refused(RUN("{}"), 2, "/tools/0/command", both);
	expect_refused(RUN("{'argv':['ls'],'shell':'ls'}"), 2, "/tools/0/command", both);
	expect_refused(RUN("{'argv':['']}"), 2, "/tools/0/command/argv/0",
		"must name the program: by its path, or as PATH finds it");
	expect_refused(RUN("{'argv':['ls','a\\u0000b']}"), 2, "/tools/0/command/argv/1",
		"must not hold U+0000, which ends every argument of a program");
	expect_refused(RUN("{'shell':'ls','cwd':'a\\u0000b'}"), 2, "/tools/0/command/cwd",
		"must not hold U+0000, which ends every argument of a program");
	expect_refused(
		COMMANDS("{'name':'f'}"), 1, "/tools/0", "missing required property 'command'");
	expect_refused(COMMANDS("{'name':'f','command':{'shell':'ls'},'native':{'symbol':'f'}}"), 1,
		"/tools/0/native",
		"\"native\" means nothing to a tool of the kind \"command\"; leave it out");
	expect_refused("{'kind':'command','library':'x','tools':[{'name':'f','command':{'shell':"
		       "'ls'}}]}",
		1, "/library",
		"\"library\" means nothing to a toolbox of the kind \"command\"; leave it out");
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
	cr_expect_eq(problems.items[0].severity, PROBLEM_WARNING);
}
