/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/trace_calls.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../scratch.h"
#include "worker/sandbox/landlock.h"

/* System calls of this process, as a tracer reads them: each path with the rights that it needs. */

#define READ_FILE  LANDLOCK_ACCESS_FS_READ_FILE
#define READ_DIR   LANDLOCK_ACCESS_FS_READ_DIR
#define WRITE_FILE LANDLOCK_ACCESS_FS_WRITE_FILE
#define TRUNCATE   LANDLOCK_ACCESS_FS_TRUNCATE
#define MAKE       LANDLOCK_ACCESS_FS_MAKE_REG
#define REMOVE     LANDLOCK_ACCESS_FS_REMOVE_FILE

static int folder_fd;
static struct trace_use uses[TRACE_USES_MAX];

static void set_up(void)
{
	scratch_set_up();
	scratch_write("file", "x");
	scratch_write("sub/other", "x");
	cr_assert_eq(symlink("file", scratch_path("link")), 0);
	cr_assert_eq(chdir(scratch_folder), 0);
	folder_fd = open(scratch_path("sub"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(folder_fd, 0);
}

static void tear_down(void)
{
	close(folder_fd);
	scratch_tear_down();
}

TestSuite(trace_calls, .init = set_up, .fini = tear_down, .timeout = 60);

/* Read the call @number with these arguments. Return the number of its uses. */
static size_t read_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const struct seccomp_notif call = {
		.pid = (uint32_t)getpid(), .data = {.nr = (int)number, .args = {a, b, c, d}}};
	size_t n = 0;

	memset(uses, 0, sizeof(uses));
	cr_expect_eq(trace_calls_read(&call, uses, &n), 0, "call %ld", number);
	return n;
}

#define TEXT(text) ((uint64_t)(uintptr_t)(text))
#define HERE       ((uint64_t)(int64_t)AT_FDCWD)

/* Expect the use @at: these rights at @place for @path, both in the scratch folder. */
static void expect_use(size_t at, uint64_t rights, const char *path, const char *place)
{
	cr_expect_eq(uses[at].rights, rights, "%s: %#lx", uses[at].given,
		(unsigned long)uses[at].rights);
	if (rights == 0)
		return;
	cr_expect_str_eq(uses[at].path, scratch_path(path), "%s", uses[at].path);
	cr_expect_str_eq(uses[at].place, *place ? scratch_path(place) : scratch_folder, "%s",
		uses[at].place);
}

static void expect_open(const char *path, int flags, uint64_t rights, const char *used)
{
	cr_expect_eq(read_call(SYS_openat, HERE, TEXT(path), (uint64_t)flags, 0), 1);
	cr_expect_str_eq(uses[0].given, path);
	expect_use(0, rights, used, used);
}

Test(trace_calls, know_the_rights_of_an_open)
{
	expect_open("file", O_RDONLY, READ_FILE, "file");
	expect_open("file", O_WRONLY, WRITE_FILE, "file");
	expect_open("file", O_RDWR, READ_FILE | WRITE_FILE, "file");
	expect_open("file", O_WRONLY | O_TRUNC, WRITE_FILE | TRUNCATE, "file");
	expect_open("file", O_RDONLY | O_CREAT, READ_FILE, "file");
	expect_open("file", O_RDWR | O_CREAT | O_EXCL, 0, "");
	expect_open("file", O_PATH, 0, "");
	expect_open("sub", O_RDONLY, READ_DIR, "sub");
	expect_open("link", O_RDONLY, READ_FILE, "file");
	expect_open("link", O_RDONLY | O_NOFOLLOW, READ_FILE, "link");
	expect_open("./sub/../file", O_RDONLY, READ_FILE, "file");
	expect_open("none", O_RDWR, 0, "");
	expect_open("none/none", O_RDWR | O_CREAT, 0, "");
	expect_open("", O_RDONLY, 0, "");
}

Test(trace_calls, know_the_folder_of_a_file_that_an_open_makes)
{
	cr_expect_eq(read_call(SYS_openat, HERE, TEXT("new"), O_WRONLY | O_CREAT, 0), 1);
	expect_use(0, WRITE_FILE | MAKE, "new", "");
	cr_expect_eq(read_call(SYS_openat, (uint64_t)folder_fd, TEXT("new"),
			     O_RDWR | O_CREAT | O_EXCL | O_TRUNC, 0),
		1);
	expect_use(0, READ_FILE | WRITE_FILE | TRUNCATE | MAKE, "sub/new", "sub");
}

Test(trace_calls, know_where_a_path_begins)
{
	char proc[64];

	cr_expect_eq(read_call(SYS_openat, (uint64_t)folder_fd, TEXT("other"), O_RDONLY, 0), 1);
	expect_use(0, READ_FILE, "sub/other", "sub/other");
	cr_expect_eq(
		read_call(SYS_openat, (uint64_t)folder_fd, TEXT(scratch_path("file")), O_RDONLY, 0),
		1);
	expect_use(0, READ_FILE, "file", "file");
	expect_open("/proc/self/cwd/file", O_RDONLY, READ_FILE, "file");
	expect_open("/proc/thread-self/cwd/file", O_RDONLY, READ_FILE, "file");
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d/other", folder_fd);
	expect_open(proc, O_RDONLY, READ_FILE, "sub/other");
	expect_open("/proc/selfish", O_RDONLY, 0, "");
}

Test(trace_calls, read_the_flags_of_openat2_from_memory)
{
	const struct open_how how = {.flags = O_RDWR | O_TRUNC};
	const struct seccomp_notif call = {.pid = (uint32_t)getpid(),
		.data = {.nr = SYS_openat2, .args = {HERE, TEXT("file"), 8, sizeof(how)}}};
	size_t n;

	cr_expect_eq(read_call(SYS_openat2, HERE, TEXT("file"), TEXT(&how), sizeof(how)), 1);
	expect_use(0, READ_FILE | WRITE_FILE | TRUNCATE, "file", "file");
	cr_expect_eq(trace_calls_read(&call, uses, &n), -EFAULT);
}

Test(trace_calls, know_what_is_made_moved_and_removed)
{
	cr_expect_eq(read_call(SYS_mkdirat, HERE, TEXT("new/"), 0, 0), 1);
	expect_use(0, MAKE, "new", "");
	cr_expect_eq(read_call(SYS_mkdirat, HERE, TEXT("sub"), 0, 0), 1);
	expect_use(0, 0, "", "");
	cr_expect_eq(read_call(SYS_mknodat, (uint64_t)folder_fd, TEXT("new"), 0, 0), 1);
	expect_use(0, MAKE, "sub/new", "sub");
	cr_expect_eq(read_call(SYS_unlinkat, HERE, TEXT("link"), 0, 0), 1);
	expect_use(0, REMOVE, "link", "");
	cr_expect_eq(read_call(SYS_unlinkat, HERE, TEXT("none"), 0, 0), 1);
	expect_use(0, 0, "", "");
	cr_expect_eq(
		read_call(SYS_linkat, HERE, TEXT("file"), (uint64_t)folder_fd, TEXT("new")), 1);
	expect_use(0, MAKE, "sub/new", "sub");
	cr_expect_eq(
		read_call(SYS_symlinkat, TEXT("file"), (uint64_t)folder_fd, TEXT("new"), 0), 1);
	expect_use(0, MAKE, "sub/new", "sub");
	cr_expect_eq(read_call(SYS_truncate, TEXT("link"), 0, 0, 0), 1);
	expect_use(0, TRUNCATE, "file", "file");
	cr_expect_eq(read_call(SYS_truncate, TEXT("none"), 0, 0, 0), 1);
	expect_use(0, 0, "", "");
}

Test(trace_calls, know_both_names_of_a_move)
{
	cr_expect_eq(
		read_call(SYS_renameat2, HERE, TEXT("file"), (uint64_t)folder_fd, TEXT("new")), 2);
	expect_use(0, REMOVE, "file", "");
	expect_use(1, MAKE, "sub/new", "sub");
	cr_expect_eq(
		read_call(SYS_renameat2, HERE, TEXT("file"), (uint64_t)folder_fd, TEXT("other")),
		2);
	expect_use(0, REMOVE, "file", "");
	expect_use(1, MAKE | REMOVE, "sub/other", "sub");
}

#ifdef SYS_open
Test(trace_calls, know_the_calls_without_a_folder)
{
	cr_expect_eq(read_call(SYS_open, TEXT("file"), O_WRONLY, 0, 0), 1);
	expect_use(0, WRITE_FILE, "file", "file");
	cr_expect_eq(read_call(SYS_creat, TEXT("file"), 0, 0, 0), 1);
	expect_use(0, WRITE_FILE | TRUNCATE, "file", "file");
	cr_expect_eq(read_call(SYS_creat, TEXT("new"), 0, 0, 0), 1);
	expect_use(0, WRITE_FILE | TRUNCATE | MAKE, "new", "");
	cr_expect_eq(read_call(SYS_mkdir, TEXT("new"), 0, 0, 0), 1);
	expect_use(0, MAKE, "new", "");
	cr_expect_eq(read_call(SYS_mknod, TEXT("new"), 0, 0, 0), 1);
	expect_use(0, MAKE, "new", "");
	cr_expect_eq(read_call(SYS_rmdir, TEXT("sub"), 0, 0, 0), 1);
	expect_use(0, REMOVE, "sub", "");
	cr_expect_eq(read_call(SYS_unlink, TEXT("file"), 0, 0, 0), 1);
	expect_use(0, REMOVE, "file", "");
	cr_expect_eq(read_call(SYS_rename, TEXT("file"), TEXT("sub/new"), 0, 0), 2);
	expect_use(0, REMOVE, "file", "");
	expect_use(1, MAKE, "sub/new", "sub");
	cr_expect_eq(read_call(SYS_link, TEXT("file"), TEXT("new"), 0, 0), 1);
	expect_use(0, MAKE, "new", "");
	cr_expect_eq(read_call(SYS_symlink, TEXT("file"), TEXT("new"), 0, 0), 1);
	expect_use(0, MAKE, "new", "");
}
#endif

Test(trace_calls, know_no_other_call)
{
	size_t n;
	const int *numbers = trace_calls_numbers(&n);

	cr_expect_eq(read_call(SYS_getpid, TEXT("file"), TEXT("file"), 0, 0), 0);
	cr_expect_gt(n, 8);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			cr_expect_neq(numbers[i], numbers[k]);
	cr_expect_eq(read_call(SYS_openat, HERE, 8, 0, 0), 1, "no text is there");
	expect_use(0, 0, "", "");
}

/* The page after the end of a path may not be there. */
Test(trace_calls, read_a_path_up_to_its_end)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = pages + 2 * page;

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(mprotect(end, page, PROT_NONE), 0);
	memcpy(end - 5, "file", 5);
	expect_open(end - 5, O_RDONLY, READ_FILE, "file");
	memset(pages, '/', 2 * page);
	memcpy(pages + page - 10, scratch_folder, 10);
	strcpy(pages + page - 2, "./file");
	expect_open(pages + page - 2, O_RDONLY, READ_FILE, "file");
	memset(pages, '/', 2 * page);
	cr_expect_eq(read_call(SYS_openat, HERE, TEXT(end - PATH_MAX), O_RDONLY, 0), 1);
	expect_use(0, 0, "", "");
	munmap(pages, 3 * page);
}
