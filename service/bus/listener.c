/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections accepted per turn of the loop. */
#define ACCEPT_BATCH 16

/* The pause when descriptors or memory have run out. */
#define EXHAUSTED_PAUSE_MS 500

/* The backlog of a Unix socket, and its mode. */
#define UNIX_BACKLOG 128
#define UNIX_MODE    0660

struct listener {
	int fd;
	struct loop_source *source;
	struct loop_timer timer;
	listener_function function;
	void *data;
	char *path; /* the Unix socket; or NULL */
	struct stat file;
};

static void on_pause_over(void *data)
{
	struct listener *listener = data;

	loop_source_set_events(listener->source, EPOLLIN);
}

/* Return whether accepting can continue after @error: a connection already gone is no failure. */
static bool is_passing(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void on_connection(void *data, uint32_t events)
{
	struct listener *listener = data;

	(void)events;
	for (unsigned int i = 0; i < ACCEPT_BATCH; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			listener->function(listener->data, fd);
			continue;
		}
		if (is_passing(errno))
			continue;
		if (errno != EAGAIN) {
			loop_source_set_events(listener->source, 0);
			loop_timer_arm(&listener->timer, EXHAUSTED_PAUSE_MS);
		}
		return;
	}
}

/* Find the first address of the host. "localhost" is the IPv4 one, where clients look for a bus. */
static int resolve(const struct bus_address *address, struct addrinfo **ret_info)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	const char *host =
		strcasecmp(address->host, "localhost") == 0 ? "127.0.0.1" : address->host;
	char port[8];

	snprintf(port, sizeof(port), "%u", address->port);
	return getaddrinfo(host, port, &hints, ret_info) == 0 ? 0 : -EADDRNOTAVAIL;
}

static int listen_at(const struct addrinfo *info, int *ret_fd)
{
	static const int on = 1;
	cleanup_close int fd = socket(
		info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, info->ai_protocol);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

static int read_port(int fd, struct bus_address *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = {.v6 = {0}};
	socklen_t size = sizeof(name);

	if (getsockname(fd, &name.any, &size) < 0)
		return -errno;
	address->port =
		ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
	return 0;
}

static int open_socket(struct bus_address *address, int *ret_fd)
{
	struct addrinfo *info;
	int r = resolve(address, &info);

	if (r)
		return r;
	r = listen_at(info, ret_fd);
	freeaddrinfo(info);
	return r ? r : read_port(*ret_fd, address);
}

/* ── Unix sockets ────────────────────────────────────────────────────────────────────────────── */

/* Return whether @name is the file of a socket without a listener. */
static bool is_stale_socket(const struct sockaddr_un *name)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stat file;

	return fd >= 0 && lstat(name->sun_path, &file) == 0 && S_ISSOCK(file.st_mode) &&
	       connect(fd, (const struct sockaddr *)name, sizeof(*name)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_unix(int fd, const struct sockaddr_un *name)
{
	const struct sockaddr *any = (const struct sockaddr *)name;

	if (bind(fd, any, sizeof(*name)) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	if (!is_stale_socket(name) || unlink(name->sun_path) < 0)
		return -EADDRINUSE;
	return bind(fd, any, sizeof(*name)) < 0 ? -errno : 0;
}

static int open_unix(struct listener *listener, const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int r;

	if (strlen(path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	memcpy(name.sun_path, path, strlen(path));
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return -errno;
	/* The file takes this mode, less the umask; connect() fails before listen(). */
	if (fchmod(listener->fd, UNIX_MODE) < 0)
		return -errno;
	r = bind_unix(listener->fd, &name);
	if (r < 0)
		return r;
	listener->path = strdup(path);
	if (!listener->path || lstat(path, &listener->file) < 0) {
		unlink(path);
		free(take_ptr(listener->path));
		return -ENOMEM;
	}
	if (chmod(path, UNIX_MODE) < 0 || listen(listener->fd, UNIX_BACKLOG) < 0)
		return -errno;
	return 0;
}

/* Remove the file, unless another socket took its place. */
static void remove_file(const struct listener *listener)
{
	struct stat file;

	if (lstat(listener->path, &file) == 0 && file.st_dev == listener->file.st_dev &&
		file.st_ino == listener->file.st_ino)
		unlink(listener->path);
}

/* ── the listener ────────────────────────────────────────────────────────────────────────────── */

static struct listener *allocate(listener_function function, void *data)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return NULL;
	listener->fd = -1;
	listener->function = function;
	listener->data = data;
	return listener;
}

static int begin_listening(struct listener *listener, struct loop *loop)
{
	int r = loop_timer_init(&listener->timer, loop, on_pause_over, listener);

	if (!r)
		r = loop_add_fd(
			loop, listener->fd, EPOLLIN, on_connection, listener, &listener->source);
	return r;
}

int listener_new(struct loop *loop, struct bus_address *address, listener_function function,
	void *data, struct listener **ret_listener)
{
	cleanup(listener_cleanup) struct listener *listener = allocate(function, data);
	int r = listener ? open_socket(address, &listener->fd) : -ENOMEM;

	if (!r)
		r = begin_listening(listener, loop);
	if (!r)
		*ret_listener = take_ptr(listener);
	return r;
}

int listener_new_unix(struct loop *loop, const char *path, listener_function function, void *data,
	struct listener **ret_listener)
{
	cleanup(listener_cleanup) struct listener *listener = allocate(function, data);
	int r = listener ? open_unix(listener, path) : -ENOMEM;

	if (!r)
		r = begin_listening(listener, loop);
	if (!r)
		*ret_listener = take_ptr(listener);
	return r;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	loop_timer_deinit(&listener->timer);
	loop_source_free(listener->source);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->path)
		remove_file(listener);
	free(listener->path);
	free(listener);
}
