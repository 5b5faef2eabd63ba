/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/landlock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "scarce.h"
#include "worker/sandbox/syscalls.h"

/* The table of classes on older kernels: a newer right is never asked of them. */

#define LIMIT 300

static const struct landlock_places no_places;

TestSuite(landlock, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = LIMIT);

/* The exit status of the child that entered the sandbox. */
enum outcome {
	AS_TOLD,
	NOT_ENTERED,
	READ_A_SECRET,
	CUT_A_SECRET,
	MADE_A_FILE,
	HAS_NO_LIBRARIES,
	HAS_NO_OWN_FILES,
};

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static enum outcome look_around(void)
{
	if (opens(scratch_path("secret"), O_RDONLY) || opens("/etc/passwd", O_RDONLY))
		return READ_A_SECRET;
	if (truncate(scratch_path("secret"), 0) == 0)
		return CUT_A_SECRET;
	if (opens(scratch_path("new"), O_WRONLY | O_CREAT))
		return MADE_A_FILE;
	if (!opens("/etc/ld.so.cache", O_RDONLY) || !opens("/dev/null", O_RDWR))
		return HAS_NO_LIBRARIES;
	if (!opens(scratch_path("own/new"), O_WRONLY | O_CREAT) ||
		!opens(scratch_path("own/new"), O_RDWR | O_TRUNC) ||
		!opens(scratch_path("own"), O_RDONLY | O_DIRECTORY))
		return HAS_NO_OWN_FILES;
	return AS_TOLD;
}

/* Never returns: a process cannot leave its sandbox. */
static void enter_and_look(int abi, enum sandbox_class class)
{
	char *own = scratch_path("own");
	const struct toolbox_sandbox sandbox = {.class = class, .write = {.list = {&own, 1}}};
	struct landlock_failure failure;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		landlock_enter(abi, &sandbox, &no_places, NULL, &failure) != 0 ||
		syscalls_restrict(&sandbox, abi >= 3, NULL) != 0)
		_exit(NOT_ENTERED);
	_exit((int)look_around());
}

static int outcome_of(int abi, enum sandbox_class class)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		enter_and_look(abi, class);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "ABI %d: signal %d", abi, WTERMSIG(status));
	return WEXITSTATUS(status);
}

Test(landlock, is_used_as_far_as_each_abi_goes)
{
	int newest = landlock_abi();

	if (newest == 0)
		cr_skip_test("this kernel has no landlock");
	scratch_write("secret", "x");
	scratch_write("own/data", "x");
	for (int abi = 1; abi <= newest && abi <= 7; abi++) {
		cr_expect_eq(outcome_of(abi, SANDBOX_COMPUTE), AS_TOLD, "ABI %d, compute: %d", abi,
			outcome_of(abi, SANDBOX_COMPUTE));
		cr_expect_eq(outcome_of(abi, SANDBOX_NET), AS_TOLD, "ABI %d, net: %d", abi,
			outcome_of(abi, SANDBOX_NET));
	}
}

/* ── fences ──────────────────────────────────────────────────────────────────────────────────── */

/* Return the first mistake of a process in which root is opened but for its fences, or NULL. */
static const char *look_at_fences(void)
{
	if (opens(scratch_path("root/.ssh/key"), O_RDONLY) ||
		opens(scratch_path("root/deep/hidden"), O_RDONLY))
		return "a hidden file is read";
	if (!opens(scratch_path("root/.profile"), O_RDONLY))
		return "a kept file is not read";
	if (opens(scratch_path("root/.profile"), O_WRONLY) ||
		unlink(scratch_path("root/.profile")) == 0)
		return "a kept file is written";
	if (rename(scratch_path("root/.ssh"), scratch_path("root/notes/stolen")) == 0)
		return "a hidden folder is moved";
	if (!opens(scratch_path("root/notes/new"), O_WRONLY | O_CREAT) ||
		!opens(scratch_path("root/deep/a"), O_RDWR))
		return "what has no fence is closed";
	if (opens(scratch_path("root/new"), O_WRONLY | O_CREAT))
		return "a folder with a fence takes new entries";
	if (!opens(scratch_path("root"), O_RDONLY | O_DIRECTORY))
		return "the names beside a fence are not read";
	if (opens(scratch_path("outside"), O_RDONLY))
		return "a link inside leads out";
	return NULL;
}

/* Enter with memory short at each allocation in turn: no fence is lost for it. Never returns. */
static void enter_fences(void)
{
	char *root = scratch_path("root");
	char *hidden[] = {scratch_path("root/.ssh"), scratch_path("root/deep/hidden"),
		scratch_path("root/absent")};
	char *kept[] = {scratch_path("alias/.profile")};
	const struct toolbox_sandbox sandbox = {
		.write = {.list = {&root, 1}},
		.hidden = {.list = {hidden, 3}},
		.kept = {.list = {kept, 1}},
	};
	struct landlock_failure failure;
	const char *mistake;
	int r = -ENOMEM;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(NOT_ENTERED);
	for (size_t n = 0; r != 0 && scarce_once_after(n); n++)
		r = landlock_enter(landlock_abi(), &sandbox, &no_places, NULL, &failure);
	scarce_has_failed();
	if (r != 0)
		_exit(NOT_ENTERED);
	mistake = look_at_fences();
	if (mistake)
		fprintf(stderr, "%s\n", mistake);
	_exit(mistake ? 2 : 0);
}

Test(landlock, keeps_the_fences_inside_of_a_path)
{
	int status;
	pid_t pid;

	if (landlock_abi() == 0)
		cr_skip_test("this kernel has no landlock");
	scratch_write("root/.ssh/key", "x");
	scratch_write("root/.profile", "x");
	scratch_write("root/notes/a", "x");
	scratch_write("root/deep/a", "x");
	scratch_write("root/deep/hidden", "x");
	scratch_write("outside", "x");
	cr_assert_eq(symlink("root", scratch_path("alias")), 0);
	cr_assert_eq(symlink("../outside", scratch_path("root/link")), 0);
	pid = fork();
	if (pid == 0)
		enter_fences();
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "its mistake is on stderr");
}

/* ── commands ────────────────────────────────────────────────────────────────────────────────── */

/* The first version that restricts signals. */
#define ABI_SCOPE 6

/* Return the first mistake of a process of class command, or NULL. */
static const char *look_at_command(int abi)
{
	int status;
	pid_t pid;

	if (opens("/etc/passwd", O_RDONLY))
		return "a hidden file in a folder of the system is read";
	if (!opens("/etc/group", O_RDONLY) || !opens("/etc", O_RDONLY | O_DIRECTORY) ||
		!opens("/usr/lib", O_RDONLY | O_DIRECTORY) || !opens("/dev/null", O_RDWR))
		return "a folder of the system is closed";
	if (abi >= ABI_SCOPE && kill(getppid(), 0) == 0)
		return "a process outside is signalled";
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	if (kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid)
		return "its own child is not signalled";
	return NULL;
}

/* Never returns. */
static void enter_command(int abi)
{
	char *hidden = strdup("/etc/passwd");
	char *own = scratch_folder;
	const struct toolbox_sandbox sandbox = {
		.class = SANDBOX_COMMAND,
		.write = {.is_given = true, .list = {&own, 1}},
		.hidden = {.list = {&hidden, 1}},
	};
	struct landlock_failure failure;
	const char *mistake;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		landlock_enter(abi, &sandbox, &no_places, NULL, &failure) != 0)
		_exit(NOT_ENTERED);
	mistake = look_at_command(abi);
	if (mistake)
		fprintf(stderr, "%s\n", mistake);
	_exit(mistake ? 2 : 0);
}

Test(landlock, keeps_commands_from_what_is_hidden_and_from_others)
{
	int abi = landlock_abi();
	int status;
	pid_t pid;

	if (abi == 0)
		cr_skip_test("this kernel has no landlock");
	pid = fork();
	if (pid == 0)
		enter_command(abi > ABI_SCOPE ? ABI_SCOPE : abi);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "its mistake is on stderr");
}

Test(landlock, names_the_path_that_is_not_there)
{
	char *paths[] = {scratch_folder, scratch_path("nowhere")};
	const struct toolbox_sandbox sandbox = {.read = {.list = {paths, 2}}};
	struct landlock_failure failure;
	int abi = landlock_abi();

	if (abi == 0)
		cr_skip_test("this kernel has no landlock");
	cr_assert_eq(landlock_enter(abi, &sandbox, &no_places, NULL, &failure), LANDLOCK_E_PATH);
	cr_expect_str_eq(failure.list, "read");
	cr_expect_eq(failure.index, 1);
	cr_expect_eq(failure.error, -ENOENT);
	cr_expect_str_eq(failure.path, paths[1]);
	cr_expect(opens("/etc/passwd", O_RDONLY), "nothing was restricted");
}
