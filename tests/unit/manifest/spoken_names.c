/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <string.h>

#include "manifest_fixture.h"

TestSuite(spoken_names, .init = manifest_set_up, .fini = manifest_tear_down);

#define SPOKEN(faces) TOOL("'spoken':" faces "," SQRT)

Test(spoken_names, are_arguments_and_members_of_the_result)
{
	const struct tool *tool = read_good(SPOKEN("{'en':{'done':'{x} gives {result}',"
						   "'confirm':'{x}?','wait':'{x}…',"
						   "'failed':'{x}: {error}'},'de-AT':{}}"))
					  ->tools;

	cr_assert_not_null(tool->spoken);
	cr_expect_not_null(strstr(tool->spoken, "\"de-AT\":{}"));
}

Test(spoken_names, are_none_without_faces)
{
	cr_expect_null(read_good(TOOL(SQRT))->tools->spoken);
}

Test(spoken_names, of_a_face_that_has_no_such_value_are_refused)
{
	expect_refused(SPOKEN("{'en':{'done':'{x} gives {y}'}}"), 1, "/tools/0/spoken/en/done",
		"'done' names 'y', which has no value: there are the arguments x, and result; "
		"write {{ for a brace");
	expect_refused(SPOKEN("{'en':{'confirm':'{result}?'}}"), 1, "/tools/0/spoken/en/confirm",
		"'confirm' names 'result', which has no value: there are the arguments x; write "
		"{{ for a brace");
	expect_refused(SPOKEN("{'en':{'wait':'{error}'}}"), 1, "/tools/0/spoken/en/wait",
		"'wait' names 'error', which has no value: there are the arguments x; write {{ "
		"for a brace");
	expect_refused(SPOKEN("{'en':{'failed':'{result}'}}"), 1, "/tools/0/spoken/en/failed",
		"'failed' names 'result', which has no value: there are the arguments x, and "
		"error; write {{ for a brace");
	expect_refused(SPOKEN("{'en':{'wait':'{x?}'}}"), 1, "/tools/0/spoken/en/wait",
		"'wait' names 'x', which has no value: there are the arguments x; write {{ for a "
		"brace");
}

Test(spoken_names, of_a_brace_that_means_itself_are_text)
{
	read_good(SPOKEN("{'en':{'done':'{{y} { y } {}'}}"));
}

Test(spoken_names, have_each_language_once)
{
	expect_refused(SPOKEN("{'de-AT':{},'DE-at':{}}"), 1, "/tools/0/spoken/DE-at",
		"the language 'DE-at' is there twice; upper and lower case are the same");
}

Test(spoken_names, are_of_language_tags)
{
	manifest_write("box.json", SPOKEN("{'e n':{}}"));
	cr_expect_neq(manifest_read_again("box.json"), 0);
	manifest_write("box.json", SPOKEN("{}"));
	cr_expect_neq(manifest_read_again("box.json"), 0);
	manifest_write("box.json", SPOKEN("{'en':{'say':'x'}}"));
	cr_expect_neq(manifest_read_again("box.json"), 0);
}
