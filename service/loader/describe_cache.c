/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/describe_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/file/file.h"
#include "util/log.h"

#define PREFIX      "described-"
#define HEAD_FORMAT "toolboxd-described 1 %016llx %016llx\n"
#define HEAD_BYTES  (sizeof("toolboxd-described 1 0123456789abcdef 0123456789abcdef\n") - 1)

/* ── the key ─────────────────────────────────────────────────────────────────────────────────── */

/* Add everything on which a description depends. */
static uint64_t digest_package(uint64_t digest, const struct package *package)
{
	struct utsname kernel = {0};
	const char *entry = package->environment;

	/* A description names the parts of the sandbox missing in this kernel. */
	uname(&kernel);
	digest = digest_text(digest, TOOLBOXD_VERSION);
	digest = digest_text(digest, kernel.release);
	digest = digest_text(digest, kernel.version);
	digest = digest_text(digest, package->library.file);
	digest = digest_word(digest, package->library.digest);
	digest = digest_word(digest, package->library.stamp.size);
	for (; entry && *entry; entry = environment_next(entry))
		digest = digest_text(digest, entry);
	return digest_bytes(digest, package->load, package->load_size);
}

void describe_cache_key(const struct package *package, char ret_key[DESCRIBE_CACHE_KEY_BYTES])
{
	uint64_t first = digest_package(DIGEST_SEED, package);
	uint64_t second = digest_package(digest_word(DIGEST_SEED, 1), package);

	snprintf(ret_key, DESCRIBE_CACHE_KEY_BYTES, "%016llx%016llx", (unsigned long long)first,
		(unsigned long long)second);
}

/* ── the folder ──────────────────────────────────────────────────────────────────────────────── */

/* Make the folder, and its parent: no more can be missing of a user's cache. */
static bool make_folder(char *path)
{
	char *slash = strrchr(path, '/');

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	if (errno != ENOENT || slash == path)
		return false;
	*slash = '\0';
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	*slash = '/';
	return mkdir(path, 0700) == 0;
}

/* Find the path of our folder; *ret_flags is O_NOFOLLOW unless it may be a link. False: we have no
 * folder. */
static bool find_folder(char ret_path[PATH_MAX], int *ret_flags)
{
	const char *given = getenv("CACHE_DIRECTORY");
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int length;

	*ret_flags = O_NOFOLLOW;
	if (given && *given == '/')
		*ret_flags = 0;
	/* systemd gives a list; the first one is ours. */
	if (given && *given == '/')
		length = snprintf(ret_path, PATH_MAX, "%.*s", (int)strcspn(given, ":"), given);
	else if (cache && *cache == '/')
		length = snprintf(ret_path, PATH_MAX, "%s/toolboxd", cache);
	else if (home && *home == '/')
		length = snprintf(ret_path, PATH_MAX, "%s/.cache/toolboxd", home);
	else
		return false;
	return length < PATH_MAX;
}

/* Return whether only the daemon's user may write what @fd is, a file or folder of his; else log
 * the reason about @name. */
static bool is_private(int fd, const char *name)
{
	static struct log_rate rate = {.burst = 2};
	const char *reason = NULL;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return false;
	if (status.st_uid != geteuid())
		reason = "belongs to another user";
	else if (status.st_mode & (S_IWGRP | S_IWOTH))
		reason = "may be written by other users";
	if (reason)
		log_limited(&rate, LOG_LEVEL_WARNING,
			"The cache of descriptions is not used: %s %s", name, reason);
	return !reason;
}

/* Open the folder, or -1. */
static int open_folder(bool is_made)
{
	cleanup_close int folder = -1;
	char path[PATH_MAX];
	int flags;

	if (!find_folder(path, &flags) || (is_made && !make_folder(path)))
		return -1;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	return folder >= 0 && is_private(folder, path) ? take_fd(folder) : -1;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static void write_cache_head(
	char head[HEAD_BYTES + 1], const char *described, size_t size, uint64_t depends)
{
	uint64_t digest = digest_bytes(digest_word(DIGEST_SEED, depends), described, size);

	snprintf(head, HEAD_BYTES + 1, HEAD_FORMAT, (unsigned long long)digest,
		(unsigned long long)depends);
}

/* Whether the bytes are a whole file of ours. */
static bool is_whole(const struct buffer *bytes, uint64_t *ret_depends)
{
	char head[HEAD_BYTES + 1];

	if (bytes->size < HEAD_BYTES)
		return false;
	memcpy(head, bytes->data, HEAD_BYTES);
	head[HEAD_BYTES] = '\0';
	*ret_depends = strtoull(head + HEAD_BYTES - sizeof("0123456789abcdef"), NULL, 16);
	write_cache_head(head, bytes->data + HEAD_BYTES, bytes->size - HEAD_BYTES, *ret_depends);
	return memcmp(bytes->data, head, HEAD_BYTES) == 0;
}

int describe_cache_read(const char *key, struct buffer *ret_described, uint64_t *ret_depends)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_close int folder = open_folder(false);
	cleanup_close int file = -1;
	char name[sizeof(PREFIX) + DESCRIBE_CACHE_KEY_BYTES];
	int r;

	snprintf(name, sizeof(name), PREFIX "%s", key);
	file = folder < 0 ? -1
			  : openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (file < 0 || !is_private(file, name))
		return -ENOENT;
	r = file_read_fd(file, DESCRIBE_CACHE_BYTES_MAX, &bytes);
	if (r < 0 || !is_whole(&bytes, ret_depends))
		return r == -ENOMEM ? r : -ENOENT;
	/* The entry was used just now, so it is kept for longer. */
	futimens(file, NULL);
	buffer_append(ret_described, bytes.data + HEAD_BYTES, bytes.size - HEAD_BYTES);
	return buffer_status(ret_described);
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

static bool is_older(const struct timespec *time, const struct timespec *than)
{
	return time->tv_sec != than->tv_sec ? time->tv_sec < than->tv_sec
					    : time->tv_nsec < than->tv_nsec;
}

/* Remove the file unused for the longest time when the number of files is at its limit. */
static void drop_oldest(int folder)
{
	cleanup_folder DIR *entries = NULL;
	char oldest[NAME_MAX + 1] = "";
	struct timespec oldest_time = {0};
	const struct dirent *entry;
	size_t n_files = 0;
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	entries = copy < 0 ? NULL : fdopendir(copy);
	while (entries && (entry = readdir(entries))) {
		struct stat status;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
			fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		n_files++;
		if (*oldest && !is_older(&status.st_mtim, &oldest_time))
			continue;
		oldest_time = status.st_mtim;
		snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
	}
	if (n_files >= DESCRIBE_CACHE_FILES_MAX)
		unlinkat(folder, oldest, 0);
}

/* Write the file @name anew. 0 or a negative errno. */
static int write_file(
	int folder, const char *name, const char *described, size_t size, uint64_t depends)
{
	char beside[sizeof(PREFIX) + DESCRIBE_CACHE_KEY_BYTES + 32];
	char head[HEAD_BYTES + 1];
	cleanup_close int file = -1;

	snprintf(beside, sizeof(beside), "%s.%d", name, (int)getpid());
	write_cache_head(head, described, size, depends);
	unlinkat(folder, beside, 0);
	file = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	errno = 0;
	if (file_write_all(file, head, HEAD_BYTES) == 0 &&
		file_write_all(file, described, size) == 0 &&
		renameat(folder, beside, folder, name) == 0)
		return 0;
	unlinkat(folder, beside, 0);
	return -errno;
}

int describe_cache_write(const char *key, const char *described, size_t size, uint64_t depends)
{
	cleanup_close int folder = open_folder(true);
	char name[sizeof(PREFIX) + DESCRIBE_CACHE_KEY_BYTES];

	if (folder < 0 || size > DESCRIBE_CACHE_BYTES_MAX - HEAD_BYTES)
		return 0;
	drop_oldest(folder);
	snprintf(name, sizeof(name), PREFIX "%s", key);
	return write_file(folder, name, described, size, depends);
}
