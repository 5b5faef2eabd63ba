/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library that tries actions that a sandbox may forbid. Each function is one attempt, and returns
 * 0 or the errno of its failure. It releases everything it has made or opened.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <netdb.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A prototype, then the function: these have no header. */
#define EXPORT(type, name, ...)                                                                    \
	type name(__VA_ARGS__);                                                                    \
	type name(__VA_ARGS__)

/* Constructors run before any tool is asked for: what they may is the same. */
static int constructor_exec_error = -1;
static int constructor_read_error = -1;

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_exec(const char *path)
{
	char *arguments[] = {(char *)path, NULL};
	char *environment[] = {NULL};
	pid_t pid;
	int r = posix_spawn(&pid, path, NULL, NULL, arguments, environment);

	if (r == 0)
		waitpid(pid, NULL, 0);
	return r;
}

__attribute__((constructor)) static void try_at_once(void)
{
	constructor_exec_error = try_exec("/bin/true");
	constructor_read_error = try_open("/etc/passwd", O_RDONLY);
}

EXPORT(int32_t, at_load, const char *what)
{
	return strcmp(what, "exec") == 0 ? constructor_exec_error : constructor_read_error;
}

EXPORT(int32_t, open_to_read, const char *path)
{
	return try_open(path, O_RDONLY);
}

EXPORT(int32_t, open_to_write, const char *path)
{
	return try_open(path, O_WRONLY);
}

EXPORT(int32_t, make_file, const char *path)
{
	int r = try_open(path, O_WRONLY | O_CREAT | O_EXCL);

	return r ? r : unlink(path) < 0 ? errno : 0;
}

EXPORT(int32_t, make_folder, const char *path)
{
	if (mkdir(path, 0700) < 0)
		return errno;
	return rmdir(path) < 0 ? errno : 0;
}

/* A folder that stays. */
EXPORT(int32_t, keep_folder, const char *path)
{
	return mkdir(path, 0700) < 0 ? errno : 0;
}

/* Move a file to the folder above its own, and back. */
EXPORT(int32_t, move_to_parent, const char *path)
{
	const char *name = strrchr(path, '/');
	char target[512];

	snprintf(target, sizeof(target), "%.*s/..%s", (int)(name - path), path, name);
	if (rename(path, target) < 0)
		return errno;
	return rename(target, path) < 0 ? errno : 0;
}

EXPORT(int32_t, cut_file, const char *path)
{
	return truncate(path, 0) < 0 ? errno : 0;
}

EXPORT(int32_t, change_mode, const char *path)
{
	return chmod(path, 0600) < 0 ? errno : 0;
}

static int try_socket(int family, int type, const struct sockaddr *address, socklen_t size)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return errno;
	if (type == SOCK_DGRAM && sendto(fd, "x", 1, 0, address, size) < 0)
		r = errno;
	if (type == SOCK_STREAM && connect(fd, address, size) < 0)
		r = errno;
	close(fd);
	return r;
}

/* By 127.0.0.1: "tcp", "udp"; "unix": the abstract socket with the name @port. */
EXPORT(int32_t, reach, const char *how, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	int length;

	if (strcmp(how, "unix") == 0) {
		length = snprintf(local.sun_path + 1, sizeof(local.sun_path) - 1, "probe-%u", port);
		return try_socket(AF_UNIX, SOCK_STREAM, (const struct sockaddr *)&local,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
	}
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return try_socket(AF_INET, strcmp(how, "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM,
		(const struct sockaddr *)&address, sizeof(address));
}

EXPORT(int32_t, reach_path, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return try_socket(AF_UNIX, SOCK_STREAM, (const struct sockaddr *)&address, sizeof(address));
}

/* Ask the resolver of libc, which asks the kernel for addresses by a netlink socket if it may. */
EXPORT(int32_t, resolve, const char *name)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	struct addrinfo *found = NULL;
	int r = getaddrinfo(name, "80", &hints, &found);

	if (r == 0)
		freeaddrinfo(found);
	return r;
}

EXPORT(int32_t, run_program, const char *path)
{
	return try_exec(path);
}

EXPORT(int32_t, fork_child, void)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) < 0 ? errno : 0;
}

/* A child outside of its first group, session and parent: its pid, or the errno below 0. */
EXPORT(int32_t, leave_descendant, void)
{
	int32_t pid = 0;
	int ends[2];
	pid_t child;

	if (pipe(ends) < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			for (int fd = 0; fd < 16; fd++)
				close(fd);
			for (;;)
				pause();
		}
		_exit(write(ends[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
	}
	waitpid(child, NULL, 0);
	if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid))
		pid = -EIO;
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void *count_up(void *data)
{
	++*(int *)data;
	return NULL;
}

EXPORT(int32_t, start_thread, void)
{
	pthread_t thread;
	int count = 0;
	int r = pthread_create(&thread, NULL, count_up, &count);

	if (r)
		return r;
	pthread_join(thread, NULL);
	return count == 1 ? 0 : EIO;
}

EXPORT(int32_t, trace, int32_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

/* Signal 0: whether it would be allowed. */
EXPORT(int32_t, signal_process, int32_t pid, int32_t number)
{
	return kill(pid ? pid : getpid(), number) < 0 ? errno : 0;
}

EXPORT(int32_t, limit_process, int32_t pid)
{
	struct rlimit limit;

	return prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 ? errno : 0;
}

EXPORT(int32_t, outlive_parent, void)
{
	return prctl(PR_SET_PDEATHSIG, 0) < 0 ? errno : 0;
}

EXPORT(int32_t, use_io_uring, void)
{
	char parameters[120] = {0};
	long fd = syscall(SYS_io_uring_setup, 4, parameters);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

EXPORT(int32_t, abort_process, void)
{
	abort();
}

/* Ask for a socket of each kind once in @times, and return the last errno. */
EXPORT(int32_t, ask_for_sockets, uint32_t times)
{
	int error = 0;

	for (uint32_t i = 0; i < times; i++) {
		int fd = socket(i == 0 ? AF_ALG : AF_PACKET, SOCK_SEQPACKET, 0);

		error = fd < 0 ? errno : 0;
		if (fd >= 0)
			close(fd);
	}
	return error;
}

EXPORT(int32_t, abort_without_socket, void)
{
	if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 4) < 0)
		abort();
	return 0;
}

EXPORT(int32_t, gain_privileges_by_exec, void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

EXPORT(int32_t, allocate, uint32_t mebibytes)
{
	char *bytes = malloc((size_t)mebibytes << 20);

	if (!bytes)
		return errno;
	free(bytes);
	return 0;
}

/* NULL where it is not set. */
EXPORT(char *, variable, const char *name)
{
	return getenv(name);
}

/* Whether somebody is known: asks files, and whatever else the system is set up to ask. */
EXPORT(int32_t, look_up_user, const char *name)
{
	errno = 0;
	if (getpwnam(name))
		return 0;
	return errno ? errno : ENOENT;
}

/* The hour in @zone at the start of 2026 in UTC. */
EXPORT(int32_t, hour_in, const char *zone)
{
	const time_t start = 1767225600;
	struct tm when;

	setenv("TZ", zone, 1);
	tzset();
	return localtime_r(&start, &when) ? when.tm_hour : -1;
}
