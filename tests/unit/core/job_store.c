/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job_store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../scratch.h"
#include "util/file/file.h"

/* The files of jobs in a folder of the test's own, changed by the thread of the store. */

#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"

static struct loop *loop;
static struct job_store store;
static struct job_change change_a;
static struct job_change change_b;
static char order[8];
static int last_status;
static unsigned int n_left;

/* Note that a change was reported; @data is its letter. */
static void note_written(void *data, int status)
{
	strncat(order, data, 1);
	last_status = status;
	if (--n_left == 0)
		loop_stop(loop);
}

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(job_store_init(&store, loop, scratch_folder), 0);
	change_a = (struct job_change){.id = ID_A, .written = note_written, .data = "a"};
	change_b = (struct job_change){.id = ID_B, .written = note_written, .data = "b"};
	list_init(&change_a.link);
	list_init(&change_b.link);
}

static void tear_down(void)
{
	job_store_deinit(&store);
	loop_free(loop);
	buffer_deinit(&change_a.text);
	buffer_deinit(&change_b.text);
	scratch_tear_down();
}

TestSuite(job_store, .init = set_up, .fini = tear_down);

static void put(struct job_change *change, const char *text)
{
	buffer_append_string(&change->text, text);
	job_store_put(&store, change);
}

/* Serve until @n changes were reported. */
static void serve(unsigned int n)
{
	n_left = n;
	cr_assert_eq(loop_run(loop, 10000), 0);
}

static bool has_file(const char *id, const char *text)
{
	struct buffer found = {0};
	char name[64];
	bool is_it;

	snprintf(name, sizeof(name), "jobs/%s.json", id);
	is_it = file_read(scratch_path(name), 1000, &found) == 0 && found.size == strlen(text) &&
		memcmp(found.data ? found.data : "", text, found.size) == 0;
	buffer_deinit(&found);
	return is_it;
}

Test(job_store, has_a_change_on_the_disk_when_it_is_reported)
{
	cr_expect(job_store_is_idle(&store));
	put(&change_a, "one");
	cr_expect_not(job_store_is_idle(&store));
	serve(1);
	cr_expect_eq(last_status, 0);
	cr_expect(has_file(ID_A, "one"));
	cr_expect(job_store_is_idle(&store));
}

Test(job_store, makes_changes_in_their_order)
{
	put(&change_a, "one");
	put(&change_b, "two");
	serve(2);
	cr_expect_str_eq(order, "ab");
	put(&change_a, "three");
	serve(1);
	cr_expect(has_file(ID_A, "three"));
	cr_expect(has_file(ID_B, "two"));
}

/* Begin another change of the other job from the report of the first. */
static void go_on(void *data, int status)
{
	note_written(data, status);
	put(&change_b, "two");
	n_left = 1;
}

Test(job_store, takes_a_change_from_a_report)
{
	change_a.written = go_on;
	n_left = 2;
	put(&change_a, "one");
	cr_assert_eq(loop_run(loop, 10000), 0);
	cr_expect_str_eq(order, "ab");
	cr_expect(has_file(ID_B, "two"));
}

Test(job_store, removes_a_file_and_takes_one_that_is_gone_for_removed)
{
	put(&change_a, "one");
	serve(1);
	for (int i = 0; i < 2; i++) {
		job_store_put(&store, &change_a);
		serve(1);
		cr_expect_eq(last_status, 0);
		cr_expect_lt(access(scratch_path("jobs/" ID_A ".json"), F_OK), 0);
	}
}

Test(job_store, reports_a_folder_that_cannot_be_made)
{
	FILE *file = fopen(scratch_path("jobs"), "w");

	cr_assert(file);
	fclose(file);
	put(&change_a, "one");
	serve(1);
	cr_expect_lt(last_status, 0);
}

Test(job_store, makes_what_waits_at_its_end)
{
	put(&change_a, "one");
	put(&change_b, "two");
	job_store_deinit(&store);
	cr_expect(has_file(ID_A, "one"));
	cr_expect(has_file(ID_B, "two"));
	cr_expect_str_eq(order, "");
	store = (struct job_store){0};
}

static void count(void *data, const char *id, struct buffer *text)
{
	unsigned int *n = data;

	cr_expect_str_eq(id, ID_A);
	cr_expect(text->size == 3 && memcmp(text->data, "one", 3) == 0);
	++*n;
}

Test(job_store, visits_files_of_jobs_and_removes_drafts)
{
	static const char *const others[] = {
		"jobs/README", "jobs/0123.json", "jobs/." ID_B ".json.77", "jobs/" ID_B ".json"};
	unsigned int n = 0;

	put(&change_a, "one");
	serve(1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		FILE *file = fopen(scratch_path(others[i]), "w");

		cr_assert(file);
		fprintf(file, "%20d", 0);
		fclose(file);
	}
	cr_expect_eq(job_store_each(&store, 10, count, &n), 0);
	cr_expect_eq(n, 1);
	cr_expect_lt(access(scratch_path(others[2]), F_OK), 0);
	cr_expect_eq(access(scratch_path(others[0]), F_OK), 0);
}

Test(job_store, has_no_files_without_a_folder)
{
	struct job_store none;
	unsigned int n = 0;

	cr_assert_eq(job_store_init(&none, loop, NULL), 0);
	cr_expect_eq(job_store_each(&none, 10, count, &n), 0);
	buffer_append_string(&change_a.text, "one");
	job_store_put(&none, &change_a);
	serve(1);
	cr_expect_eq(last_status, -ENOENT);
	job_store_deinit(&none);
}
