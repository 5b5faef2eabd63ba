/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/trace.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../scratch.h"
#include "guest.h"
#include "util/file/file.h"
#include "worker/sandbox/landlock.h"

/* The report of a host's tracer has the paths that no rule allows, and the sandbox holds all the
 * same. */

#define LIMIT 60

#define SCRATCH_BYTES 384

#define COMPUTE "{\"class\":\"compute\"}"

/* The report so far, NUL-terminated. */
static struct buffer lines;

static void set_up(void)
{
	scratch_set_up();
	scratch_write("report", "");
	scratch_write("secret", "x");
	scratch_write("mine/data", "x");
	if (landlock_abi() == 0)
		cr_skip_test("this kernel has no landlock");
}

static void tear_down(void)
{
	buffer_deinit(&lines);
	scratch_tear_down();
}

static void start(struct guest *guest, const char *sandbox, bool has_guard)
{
	const struct guest_options options = {
		.sandbox = sandbox, .trace_files = scratch_path("report"), .has_guard = has_guard};

	guest_start(guest, "probe", &options);
}

/* Write the path of @name in the scratch folder, which stays. */
static void write_path(char ret_path[SCRATCH_BYTES], const char *name)
{
	snprintf(ret_path, SCRATCH_BYTES, "%s", scratch_path(name));
}

static const char *read_report(void)
{
	buffer_reset(&lines);
	cr_assert_eq(file_read(scratch_path("report"), 1u << 20, &lines), 0);
	return buffer_terminate(&lines);
}

static int attempt_path(struct guest *guest, const char *tool, const char *path)
{
	char arguments[600];
	int error = -1;

	snprintf(arguments, sizeof(arguments), "{\"path\":\"%s\"}", path);
	sscanf(guest_call(guest, tool, arguments), "{\"result\":%d", &error);
	return error;
}

/* Return how often the report has a line about @access to @path by a rule for @name. */
static unsigned int count(const char *access, const char *path, const char *name)
{
	unsigned int n = 0;
	char line[1200];

	snprintf(line, sizeof(line), "{\"access\":\"%s\",\"path\":\"%s\",\"name\":\"%s\",", access,
		path, name);
	for (const char *at = read_report(); (at = strstr(at, line)); at++)
		n++;
	return n;
}

/* Return whether the report has @text. */
static bool has(const char *text)
{
	return strstr(read_report(), text);
}

TestSuite(trace, .init = set_up, .fini = tear_down, .timeout = LIMIT);

Test(trace, names_each_path_that_no_rule_allows_once)
{
	struct guest guest = {0};
	char path[SCRATCH_BYTES];

	start(&guest, COMPUTE, false);
	cr_expect(strstr(read_report(), "{\"traced\":true}\n") == lines.data, "%s", lines.data);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), EACCES);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/ld.so.cache"), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/no/such/file"), ENOENT);
	write_path(path, "secret");
	cr_expect_eq(attempt_path(&guest, "open_to_write", path), EACCES);
	cr_expect_eq(count("read", "/etc/passwd", "/etc/passwd"), 1, "%s", lines.data);
	cr_expect_eq(count("write", path, path), 1, "%s", lines.data);
	cr_expect(!has("/etc/ld.so.cache\"") && !has("/no/such"), "%s", lines.data);
	guest_stop(&guest);
}

Test(trace, names_the_folder_of_a_file_that_is_made_moved_or_removed)
{
	struct guest guest = {0};
	char folder[SCRATCH_BYTES];
	char path[SCRATCH_BYTES];

	start(&guest, COMPUTE, false);
	write_path(folder, "mine");
	cr_expect_eq(attempt_path(&guest, "make_file", scratch_path("mine/new")), EACCES);
	write_path(path, "mine/new");
	cr_expect_eq(count("write", path, folder), 1, "%s", lines.data);
	cr_expect_eq(attempt_path(&guest, "make_folder", scratch_path("mine/box")), EACCES);
	write_path(path, "mine/box");
	cr_expect_eq(count("write", path, folder), 1, "%s", lines.data);
	cr_expect_neq(attempt_path(&guest, "move_to_parent", scratch_path("mine/data")), 0);
	write_path(path, "mine/data");
	cr_expect_eq(count("write", path, folder), 1, "%s", lines.data);
	write_path(path, "data");
	cr_expect_eq(count("write", path, scratch_folder), 1, "%s", lines.data);
	guest_stop(&guest);
}

Test(trace, follows_links_and_the_rules_of_the_toolbox)
{
	struct guest guest = {0};
	char sandbox[600];
	char secret[SCRATCH_BYTES];

	write_path(secret, "secret");
	cr_assert_eq(symlink("../secret", scratch_path("mine/link")), 0);
	snprintf(sandbox, sizeof(sandbox), "{\"class\":\"compute\",\"read\":[\"%s\"]}",
		scratch_path("mine"));
	start(&guest, sandbox, false);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("mine/data")), 0);
	cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path("mine/link")), EACCES);
	cr_expect_eq(attempt_path(&guest, "open_to_write", scratch_path("mine/data")), EACCES);
	cr_expect_eq(count("read", secret, secret), 1, "%s", lines.data);
	cr_expect(has("mine/link\""), "as it was given: %s", lines.data);
	cr_expect_eq(count("write", scratch_path("mine/data"), scratch_path("mine/data")), 1, "%s",
		lines.data);
	guest_stop(&guest);
}

/* The host of a class with a guard, and its programs. */
Test(trace, follows_programs_and_their_working_folder)
{
	struct guest guest = {0};
	char sandbox[600];
	char script[SCRATCH_BYTES];

	snprintf(sandbox, sizeof(sandbox), "{\"class\":\"command\",\"read\":[\"%s\"]}",
		scratch_path("mine"));
	snprintf(script, sizeof(script), "#!/bin/sh\ncd %s\nexec /bin/cat mine/data secret\n",
		scratch_folder);
	scratch_write("mine/script", script);
	cr_assert_eq(chmod(scratch_path("mine/script"), 0700), 0);
	start(&guest, sandbox, true);
	cr_expect_eq(attempt_path(&guest, "run_program", "/bin/true"), 0);
	attempt_path(&guest, "run_program", scratch_path("mine/script"));
	write_path(script, "secret");
	cr_expect_eq(count("read", script, script), 1, "%s", lines.data);
	cr_expect(has("\"given\":\"secret\"") && !has("mine/data"), "%s", lines.data);
	guest_stop(&guest);
}

Test(trace, of_a_class_without_rules_says_so)
{
	struct guest guest = {0};

	start(&guest, "{\"class\":\"command\"}", true);
	cr_expect_eq(attempt_path(&guest, "open_to_read", "/etc/passwd"), 0);
	cr_expect_str_eq(read_report(),
		"{\"traced\":false,\"reason\":\"its sandbox restricts no files\"}\n");
	guest_stop(&guest);
}

Test(trace, is_bounded)
{
	struct guest guest = {0};

	start(&guest, COMPUTE, false);
	for (int i = 0; i < TRACE_LINES_MAX + 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file%d", i);
		scratch_write(name, "x");
		cr_expect_eq(attempt_path(&guest, "open_to_read", scratch_path(name)), EACCES);
	}
	read_report();
	cr_expect_str_eq(
		lines.data + lines.size - strlen("{\"more\":true}\n"), "{\"more\":true}\n");
	cr_expect_eq(count("read", scratch_path("file1"), scratch_path("file1")), 1);
	cr_expect(!has("file270"));
	guest_stop(&guest);
}

/* Return the child of @pid, or 0. */
static pid_t child_of(pid_t pid)
{
	cleanup(buffer_deinit) struct buffer children = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	cr_assert_eq(file_read(path, 4096, &children), 0);
	return (pid_t)atoi(buffer_terminate(&children));
}

Test(trace, ends_as_its_host_does)
{
	struct guest guest = {0};

	start(&guest, COMPUTE, false);
	cr_expect_str_eq(guest_call(&guest, "abort_process", "{}"), "");
	cr_expect_eq(guest.end.reason, HOST_SIGNALED);
	cr_expect_eq(guest.end.signal, SIGABRT);
	guest_stop(&guest);
}

/* Otherwise its calls would wait for ever. */
Test(trace, that_is_killed_ends_the_host)
{
	const struct timespec step = {.tv_nsec = 1000000};
	struct guest guest = {0};
	pid_t host;

	start(&guest, COMPUTE, false);
	host = child_of(host_pid(guest.host));
	cr_assert_gt(host, 0);
	kill(host_pid(guest.host), SIGKILL);
	guest_wait(&guest);
	cr_expect_eq(guest.end.signal, SIGKILL);
	for (int i = 0; kill(host, 0) == 0 && i < LIMIT * 500; i++)
		nanosleep(&step, NULL);
	cr_expect(kill(host, 0) < 0 && errno == ESRCH);
	guest_stop(&guest);
}
