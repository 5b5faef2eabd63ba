/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scarce.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* More than one read takes. */
#define LONG_BYTES 200000

/* A folder of the test's own, for one file. */
static char folder[64];
static char path[96];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/toolboxd-file-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
}

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void write_file(size_t size)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cleanup_free char *bytes = malloc(size + 1);

	cr_assert_not_null(bytes);
	memset(bytes, 'x', size);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
}

TestSuite(file, .init = make_folder, .fini = remove_folder, .timeout = 10);

Test(file, is_read_whole_and_appended)
{
	cleanup(buffer_deinit) struct buffer contents = {0};

	write_file(LONG_BYTES);
	buffer_append_string(&contents, "ab");
	cr_assert_eq(file_read(path, LONG_BYTES, &contents), 0);
	cr_assert_eq(contents.size, LONG_BYTES + 2);
	cr_assert_eq(memcmp(contents.data, "abxx", 4), 0);
}

Test(file, may_be_empty)
{
	cleanup(buffer_deinit) struct buffer contents = {0};

	write_file(0);
	cr_assert_eq(file_read(path, 0, &contents), 0);
	cr_assert_eq(contents.size, 0);
}

Test(file, is_refused_when_it_is_larger_than_asked_for)
{
	cleanup(buffer_deinit) struct buffer contents = {0};

	write_file(LONG_BYTES);
	cr_assert_eq(file_read(path, LONG_BYTES - 1, &contents), -EFBIG);
	cr_assert_eq(contents.size, 0);
}

Test(file, is_refused_when_it_is_none)
{
	cleanup(buffer_deinit) struct buffer contents = {0};

	cr_assert_eq(file_read(path, 10, &contents), -ENOENT);
	cr_assert_eq(file_read(folder, 10, &contents), -EISDIR);
	cr_assert_eq(file_read("/dev/null", 10, &contents), -EINVAL);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(file_read(path, 10, &contents), -EINVAL, "and without waiting for a writer");
}

Test(file, is_bounded_by_the_buffer_as_well)
{
	cleanup(buffer_deinit) struct buffer contents = {.limit = 100};

	write_file(LONG_BYTES);
	cr_assert_eq(file_read(path, LONG_BYTES, &contents), -EMSGSIZE);
}

Test(file, descriptor_may_be_a_pipe)
{
	cleanup(buffer_deinit) struct buffer contents = {0};
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "hello", 5), 5);
	close(ends[1]);
	cr_assert_eq(file_read_fd(ends[0], 5, &contents), 0);
	cr_assert_eq(contents.size, 5);
	close(ends[0]);
}

Test(file, descriptor_is_held_to_the_size_without_knowing_it_before)
{
	cleanup(buffer_deinit) struct buffer contents = {0};
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "hello!", 6), 6);
	cr_assert_eq(file_read_fd(ends[0], 5, &contents), -EFBIG, "with the pipe still open");
	close(ends[0]);
	close(ends[1]);
	cr_assert_eq(file_read_fd(-1, 5, &contents), -EBADF);
}

Test(file, errors_of_the_machine_are_told_from_those_of_the_file)
{
	cr_expect(file_error_is_shortage(-EMFILE));
	cr_expect(file_error_is_shortage(-ENFILE));
	cr_expect(file_error_is_shortage(-ENOMEM));
	cr_expect_not(file_error_is_shortage(-ENOENT));
	cr_expect_not(file_error_is_shortage(0));
}

/* Return whether no other file can have the number of a standard file that was closed. */
static bool are_numbers_held(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	file_hold_standard();
	return fcntl(STDIN_FILENO, F_GETFD) == 0 && write(STDOUT_FILENO, "x", 1) < 0 &&
	       errno == EBADF && open("/dev/null", O_RDONLY) > STDERR_FILENO;
}

Test(file, holds_the_numbers_of_standard_files_that_are_closed)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(are_numbers_held() ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(file, path_is_the_folder_and_the_name)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup_free char *whole = file_path("/a", "name");

		if (scarce_has_failed())
			cr_expect_null(whole);
		else
			cr_expect_str_eq(whole, "/a/name");
	}
}
