/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/sync.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "logged.h"
#include "scarce.h"
#include "serving.h"

/* The thread calls the fdatasync() of this file. */

#define SOME_FD 1234567

static struct loop *loop;
static struct mcp_sync sync_of_test;
static atomic_uint n_syncs;
static atomic_bool fails;
static atomic_int last_fd;

int fdatasync(int fildes)
{
	last_fd = fildes;
	n_syncs++;
	errno = EIO;
	return fails ? -1 : 0;
}

unsigned int n_fdatasyncs(void)
{
	return n_syncs;
}

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
	sync_of_test = (struct mcp_sync){.loop = loop, .fd = SOME_FD};
}

static void tear_down(void)
{
	mcp_sync_deinit(&sync_of_test);
	loop_free(loop);
}

TestSuite(mcp_sync, .init = set_up, .fini = tear_down, .timeout = 60);

static void finish(void)
{
	while (sync_of_test.aside)
		loop_run(loop, 100);
}

Test(mcp_sync, brings_each_end_to_the_disk)
{
	mcp_sync_ask(&sync_of_test);
	finish();
	cr_expect_eq(n_syncs, 1);
	cr_expect_eq(last_fd, SOME_FD);
	mcp_sync_ask(&sync_of_test);
	mcp_sync_ask(&sync_of_test);
	mcp_sync_ask(&sync_of_test);
	finish();
	cr_expect_eq(n_syncs, 3, "the ends during a sync have one together");
}

Test(mcp_sync, finishes_before_the_file_is_closed)
{
	mcp_sync_ask(&sync_of_test);
	mcp_sync_ask(&sync_of_test);
	mcp_sync_deinit(&sync_of_test);
	cr_expect_eq(n_syncs, 2);
	mcp_sync_deinit(&sync_of_test);
	cr_expect_eq(n_syncs, 2);
}

Test(mcp_sync, does_nothing_without_a_file)
{
	sync_of_test.fd = -1;
	mcp_sync_ask(&sync_of_test);
	cr_expect_null(sync_of_test.aside);
	mcp_sync_deinit(&sync_of_test);
	cr_expect_eq(n_syncs, 0);
}

Test(mcp_sync, logs_a_disk_that_fails)
{
	const char *log;

	fails = true;
	logged_begin();
	mcp_sync_ask(&sync_of_test);
	finish();
	log = logged_end();
	cr_expect(strstr(log, "may count again after a power cut"), "%s", log);
}

Test(mcp_sync, logs_a_disk_that_fails_at_the_end)
{
	for (int n = 1; n <= 2; n++) {
		const char *log;

		fails = true;
		for (int i = 0; i < n; i++)
			mcp_sync_ask(&sync_of_test);
		logged_begin();
		tear_down();
		log = logged_end();
		cr_expect(strstr(log, "may count again after a power cut"), "%d: %s", n, log);
		set_up();
	}
}

Test(mcp_sync, logs_a_disk_that_fails_without_a_thread)
{
	const char *log;

	fails = true;
	logged_begin();
	scarce_once_after(0);
	mcp_sync_ask(&sync_of_test);
	cr_expect(scarce_has_failed());
	log = logged_end();
	cr_expect_null(sync_of_test.aside);
	cr_expect(strstr(log, "may count again after a power cut"), "%s", log);
}
