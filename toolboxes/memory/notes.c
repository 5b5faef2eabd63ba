/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The longest source in a note, in characters. */
#define SOURCE_CHARACTERS_MAX 64

/* The pause before the lock of another process is tried again. */
#define LOCK_PAUSE_MS 5

/* ── a line ──────────────────────────────────────────────────────────────────────────────────── */

/* Return the bytes of the line end, or of another control character, at @at; 0: it is none. */
static size_t control_size(const char *at, size_t size)
{
	const unsigned char *byte = (const unsigned char *)at;

	if (size > 1 && at[0] == '\r' && at[1] == '\n')
		return 2;
	if (byte[0] < ' ' || byte[0] == 0x7F)
		return 1;
	/* U+0080 to U+009F, with NEL; U+2028 and U+2029, the separators of lines and paragraphs. */
	if (size > 1 && byte[0] == 0xC2 && byte[1] < 0xA0)
		return 2;
	if (size > 2 && byte[0] == 0xE2 && byte[1] == 0x80 && (byte[2] == 0xA8 || byte[2] == 0xA9))
		return 3;
	return 0;
}

/* Append @bytes with spaces for what no line has. */
static void add_line(struct text *out, const char *bytes, size_t size)
{
	size_t begin = 0;

	for (size_t at = 0; at < size;) {
		size_t step = control_size(bytes + at, size - at);

		if (step == 0) {
			at++;
			continue;
		}
		text_add(out, bytes + begin, at - begin);
		text_put(out, " ");
		begin = at += step;
	}
	text_add(out, bytes + begin, size - begin);
}

/* Append the source of a note, without the bracket that ends it. */
static void add_source(struct text *out, const char *source)
{
	size_t n;
	size_t size = utf8_prefix(source, strlen(source), SOURCE_CHARACTERS_MAX, &n);
	size_t begin = out->size;

	add_line(out, source, size);
	for (size_t at = begin; !out->has_failed && at < out->size; at++)
		if (out->data[at] == ']' || out->data[at] == '[')
			out->data[at] = ' ';
	if (source[size])
		text_put(out, "…");
}

void note_write(struct text *out, int64_t time_s, const char *source, const char *note, size_t size)
{
	time_t seconds = (time_t)time_s;
	struct tm parts;
	char date[64];

	if (!gmtime_r(&seconds, &parts) ||
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		strcpy(date, "unknown date");
	text_printf(out, "- %s [", date);
	add_source(out, source);
	text_put(out, "] ");
	add_line(out, note, size);
	text_put(out, "\n");
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

static bool fail_file(struct text *why, const char *path, const char *what, int error)
{
	text_printf(why, "%s: %s%s%s", path, what, *what ? ": " : "", strerror(error));
	return false;
}

/* Open the regular file at @path. Return the descriptor and its status; -1 with @why and errno. */
static int open_file(const char *path, int flags, struct stat *ret_status, struct text *why)
{
	int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	int error;

	if (fd >= 0 && fstat(fd, ret_status) == 0 && S_ISREG(ret_status->st_mode))
		return fd;
	error = errno;
	if (fd < 0) {
		fail_file(why, path, "", error);
	} else {
		text_printf(why, "%s is no regular file", path);
		close(fd);
		error = EINVAL;
	}
	errno = error;
	return -1;
}

/* Lock @fd within @wait_ms. Return 0 or an errno. */
static int lock_file(int fd, uint32_t wait_ms)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
	uint32_t waited_ms = 0;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || waited_ms >= wait_ms)
			return errno;
		nanosleep(&pause, NULL);
		waited_ms += LOCK_PAUSE_MS;
	}
	return 0;
}

/* Open and lock the file at @path, which an editor may replace meanwhile. Return the descriptor and
 * the status; -1 with @why. */
static int open_locked(
	const char *path, uint32_t wait_ms, struct stat *ret_status, struct text *why)
{
	for (unsigned int tries = 0; tries < 8; tries++) {
		int fd = open_file(path, O_RDWR | O_APPEND | O_CREAT, ret_status, why);
		struct stat there;
		int error;

		if (fd < 0)
			return -1;
		error = lock_file(fd, wait_ms);
		if (error) {
			fail_file(why, path, "it is locked by another process", error);
			close(fd);
			return -1;
		}
		if (fstat(fd, ret_status) == 0 && stat(path, &there) == 0 &&
			there.st_ino == ret_status->st_ino && there.st_dev == ret_status->st_dev)
			return fd;
		close(fd);
	}
	text_printf(why, "%s: it is replaced again and again; try later", path);
	return -1;
}

/* Write a new file's name to the disk, where its folder may be opened. */
static void sync_folder(const char *path)
{
	char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	int fd;

	if (slash) {
		slash[slash == folder] = '\0';
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			fsync(fd);
			close(fd);
		}
	}
	free(folder);
}

/* Write the whole of @line at the end of @fd, and wait for the disk. Return 0 or an errno. */
static int write_line(int fd, const struct text *line)
{
	for (size_t at = 0; at < line->size;) {
		ssize_t n = write(fd, line->data + at, line->size - at);

		if (n < 0 && errno != EINTR)
			return errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 ? errno : 0;
}

/* Append @line to the locked file @fd of @size bytes, on a line of its own. Return 0 or an errno, a
 * negative one when the file has a part of it. */
static int append_locked(int fd, off_t size, const struct text *line)
{
	struct text whole = {0};
	char last = '\n';
	int error;

	if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
		return EIO;
	text_put(&whole, last == '\n' ? "" : "\n");
	text_add(&whole, line->data, line->size);
	error = whole.has_failed ? ENOMEM : write_line(fd, &whole);
	text_free(&whole);
	if (error && ftruncate(fd, size) < 0)
		return -error;
	return error;
}

bool notes_append(const char *path, const struct text *line, uint32_t wait_ms, struct text *why)
{
	struct stat status;
	int error = 0;
	int fd;

	if (line->has_failed) {
		text_put(why, "out of memory");
		return false;
	}
	fd = open_locked(path, wait_ms, &status, why);
	if (fd < 0)
		return false;
	if (status.st_size + (off_t)line->size + 1 > (off_t)NOTES_BYTES_MAX)
		text_printf(why,
			"%s is full: it has %lld of %u bytes. Ask the user which notes to "
			"delete from it",
			path, (long long)status.st_size, NOTES_BYTES_MAX);
	else if ((error = append_locked(fd, status.st_size, line)))
		fail_file(why, path,
			error < 0 ? "the note could not be written as a whole"
				  : "the note was not written",
			abs(error));
	else if (status.st_size == 0)
		sync_folder(path);
	close(fd);
	return why->size == 0 && !why->has_failed;
}

enum notes_status notes_read(
	const char *path, struct text *ret_text, uint64_t *ret_size, struct text *why)
{
	struct stat status;
	int fd = open_file(path, O_RDONLY, &status, why);
	char bytes[4096];
	ssize_t n = 0;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? NOTES_ABSENT : NOTES_FAILED;
	while (ret_text->size < NOTES_BYTES_MAX && (n = read(fd, bytes, sizeof(bytes))) > 0)
		text_add(ret_text, bytes, (size_t)n);
	if (n < 0)
		fail_file(why, path, "", errno);
	close(fd);
	*ret_size = (uint64_t)status.st_size;
	if (n < 0)
		return NOTES_FAILED;
	return ret_text->size > 0 || ret_text->has_failed ? NOTES_OK : NOTES_ABSENT;
}
