/* SPDX-License-Identifier: Apache-2.0 */

/*
 * disk_space: the file system of a path, and without a path of all disks.
 *
 *   /proc/self/mountinfo: 27 1 254:0 / /home rw,relatime - ext4 /dev/vda rw
 *                                      ▲                   ▲    ▲
 *                                      where               type device
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "fields.h"
#include "place.h"
#include "system.h"

#define MOUNTS_MAX  32
#define MOUNT_BYTES 256

struct mount {
	char where[MOUNT_BYTES];
	char type[32];
	char device[MOUNT_BYTES];
};

/* Replace \040 and the like, by which the kernel writes white space. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at; out++) {
		bool is_escape = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
				 at[2] <= '7' && at[3] >= '0' && at[3] <= '7';

		*out = is_escape ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'))
				 : *at;
		at += is_escape ? 4 : 1;
	}
	*out = '\0';
}

/* Read a line of mountinfo. */
static bool read_mount(const char *line, struct mount *ret_mount)
{
	size_t size = strcspn(line, "\n");
	const char *dash = strstr(line, " - ");

	if (!dash || dash > line + size)
		return false;
	if (sscanf(line, "%*d %*d %*s %*s %255s", ret_mount->where) != 1 ||
		sscanf(dash, " - %31s %255s", ret_mount->type, ret_mount->device) != 2)
		return false;
	unescape(ret_mount->where);
	unescape(ret_mount->device);
	return true;
}

/* Return the bytes of @blocks, without an overflow. */
static uint64_t bytes_of(const struct statvfs *status, uint64_t blocks)
{
	uint64_t size = status->f_frsize;

	return size > 0 && blocks > UINT64_MAX / size ? UINT64_MAX : blocks * size;
}

/* Put the figures of a file system. Used and free are as df(1) has them: what is kept for root
 * counts for neither. */
static void put_figures(struct toolbox_call call, const struct statvfs *status)
{
	uint64_t used = bytes_of(status, status->f_blocks - status->f_bfree);
	uint64_t free_bytes = bytes_of(status, status->f_bavail);
	double whole = (double)used + (double)free_bytes;

	toolbox_put_u64(call, "total_bytes", bytes_of(status, status->f_blocks));
	toolbox_put_u64(call, "used_bytes", used);
	toolbox_put_u64(call, "free_bytes", free_bytes);
	put_tenths(call, "free_gb", (double)free_bytes / 1e9);
	toolbox_put_i64(call, "used_percent",
		(int64_t)(whole > 0 ? round(100.0 * (double)used / whole) : 0));
}

static bool look(const char *path, struct statvfs *ret_status)
{
	char place[PLACE_BYTES];

	return place_path(place, "%s", path) && statvfs(place, ret_status) == 0;
}

/* Return whether @mount is a disk: a device, or files over the network. */
static bool is_disk(const struct mount *mount)
{
	static const char *const remote[] = {"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs",
		"fuse.sshfs", "zfs", "btrfs", NULL};

	for (size_t i = 0; remote[i]; i++)
		if (strcmp(mount->type, remote[i]) == 0)
			return true;
	return strncmp(mount->device, "/dev/", 5) == 0 && strcmp(mount->type, "squashfs") != 0;
}

/* Return whether one of the @n mounts before has the same device: a part that is mounted twice. */
static bool is_known(const struct mount *mounts, size_t n, const struct mount *mount)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(mounts[i].device, mount->device) == 0)
			return true;
	return false;
}

/* Put the disks of this device. Not all file systems answer: a server may be away, and then
 * statvfs() waits for it, until the call ends by its deadline. Return whether the mounts can be
 * read. */
static bool put_disks(struct toolbox_call call)
{
	PLACE_TEXT mountinfo = place_read("/proc/self/mountinfo");
	struct mount *mounts = calloc(MOUNTS_MAX, sizeof(*mounts));
	struct statvfs status;
	bool is_readable = mountinfo && mounts;
	size_t n = 0;

	toolbox_open_array(call, "disks");
	for (const char *line = is_readable ? mountinfo : NULL; line && n < MOUNTS_MAX;
		line = next_line(line)) {
		struct mount *mount = &mounts[n];

		if (!read_mount(line, mount) || !is_disk(mount) || is_known(mounts, n, mount) ||
			!look(mount->where, &status) || status.f_blocks == 0)
			continue;
		n++;
		toolbox_open_object(call, NULL);
		put_lossy(call, "path", mount->where);
		put_lossy(call, "type", mount->type);
		put_lossy(call, "device", mount->device);
		put_figures(call, &status);
		toolbox_close(call);
	}
	toolbox_close(call);
	free(mounts);
	return is_readable;
}

void disk_space(struct toolbox_call call, void *data)
{
	const char *path = "/";
	struct statvfs status;
	bool has_path = toolbox_has(call, "path");
	size_t size = 1;

	(void)data;
	if (has_path && toolbox_get_string(call, "path", &path, &size) != TOOLBOX_OK) {
		fail(call, "out of memory");
		return;
	}
	if (path[0] != '/' || strlen(path) != size) {
		toolbox_refuse(call, "/path", "must be an absolute path, such as /home");
		return;
	}
	if (!look(path, &status)) {
		/* The reason would say which files of other users exist. */
		fail(call,
			"%.400s: no file system is found there. Without `path`, all disks are "
			"listed",
			path);
		return;
	}
	put_lossy(call, "path", path);
	put_figures(call, &status);
	if (has_path || put_disks(call))
		toolbox_reply(call);
	else
		fail(call, "the disks cannot be listed: /proc/self/mountinfo cannot be read, or "
			   "memory is short. With `path`, one file system is looked at");
}
