/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file/file.h"

#define FILE_MODE   0600
#define OLD_SUFFIX  ".1"
#define LINE_FORMAT "\"prev\":\"%s\"}\n"

void audit_file_set(struct audit_file *file, char *path, uint64_t max_bytes)
{
	if (path && file->path && strcmp(path, file->path) == 0) {
		free(path);
	} else {
		audit_file_deinit(file);
		file->path = path;
	}
	file->max_bytes = max_bytes;
}

/* Return the path of the old file, which the caller frees; NULL without memory. */
static char *make_old_path(const struct audit_file *file)
{
	cleanup(buffer_deinit) struct buffer path = {0};

	buffer_append_string(&path, file->path);
	buffer_append_string(&path, OLD_SUFFIX);
	return buffer_take(&path, NULL);
}

/* Read the hash of the last line of the old file: a daemon that ended between two files left only
 * the old file. Without an old file, this is the first line ever. */
static int read_old_hash(const struct audit_file *file, struct audit_hash *ret_hash)
{
	cleanup_free char *path = make_old_path(file);
	cleanup_close int fd = -1;
	struct stat status;
	uint64_t end;

	*ret_hash = (struct audit_hash){0};
	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return 0;
	return audit_hash_last(fd, (uint64_t)status.st_size, ret_hash, &end);
}

/* Return 0 if the file begins like an audit log, or a torn line of one. A path of another file by
 * mistake must not cost the end of that file. */
static int check_start(const struct audit_file *file)
{
	char start[sizeof(AUDIT_LINE_START) - 1];
	ssize_t n = pread(file->fd, start, sizeof(start), 0);

	if (n < 0)
		return -errno;
	return memcmp(start, AUDIT_LINE_START, (size_t)n) == 0 ? 0 : -EINVAL;
}

/* Find where the chain of the open regular file goes on, and cut off a torn line. */
static int read_end(struct audit_file *file, uint64_t size)
{
	struct audit_hash last = {0};
	uint64_t end = 0;
	int r = check_start(file);

	if (r == 0)
		r = audit_hash_last(file->fd, size, &last, &end);
	if (r == 0 && end == 0 && !file->has_last)
		r = read_old_hash(file, &last);
	if (r < 0)
		return r;
	if (end < size && ftruncate(file->fd, (off_t)end) < 0)
		return -errno;
	file->torn_bytes = size - end;
	file->size = end;
	if (!file->has_last)
		file->last = last;
	return 0;
}

int audit_file_open(struct audit_file *file)
{
	struct stat status;
	int r = 0;

	if (file->fd >= 0)
		return 0;
	file->fd = open(file->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, FILE_MODE);
	if (file->fd < 0)
		return -errno;
	file->size = file->torn_bytes = 0;
	if (fstat(file->fd, &status) < 0)
		r = -errno;
	file->is_regular = r == 0 && S_ISREG(status.st_mode);
	if (file->is_regular)
		r = read_end(file, (uint64_t)status.st_size);
	if (r < 0)
		audit_file_close(file);
	else
		file->has_last = true;
	return r;
}

/* Let FILE become FILE.1 and begin anew. If that fails, the file grows on. */
static int rotate(struct audit_file *file)
{
	cleanup_free char *old = make_old_path(file);

	if (!old)
		return -ENOMEM;
	file->rotation_error = rename(file->path, old) < 0 ? -errno : 0;
	if (file->rotation_error < 0)
		return 0;
	audit_file_close(file);
	return audit_file_open(file);
}

/* Append @text, whole lines. A failure closes the file: what it has of the text is cut off when it
 * is opened again. */
static int append_line_text(struct audit_file *file, const struct buffer *text)
{
	int r = 0;

	if (file->is_regular && file->size > 0 && file->size + text->size > file->max_bytes)
		r = rotate(file);
	if (r == 0)
		r = file_write_all(file->fd, text->data, text->size);
	if (r < 0 && file->is_regular && ftruncate(file->fd, (off_t)file->size) < 0)
		audit_file_close(file);
	if (r < 0)
		return r;
	file->size += text->size;
	return 0;
}

/* Return whether the open file is unchanged: some path, also a new one, leads to it, and no other
 * program has cut or written it. */
static bool is_as_left(const struct audit_file *file)
{
	struct stat status;

	return !file->is_regular || (fstat(file->fd, &status) == 0 && status.st_nlink > 0 &&
					    (uint64_t)status.st_size == file->size);
}

int audit_file_append(struct audit_file *file, const char *line, size_t size, bool is_required)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct audit_hash hash;
	int r = audit_file_open(file);

	if (r == 0 && is_required && !file->is_regular)
		return -ENOTSUP;
	if (r == 0 && !is_as_left(file)) {
		audit_file_close(file);
		file->is_replaced = !is_required;
		r = is_required ? -ESTALE : audit_file_open(file);
	}
	if (r < 0)
		return r;
	buffer_append(&text, line, size);
	buffer_printf(&text, LINE_FORMAT, file->last.text);
	r = buffer_status(&text);
	if (r < 0)
		return r;
	audit_hash_line(text.data, text.size - 1, &hash);
	r = append_line_text(file, &text);
	if (r == 0)
		file->last = hash;
	return r;
}

int audit_file_sync(struct audit_file *file)
{
	if (file->fd < 0 || !file->is_regular)
		return 0;
	return fdatasync(file->fd) < 0 ? -errno : 0;
}

const char *audit_file_error_text(int error)
{
	switch (error) {
	case -EINVAL:
		return "it is no audit log";
	case -ENOTSUP:
		return "it is no regular file, which audit.required needs";
	case -ESTALE:
		return "another program has removed it or changed its size";
	default:
		return strerror(-error);
	}
}

void audit_file_close(struct audit_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void audit_file_deinit(struct audit_file *file)
{
	audit_file_close(file);
	free(file->path);
	*file = (struct audit_file){.fd = -1};
}
