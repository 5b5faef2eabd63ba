/* SPDX-License-Identifier: Apache-2.0 */
#include "call/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "quotes.h"
#include "scarce.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/environment.h"

/* The object of a command as a host reads it, without a check by a schema. */

static struct command command;
static struct command_mistake mistake;
static struct json_tape tape;
static char *json;

static void forget(void)
{
	command_deinit(&command);
	json_tape_deinit(&tape);
	tape = (struct json_tape){0};
	free(json);
	json = NULL;
}

static void tear_down(void)
{
	forget();
	scratch_tear_down();
}

TestSuite(command_object, .init = scratch_set_up, .fini = tear_down, .timeout = 60);

/* Read @text, JSON with ' in place of ". */
static int read_command(const char *text)
{
	cleanup(buffer_deinit) struct buffer list = {0};

	forget();
	buffer_printf(&list, "[%s]", text);
	json = quoted(buffer_terminate(&list));
	mistake = (struct command_mistake){0};
	cr_assert_eq(
		json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0, "%s", text);
	return command_read(&tape, json_first(&tape, 0), &command, &mistake);
}

/* Read @head, @n times @each with commas between them, and @tail. */
static int read_many(const char *head, unsigned int n, const char *each, const char *tail)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, head);
	for (unsigned int i = 0; i < n; i++)
		buffer_printf(&text, "%s%s", i > 0 ? "," : "", each);
	buffer_append_string(&text, tail);
	return read_command(buffer_terminate(&text));
}

/* Read @head, a text of @n letters, and @tail. */
static int read_long(const char *head, size_t n, const char *tail)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, head);
	for (size_t i = 0; i < n; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, tail);
	return read_command(buffer_terminate(&text));
}

/* Expect a mistake at @at, a part of the text; of a string without its first quote. */
static void expect_mistake(int result, const char *at, const char *expected)
{
	cleanup_free char *part = quoted(at);

	cr_assert_eq(result, COMMAND_E_MALFORMED, "%.80s", json);
	cr_expect_str_eq(mistake.expected, expected, "%.80s: %s", json, mistake.expected);
	cr_expect_eq(strncmp(json_bytes(&tape, mistake.token), part, strlen(part)), 0,
		"%.80s: %.20s", json, json_bytes(&tape, mistake.token));
}

Test(command_object, tells_what_is_no_command)
{
	static const struct {
		const char *text;
		const char *at;
		const char *expected;
	} rows[] = {
		{"5", "5", "must be an object with 'argv' or 'shell'"},
		{"['argv']", "['argv']", "must be an object with 'argv' or 'shell'"},
		{"{}", "{}",
			"must have either 'argv' (a program and its arguments) or 'shell' (a line "
			"for sh -c)"},
		{"{'argv':['a'],'shell':'b'}", "{",
			"must have either 'argv' (a program and its arguments) or 'shell' (a line "
			"for sh -c)"},
		{"{'argv':{'a':1}}", "{'a'",
			"must be an array of 1 to 256 strings, the first of which is the program"},
		{"{'argv':[]}", "[]",
			"must be an array of 1 to 256 strings, the first of which is the program"},
		{"{'argv':['a',5]}", "5", "must be a string"},
		{"{'argv':[['a']]}", "['a']", "must be a string"},
		{"{'argv':['a',['b',5]]}", "5", "must be a string"},
		{"{'argv':['','b']}", "','b'",
			"must name the program: by its path, or as PATH finds it"},
		{"{'argv':['a\\u0000']}", "a\\u",
			"must not hold U+0000, which ends every argument of a program"},
		{"{'shell':5}", "5", "must be a string"},
		{"{'shell':'a','output':'xml'}", "xml'",
			"must be \"text\", \"json\", \"json_lines\" or \"content\""},
		{"{'shell':'a','success':5}", "5", "must be an array of exit statuses"},
		{"{'shell':'a','success':[]}", "[]", "must be an array of exit statuses"},
		{"{'shell':'a','success':[0,'1']}", "1'",
			"must be an exit status, an integer from 0 to 255"},
		{"{'shell':'a','success':[256]}", "256",
			"must be an exit status, an integer from 0 to 255"},
		{"{'shell':'a','success':[-1]}", "-1",
			"must be an exit status, an integer from 0 to 255"},
		{"{'shell':'a','success':[1.5]}", "1.5",
			"must be an exit status, an integer from 0 to 255"},
		{"{'argv':['a','b'],'scripts':1}", "1", "must be an array"},
		{"{'argv':['a','b'],'scripts':[2]}", "2", "must be the index of an argument"},
		{"{'argv':['a','b'],'scripts':['1']}", "1'", "must be the index of an argument"},
		{"{'argv':['a','b'],'scripts':[-1]}", "-1", "must be the index of an argument"},
		{"{'shell':'a','cwd':5}", "5", "must be a string"},
		{"{'shell':'a','env':[]}", "[]", "must be an object of strings"},
		{"{'shell':'a','env':{'A':5}}", "5", "must be a string"},
		{"{'shell':'a','env':{'':'x'}}", "':'x",
			"must be the name of a variable: letters, digits and '_', no digit first"},
		{"{'shell':'a','env':{'9A':'x'}}", "9A'",
			"must be the name of a variable: letters, digits and '_', no digit first"},
		{"{'shell':'a','env':{'A=':'x'}}", "A='",
			"must be the name of a variable: letters, digits and '_', no digit first"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_mistake(read_command(rows[i].text), rows[i].at, rows[i].expected);
}

#define TOO_MANY "must not be here: argv has at most 256 elements, with the elements of groups"

Test(command_object, has_at_most_256_arguments_with_those_of_groups)
{
	cr_expect_eq(read_many("{'argv':[", 256, "'a'", "]}"), 0);
	cr_expect_eq(command.arguments.n_items, 256);
	expect_mistake(read_many("{'argv':[", 257, "'a'", "]}"), "[",
		"must be an array of 1 to 256 strings, the first of which is the program");
	cr_expect_eq(read_many("{'argv':['p',[", 255, "'a'", "]]}"), 0);
	cr_expect_eq(command.arguments.n_items, 256);
	expect_mistake(read_many("{'argv':['p',[", 255, "'a'", ",'z']]}"), "z'", TOO_MANY);
}

Test(command_object, has_texts_of_up_to_102400_bytes)
{
	static const char long_text[] = "must not be longer than 102400 bytes";

	cr_expect_eq(read_long("{'argv':['a','", 102400, "']}"), 0);
	expect_mistake(read_long("{'argv':['a','", 102401, "']}"), "xxx", long_text);
	cr_expect_eq(read_long("{'shell':'", 102400, "'}"), 0);
	expect_mistake(read_long("{'shell':'", 102401, "'}"), "xxx", long_text);
}

Test(command_object, has_variables_of_up_to_65536_bytes_together)
{
	static const char large[] = "must not hold more than 65536 bytes in all";

	/* "A=", its value and a NUL; "B=b" and a NUL. */
	cr_expect_eq(read_long("{'shell':'a','env':{'B':'b','A':'", 65536 - 7, "'}}"), 0);
	expect_mistake(
		read_long("{'shell':'a','env':{'B':'b','A':'", 65536 - 6, "'}}"), "{'B'", large);
}

Test(command_object, is_read_as_it_is_written)
{
	cr_assert_eq(read_command("{'argv':['p',['-t','{n}'],'x',['-q']],'output':'json_lines',"
				  "'success':[255,1,64],'cwd':'/c','env':{'A':'1','_b9':'='},"
				  "'scripts':[1,4]}"),
		0);
	cr_expect_eq(command.arguments.n_items, 5);
	cr_expect_str_eq(command.arguments.items[4], "-q");
	cr_expect_not(command.is_shell);
	cr_expect_eq(command.output, COMMAND_JSON_LINES);
	cr_expect_str_eq(command.cwd, "/c");
	cr_expect_eq(memcmp(command.environment, "A=1\0_b9==\0", 11), 0);
	for (size_t i = 0; i < 256; i++) {
		cr_expect_eq(command_set_has(&command.joined, i), i == 2, "%zu", i);
		cr_expect_eq(command_set_has(&command.scripts, i), i == 1 || i == 4, "%zu", i);
		cr_expect_eq(command_set_has(&command.success, i), i == 1 || i == 64 || i == 255,
			"%zu", i);
	}
	cr_expect_eq(command_group_end(&command, 0), 1);
	cr_expect_eq(command_group_end(&command, 1), 3);
	cr_expect_eq(command_group_end(&command, 3), 4);
	cr_expect_eq(command_group_end(&command, 4), 5);
}

Test(command_object, is_a_line_of_a_shell_that_succeeds_with_0_and_gives_text)
{
	cr_assert_eq(read_command("{'shell':'date -u','env':{}}"), 0);
	cr_expect(command.is_shell);
	cr_assert_eq(command.arguments.n_items, 3);
	cr_expect_str_eq(command.arguments.items[0], "/bin/sh");
	cr_expect_str_eq(command.arguments.items[1], "-c");
	cr_expect_str_eq(command.arguments.items[2], "date -u");
	cr_expect_eq(command.output, COMMAND_TEXT);
	cr_expect_null(command.cwd);
	cr_expect_null(command.environment);
	for (size_t i = 0; i < 256; i++)
		cr_expect_eq(command_set_has(&command.success, i), i == 0, "%zu", i);
}

Test(command_object, adds_only_variables_with_new_names)
{
	cleanup(buffer_deinit) struct buffer environment = {0};
	cleanup(json_tape_cleanup) struct json_tape more = {0};
	cleanup_free char *text = quoted("{'A':'2','AB':'3'}");

	buffer_append(&environment, "A=1", 4);
	cr_assert(buffer_terminate(&environment));
	cr_assert_eq(json_tape_read(&more, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_expect_eq(command_read_environment(&more, 0, &environment, &mistake), 0);
	cr_expect_eq(environment.size, 9);
	cr_expect_eq(memcmp(environment.data, "A=1\0AB=3\0", 10), 0);
}

Test(command_object, is_not_read_without_memory)
{
	static const char text[] = "{'argv':['p',['-t','{n}']],'success':[1],'cwd':'/c',"
				   "'env':{'A':'1','B':'2'}}";
	size_t n;

	cr_assert_eq(read_command(text), 0);
	for (n = 0; scarce_once_after(n); n++) {
		int r;

		command_deinit(&command);
		r = command_read(&tape, json_first(&tape, 0), &command, &mistake);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
	}
	cr_expect_gt(n, 5);
	cr_assert_eq(read_command("{'shell':'x'}"), 0);
	for (n = 0; scarce_once_after(n); n++) {
		command_deinit(&command);
		cr_expect_eq(command_read(&tape, json_first(&tape, 0), &command, &mistake),
			scarce_has_failed() ? -ENOMEM : 0, "%zu", n);
	}
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Expect that @text, read, is written as @written, without the variables in @overridden. */
static void expect_written(const char *text, const char *overridden, const char *written)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *expected = quoted(written);

	cr_assert_eq(read_command(text), 0, "%s", text);
	command_write(&command, "f", overridden, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s", out.data);
}

Test(command_object, is_written_as_it_was_read)
{
	expect_written("{'shell':'a'}", NULL, "{'name':'f','shell':'a','output':'text','env':{}}");
	expect_written("{'argv':['p',['-t','{n}','y'],['q'],'x'],'output':'content',"
		       "'success':[7,0,255],'scripts':[3,1],'cwd':'/c','env':{'A':'1=','B':''}}",
		NULL,
		"{'name':'f','argv':['p',['-t','{n}','y'],'q','x'],'output':'content',"
		"'scripts':[1,3],'success':[0,7,255],'cwd':'/c','env':{'A':'1=','B':''}}");
	expect_written("{'argv':['p',['a','b']],'success':[0]}", NULL,
		"{'name':'f','argv':['p',['a','b']],'output':'text','env':{}}");
	expect_written("{'argv':['p'],'success':[1]}", NULL,
		"{'name':'f','argv':['p'],'output':'text','success':[1],'env':{}}");
	expect_written("{'shell':'a','env':{'A':'1','B':'2','AB':'3'}}", "B=9\0A=\0",
		"{'name':'f','shell':'a','output':'text','env':{'AB':'3'}}");
}

/* ── placeholders that cannot be filled in ───────────────────────────────────────────────────── */

/* Return the name of the first argument in @object that cannot be filled in; "" for none. */
static const char *refused(const char *object, const char **ret_message)
{
	static char name[64];
	cleanup(json_tape_cleanup) struct json_tape values = {0};
	cleanup_free char *text = quoted(object);
	cleanup(buffer_deinit) struct buffer key = {0};
	uint32_t at;

	cr_assert_eq(json_tape_read(&values, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	at = command_next_refused(&command, &values, 0, json_first(&values, 0), ret_message);
	if (at < json_end(&values, 0))
		json_string_decode(&values, at, &key);
	snprintf(name, sizeof(name), "%s", key.size > 0 ? buffer_terminate(&key) : "");
	return name;
}

Test(command_object, refuses_the_first_value_that_a_template_cannot_have)
{
	static const char nul[] = "must not hold U+0000, which no argument of a program can";
	const char *message = NULL;

	cr_assert_eq(read_command("{'argv':['{p}','{a}','{e...}','-x{c?}']}"), 0);
	cr_expect_str_eq(refused("{'a':'x','e':['y'],'c':true}", &message), "");
	cr_expect_null(message);
	cr_expect_str_eq(refused("{'p':'\\u0000','c':'\\u0000','z':'\\u0000'}", &message), "",
		"none of these is filled in");
	cr_expect_str_eq(refused("{'c':1,'a':'\\u0000','e':'\\u0000'}", &message), "a");
	cr_expect_str_eq(message, nul);
	cr_expect_str_eq(refused("{'e':['x','\\u0000']}", &message), "e");
	cr_expect_str_eq(refused("{'e':'\\u0000'}", &message), "e");
	cr_expect_str_eq(refused("{'a':['\\u0000']}", &message), "", "JSON text has an escape");
	cr_assert_eq(read_command("{'shell':'{a}'}"), 0);
	cr_expect_str_eq(refused("{'a':'\\u0000'}", &message), "", "a shell has no templates");
}

/* ── the program ─────────────────────────────────────────────────────────────────────────────── */

/* Make an executable file, or another one. */
static void make_program(const char *name, mode_t mode)
{
	scratch_write(name, "#!/bin/sh\n");
	cr_assert_eq(chmod(scratch_path(name), mode), 0);
}

/* Expect the result of the search for @name in @path (NULL: the command has none). */
static void expect_found(const char *name, const char *path, int result, const char *found)
{
	cleanup_free char *text = NULL;
	char program[PATH_MAX] = "";

	cr_assert_geq(asprintf(&text,
			      path ? "{'argv':['%s'],'env':{'P':'/','PATH':'%s'}}"
				   : "{'argv':['%s'],'env':{'XPATH':'%s'}}",
			      name, path ? path : "/none"),
		0);
	cr_assert_eq(read_command(text), 0, "%s", text);
	cr_expect_eq(command_find_program(&command, program), result, "%s: %d", text,
		command_find_program(&command, program));
	if (result == 0)
		cr_expect_str_eq(program, found, "%s: %s", text, program);
}

Test(command_object, finds_its_program)
{
	char run[PATH_MAX], both[PATH_MAX], missing[PATH_MAX], file[PATH_MAX];

	if (geteuid() == 0)
		cr_assert_eq(chmod(scratch_folder, 0755), 0);
	cr_assert_eq(mkdir(scratch_path("one"), 0755), 0);
	cr_assert_eq(mkdir(scratch_path("two"), 0755), 0);
	cr_assert_eq(mkdir(scratch_path("one/folder"), 0755), 0);
	make_program("one/plain", 0644);
	make_program("two/run", 0755);
	make_program("two/plain", 0755);
	snprintf(run, sizeof(run), "%s/two/run", scratch_folder);
	snprintf(both, sizeof(both), "%s/one:%s/two", scratch_folder, scratch_folder);
	snprintf(missing, sizeof(missing), "%s/one/plain/x:/none:%s/one", scratch_folder,
		scratch_folder);
	snprintf(file, sizeof(file), "%s/two/plain", scratch_folder);

	expect_found("run", both, 0, run);
	expect_found("plain", both, 0, file);
	expect_found("none", both, -ENOENT, NULL);
	expect_found("folder", both, -EISDIR, NULL);
	expect_found("plain", missing, -EACCES, NULL);
	expect_found("none", missing, -ENOENT, NULL);
	expect_found("run", "", -ENOENT, NULL);
	expect_found("run", "two:./two", -ENOENT, NULL);
	expect_found(run, both, 0, run);
	expect_found("/none/such", both, -ENOENT, NULL);
	expect_found("/", both, -EISDIR, NULL);
	cr_assert_eq(setenv("PATH", both, 1), 0);
	expect_found("run", NULL, 0, run);
	cr_assert_eq(setenv("PATH", "", 1), 0);
	expect_found("sh", NULL, 0, access("/usr/bin/sh", X_OK) == 0 ? "/usr/bin/sh" : "/bin/sh");
	cr_assert_eq(unsetenv("PATH"), 0);
	expect_found("sh", NULL, 0, access("/usr/bin/sh", X_OK) == 0 ? "/usr/bin/sh" : "/bin/sh");
}

/* Read a command whose program is @n letters after a slash. */
static int find_long(size_t n)
{
	char program[PATH_MAX];

	cr_assert_eq(read_long("{'argv':['/", n, "']}"), 0);
	return command_find_program(&command, program);
}

Test(command_object, has_a_program_whose_path_is_not_too_long)
{
	cr_expect_eq(find_long(PATH_MAX - 1), -ENAMETOOLONG, "with its NUL");
	cr_expect_eq(find_long(100), -ENOENT);
}

/* Expect the path of the argument 1 of @text; NULL: it is no path. */
static void expect_script(const char *text, const char *expected)
{
	char path[PATH_MAX] = "";

	cr_assert_eq(read_command(text), 0, "%s", text);
	cr_expect_eq(command_script_path(&command, 1, path), expected != NULL, "%s", text);
	if (expected)
		cr_expect_str_eq(path, expected, "%s: %s", text, path);
}

Test(command_object, has_scripts_at_paths_from_its_folder)
{
	expect_script("{'argv':['sh','x.sh'],'cwd':'/c'}", "/c/x.sh");
	expect_script("{'argv':['sh','/x.sh'],'cwd':'/c'}", "/x.sh");
	expect_script("{'argv':['sh','/x.sh']}", "/x.sh");
	expect_script("{'argv':['sh',''],'cwd':'/c'}", NULL);
	expect_script("{'argv':['sh','{x}'],'cwd':'/c'}", NULL);
	expect_script("{'shell':'x'}", NULL);
	cr_assert_eq(read_long("{'argv':['sh','", PATH_MAX - 4, "'],'cwd':'/c'}"), 0);
	char path[PATH_MAX];

	cr_expect(command_script_path(&command, 1, path));
	cr_assert_eq(read_long("{'argv':['sh','", PATH_MAX - 3, "'],'cwd':'/c'}"), 0);
	cr_expect_not(command_script_path(&command, 1, path));
}
