/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest_fixture.h"

#include "../scratch.h"

struct toolbox *toolbox;
struct problems problems;

static struct manifest_reader *reader;

void manifest_set_up(void)
{
	scratch_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void forget(void)
{
	toolbox_unref(toolbox);
	toolbox = NULL;
	problems_deinit(&problems);
}

void manifest_tear_down(void)
{
	forget();
	manifest_reader_free(reader);
	scratch_tear_down();
}

const char *manifest_path(const char *name)
{
	return scratch_path(name);
}

void manifest_write(const char *name, const char *text)
{
	scratch_write_json(name, text);
}

int manifest_read_again(const char *name)
{
	forget();
	return manifest_read(reader, manifest_path(name), &toolbox, &problems);
}

struct toolbox *read_good(const char *text)
{
	int r;

	manifest_write("box.json", text);
	r = manifest_read_again("box.json");
	cr_assert_eq(r, 0, "%s: %s %s", text, problems.n_items > 0 ? problems.items[0].pointer : "",
		problems.n_items > 0 ? problems.items[0].text : "");
	cr_expect_eq(problems.n_errors, 0);
	return toolbox;
}

void expect_refused(const char *text, unsigned int line, const char *pointer, const char *message)
{
	manifest_write("box.json", text);
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED, "not refused: %s", text);
	cr_expect_null(toolbox);
	cr_assert(problems.n_errors > 0 && problems.n_items > 0, "%s", text);
	cr_expect_eq(problems.items[0].severity, PROBLEM_ERROR);
	cr_expect_str_eq(
		problems.items[0].pointer, pointer, "%s: at %s", text, problems.items[0].pointer);
	cr_expect_str_eq(problems.items[0].text, message, "%s: %s", text, problems.items[0].text);
	cr_expect_eq(problems.items[0].line, line, "%s: in line %u", text, problems.items[0].line);
}
