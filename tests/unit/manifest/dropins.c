/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropins.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "manifest/dropin/dropin_scan.h"
#include "scarce.h"
#include "util/file/file.h"

#define PROGRAM_MAX (64u << 20)

static struct manifest_reader *reader;
static struct package *package;
static struct toolbox *toolbox;
static struct dropin_toolboxes toolboxes;
static struct skipped_list skipped;
static struct diagnostics problems;

static void set_up(void)
{
	scratch_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
	cr_assert_eq(mkdir(scratch_path("home"), 0700), 0);
}

static void forget(void)
{
	package_unref(package);
	package = NULL;
	toolbox = NULL;
	dropin_toolboxes_deinit(&toolboxes);
	skipped_list_deinit(&skipped);
	diagnostics_deinit(&problems);
}

static void tear_down(void)
{
	forget();
	manifest_reader_free(reader);
	scratch_tear_down();
}

TestSuite(dropins, .init = set_up, .fini = tear_down);

static void write_program(const char *name, const char *text)
{
	scratch_write(name, text);
	cr_assert_eq(chmod(scratch_path(name), 0700), 0);
}

static int read_folder(const char *path, const char *overlay)
{
	int r;

	forget();
	r = dropins_read(reader, path, overlay, &package, &toolboxes, &skipped, &problems);
	toolbox = package ? package->toolboxes[0] : NULL;
	return r;
}

static int read_home(const char *overlay)
{
	return read_folder(scratch_path("home"), overlay);
}

/* Fail unless the names of the tools, each with a space after it, are @expected. */
static void expect_tools(const char *expected)
{
	cleanup(buffer_deinit) struct buffer names = {0};

	for (size_t i = 0; toolbox && i < toolbox->n_tools; i++)
		buffer_printf(&names, "%s ", toolbox->tools[i].name);
	cr_expect_str_eq(buffer_terminate(&names), expected, "%s", names.data);
}

/* That @name is left out, and that @words are in the reason. */
static void expect_left_out(const char *name, const char *words)
{
	for (size_t i = 0; i < skipped.n_items; i++)
		if (strcmp(skipped.items[i].name, name) == 0 &&
			strstr(skipped.items[i].reason, words))
			return;
	cr_expect_fail("%s is not left out with '%s', %zu are, %s", name, words, skipped.n_items,
		skipped.n_items > 0 ? skipped.items[0].reason : "");
}

Test(dropins, are_the_programs_of_a_folder_and_of_its_folders)
{
	char folder[PATH_MAX];

	write_program("home/lights.sh", "#!/bin/sh\n");
	write_program("home/music/next", "\x7f"
					 "ELF");
	write_program("home/music/deep/er", "#!/bin/sh\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("lights music_next ");
	expect_left_out("music_deep", "/home/music/deep: a folder in the folder of a service");
	cr_expect_eq(skipped.n_items, 1);
	cr_expect_str_eq(toolbox->id, "home");
	cr_expect_str_eq(
		toolbox->tools[0].command.arguments.items[0], scratch_path("home/lights.sh"));
	cr_assert(realpath(scratch_path("home"), folder));
	cr_expect_str_eq(toolbox->tools[1].command.cwd, folder);
	cr_expect_str_eq(toolbox->tools[0].argument_schema,
		"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
}

Test(dropins, are_found_from_a_relative_path_too)
{
	write_program("home/lights.sh", "#!/bin/sh\n");
	cr_assert_eq(chdir(scratch_path(".")), 0);
	cr_assert_eq(read_folder("home", NULL), 0);
	cr_assert_not_null(toolbox);
	cr_expect_str_eq(
		toolbox->tools[0].command.arguments.items[0], scratch_path("home/lights.sh"));
	cr_expect_str_eq(toolbox->package->file, "home");
}

Test(dropins, leave_out_what_is_no_program)
{
	static const char *const names[] = {"home/_x", "home/.x", "home/types.py", "home/types",
		"home/helpers.sh", "home/my_helpers", "home/_lib/x", "home/helpers/x",
		"home/__pycache__/x"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		write_program(names[i], "#!/bin/sh\n");
	scratch_write("home/notes.txt", "text");
	scratch_write("home/tests/README", "in a folder that is no service");
	scratch_write("home/bell_helpers.py", "a module that programs share");
	cr_assert_eq(read_home(NULL), 0);
	cr_expect_null(toolbox);
	expect_left_out("_x", "/home/_x: its name is one that is left out");
	expect_left_out("types", "/home/types: its name");
	expect_left_out("my_helpers", "/home/my_helpers: its name");
	expect_left_out("_lib", "/home/_lib: its name");
	expect_left_out("notes", "/home/notes.txt: it is not executable (chmod +x)");
	cr_expect_eq(skipped.n_items, 6, "one of each name");
	write_program("home/notes.sh", "#!/bin/sh\n");
	cr_assert_eq(read_home(NULL), 0);
	cr_expect_eq(skipped.n_items, 5, "notes.txt is a part of notes.sh");
	scratch_write("home/script.sh", "#!/bin/sh\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_left_out("script", "it is not executable (chmod +x)");
}

Test(dropins, are_not_the_backups_of_editors_and_package_managers)
{
	static const char *const backups[] = {"bell.sh~", "bell~", "bell.bak", "bell.sh.bak",
		"bell.orig", "bell.rej", "bell.old", "bell.swp", "bell.tmp", "bell.dpkg-old",
		"bell.sh.ucf-dist", "bell.sh.rpmsave"};

	write_program("home/bell.sh", "#!/bin/sh\n");
	write_program("home/music.bak/next", "#!/bin/sh\n");
	for (size_t i = 0; i < sizeof(backups) / sizeof(*backups); i++) {
		char path[64];

		snprintf(path, sizeof(path), "home/%s", backups[i]);
		write_program(path, "#!/bin/sh\n");
	}
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("bell ");
	for (size_t i = 0; i < sizeof(backups) / sizeof(*backups); i++)
		expect_left_out(backups[i], ": its name looks like a backup");
	expect_left_out("music.bak", ": its name looks like a backup");
	cr_assert_eq(unlink(scratch_path("home/bell.sh")), 0);
	cr_assert_eq(read_home(NULL), 0);
	cr_expect_null(toolbox, "a tool whose program is gone is gone");
}

Test(dropins, name_a_bounded_number_of_what_is_no_program)
{
	char name[64];

	write_program("home/lights.sh", "#!/bin/sh\n");
	for (int i = 0; i < DROPINS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "home/notes%d.txt", i);
		scratch_write(name, "");
	}
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("lights ");
	cr_expect_eq(skipped.n_items, DROPIN_ASIDE_MAX);
}

Test(dropins, leave_out_what_would_fail_with_every_call)
{
	write_program("home/plain.sh", "echo hi\n");
	write_program("home/crlf.sh", "#!/bin/sh\r\necho hi\r\n");
	write_program("home/absent", "#! /no/such/interpreter -x\n");
	write_program("home/libz.so", "\x7f"
				      "ELF");
	write_program("home/libm.so.6.1", "\x7f"
					  "ELF");
	write_program("home/env", "#!/usr/bin/env python3\n");
	write_program("home/other", "\x01\x02\x03");
	write_program("home/also.society", "#! /bin/sh");
	write_program("home/relative", "#!sh\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("also env other relative ");
	expect_left_out(
		"plain", "/home/plain.sh: it is a text that does not begin with a line like");
	expect_left_out("crlf", "its lines end with CR LF");
	expect_left_out(
		"absent", "its interpreter /no/such/interpreter cannot be run: No such file");
	expect_left_out("libz", "it is a shared library");
	cr_expect_eq(skipped.n_items, 5);
}

static void copy_program(const char *from, const char *name)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	cr_assert_eq(file_read(from, PROGRAM_MAX, &bytes), 0, "%s", from);
	scratch_write_bytes(name, bytes.data, bytes.size);
	cr_assert_eq(chmod(scratch_path(name), 0700), 0);
}

Test(dropins, leave_out_shared_objects_whatever_their_name)
{
	Dl_info library;

	cr_assert(dladdr(dlsym(RTLD_DEFAULT, "criterion_run_all_tests"), &library));
	copy_program(library.dli_fname, "home/plugin");
	copy_program("/proc/self/exe", "home/program");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("program ");
	expect_left_out("plugin", "it is a shared library");
}

Test(dropins, of_one_name_are_the_one_in_the_folder_itself_or_none)
{
	write_program("home/a_b", "");
	write_program("home/a/b.sh", "");
	write_program("home/c.sh", "");
	write_program("home/c.py", "");
	write_program("home/d", "");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("a_b d ");
	cr_expect_eq(skipped.n_items, 3);
	expect_left_out("a_b", "/home/a/b.sh: /");
	expect_left_out("a_b", "/home/a_b, directly in the toolbox's folder, has this name");
	expect_left_out("c", "/home/c.sh: ");
	expect_left_out("c", "/home/c.py has this name, too");
}

Test(dropins, say_what_they_are_in_comments)
{
	write_program("home/bell.sh", "#!/bin/sh\n"
				      "# description: Rings the bell.\n"
				      "# param times integer? = 2 How often\n"
				      "#param where string In which room\n"
				      "# param mode string? = fast\n"
				      "# param tags array? = [\"a b\", {\"c\": 1}] Some\n"
				      "# risk: execute\n"
				      "# timeout: 1.5\n"
				      "echo # param x nothing\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("bell ");
	cr_expect_str_eq(toolbox->tools[0].description, "Rings the bell.");
	cr_expect_str_eq(toolbox->tools[0].argument_schema,
		"{\"type\":\"object\",\"properties\":{\"times\":{\"type\":\"integer\",\"default\":"
		"2,"
		"\"description\":\"How "
		"often\"},\"where\":{\"type\":\"string\",\"description\":\"In "
		"which room\"},\"mode\":{\"type\":\"string\",\"default\":\"fast\"},\"tags\":{"
		"\"type\":\"array\",\"default\":[\"a b\",{\"c\":1}],\"description\":\"Some\"}},"
		"\"required\":[\"where\"],\"additionalProperties\":false}",
		"%s", toolbox->tools[0].argument_schema);
	cr_expect_eq(toolbox->tools[0].risk, TOOL_EXECUTE);
	cr_expect_eq(toolbox->tools[0].timeout_ms, 1500);
}

Test(dropins, have_defaults_of_every_type)
{
	write_program("home/set.sh", "#!/bin/sh\n"
				     "# param s string? = fast\n"
				     "# param q string? = \"a b\"\n"
				     "# param i integer? = 3\n"
				     "# param n number? = 0.5\n"
				     "# param b boolean? = true\n"
				     "# param a array? = [1]\n"
				     "# param o object? = {\"a\": 1}\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("set ");
	cr_expect_str_eq(toolbox->tools[0].argument_schema,
		"{\"type\":\"object\",\"properties\":{"
		"\"s\":{\"type\":\"string\",\"default\":\"fast\"},"
		"\"q\":{\"type\":\"string\",\"default\":\"a b\"},"
		"\"i\":{\"type\":\"integer\",\"default\":3},"
		"\"n\":{\"type\":\"number\",\"default\":0.5},"
		"\"b\":{\"type\":\"boolean\",\"default\":true},"
		"\"a\":{\"type\":\"array\",\"default\":[1]},"
		"\"o\":{\"type\":\"object\",\"default\":{\"a\":1}}},"
		"\"additionalProperties\":false}",
		"%s", toolbox->tools[0].argument_schema);
}

Test(dropins, say_what_they_are_in_comments_of_other_languages)
{
	write_program("home/bell.js", "#!/usr/bin/env node\n"
				      "// description: Rings.\n"
				      "// param times integer?=2\n"
				      "-- param where string ? = hall In which room\n"
				      ";; risk: execute\n"
				      "; timeout: 5\n"
				      "--param is no comment\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("bell ");
	cr_expect_str_eq(toolbox->tools[0].description, "Rings.");
	cr_expect_str_eq(toolbox->tools[0].argument_schema,
		"{\"type\":\"object\",\"properties\":{\"times\":{\"type\":\"integer\",\"default\":"
		"2},"
		"\"where\":{\"type\":\"string\",\"default\":\"hall\",\"description\":\"In which "
		"room\"}},"
		"\"additionalProperties\":false}",
		"%s", toolbox->tools[0].argument_schema);
	cr_expect_eq(toolbox->tools[0].risk, TOOL_EXECUTE);
	cr_expect_eq(toolbox->tools[0].timeout_ms, 5000);
}

Test(dropins, have_the_risk_that_their_comment_means)
{
	static const char *const risks[] = {
		"# Risk: execute", "# risk : execute", "# risk execute", "#RISK:execute"};

	for (size_t i = 0; i < sizeof(risks) / sizeof(*risks); i++) {
		char text[64];

		snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", risks[i]);
		write_program("home/bell", text);
		cr_assert_eq(read_home(NULL), 0);
		expect_tools("bell ");
		cr_expect_eq(toolbox->tools[0].risk, TOOL_EXECUTE, "%s", risks[i]);
	}
}

Test(dropins, warn_of_comments_that_define_nothing)
{
	write_program("home/bell", "#!/bin/sh\n# parm times integer How often\n# risk is low\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("bell ");
	cr_assert_eq(problems.n_items, 1);
	cr_expect_eq(problems.items[0].severity, DIAGNOSTIC_WARNING);
	cr_expect(strstr(problems.items[0].text,
			  "/home/bell:2: the comment '# parm times integer How often' defines "
			  "nothing; is '# param NAME TYPE DESCRIPTION' meant?"),
		"%s", problems.items[0].text);
}

Test(dropins, say_the_form_of_their_result_in_comments)
{
	const struct tool *tool;

	write_program("home/room.sh", "#!/bin/sh\n"
				      "\n"
				      "# title: Room\n"
				      "# cooldown: 5\n"
				      "# trigger how warm is (?<room>\\w+)\n"
				      "# trigger warm\n"
				      "# output: json\n"
				      "# param room string\n"
				      "# returns degrees number In Celsius\n"
				      "# returns note string? Perhaps\n"
				      "# example {\"room\": \"a b\"} -> {\"degrees\": 2.50}\n"
				      "# example {\"room\": \"x\"}\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("room ");
	tool = &toolbox->tools[0];
	cr_expect_eq(problems.n_items, 0, "%s", problems.n_items ? problems.items[0].text : "");
	cr_expect(strstr(tool->definition, "\"title\":\"Room\""), "%s", tool->definition);
	cr_expect_eq(tool->cooldown_s, 5);
	cr_expect_str_eq(tool->output_schema,
		"{\"type\":\"object\",\"properties\":{\"degrees\":{\"type\":\"number\","
		"\"description\":"
		"\"In Celsius\"},\"note\":{\"type\":\"string\",\"description\":\"Perhaps\"}},"
		"\"required\":[\"degrees\"]}",
		"%s", tool->output_schema);
	cr_expect(strstr(tool->definition,
			  "[{\"args\":{\"room\":\"a b\"},\"result\":{\"degrees\":2.50}},"
			  "{\"args\":{\"room\":\"x\"}}]"),
		"%s", tool->definition);
}

/* A sentence about code is no definition, whatever its first word is. */
Test(dropins, may_have_sentences_that_begin_like_a_definition)
{
	write_program("home/bell.sh", "#!/bin/sh\n"
				      "# output: the state of the bell\n"
				      "# returns a string of letters\n"
				      "# example of a call: bell\n"
				      "ring() {\n"
				      "# trigger (see below\n"
				      "# title:\n"
				      "# cooldown: none\n"
				      "# returns nothing\n"
				      "# example {\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("bell ");
	cr_expect_eq(toolbox->tools[0].cooldown_s, 0);
	cr_assert_eq(problems.n_items, 2);
	cr_expect(strstr(problems.items[0].text, ":2: '# output:' has an effect only with text"),
		"%s", problems.items[0].text);
	cr_expect(strstr(problems.items[1].text, ":3: '# returns' describes a result in JSON"),
		"%s", problems.items[1].text);
}

Test(dropins, warn_of_unknown_heads_before_the_first_line_of_code)
{
	write_program("home/bell", "#!/usr/bin/python3\n"
				   "# coding: utf-8\n"
				   "# vim: set et:\n"
				   "# shellcheck: disable=all\n"
				   "# see https://example.org\n"
				   "# https://example.org\n"
				   "# category: home\n"
				   "import sys\n"
				   "# language: none\n");
	cr_assert_eq(read_home(NULL), 0);
	cr_assert_eq(problems.n_items, 1, "%s", problems.items[0].text);
	cr_expect(strstr(problems.items[0].text,
			  "/home/bell:7: the comment '# category: home' defines nothing: the words "
			  "with a colon are"),
		"%s", problems.items[0].text);
}

Test(dropins, say_what_they_are_in_the_file_beside_them)
{
	write_program("home/bell.sh", "#!/bin/sh\n# description: not this\n");
	scratch_write_json("home/bell.json", "{'description':'This.','risk':'read',"
					     "'argument_schema':{'properties':{'n':{}}}}");
	cr_assert_eq(read_home(NULL), 0);
	cr_assert_not_null(toolbox);
	cr_expect_str_eq(toolbox->tools[0].description, "This.");
	cr_expect_eq(toolbox->tools[0].risk, TOOL_READ);
}

Test(dropins, cost_their_own_tool_when_they_say_it_wrongly)
{
	write_program("home/good", "");
	write_program("home/a", "# param\n");
	write_program("home/b", "\n# param x int\n");
	write_program("home/c", "# param x integer = many\n");
	write_program("home/d", "#!/bin/sh\n# param x integer = \"1\"\n");
	write_program("home/e", "# risk: some\n");
	write_program("home/f", "# timeout: soon\n");
	write_program("home/g", "# param x integer\n# param x string\n");
	write_program("home/h", "");
	scratch_write_json("home/h.json", "{'colour':1}");
	write_program("home/i", "");
	scratch_write_json("home/i.json", "{\n");
	write_program("home/j", "");
	scratch_write_json("home/j.json", "{'name':'other'}");
	write_program("home/k l", "");
	write_program("home/m", "# param x str\n");
	write_program("home/o", "# cooldown: 1.5\n");
	write_program("home/p", "# example {\"a\": 1} - 2\n");
	write_program("home/q", "# example {\"a\": 1\n");
	write_program("home/r", "# returns x float\n# output: json\n");
	write_program("home/s", "#!/bin/sh\n# trigger (a\n");
	write_program("home/t", "#!/bin/sh\n# param n integer\n# example {\"n\": \"x\"}\n");
	write_program("home/u", "# title: A\n# title: B\n");
	write_program("home/v", "# risk: execute\n# Risk: read\n");
	write_program("home/n", "\xEF\xBB\xBF#!/bin/sh\n");
	cr_assert_eq(read_home(NULL), 0);
	expect_tools("good ");
	expect_left_out("a", "home/a:1: '# param' must be followed by a name and a type");
	expect_left_out("b", "home/b:2: ");
	expect_left_out("b", "; did you mean 'integer'?");
	expect_left_out("m", "; did you mean 'string'?");
	expect_left_out("n", "begins with a byte order mark");
	expect_left_out("c", "must be one JSON value");
	expect_left_out("d", "home/d: /argument_schema/properties/x/default: ");
	expect_left_out("e", "read, write or execute");
	expect_left_out("f", "a number of seconds");
	expect_left_out("g", "has a duplicate key");
	expect_left_out("h", "home/h: /colour: unexpected property 'colour'");
	expect_left_out("i", "home/i.json:");
	expect_left_out("j", "'name' follows from the program's file");
	expect_left_out("o", "home/o:1: '# cooldown:' must be followed by a whole number");
	expect_left_out("p", "home/p:1: '# example' must be followed by an object of arguments");
	expect_left_out("q", "home/q:1: '# example' must be followed by an object of arguments");
	expect_left_out("r", "home/r:1: '# returns' must be followed by a name and a type");
	expect_left_out("r", "; did you mean 'number'?");
	expect_left_out("s", "home/s: /triggers/0: ");
	expect_left_out("t", "home/t: /examples/0/args");
	expect_left_out("u", "home/u:2: '# title:' is there twice");
	expect_left_out("v", "home/v:2: '# risk:' is there twice");
	expect_left_out("k l", "the tool name 'k l' must begin with");
}

Test(dropins, have_the_limits_of_the_manifest_beside_their_folder)
{
	const char *frame = scratch_path("home.json");

	write_program("home/a", "");
	scratch_write_json("home.json", "{'kind':'command','risk':'read','limits':{'workers':2}}");
	cr_expect(dropins_is_overlay(frame));
	cr_assert_eq(read_home(frame), 0);
	expect_tools("a ");
	cr_expect_eq(toolbox->tools[0].risk, TOOL_READ);
	cr_expect_eq(toolbox->package->limits.workers, 2);
	scratch_write_json("home.json", "{'kind':'command','limits':{'workers':0}}");
	cr_assert_eq(read_home(frame), MANIFEST_E_REFUSED);
	cr_expect_str_eq(problems.items[0].pointer, "/limits/workers");
	cr_expect(strstr(problems.items[0].text, "home.json: must be"));
	scratch_write_json("home.json", "{'kind':'native','library':'l'}");
	cr_expect_not(dropins_is_overlay(frame));
	scratch_write_json("home.json", "{'kind':'command','toolbox_id':'other'}");
	cr_expect_not(dropins_is_overlay(frame));
}

Test(dropins, have_files_of_python_beside_them_that_are_toolboxes)
{
	cr_assert_eq(mkdir(scratch_path("home/music"), 0700), 0);
	write_program("home/bell.sh", "#!/bin/sh\n");
	scratch_write("home/lights.py", "# toolbox: python\nx = 1\n");
	write_program("home/music/radio.py", "# toolbox: python \t\r\n");
	/* Nearly toolboxes: as programs they would have no risk. */
	write_program("home/second.py", "#!/usr/bin/python3\n# toolbox: python\n");
	scratch_write("home/longer.py", "# toolbox: pythons\n");
	write_program("home/near.py", "#Toolbox: Python\n");
	/* No toolboxes. */
	write_program("home/other.py", "#!/usr/bin/python3\nimport toolbox\n");
	scratch_write("home/_hidden.py", "# toolbox: python\n");
	scratch_write("home/short.py", "# toolbox: python");
	scratch_write("home/bell.txt", "# toolbox: python\n");
	scratch_write_json("over.json", "{'kind':'command','risk':'read','cwd':'/','env':{'A':'b'},"
					"'limits':{'timeout_ms':5},'gate':'examples'}");
	cr_assert_eq(read_home(scratch_path("over.json")), 0);
	expect_tools("bell other ");
	expect_left_out("second", "its first line must be '# toolbox: python'");
	expect_left_out("longer", "its first line must be '# toolbox: python'");
	expect_left_out("near", "its first line must be '# toolbox: python'");
	cr_assert_eq(toolboxes.n_items, 2);
	cr_expect(strstr(toolboxes.items[0].path, "/home/lights.py"));
	cr_expect(strstr(toolboxes.items[0].manifest,
			  "{\"kind\":\"python\",\"toolbox_id\":\"home_lights\",\"file\":\"/"),
		"%s", toolboxes.items[0].manifest);
	cr_expect(strstr(toolboxes.items[0].manifest,
			  "/home/lights.py\",\"risk\":\"read\",\"limits\":{\"timeout_ms\":5}}"),
		"%s", toolboxes.items[0].manifest);
	cr_expect(strstr(toolboxes.items[1].manifest, "\"home_music_radio\""), "%s",
		toolboxes.items[1].manifest);
}

Test(dropins, are_not_more_than_a_thousand)
{
	for (int i = 0; i <= DROPINS_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "home/tool%d", i);
		write_program(name, "");
	}
	cr_assert_eq(read_home(NULL), MANIFEST_E_REFUSED);
	cr_expect(strstr(problems.items[0].text, "has more than 1000 programs, or than "));
	cr_assert_eq(unlink(scratch_path("home/tool0")), 0);
	cr_assert_eq(read_home(NULL), 0);
	cr_expect_eq(toolbox->n_tools, DROPINS_MAX);
}

/* Append the last name of the folder @path. */
static void take_folder(void *data, const char *path)
{
	buffer_printf(data, "%s/ ", strrchr(path, '/') + 1);
}

/* Append the last name of the link @path. */
static void take_link(void *data, const char *path)
{
	buffer_printf(data, "%s ", strrchr(path, '/') + 1);
}

Test(dropins, lie_in_a_folder_and_in_those_that_it_holds_or_links_to)
{
	cleanup(buffer_deinit) struct buffer found = {0};
	const struct dropins_visitor visitor = {take_folder, take_link, &found};

	scratch_write("elsewhere/run", "");
	write_program("home/run", "#!/bin/sh\n");
	cr_assert_eq(symlink(scratch_path("elsewhere"), scratch_path("home/folder")), 0);
	cr_assert_eq(symlink(scratch_path("elsewhere/run"), scratch_path("home/file")), 0);
	cr_assert_eq(symlink("/nonexistent", scratch_path("home/nothing")), 0);
	cr_assert_eq(symlink("run", scratch_path("home/.hidden")), 0);
	cr_assert_eq(symlink("run", scratch_path("elsewhere/inner")), 0);
	cr_assert_eq(mkdir(scratch_path("elsewhere/deep"), 0700), 0);
	cr_assert_eq(mkdir(scratch_path("home/_own"), 0700), 0);
	dropins_visit(scratch_path("home"), &visitor);
	buffer_terminate(&found);
	cr_expect_eq(strncmp(found.data, "home/ ", strlen("home/ ")), 0, "%s", found.data);
	cr_expect(strstr(found.data, " folder folder/ inner "), "%s", found.data);
	cr_expect(strstr(found.data, " file "), "%s", found.data);
	cr_expect(strstr(found.data, " nothing "), "%s", found.data);
	cr_expect_eq(
		found.size, strlen("home/ folder folder/ inner file nothing "), "%s", found.data);
}

Test(dropins, have_a_stem_up_to_the_last_dot)
{
	static const char *const rows[][2] = {
		{"/a/b.json", "b"},
		{"b.tar.gz", "b.tar"},
		{"/a.b/c", "c"},
		{"/a/.x", ".x"},
		{"/a/.x.y", ".x"},
		{"b.", "b"},
		{"/a/", ""},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t size;
		const char *stem = dropin_stem(rows[i][0], &size);

		cr_expect_eq(size, strlen(rows[i][1]), "%s: %zu", rows[i][0], size);
		cr_expect_eq(strncmp(stem, rows[i][1], size), 0, "%s: %s", rows[i][0], stem);
	}
}

Test(dropins, are_all_read_or_memory_is_short)
{
	cleanup_free char *load = NULL;
	size_t n = 0;

	write_program("home/bell.sh", "#!/bin/sh\n# param where string\n# risk: read\n");
	write_program("home/sub/door", "#!/bin/sh\n");
	scratch_write("home/README", "");
	scratch_write_json("home.json", "{'kind':'command','risk':'write'}");
	scratch_write("home/lights.py", "# toolbox: python\n");
	cr_assert_eq(read_home(scratch_path("home.json")), 0);
	load = strndup(package->load, package->load_size);
	for (; scarce_once_after(n); n++) {
		int r = read_home(scratch_path("home.json"));

		if (scarce_has_failed() && r == -ENOMEM)
			continue;
		cr_assert_eq(r, 0, "%zu: %d", n, r);
		cr_assert_str_eq(package->load, load, "%zu: %s", n, package->load);
		cr_expect_eq(toolboxes.n_items, 1, "%zu", n);
		cr_expect_eq(skipped.n_items, 1, "%zu", n);
		expect_tools("bell sub_door ");
	}
	cr_expect_gt(n, 50);
}
