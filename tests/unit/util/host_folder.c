/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/host_folder.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "../scratch.h"
#include "util/cleanup.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("TMPDIR", scratch_folder, 1);
}

TestSuite(host_folder, .init = set_up, .fini = scratch_tear_down);

/* Make the folder of another process, which is killed if @is_killed, and else waits to be. */
static char *make_beside(pid_t *ret_pid, bool is_killed)
{
	int ends[2];
	char path[384] = {0};

	cr_assert_eq(pipe(ends), 0);
	*ret_pid = fork();
	if (*ret_pid == 0) {
		char *own;

		/* Whatever becomes of the test. */
		alarm(20);
		if (host_folder_make(&own) < 0)
			_exit(1);
		dprintf(ends[1], "%s", own);
		pause();
	}
	cr_assert_gt(read(ends[0], path, sizeof(path) - 1), 0);
	close(ends[0]);
	close(ends[1]);
	if (is_killed) {
		kill(*ret_pid, SIGKILL);
		waitpid(*ret_pid, NULL, 0);
	}
	return strdup(path);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

Test(host_folder, is_made_locked_in_tmpdir_and_becomes_it)
{
	cleanup_free char *path = NULL;
	cleanup_close int lock = host_folder_make(&path);

	cr_assert_geq(lock, 0);
	cr_expect_str_eq(getenv("TMPDIR"), path);
	cr_expect_eq(strncmp(path, scratch_folder, strlen(scratch_folder)), 0);
	cr_expect_eq(fcntl(lock, F_GETFD), FD_CLOEXEC);
	host_folder_remove(path);
	cr_expect(!is_there(path));
}

Test(host_folder, cannot_be_made_where_there_is_none)
{
	cleanup_free char *path = NULL;

	setenv("TMPDIR", scratch_path("nowhere"), 1);
	cr_expect_eq(host_folder_make(&path), -ENOENT);
}

static bool is_over(void *data)
{
	(void)data;
	return true;
}

Test(host_folder, of_a_killed_process_is_removed_by_the_next_one_and_others_stay)
{
	pid_t killed_pid;
	pid_t running_pid;
	cleanup_free char *killed = make_beside(&killed_pid, true);
	cleanup_free char *running = make_beside(&running_pid, false);
	cleanup_free char *path = NULL;
	cleanup_close int lock = -1;
	char inside[400];

	cr_assert_eq(symlink(running, scratch_path("toolboxd-host-link00")), 0);
	cr_assert_eq(mkdir(scratch_path("toolboxd-host-longer0"), 0700), 0);
	cr_assert_eq(mkdir(scratch_path("toolboxd-other-abcdef"), 0700), 0);
	scratch_write("toolboxd-host-file00", "");
	snprintf(inside, sizeof(inside), "%s/below", killed);
	cr_assert_eq(mkdir(inside, 0700), 0);
	lock = host_folder_make(&path);
	cr_assert_geq(lock, 0);
	cr_expect(is_there(inside), "no host waits for that");
	host_folder_remove_left(path, is_over, NULL);
	cr_expect(is_there(inside));
	host_folder_remove_left(path, NULL, NULL);
	cr_expect(!is_there(killed));
	cr_expect(is_there(path));
	host_folder_remove(path);
	cr_expect(!is_there(path));
	cr_expect(is_there(running));
	cr_expect(is_there(scratch_path("toolboxd-host-link00")));
	cr_expect(is_there(scratch_path("toolboxd-host-longer0")));
	cr_expect(is_there(scratch_path("toolboxd-other-abcdef")));
	cr_expect(is_there(scratch_path("toolboxd-host-file00")));
	kill(running_pid, SIGKILL);
	waitpid(running_pid, NULL, 0);
}
