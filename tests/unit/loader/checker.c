/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/checker.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../scratch.h"
#include "manifest/manifest.h"

#define WAIT_MS 100000
#define BOXES   8

/* A toolbox being checked, and the reports on it. */
struct item {
	struct package *package;
	unsigned int n_refusals;
	char pointer[64];
	char text[256];
};

static struct loop *loop;
static struct checker *checker;
static struct manifest_reader *reader;
static struct config config;
static struct item items[BOXES];
static bool is_done;

static void set_up(void)
{
	scratch_set_up();
	config.start_timeout_ms = WAIT_MS;
	config.limits.host_output_bytes = 8u << 20;
	config.limits.stderr_bytes = 8u << 10;
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(checker_new(loop, TEST_HOST_PROGRAM, &config, &checker), 0);
}

static void tear_down(void)
{
	checker_free(checker);
	for (size_t i = 0; i < BOXES; i++)
		package_unref(items[i].package);
	manifest_reader_free(reader);
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(checker, .init = set_up, .fini = tear_down, .timeout = 300);

/* Have a toolbox with one tool checked, as item @index. Its member of libraries is @begin, @library
 * and @end. */
static void add_over(
	size_t index, const char *begin, const char *library, const char *end, const char *symbol)
{
	struct diagnostics problems = {0};
	char name[16];
	char text[256];

	snprintf(name, sizeof(name), "box%zu.json", index);
	snprintf(text, sizeof(text),
		"{\"kind\":\"native\",%s%s%s,\"tools\":[{\"name\":\"f\",\"native\":"
		"{\"symbol\":\"%s\",\"parameters\":[{\"name\":\"x\",\"type\":\"f64\"}],"
		"\"returns\":{\"type\":\"f64\"}}}]}",
		begin, library, end, symbol);
	scratch_write(name, text);
	cr_assert_eq(
		manifest_read(reader, scratch_path(name), &items[index].package, &problems), 0);
	diagnostics_deinit(&problems);
	checker_add(checker, items[index].package, &items[index]);
}

static void add(size_t index, const char *library, const char *symbol)
{
	add_over(index, "\"library\":\"", library, "\"", symbol);
}

static void refused(void *data, const char *pointer, const char *text)
{
	struct item *item = data;

	item->n_refusals++;
	snprintf(item->pointer, sizeof(item->pointer), "%s", pointer);
	snprintf(item->text, sizeof(item->text), "%s", text);
}

static void done(void *data)
{
	cr_expect_eq(data, &loop);
	is_done = true;
	loop_stop(loop);
}

static void check(void)
{
	checker_start(checker, refused, NULL, done, &loop);
	cr_expect_not(is_done, "nothing is told before this returns");
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(is_done);
}

static void expect_good(size_t index)
{
	cr_expect_eq(items[index].n_refusals, 0, "box%zu: %s", index, items[index].text);
	cr_expect(toolbox_library_is_unchanged(&items[index].package->library));
}

static void expect_refused(size_t index, const char *pointer, const char *words)
{
	cr_expect_eq(
		items[index].n_refusals, 1, "box%zu: %u times", index, items[index].n_refusals);
	cr_expect_str_eq(items[index].pointer, pointer);
	cr_expect(strstr(items[index].text, words), "%s", items[index].text);
}

/* The same with the libraries libm.so.6 and @second. */
static void add_two(size_t index, const char *second, const char *symbol)
{
	char text[64];

	snprintf(text, sizeof(text), "libm.so.6\",\"%s", second);
	add_over(index, "\"libraries\":[\"", text, "\"]", symbol);
}

Test(checker, tells_where_each_of_several_libraries_is)
{
	add_two(0, "libc.so.6", "sqrt");
	add_two(1, "libc.so.6", "cbrt");
	add(2, "libm.so.6", "sqrt");
	check();
	for (size_t i = 0; i < 3; i++)
		expect_good(i);
	for (size_t i = 0; i < 2; i++) {
		cr_assert(items[i].package->library.next);
		cr_expect(strstr(items[i].package->library.file, "libm.so.6"));
		cr_expect(strstr(items[i].package->library.next->file, "libc.so.6"));
		cr_expect_neq(items[i].package->library.next->digest, 0);
	}
}

Test(checker, refuses_all_toolboxes_over_a_missing_library_of_several_at_once)
{
	for (size_t i = 0; i < 3; i++)
		add_two(i, "libnowhere.so", "sqrt");
	check();
	for (size_t i = 0; i < 3; i++)
		expect_refused(i, "/libraries/1", "libnowhere.so");
}

Test(checker, is_done_when_there_is_nothing_to_do)
{
	check();
}

Test(checker, tells_all_toolboxes_over_one_library_where_it_is)
{
	for (size_t i = 0; i < BOXES; i++)
		add(i, "libm.so.6", "sqrt");
	check();
	for (size_t i = 0; i < BOXES; i++)
		expect_good(i);
	cr_expect_str_eq(items[7].package->library.file, items[0].package->library.file);
}

Test(checker, refuses_only_who_is_to_blame)
{
	for (size_t i = 0; i < BOXES; i++)
		add(i, "libm.so.6", i == 2 || i == 7 ? "no_such_function" : "sqrt");
	check();
	for (size_t i = 0; i < BOXES; i++)
		if (i == 2 || i == 7)
			expect_refused(i, "/tools/0/native/symbol", "no_such_function");
		else
			expect_good(i);
}

Test(checker, refuses_all_over_a_library_that_is_not_there)
{
	for (size_t i = 0; i < BOXES; i++)
		add(i, i == 4 ? "libm.so.6" : "libnowhere.so", "sqrt");
	check();
	for (size_t i = 0; i < BOXES; i++)
		if (i == 4)
			expect_good(i);
		else
			expect_refused(i, "/library", "libnowhere.so");
}

Test(checker, refuses_a_library_that_takes_too_long_for_all_at_once)
{
	config.start_timeout_ms = 200;
	for (size_t i = 0; i < BOXES; i++)
		add(i, TEST_STUCK_LIBRARY, "sqrt");
	check();
	for (size_t i = 0; i < BOXES; i++)
		expect_refused(i, "/library", "loading the library failed");
}

Test(checker, loses_nobody_else_to_a_library_that_crashes_as_it_is_loaded)
{
	for (size_t i = 0; i < BOXES; i++)
		add(i, i % 3 == 1 ? TEST_DOOMED_LIBRARY : "libm.so.6", "sqrt");
	check();
	for (size_t i = 0; i < BOXES; i++)
		if (i % 3 == 1)
			expect_refused(i, "/library",
				"loading the library failed: its host died (SIGABRT)");
		else
			expect_good(i);
}

Test(checker, may_be_given_up_while_it_is_at_work)
{
	for (size_t i = 0; i < BOXES; i++)
		add(i, TEST_STUCK_LIBRARY, "sqrt");
	checker_start(checker, refused, NULL, done, &loop);
	cr_expect_eq(loop_run(loop, 100), -ETIME);
	checker_free(checker);
	checker = NULL;
	cr_expect_eq(loop_run(loop, 100), -ETIME);
	cr_expect_not(is_done);
}
