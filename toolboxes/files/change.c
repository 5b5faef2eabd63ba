/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* The tries for a name that no other file has. */
#define NAMES_MAX 100

/* The time that the commit of several changes has. */
#define COMMIT_MS 2000

static bool fail_change(struct text *why, const struct change *change, const char *what, int error)
{
	text_add_name(why, change->place.path);
	text_printf(why, " cannot be %s", what);
	fence_write_error(change->place.path, error, why);
	return false;
}

static bool fail_changed(struct text *why, const struct change *change)
{
	text_add_name(why, change->place.path);
	text_put(why, " has changed since it was read; nothing was written. Read it again");
	return false;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

static bool read_whole(int fd, struct text *text)
{
	char block[64 << 10];
	ssize_t n;

	text_put(text, "");
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || text->size + (size_t)n > FILE_BYTES_MAX) {
			errno = n < 0 ? errno : EFBIG;
			return false;
		}
		text_add(text, block, (size_t)n);
	}
	return true;
}

bool change_look(const struct place *place, struct seen *ret_seen, struct text *why)
{
	int fd;

	*ret_seen = (struct seen){.exists = place->exists};
	if (!place->exists)
		return true;
	fd = open_regular(place, &ret_seen->status, why);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool change_read(
	const struct place *place, struct text *ret_text, struct seen *ret_seen, struct text *why)
{
	bool is_read;
	int fd;

	*ret_seen = (struct seen){.exists = place->exists};
	if (!place->exists)
		return true;
	fd = open_regular(place, &ret_seen->status, why);
	if (fd < 0)
		return false;
	is_read = read_whole(fd, ret_text);
	if (!is_read) {
		text_add_name(why, place->path);
		if (errno == EFBIG)
			text_printf(
				why, " is too large: at most %u bytes are changed", FILE_BYTES_MAX);
		else
			text_printf(why, ": %s", strerror(errno));
	}
	close(fd);
	return is_read;
}

/* ── preparation ─────────────────────────────────────────────────────────────────────────────── */

/* Name the file beside the file of @change, in the try @i. */
static void name_beside(struct change *change, int i)
{
	snprintf(change->beside, sizeof(change->beside), ".%.32s.toolboxd-%d", change->name, i);
}

/* Make a file beside the file of @change. Return the descriptor, or a negative errno. */
static int make_beside(struct change *change)
{
	int r = -EEXIST;

	for (int i = 0; r == -EEXIST && i < NAMES_MAX; i++) {
		name_beside(change, i);
		r = openat(change->folder, change->beside,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		r = r < 0 ? -errno : r;
	}
	if (r < 0)
		change->beside[0] = '\0';
	return r;
}

static int write_whole(int fd, const struct text *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(fd, text->data + done, text->size - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Give the new file the mode and, if that is possible, the owner of the old one. */
static int take_rights(int fd, const struct change *change)
{
	const struct stat *before = &change->seen.status;
	mode_t mode = change->seen.exists ? before->st_mode & 07777 : change->mode;

	if (change->seen.exists && (before->st_uid != geteuid() || before->st_gid != getegid()) &&
		fchown(fd, before->st_uid, before->st_gid) < 0)
		mode &= 0777;
	return fchmod(fd, mode) < 0 ? -errno : 0;
}

/* Return whether the file of @change may be replaced: where others can put a link beside, a file
 * with several names may be a file of another folder. */
static bool is_own_file(const struct change *change)
{
	struct stat folder;

	return !change->seen.exists || change->seen.status.st_nlink <= 1 ||
	       (fstat(change->folder, &folder) == 0 && !(folder.st_mode & (S_IWGRP | S_IWOTH)));
}

/* Write the new text beside the file, and to the disk. */
static bool prepare_change(struct change *change, struct text *why)
{
	int fd;
	int r;

	change->folder = fence_open_parent(&change->place, !change->is_removed, &change->name);
	if (change->folder < 0)
		return fail_change(why, change, "written", -change->folder);
	if (!is_own_file(change)) {
		text_add_name(why, change->place.path);
		text_put(why,
			" has other names (hard links), and others may write to its folder: it "
			"may be a file of another folder, so it is not written");
		return false;
	}
	if (change->is_removed)
		return true;
	fd = make_beside(change);
	if (fd < 0)
		return fail_change(why, change, "written", -fd);
	r = write_whole(fd, change->text);
	r = r ? r : take_rights(fd, change);
	if (r == 0 && fsync(fd) < 0 && errno != EINVAL)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r == 0 || fail_change(why, change, "written", -r);
}

/* ── commit ──────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the file called @name in the folder of @change is unchanged since it was read. */
static bool is_as_seen(const struct change *change, const char *name)
{
	const struct stat *before = &change->seen.status;
	struct stat now;

	return fstatat(change->folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_ino == before->st_ino && now.st_dev == before->st_dev &&
	       now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static int move(const struct change *change, const char *from, const char *to, unsigned int flags)
{
	return renameat2(change->folder, from, change->folder, to, flags) < 0 ? -errno : 0;
}

/* Move the old file to a name that no other file has. */
static int put_aside(struct change *change)
{
	int r = -EEXIST;

	for (int i = 0; r == -EEXIST && i < NAMES_MAX; i++) {
		name_beside(change, i);
		r = move(change, change->name, change->beside, RENAME_NOREPLACE);
	}
	if (r < 0)
		change->beside[0] = '\0';
	return r;
}

/* Replace or remove the file where a file system (NFS, 9P) knows no flags of renameat2. That cannot
 * be undone, so it is done for a single file only. */
static int commit_plainly(struct change *change)
{
	struct stat status;

	if (!change->seen.exists &&
		fstatat(change->folder, change->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if (change->is_removed)
		return unlinkat(change->folder, change->name, 0) < 0 ? -errno : 0;
	return move(change, change->beside, change->name, 0);
}

/* Let the new file and the old one change places. A file that has changed since it was read is not
 * replaced. @is_only: there is no other change. */
static bool commit_change(struct change *change, bool is_only, struct text *why)
{
	int r;

	/* A change of the file is found here, or, when it comes in this moment, after the exchange.
	 * */
	if (change->seen.exists && !is_as_seen(change, change->name))
		return fail_changed(why, change);
	if (change->is_removed)
		r = put_aside(change);
	else
		r = move(change, change->beside, change->name,
			change->seen.exists ? RENAME_EXCHANGE : RENAME_NOREPLACE);
	if (is_only && (r == -EINVAL || r == -ENOSYS)) {
		r = commit_plainly(change);
		return r == 0 || fail_change(why, change, "replaced", -r);
	}
	if (r < 0)
		return fail_change(why, change, change->is_removed ? "removed" : "replaced", -r);
	change->is_done = true;
	if (!change->seen.exists || is_as_seen(change, change->beside))
		return true;
	return fail_changed(why, change);
}

static void undo_change(struct change *change)
{
	if (!change->is_done)
		return;
	if (!change->seen.exists)
		(void)unlinkat(change->folder, change->name, 0);
	else
		(void)move(change, change->beside, change->name,
			change->is_removed ? RENAME_NOREPLACE : RENAME_EXCHANGE);
	if (change->is_removed)
		change->beside[0] = '\0';
}

/* Remove what is beside the file: the old text, or after an undo the new one. */
static void finish_change(struct change *change)
{
	if (change->folder < 0)
		return;
	if (*change->beside)
		(void)unlinkat(change->folder, change->beside, 0);
	close(change->folder);
}

/* Return whether the time is enough for the commit of several changes: a call that ends in the
 * commit leaves some of them made. */
static bool has_time(struct toolbox_call call, struct text *why)
{
	if (toolbox_ms_left(call) >= COMMIT_MS)
		return true;
	text_put(why, "the time of the call is over; nothing was written");
	return false;
}

bool change_make(struct toolbox_call call, struct change *changes, size_t n, struct text *why)
{
	bool is_good = true;

	for (size_t i = 0; i < n; i++) {
		changes[i].folder = -1;
		changes[i].beside[0] = '\0';
		changes[i].is_done = false;
	}
	for (size_t i = 0; is_good && i < n; i++)
		is_good = prepare_change(&changes[i], why) && (n == 1 || has_time(call, why));
	for (size_t i = 0; is_good && i < n; i++)
		is_good = commit_change(&changes[i], n == 1, why);
	for (size_t i = n; !is_good && i > 0; i--)
		undo_change(&changes[i - 1]);
	for (size_t i = 0; i < n; i++)
		finish_change(&changes[i]);
	return is_good;
}
