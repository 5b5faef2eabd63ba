/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(chdir(scratch_folder), 0);
	setenv("HOME", scratch_folder, 1);
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
	umask(022);
}

TestSuite(ctl_new, .init = set_up, .fini = scratch_tear_down, .timeout = 60);

static const char *text_of(const char *name)
{
	static char text[16384];
	FILE *stream = fopen(name, "r");
	size_t size = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	cr_expect(stream, "%s", name);
	if (stream)
		fclose(stream);
	text[size] = '\0';
	return text;
}

static const char *const kinds[] = {"native", "plugin", "command", "programs", "python"};

Test(ctl_new, writes_the_files_that_it_names_with_the_id_in_them)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char line[64];
		char id[32];
		char file[512];
		size_t n_files = 0;

		snprintf(id, sizeof(id), "my-%s", kinds[i]);
		snprintf(line, sizeof(line), "new %s --kind %s", id, kinds[i]);
		cr_expect_eq(command_run(ctl_new, line), CTL_DONE, "%s", command_complaints);
		for (const char *at = command_output; *at != '\n'; n_files++) {
			size_t size = strcspn(at, "\n");
			const char *text;

			snprintf(file, sizeof(file), "%.*s", (int)size, at);
			cr_expect_eq(strncmp(file, id, strlen(id)), 0, "%s", file);
			text = text_of(file);
			cr_expect_null(strstr(text, "my_toolbox"), "%s", file);
			cr_expect_null(strstr(text, "my_module"), "%s", file);
			cr_expect_null(strstr(text, "SPDX"), "%s", file);
			cr_expect_eq(
				access(file, X_OK) == 0, strncmp(text, "#!", 2) == 0, "%s", file);
			at += size + 1;
		}
		cr_expect_geq(n_files, 3, "%s", kinds[i]);
		snprintf(file, sizeof(file), "\n  cmake -G Ninja -S %s -B %s/build\n", id, id);
		expect_output(file);
	}
}

Test(ctl_new, lists_its_files_as_json)
{
	cr_expect_eq(command_run(ctl_new, "new words --kind native --json"), CTL_DONE);
	cr_expect_eq(strncmp(command_output,
			     "{\"toolbox_id\":\"words\",\"kind\":\"native\",\"files\":[\"words/",
			     strlen("{\"toolbox_id\":\"words\",\"kind\":\"native\",\"files\":["
				    "\"words/")),
		0, "%s", command_output);
	expect_output("\"words/words.json\"");
	expect_output("\"words/words.c\"");
	expect_output("\"words/tests/words.calls\"");
	cr_expect_str_eq(command_output + strlen(command_output) - 4, "\"]}\n");
}

Test(ctl_new, writes_dashes_of_an_id_as_underscores_where_python_has_a_module)
{
	cr_expect_eq(command_run(ctl_new, "new my-own-words --kind python"), CTL_DONE);
	expect_output("my-own-words/my_own_words_toolbox.py\n");
	expect_output("my-own-words/my-own-words.json\n");
}

Test(ctl_new, changes_no_folder_that_is_there)
{
	scratch_write("words/precious", "x");
	expect_command(ctl_new, "new words --kind native", CTL_USAGE, "",
		"'words' is there already: choose another id\n");
	cr_expect_neq(access("words/words.json", F_OK), 0);
	cr_expect_eq(access("words/precious", F_OK), 0);
}

Test(ctl_new, names_the_file_that_cannot_be_written)
{
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	else
		cr_assert_eq(chmod(scratch_folder, 0500), 0);
	cr_expect_eq(command_run(ctl_new, "new words --kind native"), CTL_ERROR);
	expect_complaint(" cannot be written: ");
	cr_expect_str_empty(command_output);
	if (geteuid() == 65534)
		cr_assert_eq(seteuid(0), 0);
	cr_assert_eq(chmod(scratch_folder, 0700), 0);
}

Test(ctl_new, refuses_ids_kinds_and_flags_that_cannot_be)
{
	static const char no_kind[] = "one of bus, command, native, plugin, programs, python, mcp";
	static const struct {
		const char *line;
		const char *complaint;
	} cases[] = {
		{"new words", "--kind is missing: "},
		{"new words --kind rust", "--kind must be "},
		{"new words --kind ", "--kind must be "},
		{"new a/b --kind native", "the id must be 1 to "},
		{"new a.b --kind native", "the id must be 1 to "},
		{"new -- -a --kind native", "--kind is missing: "},
		{"new --kind native -- -a", "the id must be 1 to "},
		{"new --kind native ", "the id must be 1 to "},
		{"new words --kind native --url http://x", "are for --kind mcp, not native"},
		{"new words --kind command --env A=b", "are for --kind mcp, not command"},
		{"new words --kind mcp --url http://x --env A=b",
			"--env is for --command, and --header for --url"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_new, cases[i].line), CTL_USAGE, "%s", cases[i].line);
		expect_complaint(cases[i].complaint);
		if (strstr(cases[i].complaint, "--kind must be "))
			expect_complaint(no_kind);
	}
}
