/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/inside.h"
#include "loop/loop.h"

/*
 * Children: each is watched through a pidfd, which becomes readable when the process ends.
 *
 *   loop_add_child ──▶ watched ──ends──▶ reaped, freed, function called
 *                         │
 *                loop_child_forget ──▶ forgotten ──ends──▶ reaped, freed
 *
 * Where the kernel (or valgrind 3.19) has no pidfd_open, SIGCHLD reports that some child has ended,
 * and on_sigchld() asks each of them. Signals of one kind merge, so one never means one certain
 * child.
 */

struct loop_child {
	struct loop *loop;
	struct loop_child *next;
	pid_t pid;
	int fd; /* pidfd, or -1 */
	struct loop_source *source;
	loop_child_function function; /* NULL: forgotten */
	void *data;
};

static void unlink_child(struct loop_child *child)
{
	struct loop_child **link = &child->loop->children;

	while (*link && *link != child)
		link = &(*link)->next;
	if (*link)
		*link = child->next;
}

/* Free a child that is on no list. */
static void free_child(struct loop_child *child)
{
	loop_source_free(child->source);
	if (child->fd >= 0)
		close(child->fd);
	free(child);
}

/* If the child has ended, reap and free it, call its function and return true. */
static bool reap_child(struct loop_child *child)
{
	loop_child_function function = child->function;
	void *data = child->data;
	int status = 0;
	pid_t pid = waitpid(child->pid, &status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	unlink_child(child);
	free_child(child);
	if (function)
		function(data, status);
	return true;
}

static void on_pidfd(void *data, uint32_t events)
{
	(void)events;
	reap_child(data);
}

/* Reap each child that has ended. A callback may free or add children, so the walk begins anew
 * after each. */
static void on_sigchld(void *data, int signal)
{
	struct loop *loop = data;
	struct loop_child *child = loop->children;

	(void)signal;
	while (child) {
		struct loop_child *next = child->next;

		if (child->fd < 0 && reap_child(child))
			next = loop->children;
		child = next;
	}
}

/* Watch by SIGCHLD. The child may have ended before that signal was ours to take, so raise one. */
static int watch_by_signal(struct loop_child *child)
{
	int r = loop_add_signal(child->loop, SIGCHLD, on_sigchld, child->loop);

	if (r < 0 && r != -EEXIST)
		return r;
	return raise(SIGCHLD) == 0 ? 0 : -errno;
}

static int watch_child(struct loop_child *child)
{
	child->fd = pidfd_open(child->pid, 0);
	if (child->fd >= 0)
		return loop_add_fd(
			child->loop, child->fd, EPOLLIN, on_pidfd, child, &child->source);
	return errno == ENOSYS ? watch_by_signal(child) : -errno;
}

static void close_children(struct loop *loop)
{
	struct loop_child *child = loop->children;

	while (child) {
		struct loop_child *next = child->next;

		free_child(child);
		child = next;
	}
}

int loop_add_child(struct loop *loop, pid_t pid, loop_child_function function, void *data,
	struct loop_child **ret_child)
{
	struct loop_child *child;
	int r;

	if (pid <= 0)
		return -EINVAL; /* to waitpid(2) it would mean a group, or any child */
	child = malloc(sizeof(*child));
	if (!child)
		return -ENOMEM;
	*child = (struct loop_child){
		.loop = loop, .pid = pid, .fd = -1, .function = function, .data = data};
	r = watch_child(child);
	if (r) {
		free_child(child);
		return r;
	}
	loop->close_children = close_children;
	child->next = loop->children;
	loop->children = child;
	*ret_child = child;
	return 0;
}

/* Only we reap the child, and until then no other process can have its pid. */
int loop_child_signal(struct loop_child *child, int signal)
{
	int r = child->fd >= 0 ? pidfd_send_signal(child->fd, signal, NULL, 0)
			       : kill(child->pid, signal);

	return r < 0 ? -errno : 0;
}

void loop_child_forget(struct loop_child *child)
{
	if (child)
		child->function = NULL;
}
