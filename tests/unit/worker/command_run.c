/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/run.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

/* One run of a line of a shell, in this process. */

static struct command_progress progress;
static struct command_run run;
static int log_fd; /* in the place of stderr */

static void set_up(void)
{
	log_fd = memfd_create("log", MFD_CLOEXEC);
	run = (struct command_run){.program = "/bin/sh",
		.input = "",
		.output_max = 1000,
		.errors_max = 1000,
		.patience_ms = 60000,
		.progress = &progress};
}

static void tear_down(void)
{
	command_run_deinit(&run);
	command_progress_deinit(&progress);
	close(log_fd);
}

TestSuite(command_run, .init = set_up, .fini = tear_down, .timeout = 60);

/* Run @line, with stderr in the log. */
static int run_line(const char *line)
{
	char *const arguments[] = {"sh", "-c", (char *)line, NULL};
	char *const environment[] = {"PATH=/usr/bin:/bin", "A=b", NULL};
	int before = dup(STDERR_FILENO);
	int r;

	run.arguments = arguments;
	run.environment = environment;
	cr_assert_eq(ftruncate(log_fd, 0), 0);
	lseek(log_fd, 0, SEEK_SET);
	dup2(log_fd, STDERR_FILENO);
	r = command_run(&run);
	dup2(before, STDERR_FILENO);
	close(before);
	return r;
}

static void expect_output(const char *output)
{
	cr_expect(run.output.size == strlen(output) &&
			  memcmp(run.output.data ? run.output.data : "", output, run.output.size) ==
				  0,
		"%.*s, not: %s", (int)run.output.size, run.output.data, output);
}

/* Expect the last bytes of stderr, and the first ones, which are logged. */
static void expect_errors(const char *last, const char *logged)
{
	char bytes[4096];
	size_t size;
	const char *errors = command_run_errors(&run, &size);
	ssize_t n = pread(log_fd, bytes, sizeof(bytes), 0);

	cr_expect(size == strlen(last) && memcmp(errors, last, size) == 0, "%.*s, not: %s",
		(int)size, errors, last);
	cr_expect(n == (ssize_t)strlen(logged) && memcmp(bytes, logged, (size_t)n) == 0,
		"%.*s, not: %s", (int)n, bytes, logged);
}

Test(command_run, gives_its_input_and_takes_its_output)
{
	run.input = "some input";
	run.input_size = 10;
	run.cwd = "/usr";
	cr_expect_eq(run_line("cat; pwd; echo $A $0; exit 3"), 0);
	expect_output("some input/usr\nb sh\n");
	expect_errors("", "");
	cr_expect(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 3);
	cr_expect_eq(run_line("kill -9 $$"), 0);
	expect_output("");
	cr_expect(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL);
}

Test(command_run, gives_an_input_of_any_size_at_once)
{
	const size_t size = 3u << 20;
	cleanup_free char *input = malloc(size);

	cr_assert_not_null(input);
	memset(input, 'x', size);
	run.input = input;
	run.input_size = size;
	cr_expect_eq(run_line("wc -c | tr -d ' '"), 0);
	expect_output("3145728\n");
}

Test(command_run, has_at_most_as_much_output_as_it_may)
{
	run.output_max = 4;
	cr_expect_eq(run_line("printf 1234"), 0);
	cr_expect_not(run.is_too_large);
	expect_output("1234");
	cr_expect_eq(run_line("printf 12345; sleep 1000"), 0);
	cr_expect(run.is_too_large, "and it is killed at once");
	cr_expect(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL);
	cr_expect_eq(run_line("printf 1"), 0);
	cr_expect_not(run.is_too_large, "another run");
	expect_output("1");
}

Test(command_run, logs_the_first_bytes_of_stderr_and_keeps_the_last)
{
	run.errors_max = 4;
	cr_expect_eq(run_line("printf 1234 >&2"), 0);
	expect_errors("1234", "1234\n");
	cr_expect_eq(run_line("printf '123\\n' >&2"), 0);
	expect_errors("123\n", "123\n");
	cr_expect_eq(run_line("printf 12345 >&2"), 0);
	expect_errors("2345", "1234\n");
	cr_expect_eq(run_line("for i in 1 2 3 4 5 6 7 8 9; do printf $i >&2; done"), 0);
	expect_errors("6789", "1234\n");
	cr_expect_eq(run_line("head -c 300000 /dev/zero | tr '\\0' x >&2; printf last >&2"), 0);
	expect_errors("last", "xxxx\n");
}

Test(command_run, passes_the_lines_of_its_progress_on)
{
	progress.wire = -1;
	cr_expect_eq(run_line("echo no >&3; echo done"), 0);
	expect_output("done\n");
	expect_errors("", "progress: ignored a line that is not {\"progress\": NUMBER, \"text\": "
			  "STRING}\n");
}

Test(command_run, ends_with_its_program_when_it_has_closed_its_output)
{
	cr_expect_eq(run_line("exec >&- 2>&- 3>&-; exit 5"), 0);
	cr_expect(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 5);
	cr_expect_eq(run_line("exec 2>&- 3>&-; echo a"), 0);
	expect_output("a\n");
}

Test(command_run, kills_the_group_that_a_program_has_left)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	cr_expect_eq(run_line("sleep 1000 >/dev/null 2>&1 3>&1 & echo a"), 0);
	expect_output("a\n");
	close(ends[1]);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "one of the group holds the pipe");
	close(ends[0]);
}

Test(command_run, is_not_started_where_it_cannot_be)
{
	run.cwd = "/none/such";
	cr_expect_eq(run_line("exit 0"), -ENOENT);
	run.cwd = NULL;
	run.program = "/none/such";
	cr_expect_eq(run_line("exit 0"), -ENOENT);
	run.program = "/etc/passwd";
	cr_expect_eq(run_line("exit 0"), -EACCES);
	expect_output("");
}

Test(command_run, leaves_no_descriptor_open)
{
	int next = dup(0);

	close(next);
	cr_expect_eq(run_line("echo a; echo b >&2"), 0);
	run.program = "/none/such";
	cr_expect_eq(run_line("exit 0"), -ENOENT);
	cr_expect_eq(dup(0), next);
}

Test(command_run, frees_large_buffers)
{
	run.output_max = 1u << 20;
	run.errors_max = 1u << 20;
	cr_expect_eq(run_line("echo a; echo b >&2"), 0);
	command_run_trim(&run);
	cr_expect_gt(run.output.capacity, 0);
	cr_expect_eq(run_line("head -c 600000 /dev/zero; head -c 600000 /dev/zero >&2"), 0);
	cr_expect_eq(run.output.size, 600000);
	command_run_trim(&run);
	cr_expect_eq(run.output.capacity, 0);
	cr_expect_eq(run.errors.capacity, 0);
}
