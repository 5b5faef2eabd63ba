/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox_library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/member.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/file/file.h"

/* The path of @name in @folder when a file is there, "" when not, NULL without memory. */
static char *look_in(const char *folder, const char *name)
{
	cleanup_free char *path = file_path(folder, name);

	if (!path || access(path, F_OK) == 0)
		return take_ptr(path);
	return strdup("");
}

static char *find_path(const char *name, const char *folder, const char *library_dir)
{
	cleanup_free char *found = NULL;

	if (name[0] == '/')
		return strdup(name);
	if (strchr(name, '/'))
		return file_path(folder, name);
	found = look_in(folder, name);
	if (!found || *found)
		return take_ptr(found);
	if (library_dir) {
		free(found);
		found = look_in(library_dir, name);
		if (!found || *found)
			return take_ptr(found);
	}
	return strdup(name);
}

int toolbox_library_find(const char *name, const char *folder, const char *library_dir,
	struct toolbox_library *ret_library)
{
	cleanup(toolbox_library_deinit) struct toolbox_library library = {0};

	library.path = find_path(name, folder, library_dir);
	if (!library.path)
		return -ENOMEM;
	if (toolbox_library_is_path(&library)) {
		library.file = strdup(library.path);
		if (!library.file)
			return -ENOMEM;
	}
	*ret_library = library;
	library = (struct toolbox_library){0};
	return 0;
}

void toolbox_library_deinit(struct toolbox_library *library)
{
	if (library->next)
		toolbox_library_deinit(library->next);
	free(library->next);
	free(library->path);
	free(library->file);
	sealed_file_unref(library->copy);
	*library = (struct toolbox_library){0};
}

int toolbox_library_set_file(struct toolbox_library *library, const char *file)
{
	char *copy = strdup(file);

	if (!copy)
		return -ENOMEM;
	free(library->file);
	library->file = copy;
	return 0;
}

/* The digest of the file's bytes; of no more than there were when it was looked at, for it may grow
 * faster than it is read. */
static int digest_file(int fd, uint64_t size, uint64_t *ret_digest)
{
	unsigned char bytes[8192];
	uint64_t digest = DIGEST_SEED;
	uint64_t at = 0;

	while (at < size) {
		size_t left = size - at < sizeof(bytes) ? (size_t)(size - at) : sizeof(bytes);
		ssize_t got = pread(fd, bytes, left, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		digest = digest_bytes(digest, bytes, (size_t)got);
		at += (uint64_t)got;
	}
	*ret_digest = digest;
	return 0;
}

/* In place of the digest of unread bytes. */
static uint64_t digest_stamp(const struct stamp *stamp)
{
	uint64_t digest = digest_word(DIGEST_SEED, stamp->size);

	digest = digest_word(digest, (uint64_t)stamp->changed_ns);
	digest = digest_word(digest, stamp->device);
	return digest_word(digest, stamp->inode);
}

/* Open the file, and take its stamp. The descriptor or a negative errno. */
static int open_file(const char *path, struct stamp *ret_stamp)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	stamp_take(&status, ret_stamp);
	return take_fd(fd);
}

static int digest_opened(int fd, const struct stamp *stamp, uint64_t *ret_digest)
{
	if (stamp->size <= TOOLBOX_LIBRARY_DIGEST_MAX)
		return digest_file(fd, stamp->size, ret_digest);
	*ret_digest = digest_stamp(stamp);
	return 0;
}

static void set_stamp(struct toolbox_library *library, const struct stamp *stamp)
{
	library->stamp = *stamp;
	atomic_store(&library->seen, stamp_fold(DIGEST_SEED, stamp));
}

/* Return whether the library finds dependencies by its own place, "$ORIGIN". The text is in the
 * string table of its dynamic section; if it is found elsewhere, only the copy is lost. */
static bool depends_on_place(const struct sealed_file *copy)
{
	char *bytes = sealed_file_map(copy);
	bool depends;

	if (bytes == MAP_FAILED)
		return true;
	depends = memmem(bytes, copy->size, "$ORIGIN", strlen("$ORIGIN")) ||
		  memmem(bytes, copy->size, "${ORIGIN}", strlen("${ORIGIN}"));
	munmap(bytes, copy->size);
	return depends;
}

int toolbox_library_look(struct toolbox_library *library)
{
	cleanup(sealed_file_cleanup) struct sealed_file *copy = NULL;
	cleanup_close int fd = -1;
	struct stamp stamp = {0};
	uint64_t digest = 0;
	int r;

	if (!library->file)
		return -ENOENT;
	fd = open_file(library->file, &stamp);
	if (fd < 0)
		return fd;
	if (toolbox_library_is_path(library))
		copy = sealed_file_take(fd, library->file, &stamp);
	r = digest_opened(copy ? copy->fd : fd, &stamp, &digest);
	if (r < 0)
		return r;
	sealed_file_unref(library->copy);
	library->copy = copy && !depends_on_place(copy) ? take_ptr(copy) : NULL;
	library->digest = digest;
	set_stamp(library, &stamp);
	return 0;
}

int toolbox_library_look_like(struct toolbox_library *library, const struct toolbox_library *other)
{
	sealed_file_unref(library->copy);
	library->copy = sealed_file_ref(other->copy);
	library->digest = other->digest;
	set_stamp(library, &other->stamp);
	if (library->file || !other->file)
		return 0;
	return toolbox_library_set_file(library, other->file);
}

uint64_t toolbox_library_digest(const struct toolbox_library *library)
{
	uint64_t digest = library->digest;

	while ((library = library->next))
		digest = digest_word(digest, library->digest);
	return digest;
}

void toolbox_library_list_copies(
	const struct toolbox_library *library, const struct sealed_file **ret_copies, size_t n_max)
{
	for (size_t i = 0; i < n_max; i++) {
		ret_copies[i] = library ? library->copy : NULL;
		library = library ? library->next : NULL;
	}
}

bool toolbox_library_is_same(
	const struct toolbox_library *library, const struct toolbox_library *other)
{
	for (; library && other; library = library->next, other = other->next)
		if (!library->file || !other->file || library->digest != other->digest ||
			strcmp(library->file, other->file) != 0)
			return false;
	return !library && !other;
}

static bool keeps_its_bytes(struct toolbox_library *library)
{
	cleanup_close int fd = -1;
	struct stamp now;
	uint64_t digest = 0;

	if (!library->file)
		return false;
	stamp_take_file(library->file, &now);
	if (stamp_proves_same(&library->stamp, &now))
		return true;
	fd = open_file(library->file, &now);
	if (fd < 0 || digest_opened(fd, &now, &digest) < 0 || digest != library->digest)
		return false;
	set_stamp(library, &now);
	return true;
}

bool toolbox_library_is_unchanged(struct toolbox_library *library)
{
	for (; library; library = library->next)
		if (!keeps_its_bytes(library))
			return false;
	return true;
}

bool toolbox_library_has_stamp(const struct toolbox_library *library)
{
	struct stamp now;

	stamp_take_file(library->file, &now);
	return stamp_fold(DIGEST_SEED, &now) == atomic_load(&library->seen);
}

uint32_t toolbox_library_find_loaded(
	const struct json_tape *loaded, uint32_t index, const char *key)
{
	uint32_t list = json_find_typed_at(loaded, 0, "libraries", JSON_ARRAY);

	if (list == JSON_NONE)
		return index == 0 ? json_find(loaded, 0, key) : JSON_NONE;
	json_each(at, loaded, list)
		if (index-- == 0)
			return json_find(loaded, at, key);
	return JSON_NONE;
}

/* Return whether a host has reported in @loaded that it has loaded the copy of the library number
 * @index. */
static bool reports_copy(const struct json_tape *loaded, uint32_t index)
{
	uint32_t sealed = toolbox_library_find_loaded(loaded, index, "sealed");

	return sealed != JSON_NONE && json_is_true(loaded, sealed);
}

bool toolbox_library_was_loaded(
	const struct toolbox_library *library, const char *loaded, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	bool is_read = false;
	uint32_t index = 0;

	if (!toolbox_library_is_current(library))
		return false;
	for (; library; library = library->next, index++) {
		if (!library->copy)
			continue;
		if (!is_read && json_tape_read(&tape, loaded, size, JSON_DEPTH_DEFAULT, NULL) != 0)
			return false;
		is_read = true;
		if (!reports_copy(&tape, index))
			return false;
	}
	return true;
}
