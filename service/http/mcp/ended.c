/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/ended.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/hex.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"

static const char magic[16] = "toolboxd mcp 1\n";

#define HEAD_BYTES     ((off_t)(sizeof(magic) + MCP_SESSION_KEY_BYTES))
#define FILE_BYTES_MAX ((size_t)HEAD_BYTES + MCP_ENDED_MAX * sizeof(struct mcp_ended_entry))

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

/* Open the file at @path, whose lock is ours. Return a descriptor or a negative errno. */
static int open_file(const char *path, off_t *ret_size)
{
	cleanup_close int fd =
		open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat status;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
		return -EPERM;
	*ret_size = status.st_size;
	return take_fd(fd);
}

static int begin_file(struct mcp_ended *ended)
{
	int r = file_write_all(ended->fd, magic, sizeof(magic));

	r = r ? r : file_write_all(ended->fd, (const char *)ended->key, sizeof(ended->key));
	return r == 0 && fsync(ended->fd) < 0 ? -errno : r;
}

/* Read the key and the entries. Return 0, -EINVAL for another text, or a negative errno. */
static int read_file(struct mcp_ended *ended)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = file_read_fd(ended->fd, FILE_BYTES_MAX, &text);

	if (r < 0)
		return r;
	if (text.size < (size_t)HEAD_BYTES || memcmp(text.data, magic, sizeof(magic)) != 0 ||
		(text.size - (size_t)HEAD_BYTES) % sizeof(*ended->items) != 0)
		return -EINVAL;
	memcpy(ended->key, text.data + sizeof(magic), sizeof(ended->key));
	for (size_t at = (size_t)HEAD_BYTES; at < text.size; at += sizeof(*ended->items)) {
		if (array_grow(ended->items, ended->n_items) < 0)
			return -ENOMEM;
		memcpy(&ended->items[ended->n_items++], text.data + at, sizeof(*ended->items));
	}
	return 0;
}

static int use_file(struct mcp_ended *ended, const char *folder, const char *path)
{
	off_t size = 0;
	int r = file_make_folders(folder);

	if (r < 0)
		return r;
	r = open_file(path, &size);
	if (r < 0)
		return r;
	ended->fd = r;
	return size == 0 ? begin_file(ended) : read_file(ended);
}

static const char *explain(int error)
{
	if (error == -EWOULDBLOCK)
		return "another service has it";
	if (error == -EPERM)
		return "only its owner, the user of this service, may read and write it: set its "
		       "mode to 0600, or remove it";
	if (error == -EINVAL)
		return "its content is another one: remove it";
	return strerror(-error);
}

int mcp_ended_open(struct mcp_ended *ended, const char *folder)
{
	cleanup_free char *path = NULL;
	int r = -ENOENT;

	*ended = (struct mcp_ended){.fd = -1};
	if (hex_random(ended->key, sizeof(ended->key)) < 0)
		return -EIO;
	if (folder && asprintf(&path, "%s/" MCP_ENDED_FILE, folder) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (path)
		r = use_file(ended, folder, path);
	if (r == 0 || r == -ENOMEM)
		return r;
	log_warning("Sessions of MCP end with this service: %s%s%s", path ? path : "",
		path ? ": " : "", path ? explain(r) : "there is no state folder");
	mcp_ended_close(ended);
	return 0;
}

void mcp_ended_close(struct mcp_ended *ended)
{
	free(take_ptr(ended->items));
	ended->n_items = 0;
	if (ended->fd >= 0)
		close(ended->fd);
	ended->fd = -1;
}

/* Write the entry @item to its place in the file. */
static void keep_entry(struct mcp_ended *ended, const struct mcp_ended_entry *item)
{
	off_t at = HEAD_BYTES + (off_t)((item - ended->items) * (ptrdiff_t)sizeof(*item));
	ssize_t n = ended->fd >= 0 ? pwrite(ended->fd, item, sizeof(*item), at)
				   : (ssize_t)sizeof(*item);

	/* A part of an entry would make the file another one at the next start. */
	if (n > 0 && n != (ssize_t)sizeof(*item) && ftruncate(ended->fd, at) < 0)
		n = -1;
	if (n != (ssize_t)sizeof(*item))
		log_limited(&ended->rate, LOG_LEVEL_WARNING,
			"A session of MCP that has ended counts again after a restart: "
			"the file " MCP_ENDED_FILE " of the state folder: %s",
			n < 0 ? strerror(errno) : "the disk is full");
}

/* ── the entries ─────────────────────────────────────────────────────────────────────────────── */

bool mcp_era_is_over(uint64_t start_s, uint64_t now_s)
{
	return now_s > start_s && now_s - start_s >= MCP_ERA_S;
}

bool mcp_ended_has(const struct mcp_ended *ended, const struct mcp_ended_entry *entry)
{
	for (size_t i = 0; i < ended->n_items; i++) {
		const struct mcp_ended_entry *item = &ended->items[i];

		if (item->holder != entry->holder)
			continue;
		if (item->tag == 0 ? entry->start_s <= item->start_s : entry->tag == item->tag)
			return true;
	}
	return false;
}

static int compare_entries(const void *a, const void *b)
{
	const struct mcp_ended_entry *left = *(struct mcp_ended_entry *const *)a;
	const struct mcp_ended_entry *right = *(struct mcp_ended_entry *const *)b;

	if (left->holder != right->holder)
		return left->holder < right->holder ? -1 : 1;
	return (left->start_s > right->start_s) - (left->start_s < right->start_s);
}

/* Make one cut of the two oldest entries of the holder with the most. Return the freed one, or NULL
 * when no holder has two. */
static struct mcp_ended_entry *merge_most(struct mcp_ended *ended)
{
	struct mcp_ended_entry *order[MCP_ENDED_MAX];
	size_t first = 0;
	size_t most = 0;
	size_t n_most = 0;

	for (size_t i = 0; i < ended->n_items; i++)
		order[i] = &ended->items[i];
	qsort(order, ended->n_items, sizeof(*order), compare_entries);
	for (size_t i = 0; i < ended->n_items; i++) {
		if (order[i]->holder != order[first]->holder)
			first = i;
		if (i + 1 - first > n_most) {
			n_most = i + 1 - first;
			most = first;
		}
	}
	if (n_most < 2)
		return NULL;
	order[most + 1]->tag = 0;
	keep_entry(ended, order[most + 1]);
	return order[most];
}

/* Return a place for an entry, or NULL with *@ret_error. */
static struct mcp_ended_entry *find_place(struct mcp_ended *ended, uint64_t now_s, int *ret_error)
{
	for (size_t i = 0; i < ended->n_items; i++)
		if (mcp_era_is_over(ended->items[i].start_s, now_s))
			return &ended->items[i];
	*ret_error = -ENOSPC;
	if (ended->n_items == MCP_ENDED_MAX)
		return merge_most(ended);
	*ret_error = -ENOMEM;
	if (array_grow(ended->items, ended->n_items) < 0)
		return NULL;
	return &ended->items[ended->n_items++];
}

int mcp_ended_add(struct mcp_ended *ended, const struct mcp_ended_entry *entry, uint64_t now_s)
{
	struct mcp_ended_entry *place;
	int r = 0;

	check(entry->tag != 0 && ended->n_items <= MCP_ENDED_MAX);
	if (mcp_ended_has(ended, entry) || mcp_era_is_over(entry->start_s, now_s))
		return 0;
	place = find_place(ended, now_s, &r);
	if (!place)
		return r;
	*place = *entry;
	keep_entry(ended, place);
	return 0;
}
