/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/trace_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "worker/sandbox/landlock.h"

#define PAGE_BYTES 4096u

/* The effect of a call on a path. */
enum effect {
	NOTHING,
	OPENED,   /* by the flags at the third place */
	OPENED_2, /* by a struct open_how there */
	CREATED,
	TRUNCATED,
	MADE,
	REMOVED,
	REPLACED, /* made, and removed if it is there */
};

/* The argument of the folder, for a call without one. */
#define NO_FOLDER (-1)

/* The places of the arguments: a folder's descriptor, then a path, then flags. */
struct name {
	enum effect effect;
	int folder;
	unsigned int path;
	unsigned int flags;
};

struct call {
	int number;
	struct name names[TRACE_USES_MAX];
};

/* Newer architectures have only the calls with a folder. */
static const struct call calls[] = {
	{SYS_openat, {{OPENED, 0, 1, 2}}},
	{SYS_openat2, {{OPENED_2, 0, 1, 2}}},
	{SYS_truncate, {{TRUNCATED, NO_FOLDER, 0, 0}}},
	{SYS_mkdirat, {{MADE, 0, 1, 0}}},
	{SYS_mknodat, {{MADE, 0, 1, 0}}},
	{SYS_unlinkat, {{REMOVED, 0, 1, 0}}},
	{SYS_renameat2, {{REMOVED, 0, 1, 0}, {REPLACED, 2, 3, 0}}},
	{SYS_linkat, {{MADE, 2, 3, 0}}},
	{SYS_symlinkat, {{MADE, 1, 2, 0}}},
#ifdef SYS_renameat
	{SYS_renameat, {{REMOVED, 0, 1, 0}, {REPLACED, 2, 3, 0}}},
#endif
#ifdef SYS_truncate64
	{SYS_truncate64, {{TRUNCATED, NO_FOLDER, 0, 0}}},
#endif
#ifdef SYS_open
	{SYS_open, {{OPENED, NO_FOLDER, 0, 1}}},
	{SYS_creat, {{CREATED, NO_FOLDER, 0, 0}}},
	{SYS_mkdir, {{MADE, NO_FOLDER, 0, 0}}},
	{SYS_mknod, {{MADE, NO_FOLDER, 0, 0}}},
	{SYS_rmdir, {{REMOVED, NO_FOLDER, 0, 0}}},
	{SYS_unlink, {{REMOVED, NO_FOLDER, 0, 0}}},
	{SYS_rename, {{REMOVED, NO_FOLDER, 0, 0}, {REPLACED, NO_FOLDER, 1, 0}}},
	{SYS_link, {{MADE, NO_FOLDER, 1, 0}}},
	{SYS_symlink, {{MADE, NO_FOLDER, 1, 0}}},
#endif
};

#define N_CALLS ARRAY_SIZE(calls)

const int *trace_calls_numbers(size_t *ret_n)
{
	static int numbers[N_CALLS];

	for (size_t i = 0; i < N_CALLS; i++)
		numbers[i] = calls[i].number;
	*ret_n = N_CALLS;
	return numbers;
}

/* ── the memory of the process ───────────────────────────────────────────────────────────────── */

static int read_memory(pid_t pid, uint64_t from, void *to, size_t size)
{
	struct iovec local = {to, size};
	struct iovec remote = {.iov_len = size};
	uintptr_t there = (uintptr_t)from;
	ssize_t n;

	memcpy(&remote.iov_base, &there, sizeof(there));
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return n < 0 ? -errno : (size_t)n == size ? 0 : -EFAULT;
}

/* Read a text up to its end, page by page: the page after its end may not be there. */
static int read_traced_path(pid_t pid, uint64_t from, char ret_path[PATH_MAX])
{
	size_t size = 0;

	while (size < PATH_MAX) {
		size_t part = PAGE_BYTES - (from + size) % PAGE_BYTES;
		int r;

		part = part < PATH_MAX - size ? part : PATH_MAX - size;
		r = read_memory(pid, from + size, ret_path + size, part);
		if (r)
			return r;
		if (memchr(ret_path + size, '\0', part))
			return 0;
		size += part;
	}
	return -ENAMETOOLONG;
}

/* ── where the path leads ────────────────────────────────────────────────────────────────────── */

/* Return the process of the thread @pid. */
static pid_t process_of(pid_t pid)
{
	char path[64];
	char line[128];
	int process = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Tgid: %d", &process) != 1)
		;
	if (file)
		fclose(file);
	return process;
}

/* Write @path as this process finds it: from the folder of the other process, and with the other's
 * number for /proc/self. */
static int rebase(const struct seccomp_notif *call, const struct name *name, const char *path,
	char ret_path[PATH_MAX])
{
	static const char self[] = "/proc/self";
	static const char thread[] = "/proc/thread-self";
	int pid = (int)call->pid;
	int folder = name->folder == NO_FOLDER ? AT_FDCWD : (int)call->data.args[name->folder];
	int n;

	if (strncmp(path, self, strlen(self)) == 0 && strchr("/", path[strlen(self)]))
		n = snprintf(
			ret_path, PATH_MAX, "/proc/%d%s", process_of(pid), path + strlen(self));
	else if (strncmp(path, thread, strlen(thread)) == 0 && strchr("/", path[strlen(thread)]))
		n = snprintf(ret_path, PATH_MAX, "/proc/%d/task/%d%s", process_of(pid), pid,
			path + strlen(thread));
	else if (*path == '/')
		n = snprintf(ret_path, PATH_MAX, "%s", path);
	else if (folder == AT_FDCWD)
		n = snprintf(ret_path, PATH_MAX, "/proc/%d/cwd/%s", pid, path);
	else
		n = snprintf(ret_path, PATH_MAX, "/proc/%d/fd/%d/%s", pid, folder, path);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Find the file at @path without opening it. Return 0 with its path without links, or a negative
 * errno: -ENOENT for a file without a path, such as a file in memory. */
static int find_used_file(
	const char *path, int flags, char ret_path[PATH_MAX], struct stat *ret_status)
{
	cleanup_close int fd = open(path, O_PATH | O_CLOEXEC | flags);
	char link[sizeof("/proc/self/fd/2147483647")];
	struct stat there;
	ssize_t size;

	if (fd < 0 || fstat(fd, ret_status) < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, ret_path, PATH_MAX - 1);
	if (size < 0)
		return -errno;
	ret_path[size] = '\0';
	if (lstat(ret_path, &there) < 0 || there.st_dev != ret_status->st_dev ||
		there.st_ino != ret_status->st_ino)
		return -ENOENT;
	return 0;
}

/* Find the folder of @path, whose last part may be missing. */
static int find_start_folder(const char *path, struct trace_use *use)
{
	char copy[PATH_MAX];
	char *end = stpcpy(copy, path);
	struct stat status;
	const char *last;
	char *slash;
	int r;

	while (end > copy + 1 && end[-1] == '/')
		*--end = '\0';
	slash = strrchr(copy, '/');
	last = path + (slash - copy) + 1;
	slash[slash == copy] = '\0';
	r = find_used_file(copy, O_DIRECTORY, use->place, &status);
	if (r)
		return r;
	return snprintf(use->path, sizeof(use->path), "%s/%.*s",
		       strcmp(use->place, "/") == 0 ? "" : use->place,
		       (int)(end - copy - (last - path)), last) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

/* ── the rights that it needs ────────────────────────────────────────────────────────────────── */

#define READ_FILE  LANDLOCK_ACCESS_FS_READ_FILE
#define READ_DIR   LANDLOCK_ACCESS_FS_READ_DIR
#define WRITE_FILE LANDLOCK_ACCESS_FS_WRITE_FILE
#define TRUNCATE   LANDLOCK_ACCESS_FS_TRUNCATE
/* For files of any type: no rule allows to make one and not another. */
#define MAKE   LANDLOCK_ACCESS_FS_MAKE_REG
#define REMOVE LANDLOCK_ACCESS_FS_REMOVE_FILE

static uint64_t rights_of_flags(uint64_t flags, mode_t mode)
{
	uint64_t rights = 0;

	if (flags & O_PATH)
		return 0;
	if ((flags & O_ACCMODE) != O_WRONLY)
		rights |= S_ISDIR(mode) ? READ_DIR : READ_FILE;
	if ((flags & O_ACCMODE) != O_RDONLY)
		rights |= WRITE_FILE;
	return flags & O_TRUNC ? rights | TRUNCATE : rights;
}

/* Read the flags of an open. */
static int read_flags(
	const struct seccomp_notif *call, const struct name *name, uint64_t *ret_flags)
{
	struct open_how how = {0};
	int r = 0;

	if (name->effect == CREATED) {
		*ret_flags = O_CREAT | O_WRONLY | O_TRUNC;
	} else if (name->effect == OPENED) {
		*ret_flags = call->data.args[name->flags];
	} else {
		r = read_memory((pid_t)call->pid, call->data.args[name->flags], &how, sizeof(how));
		*ret_flags = how.flags;
	}
	return r;
}

static int describe_open(const struct seccomp_notif *call, const struct name *name,
	const char *path, struct trace_use *use)
{
	struct stat status = {0};
	uint64_t flags = 0;
	int r = read_flags(call, name, &flags);

	if (r)
		return r;
	r = find_used_file(path, (int)(flags & (O_NOFOLLOW | O_DIRECTORY)), use->path, &status);
	if (r == 0) {
		use->rights = rights_of_flags(flags, status.st_mode);
		if ((flags & O_CREAT) && (flags & O_EXCL))
			use->rights = 0;
		memcpy(use->place, use->path, sizeof(use->place));
	} else if (r == -ENOENT && (flags & O_CREAT) && find_start_folder(path, use) == 0) {
		use->rights = rights_of_flags(flags, 0) | MAKE;
	}
	return 0;
}

/* Describe a made, moved or removed file. */
static void describe_entry(enum effect effect, const char *path, struct trace_use *use)
{
	struct stat status;
	bool is_there = lstat(path, &status) == 0;

	if (find_start_folder(path, use) != 0)
		return;
	if (effect == REPLACED)
		use->rights = MAKE | (is_there ? REMOVE : 0);
	else if (effect == MADE && !is_there)
		use->rights = MAKE;
	else if (effect == REMOVED && is_there)
		use->rights = REMOVE;
}

static int describe(
	const struct seccomp_notif *call, const struct name *name, struct trace_use *use)
{
	char path[PATH_MAX];
	struct stat status;
	int r;

	use->rights = 0;
	r = read_traced_path((pid_t)call->pid, call->data.args[name->path], use->given);
	if (r == 0 && *use->given)
		r = rebase(call, name, use->given, path);
	/* The kernel refuses such a path, too. */
	if (r == -EFAULT || r == -ENAMETOOLONG || !*use->given)
		return 0;
	if (r)
		return r;
	if (name->effect <= CREATED)
		return describe_open(call, name, path, use);
	if (name->effect != TRUNCATED) {
		describe_entry(name->effect, path, use);
	} else if (find_used_file(path, 0, use->path, &status) == 0) {
		use->rights = TRUNCATE;
		memcpy(use->place, use->path, sizeof(use->place));
	}
	return 0;
}

int trace_calls_read(
	const struct seccomp_notif *call, struct trace_use ret_uses[TRACE_USES_MAX], size_t *ret_n)
{
	const struct call *known = NULL;
	int r = 0;

	for (size_t i = 0; i < N_CALLS; i++)
		if (calls[i].number == call->data.nr)
			known = &calls[i];
	*ret_n = 0;
	while (r == 0 && known && *ret_n < TRACE_USES_MAX && known->names[*ret_n].effect) {
		r = describe(call, &known->names[*ret_n], &ret_uses[*ret_n]);
		*ret_n += r == 0;
	}
	return r;
}
