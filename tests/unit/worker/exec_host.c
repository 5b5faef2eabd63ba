/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/exec_host.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scarce.h"
#include "util/cleanup.h"
#include "wire/wire.h"

/* The LOAD frame and the environment on the way from a host to a program in its place. */

/* ── the environment ─────────────────────────────────────────────────────────────────────────── */

#define SET(text) exec_host_set_environment(text, sizeof(text) - 1)

Test(exec_host, sets_the_variables_of_an_environment)
{
	setenv("UNIT_A", "old", 1);
	unsetenv("UNIT_C");
	cr_expect_eq(SET("UNIT_A=1\0UNIT_B=2=3\0UNIT_D=\0\0UNIT_C=x\0"), 0);
	cr_expect_str_eq(getenv("UNIT_A"), "1");
	cr_expect_str_eq(getenv("UNIT_B"), "2=3");
	cr_expect_str_eq(getenv("UNIT_D"), "");
	cr_expect_null(getenv("UNIT_C"), "after its end");
	cr_expect_eq(SET("\0"), 0, "an environment without variables");
}

Test(exec_host, sets_no_variables_of_anything_else)
{
	cr_expect_eq(SET(""), -EPROTO);
	cr_expect_eq(SET("UNIT_A=1"), -EPROTO, "without its NUL");
	cr_expect_eq(SET("UNIT_A\0\0"), -EPROTO, "without a value");
	cr_expect_eq(SET("UNIT_B=1\0UNIT_A\0\0"), -EPROTO);
}

Test(exec_host, sets_no_variable_without_memory)
{
	scarce_once_after(0);
	cr_expect_eq(SET("UNIT_A=1\0\0"), -ENOMEM);
	cr_expect(scarce_has_failed());
}

/* ── the LOAD frame ──────────────────────────────────────────────────────────────────────────── */

static const char frame[] = "{\"kind\":\"python\"}";
static const struct driver_load load = {.text = frame, .text_size = sizeof(frame) - 1};

/* Expect @condition in a process of its own, where descriptors have the numbers of a host. */
static void expect_in_child(int (*run)(void))
{
	pid_t child = fork();
	int status = -1;

	cr_assert_geq(child, 0);
	if (child == 0) {
		fcntl(STDIN_FILENO, F_DUPFD, 16);
		close_range(WIRE_FD, 15, 0);
		if (dup3(STDIN_FILENO, WIRE_FD, O_CLOEXEC) != WIRE_FD)
			_exit(100);
		_exit(run());
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "check %d failed",
		WEXITSTATUS(status));
}

/* Return the line of the first false condition. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ % 256;                                                     \
	} while (0)

/* Whether LOAD_FD, which another program has, too, is @text from its place on. */
static bool has_text(const char *text)
{
	char bytes[256];
	ssize_t n = read(LOAD_FD, bytes, sizeof(bytes));

	return n == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)n) == 0;
}

static int prepare(void)
{
	cleanup(buffer_deinit) struct buffer rest = {0};

	CHECK(exec_host_prepare(&load, &rest) == 0);
	CHECK(fcntl(WIRE_FD, F_GETFD) == 0 && fcntl(LOAD_FD, F_GETFD) == 0);
	CHECK(has_text(frame));
	buffer_append_string(&rest, "\nfile\nimport x");
	/* Its place is taken now. */
	CHECK(exec_host_prepare(&load, &rest) == 0);
	CHECK(fcntl(WIRE_FD, F_GETFD) == 0 && fcntl(LOAD_FD, F_GETFD) == 0);
	CHECK(has_text("{\"kind\":\"python\"}\nfile\nimport x"));
	CHECK(fcntl(LOAD_FD + 1, F_GETFD) == -1);
	return 0;
}

Test(exec_host, gives_the_frame_and_the_rest_to_an_interpreter, .timeout = 60)
{
	expect_in_child(prepare);
}

static int hide(void)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	setenv("UNIT_A", "1", 1);
	setenv("UNIT_B", "two\nlines", 1);
	CHECK(exec_host_hide(&load) == 0);
	CHECK(fcntl(WIRE_FD, F_GETFD) == 0 && fcntl(LOAD_FD, F_GETFD) == 0);
	CHECK(fcntl(LOAD_FD + 1, F_GETFD) == -1 && fcntl(LOAD_FD + 2, F_GETFD) == -1);
	setenv("UNIT_A", "other", 1);
	unsetenv("UNIT_B");
	CHECK(exec_host_receive(&text) == 0);
	CHECK(text.size == load.text_size && memcmp(text.data, frame, text.size) == 0);
	CHECK(strcmp(getenv("UNIT_A"), "1") == 0);
	CHECK(getenv("UNIT_B") && strcmp(getenv("UNIT_B"), "two\nlines") == 0);
	CHECK(fcntl(LOAD_FD, F_GETFD) == -1);
	CHECK(exec_host_receive(&text) == -EBADF);
	return 0;
}

Test(exec_host, hides_the_frame_and_the_environment_on_their_way, .timeout = 60)
{
	expect_in_child(hide);
}

static int hide_nothing(void)
{
	const struct driver_load empty = {.text = "", .text_size = 0};
	cleanup(buffer_deinit) struct buffer text = {0};

	environ = (char *[]){NULL};
	CHECK(exec_host_hide(&empty) == 0);
	CHECK(exec_host_receive(&text) == 0);
	CHECK(text.size == 0 && !*environ);
	return 0;
}

Test(exec_host, may_have_no_variables, .timeout = 60)
{
	expect_in_child(hide_nothing);
}

Test(exec_host, keeps_only_the_options_of_sanitizers_in_the_open)
{
	setenv("UNIT_SECRET", "x", 1);
	for (char *const *entry = exec_host_environment(); *entry; entry++)
		cr_expect(strstr(*entry, "SAN_OPTIONS="), "%s", *entry);
}

/* ── files beside the program ────────────────────────────────────────────────────────────────── */

Test(exec_host, finds_files_beside_its_program)
{
	char path[PATH_MAX];
	char self[PATH_MAX];
	char name[PATH_MAX + 1];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t folder;

	cr_assert_gt(size, 0);
	self[size] = '\0';
	folder = (size_t)(strrchr(self, '/') + 1 - self);
	cr_expect_eq(exec_host_find(self + folder, X_OK, path), 0);
	cr_expect_str_eq(path, self);
	cr_expect_eq(exec_host_find("no-such-program", R_OK, path), -ENOENT);
	memset(name, 'x', sizeof(name));
	name[PATH_MAX - folder] = '\0';
	cr_expect_eq(exec_host_find(name, R_OK, path), -ENAMETOOLONG, "with its NUL");
	name[PATH_MAX - folder - 1] = '\0';
	cr_expect_eq(exec_host_find(name, R_OK, path), -ENAMETOOLONG, "a name has 255 bytes");
	cr_expect_eq(strlen(path), PATH_MAX - 1, "but it fits");
}
