/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The memory for a file at first. */
#define SMALL_BYTES 4096

/* Write the place of the path to @ret_path. */
__attribute__((format(printf, 2, 0))) static bool write_path(
	char ret_path[PLACE_BYTES], const char *format, va_list arguments)
{
	const char *root = getenv("TOOLBOXD_SYSROOT");
	int size = snprintf(ret_path, PLACE_BYTES, "%s", root ? root : "");
	int more;

	if (size < 0 || size >= PLACE_BYTES)
		return false;
	more = vsnprintf(ret_path + size, (size_t)(PLACE_BYTES - size), format, arguments);
	return more >= 0 && more < PLACE_BYTES - size;
}

bool place_path(char ret_path[PLACE_BYTES], const char *format, ...)
{
	va_list arguments;
	bool is_good;

	va_start(arguments, format);
	is_good = write_path(ret_path, format, arguments);
	va_end(arguments);
	return is_good;
}

/* Read up to @room - 1 bytes of @fd, and end them with a NUL. Return the size; -1: it
 * cannot be read. */
static ssize_t read_file(int fd, char *bytes, size_t room)
{
	size_t size = 0;
	ssize_t n = -1;

	while (size + 1 < room && (n = read(fd, bytes + size, room - 1 - size)) > 0)
		size += (size_t)n;
	bytes[size] = '\0';
	return n < 0 ? -1 : (ssize_t)size;
}

/* Open a file. A FIFO or a device in its place does not block. */
static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Make the bytes a text: see place_read(). */
static void trim(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] == '\0')
			bytes[i] = ' ';
	while (size > 0 && strchr(" \t\n", bytes[size - 1]))
		bytes[--size] = '\0';
}

/* Most files are small. */
static char *read_text(const char *path)
{
	size_t room = SMALL_BYTES;
	char *bytes = malloc(room);
	int fd = bytes ? open_file(path) : -1;
	ssize_t size = fd < 0 ? -1 : read_file(fd, bytes, room);

	while (size == (ssize_t)room - 1 && room < PLACE_FILE_BYTES) {
		char *more = realloc(bytes, 2 * room);
		ssize_t n = more ? read_file(fd, more + size, 2 * room - (size_t)size) : -1;

		bytes = more ? more : bytes;
		room *= 2;
		size = n < 0 ? -1 : size + n;
	}
	if (fd >= 0)
		close(fd);
	if (size > 0)
		trim(bytes, (size_t)size);
	if (size > 0 && *bytes)
		return bytes;
	free(bytes);
	return NULL;
}

char *place_read(const char *format, ...)
{
	char path[PLACE_BYTES];
	va_list arguments;
	bool is_good;

	va_start(arguments, format);
	is_good = write_path(path, format, arguments);
	va_end(arguments);
	return is_good ? read_text(path) : NULL;
}

bool place_read_number(int64_t *ret_number, const char *format, ...)
{
	char path[PLACE_BYTES];
	char text[32];
	va_list arguments;
	char *end = text;
	int64_t number;
	ssize_t size;
	bool is_good;
	int fd;

	va_start(arguments, format);
	is_good = write_path(path, format, arguments);
	va_end(arguments);
	fd = is_good ? open_file(path) : -1;
	if (fd < 0)
		return false;
	size = read_file(fd, text, sizeof(text));
	close(fd);
	if (size <= 0)
		return false;
	number = strtoll(text, &end, 10);
	if (end == text || (*end && !strchr(" \t\n", *end)))
		return false;
	*ret_number = number;
	return true;
}

DIR *place_open_folder(const char *format, ...)
{
	char path[PLACE_BYTES];
	va_list arguments;
	bool is_good;

	va_start(arguments, format);
	is_good = write_path(path, format, arguments);
	va_end(arguments);
	return is_good ? opendir(path) : NULL;
}

const char *place_next(DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			return entry->d_name;
	return NULL;
}

void place_free(char **text)
{
	free(*text);
}

void place_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}
