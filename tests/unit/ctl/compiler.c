/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/compiler.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/header/child.h"
#include "util/cleanup.h"
#include "util/file/file.h"

TestSuite(ctl_compiler, .timeout = 120);

/* Run the compiler @script, a text for sh, in a folder of its own with a file "-DA=1". */
static int run_fake(const char *script, const struct compiler *compiler, struct buffer *output,
	struct buffer *messages)
{
	char folder[] = "/tmp/compiler-XXXXXX";
	char cc[64];
	int r;

	cr_assert(mkdtemp(folder));
	snprintf(cc, sizeof(cc), "/bin/sh %s/cc", folder);
	cr_assert_eq(file_replace(folder, "cc", script, strlen(script), 0644), 0);
	cr_assert_eq(file_replace(folder, "-DA=1", "", 0, 0644), 0);
	cr_assert_eq(chdir(folder), 0);
	setenv("CC", cc, 1);
	r = compiler_run(compiler, "-E", NULL, output, messages);
	cr_assert(unlink("cc") == 0 && unlink("-DA=1") == 0 && rmdir(folder) == 0);
	return r;
}

Test(ctl_compiler, has_its_limits)
{
	cleanup(buffer_deinit) struct buffer output = {0};
	cleanup(buffer_deinit) struct buffer messages = {0};
	const struct compiler compiler = {0};
	unsigned long seconds, kilobytes, blocks, core;

	cr_assert_eq(run_fake("ulimit -t; ulimit -v; ulimit -f; ulimit -c", &compiler, &output,
			     &messages),
		0);
	cr_assert_eq(sscanf(buffer_terminate(&output), "%lu %lu %lu %lu", &seconds, &kilobytes,
			     &blocks, &core),
		4, "%s", output.data);
	cr_expect_leq(seconds, COMPILER_SECONDS_MAX);
	cr_expect_leq(kilobytes, COMPILER_MEMORY_BYTES_MAX / 1024);
	cr_expect_leq(blocks, COMPILER_OUTPUT_BYTES_MAX / 512);
	cr_expect_eq(core, 0);
}

Test(ctl_compiler, has_its_words_as_they_are)
{
	cleanup(buffer_deinit) struct buffer output = {0};
	cleanup(buffer_deinit) struct buffer messages = {0};
	const struct compiler compiler = {.cflags = "-D* \t-DB"};

	cr_assert_eq(run_fake("echo \"$@\"", &compiler, &output, &messages), 0);
	cr_expect_str_eq(buffer_terminate(&output), "-D* -DB -E -x c -\n");
}

Test(ctl_compiler, includes_nothing_but_a_name)
{
	static const char *const names[] = {
		"stdlib.h>\n#include </etc/passwd", "a\"b.h", "a\\b.h", "a\x7f.h"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		cleanup(buffer_deinit) struct buffer output = {0};
		cleanup(buffer_deinit) struct buffer messages = {0};
		const struct compiler compiler = {.headers = &names[i], .n_headers = 1};

		cr_assert_eq(
			compiler_run(&compiler, "-E", NULL, &output, &messages), COMPILER_E_FAILED);
		cr_expect(strstr(buffer_terminate(&messages), "no #include can have the name"));
	}
}

static void expect_reason(const char *messages, const char *reason)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;
	const char *found;

	buffer_append_string(&text, messages);
	found = compiler_reason(&text, &size);
	cr_expect(size == strlen(reason) && strncmp(found, reason, size) == 0, "%.*s", (int)size,
		found);
}

Test(ctl_compiler, gives_its_reason)
{
	expect_reason("In file included from <stdin>:1:\na.h:1: error: no\nb.h: error: more\n",
		"a.h:1: error: no");
	expect_reason("\ncc: fatal error: killed", "cc: fatal error: killed");
	expect_reason("\n\nwords\nmore\n", "words");
	expect_reason("", "");
}

/* Run @script with a limit of @seconds on the clock; its processes have the end [1] of @ends as
 * output. */
static int run_child(const char *script, unsigned long seconds, const int ends[2])
{
	char *arguments[] = {"/bin/sh", "-c", (char *)script, NULL};
	const struct child_limits limits = {60, seconds, COMPILER_MEMORY_BYTES_MAX, 4096};
	const int fds[] = {STDIN_FILENO, ends[1], STDERR_FILENO};
	int status;
	int r = child_run(arguments, fds, &limits, &status);

	return r ? r : status;
}

/* Expect that no process has the end of the pipe for writing: wait until none has. */
static void expect_all_ended(int fd)
{
	char byte;

	cr_expect_eq(read(fd, &byte, 1), 0);
	close(fd);
}

Test(ctl_compiler, ends_with_all_that_it_started)
{
	int ends[2];

	/* A stopped process needs no processor time, and does not end. */
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_expect_eq(run_child("(kill -STOP $$; sleep 9999) & sleep 9999", 1, ends), CHILD_E_LATE);
	close(ends[1]);
	expect_all_ended(ends[0]);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_expect_eq(WEXITSTATUS(run_child("sleep 9999 & exit 3", 9999, ends)), 3);
	close(ends[1]);
	expect_all_ended(ends[0]);
}

/* A parent may have left its signals so. */
Test(ctl_compiler, tells_how_it_ended_where_no_one_waits_for_children)
{
	int ends[2];

	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_expect_eq(WEXITSTATUS(run_child("exit 3", 9999, ends)), 3);
	close(ends[0]);
	close(ends[1]);
}

static void expect_end_by(int number)
{
	char *arguments[] = {"/bin/sh", "-c", "echo; sleep 9999 & sleep 9999", NULL};
	const struct child_limits limits = {60, 9999, COMPILER_MEMORY_BYTES_MAX, 4096};
	int ends[2];
	int status;
	char byte;
	pid_t pid;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		child_run(arguments, (const int[]){STDIN_FILENO, ends[1], STDERR_FILENO}, &limits,
			&status);
		_exit(0);
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	kill(pid, number);
	expect_all_ended(ends[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

Test(ctl_compiler, ends_when_a_signal_ends_us)
{
	expect_end_by(SIGTERM);
	expect_end_by(SIGKILL);
}
