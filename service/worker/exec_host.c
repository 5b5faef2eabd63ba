/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/exec_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/environment.h"
#include "util/file/file.h"
#include "util/process/send_fd.h"
#include "wire/wire.h"

/* Move *@fd to LOAD_FD, where it stays open, and let the wire stay open. 0 or a negative errno. */
static int leave_open(int *fd)
{
	if (*fd != LOAD_FD && dup2(*fd, LOAD_FD) < 0)
		return -errno;
	if (*fd == LOAD_FD)
		*fd = -1;
	return fcntl(LOAD_FD, F_SETFD, 0) < 0 || fcntl(WIRE_FD, F_SETFD, 0) < 0 ? -errno : 0;
}

/* Return a file in memory with the text @head, the text of the LOAD frame, and @rest, at its start;
 * or a negative errno. */
static int make_file(
	const struct buffer *head, const struct driver_load *load, const struct buffer *rest)
{
	cleanup_close int fd = memfd_create("load", MFD_CLOEXEC);

	if (fd < 0 || file_write_all(fd, head->data, head->size) < 0 ||
		file_write_all(fd, load->text, load->text_size) < 0 ||
		file_write_all(fd, rest->data, rest->size) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return take_fd(fd);
}

int exec_host_prepare(const struct driver_load *load, const struct buffer *rest)
{
	cleanup_close int fd = make_file(&(struct buffer){0}, load, rest);

	return fd < 0 ? fd : leave_open(&fd);
}

/* Append the variables of this process as one text (util/environment.h). */
static void append_environment(struct buffer *out)
{
	for (char **entry = environ; *entry; entry++)
		buffer_append(out, *entry, strlen(*entry) + 1);
	buffer_append_char(out, '\0');
}

/* Send a file with the environment and the text of the LOAD frame through @socket. 0 or a negative
 * errno. */
static int send_file(int socket, const struct driver_load *load)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_close int fd = -1;

	append_environment(&text);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	fd = make_file(&text, load, &(struct buffer){0});
	return fd < 0 ? fd : pass_send(socket, "", 1, fd);
}

int exec_host_hide(const struct driver_load *load)
{
	int sockets[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	/* The lower number comes first: the other one is never LOAD_FD. */
	cleanup_close int far = sockets[0];
	cleanup_close int near = sockets[1];

	r = send_file(near, load);
	return r ? r : leave_open(&far);
}

char *const *exec_host_environment(void)
{
	static char *chosen[5];
#ifdef TOOLBOXD_SANITIZED
	static const char *const names[] = {
		"ASAN_OPTIONS=", "LSAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS="};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (char **entry = environ; *entry; entry++)
			if (strncmp(*entry, names[i], strlen(names[i])) == 0)
				chosen[n++] = *entry;
	chosen[n] = NULL;
#endif
	return chosen;
}

int exec_host_set_environment(const char *text, size_t size)
{
	const char *end = text + size;

	if (size == 0 || end[-1] != '\0')
		return -EPROTO;
	for (const char *entry = text; entry < end && *entry; entry = environment_next(entry)) {
		const char *value = strchr(entry, '=');
		cleanup_free char *name = value ? strndup(entry, (size_t)(value - entry)) : NULL;

		if (!value)
			return -EPROTO;
		if (!name || setenv(name, value + 1, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Return the size of the environment at the beginning of @text, or 0. */
static size_t find_environment_end(const struct buffer *text)
{
	const char *at = text->data;
	const char *end = at + text->size;

	while (at < end && *at) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));

		if (!nul)
			return 0;
		at = nul + 1;
	}
	return at < end ? (size_t)(at - text->data) + 1 : 0;
}

int exec_host_receive(struct buffer *load)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_close int socket = LOAD_FD;
	cleanup_close int fd = -1;
	size_t size;
	int r = pass_receive(socket, &fd);

	r = r ? r : file_read_fd(fd, SIZE_MAX, &text);
	if (r)
		return r;
	size = find_environment_end(&text);
	r = exec_host_set_environment(text.data, size);
	if (r)
		return r;
	buffer_append(load, text.data + size, text.size - size);
	return buffer_status(load);
}

int exec_host_find(const char *name, int mode, char ret_path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	size_t room;
	char *slash;

	if (size < 0)
		return -errno;
	ret_path[size] = '\0';
	slash = strrchr(ret_path, '/') + 1;
	room = PATH_MAX - (size_t)(slash - ret_path);
	if (strlen(name) >= room)
		return -ENAMETOOLONG;
	memcpy(slash, name, strlen(name) + 1);
	return access(ret_path, mode) < 0 ? -errno : 0;
}
