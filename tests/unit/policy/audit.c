/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/audit.h"

#include <errno.h>

#include "logged.h"
#include "policy/audit_chain.h"
#include "scarce.h"
#include "../scratch.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define WAIT_MS 10000

static struct loop *loop;
static struct audit *audit;

/* A caller that waits for its line. */
struct waiter {
	struct audit_wait wait;
	int status;
	bool is_called;
};

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(audit_new(loop, &audit), 0);
}

static void tear_down(void)
{
	audit_free(audit);
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(audit, .init = set_up, .fini = tear_down, .timeout = 60);

static void use(const char *path)
{
	cr_assert_eq(audit_set_file(audit, path, 1 << 20), 0);
}

static int append(size_t size, struct audit_wait *wait)
{
	struct buffer line = {0};

	buffer_append_string(&line, AUDIT_LINE_START);
	for (size_t i = 0; i < size; i++)
		buffer_append_char(&line, 'x');
	buffer_append_string(&line, "\",");
	return audit_append(audit, &line, wait);
}

static void note(void *data, int status)
{
	struct waiter *waiter = data;

	waiter->status = status;
	waiter->is_called = true;
	loop_stop(loop);
}

/* Append a line and wait until it is written. */
static int append_and_wait(void)
{
	struct waiter waiter = {.wait = {.written = note, .data = &waiter}};

	cr_assert_eq(append(10, &waiter.wait), 0);
	loop_run(loop, WAIT_MS);
	cr_assert(waiter.is_called);
	return waiter.status;
}

static size_t lines_of(const char *path)
{
	FILE *stream = fopen(path, "r");
	size_t n = 0;
	int c;

	cr_assert(stream, "%s", path);
	while ((c = fgetc(stream)) != EOF)
		n += c == '\n';
	fclose(stream);
	return n;
}

Test(audit, is_off_without_a_file)
{
	cr_expect_not(audit_is_on(audit));
	use(scratch_path("log"));
	cr_expect(audit_is_on(audit));
	use(NULL);
	cr_expect_not(audit_is_on(audit));
}

Test(audit, reports_a_line_that_is_written)
{
	use(scratch_path("log"));
	cr_expect_eq(append(10, NULL), 0);
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_eq(lines_of(scratch_path("log")), 2u);
	cr_expect_eq(audit_figures(audit).written, 2u);
	cr_expect_eq(audit_figures(audit).lost, 0u);
}

Test(audit, writes_what_waits_before_it_ends)
{
	use(scratch_path("log"));
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(append(100, NULL), 0);
	audit_free(audit);
	audit = NULL;
	cr_expect_eq(lines_of(scratch_path("log")), 1000u);
}

Test(audit, writes_lines_to_the_file_of_their_time)
{
	use(scratch_path("first"));
	append(10, NULL);
	use(scratch_path("second"));
	append(10, NULL);
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_eq(lines_of(scratch_path("first")), 1u);
	cr_expect_eq(lines_of(scratch_path("second")), 2u);
}

Test(audit, opens_a_file_again_that_was_moved_away)
{
	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	rename(scratch_path("log"), scratch_path("moved"));
	cr_expect_eq(append_and_wait(), 0);
	audit_reopen(audit);
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_eq(lines_of(scratch_path("moved")), 2u);
	cr_expect_eq(lines_of(scratch_path("log")), 1u);
}

Test(audit, reports_and_logs_a_device_once_to_callers_that_wait)
{
	logged_begin();
	use("/dev/full");
	cr_expect_eq(append_and_wait(), -ENOTSUP);
	cr_expect_eq(append_and_wait(), -ENOTSUP);
	cr_expect_eq(audit_figures(audit).error, -ENOTSUP);
	cr_expect_eq(audit_figures(audit).lost, 2u);
	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_str_eq(logged_end(),
		"ERROR The audit log /dev/full cannot be written: it is no regular file, "
		"which audit.required needs\n");
	cr_expect_eq(audit_figures(audit).error, 0);
}

Test(audit, logs_that_it_is_written_again)
{
	char *path = scratch_path("none/log");
	char expected[256];

	logged_begin();
	use(path);
	cr_expect_eq(append_and_wait(), -ENOENT);
	mkdir(scratch_path("none"), 0700);
	cr_expect_eq(append_and_wait(), 0);
	snprintf(expected, sizeof(expected),
		"ERROR The audit log %s cannot be written: No such file or directory\n"
		"WARN  The audit log %s is written again; lines are missing\n",
		path, path);
	cr_expect_str_eq(logged_end(), expected);
}

/* A FIFO that is full is like a disk that hangs. */
static void hang(void)
{
	cr_assert_eq(mkfifo(scratch_path("fifo"), 0600), 0);
	use(scratch_path("fifo"));
	for (int i = 0; i < 200; i++)
		cr_assert_eq(append(1000, NULL), 0);
}

Test(audit, holds_no_call_when_its_disk_hangs)
{
	uint64_t start_ns;
	int n_lost = 0;

	logged_begin();
	hang();
	start_ns = clock_thread_ns();
	for (int i = 0; i < 6000; i++)
		n_lost += append(1000, NULL) == -ENOBUFS;
	cr_expect_lt(clock_thread_ns() - start_ns, UINT64_C(5000000000));
	cr_expect_gt(n_lost, 1000);
	cr_expect_lt(n_lost, 3000, "4 MiB wait");
	cr_expect_eq(audit_figures(audit).lost, (uint64_t)n_lost);
	cr_expect(strstr(logged_end(), "is lost: its disk is slower than the calls"));
}

Test(audit, ends_with_a_disk_that_hangs)
{
	struct waiter waiter = {.wait = {.written = note, .data = &waiter}};
	uint64_t start_ms = clock_now_ms();

	hang();
	cr_expect_eq(append(10, &waiter.wait), 0);
	loop_run(loop, 50);
	cr_expect_not(waiter.is_called);
	audit_free(audit);
	audit = NULL;
	cr_expect_geq(clock_now_ms() - start_ms, AUDIT_FINISH_MS);
	cr_expect_not(waiter.is_called);
}

Test(audit, does_not_report_to_a_caller_that_has_gone)
{
	struct waiter waiter = {.wait = {.written = note, .data = &waiter}};

	use(scratch_path("log"));
	audit_forget(&waiter.wait);
	cr_expect_eq(append(10, &waiter.wait), 0);
	audit_forget(&waiter.wait);
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_not(waiter.is_called);
}

Test(audit, always_takes_one_line)
{
	struct waiter waiter = {.wait = {.written = note, .data = &waiter}};

	use(scratch_path("log"));
	cr_expect_eq(append(AUDIT_QUEUE_BYTES + 1, &waiter.wait), 0);
	loop_run(loop, WAIT_MS);
	cr_expect(waiter.is_called);
	cr_expect_eq(waiter.status, 0);
}

Test(audit, logs_that_the_end_of_its_file_was_torn)
{
	char expected[256];

	scratch_write("log", "{\"time\":\"1\",\"pre");
	logged_begin();
	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_eq(append_and_wait(), 0);
	snprintf(expected, sizeof(expected),
		"WARN  The audit log %s ended within a line, whose 16 bytes were cut off\n",
		scratch_path("log"));
	cr_expect_str_eq(logged_end(), expected);
	cr_expect_eq(lines_of(scratch_path("log")), 2u);
}

Test(audit, logs_once_that_its_file_cannot_be_renamed)
{
	char expected[256];

	cr_assert_eq(mkdir(scratch_path("log.1"), 0700), 0);
	logged_begin();
	cr_assert_eq(audit_set_file(audit, scratch_path("log"), 10), 0);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(append_and_wait(), 0);
	snprintf(expected, sizeof(expected),
		"ERROR The audit log %s cannot be renamed, and grows: Is a directory\n",
		scratch_path("log"));
	cr_expect_str_eq(logged_end(), expected);
	cr_expect_eq(lines_of(scratch_path("log")), 3u);
}

Test(audit, logs_that_it_goes_on_in_another_file)
{
	char expected[256];

	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	unlink(scratch_path("log"));
	logged_begin();
	append(10, NULL);
	cr_expect_eq(append_and_wait(), 0);
	snprintf(expected, sizeof(expected),
		"ERROR The audit log %s goes on in the file that is there now: another program has "
		"removed it or changed its size\n",
		scratch_path("log"));
	cr_expect_str_eq(logged_end(), expected);
	cr_expect_eq(lines_of(scratch_path("log")), 2u);
}

Test(audit, says_why_it_is_not_written)
{
	cr_expect_str_eq(audit_error_text(-EINVAL), "it is no audit log");
	cr_expect_str_eq(audit_error_text(-ENOENT), "No such file or directory");
}

Test(audit, loses_a_line_without_memory)
{
	static const char loss[] =
		"ERROR A line of the audit log %s is lost: Cannot allocate memory\n";
	char expected[256];

	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	logged_begin();
	for (size_t n = 0; n < 2; n++) {
		scarce_once_after(n);
		cr_expect_eq(append(10, NULL), -ENOMEM, "%zu", n);
		cr_expect(scarce_has_failed());
	}
	snprintf(expected, sizeof(expected), loss, scratch_path("log"));
	cr_expect_eq(strncmp(logged_end(), expected, strlen(expected)), 0);
	cr_expect_eq(append_and_wait(), 0);
	cr_expect_eq(audit_figures(audit).lost, 2u);
	cr_expect_eq(lines_of(scratch_path("log")), 2u);
}

Test(audit, stays_as_it_is_without_memory)
{
	struct audit *other = NULL;

	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = audit_new(loop, &other);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu", n);
		cr_expect_eq(r == 0, other != NULL);
		audit_free(take_ptr(other));
	}
	use(scratch_path("log"));
	cr_expect_eq(append_and_wait(), 0);
	for (size_t n = 0; n < 2; n++) {
		scarce_once_after(n);
		cr_expect_eq(
			audit_set_file(audit, scratch_path("other"), 1 << 20), -ENOMEM, "%zu", n);
		cr_expect(scarce_has_failed());
		cr_expect_eq(append_and_wait(), 0);
	}
	cr_expect_eq(lines_of(scratch_path("log")), 3u);
}
